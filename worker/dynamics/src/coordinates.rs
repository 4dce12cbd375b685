//! [`Coordinates`]: the velocities of everything that moves, scaled so that kinetic energy is half
//! the sum of their squares.
//!
//! One vector is then both what a row reads of a velocity and what its impulse adds to it, for a
//! body of its own as for a tree, and the product of two tells how two rows act on each other.

use glam::{DMat3, DVec3};

use crate::axis::Term;
use crate::body::Body;
use crate::flight::Workspace;
use crate::spatial::{Wrench, Wrenches};
use crate::tree::Tree;

/// The place of a body among the coordinates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BodyCoordinates {
    /// It moves as it is told, or nothing acts on it.
    Prescribed,
    /// It moves on its own, by six coordinates from this one on.
    Alone(usize),
    /// It is a link of a tree.
    Link { tree: usize, link: usize },
}

/// A part of a path that belongs to one thing that moves.
#[derive(Clone, Copy, Debug)]
struct Run {
    mover: Mover,
    start: usize,
    length: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mover {
    Body(usize),
    Tree(usize),
}

/// The coordinates that rows touch, ascending.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Path {
    start: usize,
    length: usize,
    runs: [usize; 2],
}

impl Path {
    pub(crate) fn len(&self) -> usize {
        self.length
    }
}

/// Forces and moments on the centre of mass of a body, one in each lane.
#[derive(Clone, Debug)]
pub(crate) struct Pushes<const SIZE: usize> {
    body: usize,
    forces: [[f64; SIZE]; 3],
    moments: [[f64; SIZE]; 3],
}

impl<const SIZE: usize> Pushes<SIZE> {
    /// Makes them of pairs of a force and a moment; lanes that are left are empty.
    pub(crate) fn new(body: usize, pairs: impl Iterator<Item = [DVec3; 2]>) -> Self {
        let mut pushes = Self {
            body,
            forces: [[0.0; SIZE]; 3],
            moments: [[0.0; SIZE]; 3],
        };
        for (lane, [force, moment]) in pairs.enumerate() {
            for axis in 0..3 {
                pushes.forces[axis][lane] = force[axis];
                pushes.moments[axis][lane] = moment[axis];
            }
        }
        pushes
    }

    /// Returns the push of a lane.
    fn lane(&self, lane: usize) -> Term {
        Term {
            body: self.body,
            linear: DVec3::from_array(self.forces.map(|lanes| lanes[lane])),
            angular: DVec3::from_array(self.moments.map(|lanes| lanes[lane])),
        }
    }
}

/// Scales the velocity of a body.
#[derive(Clone, Copy, Debug, Default)]
struct Scale {
    /// The square root of the mass.
    root: f64,
    inverse_root: f64,
    /// `C` with `C C^T` the inverse of the inertia, world axes, and its inverse.
    spin: DMat3,
    inverse_spin: DMat3,
}

/// The least moment of inertia, as a part of the greatest, and the least of all \[1/(kg m²)\].
const INVERSE_RATIO_MIN: f64 = 1e-18;
const INVERSE_MIN: f64 = 1e-30;

impl Scale {
    fn of(body: &Body) -> Self {
        let root = body.mass.sqrt();
        let rotation = DMat3::from_quat(body.frame.rotation);
        let moment = body.inverse_inertia.x_axis.x;
        let (inner, outer) = if body.inverse_inertia == DMat3::from_diagonal(DVec3::splat(moment)) {
            roots_of_even(moment)
        } else {
            let inner = lower_root(body.inverse_inertia);
            (inner, inverse_of_lower(inner))
        };
        Self {
            root,
            inverse_root: 1.0 / root,
            spin: rotation * inner,
            inverse_spin: outer * rotation.transpose(),
        }
    }

