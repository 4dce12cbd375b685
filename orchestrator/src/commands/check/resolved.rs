//! A world as `phalanx check --format json` prints it: scoped names, poses in the world frame.

use sdf::{Joint, JointParent, Level, Link, Model, Performer, Pose, World};
use serde::Serialize;

/// A world.
#[derive(Debug, Serialize)]
pub(super) struct ResolvedWorld<'a> {
    name: &'a str,
    models: Vec<ResolvedModel<'a>>,
    levels: &'a [Level],
    performers: &'a [Performer],
}

#[derive(Debug, Serialize)]
struct ResolvedModel<'a> {
    name: &'a str,
    #[serde(rename = "static")]
    is_static: bool,
    pose: [f64; 6],
    links: Vec<ResolvedLink<'a>>,
    joints: Vec<ResolvedJoint>,
}

#[derive(Debug, Serialize)]
struct ResolvedLink<'a> {
    name: String,
    pose: [f64; 6],
    mass: f64,
    inertia: [f64; 6],
    collisions: Vec<ResolvedCollision<'a>>,
}

#[derive(Debug, Serialize)]
struct ResolvedCollision<'a> {
    name: String,
    pose: [f64; 6],
    geometry: &'a sdf::Geometry,
}

#[derive(Debug, Serialize)]
struct ResolvedJoint {
    name: String,
    #[serde(rename = "type")]
    kind: &'static str,
    parent: String,
    child: String,
    pose: [f64; 6],
}

impl<'a> ResolvedWorld<'a> {
    /// Returns a world in this form.
    pub(super) fn of(world: &'a World) -> Self {
        Self {
            name: &world.name,
            models: world.models.iter().map(ResolvedModel::of).collect(),
            levels: &world.levels,
            performers: &world.performers,
        }
    }
}

impl<'a> ResolvedModel<'a> {
    fn of(model: &'a Model) -> Self {
        Self {
            name: &model.name,
            is_static: model.is_static,
            pose: numbers(&model.pose),
            links: model
                .links
                .iter()
                .map(|link| ResolvedLink::of(model, link))
                .collect(),
            joints: model
                .joints
                .iter()
                .map(|joint| ResolvedJoint::of(model, joint))
                .collect(),
        }
    }
}

impl<'a> ResolvedLink<'a> {
    fn of(model: &Model, link: &'a Link) -> Self {
        let name = scoped(model, &link.name);
        let collision = |collision: &'a sdf::Collision| ResolvedCollision {
            name: format!("{name}::{}", collision.name),
            pose: numbers(&link.pose.then(&collision.pose)),
            geometry: &collision.geometry,
        };
        Self {
            pose: numbers(&link.pose),
            mass: link.inertial.mass,
            inertia: link.inertial.inertia,
            collisions: link.collisions.iter().map(collision).collect(),
            name,
        }
    }
}

impl ResolvedJoint {
    fn of(model: &Model, joint: &Joint) -> Self {
        let link = |index: usize| scoped(model, &model.links[index].name);
        Self {
            name: scoped(model, &joint.name),
            kind: joint.kind.name(),
            parent: match joint.parent {
                JointParent::World => "world".to_owned(),
                JointParent::Link(index) => link(index),
            },
            child: link(joint.child),
            pose: numbers(&joint.pose),
        }
    }
}

fn scoped(model: &Model, name: &str) -> String {
    format!("{}::{name}", model.name)
}

fn numbers(pose: &Pose) -> [f64; 6] {
    let ([x, y, z], [roll, pitch, yaw]) = (pose.position, pose.roll_pitch_yaw());
    [x, y, z, roll, pitch, yaw]
}
