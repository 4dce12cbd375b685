//! [`Cross`]: the link between two axes in series, which a universal joint has without its mass.
//!
//! What rapier calls a joint with two free angles keeps one part of a quaternion at zero, which is
//! no universal joint. Here the one angle that is not free, about the normal of both axes, is the
//! locked x axis of a joint whose frames are renewed before each step.

use rapier3d_f64::dynamics::{ImpulseJointHandle, ImpulseJointSet, RigidBodyHandle, RigidBodySet};
use rapier3d_f64::math::{Matrix, Pose, Rotation};
use serde::{Deserialize, Serialize};

use super::coordinate::TwoAxes;

/// The least sine of the angle between two axes for a normal of both.
pub(in super::super) const SINE_MIN: f64 = 1e-3;

/// Keeps two axes, one on each of two bodies, at their angle and their point together.
#[derive(Clone, Serialize, Deserialize)]
pub(in super::super) struct Cross {
    pub(in super::super) joint: ImpulseJointHandle,
    /// Parent and child.
    pub(in super::super) bodies: [RigidBodyHandle; 2],
    /// The joint's frame on each; they coincide at position 0.
    pub(in super::super) frames: [Pose; 2],
    pub(in super::super) axes: TwoAxes,
}

impl Cross {
    /// Turns the frames to where the axes are now.
    pub(super) fn prepare(&self, bodies: &RigidBodySet, joints: &mut ImpulseJointSet) {
        let is_at_rest = self.bodies.iter().all(|handle| {
            let body = &bodies[*handle];
            !body.is_dynamic_or_kinematic() || body.is_sleeping()
        });
        let poses = self.bodies.map(|handle| *bodies[handle].position());
        let Some([parent, child]) = self.frames_at(poses) else {
            return;
        };
        if !is_at_rest && let Some(joint) = joints.get_mut(self.joint, false) {
            joint.data.local_frame1 = parent;
            joint.data.local_frame2 = child;
        }
    }

    /// Returns the frames of the rapier joint on both bodies: x along the normal of the axes, and
    /// the child's turned about it by the error of the angle between them. `None` where the axes
    /// point the same way, which the joint itself prevents.
    pub(in super::super) fn frames_at(&self, poses: [Pose; 2]) -> Option<[Pose; 2]> {
        let [parent, child] = [0, 1].map(|side| poses[side] * self.frames[side]);
        let first = parent.rotation * self.axes.first;
        let second = child.rotation * self.axes.second;
        let normal = first.cross(second);
        let sine = normal.length();
        if sine < SINE_MIN {
            return None;
        }
        let normal = normal / sine;
        // A turn of the child about the normal by an angle lessens the cosine by sine * angle.
        let error = (self.axes.first.dot(self.axes.second) - first.dot(second)) / sine;
        let columns = Matrix::from_cols(normal, first, normal.cross(first));
        let rotation = Rotation::from_mat3(&columns).normalize();
        let turned = Rotation::from_axis_angle(normal, error.clamp(-0.5, 0.5)) * rotation;
        Some([
            poses[0].inv_mul(&Pose::from_parts(parent.translation, rotation)),
            poses[1].inv_mul(&Pose::from_parts(child.translation, turned)),
        ])
    }
}
