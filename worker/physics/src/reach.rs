//! The reach of a performer: the box that its collisions keep to during the next step.

use rapier3d_f64::dynamics::{RigidBody, RigidBodyHandle};
use rapier3d_f64::math::Vector;
use rapier3d_f64::pipeline::PhysicsWorld;

/// Returns the box around all colliders of some links, now and after one more step of a length
/// \[s\] at their velocities, with what gravity may add to them; `protocol::NO_REACH` without
/// colliders. What contacts and joints change during that step is not in it.
pub(super) fn reach(
    physics: &PhysicsWorld,
    links: &[RigidBodyHandle],
    step_size_s: f64,
) -> [[f32; 3]; 2] {
    let mut least = Vector::splat(f64::INFINITY);
    let mut greatest = Vector::splat(f64::NEG_INFINITY);
    let fall = physics.gravity * (step_size_s * step_size_s);
    let mut has_colliders = false;
    for link in links {
        let body = &physics.bodies[*link];
        let way = if body.is_fixed() {
            Vector::ZERO
        } else {
            body.linvel() * step_size_s + fall * body.gravity_scale()
        };
        has_colliders |= !body.colliders().is_empty();
        for collider in body.colliders() {
            let around = physics.colliders[*collider].compute_collision_aabb(0.0);
            let turn = turn(body, around.mins, around.maxs) * step_size_s;
            least = least.min(around.mins - turn + way.min(Vector::ZERO));
            greatest = greatest.max(around.maxs + turn + way.max(Vector::ZERO));
        }
    }
    if !has_colliders {
        return protocol::NO_REACH;
    }
    [
        least.to_array().map(rounded_down),
        greatest.to_array().map(rounded_up),
    ]
}

/// Returns the greatest speed that turning gives to a point of a box \[m/s\].
fn turn(body: &RigidBody, least: Vector, greatest: Vector) -> Vector {
    let speed = body.angvel().length();
    if speed == 0.0 {
        return Vector::ZERO;
    }
    let center = body.center_of_mass();
    let arm = (greatest - center).abs().max((least - center).abs());
    Vector::splat(speed * arm.length())
}

fn rounded_down(number: f64) -> f32 {
    let rounded = number as f32;
    if f64::from(rounded) > number {
        rounded.next_down()
    } else {
        rounded
    }
}

fn rounded_up(number: f64) -> f32 {
    -rounded_down(-number)
}
