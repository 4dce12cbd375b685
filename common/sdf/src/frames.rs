//! The frames of a world or model: which exist, where each is, and which link each is fixed to.
//!
//! Names are looked up as SDF 1.8 says: within the scope, and `nested::name` within nested models,
//! never outwards. Each nested scope is solved before the one around it. What is right and what is
//! an error is as in libsdformat's `FrameSemantics.cc`, and its checks of `Root::Load`.

mod joint_sides;
mod solve;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use crate::pose::Pose;
use crate::report::Report;
use crate::tree::Element;
use crate::value::{self, parse_truth};

/// The name of a model's own frame within the model.
pub(crate) const MODEL_FRAME: &str = "__model__";
/// The name of the world's frame.
pub(crate) const WORLD_FRAME: &str = "world";

/// A world or model with its frames.
#[derive(Debug)]
pub(crate) struct Scope<'t> {
    /// Its element.
    pub(crate) element: &'t Element,
    /// Its frames in file order; the first is its own.
    pub(crate) frames: Vec<Frame<'t>>,
    /// The models in it, in file order.
    pub(crate) nested: Vec<Self>,
    /// A model's canonical link, named from within the model; a static model may have none.
    pub(crate) canonical_link: Option<String>,
    /// True if this is a model that says that it never moves.
    pub(crate) is_static: bool,
    /// True if this is a model within a model.
    pub(crate) is_nested: bool,
    names: BTreeMap<&'t str, usize>,
}

/// One frame.
#[derive(Debug)]
pub(crate) struct Frame<'t> {
    /// Its name within its scope.
    pub(crate) name: &'t str,
    /// Its element.
    pub(crate) element: &'t Element,
    /// Kind of its owner.
    pub(crate) kind: FrameKind,
    /// Pose in the frame of its scope.
    pub(crate) pose: Pose,
    /// Body that it is fixed to; `None` where that could not be found.
    pub(crate) body: Option<Body>,
    relative_to: Option<&'t str>,
    attached_to: Option<&'t str>,
}

/// Owner of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FrameKind {
    /// The world or model itself.
    Scope,
    /// A link.
    Link,
    /// A joint.
    Joint,
    /// Nothing but itself.
    Free,
    /// A nested model, an index into the scope's `nested`.
    Model(usize),
}

/// Body that a frame is fixed to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Body {
    /// The world.
    World,
    /// A link, named from within the scope: `link` or `nested::link`.
    Link(String),
    /// A static model, named from within the scope; the scope's own model is the empty name.
    StaticModel(String),
}

impl Body {
    /// Returns its name from within the scope, as libsdformat has it.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::World => WORLD_FRAME.to_owned(),
            Self::Link(link) => link.clone(),
            Self::StaticModel(model) if model.is_empty() => MODEL_FRAME.to_owned(),
            Self::StaticModel(model) => format!("{model}::{MODEL_FRAME}"),
        }
    }

    /// Names a nested model's body from the scope around the model.
    fn within(self, model: &str) -> Self {
        match self {
            Self::World => Self::World,
            Self::Link(link) => Self::Link(format!("{model}::{link}")),
            Self::StaticModel(inner) if inner.is_empty() => Self::StaticModel(model.to_owned()),
            Self::StaticModel(inner) => Self::StaticModel(format!("{model}::{inner}")),
        }
    }
}

/// A frame found by its name.
#[derive(Clone, Copy, Debug)]
struct Target<'n> {
    index: usize,
    /// Rest of the name, to be looked up in the nested model at `index`.
    rest: Option<&'n str>,
}

impl<'t> Scope<'t> {
    /// Reads the frames of a `<world>`, or of a `<model>` that no model is around, and solves them.
    pub(crate) fn build(element: &'t Element, report: &mut Report) -> Self {
        Self::build_within(element, None, report)
    }

