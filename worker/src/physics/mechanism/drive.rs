//! [`Drive`]: what acts along one axis of a joint and must be set anew before each step.
//!
//! Limit, spring with damping, and brake at the greatest speed are each the one motor or limit of a
//! rapier joint between the two bodies, solved together with everything else. Friction and strong
//! damping are forces.

use std::f64::consts::PI;

use rapier3d_f64::dynamics::{ImpulseJointHandle, ImpulseJointSet, RigidBodySet};
use serde::{Deserialize, Serialize};

use super::super::cell::SUBSTEPS;
use super::coordinate::Coordinate;
use super::damper::Damper;
use super::friction::Friction;
use super::memory::DriveMemory;
use super::row::Row;

/// The least damping of a spring, as a part of stiffness times substep: what rapier divides by.
const DAMPING_RATIO_MIN: f64 = 1e-3;

/// What acts along one axis of a joint.
#[derive(Clone, Serialize, Deserialize)]
pub(in super::super) struct Drive {
    /// Its place among the drives of its mechanism, as they were built.
    pub(in super::super) number: u32,
    pub(in super::super) coordinate: Coordinate,
    pub(in super::super) limit: Option<(ImpulseJointHandle, [f64; 2])>,
    pub(in super::super) stop: Option<(ImpulseJointHandle, [f64; 2], Spring)>,
    pub(in super::super) spring: Option<(ImpulseJointHandle, Spring)>,
    pub(in super::super) friction: Option<Friction>,
    pub(in super::super) damper: Option<Damper>,
    pub(in super::super) brake: Option<(ImpulseJointHandle, f64)>,
}

/// A spring with a damper beside it.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(in super::super) struct Spring {
    /// Stiffness \[N/m or N m/rad\].
    pub(in super::super) stiffness: f64,
    /// Damping \[N s/m or N m s/rad\].
    pub(in super::super) damping: f64,
    /// Where it is at rest \[m or rad\].
    pub(in super::super) reference: f64,
}

impl Drive {
    /// Makes everything ready for a step of a length \[s\].
    pub(super) fn prepare(
        &mut self,
        bodies: &mut RigidBodySet,
        joints: &mut ImpulseJointSet,
        step_size_s: f64,
    ) {
        if self.coordinate.is_at_rest(bodies) {
            return;
        }
        self.coordinate.measure(bodies);
        let mut row = Row::of(&self.coordinate, bodies, joints);
        let position = self.coordinate.position;
        let substep = step_size_s / SUBSTEPS as f64;
        if let Some((handle, limits)) = self.limit {
            row.set_limit(handle, limits.map(|limit| limit - position));
        }
        let mobility = self.coordinate.mobility(bodies);
        if let Some((handle, spring)) = self.spring {
            row.set_spring(handle, spring, position, mobility, substep);
        }
        if let Some((handle, limits, spring)) = self.stop {
            let rate = self.coordinate.rate(bodies);
            match spring.at_limit(limits, position, rate) {
                Some(spring) => row.set_spring(handle, spring, position, mobility, substep),
                None => row.release(handle),
            }
        }
        if let Some((handle, speed)) = self.brake {
            row.set_brake(handle, speed, self.coordinate.rate(bodies));
        }
        let axis = row.axis;
        if let Some(damper) = &mut self.damper
            && !damper.prepare(&self.coordinate, axis, bodies, joints, step_size_s)
        {
            self.damper = None;
        }
        if let Some(friction) = &mut self.friction {
            friction.prepare(&self.coordinate, bodies, joints, step_size_s);
        }
    }

    /// Returns what it remembers from step to step.
    pub(super) fn memory(&self) -> DriveMemory {
        DriveMemory {
            number: self.number,
            position: self.coordinate.position,
            friction: self.friction.as_ref().map(Friction::memory),
            damper: self.damper.as_ref().map(Damper::memory),
        }
    }

    /// Goes on from what a drive like it remembered; `None` when that was not like it.
    pub(super) fn recall(&mut self, memory: &DriveMemory) -> Option<()> {
        match (&mut self.friction, &memory.friction) {
            (Some(friction), Some(memory)) => friction.recall(memory, &self.coordinate)?,
            (None, None) => {}
            (Some(_), None) | (None, Some(_)) => return None,
        }
        match (&mut self.damper, &memory.damper) {
            (Some(damper), Some(memory)) => damper.recall(memory, &self.coordinate)?,
            // A damper that rapier's motor is good enough for is given up.
            (_, None) => self.damper = None,
            (None, Some(_)) => return None,
        }
        self.coordinate.position = memory.position;
        memory.position.is_finite().then_some(())
    }

    /// Tells whether nothing is left to prepare.
    pub(in super::super) fn is_idle(&self) -> bool {
        self.limit.is_none()
            && self.stop.is_none()
            && self.spring.is_none()
            && self.friction.is_none()
            && self.damper.is_none()
            && self.brake.is_none()
    }
}

impl Spring {
    /// Returns the spring that pushes back where a limit is passed; `None` within the limits and
    /// where the damper would hold what leaves.
    fn at_limit(self, [lower, upper]: [f64; 2], position: f64, rate: f64) -> Option<Self> {
        let limit = if position < lower {
            lower
        } else if position > upper {
            upper
        } else {
            return None;
        };
        let depth = limit - position;
        let force = self.stiffness * depth - self.damping * rate;
        (force * depth > 0.0).then_some(Self {
            reference: limit,
            ..self
        })
    }

    /// Returns the damping with which the spring never gains energy, the least that is possible:
    /// with a force taken at the begin of each substep, which is what rapier's position and ours
    /// amount to, that is nothing below `stiffness * mobility * substep^2 = 1`, and above it grows
    /// to half of `stiffness * substep`.
    pub(super) fn stable_damping(self, mobility: f64, substep: f64) -> f64 {
        let stiffness = self.stiffness * substep;
        let square_phase = stiffness * substep * mobility;
        let share = if square_phase > 1.0 {
            0.5 - 0.5 / square_phase
        } else {
            0.0
        };
        self.damping.max(stiffness * share.max(DAMPING_RATIO_MIN))
    }
}

/// Tells whether rapier keeps limits of a turning joint by itself: it sees angles between -pi and
/// pi and cannot count turns.
pub(in super::super) fn are_within_a_turn([lower, upper]: [f64; 2]) -> bool {
    -PI < lower && lower <= upper && upper < PI
}
