//! Ratios between joints: screws, gearboxes and axes that mimic another.

use std::f64::consts::TAU;

use rapier3d_f64::dynamics::RigidBodyHandle;
use rapier3d_f64::pipeline::PhysicsWorld;
use sdf::{Axis, Joint, JointKind, Mimic, Model};

use super::super::mechanism::Mechanism;
use super::super::mechanism::coordinate::{Coordinate, Kind};
use super::super::mechanism::coupling::Coupling;
use super::Attachment;

/// Couples sliding to turning: a right-handed thread goes on by its pitch with each turn in the
/// sense of the axis.
pub(in super::super) fn couple_screw(mechanism: &mut Mechanism, attachment: &Attachment) {
    let JointKind::Screw { axis, thread_pitch } = attachment.kind else {
        return;
    };
    let frames = attachment.frames(Some(axis.xyz));
    let along = |kind| Coordinate::new(attachment.bodies, frames, kind);
    let terms = vec![
        (along(Kind::Slide), 1.0),
        (along(Kind::Turn), -thread_pitch / TAU),
    ];
    mechanism.couplings.extend(Coupling::new(terms, 0.0));
}

/// Couples the turns of a gearbox's links against its reference body, or the world without one:
/// that of the child about the second axis is `-ratio` times that of the parent about the first
/// (SDFormat, `gearbox_reference_body` in `joint.sdf`).
pub(in super::super) fn couple_gearbox(
    mechanism: &mut Mechanism,
    attachment: &Attachment,
    reference: (RigidBodyHandle, sdf::Pose),
) {
    let JointKind::Gearbox { axes, ratio, .. } = attachment.kind else {
        return;
    };
    let turn = |side: usize, axis: &Axis| {
        let against = Attachment {
            bodies: [reference.0, attachment.bodies[side]],
            body_poses: [reference.1, attachment.body_poses[side]],
            ..*attachment
        };
        Coordinate::new(against.bodies, against.frames(Some(axis.xyz)), Kind::Turn)
    };
    let terms = vec![(turn(0, &axes[0]), *ratio), (turn(1, &axes[1]), 1.0)];
    mechanism.couplings.extend(Coupling::new(terms, 0.0));
}

/// Couples an axis to the one that it mimics: `follower = multiplier * (leader - reference) +
/// offset` (SDFormat, `mimic` in `joint.sdf`).
pub(in super::super) fn couple_mimic(
    physics: &mut PhysicsWorld,
    mechanism: &mut Mechanism,
    follower: Coordinate,
    leader: Coordinate,
    mimic: &Mimic,
) {
    // They fall asleep and wake together, but may touch.
    let (first, second) = (leader.child(), follower.child());
    if first != second {
        let link = rapier3d_f64::dynamics::GenericJoint::default();
        mechanism.insert_joint(physics, [first, second], &link);
    }
    let terms = vec![(follower, 1.0), (leader, -mimic.multiplier)];
    let rest = mimic.offset - mimic.multiplier * mimic.reference;
    mechanism.couplings.extend(Coupling::new(terms, rest));
}

/// Returns the joint that an axis mimics; `None` when the model has no such joint or it has no
/// such axis.
pub(in super::super) fn leader<'a>(model: &'a Model, mimic: &Mimic) -> Option<&'a Joint> {
    let joint = model
        .joints
        .iter()
        .find(|joint| joint.name == mimic.joint)?;
    let has_axis =
        !matches!(joint.kind, JointKind::Gearbox { .. }) && joint.kind.axes().len() > mimic.axis;
    has_axis.then_some(joint)
}
