//! [`Damper`]: viscous damping that is too strong for a motor of rapier's.
//!
//! Where the mass of a link is off the axis, each pass of rapier's solver undoes a part of what a
//! motor did, and a strong damper is left with a fraction of its strength. Such a one is a force
//! instead, found as that of [`super::friction::Friction`]. The others stay motors, which are exact
//! to second order in the step.

use rapier3d_f64::dynamics::{
    ImpulseJointHandle, ImpulseJointSet, JointAxesMask, JointAxis, RigidBodySet,
};
use serde::{Deserialize, Serialize};

use super::coordinate::Coordinate;
use super::memory::ForceMemory;
use super::mobility::Mobility;
use super::push::Pushes;

/// The part of the rate that a motor takes away in a step, from which on a damper is strong.
const STRONG: f64 = 0.05;

/// The part of the mobility of free bodies that is left to the axis, below which its masses are off
/// it.
const OFF_AXIS: f64 = 0.9;

/// The part of the change of force that is used in a step, since neighbours may be damped too.
const RELAXATION: f64 = 0.6;

/// Viscous damping of an axis.
#[derive(Clone, Serialize, Deserialize)]
pub(in super::super) struct Damper {
    /// The rapier joint whose motor damps while this does not.
    main: ImpulseJointHandle,
    /// \[N s/m or N m s/rad\].
    damping: f64,
    /// Whether it is a force.
    is_force: bool,
    /// What it exerted in the step before \[N or N m\].
    force: f64,
    /// The rate of the axis before that step \[m/s or rad/s\].
    rate: f64,
    pushes: Pushes,
}

impl Damper {
    /// Takes on a motor that damps, to become a force if it must.
    pub(in super::super) fn new(main: ImpulseJointHandle, damping: f64) -> Self {
        Self {
            main,
            damping,
            is_force: false,
            force: 0.0,
            rate: 0.0,
            pushes: Pushes::default(),
        }
    }

    pub(super) fn memory(&self) -> (bool, ForceMemory) {
        let memory = ForceMemory {
            force: self.force,
            rate: self.rate,
            pushes: self.pushes.memory(),
        };
        (self.is_force, memory)
    }

    pub(super) fn recall(
        &mut self,
        (is_force, memory): &(bool, ForceMemory),
        coordinate: &Coordinate,
    ) -> Option<()> {
        self.pushes = Pushes::recall(&memory.pushes, coordinate.bodies.into_iter())?;
        self.is_force = *is_force;
        self.force = memory.force;
        self.rate = memory.rate;
        memory.is_finite().then_some(())
    }

    /// Replaces the force of the step before by that for a step of a length \[s\]; returns whether
    /// it is needed any longer.
    pub(super) fn prepare(
        &mut self,
        coordinate: &Coordinate,
        axis: JointAxis,
        bodies: &mut RigidBodySet,
        joints: &mut ImpulseJointSet,
        step_size_s: f64,
    ) -> bool {
        let free_mobility = coordinate.mobility(bodies);
        let row = coordinate.row(bodies, 1.0);
        let per_rate = Mobility::of_pair(bodies, joints, &row).impulses(&[1.0])[0];
        if free_mobility <= 0.0 || per_rate <= 0.0 {
            // Before the first step masses are not known yet.
            return true;
        }
        let mobility = 1.0 / per_rate;
        if !self.is_force {
            let is_strong = self.damping * step_size_s * free_mobility > STRONG;
            if !is_strong || mobility > OFF_AXIS * free_mobility {
                return false;
            }
            self.is_force = true;
            self.rate = coordinate.rate(bodies);
            if let Some(joint) = joints.get_mut(self.main, false) {
                joint.data.motor_axes.remove(JointAxesMask::from(axis));
            }
        }
        let rate = coordinate.rate(bodies);
        let push = mobility * step_size_s;
        let free_rate = 2.0 * rate - self.rate - push * self.force;
        let wanted = -self.damping * free_rate / (1.0 + self.damping * push);
        self.force += RELAXATION * (wanted - self.force);
        self.rate = rate;
        self.pushes.replace(bodies, [(row, self.force)]);
        true
    }
}
