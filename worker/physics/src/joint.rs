//! SDF joints as rapier joints, which say what they let move, with a [`Mechanism`] for what acts
//! along their axes.
//!
//! Positions count from the initial configuration, as in SDF. Limits, damping, friction and springs
//! mean what they mean in Gazebo's default engine (gz-physics, `dartsim/src/SDFFeatures.cc`): the
//! speed of an axis is limited too, since DART 6.10 enforces it with the limits
//! (`dart/constraint/JointConstraint.cpp`), and the effort limits commands alone, of which there
//! are none here.

pub(super) mod actuators;
pub(super) mod axis;
pub(super) mod position;
pub(super) mod ratio;

use rapier3d_f64::dynamics::{
    GenericJoint, GenericJointBuilder, ImpulseJointHandle, JointAxesMask, RigidBodyHandle,
};
use rapier3d_f64::math::{Pose, Vector};
use rapier3d_f64::pipeline::PhysicsWorld;
use sdf::{Axis, JointKind};

use super::mechanism::Mechanism;
use super::mechanism::control::AxisControl;
use super::mechanism::coordinate::{Coordinate, Kind, TwoAxes, Which, frame_along};
use super::mechanism::two_axes::{Cross, SINE_MIN};
use super::pose;

/// A joint with the bodies that it holds.
pub(super) struct Attachment<'a> {
    /// What it lets move.
    pub(super) kind: &'a JointKind,
    /// Its pose at position 0, world frame.
    pub(super) pose: sdf::Pose,
    /// Parent and child.
    pub(super) bodies: [RigidBodyHandle; 2],
    /// Their poses at position 0, world frame.
    pub(super) body_poses: [sdf::Pose; 2],
}

impl Attachment<'_> {
    /// Returns the joint's frame on both bodies, with the x axis along a direction.
    fn frames(&self, x_axis: Option<[f64; 3]>) -> [Pose; 2] {
        let mut frame = pose::to_rapier(&self.pose);
        if let Some(direction) = x_axis {
            frame.rotation = frame_along(Vector::from_array(direction));
        }
        self.body_poses
            .map(|body| pose::to_rapier(&body).inv_mul(&frame))
    }

    /// Returns its coordinate along or about one of its axes, by number; `None` when it has none.
    pub(super) fn coordinate(&self, number: usize) -> Option<Coordinate> {
        let axis = self.kind.axes().get(number)?;
        let turn = |bodies| Coordinate::new(bodies, self.frames(Some(axis.xyz)), Kind::Turn);
        let coordinate = match self.kind {
            JointKind::Fixed | JointKind::Ball | JointKind::Gearbox { .. } => return None,
            JointKind::Revolute(_) | JointKind::Continuous(_) | JointKind::Screw { .. } => {
                turn(self.bodies)
            }
            JointKind::Prismatic(axis) => {
                Coordinate::new(self.bodies, self.frames(Some(axis.xyz)), Kind::Slide)
            }
            JointKind::Universal(pair) | JointKind::Revolute2(pair) => match self.two_axes(pair) {
                Some(both) => {
                    let which = [Which::First, Which::Second][number];
                    Coordinate::new(self.bodies, self.frames(None), Kind::OneOfTwo(both, which))
                }
                None => turn(self.bodies),
            },
        };
        Some(coordinate)
    }

    /// Returns two axes in the joint's frame; `None` when they are parallel.
    fn two_axes(&self, [first, second]: &[Axis; 2]) -> Option<TwoAxes> {
        are_two_axes(first, second).then(|| {
            let into_frame = pose::to_rapier(&self.pose).rotation.inverse();
            let [first, second] = [first, second].map(|axis| into_frame * direction(axis));
            TwoAxes { first, second }
        })
    }
}

fn direction(axis: &Axis) -> Vector {
    Vector::from_array(axis.xyz).normalize_or(Vector::Z)
}

/// Tells whether two axes in series are not parallel; those that are count as their first alone.
pub(super) fn are_two_axes(first: &Axis, second: &Axis) -> bool {
    direction(first).cross(direction(second)).length() >= SINE_MIN
}

