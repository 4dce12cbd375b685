//! `<joint>`: kind, sides and axis.

use std::collections::BTreeMap;

use super::shape;
use crate::frames::{Body, Frame, Scope, WORLD_FRAME};
use crate::pose::Pose;
use crate::report::Report;
use crate::tree::Element;
use crate::value;
use crate::world::{Axis, Joint, JointKind, JointParent};

/// Limits from here on are none, as in libsdformat.
const NO_LIMIT: f64 = 1e16;

/// Where a joint stands.
pub(super) struct Surroundings<'s, 't> {
    /// The model that holds it.
    pub(super) scope: &'s Scope<'t>,
    /// What goes before names of that model: empty or `nested::`.
    pub(super) prefix: &'s str,
    /// The pose of that model, world frame.
    pub(super) pose: Pose,
    /// Indices of the links of the top-level model, by name.
    pub(super) links: &'s BTreeMap<String, usize>,
}

/// Reads a joint; none where it is wrong, or of a kind that is not supported.
pub(super) fn read(
    frame: &Frame<'_>,
    place: &Surroundings<'_, '_>,
    report: &mut Report,
) -> Option<Joint> {
    let element = frame.element;
    let kind = kind(frame, place, report)?;
    let parent_name = side(element, "parent");
    let parent = if parent_name == WORLD_FRAME {
        JointParent::World
    } else {
        JointParent::Link(link(&parent_name, place)?)
    };
    let child_name = side(element, "child");
    let child = link(&child_name, place)?;
    if parent == JointParent::Link(child) {
        let body = place.scope.body_of(&parent_name);
        let message = format!("the joint {:?} has one link on both sides", frame.name);
        if body == Some(Body::Link(child_name)) {
            report.error("JOINT_PARENT_SAME_AS_CHILD", element, message);
        } else {
            // libsdformat accepts this where both sides are frames; it holds nothing together.
            report.warn_once("JOINT_PARENT_SAME_AS_CHILD", frame.name, element, || {
                message
            });
        }
        return None;
    }
    let pose = place.pose.then(&frame.pose);
    let name = format!("{}{}", place.prefix, frame.name);
    Some(Joint::new(&name, kind, parent, child, pose))
}

fn kind(frame: &Frame<'_>, place: &Surroundings<'_, '_>, report: &mut Report) -> Option<JointKind> {
    let element = frame.element;
    let Some(name) = element.filled_attribute("type") else {
        report.error(
            "ATTRIBUTE_MISSING",
            element,
            "<joint> needs a type attribute",
        );
        return None;
    };
    Some(match name {
        "fixed" => JointKind::Fixed,
        "ball" => JointKind::Ball,
        "revolute" => JointKind::Revolute(axis(frame, place, report)?),
        "prismatic" => JointKind::Prismatic(axis(frame, place, report)?),
        "continuous" => {
            let axis = axis(frame, place, report)?;
            let (lower, upper) = (f64::NEG_INFINITY, f64::INFINITY);
            JointKind::Continuous(Axis {
                lower,
                upper,
                ..axis
            })
        }
        // The survey of the vocabulary has named it already.
        "universal" | "screw" | "revolute2" | "gearbox" => return None,
        _ => {
            let message = format!("{name:?} is no type of joint");
            report.error("ATTRIBUTE_INVALID", element, message);
            return None;
        }
    })
}

fn axis(frame: &Frame<'_>, place: &Surroundings<'_, '_>, report: &mut Report) -> Option<Axis> {
    let Some(element) = frame.element.child("axis") else {
        let message = format!("the joint {:?} needs an <axis>", frame.name);
        report.error("ELEMENT_MISSING", frame.element, message);
        return None;
    };
    let xyz = shape::unit(element, "xyz", [0.0, 0.0, 1.0], report);
    let expressed_in = element
        .child("xyz")
        .and_then(|xyz| xyz.filled_attribute("expressed_in"));
    let orientation = match expressed_in {
        None => frame.pose,
        Some(name) => place.scope.pose_of(name).or_else(|| {
            let message = format!("the axis is expressed in {name:?}, and there is no such frame");
            report.error("JOINT_AXIS_EXPRESSED_IN_INVALID", element, message);
            None
        })?,
    };
    let (lower, upper) = limits(element, report);
    let dynamics = element.child("dynamics");
    let mut dynamic = |name: &str| {
        dynamics.map_or(0.0, |element| {
            value::number_from_zero(element, name, 0.0, report)
        })
    };
    let (damping, friction) = (dynamic("damping"), dynamic("friction"));
    if let Some(dynamics) = dynamics
        && value::number(dynamics, "spring_stiffness", 0.0, report) != 0.0
    {
        report.warn_once("UNSUPPORTED_ELEMENT", "spring_stiffness", dynamics, || {
            "springs in joints (<spring_stiffness>) are not supported: the joint moves freely"
                .to_owned()
        });
    }
    let xyz = place.pose.then(&orientation).rotate(xyz);
    Some(Axis {
        xyz,
        lower,
        upper,
        damping,
        friction,
        ..Axis::default()
    })
}

fn limits(axis: &Element, report: &mut Report) -> (f64, f64) {
    let none = (f64::NEG_INFINITY, f64::INFINITY);
    let Some(element) = axis.child("limit") else {
        return none;
    };
    let [lower] = value::numbers_or_infinite(element, "lower", [none.0], report);
    let [upper] = value::numbers_or_infinite(element, "upper", [none.1], report);
    let lower = if lower <= -NO_LIMIT { none.0 } else { lower };
    let upper = if upper >= NO_LIMIT { none.1 } else { upper };
    if lower > upper {
        let message = format!("the lower limit {lower} is above the upper limit {upper}");
        report.error("ELEMENT_INVALID", element, message);
        return none;
    }
    (lower, upper)
}

fn side(joint: &Element, name: &str) -> String {
    joint.child(name).map(Element::text).unwrap_or_default()
}

/// Returns the link that a frame is fixed to; unknown frames have been reported already.
fn link(name: &str, place: &Surroundings<'_, '_>) -> Option<usize> {
    match place.scope.body_of(name)? {
        Body::Link(link) => place.links.get(&format!("{}{link}", place.prefix)).copied(),
        Body::World => None,
    }
}
