//! [`Cross`]: the massless link between two axes in series, as a universal joint has it.

use rapier3d_f64::dynamics::{ImpulseJointHandle, RigidBodyHandle};
use rapier3d_f64::math::Pose;
use serde::{Deserialize, Serialize};

use super::coordinate::TwoAxes;

/// The least sine of the angle between two axes for a normal of both.
pub(in super::super) const SINE_MIN: f64 = 1e-3;

/// Two axes in series, the first on the parent, the second on the child.
#[derive(Clone, Serialize, Deserialize)]
pub(in super::super) struct Cross {
    pub(in super::super) joint: ImpulseJointHandle,
    /// Parent and child.
    pub(in super::super) bodies: [RigidBodyHandle; 2],
    /// The joint's frame on each; they coincide at position 0.
    pub(in super::super) frames: [Pose; 2],
    pub(in super::super) axes: TwoAxes,
}