    /// Returns the factors of a row that pushes the body.
    fn factors(&self, push: &Term) -> impl Iterator<Item = f64> + use<> {
        let linear = push.linear * self.inverse_root;
        let angular = self.spin.transpose() * push.angular;
        linear.to_array().into_iter().chain(angular.to_array())
    }
}

/// Returns the lower triangle whose product with its transpose a matrix is (Cholesky).
fn lower_root(matrix: DMat3) -> DMat3 {
    let [x, y, z] = [matrix.x_axis, matrix.y_axis, matrix.z_axis];
    let least = (INVERSE_RATIO_MIN * matrix.diagonal().max_element()).max(INVERSE_MIN);
    let first = x.x.max(least).sqrt();
    let (down, far) = (x.y / first, x.z / first);
    let second = (y.y - down * down).max(least).sqrt();
    let side = (y.z - far * down) / second;
    let third = (z.z - far * far - side * side).max(least).sqrt();
    DMat3::from_cols(
        DVec3::new(first, down, far),
        DVec3::new(0.0, second, side),
        DVec3::new(0.0, 0.0, third),
    )
}

/// Returns the triangle of an inverse inertia that is the same about all axes, and the inverse of
/// the triangle: the bits are those of [`lower_root`] and [`inverse_of_lower`].
fn roots_of_even(inverse: f64) -> (DMat3, DMat3) {
    let root = inverse.max(INVERSE_MIN).sqrt();
    let recip = 1.0 / root;
    let outer = DMat3::from_cols(
        DVec3::new(recip, -0.0, -0.0),
        DVec3::new(0.0, recip, -0.0),
        DVec3::new(0.0, 0.0, recip),
    );
    (DMat3::from_diagonal(DVec3::splat(root)), outer)
}

fn inverse_of_lower(lower: DMat3) -> DMat3 {
    let [first, second, third] = lower.diagonal().recip().to_array();
    let (down, far, side) = (lower.x_axis.y, lower.x_axis.z, lower.y_axis.z);
    let low = -down * first * second;
    DMat3::from_cols(
        DVec3::new(first, low, -(far * first + side * low) * third),
        DVec3::new(0.0, second, -side * second * third),
        DVec3::new(0.0, 0.0, third),
    )
}

/// The scaled velocities of everything that rows act on, and the paths of rows over them.
#[derive(Debug, Default)]
pub(crate) struct Coordinates {
    /// The velocities: six of each body on its own, then those of each tree.
    pub(crate) values: Vec<f64>,
    /// The way that they have gone since sweeps began, or more: the sum of the lengths of changes.
    /// A row whose factors have a length changes its rate by no more than that times this.
    pub(crate) travel: f64,
    places: Vec<BodyCoordinates>,
    scales: Vec<Scale>,
    first_of_tree: Vec<usize>,
    paths: Vec<u32>,
    runs: Vec<Run>,
}

impl Coordinates {
    /// Begins a step, in which rows act on some bodies and trees. `link_of` has the tree and the
    /// link of each body that is one.
    pub(crate) fn begin(
        &mut self,
        bodies: &[Body],
        trees: &[Tree],
        link_of: &[Option<(usize, usize)>],
        held: &[bool],
    ) {
        self.places.clear();
        self.scales.clear();
        self.first_of_tree.clear();
        self.paths.clear();
        self.runs.clear();
        for (number, body) in bodies.iter().enumerate() {
            self.places.push(match link_of[number] {
                Some((tree, link)) => BodyCoordinates::Link { tree, link },
                None if held[number] && body.is_dynamic() => {
                    self.scales.push(Scale::of(body));
                    BodyCoordinates::Alone(6 * (self.scales.len() - 1))
                }
                None => BodyCoordinates::Prescribed,
            });
        }
        let mut next = 6 * self.scales.len();
        for tree in trees {
            self.first_of_tree.push(next);
            next += tree.freedom();
        }
        self.values.clear();
        self.values.resize(next, 0.0);
    }

