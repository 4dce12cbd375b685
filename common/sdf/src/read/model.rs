//! `<model>`: its links and joints and those of the models in it, in one flat list each.

use std::collections::BTreeMap;

use super::{joint, link, part, plugin};
use crate::frames::{Frame, FrameKind, Scope};
use crate::pose::Pose;
use crate::report::Report;
use crate::value;
use crate::world::{Link, Model};

/// Reads a top-level model; `frame` is its frame in the world, `scope` what is in it.
pub(super) fn read(frame: &Frame<'_>, scope: &Scope<'_>, report: &mut Report) -> Model {
    let element = scope.element;
    let mut parts = Parts::default();
    parts.add_links(scope, "", frame.pose, report);
    let is_static = value::truth(element, "static", false, report);
    if parts.links.is_empty() && !is_static {
        let message = format!("the model {:?} must have at least one link", frame.name);
        report.error("MODEL_WITHOUT_LINK", element, message);
    }
    let canonical = scope
        .canonical_link
        .as_ref()
        .and_then(|name| parts.indices.get(name));
    let mut model = Model {
        is_static,
        self_collide: value::truth(element, "self_collide", false, report),
        allow_auto_disable: value::truth(element, "allow_auto_disable", true, report),
        enable_wind: value::truth(element, "enable_wind", false, report),
        plugins: plugin::read_all(element),
        custom: part::custom(element, &["gripper"]),
        pose: frame.pose,
        canonical_link: canonical.copied().unwrap_or(0),
        ..Model::new(frame.name, parts.links, Vec::new())
    };
    add_joints(&mut model, scope, "", frame.pose, &parts.indices, report);
    model
}

/// Links of a model and of those in it.
#[derive(Default)]
struct Parts {
    links: Vec<Link>,
    indices: BTreeMap<String, usize>,
}

impl Parts {
    fn add_links(&mut self, scope: &Scope<'_>, prefix: &str, pose: Pose, report: &mut Report) {
        for frame in &scope.frames {
            let name = format!("{prefix}{}", frame.name);
            let frame_pose = pose.then(&frame.pose);
            match frame.kind {
                FrameKind::Link => {
                    let link = link::read(frame, scope, name.clone(), frame_pose, report);
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
                FrameKind::Model(nested) => {
                    let nested = &scope.nested[nested];
                    self.add_links(nested, &format!("{name}::"), frame_pose, report);
                }
                FrameKind::Scope | FrameKind::Joint | FrameKind::Free => {}
            }
        }
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
                let place = joint::Surroundings {
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
