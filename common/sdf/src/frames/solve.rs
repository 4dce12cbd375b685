//! Solves the two graphs of a scope: what each frame's pose is relative to, and what each frame is
//! attached to. Chains may be as long as the file; they are followed without recursion.

use std::borrow::Cow;

use super::{Body, FrameKind, Scope, Target};
use crate::pose::Pose;
use crate::report::Report;
use crate::tree::Element;

/// Frame that a frame's own pose is relative to.
struct PoseBase {
    /// `None` for the frame of the scope itself, and after an error.
    index: Option<usize>,
    /// From that frame to one within the nested model there.
    inner: Pose,
}

impl PoseBase {
    const SCOPE: Self = Self {
        index: Some(0),
        inner: Pose::IDENTITY,
    };
}

/// Base of a frame's attachment.
enum BodyBase {
    /// The body that another frame of the scope is fixed to.
    Frame(usize),
    /// This, which is known already; `None` after an error.
    Known(Option<Body>),
}

impl Scope<'_> {
    pub(super) fn solve(&mut self, report: &mut Report) {
        if !self.is_world() && !self.is_static && !self.has_bodies() {
            let name = self.element.attribute("name").unwrap_or_default();
            let message = format!("the model {name:?} must have at least one link");
            report.error("MODEL_WITHOUT_LINK", self.element, message);
        }
        self.solve_poses(report);
        self.solve_bodies(report);
        self.canonical_link = self.canonical_name().and_then(|name| {
            let Some(Body::Link(link)) = self.body_of(&name) else {
                return None;
            };
            Some(link)
        });
        self.check_joint_sides(report);
    }

    fn has_bodies(&self) -> bool {
        self.element
            .child("link")
            .or(self.element.child("model"))
            .is_some()
    }

    fn solve_poses(&mut self, report: &mut Report) {
        let bases: Vec<PoseBase> = (0..self.frames.len())
            .map(|index| self.pose_base(index, report))
            .collect();
        let next: Vec<_> = bases.iter().map(|base| base.index).collect();
        let (order, cycles) = dependency_order(&next);
        for index in cycles {
            let frame = &self.frames[index];
            let message = format!("the pose of {:?} is relative to itself", frame.name);
            report.error("POSE_RELATIVE_TO_CYCLE", frame.element, message);
        }
        for index in order {
            let Some(base) = bases[index].index else {
                continue;
            };
            let own = self.frames[index]
                .pose
                .then(&self.placement_to_model(index, report));
            let whole = self.frames[base].pose.then(&bases[index].inner).then(&own);
            self.frames[index].pose = whole;
        }
    }

    fn pose_base(&self, index: usize, report: &mut Report) -> PoseBase {
        let frame = &self.frames[index];
        let (name, is_explicit) = match (frame.relative_to, frame.kind) {
            (_, FrameKind::Scope) => {
                return PoseBase {
                    index: None,
                    ..PoseBase::SCOPE
                };
            }
            (Some(name), _) => (name.into(), true),
            (None, FrameKind::Joint) => (child_text(frame.element, "child"), false),
            (None, FrameKind::Free) => match frame.attached_to {
                None => return PoseBase::SCOPE,
                Some(name) => (name.into(), false),
            },
            (None, FrameKind::Link | FrameKind::Model(_)) => return PoseBase::SCOPE,
        };
        // That a joint is its own child is said where its sides are checked.
        if frame.kind == FrameKind::Joint && !is_explicit && name == frame.name {
            return PoseBase::SCOPE;
        }
        let Some(target) = self.find(&name) else {
            if is_explicit {
                let none = self.no_such_frame();
                let message = format!(
                    "the pose of {:?} is relative to {name:?}, and {none}",
                    frame.name
                );
                report.error("POSE_RELATIVE_TO_INVALID", frame.element, message);
            }
            return PoseBase::SCOPE;
        };
        let inner = match (target.rest, self.frames[target.index].kind) {
            (Some(rest), FrameKind::Model(nested)) => self.nested[nested].pose_of(rest),
            _ => None,
        };
        PoseBase {
            index: Some(target.index),
            inner: inner.unwrap_or(Pose::IDENTITY),
        }
    }

    /// Returns a model's own frame in the frame that the model is placed by.
    fn placement_to_model(&self, index: usize, report: &mut Report) -> Pose {
        let frame = &self.frames[index];
        let FrameKind::Model(nested) = frame.kind else {
            return Pose::IDENTITY;
        };
        let Some(placement) = frame.element.filled_attribute("placement_frame") else {
            return Pose::IDENTITY;
        };
        if let Some(pose) = self.nested[nested].pose_of(placement) {
            return pose.inverse();
        }
        let message = format!("the model has no frame {placement:?} to be placed by");
        report.error("POSE_RELATIVE_TO_INVALID", frame.element, message);
        Pose::IDENTITY
    }

    fn solve_bodies(&mut self, report: &mut Report) {
        let mut bases: Vec<BodyBase> = (0..self.frames.len())
            .map(|index| self.body_base(index, report))
            .collect();
        let next: Vec<_> = bases
            .iter()
            .map(|base| match base {
                BodyBase::Frame(index) => Some(*index),
                BodyBase::Known(_) => None,
            })
            .collect();
        let (order, cycles) = dependency_order(&next);
        for index in cycles {
            let frame = &self.frames[index];
            let message = format!("{:?} is attached to itself", frame.name);
            report.error("FRAME_ATTACHED_TO_CYCLE", frame.element, message);
        }
        for index in order {
            self.frames[index].body = match &mut bases[index] {
                BodyBase::Known(body) => body.take(),
                BodyBase::Frame(base) => self.frames[*base].body.clone(),
            };
        }
    }

    fn body_base(&self, index: usize, report: &mut Report) -> BodyBase {
        let frame = &self.frames[index];
        let name = match frame.kind {
            FrameKind::Scope if self.is_world() => return BodyBase::Known(Some(Body::World)),
            FrameKind::Scope => return self.model_body(report),
            FrameKind::Link => return BodyBase::Known(Some(Body::Link(frame.name.to_owned()))),
            FrameKind::Model(nested) => {
                let body = self.nested[nested].frames[0].body.clone();
                return BodyBase::Known(body.map(|body| body.within(frame.name)));
            }
            FrameKind::Joint => child_text(frame.element, "child"),
            FrameKind::Free => match frame.attached_to {
                None => return BodyBase::Frame(0),
                Some(name) => name.into(),
            },
        };
        // Sides of joints are checked apart.
        if frame.kind == FrameKind::Joint && name == frame.name {
            return BodyBase::Known(None);
        }
        if let Some(target) = self.find(&name) {
            return self.base_at(&name, target);
        }
        if frame.kind == FrameKind::Free {
            let none = self.no_such_frame();
            let message = format!("{:?} is attached to {name:?}, and {none}", frame.name);
            report.error("FRAME_ATTACHED_TO_INVALID", frame.element, message);
        }
        BodyBase::Known(None)
    }

    fn base_at(&self, name: &str, target: Target<'_>) -> BodyBase {
        if target.rest.is_some() {
            BodyBase::Known(self.body_of(name))
        } else {
            BodyBase::Frame(target.index)
        }
    }

    /// Returns what a model's own frame is attached to. Nothing moves a static model, so that its
    /// canonical link does not matter, and may be wrong.
    fn model_body(&self, report: &mut Report) -> BodyBase {
        if self.is_static {
            return BodyBase::Known(Some(Body::StaticModel(String::new())));
        }
        let Some(name) = self.canonical_name() else {
            let first = self
                .frames
                .iter()
                .position(|frame| matches!(frame.kind, FrameKind::Model(_)));
            return first.map_or(BodyBase::Known(None), BodyBase::Frame);
        };
        if let Some(target) = self.find(&name) {
            return self.base_at(&name, target);
        }
        let is_own = self.element.filled_attribute("canonical_link").is_some();
        if !is_own && self.nested.first().is_some_and(|first| !first.is_static) {
            // The nested model that names it has an error already.
            return BodyBase::Known(None);
        }
        let message = format!("the canonical_link {name:?} is no link of the model");
        report.error("MODEL_CANONICAL_LINK_INVALID", self.element, message);
        BodyBase::Known(None)
    }

    /// Returns the name of the canonical link: the one that the model names, or else its first
    /// link, or else that of its first nested model, whatever follows that one.
    pub(crate) fn canonical_name(&self) -> Option<String> {
        if self.is_world() {
            return None;
        }
        if let Some(name) = self.element.filled_attribute("canonical_link") {
            return Some(name.to_owned());
        }
        let mut frames = self.frames.iter();
        if let Some(link) = frames.find(|frame| frame.kind == FrameKind::Link) {
            return Some(link.name.to_owned());
        }
        let first = self.nested.first()?;
        let name = first.element.attribute("name").unwrap_or_default();
        Some(format!("{name}::{}", first.canonical_name()?))
    }

    pub(super) fn no_such_frame(&self) -> String {
        let name = self.element.attribute("name").unwrap_or_default();
        format!("{} {name:?} has no such frame", self.element.name)
    }
}

pub(super) fn child_text<'t>(element: &'t Element, name: &str) -> Cow<'t, str> {
    element.child(name).map(Element::text).unwrap_or_default()
}

/// Returns the indices, each after the one that it points to, and one index of each cycle.
fn dependency_order(next: &[Option<usize>]) -> (Vec<usize>, Vec<usize>) {
    #[derive(Clone, Copy, PartialEq)]
    enum Mark {
        New,
        OnChain,
        Done,
    }
    let mut marks = vec![Mark::New; next.len()];
    let (mut order, mut cycles) = (Vec::with_capacity(next.len()), Vec::new());
    for start in 0..next.len() {
        let (mut chain, mut at) = (Vec::new(), Some(start));
        while let Some(index) = at.filter(|index| marks[*index] == Mark::New) {
            marks[index] = Mark::OnChain;
            chain.push(index);
            at = next[index];
        }
        if let Some(index) = at.filter(|index| marks[*index] == Mark::OnChain) {
            cycles.push(index);
        }
        for index in chain.into_iter().rev() {
            marks[index] = Mark::Done;
            order.push(index);
        }
    }
    (order, cycles)
}
