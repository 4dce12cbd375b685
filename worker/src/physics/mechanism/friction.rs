//! [`Friction`]: dry friction of an axis, after Coulomb.
//!
//! The force that would stop the axis within the step is found from how it answered to the force of
//! the step before, and is never greater than the friction. rapier's motors would do the same, but
//! creep where a mass is off the axis: each pass of its solver undoes a part of what they did.

use rapier3d_f64::dynamics::{ImpulseJointSet, RigidBodySet};
use serde::{Deserialize, Serialize};

use super::coordinate::Coordinate;
use super::memory::ForceMemory;
use super::mobility::Mobility;
use super::push::Pushes;

/// The part of the force that would stop the axis which is used: what is found for each axis alone
/// must not be too much where frictions of neighbours act too.
const RELAXATION: f64 = 0.6;

/// Dry friction of an axis.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(in super::super) struct Friction {
    /// The most that it holds \[N or N m\].
    limit: f64,
    /// What it exerted in the step before \[N or N m\].
    force: f64,
    /// The rate of the axis before that step \[m/s or rad/s\].
    rate: f64,
    pushes: Pushes,
}

impl Friction {
    /// Makes friction that holds up to a force or torque \[N or N m\].
    pub(in super::super) fn new(limit: f64) -> Self {
        Self {
            limit,
            ..Self::default()
        }
    }

    pub(super) fn memory(&self) -> ForceMemory {
        ForceMemory {
            force: self.force,
            rate: self.rate,
            pushes: self.pushes.memory(),
        }
    }

    pub(super) fn recall(&mut self, memory: &ForceMemory, coordinate: &Coordinate) -> Option<()> {
        self.pushes = Pushes::recall(&memory.pushes, coordinate.bodies.into_iter())?;
        self.force = memory.force;
        self.rate = memory.rate;
        memory.is_finite().then_some(())
    }

    /// Replaces the force of the step before by that for a step of a length \[s\].
    pub(super) fn prepare(
        &mut self,
        coordinate: &Coordinate,
        bodies: &mut RigidBodySet,
        joints: &ImpulseJointSet,
        step_size_s: f64,
    ) {
        let row = coordinate.row(bodies, 1.0);
        let rate = coordinate.rate(bodies);
        // It moved by `rate - self.rate` under the force before, and would do so again.
        let change = self.rate - 2.0 * rate;
        let impulse = Mobility::of_pair(bodies, joints, &row).impulses(&[change])[0];
        let force = self.force + RELAXATION * impulse / step_size_s;
        self.force = force.clamp(-self.limit, self.limit);
        self.rate = rate;
        self.pushes.replace(bodies, [(row, self.force)]);
    }
}
