//! [`Factor`]: the mass matrix of a tree as `L^T D L`, whose zeros are those of the tree
//! (Featherstone, 2008, section 6.5).
//!
//! With `z = D^(1/2) L v`, kinetic energy is half the square of `z`, and an impulse along a row `J`
//! changes `z` by `G = D^(-1/2) L^-T J^T` times its size: rows touch only the joints between their
//! links and the root, and what they exchange is the product of two short vectors.

use crate::tree::Tree;

/// The mass matrix of a tree, factored.
#[derive(Clone, Debug, Default)]
pub(crate) struct Factor {
    size: usize,
    /// `L` below the diagonal, by rows; 1 on it.
    lower: Vec<f64>,
    /// `D`.
    pub(crate) diagonal: Vec<f64>,
    /// The square roots of `D`, and their inverses.
    roots: Vec<f64>,
    inverse_roots: Vec<f64>,
}

/// The least of a pivot, as a part of its entry of the matrix: below it, masses are rounding.
const PIVOT_RATIO_MIN: f64 = 1e-13;

impl Factor {
    /// Factors a matrix that is given by its lower triangle.
    pub(crate) fn of(&mut self, tree: &Tree, masses: &[f64]) {
        let size = tree.freedom();
        self.size = size;
        self.lower.clear();
        self.lower.extend_from_slice(masses);
        self.diagonal.clear();
        self.diagonal.resize(size, 0.0);
        for row in (0..size).rev() {
            let entry = masses[row * size + row];
            let least = (entry * PIVOT_RATIO_MIN).max(f64::MIN_POSITIVE);
            let (before, own) = self.lower.split_at_mut(row * size);
            let own = &mut own[..size];
            let pivot = own[row].max(least);
            self.diagonal[row] = pivot;
            // A whole branch hangs on the same part of the trunk.
            let trunk = tree.joins[row];
            for at in tree.branch_above(row) {
                let share = own[at] / pivot;
                let out = &mut before[at * size..][..size];
                for column in std::iter::once(at).chain(tree.branch_above(at)) {
                    out[column] -= share * own[column];
                }
                subtract(&mut out[..trunk], share, &own[..trunk]);
                own[at] = share;
            }
            for at in (0..trunk).rev() {
                let share = own[at] / pivot;
                subtract(&mut before[at * size..][..=at], share, &own[..=at]);
                own[at] = share;
            }
        }
        self.roots.clear();
        self.roots
            .extend(self.diagonal.iter().map(|pivot| pivot.sqrt()));
        self.inverse_roots.clear();
        self.inverse_roots
            .extend(self.roots.iter().map(|root| 1.0 / root));
    }

    /// Returns the rates that a momentum along the axes amounts to.
    pub(crate) fn solve(&self, tree: &Tree, values: &mut [f64]) {
        let size = self.size;
        for row in (0..size).rev() {
            let value = values[row];
            let own = &self.lower[row * size..][..size];
            for at in tree.branch_above(row) {
                values[at] -= own[at] * value;
            }
            let trunk = tree.joins[row];
            subtract(&mut values[..trunk], value, &own[..trunk]);
        }
        for (value, pivot) in values.iter_mut().zip(&self.diagonal) {
            *value /= pivot;
        }
        self.back(tree, values);
    }

    /// Solves `L x = values`.
    fn back(&self, tree: &Tree, values: &mut [f64]) {
        for row in 0..self.size {
            let mut value = values[row];
            let own = &self.lower[row * self.size..][..self.size];
            for at in tree.branch_above(row) {
                value -= own[at] * values[at];
            }
            let trunk = tree.joins[row];
            for (share, other) in own[..trunk].iter().zip(&values[..trunk]).rev() {
                value -= share * other;
            }
            values[row] = value;
        }
    }

    /// Writes `z` of some rates.
    pub(crate) fn whiten(&self, tree: &Tree, rates: &[f64], out: &mut [f64]) {
        for row in 0..self.size {
            let mut value = rates[row];
            let own = &self.lower[row * self.size..][..self.size];
            for at in tree.branch_above(row) {
                value += own[at] * rates[at];
            }
            let trunk = tree.joins[row];
            for (share, other) in own[..trunk].iter().zip(&rates[..trunk]).rev() {
                value += share * other;
            }
            out[row] = value * self.roots[row];
        }
    }

    /// Writes the rates of `z`.
    pub(crate) fn colour(&self, tree: &Tree, white: &[f64], out: &mut [f64]) {
        for (row, value) in out.iter_mut().enumerate() {
            *value = white[row] * self.inverse_roots[row];
        }
        self.back(tree, out);
    }

    /// Turns a row `J`, in `dense` by degrees of freedom, into `G`. The path ascends and holds all
    /// that its degrees of freedom hang on, counted from `first` on. Afterwards `dense` is zero.
    pub(crate) fn row(
        &self,
        tree: &Tree,
        (path, first): (&[u32], usize),
        out: &mut [f64],
        dense: &mut [f64],
    ) {
        for (at, value) in path.iter().zip(out).rev() {
            let row = *at as usize - first;
            let part = std::mem::take(&mut dense[row]);
            let own = &self.lower[row * self.size..][..self.size];
            for above in tree.branch_above(row) {
                dense[above] -= own[above] * part;
            }
            let trunk = tree.joins[row];
            subtract(&mut dense[..trunk], part, &own[..trunk]);
            *value = part * self.inverse_roots[row];
        }
    }

    /// Turns rows into `G` as [`Self::row`] does, one in each lane.
    pub(crate) fn rows<const SIZE: usize>(
        &self,
        tree: &Tree,
        (path, first): (&[u32], usize),
        out: &mut [[f64; SIZE]],
        dense: &mut [[f64; SIZE]],
    ) {
        for (at, values) in path.iter().zip(out).rev() {
            let row = *at as usize - first;
            let parts = std::mem::replace(&mut dense[row], [0.0; SIZE]);
            let own = &self.lower[row * self.size..][..self.size];
            for above in tree.branch_above(row) {
                subtract(&mut dense[above], own[above], &parts);
            }
            let trunk = tree.joins[row];
            for (values, share) in dense[..trunk].iter_mut().zip(&own[..trunk]) {
                subtract(values, *share, &parts);
            }
            *values = parts.map(|part| part * self.inverse_roots[row]);
        }
    }
}

/// Takes a multiple of others from values.
#[inline]
fn subtract(values: &mut [f64], factor: f64, others: &[f64]) {
    for (value, other) in values.iter_mut().zip(others) {
        *value -= factor * other;
    }
}
