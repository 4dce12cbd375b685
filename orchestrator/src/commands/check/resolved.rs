//! A world as `phalanx check --format json` prints it: names scoped with `::`, poses in the world
//! frame as x, y, z \[m\], roll, pitch, yaw \[rad\], SI units, and null for numbers that are
//! infinite. Links, joints and frames stand in the model that the file has them in.

mod body;
mod geometry;
mod joint;

use std::collections::{BTreeMap, BTreeSet};

use sdf::{
    Actor, Atmosphere, Level, Light, Model, NamedFrame, Performer, Physics, Plugin, Pose,
    SphericalCoordinates, World,
};
use serde::Serialize;

use body::ResolvedLink;
use joint::ResolvedJoint;

/// A world.
#[derive(Debug, Serialize)]
pub(super) struct ResolvedWorld<'a> {
    name: &'a str,
    gravity: [f64; 3],
    magnetic_field: [f64; 3],
    wind: [f64; 3],
    atmosphere: ResolvedAtmosphere,
    spherical_coordinates: Option<ResolvedOrigin<'a>>,
    physics: ResolvedPhysics<'a>,
    /// Models, each followed by those in it.
    models: Vec<ResolvedModel<'a>>,
    joints: Vec<ResolvedJoint<'a>>,
    frames: Vec<ResolvedFrame<'a>>,
    lights: Vec<ResolvedLight<'a>>,
    actors: Vec<ResolvedActor<'a>>,
    plugins: Vec<ResolvedPlugin<'a>>,
    levels: &'a [Level],
    performers: &'a [Performer],
}

#[derive(Debug, Serialize)]
struct ResolvedAtmosphere {
    temperature: f64,
    temperature_gradient: f64,
    pressure: f64,
}

#[derive(Debug, Serialize)]
struct ResolvedOrigin<'a> {
    surface_model: &'a str,
    latitude: f64,
    longitude: f64,
    elevation: f64,
    heading: f64,
    axes: Option<[f64; 2]>,
}

#[derive(Debug, Serialize)]
struct ResolvedPhysics<'a> {
    name: &'a str,
    #[serde(rename = "type")]
    kind: &'a str,
    max_step_size: f64,
    real_time_factor: f64,
    max_contacts: u32,
}

#[derive(Debug, Serialize)]
struct ResolvedModel<'a> {
    name: String,
    #[serde(rename = "static")]
    is_static: bool,
    self_collide: bool,
    pose: [f64; 6],
    canonical_link: Option<String>,
    links: Vec<ResolvedLink<'a>>,
    joints: Vec<ResolvedJoint<'a>>,
    frames: Vec<ResolvedFrame<'a>>,
    plugins: Vec<ResolvedPlugin<'a>>,
}

#[derive(Debug, Serialize)]
struct ResolvedFrame<'a> {
    name: String,
    pose: [f64; 6],
    attached_to: &'a str,
    /// The link that it moves with, named as in the model around it.
    body: &'a str,
}

#[derive(Debug, Serialize)]
struct ResolvedLight<'a> {
    name: String,
    #[serde(rename = "type")]
    kind: &'a str,
    pose: [f64; 6],
}

#[derive(Debug, Serialize)]
struct ResolvedActor<'a> {
    name: &'a str,
    pose: [f64; 6],
}

#[derive(Debug, Serialize)]
struct ResolvedPlugin<'a> {
    name: &'a str,
    filename: &'a str,
}

impl<'a> ResolvedWorld<'a> {
    /// Returns a world in this form.
    pub(super) fn of(world: &'a World) -> Self {
        let joint = |joint| ResolvedJoint::of_world(world, joint);
        let coordinates = world.spherical_coordinates.as_ref();
        Self {
            name: &world.name,
            gravity: world.gravity,
            magnetic_field: world.magnetic_field,
            wind: world.wind,
            atmosphere: ResolvedAtmosphere::of(&world.atmosphere),
            spherical_coordinates: coordinates.map(ResolvedOrigin::of),
            physics: ResolvedPhysics::of(&world.physics),
            models: world
                .models
                .iter()
                .flat_map(ResolvedModel::with_nested)
                .collect(),
            joints: world.joints.iter().map(joint).collect(),
            frames: world
                .frames
                .iter()
                .map(|frame| ResolvedFrame::of("", frame))
                .collect(),
            lights: lights("", &world.lights, &Pose::IDENTITY),
            actors: world.actors.iter().map(ResolvedActor::of).collect(),
            plugins: plugins(&world.plugins),
            levels: &world.levels,
            performers: &world.performers,
        }
    }
}

