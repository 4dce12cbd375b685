//! Solves the two graphs of a scope: what each frame's pose is relative to, and what each frame is
//! attached to. Chains may be as long as the file; they are followed without recursion.

use super::{Body, FrameKind, Scope, WORLD_FRAME, scoped};
use crate::pose::Pose;
use crate::report::Report;
use crate::tree::Element;

/// What a frame's own pose stands on.
struct PoseBase {
    index: usize,
    /// From that frame to one within the nested model there.
    inner: Pose,
}

/// What a frame is attached to.
enum BodyBase {
    /// Whatever another frame of the scope is fixed to.
    Frame(usize),
    /// This, which is known already; `None` after an error.
    Known(Option<Body>),
}

impl Scope<'_> {
    pub(super) fn solve(&mut self, report: &mut Report) {
        self.check_joints(report);
        self.canonical_link = self.find_canonical_link(report);
        self.solve_poses(report);
        self.solve_bodies(report);
    }

    fn solve_poses(&mut self, report: &mut Report) {
        let bases: Vec<PoseBase> = (0..self.frames.len())
            .map(|index| self.pose_base(index, report))
            .collect();
        let next: Vec<_> = bases.iter().map(|base| Some(base.index)).collect();
        let (order, cycles) = dependency_order(&next);
        for index in cycles {
            let frame = &self.frames[index];
            let message = format!("the pose of {:?} is relative to itself", frame.name);
            report.error("POSE_RELATIVE_TO_CYCLE", frame.element, message);
        }
        for index in order {
            let base = &bases[index];
            let own = self.frames[index]
                .pose
                .then(&self.placement_to_model(index, report));
            let whole = self.frames[base.index].pose.then(&base.inner).then(&own);
            self.frames[index].pose = whole;
        }
    }

    fn pose_base(&self, index: usize, report: &mut Report) -> PoseBase {
        let frame = &self.frames[index];
        let root = PoseBase {
            index: 0,
            inner: Pose::IDENTITY,
        };
        let (name, is_explicit) = match (frame.relative_to, frame.kind) {
            (Some(name), _) => (name.to_owned(), true),
            (None, FrameKind::Joint) => (child_text(frame.element, "child"), false),
            (None, FrameKind::Free) => (frame.attached_to.unwrap_or("").to_owned(), false),
            (None, FrameKind::Scope | FrameKind::Link | FrameKind::Model(_)) => return root,
        };
        let Some(target) = self.find(&name) else {
            if is_explicit {
                let message = format!(
                    "the pose of {:?} is relative to {name:?}, and {}",
                    frame.name,
                    self.no_such_frame()
                );
                report.error("POSE_RELATIVE_TO_INVALID", frame.element, message);
            }
            return root;
        };
        let inner = match (target.rest, self.frames[target.index].kind) {
            (Some(rest), FrameKind::Model(nested)) => self.nested[nested].pose_of(rest),
            _ => None,
        };
        PoseBase {
            index: target.index,
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
            FrameKind::Scope => {
                return BodyBase::Known(self.canonical_link.clone().map(Body::Link));
            }
            FrameKind::Link => return BodyBase::Known(Some(Body::Link(frame.name.to_owned()))),
            FrameKind::Model(nested) => {
                let link = self.nested[nested].canonical_link.clone();
                return BodyBase::Known(link.and_then(|l| scoped(frame.name, Body::Link(l))));
            }
            FrameKind::Joint => child_text(frame.element, "child"),
            FrameKind::Free => match frame.attached_to {
                None => return BodyBase::Frame(0),
                Some(name) => name.to_owned(),
            },
        };
        match self.find(&name) {
            Some(target) if target.rest.is_none() => BodyBase::Frame(target.index),
            Some(_) => BodyBase::Known(self.body_of(&name)),
            None => {
                if frame.kind == FrameKind::Free {
                    let none = self.no_such_frame();
                    let message = format!("{:?} is attached to {name:?}, and {none}", frame.name);
                    report.error("FRAME_ATTACHED_TO_INVALID", frame.element, message);
                }
                BodyBase::Known(None)
            }
        }
    }

    fn find_canonical_link(&self, report: &mut Report) -> Option<String> {
        if self.is_world() {
            return None;
        }
        if let Some(name) = self.element.filled_attribute("canonical_link") {
            if self.is_link(name) {
                return Some(name.to_owned());
            }
            let message = format!("the canonical_link {name:?} is no link of the model");
            report.error("MODEL_CANONICAL_LINK_INVALID", self.element, message);
        }
        if let Some(link) = self
            .frames
            .iter()
            .find(|frame| frame.kind == FrameKind::Link)
        {
            return Some(link.name.to_owned());
        }
        self.frames.iter().find_map(|frame| match frame.kind {
            FrameKind::Model(nested) => {
                let link = self.nested[nested].canonical_link.as_ref()?;
                Some(format!("{}::{link}", frame.name))
            }
            FrameKind::Scope | FrameKind::Link | FrameKind::Joint | FrameKind::Free => None,
        })
    }

    fn is_link(&self, name: &str) -> bool {
        self.find(name).is_some_and(
            |target| match (target.rest, self.frames[target.index].kind) {
                (None, kind) => kind == FrameKind::Link,
                (Some(rest), FrameKind::Model(nested)) => self.nested[nested].is_link(rest),
                (Some(_), _) => false,
            },
        )
    }

    fn check_joints(&self, report: &mut Report) {
        for frame in self
            .frames
            .iter()
            .filter(|frame| frame.kind == FrameKind::Joint)
        {
            let joint = frame.element;
            let (parent, child) = (child_text(joint, "parent"), child_text(joint, "child"));
            for (part, name) in [("parent", &parent), ("child", &child)] {
                if name.is_empty() {
                    let message = format!("the joint {:?} needs a <{part}>", frame.name);
                    report.error("ELEMENT_MISSING", joint, message);
                }
            }
            if !child.is_empty() && (child == WORLD_FRAME || !self.refers(&child, frame.name)) {
                let message = format!(
                    "the child {child:?} of the joint {:?} is no link or frame \
                    of the model",
                    frame.name
                );
                report.error("JOINT_CHILD_LINK_INVALID", joint, message);
            }
            let is_parent_fine = parent == WORLD_FRAME || self.refers(&parent, frame.name);
            if !parent.is_empty() && !is_parent_fine {
                let message = format!(
                    "the parent {parent:?} of the joint {:?} is no link or frame \
                    of the model",
                    frame.name
                );
                report.error("JOINT_PARENT_LINK_INVALID", joint, message);
            }
            if !parent.is_empty() && parent == child {
                let message = format!("the joint {:?} has {parent:?} on both sides", frame.name);
                report.error("JOINT_PARENT_SAME_AS_CHILD", joint, message);
            }
        }
    }

    fn refers(&self, name: &str, own: &str) -> bool {
        name != own && self.knows(name)
    }

    fn no_such_frame(&self) -> String {
        let name = self.element.attribute("name").unwrap_or_default();
        format!("{} {name:?} has no such frame", self.element.name)
    }
}

