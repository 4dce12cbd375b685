//! Actuators: where systems can take hold of joints, in models that have any.

use rapier3d_f64::dynamics::JointAxesMask;
use rapier3d_f64::pipeline::PhysicsWorld;
use sdf::{Axis, Model};

use super::super::mechanism::Mechanism;
use super::super::mechanism::actuator::Actuator;
use super::Attachment;
use super::axis::NO_LIMIT;

/// Tells whether systems may drive the joints of a model: the others carry nothing for it.
pub(in super::super) fn has_systems(model: &Model) -> bool {
    let mut nested = model.nested.iter();
    !model.plugins.is_empty() || nested.any(|nested| !nested.plugins.is_empty())
}

/// Adds an actuator for each axis of a joint, by its index in its model.
pub(in super::super) fn insert(
    physics: &mut PhysicsWorld,
    mechanism: &mut Mechanism,
    attachment: &Attachment,
    joint: usize,
) {
    let can_move = |body: &rapier3d_f64::dynamics::RigidBodyHandle| {
        physics.bodies[*body].is_dynamic_or_kinematic()
    };
    if !attachment.bodies.iter().any(can_move) {
        return;
    }
    for (number, axis) in attachment.kind.axes().iter().enumerate() {
        let Some(coordinate) = attachment.coordinate(number) else {
            continue;
        };
        let frames = attachment.frames(Some(axis.xyz));
        let locked = JointAxesMask::empty();
        let motor = super::insert_joint(physics, mechanism, attachment.bodies, frames, locked);
        let place = (joint as u32, number as u32);
        let actuator = Actuator::new(place, coordinate, motor, limits(axis));
        mechanism.actuators.push(actuator);
    }
}

/// Returns the greatest effort and speed of an axis; SDF has them infinite by default, and negative
/// ones say the same (SDFormat, `effort` and `velocity` in `joint.sdf`).
fn limits(axis: &Axis) -> [f64; 2] {
    [axis.effort, axis.velocity].map(|limit| {
        if (0.0..NO_LIMIT).contains(&limit) {
            limit
        } else {
            f64::MAX
        }
    })
}
