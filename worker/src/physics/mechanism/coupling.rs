//! [`Coupling`]: a fixed ratio between the positions of joints.
//!
//! rapier has no constraint between more than two bodies, nor one between turning and sliding. So
//! each step the force that ends the error of the ratio's rate, and a part of the error of the
//! ratio itself, is found with the exact mobility of the linked bodies and acts on them during the
//! step. It behaves as a spring of stiffness `1 / (4 mobility step^2)`: against a load that would
//! move the free coordinates at a rate `a`, the ratio is off by `5 a step^2`, 50 micrometres under
//! gravity at steps of 1 ms.

use rapier3d_f64::dynamics::{ImpulseJointSet, RigidBodyHandle, RigidBodySet};
use serde::{Deserialize, Serialize};

use super::coordinate::{BodyRow, Coordinate};
use super::memory::{CouplingsMemory, are_finite};
use super::mobility::Mobility;
use super::push::Pushes;

/// The part of the error of a ratio that one step makes good.
const POSITION_GAIN: f64 = 0.25;

/// The part of the force with which everything would be made good that is used: below 1, since
/// links may be held by other couplings too.
const RELAXATION: f64 = 0.8;

/// The greatest rate at which an error is made good \[m/s or rad/s\]: a ratio that does not hold at
/// the start is restored without a bang.
const CORRECTION_RATE_MAX: f64 = 5.0;

/// The most couplings that are solved together.
const BLOCK_MAX: usize = 64;

/// A fixed ratio: the sum of positions, each times its factor, is `rest`.
#[derive(Clone, Serialize, Deserialize)]
pub(in super::super) struct Coupling {
    /// Positions and their factors.
    pub(in super::super) terms: Vec<(Coordinate, f64)>,
    /// The sum.
    pub(in super::super) rest: f64,
}

impl Coupling {
    fn measure(&mut self, bodies: &RigidBodySet) {
        for (coordinate, _) in &mut self.terms {
            coordinate.measure(bodies);
        }
    }

    fn is_at_rest(&self, bodies: &RigidBodySet) -> bool {
        self.terms.iter().all(|(term, _)| term.is_at_rest(bodies))
    }

    /// Returns the rate that the sum should change by within the step.
    fn change(&self, bodies: &RigidBodySet, step_size_s: f64) -> f64 {
        let (mut error, mut rate) = (-self.rest, 0.0);
        for (coordinate, factor) in &self.terms {
            error += factor * coordinate.position;
            rate += factor * coordinate.rate(bodies);
        }
        let correction = POSITION_GAIN * error / step_size_s;
        -rate - correction.clamp(-CORRECTION_RATE_MAX, CORRECTION_RATE_MAX)
    }

    fn row(&self, bodies: &RigidBodySet) -> BodyRow {
        let terms = self.terms.iter();
        terms
            .flat_map(|(coordinate, factor)| coordinate.row(bodies, *factor))
            .collect()
    }
}

/// The couplings of one model, solved together, with the forces that they exert during a step.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(in super::super) struct Couplings {
    list: Vec<Coupling>,
    pushes: Pushes,
}

impl Couplings {
    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Returns the positions that are coupled.
    pub(super) fn coordinates_mut(&mut self) -> impl Iterator<Item = &mut Coordinate> {
        let terms = self
            .list
            .iter_mut()
            .flat_map(|coupling| &mut coupling.terms);
        terms.map(|(coordinate, _)| coordinate)
    }

    /// Returns the bodies of all terms, in their order.
    pub(super) fn bodies(&self) -> impl Iterator<Item = RigidBodyHandle> {
        let terms = self.list.iter().flat_map(|coupling| &coupling.terms);
        terms.flat_map(|(term, _)| term.bodies)
    }

    /// Returns what they remember from step to step.
    pub(super) fn memory(&self) -> CouplingsMemory {
        let terms = self.list.iter().flat_map(|coupling| &coupling.terms);
        CouplingsMemory {
            positions: terms.map(|(term, _)| term.position).collect(),
            pushes: self.pushes.memory(),
        }
    }

    /// Goes on from what couplings like these remembered; `None` when those were not like these.
    pub(super) fn recall(&mut self, memory: &CouplingsMemory) -> Option<()> {
        self.pushes = Pushes::recall(&memory.pushes, self.bodies())?;
        let terms = self
            .list
            .iter_mut()
            .flat_map(|coupling| &mut coupling.terms);
        let mut positions = memory.positions.iter();
        for (term, _) in terms {
            term.position = *positions.next()?;
        }
        let is_finite = memory.positions.iter().all(|position| position.is_finite());
        let fits = positions.next().is_none() && is_finite && are_finite(&memory.pushes);
        fits.then_some(())
    }

    /// Replaces the forces of the step before by those for a step of a length \[s\].
    pub(super) fn prepare(
        &mut self,
        bodies: &mut RigidBodySet,
        joints: &ImpulseJointSet,
        step_size_s: f64,
    ) {
        if self.list.iter().all(|coupling| coupling.is_at_rest(bodies)) {
            return;
        }
        let mut pushes = Vec::with_capacity(self.list.len());
        for block in self.list.chunks_mut(BLOCK_MAX) {
            let mut rows = Vec::with_capacity(block.len());
            let mut changes = Vec::with_capacity(block.len());
            for coupling in block {
                coupling.measure(bodies);
                rows.push(coupling.row(bodies));
                changes.push(coupling.change(bodies, step_size_s));
            }
            let impulses = Mobility::new(bodies, joints, &rows).impulses(&changes);
            let sizes = impulses
                .into_iter()
                .map(|impulse| RELAXATION * impulse / step_size_s);
            pushes.extend(rows.into_iter().zip(sizes));
        }
        self.pushes.replace(bodies, pushes);
    }

    /// Adds a coupling, unless it asks for what is no number.
    pub(in super::super) fn add(&mut self, coupling: Coupling) {
        let factors_are_finite = coupling.terms.iter().all(|(_, factor)| factor.is_finite());
        if factors_are_finite && coupling.rest.is_finite() {
            self.list.push(coupling);
        }
    }
}