    /// Returns the places of the coordinates of a body that moves on its own.
    pub(crate) fn places_of_body(&self, number: usize) -> std::ops::Range<usize> {
        match self.places[number] {
            BodyCoordinates::Alone(first) => first..first + 6,
            _ => 0..0,
        }
    }

    /// Returns the places of the coordinates of a tree.
    pub(crate) fn places_of_tree(&self, tree: usize, freedom: usize) -> std::ops::Range<usize> {
        let first = self.first_of_tree[tree];
        first..first + freedom
    }

    /// Returns the coordinates of a tree.
    pub(crate) fn of_tree(&mut self, tree: usize, freedom: usize) -> &mut [f64] {
        let first = self.first_of_tree[tree];
        &mut self.values[first..first + freedom]
    }

    /// Takes over the velocity of a body that moves on its own.
    pub(crate) fn take(&mut self, number: usize, body: &Body) {
        if let BodyCoordinates::Alone(first) = self.places[number] {
            let scale = &self.scales[first / 6];
            let values = &mut self.values[first..first + 6];
            (body.linear * scale.root).write_to_slice(&mut values[..3]);
            (scale.inverse_spin * body.angular).write_to_slice(&mut values[3..]);
        }
    }

    /// Gives the velocity of a body that moves on its own.
    pub(crate) fn give(&self, number: usize, body: &mut Body) {
        if let BodyCoordinates::Alone(first) = self.places[number] {
            let scale = &self.scales[first / 6];
            let values = &self.values[first..first + 6];
            body.linear = DVec3::from_slice(values) * scale.inverse_root;
            body.angular = scale.spin * DVec3::from_slice(&values[3..]);
        }
    }

    /// Tells whether rows on some bodies stay the same all along a step: no tree is among them.
    pub(crate) fn are_steady(&self, mut bodies: impl Iterator<Item = usize>) -> bool {
        bodies.all(|body| !matches!(self.places[body], BodyCoordinates::Link { .. }))
    }

    /// Makes the path of rows on some bodies.
    pub(crate) fn path(&mut self, bodies: impl Iterator<Item = usize>, trees: &[Tree]) -> Path {
        let (start, first_run) = (self.paths.len(), self.runs.len());
        for body in bodies {
            match self.places[body] {
                BodyCoordinates::Prescribed => {}
                BodyCoordinates::Alone(first) => {
                    if self.begin_run(first_run, Mover::Body(body)) {
                        let own = first..first + 6;
                        self.paths.extend(own.map(|value| value as u32));
                    }
                }
                BodyCoordinates::Link { tree, link } => {
                    self.climb(start, &trees[tree], self.first_of_tree[tree], Some(link));
                    self.begin_run(first_run, Mover::Tree(tree));
                }
            }
        }
        self.finish(start, first_run, trees)
    }

    /// Makes the path of a row along one degree of freedom of a tree.
    pub(crate) fn path_of_axis(&mut self, tree: usize, axis: usize, trees: &[Tree]) -> Path {
        let (start, first_run) = (self.paths.len(), self.runs.len());
        let first = self.first_of_tree[tree];
        let mut at = Some(axis);
        while let Some(number) = at {
            self.paths.push((first + number) as u32);
            at = trees[tree].above[number];
        }
        self.begin_run(first_run, Mover::Tree(tree));
        self.finish(start, first_run, trees)
    }

    /// Adds the run of something that moves to those of a path; returns whether it is new there.
    fn begin_run(&mut self, first_run: usize, mover: Mover) -> bool {
        let mut own = self.runs[first_run..].iter();
        let is_new = own.all(|run| run.mover != mover);
        if is_new {
            self.runs.push(Run {
                mover,
                start: 0,
                length: 0,
            });
        }
        is_new
    }

