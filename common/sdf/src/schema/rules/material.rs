//! `<material>`: scripts and shaders that are complete, after libsdformat's `Material` and `Pbr`.

use super::is_unset;
use crate::report::Report;
use crate::tree::Element;

const SHADERS: [&str; 2] = ["pixel", "vertex"];

const NORMAL_MAP_SHADERS: [&str; 4] = [
    "normal_map_objectspace",
    "normal_map_object_space",
    "normal_map_tangentspace",
    "normal_map_tangent_space",
];

/// Reports what is wrong with the material of an element, if it has one.
pub(super) fn check(parent: &Element, report: &mut Report) {
    let Some(material) = parent.child("material") else {
        return;
    };
    if let Some(script) = material.child("script") {
        if is_unset(script, "uri") {
            report.error("ELEMENT_INVALID", script, "<script> needs a <uri>");
        }
        if is_unset(script, "name") {
            report.error("ELEMENT_MISSING", script, "<script> needs a <name>");
        }
    }
    if let Some(shader) = material.child("shader") {
        let kind = shader.filled_attribute("type").unwrap_or("pixel");
        let needs_map = NORMAL_MAP_SHADERS.contains(&kind);
        if !needs_map && !SHADERS.contains(&kind) {
            let kinds = [&SHADERS[..], &NORMAL_MAP_SHADERS].concat().join(", ");
            let message = format!("{kind:?} is no type of <shader>; there are {kinds}");
            report.error("ELEMENT_INVALID", shader, message);
        } else if needs_map && is_unset(shader, "normal_map") {
            let message = format!("a shader of type {kind} needs a <normal_map>");
            report.error("ELEMENT_MISSING", shader, message);
        }
    }
    for workflow in material.child("pbr").iter().flat_map(|pbr| pbr.children()) {
        if !matches!(workflow.name.as_str(), "metal" | "specular") {
            let name = &workflow.name;
            let message = format!("<pbr> holds <metal> or <specular>, and not <{name}>");
            report.error("ELEMENT_INCORRECT_TYPE", workflow, message);
        }
    }
}
