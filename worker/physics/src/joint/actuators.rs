//! Actuators: where systems can take hold of joints, in models that have any.

use rapier3d_f64::dynamics::ImpulseJointHandle;
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

/// Adds an actuator for each axis of a joint, by its index in its model; the rapier joint is the
/// one that was inserted for it.
pub(in super::super) fn insert(
    physics: &PhysicsWorld,
    mechanism: &mut Mechanism,
    attachment: &Attachment,
    joint: usize,
    handle: ImpulseJointHandle,
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
        let place = (joint as u32, number as u32);
        let held_by = (handle, super::axis_number(attachment.kind, number));
        let actuator = Actuator::new(place, coordinate, held_by, limits(axis));
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