    /// Adds the degrees of freedom that a link hangs on to the path that begins at `start`.
    fn climb(&mut self, start: usize, tree: &Tree, first: usize, link: Option<usize>) {
        let mut at = link;
        while let Some(number) = at {
            let own = tree.first[number];
            for axis in own..own + tree.links[number].kind.freedom() {
                let value = (first + axis) as u32;
                if !self.paths[start..].contains(&value) {
                    self.paths.push(value);
                }
            }
            at = tree.links[number].parent;
        }
    }

    /// Sorts the path that begins at `start` and finds where in it each thing that moves is.
    fn finish(&mut self, start: usize, first_run: usize, trees: &[Tree]) -> Path {
        self.paths[start..].sort_unstable();
        for run in &mut self.runs[first_run..] {
            let (first, count) = match run.mover {
                Mover::Tree(tree) => (self.first_of_tree[tree], trees[tree].freedom()),
                Mover::Body(body) => match self.places[body] {
                    BodyCoordinates::Alone(first) => (first, 6),
                    _ => (0, 0),
                },
            };
            let path = &self.paths[start..];
            run.start = path.partition_point(|value| (*value as usize) < first);
            run.length = path.partition_point(|value| (*value as usize) < first + count);
            run.length -= run.start;
        }
        Path {
            start,
            length: self.paths.len() - start,
            runs: [first_run, self.runs.len()],
        }
    }

    /// Returns the coordinates of a path.
    #[inline]
    fn path_values(&self, path: Path) -> &[u32] {
        &self.paths[path.start..path.start + path.length]
    }

