//! Inserting models: links become bodies, collisions become colliders, joints impulse joints.
//!
//! Everything is inserted in file order, because the order is part of the bits of a cell.

use rapier3d_f64::dynamics::{RigidBodyBuilder, RigidBodyHandle};
use rapier3d_f64::pipeline::PhysicsWorld;
use sdf::{Joint, JointKind, JointParent, Link, Model, World};

use super::collider::collider;
use super::collision_filter::Family;
use super::joint::{self, Attachment, actuators, ratio};
use super::mechanism::Mechanism;
use super::mechanism::coordinate::Coordinate;
use super::shape::Shapes;
use super::transfer::LinkState;
use super::{contacts, inertia, pose};

/// The speed below which a body may fall asleep \[m/s\]. rapier's own 0.05 stops balls and
/// pendulums that are merely slow.
const SLEEP_SPEED: f64 = 5e-4;

/// The angular speed below which a body without colliders may fall asleep \[rad/s\].
const SLEEP_ANGULAR_SPEED: f64 = 1e-3;

/// Inserts a model that never moves, by its index in the world, as one fixed body at the origin of
/// the world.
pub(super) fn insert_static(
    physics: &mut PhysicsWorld,
    shapes: &mut Shapes,
    world: &World,
    index: usize,
) -> RigidBodyHandle {
    let builder = RigidBodyBuilder::fixed().user_data(label(index, 0));
    let body = physics.insert_body(builder);
    for (link_index, link) in world.models[index].links.iter().enumerate() {
        for (number, collision) in link.collisions.iter().enumerate() {
            let at = link.pose.then(&collision.pose);
            let collider = collider(shapes, world, collision, &at, Family::NONE, false);
            if let Some(mut collider) = collider {
                collider.user_data |= contacts::label(link_index, number, collision);
                physics.insert_collider(collider, Some(body));
            }
        }
    }
    body
}

/// Inserts a model by its index in the world, in its initial poses or in the states of as many
/// links as it has, and returns its bodies in the order of its links, and its joints.
pub(super) fn insert_performer(
    physics: &mut PhysicsWorld,
    shapes: &mut Shapes,
    world: &World,
    anchor: RigidBodyHandle,
    index: usize,
    states: Option<&[LinkState]>,
) -> (Vec<RigidBodyHandle>, Mechanism) {
    let model = &world.models[index];
    let families = Family::of_links(model, index);
    let mut bodies = Vec::with_capacity(model.links.len());
    for (link_index, link) in model.links.iter().enumerate() {
        let state = states.map(|states| &states[link_index]);
        let body = insert_link(physics, model, link, label(index, link_index), state);
        let family = families[link_index];
        let moves = !is_fixed(model, link);
        for (number, collision) in link.collisions.iter().enumerate() {
            let collider = collider(shapes, world, collision, &collision.pose, family, moves);
            if let Some(mut collider) = collider {
                collider.user_data |= contacts::label(link_index, number, collision);
                physics.insert_collider(collider, Some(body));
            }
        }
        // rapier would find its centre of mass in the next step; velocities may be set before.
        let PhysicsWorld {
            bodies: all,
            colliders,
            ..
        } = &mut *physics;
        all[body].recompute_mass_properties_from_colliders(colliders);
        bodies.push(body);
    }
    let mechanism = if model.moves_by_command_alone() {
        Mechanism::default()
    } else {
        insert_joints(physics, anchor, model, &bodies)
    };
    (bodies, mechanism)
}

/// Tells whether a link of a model never moves.
pub(super) fn is_fixed(model: &Model, link: &Link) -> bool {
    model.is_static || link.is_static
}

/// Returns the model and the link that a body stands for, from its `user_data`.
pub(super) fn from_label(user_data: u128) -> (usize, usize) {
    (
        (user_data >> 32) as usize,
        (user_data & u128::from(u32::MAX)) as usize,
    )
}

fn label(model: usize, link: usize) -> u128 {
    (model as u128) << 32 | link as u128
}

