//! SDF joints as rapier impulse joints.
//!
//! Both sides share one joint frame, whose x axis is the joint's axis; positions count from the
//! initial configuration, as in SDF.

use std::f64::consts::TAU;

use rapier3d_f64::dynamics::{
    GenericJoint, GenericJointBuilder, JointAxesMask, JointAxis, MotorModel,
};
use rapier3d_f64::math::{Pose, Rotation, Vector};
use sdf::{Axis, Joint, JointKind};

use super::pose;

/// Returns a joint between bodies that are at the poses given when it is at position 0.
pub(super) fn joint_between(joint: &Joint, parent: &Pose, child: &Pose) -> GenericJoint {
    let mut frame = pose::to_rapier(&joint.pose);
    let (locked, free) = match &joint.kind {
        JointKind::Fixed => (JointAxesMask::LOCKED_FIXED_AXES, None),
        JointKind::Ball => (JointAxesMask::LOCKED_SPHERICAL_AXES, None),
        JointKind::Revolute(axis) | JointKind::Continuous(axis) => (
            JointAxesMask::LOCKED_REVOLUTE_AXES,
            Some((JointAxis::AngX, axis)),
        ),
        JointKind::Prismatic(axis) => (
            JointAxesMask::LOCKED_PRISMATIC_AXES,
            Some((JointAxis::LinX, axis)),
        ),
        JointKind::Universal(_)
        | JointKind::Revolute2(_)
        | JointKind::Screw { .. }
        | JointKind::Gearbox { .. } => (JointAxesMask::empty(), None),
    };
    if let Some((_, axis)) = free {
        let direction = Vector::from_array(axis.xyz).normalize_or(Vector::Z);
        frame.rotation = Rotation::from_rotation_arc(Vector::X, direction);
    }
    let mut builder = GenericJointBuilder::new(locked)
        .local_frame1(parent.inv_mul(&frame))
        .local_frame2(child.inv_mul(&frame))
        .contacts_enabled(false);
    if let Some((free_axis, axis)) = free {
        if let Some(limits) = limits(&joint.kind) {
            builder = builder.limits(free_axis, limits);
        }
        if axis.damping > 0.0 {
            builder = builder
                .motor_velocity(free_axis, 0.0, axis.damping)
                .motor_model(free_axis, MotorModel::ForceBased);
        }
    }
    builder.build()
}

/// Returns the limits that rapier keeps, in \[rad\] or \[m\].
///
/// rapier reads a revolute joint's angle from the orientations of its bodies and so cannot count
/// turns: a range of a full turn or more, or one that is open at an end, is no limit at all.
fn limits(kind: &JointKind) -> Option<[f64; 2]> {
    match kind {
        JointKind::Revolute(Axis { lower, upper, .. }) => {
            (lower <= upper && upper - lower < TAU).then_some([*lower, *upper])
        }
        JointKind::Prismatic(Axis { lower, upper, .. }) => {
            let bounded = lower.is_finite() || upper.is_finite();
            (bounded && lower <= upper).then_some([lower.max(f64::MIN), upper.min(f64::MAX)])
        }
        _ => None,
    }
}

/// Tells whether a joint has limits that are dropped; files write 1e16 for "none".
pub(super) fn drops_limits(kind: &JointKind) -> bool {
    const NO_LIMIT: f64 = 1e15;
    match kind {
        JointKind::Revolute(axis) => {
            limits(kind).is_none() && (axis.lower > -NO_LIMIT || axis.upper < NO_LIMIT)
        }
        _ => false,
    }
}

/// Returns the axis of a joint that has one.
pub(super) fn axis(kind: &JointKind) -> Option<&Axis> {
    match kind {
        JointKind::Revolute(axis) | JointKind::Continuous(axis) | JointKind::Prismatic(axis) => {
            Some(axis)
        }
        _ => None,
    }
}
