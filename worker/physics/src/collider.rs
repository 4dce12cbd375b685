//! SDF collisions as rapier colliders.

use rapier3d_f64::dynamics::CoefficientCombineRule;
use rapier3d_f64::geometry::{Collider, ColliderBuilder};
use rapier3d_f64::pipeline::ActiveHooks;
use sdf::{Collision, Pose, World};

use super::collision_filter::{self, Family};
use super::pose;
use super::shape::Shapes;

/// Returns the collider of a collision at a pose on its body; `None` when it touches nothing.
/// `moves` is whether the body can.
///
/// Friction and restitution are combined as Gazebo's default engine does it: the lesser friction
/// and the product of the restitutions (DART, `dart/constraint/ContactSurface.cpp`). A collision
/// without contact is a sensor: it is met and pushes nothing (SDFormat, `surface.sdf`).
pub(super) fn collider(
    shapes: &mut Shapes,
    world: &World,
    collision: &Collision,
    at: &Pose,
    family: Family,
    moves: bool,
) -> Option<Collider> {
    let (shape, shape_pose) = shapes.shape(world, &collision.geometry, moves)?;
    let surface = &collision.surface;
    let mut builder = ColliderBuilder::new(shape)
        .position(pose::to_rapier(at) * shape_pose)
        .density(0.0)
        .sensor(surface.collide_without_contact)
        .friction(surface.friction)
        .friction_combine_rule(CoefficientCombineRule::Min)
        .restitution(surface.restitution)
        .restitution_combine_rule(CoefficientCombineRule::Multiply)
        .collision_groups(collision_filter::groups(surface))
        .user_data(family.user_data());
    if family != Family::NONE {
        builder = builder.active_hooks(ActiveHooks::FILTER_CONTACT_PAIRS);
    }
    Some(builder.build())
}