/// Inserts a joint, and adds to the mechanism what must be prepared before each step.
pub(super) fn insert(
    physics: &mut PhysicsWorld,
    mechanism: &mut Mechanism,
    attachment: &Attachment,
) {
    let holds_nothing = |handle: &RigidBodyHandle| !physics.bodies[*handle].is_dynamic();
    if attachment.bodies.iter().all(holds_nothing) {
        return;
    }
    let (locked, axis) = match attachment.kind {
        JointKind::Fixed => (JointAxesMask::LOCKED_FIXED_AXES, None),
        JointKind::Ball => (JointAxesMask::LOCKED_SPHERICAL_AXES, None),
        JointKind::Revolute(axis) | JointKind::Continuous(axis) => {
            (JointAxesMask::LOCKED_REVOLUTE_AXES, Some(axis))
        }
        JointKind::Prismatic(axis) => (JointAxesMask::LOCKED_PRISMATIC_AXES, Some(axis)),
        JointKind::Screw { axis, .. } => {
            let locked = JointAxesMask::LOCKED_REVOLUTE_AXES - JointAxesMask::LIN_X;
            (locked, Some(axis))
        }
        JointKind::Gearbox { .. } => (JointAxesMask::empty(), None),
        JointKind::Universal(axes) | JointKind::Revolute2(axes) => {
            let Some(both) = attachment.two_axes(axes) else {
                let single = JointKind::Revolute(axes[0].clone());
                let kind = &single;
                return insert(
                    physics,
                    mechanism,
                    &Attachment {
                        kind,
                        ..*attachment
                    },
                );
            };
            return insert_two_axes(physics, mechanism, attachment, axes, both);
        }
    };
    let frames = attachment.frames(axis.map(|axis| axis.xyz));
    let joint = insert_joint(physics, mechanism, attachment.bodies, frames, locked);
    let (Some(axis), Some(coordinate)) = (axis, attachment.coordinate(0)) else {
        return;
    };
    let place = (joint, axis_number(attachment.kind, 0));
    let mut control = AxisControl::new(coordinate, place);
    let is_endless = matches!(attachment.kind, JointKind::Continuous(_));
    axis::fill(&mut control, axis, is_endless);
    if !control.is_idle() {
        mechanism.controls.push(control);
    }
}

/// Returns which of the axes in series that a rapier joint stands for an axis of a joint is: the
/// turning of a screw follows its sliding.
pub(super) fn axis_number(kind: &JointKind, number: usize) -> usize {
    match kind {
        JointKind::Screw { .. } => number + 1,
        _ => number,
    }
}

fn insert_two_axes(
    physics: &mut PhysicsWorld,
    mechanism: &mut Mechanism,
    attachment: &Attachment,
    axes: &[Axis; 2],
    both: TwoAxes,
) {
    let locked = JointAxesMask::LOCKED_SPHERICAL_AXES | JointAxesMask::ANG_X;
    let frames = attachment.frames(None);
    let joint = insert_joint(physics, mechanism, attachment.bodies, frames, locked);
    mechanism.crosses.push(Cross {
        joint,
        bodies: attachment.bodies,
        frames,
        axes: both,
    });
    for (number, axis) in axes.iter().enumerate() {
        if let Some(coordinate) = attachment.coordinate(number) {
            let mut control = AxisControl::new(coordinate, (joint, number));
            axis::fill(&mut control, axis, false);
            if !control.is_idle() {
                mechanism.controls.push(control);
            }
        }
    }
}

/// Inserts a joint that locks some axes; without any, it only keeps two bodies from touching and
/// lets them fall asleep and wake together.
fn insert_joint(
    physics: &mut PhysicsWorld,
    mechanism: &mut Mechanism,
    bodies: [RigidBodyHandle; 2],
    frames: [Pose; 2],
    locked: JointAxesMask,
) -> ImpulseJointHandle {
    let data: GenericJoint = GenericJointBuilder::new(locked)
        .local_frame1(frames[0])
        .local_frame2(frames[1])
        .contacts_enabled(false)
        .build();
    mechanism.insert_joint(physics, bodies, &data)
}
