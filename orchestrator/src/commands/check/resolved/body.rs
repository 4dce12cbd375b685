//! Links with what they collide with, look like and measure with.

use sdf::{Collision, Link, Pose, Sensor, Visual};
use serde::Serialize;
use serde_json::Value;

use super::{ResolvedLight, ResolvedPlugin, geometry, lights, numbers, plugins, scoped};

#[derive(Debug, Serialize)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an element of the file"
)]
pub(super) struct ResolvedLink<'a> {
    name: String,
    pose: [f64; 6],
    mass: f64,
    inertia: [f64; 6],
    /// Centre of mass and axes of the inertia, world frame.
    inertial_pose: [f64; 6],
    gravity: bool,
    kinematic: bool,
    enable_wind: bool,
    self_collide: bool,
    collisions: Vec<ResolvedCollision>,
    visuals: Vec<ResolvedVisual>,
    sensors: Vec<ResolvedSensor<'a>>,
    lights: Vec<ResolvedLight<'a>>,
    plugins: Vec<ResolvedPlugin<'a>>,
}

#[derive(Debug, Serialize)]
struct ResolvedCollision {
    name: String,
    pose: [f64; 6],
    geometry: Value,
    mu: f64,
    mu2: f64,
    restitution: f64,
    collide_bitmask: u16,
}

#[derive(Debug, Serialize)]
struct ResolvedVisual {
    name: String,
    pose: [f64; 6],
    geometry: Value,
    color: Option<[f64; 4]>,
    transparency: f64,
}

#[derive(Debug, Serialize)]
pub(super) struct ResolvedSensor<'a> {
    name: String,
    #[serde(rename = "type")]
    kind: &'a str,
    pose: [f64; 6],
    update_rate: f64,
    topic: &'a str,
}

impl<'a> ResolvedLink<'a> {
    pub(super) fn of(name: String, link: &'a Link) -> Self {
        let collision = |shape| ResolvedCollision::of(&name, &link.pose, shape);
        let visual = |shape| ResolvedVisual::of(&name, &link.pose, shape);
        Self {
            pose: numbers(&link.pose),
            mass: link.inertial.mass,
            inertia: link.inertial.inertia,
            inertial_pose: numbers(&link.pose.then(&link.inertial.pose)),
            gravity: link.gravity,
            kinematic: link.kinematic,
            enable_wind: link.enable_wind,
            self_collide: link.self_collide,
            collisions: link.collisions.iter().map(collision).collect(),
            visuals: link.visuals.iter().map(visual).collect(),
            sensors: sensors(&name, &link.sensors, &link.pose),
            lights: lights(&name, &link.lights, &link.pose),
            plugins: plugins(&link.plugins),
            name,
        }
    }
}

impl ResolvedCollision {
    fn of(link: &str, frame: &Pose, collision: &Collision) -> Self {
        Self {
            name: scoped(link, &collision.name),
            pose: numbers(&frame.then(&collision.pose)),
            geometry: geometry::value(&collision.geometry),
            mu: collision.surface.friction,
            mu2: collision.surface.friction2,
            restitution: collision.surface.restitution,
            collide_bitmask: collision.surface.collide_bitmask,
        }
    }
}

impl ResolvedVisual {
    fn of(link: &str, frame: &Pose, visual: &Visual) -> Self {
        Self {
            name: scoped(link, &visual.name),
            pose: numbers(&frame.then(&visual.pose)),
            geometry: geometry::value(&visual.geometry),
            color: visual.color(),
            transparency: visual.transparency,
        }
    }
}

/// Returns the sensors of a link or joint.
pub(super) fn sensors<'a>(
    scope: &str,
    sensors: &'a [Sensor],
    frame: &Pose,
) -> Vec<ResolvedSensor<'a>> {
    let resolved = sensors.iter().map(|sensor| ResolvedSensor {
        name: scoped(scope, &sensor.name),
        kind: &sensor.kind,
        pose: numbers(&frame.then(&sensor.pose)),
        update_rate: sensor.update_rate,
        topic: &sensor.topic,
    });
    resolved.collect()
}