/// Velocities decay at the rates of `velocity_decay`, which SDFormat calls an exponential damping
/// (`link.sdf`) and Gazebo's engine leaves out.
fn insert_link(
    physics: &mut PhysicsWorld,
    model: &Model,
    link: &Link,
    user_data: u128,
    state: Option<&LinkState>,
) -> RigidBodyHandle {
    let builder = match (is_fixed(model, link), link.kinematic) {
        (true, _) => RigidBodyBuilder::fixed(),
        (false, true) => RigidBodyBuilder::kinematic_position_based(),
        (false, false) => RigidBodyBuilder::dynamic(),
    };
    let [linear_decay, angular_decay] = link.velocity_decay.map(decay);
    let builder = builder
        .pose(pose::to_rapier(&link.pose))
        .additional_mass_properties(inertia::mass_properties(&link.inertial))
        .gravity_scale(if link.gravity { 1.0 } else { 0.0 })
        .linear_damping(linear_decay)
        .angular_damping(angular_decay)
        .can_sleep(model.allow_auto_disable)
        // What is fast is swept against what moves too; rapier sweeps it against what does not.
        .ccd_enabled(true)
        // Rotors and wheels turn faster than the eighth of a turn per step that is the cap.
        .allow_fast_rotation(true)
        .user_data(user_data);
    let mut body = match state {
        Some(state) => state.begin(builder).build(),
        None => builder.build(),
    };
    if model.allow_auto_disable {
        let activation = body.activation_mut();
        activation.normalized_linear_threshold = SLEEP_SPEED;
        activation.angular_threshold = SLEEP_ANGULAR_SPEED;
    }
    if let Some(state) = state {
        state.complete(&mut body);
    }
    physics.insert_body(body)
}

fn decay(rate: f64) -> f64 {
    if rate.is_finite() { rate.max(0.0) } else { 0.0 }
}

fn insert_joints(
    physics: &mut PhysicsWorld,
    anchor: RigidBodyHandle,
    model: &Model,
    bodies: &[RigidBodyHandle],
) -> Mechanism {
    let mut mechanism = Mechanism::default();
    let place = |index| place(model, bodies, anchor, index);
    let attach = |joint| attach(model, bodies, anchor, joint);
    let mut handles = Vec::with_capacity(model.joints.len());
    for joint in &model.joints {
        let count = mechanism.joints.len();
        joint::insert(physics, &mut mechanism, &attach(joint));
        handles.push(mechanism.joints.get(count).copied());
    }
    for joint in &model.joints {
        let attached = attach(joint);
        match joint.kind {
            JointKind::Screw { .. } => ratio::couple_screw(&mut mechanism, &attached),
            JointKind::Gearbox { reference_body, .. } => {
                ratio::couple_gearbox(&mut mechanism, &attached, place(reference_body));
            }
            _ => {}
        }
        for (number, axis) in joint.kind.axes().iter().enumerate() {
            let Some(mimic) = &axis.mimic else {
                continue;
            };
            let leader = ratio::leader(model, mimic).map(attach);
            let leader = leader.and_then(|leader| leader.coordinate(mimic.axis));
            if let (Some(follower), Some(leader)) = (attached.coordinate(number), leader) {
                ratio::couple_mimic(physics, &mut mechanism, follower, leader, mimic);
            }
        }
    }
    if actuators::has_systems(model) {
        for (number, joint) in model.joints.iter().enumerate() {
            if let Some(handle) = handles[number] {
                actuators::insert(physics, &mut mechanism, &attach(joint), number, handle);
            }
        }
    }
    mechanism
}

/// Returns a joint of a model, by its index, with the bodies that it holds; those of the links are
/// given in their order.
pub(super) fn attachment_of<'a>(
    model: &'a Model,
    bodies: &[RigidBodyHandle],
    anchor: RigidBodyHandle,
    joint: usize,
) -> Attachment<'a> {
    attach(model, bodies, anchor, &model.joints[joint])
}

/// Returns the coordinate of an axis of a joint of a model in a cell, at position 0; `None` when it
/// has no such joint or axis.
pub(super) fn coordinate(
    model: &Model,
    bodies: &[RigidBodyHandle],
    anchor: RigidBodyHandle,
    joint: usize,
    axis: usize,
) -> Option<Coordinate> {
    let joint = model.joints.get(joint)?;
    attach(model, bodies, anchor, joint).coordinate(axis)
}

fn attach<'a>(
    model: &Model,
    bodies: &[RigidBodyHandle],
    anchor: RigidBodyHandle,
    joint: &'a Joint,
) -> Attachment<'a> {
    let parent = match joint.parent {
        JointParent::World => None,
        JointParent::Link(index) => Some(index),
    };
    let parent = place(model, bodies, anchor, parent);
    let child = place(model, bodies, anchor, Some(joint.child));
    Attachment {
        kind: &joint.kind,
        pose: joint.pose,
        bodies: [parent.0, child.0],
        body_poses: [parent.1, child.1],
    }
}

/// Returns the body of a link, by its index, or of the world, with its pose at position 0.
fn place(
    model: &Model,
    bodies: &[RigidBodyHandle],
    anchor: RigidBodyHandle,
    index: Option<usize>,
) -> (RigidBodyHandle, sdf::Pose) {
    match index {
        Some(index) => (bodies[index], model.links[index].pose),
        None => (anchor, sdf::Pose::IDENTITY),
    }
}
