//! Poses and vectors between the words of `sdf` and those of rapier; no rounding either way.

use rapier3d_f64::math::{Pose, Rotation, Vector};

/// Returns a pose as rapier has it.
pub(super) fn to_rapier(pose: &sdf::Pose) -> Pose {
    Pose::from_parts(
        Vector::from_array(pose.position),
        Rotation::from_array(pose.orientation_xyzw),
    )
}

/// Returns a pose of rapier's as the rest of Phalanx has it.
pub(super) fn from_rapier(pose: &Pose) -> sdf::Pose {
    sdf::Pose {
        position: pose.translation.to_array(),
        orientation_xyzw: pose.rotation.to_array(),
    }
}