    fn build_within(element: &'t Element, outer: Option<&str>, report: &mut Report) -> Self {
        let own = if element.name == "world" {
            WORLD_FRAME
        } else {
            MODEL_FRAME
        };
        let root = Frame {
            name: own,
            element,
            kind: FrameKind::Scope,
            pose: Pose::IDENTITY,
            body: None,
            relative_to: None,
            attached_to: None,
        };
        let mut scope = Self {
            element,
            frames: vec![root],
            nested: Vec::new(),
            canonical_link: None,
            is_static: element
                .child("static")
                .and_then(|flag| parse_truth(&flag.text()))
                == Some(true),
            is_nested: outer == Some("model"),
            names: BTreeMap::from([(own, 0)]),
        };
        for child in element.children() {
            scope.add(child, report);
        }
        scope.solve(report);
        scope
    }

    /// Tells whether this is a world.
    pub(crate) fn is_world(&self) -> bool {
        self.element.name == "world"
    }

    /// Returns where a frame is, in the frame of this scope.
    pub(crate) fn pose_of(&self, name: &str) -> Option<Pose> {
        let target = self.find(name)?;
        let frame = &self.frames[target.index];
        match (target.rest, frame.kind) {
            (Some(rest), FrameKind::Model(nested)) => {
                Some(frame.pose.then(&self.nested[nested].pose_of(rest)?))
            }
            _ => Some(frame.pose),
        }
    }

    /// Returns what a frame is fixed to, named from within this scope.
    pub(crate) fn body_of(&self, name: &str) -> Option<Body> {
        let target = self.find(name)?;
        let frame = &self.frames[target.index];
        match (target.rest, frame.kind) {
            (Some(rest), FrameKind::Model(nested)) => {
                Some(self.nested[nested].body_of(rest)?.within(frame.name))
            }
            _ => frame.body.clone(),
        }
    }

    /// Tells whether there is a frame of this name.
    pub(crate) fn knows(&self, name: &str) -> bool {
        self.find(name).is_some()
    }

    /// Returns a joint of this scope, or of a model in it, by its name.
    pub(crate) fn joint(&self, name: &str) -> Option<&'t Element> {
        let target = self.find(name)?;
        let frame = &self.frames[target.index];
        match (target.rest, frame.kind) {
            (Some(rest), FrameKind::Model(nested)) => self.nested[nested].joint(rest),
            (None, FrameKind::Joint) => Some(frame.element),
            _ => None,
        }
    }

    fn add(&mut self, element: &'t Element, report: &mut Report) {
        let kind = match element.name.as_str() {
            "link" if !self.is_world() => FrameKind::Link,
            "joint" => FrameKind::Joint,
            "frame" => FrameKind::Free,
            "model" => FrameKind::Model(self.nested.len()),
            _ => return,
        };
        let Some(name) = value::name(element, report) else {
            return;
        };
        if let Some(&other) = self.names.get(name) {
            let place = self.frames[other].element.place();
            let message = format!("<{}> has the name {name:?} of {place}", element.name);
            report.error("DUPLICATE_NAME", element, message);
            return;
        }
        if let FrameKind::Model(_) = kind {
            let nested = Self::build_within(element, Some(&self.element.name), report);
            self.nested.push(nested);
        }
        let (pose, relative_to) = value::pose(element, report);
        self.names.insert(name, self.frames.len());
        self.frames.push(Frame {
            name,
            element,
            kind,
            pose,
            body: None,
            relative_to,
            attached_to: element.filled_attribute("attached_to"),
        });
    }

    /// Looks a name up: as a whole first, since SDF up to 1.7 has links named `nested::link`.
    fn find<'n>(&self, name: &'n str) -> Option<Target<'n>> {
        if let Some(&index) = self.names.get(name) {
            return Some(Target { index, rest: None });
        }
        for (at, separator) in name.match_indices("::") {
            let rest = &name[at + separator.len()..];
            let Some(&index) = self.names.get(&name[..at]) else {
                continue;
            };
            if let FrameKind::Model(nested) = self.frames[index].kind
                && self.nested[nested].knows(rest)
            {
                return Some(Target {
                    index,
                    rest: Some(rest),
                });
            }
        }
        None
    }
}