    /// Returns the velocities along a path.
    #[inline]
    pub(crate) fn along(&self, path: Path) -> impl Iterator<Item = f64> + '_ {
        let values = self.path_values(path).iter();
        values.map(|at| self.values[*at as usize])
    }

    /// Adds to the velocity along each coordinate of a path, by its place there.
    #[inline]
    pub(crate) fn push_each(&mut self, path: Path, change: impl Fn(usize) -> f64) {
        let paths = &self.paths[path.start..path.start + path.length];
        for (number, at) in paths.iter().enumerate() {
            self.values[*at as usize] += change(number);
        }
    }

    /// Writes the velocities along a path.
    #[inline]
    pub(crate) fn scatter(&mut self, path: Path, values: &[f64]) {
        let paths = &self.paths[path.start..path.start + path.length];
        for (value, at) in values.iter().zip(paths) {
            self.values[*at as usize] = *value;
        }
    }

    /// Returns the rate of a row.
    #[inline]
    pub(crate) fn rate(&self, path: Path, row: &[f64]) -> f64 {
        let mut sum = 0.0;
        for (factor, at) in row.iter().zip(self.path_values(path)) {
            sum += factor * self.values[*at as usize];
        }
        sum
    }

    /// Applies an impulse along a row.
    #[inline]
    pub(crate) fn push(&mut self, path: Path, row: &[f64], impulse: f64) {
        let paths = &self.paths[path.start..path.start + path.length];
        for (factor, at) in row.iter().zip(paths) {
            self.values[*at as usize] += factor * impulse;
        }
    }

    /// Writes a row over a path that has all that some pushes move; returns the rate that what
    /// moves as it is told gives the row.
    pub(crate) fn fill(
        &self,
        path: Path,
        pushes: &[Term],
        row: &mut [f64],
        (bodies, trees, spaces): (&[Body], &[Tree], &mut [Workspace]),
    ) -> f64 {
        row.fill(0.0);
        let mut base_rate = 0.0;
        for run in &self.runs[path.runs[0]..path.runs[1]] {
            let part = &mut row[run.start..run.start + run.length];
            match run.mover {
                Mover::Body(number) => {
                    for push in pushes.iter().filter(|push| push.body == number) {
                        self.add_body(push, part);
                    }
                }
                Mover::Tree(tree) => {
                    let (known, space) = (&trees[tree], &mut spaces[tree]);
                    for push in pushes {
                        if let BodyCoordinates::Link { tree: of, link } = self.places[push.body]
                            && of == tree
                        {
                            base_rate += add_link(known, space, link, push, bodies);
                        }
                    }
                    let start = path.start + run.start;
                    let path = &self.paths[start..start + run.length];
                    let first = self.first_of_tree[tree];
                    space
                        .factor
                        .row(known, (path, first), part, &mut space.dense);
                }
            }
        }
        for push in pushes {
            if self.places[push.body] == BodyCoordinates::Prescribed {
                base_rate += told_rate(push, bodies);
            }
        }
        base_rate
    }

    /// Writes rows over a path that has all that some pushes move, one in each lane; returns the
    /// rates that what moves as it is told gives them.
    pub(crate) fn fill_rows<const SIZE: usize>(
        &self,
        path: Path,
        pushes: &[Pushes<SIZE>],
        columns: &mut [[f64; SIZE]],
        (bodies, trees, spaces): (&[Body], &[Tree], &mut [Workspace]),
    ) -> [f64; SIZE] {
        let mut base_rates = [0.0; SIZE];
        for run in &self.runs[path.runs[0]..path.runs[1]] {
            let part = &mut columns[run.start..run.start + run.length];
            match run.mover {
                Mover::Body(number) => {
                    part.fill([0.0; SIZE]);
                    for push in pushes.iter().filter(|push| push.body == number) {
                        self.add_body_rows(push, part);
                    }
                }
                Mover::Tree(tree) => {
                    let (known, space) = (&trees[tree], &mut spaces[tree]);
                    for push in pushes {
                        if let BodyCoordinates::Link { tree: of, link } = self.places[push.body]
                            && of == tree
                        {
                            add_link_rows(known, space, link, push, (bodies, &mut base_rates));
                        }
                    }
                    let start = path.start + run.start;
                    let path = &self.paths[start..start + run.length];
                    let first = self.first_of_tree[tree];
                    let (lanes, _) = space.lanes.as_chunks_mut::<SIZE>();
                    space.factor.rows(known, (path, first), part, lanes);
                }
            }
        }
        for push in pushes {
            if self.places[push.body] == BodyCoordinates::Prescribed {
                for (lane, rate) in base_rates.iter_mut().enumerate() {
                    *rate += told_rate(&push.lane(lane), bodies);
                }
            }
        }
        base_rates
    }

    fn add_body_rows<const SIZE: usize>(&self, push: &Pushes<SIZE>, part: &mut [[f64; SIZE]]) {
        if let BodyCoordinates::Alone(first) = self.places[push.body] {
            for lane in 0..SIZE {
                let factors = self.scales[first / 6].factors(&push.lane(lane));
                for (column, added) in part.iter_mut().zip(factors) {
                    column[lane] += added;
                }
            }
        }
    }

    /// Writes rows of pushes on a body that moves on its own or as it is told, one behind the other
    /// in each column of a path; adds the rates that what moves as it is told gives them.
    pub(crate) fn fill_steady(
        &self,
        (path, body): (Path, usize),
        pushes: impl Iterator<Item = Term>,
        (columns, size): (&mut [f64], usize),
        (bodies, base_rates): (&[Body], &mut [f64]),
    ) {
        let BodyCoordinates::Alone(first) = self.places[body] else {
            for (base_rate, push) in base_rates.iter_mut().zip(pushes) {
                *base_rate += told_rate(&push, bodies);
            }
            return;
        };
        let runs = &self.runs[path.runs[0]..path.runs[1]];
        let start = runs.iter().find(|run| run.mover == Mover::Body(body));
        let start = start.map_or(0, |run| run.start);
        let own = &mut columns[start * size..(start + 6) * size];
        let scale = &self.scales[first / 6];
        for (row, push) in pushes.enumerate() {
            let factors = scale.factors(&push);
            for (column, factor) in own.chunks_exact_mut(size).zip(factors) {
                column[row] = factor;
            }
        }
    }

    /// Writes the row of a unit force along one degree of freedom of a tree.
    pub(crate) fn fill_axis(
        &self,
        path: Path,
        (axis, sense): (usize, f64),
        row: &mut [f64],
        (trees, spaces): (&[Tree], &mut [Workspace]),
    ) {
        row.fill(0.0);
        for run in &self.runs[path.runs[0]..path.runs[1]] {
            if let Mover::Tree(tree) = run.mover {
                let space = &mut spaces[tree];
                space.dense[axis] = sense;
                let part = &mut row[run.start..run.start + run.length];
                let start = path.start + run.start;
                let path = &self.paths[start..start + run.length];
                let first = self.first_of_tree[tree];
                space
                    .factor
                    .row(&trees[tree], (path, first), part, &mut space.dense);
            }
        }
    }

    fn add_body(&self, push: &Term, part: &mut [f64]) {
        if let BodyCoordinates::Alone(first) = self.places[push.body] {
            let factors = self.scales[first / 6].factors(push);
            for (value, added) in part.iter_mut().zip(factors) {
                *value += added;
            }
        }
    }
}