fn child_text(element: &Element, name: &str) -> String {
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
            // The scope's own frame stands on itself, which ends every chain.
            at = next[index].filter(|onward| *onward != index || index != 0);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::parse;

    fn check(model: &str, frame: &str, position: [f64; 3], body: Option<&str>) {
        let root = parse(&format!("<model name='m'>{model}</model>"), "f").unwrap();
        let mut report = Report::default();
        let scope = Scope::build(&root, &mut report);
        assert!(report.errors.is_empty(), "{:?}", report.errors);
        let pose = scope.pose_of(frame).unwrap();
        for (a, b) in pose.position.iter().zip(position) {
            assert!((a - b).abs() < 1e-12, "{model} gave {pose:?}");
        }
        let expect = body.map(|name| Body::Link(name.to_owned()));
        assert_eq!(scope.body_of(frame), expect, "{model}");
    }

    fn check_errors(model: &str, codes: &[&str]) {
        let root = parse(&format!("<model name='m'>{model}</model>"), "f").unwrap();
        let mut report = Report::default();
        Scope::build(&root, &mut report);
        let found: Vec<_> = report.errors.iter().map(|error| error.code).collect();
        assert_eq!(found, codes, "{model}: {:?}", report.errors);
    }

    const PAIR: &str = "<link name='a'><pose>1 0 0 0 0 1.5707963267948966</pose></link>\
                        <link name='b'><pose relative_to='a'>1 0 0 0 0 0</pose></link>";

    #[test]
    fn frames_stand_on_each_other() {
        check(PAIR, "b", [1.0, 1.0, 0.0], Some("b"));
        let frame = "<frame name='f' attached_to='b'><pose>1 0 0 0 0 0</pose></frame>";
        check(&format!("{frame}{PAIR}"), "f", [1.0, 2.0, 0.0], Some("b"));
        let joint = "<joint name='j' type='fixed'><parent>a</parent><child>b</child></joint>";
        check(&format!("{PAIR}{joint}"), "j", [1.0, 1.0, 0.0], Some("b"));
    }

    #[test]
    fn nested_models_are_reached_by_scoped_names_and_placed_by_their_frames() {
        let nested = format!("<model name='n'><pose>0 0 5 0 0 0</pose>{PAIR}</model>");
        check(&nested, "n::b", [1.0, 1.0, 5.0], Some("n::b"));
        check(&nested, "n", [0.0, 0.0, 5.0], Some("n::a"));
        check(&nested, "__model__", [0.0; 3], Some("n::a"));
        let placed =
            format!("<model name='n' placement_frame='b'><pose>0 0 5 0 0 0</pose>{PAIR}</model>");
        check(&placed, "n::b", [0.0, 0.0, 5.0], Some("n::b"));
    }

    #[test]
    fn a_chain_of_a_hundred_thousand_frames_is_followed() {
        use std::fmt::Write;
        let mut model = "<link name='f0'/>".to_owned();
        for index in (1..100_000).rev() {
            let before = index - 1;
            write!(
                model,
                "<frame name='f{index}' attached_to='f{before}'>\
                <pose>1 0 0 0 0 0</pose></frame>"
            )
            .unwrap();
        }
        check(&model, "f99999", [99_999.0, 0.0, 0.0], Some("f0"));
    }

    #[test]
    fn unknown_names_cycles_and_doubles_are_errors() {
        check_errors(
            "<link name='a'><pose relative_to='x'/></link>",
            &["POSE_RELATIVE_TO_INVALID"],
        );
        check_errors(
            "<link name='a'><pose relative_to='a'/></link>",
            &["POSE_RELATIVE_TO_CYCLE"],
        );
        check_errors(
            "<link name='a'><pose relative_to='b'/></link>\
             <link name='b'><pose relative_to='a'/></link>",
            &["POSE_RELATIVE_TO_CYCLE"],
        );
        check_errors(
            "<link name='a'/><frame name='f' attached_to='g'/><frame name='g' attached_to='f'/>",
            &["POSE_RELATIVE_TO_CYCLE", "FRAME_ATTACHED_TO_CYCLE"],
        );
        check_errors("<link name='a'/><link name='a'/>", &["DUPLICATE_NAME"]);
        check_errors("<link name='a'/><frame name='a'/>", &["DUPLICATE_NAME"]);
        check_errors("<link/>", &["ATTRIBUTE_MISSING"]);
        check_errors("<link name='__model__'/>", &["RESERVED_NAME"]);
        let joint = |parent: &str, child: &str| {
            format!(
                "<link name='a'/><joint name='j' type='fixed'><parent>{parent}</parent>\
                     <child>{child}</child></joint>"
            )
        };
        check_errors(&joint("a", "world"), &["JOINT_CHILD_LINK_INVALID"]);
        check_errors(&joint("x", "a"), &["JOINT_PARENT_LINK_INVALID"]);
        check_errors(&joint("a", "a"), &["JOINT_PARENT_SAME_AS_CHILD"]);
        check_errors(&joint("world", ""), &["ELEMENT_MISSING"]);
    }
}
