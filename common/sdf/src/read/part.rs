//! Common to all parts of links, joints, models and worlds: a name of their own among their kind, a
//! pose in some frame, and content that is kept as it is.

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::frames::{Frame, Scope};
use crate::pose::Pose;
use crate::report::Report;
use crate::tree::Element;
use crate::value;
use crate::world::Content;

/// Returns the children of a kind with their names. Those without a name, and further ones of one
/// name, are left out: they have been reported already.
pub(super) fn named<'t>(parent: &'t Element, kind: &'t str) -> Vec<(&'t str, &'t Element)> {
    let mut taken = BTreeSet::new();
    parent
        .children_named(kind)
        .filter_map(|part| Some((part.filled_attribute("name")?, part)))
        .filter(|(name, _)| taken.insert(*name))
        .collect()
}

/// Returns the pose of a part in the frame of what it belongs to.
///
/// libsdformat accepts a part that is placed relative to a frame that does not exist; here it stays
/// at its owner, with a warning.
pub(super) fn pose(
    part: &Element,
    owner: &Frame<'_>,
    scope: &Scope<'_>,
    report: &mut Report,
) -> Pose {
    let (pose, relative_to) = value::pose(part, report);
    let Some(relative_to) = relative_to else {
        return pose;
    };
    if relative_to == owner.name {
        return pose;
    }
    if let Some(base) = scope.pose_of(relative_to) {
        return owner.pose.inverse().then(&base).then(&pose);
    }
    let key = part.place().to_string();
    report.warn_once("POSE_RELATIVE_TO_INVALID", &key, part, || {
        format!(
            "<{}> is placed relative to {relative_to:?}, and there is no such frame: its pose is \
             taken as relative to the {} around it",
            part.name, owner.element.name
        )
    });
    pose
}

/// Returns the custom elements (`name:space`) of an element, and those of the given names.
pub(super) fn custom(parent: &Element, kept: &[&str]) -> Vec<Content> {
    let is_kept =
        |child: &&Element| child.name.contains(':') || kept.contains(&child.name.as_str());
    parent
        .children()
        .filter(is_kept)
        .map(Content::from)
        .collect()
}

/// Returns the text of a child unless it is missing or blank.
pub(super) fn text(parent: &Element, name: &str) -> Option<String> {
    parent
        .child(name)
        .map(Element::text)
        .filter(|text| !text.is_empty())
        .map(Cow::into_owned)
}

/// Returns the number in a child, whose infinity is the largest number that there is.
pub(super) fn number(parent: &Element, name: &str, default: f64, report: &mut Report) -> f64 {
    let [number] = value::numbers_or_infinite(parent, name, [default], report);
    number.clamp(f64::MIN, f64::MAX)
}

/// Returns a truth value that is read and judged elsewhere; false where it is missing or wrong.
pub(super) fn flag(parent: &Element, name: &str) -> bool {
    text(parent, name).and_then(|text| value::parse_truth(&text)) == Some(true)
}