/// Returns the rate that a body which moves as it is told gives a row that pushes it.
fn told_rate(push: &Term, bodies: &[Body]) -> f64 {
    let body = &bodies[push.body];
    push.linear.dot(body.linear) + push.angular.dot(body.angular)
}

/// Adds a push on a link to the forces along the axes of its tree; returns the rate that the motion
/// of the base gives it.
fn add_link(tree: &Tree, space: &mut Workspace, link: usize, push: &Term, bodies: &[Body]) -> f64 {
    let kinematics = &space.kinematics;
    let frame = &kinematics.frames[link];
    let center = frame.position + frame.rotation * bodies[push.body].local_center;
    let arm = center - kinematics.origin;
    let wrench = Wrench::new(push.angular + arm.cross(push.linear), push.linear);
    let mut at = Some(link);
    while let Some(number) = at {
        let first = tree.first[number];
        for axis in first..first + tree.links[number].kind.freedom() {
            space.dense[axis] += kinematics.axes[axis].dot(wrench);
        }
        at = tree.links[number].parent;
    }
    kinematics.base.dot(wrench)
}

/// Adds pushes on a link, one in each lane, to the forces along the axes of its tree, and what the
/// motion of the base gives them to their rates.
fn add_link_rows<const SIZE: usize>(
    tree: &Tree,
    space: &mut Workspace,
    link: usize,
    push: &Pushes<SIZE>,
    (bodies, base_rates): (&[Body], &mut [f64; SIZE]),
) {
    let kinematics = &space.kinematics;
    let frame = &kinematics.frames[link];
    let center = frame.position + frame.rotation * bodies[push.body].local_center;
    let arm = center - kinematics.origin;
    let wrenches = Wrenches::new(&push.moments, &push.forces, arm);
    let (lanes, _) = space.lanes.as_chunks_mut::<SIZE>();
    let mut at = Some(link);
    while let Some(number) = at {
        let first = tree.first[number];
        for axis in first..first + tree.links[number].kind.freedom() {
            wrenches.add_along(kinematics.axes[axis], &mut lanes[axis]);
        }
        at = tree.links[number].parent;
    }
    wrenches.add_along(kinematics.base, base_rates);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_even_inertia_has_the_same_roots_as_any_other() {
        let bits = |matrix: DMat3| matrix.to_cols_array().map(f64::to_bits);
        for moment in [0.0, 1e-40, 1e-9, 0.3, 250.0, 1e12] {
            let inner = lower_root(DMat3::from_diagonal(DVec3::splat(moment)));
            let [own_inner, own_outer] = <[DMat3; 2]>::from(roots_of_even(moment));
            assert_eq!(bits(own_inner), bits(inner), "{moment}");
            assert_eq!(bits(own_outer), bits(inverse_of_lower(inner)), "{moment}");
        }
    }
}
