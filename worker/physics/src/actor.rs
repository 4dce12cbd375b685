//! Actors: bodies that move by the script of their world, in every cell alike.
//!
//! The pose of an actor follows from the elapsed time alone, so that nobody owns it. One with
//! collisions is a kinematic body in each cell, which pushes and is not pushed. One without is only
//! seen: rays meet a capsule of a person's size around its origin, which in Gazebo's skins is at
//! the hips.

use libm::{acos, fmod, sin};
use protocol::SimTime;
use rapier3d_f64::dynamics::{RigidBodyBuilder, RigidBodyHandle};
use rapier3d_f64::geometry::SharedShape;
use rapier3d_f64::math::Pose;
use rapier3d_f64::pipeline::PhysicsWorld;
use sdf::{Actor, Trajectory, Waypoint, World};

use super::cell::Cell;
use super::collider::collider;
use super::collision_filter::Family;
use super::pose;
use super::shape::Shapes;

/// A person's height and radius \[m\].
const PERSON_HEIGHT: f64 = 1.8;
const PERSON_RADIUS: f64 = 0.25;

/// Largest difference of quaternions that are still interpolated along a line.
const NEARLY_EQUAL: f64 = 1e-9;

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
        let at = pose::to_rapier(&place(actor, 0.0));
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
            let [first, last] = [begin, end].map(|time| pose::to_rapier(&place(actor, time)));
            let body = &mut self.physics.bodies[*handle];
            if begins_again(actor, begin, end) {
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
                at: pose::to_rapier(&place(description, time)),
            });
            touched.chain(seen)
        })
    }
}

fn person() -> SharedShape {
    SharedShape::capsule_z(PERSON_HEIGHT / 2.0 - PERSON_RADIUS, PERSON_RADIUS)
}

/// Returns where an actor is at an elapsed time \[s\], world frame.
pub(super) fn place(actor: &Actor, elapsed_s: f64) -> sdf::Pose {
    let script = &actor.script;
    if !script.starts_by_itself || script.trajectories.is_empty() {
        return actor.pose;
    }
    let time_s = time_in_script(actor, elapsed_s);
    let begun = |trajectory: &&Trajectory| trajectory.waypoints[0].time_s <= time_s;
    let trajectories = script.trajectories.iter();
    let trajectory = trajectories.rev().find(begun);
    let trajectory = trajectory.unwrap_or(&script.trajectories[0]);
    actor.pose.then(&place_on(trajectory, time_s))
}

/// Tells whether a script begins again between two elapsed times \[s\], so that its actor jumps.
fn begins_again(actor: &Actor, from_s: f64, to_s: f64) -> bool {
    time_in_script(actor, to_s) < time_in_script(actor, from_s)
}

fn time_in_script(actor: &Actor, elapsed_s: f64) -> f64 {
    let script = &actor.script;
    let time_s = (elapsed_s - script.delay_s).max(0.0);
    let last = |trajectory: &Trajectory| trajectory.waypoints.last().map(|point| point.time_s);
    let ends = script.trajectories.iter().filter_map(last);
    let length_s = ends.fold(0.0, f64::max);
    if script.is_loop && length_s > 0.0 {
        fmod(time_s, length_s)
    } else {
        time_s.min(length_s)
    }
}

/// Interpolates between waypoints: positions along a cardinal spline over the waypoints' numbers
/// (gz-common, `PoseAnimation`), orientations the shorter way at an even rate.
fn place_on(trajectory: &Trajectory, time_s: f64) -> sdf::Pose {
    let points = &trajectory.waypoints;
    let next = points.partition_point(|point| point.time_s <= time_s);
    if next == 0 || next == points.len() {
        return points[next.max(1) - 1].pose;
    }
    let (from, to) = (&points[next - 1], &points[next]);
    let part = (time_s - from.time_s) / (to.time_s - from.time_s);
    let tangents = [next - 1, next].map(|index| tangent(points, index, trajectory.tension));
    let (square, cube) = (part * part, part * part * part);
    let weights = [
        2.0 * cube - 3.0 * square + 1.0,
        3.0 * square - 2.0 * cube,
        cube - 2.0 * square + part,
        cube - square,
    ];
    let position = std::array::from_fn(|axis| {
        weights[0] * from.pose.position[axis]
            + weights[1] * to.pose.position[axis]
            + weights[2] * tangents[0][axis]
            + weights[3] * tangents[1][axis]
    });
    sdf::Pose {
        position,
        orientation_xyzw: turned(from.pose.orientation_xyzw, to.pose.orientation_xyzw, part),
    }
}

/// Returns the direction at a waypoint; a path that ends where it began is closed.
fn tangent(points: &[Waypoint], index: usize, tension: f64) -> [f64; 3] {
    let last = points.len() - 1;
    let is_closed = points[0].pose.position == points[last].pose.position;
    let (before, after) = match index {
        _ if index > 0 && index < last => (index - 1, index + 1),
        _ if is_closed => (last - 1, 1),
        0 => (0, 1),
        _ => (last - 1, last),
    };
    let [before, after] = [before, after].map(|index| points[index].pose.position);
    std::array::from_fn(|axis| (after[axis] - before[axis]) * 0.5 * (1.0 - tension))
}

fn turned(from: [f64; 4], to: [f64; 4], part: f64) -> [f64; 4] {
    let dot = |one: [f64; 4], other: [f64; 4]| -> f64 {
        one.iter().zip(&other).map(|(a, b)| a * b).sum()
    };
    let cosine = dot(from, to);
    let (to, cosine) = if cosine < 0.0 {
        (to.map(|number| -number), -cosine)
    } else {
        (to, cosine)
    };
    let weights = if cosine > 1.0 - NEARLY_EQUAL {
        [1.0 - part, part]
    } else {
        let angle = acos(cosine);
        [1.0 - part, part].map(|share| sin(share * angle) / sin(angle))
    };
    let sum: [f64; 4] = std::array::from_fn(|i| weights[0] * from[i] + weights[1] * to[i]);
    let length = dot(sum, sum).sqrt();
    sum.map(|number| number / length)
}
