//! [`Mechanism`]: the joints of a model that rapier does not keep by itself.
//!
//! Two axes in series (universal, revolute2), springs, strong dampers, dry friction, limits of any
//! range, greatest speeds, and ratios between joints (screw, gearbox, mimic) are prepared before
//! each step. Everything that a
//! step needs to know of the one before is in here, and so in snapshots. Start at [`super::joint`],
//! which fills it.

pub(super) mod actuator;
pub(super) mod coordinate;
pub(super) mod coupling;
pub(super) mod damper;
pub(super) mod drive;
pub(super) mod friction;
pub(super) mod memory;
mod mobility;
mod push;
mod row;
pub(super) mod two_axes;

use rapier3d_f64::dynamics::{GenericJoint, ImpulseJointHandle, RigidBodyHandle};
use rapier3d_f64::pipeline::PhysicsWorld;
use serde::{Deserialize, Serialize};

use self::actuator::Actuator;
use self::coordinate::Coordinate;
use self::coupling::Couplings;
use self::drive::Drive;
use self::two_axes::Cross;

/// The joints of a model, or one of the world, and what of them must be prepared before each step.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(super) struct Mechanism {
    /// All joints that rapier has of it, in the order of insertion.
    pub(super) joints: Vec<ImpulseJointHandle>,
    pub(super) crosses: Vec<Cross>,
    pub(super) drives: Vec<Drive>,
    pub(super) couplings: Couplings,
    /// Where systems take hold, in the order of joints and axes.
    pub(super) actuators: Vec<Actuator>,
}

impl Mechanism {
    /// Tells whether there is nothing in it.
    pub(super) fn is_empty(&self) -> bool {
        self.joints.is_empty()
            && self.crosses.is_empty()
            && self.drives.is_empty()
            && self.couplings.is_empty()
    }

    /// Returns the bodies that it measures.
    pub(super) fn bodies(&self) -> impl Iterator<Item = RigidBodyHandle> {
        let crosses = self.crosses.iter().flat_map(|cross| cross.bodies);
        let drives = self.drives.iter().flat_map(|drive| drive.coordinate.bodies);
        let actuators = self.actuators.iter();
        let of_actuators = actuators.flat_map(|actuator| actuator.coordinate.bodies);
        let measured = crosses.chain(drives).chain(of_actuators);
        measured.chain(self.couplings.bodies())
    }

    /// Returns the positions that it keeps count of.
    pub(super) fn coordinates_mut(&mut self) -> impl Iterator<Item = &mut Coordinate> {
        let drives = self.drives.iter_mut().map(|drive| &mut drive.coordinate);
        let actuators = self.actuators.iter_mut();
        let of_actuators = actuators.map(|actuator| &mut actuator.coordinate);
        let measured = drives.chain(of_actuators);
        measured.chain(self.couplings.coordinates_mut())
    }

    /// Gives rapier a joint; it wakes nobody unless one of the bodies is awake.
    pub(super) fn insert_joint(
        &mut self,
        physics: &mut PhysicsWorld,
        [first, second]: [RigidBodyHandle; 2],
        joint: &GenericJoint,
    ) -> ImpulseJointHandle {
        let handle = physics.impulse_joints.insert(first, second, *joint, false);
        self.joints.push(handle);
        handle
    }
}

/// Makes mechanisms ready for a step of a length \[s\].
pub(super) fn prepare<'a>(
    mechanisms: impl Iterator<Item = &'a mut Mechanism>,
    physics: &mut PhysicsWorld,
    step_size_s: f64,
) {
    for mechanism in mechanisms {
        actuator::prepare(&mut mechanism.actuators, physics, step_size_s);
        let (bodies, joints) = (&mut physics.bodies, &mut physics.impulse_joints);
        for cross in &mechanism.crosses {
            cross.prepare(bodies, joints);
        }
        for drive in &mut mechanism.drives {
            drive.prepare(bodies, joints, step_size_s);
        }
        mechanism.drives.retain(|drive| !drive.is_idle());
        mechanism.couplings.prepare(bodies, joints, step_size_s);
    }
}
