//! [`Coupling`]: a fixed ratio between the positions of joints, held by any force.

use rapier3d_f64::dynamics::{RigidBodyHandle, RigidBodySet};
use serde::{Deserialize, Serialize};

use super::coordinate::{Coordinate, Twists};
use super::memory::CouplingState;

/// A fixed ratio: the sum of positions, each times its factor, is `rest`.
#[derive(Clone, Serialize, Deserialize)]
pub(in super::super) struct Coupling {
    /// Positions and their factors.
    pub(in super::super) terms: Vec<(Coordinate, f64)>,
    /// The sum.
    pub(in super::super) rest: f64,
    /// Impulses to warm-start from, by the roles of [`dynamics::Axis`].
    impulses: [f64; 5],
}

impl Coupling {
    /// Makes one; `None` when it asks for what is no number.
    pub(in super::super) fn new(terms: Vec<(Coordinate, f64)>, rest: f64) -> Option<Self> {
        let factors_are_finite = terms.iter().all(|(_, factor)| factor.is_finite());
        (factors_are_finite && rest.is_finite()).then_some(Self {
            terms,
            rest,
            impulses: [0.0; 5],
        })
    }

    /// Returns the bodies of all terms, in their order.
    pub(super) fn bodies(&self) -> impl Iterator<Item = RigidBodyHandle> {
        self.terms.iter().flat_map(|(term, _)| term.bodies)
    }

    /// Tells whether none of its bodies moves before something wakes them.
    pub(super) fn is_at_rest(&self, bodies: &RigidBodySet) -> bool {
        self.terms.iter().all(|(term, _)| term.is_at_rest(bodies))
    }

    /// Measures the positions, and returns what acts between them, but for its terms.
    pub(super) fn ask(&mut self, bodies: &RigidBodySet) -> dynamics::Axis {
        let mut error = -self.rest;
        for (coordinate, factor) in &mut self.terms {
            coordinate.measure(bodies);
            error += *factor * coordinate.position;
        }
        dynamics::Axis {
            is_held: true,
            impulses: self.impulses,
            ..dynamics::Axis::new(Vec::new(), error)
        }
    }

    /// Returns how the velocities of bodies change the sum.
    pub(super) fn twists(&self, bodies: &RigidBodySet) -> Twists {
        let terms = self.terms.iter();
        terms
            .flat_map(|(coordinate, factor)| coordinate.twists(bodies, *factor))
            .collect()
    }

    /// Takes over what acted in a step.
    pub(super) fn answer(&mut self, axis: &dynamics::Axis) {
        self.impulses = axis.impulses;
    }

    /// Returns what it remembers from step to step.
    pub(super) fn memory(&self) -> CouplingState {
        CouplingState {
            positions: self.terms.iter().map(|(term, _)| term.position).collect(),
            impulses: self.impulses,
        }
    }

    /// Goes on from what a coupling like it remembered; `None` when that was not like it.
    pub(super) fn recall(&mut self, memory: &CouplingState) -> Option<()> {
        if self.terms.len() != memory.positions.len() {
            return None;
        }
        for ((term, _), position) in self.terms.iter_mut().zip(&memory.positions) {
            term.position = *position;
        }
        self.impulses = memory.impulses;
        let mut numbers = memory.positions.iter().chain(&memory.impulses);
        numbers.all(|number| number.is_finite()).then_some(())
    }
}
