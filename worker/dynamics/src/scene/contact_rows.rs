//! Rows of contacts: how impulses at the points of a manifold act on the coordinates.
//!
//! The rows of a manifold that touches a tree are found side by side, one in each lane: the tree is
//! climbed once for all of them.

use glam::DVec3;
use smallvec::SmallVec;

use super::Scene;
use super::substep::GAIN_RATIO_MIN;
use crate::axis::Term;
use crate::coordinates::Pushes;
use crate::manifold::{Law, sized};

/// A force or a moment of size one between two bodies.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Unit {
    /// A contact between the two.
    contact: usize,
    linear: DVec3,
    about: DVec3,
    arms: [DVec3; 2],
}

impl Unit {
    fn along(contact: usize, linear: DVec3, arms: [DVec3; 2]) -> Self {
        Self {
            contact,
            linear,
            arms,
            ..Self::default()
        }
    }

    fn about(contact: usize, about: DVec3) -> Self {
        Self {
            contact,
            about,
            ..Self::default()
        }
    }

    /// Returns force and moment on the body of a side, whose sign is that of the side.
    fn on(&self, (side, sign): (usize, f64)) -> [DVec3; 2] {
        let linear = self.linear * sign;
        [linear, self.arms[side].cross(linear) + self.about * sign]
    }
}

/// Both sides of a contact, with the signs of what acts on them.
const SIDES: [(usize, f64); 2] = [(0, 1.0), (1, -1.0)];

impl Scene {
    /// Finds the rows of a manifold, and how they act on each other.
    pub(super) fn fill_manifold(&mut self, number: usize, time_s: f64) {
        self.list_units(number, time_s);
        let manifold = self.work.manifolds.all[number];
        if manifold.is_steady {
            self.fill_steady_rows(number);
        } else {
            sized!(manifold.size, fill_rows(self, number));
        }
        // The surface moves across the normal.
        let points = manifold.points().len();
        for (row, unit) in self.work.units.iter().enumerate() {
            let moved = unit
                .linear
                .dot(self.contacts[unit.contact].surface_velocity);
            let base = &mut self.work.manifolds.base_rates[manifold.first_row + row];
            *base += moved;
            if row < points {
                *base -= moved;
            }
        }
        self.work.manifolds.couple(number);
    }

    /// Lists the units of a manifold in the order of its rows.
    fn list_units(&mut self, number: usize, time_s: f64) {
        let work = &mut self.work;
        let manifold = work.manifolds.all[number];
        let points = &work.manifolds.points[manifold.points()];
        let units = &mut work.units;
        units.clear();
        let normals = points.iter();
        units.extend(
            normals.map(|point| Unit::along(point.contact, point.directions[0], point.arms)),
        );
        for block in &mut work.manifolds.blocks[manifold.blocks()] {
            debug_assert_eq!(
                block.first,
                units.len(),
                "rows stand in the order of blocks"
            );
            let point = &points[block.points[0]];
            let contact = point.contact;
            let slip = self.contacts[contact].friction.slip;
            block.slips = slip.map(|slip| slip / time_s);
            let [normal, first, second] = point.directions;
            if block.law == Law::Twist {
                units.push(Unit::about(contact, normal));
                continue;
            }
            let across = [first, second].map(|along| Unit::along(contact, along, block.arms));
            units.extend(across);
            if block.law == Law::Line {
                units.push(Unit::about(contact, normal * block.radius));
            }
        }
    }

    /// Finds all rows of a manifold between bodies that no joint holds.
    fn fill_steady_rows(&mut self, number: usize) {
        let Self {
            bodies,
            contacts,
            work,
            ..
        } = self;
        let manifold = work.manifolds.all[number];
        let units = work.units.as_slice();
        let (columns, base_rates) = work.manifolds.rows_mut(&manifold);
        base_rates[..units.len()].fill(0.0);
        for side in SIDES {
            let Some(body) = contacts[units[0].contact].bodies[side.0] else {
                continue;
            };
            let pushes = units.iter().map(|unit| {
                let [linear, angular] = unit.on(side);
                Term {
                    body,
                    linear,
                    angular,
                }
            });
            work.coordinates.fill_steady(
                (manifold.path, body),
                pushes,
                (&mut *columns, manifold.size),
                (bodies.as_slice(), &mut *base_rates),
            );
        }
    }

    /// Finds all rows of a manifold that touches a tree.
    fn fill_rows<const SIZE: usize>(&mut self, number: usize) {
        let Self {
            bodies,
            trees,
            contacts,
            work,
            ..
        } = self;
        let manifold = work.manifolds.all[number];
        let units = work.units.as_slice();
        let mut pushes: SmallVec<[Pushes<SIZE>; 2]> = SmallVec::new();
        let mut free = 0.0;
        for side in SIDES {
            if let Some(body) = contacts[units[0].contact].bodies[side.0] {
                let on_side = units.iter().map(|unit| unit.on(side));
                pushes.push(Pushes::new(body, on_side));
                free += bodies[body].inverse_mass();
            }
        }
        let (columns, _) = work
            .manifolds
            .factors_mut(&manifold)
            .as_chunks_mut::<SIZE>();
        let scene = (
            bodies.as_slice(),
            trees.as_slice(),
            work.spaces.as_mut_slice(),
        );
        let base_rates = work
            .coordinates
            .fill_rows(manifold.path, &pushes, columns, scene);
        let mut gains = [0.0; SIZE];
        for column in &*columns {
            for (gain, factor) in gains.iter_mut().zip(column) {
                *gain += factor * factor;
            }
        }
        for (row, unit) in units.iter().enumerate() {
            if unit.about == DVec3::ZERO && gains[row] <= GAIN_RATIO_MIN * free {
                for column in columns.iter_mut() {
                    column[row] = 0.0;
                }
            }
        }
        let own = &mut work.manifolds.base_rates[manifold.rows()];
        own[..units.len()].copy_from_slice(&base_rates[..units.len()]);
    }
}
