//! Checks the two sides of each joint of a scope, as `checkJointParentChildNames` of libsdformat.
//!
//! libsdformat looks at the joints of worlds and of models that no model is around; within nested
//! models it misses most of what is wrong, and accepts the file. Such joints are warned of here.

use super::solve::child_text;
use super::{Body, Frame, FrameKind, Scope, WORLD_FRAME};
use crate::report::Report;

impl Scope<'_> {
    pub(super) fn check_joint_sides(&self, report: &mut Report) {
        let joints = |frame: &&Frame<'_>| frame.kind == FrameKind::Joint;
        for frame in self.frames.iter().filter(joints) {
            self.check_sides(frame, report);
        }
    }

    fn check_sides(&self, frame: &Frame<'_>, report: &mut Report) {
        let joint = frame.element;
        let missing: Vec<_> = ["parent", "child"]
            .into_iter()
            .filter(|side| joint.child(side).is_none())
            .map(|side| format!("a <{side}>"))
            .collect();
        if !missing.is_empty() {
            let message = format!("the joint {:?} needs {}", frame.name, missing.join(" and "));
            report.error("ELEMENT_MISSING", joint, message);
            return;
        }
        let (parent, child) = (child_text(joint, "parent"), child_text(joint, "child"));
        if parent == child {
            let message = format!("the joint {:?} has {parent:?} on both sides", frame.name);
            report.error("JOINT_PARENT_SAME_AS_CHILD", joint, message);
            return;
        }
        let is_child_fine = self.check_child(frame, &child, report);
        let is_parent_fine = self.check_parent(frame, &parent, report);
        if is_child_fine && is_parent_fine {
            self.check_bodies(frame, &parent, &child, report);
        }
    }

    fn check_child(&self, frame: &Frame<'_>, child: &str, report: &mut Report) -> bool {
        let why = if child == WORLD_FRAME {
            "which cannot be moved".to_owned()
        } else if child == frame.name {
            "which is the joint itself".to_owned()
        } else if !self.knows(child) {
            format!("and {}", self.no_such_frame())
        } else {
            return true;
        };
        let message = format!(
            "the child of the joint {:?} is {child:?}, {why}",
            frame.name
        );
        report.error("JOINT_CHILD_LINK_INVALID", frame.element, message);
        false
    }

    fn check_parent(&self, frame: &Frame<'_>, parent: &str, report: &mut Report) -> bool {
        let why = if parent == WORLD_FRAME {
            return true;
        } else if parent == frame.name {
            "which is the joint itself".to_owned()
        } else if !self.knows(parent) {
            format!("and {}", self.no_such_frame())
        } else {
            return true;
        };
        let message = format!(
            "the parent of the joint {:?} is {parent:?}, {why}",
            frame.name
        );
        self.refuse_joint("JOINT_PARENT_LINK_INVALID", frame, message, report);
        false
    }

    /// Checks what the sides, which may be frames, are fixed to.
    fn check_bodies(&self, frame: &Frame<'_>, parent: &str, child: &str, report: &mut Report) {
        let child_body = self.body_of(child);
        let parent_body = if parent == WORLD_FRAME {
            Some(Body::World)
        } else {
            self.body_of(parent)
        };
        if child_body == Some(Body::World) {
            let message = format!(
                "the child {child:?} of the joint {:?} is fixed to the world, which cannot move",
                frame.name
            );
            report.error("JOINT_CHILD_LINK_INVALID", frame.element, message);
        } else if let (Some(body), true) = (&child_body, child_body == parent_body) {
            let message = format!(
                "both sides of the joint {:?} are fixed to {:?}",
                frame.name,
                body.name()
            );
            self.refuse_joint("JOINT_PARENT_SAME_AS_CHILD", frame, message, report);
        }
    }

    /// Makes an error of a joint that libsdformat refuses, and a warning of one that it does not.
    fn refuse_joint(
        &self,
        code: &'static str,
        frame: &Frame<'_>,
        message: String,
        report: &mut Report,
    ) {
        if self.is_nested {
            let once = frame.element.place().to_string();
            report.warn_once(code, &once, frame.element, || {
                format!("{message}; the joint is left out")
            });
        } else {
            report.error(code, frame.element, message);
        }
    }
}
