//! Joints of models and of worlds.

use sdf::{
    Axis, Joint, JointEnd, JointKind, JointParent, LinkReference, Model, Pose, World, WorldJoint,
};
use serde::Serialize;

use super::body::{ResolvedSensor, sensors};
use super::{ResolvedPlugin, link_name, numbers, plugins, scoped};

/// The parent of a joint that holds a link to the world.
const WORLD: &str = "world";

#[derive(Debug, Serialize)]
pub(super) struct ResolvedJoint<'a> {
    name: String,
    #[serde(rename = "type")]
    kind: &'static str,
    parent: String,
    child: String,
    pose: [f64; 6],
    axes: Vec<ResolvedAxis<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thread_pitch: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    gearbox_ratio: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    gearbox_reference_body: Option<String>,
    sensors: Vec<ResolvedSensor<'a>>,
    plugins: Vec<ResolvedPlugin<'a>>,
}

#[derive(Debug, Serialize)]
struct ResolvedAxis<'a> {
    /// World frame.
    xyz: [f64; 3],
    /// Joint frame.
    xyz_joint: [f64; 3],
    /// Null for no limit.
    lower: f64,
    upper: f64,
    effort: f64,
    velocity: f64,
    damping: f64,
    friction: f64,
    spring_reference: f64,
    spring_stiffness: f64,
    limit_stiffness: f64,
    limit_dissipation: f64,
    mimic: Option<ResolvedMimic<'a>>,
    /// Position at the start, counted from the poses of the file.
    initial_position: f64,
}

#[derive(Debug, Serialize)]
struct ResolvedMimic<'a> {
    joint: &'a str,
    axis: usize,
    multiplier: f64,
    offset: f64,
    reference: f64,
}

impl<'a> ResolvedJoint<'a> {
    /// Returns a joint of a model.
    pub(super) fn of(model: &'a Model, joint: &'a Joint) -> Self {
        let name = scoped(&model.name, &joint.name);
        let link = |index| link_name(model, index).unwrap_or_default();
        Self {
            parent: match joint.parent {
                JointParent::World => WORLD.to_owned(),
                JointParent::Link(index) => link(index),
            },
            child: link(joint.child),
            gearbox_reference_body: match joint.kind {
                JointKind::Gearbox { reference_body, .. } => reference_body.map(link),
                _ => None,
            },
            sensors: sensors(&name, &joint.sensors, &joint.pose),
            plugins: plugins(&joint.plugins),
            ..Self::new(name, &joint.kind, &joint.pose)
        }
    }

    /// Returns a joint of a world.
    pub(super) fn of_world(world: &'a World, joint: &'a WorldJoint) -> Self {
        let link = |reference: LinkReference| {
            let model = world.models.get(reference.model);
            model
                .and_then(|model| link_name(model, reference.link))
                .unwrap_or_default()
        };
        Self {
            parent: match joint.parent {
                JointEnd::World => WORLD.to_owned(),
                JointEnd::Link(reference) => link(reference),
            },
            child: link(joint.child),
            ..Self::new(joint.name.clone(), &joint.kind, &joint.pose)
        }
    }

    fn new(name: String, kind: &'a JointKind, pose: &Pose) -> Self {
        let axes = kind.axes().iter().map(|axis| ResolvedAxis::of(axis, pose));
        Self {
            name,
            kind: kind.name(),
            parent: String::new(),
            child: String::new(),
            pose: numbers(pose),
            axes: axes.collect(),
            thread_pitch: match kind {
                JointKind::Screw { thread_pitch, .. } => Some(*thread_pitch),
                _ => None,
            },
            gearbox_ratio: match kind {
                JointKind::Gearbox { ratio, .. } => Some(*ratio),
                _ => None,
            },
            gearbox_reference_body: None,
            sensors: Vec::new(),
            plugins: Vec::new(),
        }
    }
}

impl<'a> ResolvedAxis<'a> {
    fn of(axis: &'a Axis, joint: &Pose) -> Self {
        let mimic = axis.mimic.as_ref().map(|mimic| ResolvedMimic {
            joint: &mimic.joint,
            axis: mimic.axis,
            multiplier: mimic.multiplier,
            offset: mimic.offset,
            reference: mimic.reference,
        });
        Self {
            xyz: axis.xyz,
            xyz_joint: joint.inverse().rotate(axis.xyz),
            lower: axis.lower,
            upper: axis.upper,
            effort: axis.effort,
            velocity: axis.velocity,
            damping: axis.damping,
            friction: axis.friction,
            spring_reference: axis.spring_reference,
            spring_stiffness: axis.spring_stiffness,
            limit_stiffness: axis.limit_stiffness,
            limit_dissipation: axis.limit_dissipation,
            mimic,
            initial_position: axis.initial_position,
        }
    }
}
