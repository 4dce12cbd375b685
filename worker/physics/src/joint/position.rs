//! [`AxisMotion`]: how what hangs on a joint moves as the position along or about an axis changes.

use rapier3d_f64::dynamics::RigidBodySet;
use rapier3d_f64::math::Vector;
use sdf::JointKind;

use super::super::commands::lead;
use super::super::mechanism::coordinate::Coordinate;
use super::Attachment;

/// What a unit of position does to what hangs on a joint, world frame.
pub(in super::super) struct AxisMotion {
    /// The axis turned about, per radian; zero when it slides.
    pub(in super::super) turn: Vector,
    /// The way along the axis \[m\]; zero when it only turns.
    pub(in super::super) slide: Vector,
    /// A point on the axis \[m\].
    pub(in super::super) point: Vector,
    /// The position now \[rad or m\], whole turns apart.
    pub(in super::super) position: f64,
    /// The position now by how far it slid, where it slides.
    pub(in super::super) position_of_slide: f64,
    pub(in super::super) coordinate: Coordinate,
}

/// Returns how an axis of a joint, by number, moves what hangs on the joint; `None` when the joint
/// has no position along or about it.
pub(in super::super) fn axis_motion(
    attachment: &Attachment<'_>,
    number: usize,
    bodies: &RigidBodySet,
) -> Option<AxisMotion> {
    let mut coordinate = attachment.coordinate(number)?;
    coordinate.measure(bodies);
    let position = coordinate.position();
    let in_world = |frames: [rapier3d_f64::math::Pose; 2]| {
        [0, 1].map(|side| bodies[attachment.bodies[side]].position() * frames[side])
    };
    let axis = &attachment.kind.axes()[number];
    let frames = in_world(attachment.frames(Some(axis.xyz)));
    let along = frames[0].rotation * Vector::X;
    let (mut turn, mut slide, mut position_of_slide) = (along, Vector::ZERO, 0.0);
    let offset = (frames[1].translation - frames[0].translation).dot(along);
    match attachment.kind {
        JointKind::Prismatic(_) => {
            (turn, slide, position_of_slide) = (Vector::ZERO, along, position);
        }
        JointKind::Screw { .. } => {
            let lead = lead(attachment.kind);
            slide = along * lead;
            position_of_slide = if lead == 0.0 { 0.0 } else { offset / lead };
        }
        JointKind::Universal(pair) | JointKind::Revolute2(pair) => {
            match attachment.two_axes(pair) {
                Some(both) => {
                    let frames = in_world(attachment.frames(None));
                    turn = match number {
                        0 => frames[0].rotation * both.first,
                        _ => frames[1].rotation * both.second,
                    };
                }
                // Two parallel axes count as their first alone.
                None if number > 0 => return None,
                None => {}
            }
        }
        JointKind::Fixed
        | JointKind::Ball
        | JointKind::Gearbox { .. }
        | JointKind::Revolute(_)
        | JointKind::Continuous(_) => {}
    }
    Some(AxisMotion {
        turn,
        slide,
        point: frames[1].translation,
        position,
        position_of_slide,
        coordinate,
    })
}
