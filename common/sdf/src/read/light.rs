//! `<light>`: what worlds show and physics does not touch.

use super::part;
use crate::frames::{Frame, Scope};
use crate::report::Report;
use crate::tree::Element;
use crate::world::{Content, Light};

/// Reads the lights of a world or link; poses are in the frame of `owner`.
pub(super) fn read_all(
    parent: &Element,
    owner: &Frame<'_>,
    scope: &Scope<'_>,
    report: &mut Report,
) -> Vec<Light> {
    let mut lights = Vec::new();
    for (name, light) in part::named(parent, "light") {
        let kind = light.filled_attribute("type").unwrap_or("point");
        lights.push(Light {
            name: name.to_owned(),
            kind: kind.to_owned(),
            pose: part::pose(light, owner, scope, report),
            content: Content::from(light),
        });
    }
    lights
}