impl<'a> ResolvedModel<'a> {
    /// Returns a top-level model, then the models in it.
    fn with_nested(model: &'a Model) -> Vec<Self> {
        let mut parts = Parts::of(model);
        let top = Self {
            name: model.name.clone(),
            is_static: model.is_static,
            self_collide: model.self_collide,
            pose: numbers(&model.pose),
            canonical_link: link_name(model, model.canonical_link),
            links: parts.links.remove("").unwrap_or_default(),
            joints: parts.joints.remove("").unwrap_or_default(),
            frames: parts.frames.remove("").unwrap_or_default(),
            plugins: plugins(&model.plugins),
        };
        let nested = model.nested.iter().map(|nested| Self {
            name: scoped(&model.name, &nested.name),
            is_static: nested.is_static,
            self_collide: nested.self_collide,
            pose: numbers(&nested.pose),
            canonical_link: nested
                .canonical_link
                .and_then(|link| link_name(model, link)),
            links: parts.links.remove(nested.name.as_str()).unwrap_or_default(),
            joints: parts
                .joints
                .remove(nested.name.as_str())
                .unwrap_or_default(),
            frames: parts
                .frames
                .remove(nested.name.as_str())
                .unwrap_or_default(),
            plugins: plugins(&nested.plugins),
        });
        std::iter::once(top).chain(nested).collect()
    }
}

/// Parts of a top-level model, by the nested model that has them; the empty name is its own.
struct Parts<'a> {
    links: BTreeMap<&'a str, Vec<ResolvedLink<'a>>>,
    joints: BTreeMap<&'a str, Vec<ResolvedJoint<'a>>>,
    frames: BTreeMap<&'a str, Vec<ResolvedFrame<'a>>>,
}

impl<'a> Parts<'a> {
    fn of(model: &'a Model) -> Self {
        let nested: BTreeSet<&str> = model.nested.iter().map(|nested| &*nested.name).collect();
        let mut parts = Self {
            links: BTreeMap::new(),
            joints: BTreeMap::new(),
            frames: BTreeMap::new(),
        };
        for link in &model.links {
            let resolved = ResolvedLink::of(scoped(&model.name, &link.name), link);
            parts
                .links
                .entry(owner(&nested, &link.name))
                .or_default()
                .push(resolved);
        }
        for joint in &model.joints {
            let resolved = ResolvedJoint::of(model, joint);
            parts
                .joints
                .entry(owner(&nested, &joint.name))
                .or_default()
                .push(resolved);
        }
        for frame in &model.frames {
            let resolved = ResolvedFrame::of(&model.name, frame);
            parts
                .frames
                .entry(owner(&nested, &frame.name))
                .or_default()
                .push(resolved);
        }
        parts
    }
}

impl<'a> ResolvedFrame<'a> {
    fn of(model: &str, frame: &'a NamedFrame) -> Self {
        Self {
            name: scoped(model, &frame.name),
            pose: numbers(&frame.pose),
            attached_to: &frame.attached_to,
            body: &frame.body,
        }
    }
}

impl ResolvedAtmosphere {
    const fn of(atmosphere: &Atmosphere) -> Self {
        Self {
            temperature: atmosphere.temperature,
            temperature_gradient: atmosphere.temperature_gradient,
            pressure: atmosphere.pressure,
        }
    }
}

impl<'a> ResolvedOrigin<'a> {
    fn of(coordinates: &'a SphericalCoordinates) -> Self {
        Self {
            surface_model: &coordinates.surface_model,
            latitude: coordinates.latitude,
            longitude: coordinates.longitude,
            elevation: coordinates.elevation,
            heading: coordinates.heading,
            axes: coordinates.axes,
        }
    }
}

impl<'a> ResolvedPhysics<'a> {
    fn of(physics: &'a Physics) -> Self {
        Self {
            name: &physics.name,
            kind: &physics.kind,
            max_step_size: physics.max_step_size_s,
            real_time_factor: physics.real_time_factor,
            max_contacts: physics.max_contacts,
        }
    }
}

impl<'a> ResolvedActor<'a> {
    fn of(actor: &'a Actor) -> Self {
        Self {
            name: &actor.name,
            pose: numbers(&actor.pose),
        }
    }
}

fn lights<'a>(scope: &str, lights: &'a [Light], frame: &Pose) -> Vec<ResolvedLight<'a>> {
    let resolved = lights.iter().map(|light| ResolvedLight {
        name: scoped(scope, &light.name),
        kind: &light.kind,
        pose: numbers(&frame.then(&light.pose)),
    });
    resolved.collect()
}

fn plugins(plugins: &[Plugin]) -> Vec<ResolvedPlugin<'_>> {
    let resolved = plugins.iter().map(|plugin| ResolvedPlugin {
        name: &plugin.name,
        filename: &plugin.filename,
    });
    resolved.collect()
}

/// Returns which of the models in a top-level model holds what has this name.
fn owner<'n>(nested: &BTreeSet<&str>, name: &'n str) -> &'n str {
    let mut owner = name;
    while let Some((outer, _)) = owner.rsplit_once("::") {
        owner = outer;
        if nested.contains(owner) {
            return owner;
        }
    }
    ""
}

fn link_name(model: &Model, link: usize) -> Option<String> {
    Some(scoped(&model.name, &model.links.get(link)?.name))
}

fn scoped(scope: &str, name: &str) -> String {
    if scope.is_empty() {
        name.to_owned()
    } else {
        format!("{scope}::{name}")
    }
}

fn numbers(pose: &Pose) -> [f64; 6] {
    let ([x, y, z], [roll, pitch, yaw]) = (pose.position, pose.roll_pitch_yaw());
    [x, y, z, roll, pitch, yaw]
}

#[cfg(test)]
mod tests;
