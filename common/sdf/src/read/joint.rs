//! `<joint>`: kind and sides; its axes are read in `axis`.

mod axis;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::f64::consts::TAU;

use super::{part, plugin, sensor};
use crate::frames::{Body, Frame, Scope, WORLD_FRAME};
use crate::pose::Pose;
use crate::report::Report;
use crate::tree::Element;
use crate::value;
use crate::world::{Joint, JointKind, JointParent};

pub(super) use axis::follow_leaders;
pub(crate) use axis::{BEYOND_LIMITS, INITIAL_POSITION, beyond_limits, starts_at};

/// Context of a joint: its scope, and the model around it.
pub(super) struct JointContext<'s, 't> {
    /// The model or world that holds it.
    pub(super) scope: &'s Scope<'t>,
    /// Prefix of names of that model: empty or `nested::`.
    pub(super) prefix: &'s str,
    /// The pose of that model, world frame.
    pub(super) pose: Pose,
    /// Indices of the links of the top-level model, by name.
    pub(super) links: &'s BTreeMap<String, usize>,
}

/// Reads a joint of a model; none where it is wrong, or holds nothing together.
pub(super) fn read(
    frame: &Frame<'_>,
    context: &JointContext<'_, '_>,
    report: &mut Report,
) -> Option<Joint> {
    let element = frame.element;
    let kind = kind(frame, context, report)?;
    // What is wrong with sides was said when frames were solved.
    let parent = match parent_body(element, context.scope)? {
        Body::World | Body::StaticModel(_) => JointParent::World,
        Body::Link(link) => JointParent::Link(link_index(&link, context)?),
    };
    let child = match context.scope.body_of(&side(element, "child"))? {
        Body::World => return None,
        Body::Link(link) => link_index(&link, context)?,
        Body::StaticModel(model) => any_link_of(&model, context)?,
    };
    if parent == JointParent::Link(child) {
        return None;
    }
    if !context.scope.is_static {
        axis::warn_beyond_limits(frame, kind.axes(), report);
    }
    let pose = context.pose.then(&frame.pose);
    let name = format!("{}{}", context.prefix, frame.name);
    Some(Joint {
        sensors: sensor::read_all(frame, context.scope, report),
        plugins: plugin::read_all(element),
        custom: part::custom(element, &[]),
        place: element.place().into(),
        ..Joint::new(&name, kind, parent, child, pose)
    })
}

/// Returns what the parent side of a joint is fixed to.
pub(super) fn parent_body(joint: &Element, scope: &Scope<'_>) -> Option<Body> {
    let name = side(joint, "parent");
    if name == WORLD_FRAME {
        Some(Body::World)
    } else {
        scope.body_of(&name)
    }
}

/// Returns the name of one side of a joint.
pub(super) fn side<'t>(joint: &'t Element, name: &str) -> Cow<'t, str> {
    joint.child(name).map(Element::text).unwrap_or_default()
}

/// Reads what a joint lets move.
pub(super) fn kind(
    frame: &Frame<'_>,
    context: &JointContext<'_, '_>,
    report: &mut Report,
) -> Option<JointKind> {
    let element = frame.element;
    axis::check(frame, context, report);
    let Some(name) = element.filled_attribute("type") else {
        report.error(
            "ATTRIBUTE_MISSING",
            element,
            "<joint> needs a type attribute",
        );
        return None;
    };
    Some(match name.to_ascii_lowercase().as_str() {
        "fixed" => JointKind::Fixed,
        "ball" => JointKind::Ball,
        "revolute" => JointKind::Revolute(axis::read_one(frame, context, report)),
        "continuous" => {
            JointKind::Continuous(axis::read_one(frame, context, report).without_limits())
        }
        "prismatic" => JointKind::Prismatic(axis::read_one(frame, context, report)),
        "universal" => JointKind::Universal(axis::read_two(frame, context, report)),
        "revolute2" => JointKind::Revolute2(axis::read_two(frame, context, report)),
        "screw" => JointKind::Screw {
            axis: axis::read_one(frame, context, report),
            thread_pitch: thread_pitch(element, report),
        },
        "gearbox" => JointKind::Gearbox {
            axes: axis::read_two(frame, context, report),
            ratio: value::number(element, "gearbox_ratio", 1.0, report),
            reference_body: reference_body(frame, context, report),
        },
        _ => {
            let message = format!("{name:?} is no type of joint");
            report.error("ATTRIBUTE_INVALID", element, message);
            return None;
        }
    })
}

/// Returns the way along the axis for one turn \[m/turn\]. The older `<thread_pitch>` is in
/// \[rad/m\] for a left-handed thread (`Joint::Load` of libsdformat).
fn thread_pitch(joint: &Element, report: &mut Report) -> f64 {
    if joint.child("screw_thread_pitch").is_some() || joint.child("thread_pitch").is_none() {
        return value::number(joint, "screw_thread_pitch", 1.0, report);
    }
    let pitch = -TAU / value::number(joint, "thread_pitch", 1.0, report);
    if pitch.is_finite() {
        return pitch;
    }
    let message = "<thread_pitch> is in turns per way and must not be zero";
    report.error("ELEMENT_INVALID", joint, message);
    1.0
}

fn reference_body(
    frame: &Frame<'_>,
    context: &JointContext<'_, '_>,
    report: &mut Report,
) -> Option<usize> {
    let name = side(frame.element, "gearbox_reference_body");
    if name.is_empty() {
        return None;
    }
    if let Some(Body::Link(link)) = context.scope.body_of(&name)
        && let Some(index) = link_index(&link, context)
    {
        return Some(index);
    }
    let once = frame.element.place().to_string();
    report.warn_once("GEARBOX_REFERENCE_UNKNOWN", &once, frame.element, || {
        format!(
            "the gearbox_reference_body {name:?} of the joint {:?} is no link beside it; turns are \
             counted against the world",
            frame.name
        )
    });
    None
}

fn link_index(link: &str, context: &JointContext<'_, '_>) -> Option<usize> {
    context
        .links
        .get(&format!("{}{link}", context.prefix))
        .copied()
}

/// Returns a link of a static model, all of whose links stand still alike.
fn any_link_of(model: &str, context: &JointContext<'_, '_>) -> Option<usize> {
    let separator = if model.is_empty() { "" } else { "::" };
    let prefix = format!("{}{model}{separator}", context.prefix);
    let (name, index) = context.links.range(prefix.clone()..).next()?;
    name.starts_with(&prefix).then_some(*index)
}
