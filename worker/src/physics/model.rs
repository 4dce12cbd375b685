//! Inserting models: links become bodies, collisions become colliders, joints impulse joints.
//!
//! Everything is inserted in file order, because the order is part of the bits of a cell.

use rapier3d_f64::dynamics::{CoefficientCombineRule, RigidBodyBuilder, RigidBodyHandle};
use rapier3d_f64::geometry::{Collider, ColliderBuilder};
use rapier3d_f64::pipeline::{ActiveHooks, PhysicsWorld};
use sdf::{Collision, JointParent, Link, Model};

use super::{collision_filter, inertia, joint, pose, shape};

/// The speed below which a body may fall asleep \[m/s\]. rapier's own 0.05 stops balls and
/// pendulums that are merely slow.
const SLEEP_SPEED: f64 = 5e-4;

/// The angular speed below which a body without colliders may fall asleep \[rad/s\].
const SLEEP_ANGULAR_SPEED: f64 = 1e-3;

/// Inserts a model that never moves, as one fixed body at the origin of the world.
pub(super) fn insert_static(physics: &mut PhysicsWorld, model: &Model) -> RigidBodyHandle {
    let body = physics.insert_body(RigidBodyBuilder::fixed());
    for link in &model.links {
        for collision in &link.collisions {
            let pose = link.pose.then(&collision.pose);
            if let Some(collider) = collider(collision, &pose) {
                physics.insert_collider(collider, Some(body));
            }
        }
    }
    body
}

/// Inserts a model in its initial poses, and returns its bodies in the order of its links.
pub(super) fn insert_performer(
    physics: &mut PhysicsWorld,
    anchor: RigidBodyHandle,
    index: usize,
    model: &Model,
) -> Vec<RigidBodyHandle> {
    let is_filtered = !model.self_collide && model.links.len() > 1;
    let mut bodies = Vec::with_capacity(model.links.len());
    for (link_index, link) in model.links.iter().enumerate() {
        let body = insert_link(physics, link, model.is_static, label(index, link_index));
        for collision in &link.collisions {
            if shape::is_plane(&collision.geometry) && !model.is_static {
                continue;
            }
            let Some(mut collider) = collider(collision, &collision.pose) else {
                continue;
            };
            if is_filtered {
                collider.user_data = collision_filter::family(index);
                collider.set_active_hooks(ActiveHooks::FILTER_CONTACT_PAIRS);
            }
            physics.insert_collider(collider, Some(body));
        }
        bodies.push(body);
    }
    insert_joints(physics, anchor, model, &bodies);
    bodies
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

fn insert_link(
    physics: &mut PhysicsWorld,
    link: &Link,
    is_static: bool,
    user_data: u128,
) -> RigidBodyHandle {
    let builder = match (is_static, link.kinematic) {
        (true, _) => RigidBodyBuilder::fixed(),
        (false, true) => RigidBodyBuilder::kinematic_position_based(),
        (false, false) => RigidBodyBuilder::dynamic(),
    };
    let mut body = builder
        .pose(pose::to_rapier(&link.pose))
        .additional_mass_properties(inertia::mass_properties(&link.inertial))
        .gravity_scale(if link.gravity { 1.0 } else { 0.0 })
        // Rotors and wheels turn faster than the eighth of a turn per step that is the cap.
        .allow_fast_rotation(true)
        .user_data(user_data)
        .build();
    let activation = body.activation_mut();
    activation.normalized_linear_threshold = SLEEP_SPEED;
    activation.angular_threshold = SLEEP_ANGULAR_SPEED;
    physics.insert_body(body)
}

/// Friction and restitution are combined as Gazebo's default engine does it: the lesser friction
/// and the product of the restitutions (DART, `dart/constraint/ContactSurface.cpp`).
fn collider(collision: &Collision, pose: &sdf::Pose) -> Option<Collider> {
    let (shape, shape_pose) = shape::shape(&collision.geometry)?;
    let surface = &collision.surface;
    let collider = ColliderBuilder::new(shape)
        .position(pose::to_rapier(pose) * shape_pose)
        .density(0.0)
        .friction(surface.friction)
        .friction_combine_rule(CoefficientCombineRule::Min)
        .restitution(surface.restitution)
        .restitution_combine_rule(CoefficientCombineRule::Multiply)
        .collision_groups(collision_filter::groups(surface.collide_bitmask))
        .user_data(collision_filter::NO_FAMILY)
        .build();
    Some(collider)
}

fn insert_joints(
    physics: &mut PhysicsWorld,
    anchor: RigidBodyHandle,
    model: &Model,
    bodies: &[RigidBodyHandle],
) {
    for joint in &model.joints {
        let (parent, parent_pose) = match joint.parent {
            JointParent::World => (anchor, sdf::Pose::IDENTITY),
            JointParent::Link(link) => (bodies[link], model.links[link].pose),
        };
        let child_pose = &model.links[joint.child].pose;
        let data = joint::joint_between(
            joint,
            &pose::to_rapier(&parent_pose),
            &pose::to_rapier(child_pose),
        );
        physics.insert_impulse_joint(parent, bodies[joint.child], data);
    }
}
