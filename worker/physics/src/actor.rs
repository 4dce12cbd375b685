//! Actors: bodies that move by the script of their world, in every cell alike.
//!
//! The pose of an actor follows from the elapsed time alone, so that nobody owns it. One with
//! collisions is a kinematic body in each cell, which pushes and is not pushed. One without is only
//! seen: rays meet a capsule of a person's size around its origin, which in Gazebo's skins is at
//! the hips.

use protocol::SimTime;
use rapier3d_f64::dynamics::{RigidBodyBuilder, RigidBodyHandle};
use rapier3d_f64::geometry::SharedShape;
use rapier3d_f64::math::Pose;
use rapier3d_f64::pipeline::PhysicsWorld;
use sdf::World;

use super::cell::Cell;
use super::collider::collider;
use super::collision_filter::Family;
use super::pose;
use super::shape::Shapes;

/// A person's height and radius \[m\].
const PERSON_HEIGHT: f64 = 1.8;
const PERSON_RADIUS: f64 = 0.25;

/// A shape of an actor where it is now.
pub struct ActorSolid {
    /// The index of the actor in the world.
    pub actor: usize,
    /// The shape.
    pub shape: SharedShape,
    /// Its pose, world frame.
    pub at: Pose,
}

/// Inserts the actors of a world that have collisions, where they are at the start, and returns
/// their bodies with their indices.
pub(super) fn insert_all(
    physics: &mut PhysicsWorld,
    shapes: &mut Shapes,
    world: &World,
) -> Vec<(usize, RigidBodyHandle)> {
    let mut bodies = Vec::new();
    for (index, actor) in world.actors.iter().enumerate() {
        if actor.collisions.is_empty() {
            continue;
        }
        let at = pose::to_rapier(&actor.place(0.0));
        let body = RigidBodyBuilder::kinematic_position_based()
            .pose(at)
            .can_sleep(false)
            // No model's label.
            .user_data(u128::MAX);
        let body = physics.insert_body(body);
        for collision in &actor.collisions {
            let at = &collision.pose;
            if let Some(collider) = collider(shapes, world, collision, at, Family::NONE, true) {
                physics.insert_collider(collider, Some(body));
            }
        }
        bodies.push((index, body));
    }
    bodies
}

impl Cell {
    /// Has actors move in the next step, from where they are at one elapsed time to where they are
    /// at another.
    pub fn move_actors(&mut self, from: SimTime, to: SimTime) {
        if self.world.actors.is_empty() {
            return;
        }
        self.contents.actor_time = to;
        self.solids.movers_changed();
        for (index, handle) in &self.contents.actors {
            let actor = &self.world.actors[*index];
            let [begin, end] = [from, to].map(SimTime::seconds);
            let [first, last] = [begin, end].map(|time| pose::to_rapier(&actor.place(time)));
            let body = &mut self.physics.bodies[*handle];
            if actor.script.begins_again(begin, end) {
                body.set_position(last, true);
                continue;
            }
            // A cell that stood still has not seen it move.
            if *body.position() != first {
                body.set_position(first, true);
            }
            if first != last {
                body.set_next_kinematic_position(last);
            }
        }
    }

    /// Returns the elapsed time at which actors are where they are.
    pub fn actor_time(&self) -> SimTime {
        self.contents.actor_time
    }

    /// Returns the shapes of all actors where they are now, in the order of actors.
    pub fn actor_solids(&self) -> impl Iterator<Item = ActorSolid> + '_ {
        let time = self.contents.actor_time.seconds();
        let actors = self.world.actors.iter().enumerate();
        actors.flat_map(move |(actor, description)| {
            let body = self.contents.actors.get(&actor);
            let body = body.and_then(|handle| self.physics.bodies.get(*handle));
            let colliders = body.map(rapier3d_f64::dynamics::RigidBody::colliders);
            let touched = colliders.into_iter().flatten().map(move |handle| {
                let collider = &self.physics.colliders[*handle];
                ActorSolid {
                    actor,
                    shape: collider.shared_shape().clone(),
                    at: *collider.position(),
                }
            });
            let seen = body.is_none().then(|| ActorSolid {
                actor,
                shape: person(),
                at: pose::to_rapier(&description.place(time)),
            });
            touched.chain(seen)
        })
    }
}

fn person() -> SharedShape {
    SharedShape::capsule_z(PERSON_HEIGHT / 2.0 - PERSON_RADIUS, PERSON_RADIUS)
}
