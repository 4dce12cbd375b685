//! `<joint>`s of a world: they hold links of two models, or of one and the world, together.

use std::collections::BTreeMap;

use super::joint::{self, JointContext};
use crate::frames::{Body, Frame, FrameKind, Scope};
use crate::pose::Pose;
use crate::report::Report;
use crate::world::{JointEnd, LinkReference, Model, WorldJoint};

/// Reads all joints of a world whose models were read.
pub(super) fn read_all(
    scope: &Scope<'_>,
    models: &[Model],
    report: &mut Report,
) -> Vec<WorldJoint> {
    let is_joint = |frame: &&Frame<'_>| frame.kind == FrameKind::Joint;
    if !scope.frames.iter().any(|frame| is_joint(&frame)) {
        return Vec::new();
    }
    let names = models.iter().enumerate();
    let reader = Reader {
        scope,
        models,
        indices: names.map(|(index, model)| (&*model.name, index)).collect(),
    };
    let joints = scope.frames.iter().filter(is_joint);
    joints
        .filter_map(|frame| reader.read(frame, report))
        .collect()
}

struct Reader<'r, 't> {
    scope: &'r Scope<'t>,
    models: &'r [Model],
    /// Indices of the models, by name.
    indices: BTreeMap<&'r str, usize>,
}

impl Reader<'_, '_> {
    /// Reads a joint; none where it is wrong, which the frames or its kind have said.
    fn read(&self, frame: &Frame<'_>, report: &mut Report) -> Option<WorldJoint> {
        let place = JointContext {
            scope: self.scope,
            prefix: "",
            pose: Pose::IDENTITY,
            links: &BTreeMap::new(),
        };
        let kind = joint::kind(frame, &place, report)?;
        let parent = match joint::parent_body(frame.element, self.scope)? {
            Body::World => JointEnd::World,
            Body::Link(link) => JointEnd::Link(self.link(&link)?),
            Body::StaticModel(model) => self
                .link_of_static(&model)
                .map_or(JointEnd::World, JointEnd::Link),
        };
        let child = match self.scope.body_of(&joint::side(frame.element, "child"))? {
            Body::World => return None,
            Body::Link(link) => self.link(&link)?,
            Body::StaticModel(model) => self.link_of_static(&model)?,
        };
        if parent == JointEnd::Link(child) {
            return None;
        }
        Some(WorldJoint {
            name: frame.name.to_owned(),
            kind,
            parent,
            child,
            pose: frame.pose,
        })
    }

    /// Finds the link named `model::link` or `model::nested::link`.
    fn link(&self, name: &str) -> Option<LinkReference> {
        self.split(name).find_map(|(model, rest)| {
            let links = &self.models[model].links;
            let link = links.iter().position(|link| link.name == rest)?;
            Some(LinkReference { model, link })
        })
    }

    /// Finds a link of a static model; all of them stand still alike.
    fn link_of_static(&self, name: &str) -> Option<LinkReference> {
        if let Some(&model) = self.indices.get(name) {
            let link = self.models[model].canonical_link;
            let is_there = link < self.models[model].links.len();
            return is_there.then_some(LinkReference { model, link });
        }
        self.split(name).find_map(|(model, rest)| {
            let mut links = self.models[model].links.iter();
            let is_within = |name: &str| {
                name.strip_prefix(rest)
                    .is_some_and(|name| name.starts_with("::"))
            };
            let link = links.position(|link| is_within(&link.name))?;
            Some(LinkReference { model, link })
        })
    }

    /// Splits a name into a model of the world and what follows.
    fn split<'n>(&self, name: &'n str) -> impl Iterator<Item = (usize, &'n str)> {
        name.match_indices("::").filter_map(|(at, separator)| {
            let model = self.indices.get(&name[..at])?;
            Some((*model, &name[at + separator.len()..]))
        })
    }
}
