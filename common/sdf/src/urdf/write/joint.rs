//! `<joint>`: the joint that a link hangs on, and what `<gazebo>` elements add to it.

use super::super::extension::{Extension, put};
use super::super::joint::{Joint, Kind};
use super::super::number::{show, show_all};
use super::super::origin;
use super::super::robot::WORLD;
use super::shape;
use crate::problem::Problem;
use crate::read::INITIAL_POSITION;
use crate::tree::{Element, Node};

/// Returns the element of a joint; a `locked` one is a fixed joint that libsdformat makes a
/// revolute joint without play.
pub(super) fn element(
    joint: &Joint<'_>,
    parent: &str,
    is_locked: bool,
) -> Result<Element, Problem> {
    let kind = match joint.kind {
        Kind::Fixed if !is_locked => "fixed",
        Kind::Fixed | Kind::Revolute | Kind::Continuous => "revolute",
        Kind::Prismatic => "prismatic",
        Kind::Floating | Kind::Planar => {
            let message = format!(
                "the joint {:?} floats or slides in a plane: SDF has no such joint, and \
                 libsdformat refuses the link that hangs on it",
                joint.name
            );
            return Err(joint.element.problem("POSE_RELATIVE_TO_INVALID", message));
        }
    };
    let mut element = Element::new_at("joint", joint.element);
    element.set_attribute("type", kind);
    element.set_attribute("name", joint.name);
    let mut pose = origin::element(&joint.origin, joint.element);
    let frame = if parent == WORLD { "__model__" } else { parent };
    pose.set_attribute("relative_to", frame);
    element.nodes.push(Node::Element(pose));
    put(&mut element, "parent", parent);
    put(&mut element, "child", joint.child);
    if kind != "fixed" {
        element.nodes.push(Node::Element(axis(joint, is_locked)));
    }
    Ok(element)
}

fn axis(joint: &Joint<'_>, is_locked: bool) -> Element {
    let at = joint.element;
    let mut axis = Element::new_at("axis", at);
    let mut limit = Element::new_at("limit", at);
    let mut dynamics = Element::new_at("dynamics", at);
    if is_locked {
        put(&mut axis, "xyz", "0 0 1");
        put(&mut limit, "lower", "0");
        put(&mut limit, "upper", "0");
    } else {
        put(&mut axis, "xyz", &show_all(&joint.axis));
        if let Some(limits) = &joint.limits {
            if joint.kind != Kind::Continuous {
                put(&mut limit, "lower", &show(limits.lower.min(limits.upper)));
                put(&mut limit, "upper", &show(limits.lower.max(limits.upper)));
            }
            put(&mut limit, "effort", &show(limits.effort));
            put(&mut limit, "velocity", &show(limits.velocity));
        }
        if let Some(values) = &joint.dynamics {
            put(&mut dynamics, "damping", &show(values.damping));
            put(&mut dynamics, "friction", &show(values.friction));
        }
        if let Some(mimic) = &joint.mimic {
            let mut element = Element::new_at("mimic", at);
            element.set_attribute("joint", mimic.joint);
            put(&mut element, "multiplier", &show(mimic.multiplier));
            put(&mut element, "offset", &show(mimic.offset));
            axis.nodes.push(Node::Element(element));
        }
    }
    if let Some(position) = joint.initial_position {
        put(&mut axis, INITIAL_POSITION, &show(position));
    }
    axis.nodes.push(Node::Element(limit));
    axis.nodes.push(Node::Element(dynamics));
    axis
}

/// Adds to a joint what a `<gazebo>` element says of it.
pub(super) fn extend(joint: &mut Element, extension: &Extension<'_>) {
    let numbers = |settings: &[(&'static str, &'static str)]| {
        let value = |name: &str| extension.numbers.get(name).map(|value| show(*value));
        let found = settings
            .iter()
            .filter_map(|(name, tag)| Some((*tag, value(name)?)));
        found.collect::<Vec<_>>()
    };
    let mut ode = numbers(&[("fudgeFactor", "fudge_factor")]);
    let mut physics = Vec::new();
    if let Some(feedback) = extension.truths.get("provideFeedback") {
        physics.push(("provide_feedback", feedback.to_string()));
        ode.push(("provide_feedback", feedback.to_string()));
    }
    if let Some(damper) = extension.truths.get("implicitSpringDamper") {
        ode.push(("implicit_spring_damper", damper.to_string()));
        ode.push(("cfm_damping", damper.to_string()));
    }
    let springs = [
        ("springReference", "spring_reference"),
        ("springStiffness", "spring_stiffness"),
    ];
    put_all(joint, &["axis", "dynamics"], numbers(&springs));
    let stops = [("stopCfm", "cfm"), ("stopErp", "erp")];
    put_all(joint, &["physics", "ode", "limit"], numbers(&stops));
    put_all(joint, &["physics", "ode"], ode);
    put_all(joint, &["physics"], physics);
    let elements = extension.elements.iter().cloned();
    joint.nodes.extend(elements.map(Node::Element));
}

/// Puts values into the element at the end of a path, which is made where it is missing.
fn put_all(element: &mut Element, path: &[&str], values: Vec<(&str, String)>) {
    if values.is_empty() {
        return;
    }
    let target = shape::at_path(element, path);
    for (name, value) in values {
        put(target, name, &value);
    }
}
