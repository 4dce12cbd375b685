//! `<model>`: its links, joints and frames and those of the models in it, in one flat list each.

use std::collections::BTreeMap;

use super::{inertial, joint, link, part, plugin};
use crate::frames::{Frame, FrameKind, Scope};
use crate::pose::Pose;
use crate::report::Report;
use crate::urdf;
use crate::value;
use crate::world::{Link, Model, NamedFrame, NestedModel};

/// Reads a top-level model; `frame` is its frame in the world, `scope` what is in it.
pub(super) fn read(frame: &Frame<'_>, scope: &Scope<'_>, report: &mut Report) -> Model {
    let element = scope.element;
    let mut parts = Parts::default();
    parts.add(scope, &NestingScope::top(frame.pose, scope), report);
    let canonical = scope
        .canonical_link
        .as_ref()
        .and_then(|name| parts.indices.get(name));
    let mut model = Model {
        is_static: value::truth(element, "static", false, report),
        self_collide: value::truth(element, "self_collide", false, report),
        allow_auto_disable: value::truth(element, "allow_auto_disable", true, report),
        enable_wind: value::truth(element, "enable_wind", false, report),
        plugins: plugin::read_all(element),
        custom: part::custom(element, &["gripper"]),
        urdf: element.attribute(urdf::TEXT).map(str::to_owned),
        namespace: None,
        pose: frame.pose,
        canonical_link: canonical.copied().unwrap_or(0),
        frames: parts.frames,
        nested: parts.nested,
        ..Model::new(frame.name, parts.links, Vec::new())
    };
    add_joints(&mut model, scope, "", frame.pose, &parts.indices, report);
    joint::follow_leaders(&mut model.joints);
    model
}

/// Place of a model within its top-level model.
struct NestingScope {
    /// Prefix of names in it: empty or `nested::`.
    prefix: String,
    /// Its pose, world frame.
    pose: Pose,
    /// True if it or a model around it is static.
    is_static: bool,
    /// True if wind acts on all of its own links, as in Gazebo.
    has_wind: bool,
}

impl NestingScope {
    fn top(pose: Pose, scope: &Scope<'_>) -> Self {
        Self {
            prefix: String::new(),
            pose,
            is_static: scope.is_static,
            has_wind: part::flag(scope.element, "enable_wind"),
        }
    }

    fn name(&self, frame: &Frame<'_>) -> String {
        format!("{}{}", self.prefix, frame.name)
    }

    fn nested(&self, frame: &Frame<'_>, scope: &Scope<'_>) -> Self {
        Self {
            prefix: format!("{}::", self.name(frame)),
            pose: self.pose.then(&frame.pose),
            is_static: self.is_static || scope.is_static,
            has_wind: part::flag(scope.element, "enable_wind"),
        }
    }
}

/// Parts of a model and of those in it.
#[derive(Default)]
struct Parts {
    links: Vec<Link>,
    /// Indices of the links, by name.
    indices: BTreeMap<String, usize>,
    frames: Vec<NamedFrame>,
    nested: Vec<NestedModel>,
}

impl Parts {
    fn add(&mut self, scope: &Scope<'_>, place: &NestingScope, report: &mut Report) {
        for frame in &scope.frames {
            match frame.kind {
                FrameKind::Link => self.add_link(frame, scope, place, report),
                FrameKind::Free => self.frames.push(named_frame(
                    frame,
                    place.name(frame),
                    place.pose.then(&frame.pose),
                )),
                FrameKind::Model(nested) => {
                    self.add_model(frame, &scope.nested[nested], place, report);
                }
                FrameKind::Scope | FrameKind::Joint => {}
            }
        }
    }

    fn add_link(
        &mut self,
        frame: &Frame<'_>,
        scope: &Scope<'_>,
        place: &NestingScope,
        report: &mut Report,
    ) {
        let name = place.name(frame);
        let pose = place.pose.then(&frame.pose);
        let mut link = link::read(frame, scope, name.clone(), pose, report);
        link.is_static = place.is_static;
        link.enable_wind |= place.has_wind;
        inertial::warn_of_nothing(frame.element, &link, report);
        if self
            .indices
            .insert(name.clone(), self.links.len())
            .is_some()
        {
            let message = format!("two links of the model are named {name:?}");
            report.error("DUPLICATE_NAME", frame.element, message);
        }
        self.links.push(link);
    }

    fn add_model(
        &mut self,
        frame: &Frame<'_>,
        scope: &Scope<'_>,
        outer: &NestingScope,
        report: &mut Report,
    ) {
        let place = outer.nested(frame, scope);
        let index = self.nested.len();
        self.nested.push(NestedModel {
            name: outer.name(frame),
            is_static: value::truth(scope.element, "static", false, report),
            self_collide: value::truth(scope.element, "self_collide", false, report),
            pose: place.pose,
            canonical_link: None,
            plugins: plugin::read_all(scope.element),
        });
        self.add(scope, &place, report);
        self.nested[index].canonical_link = scope.canonical_link.as_ref().and_then(|link| {
            let name = format!("{}{link}", place.prefix);
            self.indices.get(&name).copied()
        });
    }
}

/// Makes an explicit frame of its name in the world or top-level model, and its pose, world frame.
pub(super) fn named_frame(frame: &Frame<'_>, name: String, pose: Pose) -> NamedFrame {
    let attached_to = frame.element.filled_attribute("attached_to");
    NamedFrame {
        name,
        pose,
        attached_to: attached_to.unwrap_or_default().to_owned(),
        body: frame
            .body
            .as_ref()
            .map(crate::frames::Body::name)
            .unwrap_or_default(),
    }
}

fn add_joints(
    model: &mut Model,
    scope: &Scope<'_>,
    prefix: &str,
    pose: Pose,
    links: &BTreeMap<String, usize>,
    report: &mut Report,
) {
    for frame in &scope.frames {
        match frame.kind {
            FrameKind::Joint => {
                let place = joint::JointContext {
                    scope,
                    prefix,
                    pose,
                    links,
                };
                model.joints.extend(joint::read(frame, &place, report));
            }
            FrameKind::Model(nested) => {
                let prefix = format!("{prefix}{}::", frame.name);
                let pose = pose.then(&frame.pose);
                add_joints(model, &scope.nested[nested], &prefix, pose, links, report);
            }
            FrameKind::Scope | FrameKind::Link | FrameKind::Free => {}
        }
    }
}
