//! `<material>`: its colour; the rest is for viewers and only checked.

use super::part;
use crate::report::Report;
use crate::tree::Element;

/// Types of shaders; those of the second half need a normal map.
const SHADERS: [&str; 6] = [
    "pixel",
    "vertex",
    "normal_map_objectspace",
    "normal_map_object_space",
    "normal_map_tangentspace",
    "normal_map_tangent_space",
];

/// Returns the diffuse colour red, green, blue, alpha, if the material names one.
pub(super) fn color(material: &Element) -> Option<[f64; 4]> {
    let text = part::text(material, "diffuse")?;
    let mut color = [0.0, 0.0, 0.0, 1.0];
    for (value, word) in color.iter_mut().zip(text.split_whitespace()) {
        let number: f64 = word.parse().ok()?;
        *value = number.clamp(0.0, 1.0);
    }
    Some(color)
}

/// Checks what libsdformat refuses in a material.
pub(super) fn check(material: &Element, report: &mut Report) {
    if let Some(script) = material.child("script") {
        for (name, code) in [("uri", "ELEMENT_INVALID"), ("name", "ELEMENT_MISSING")] {
            if part::text(script, name).is_none_or(|text| text == "__default__") {
                let message = format!("the <script> of a material needs a <{name}>");
                report.error(code, script, message);
            }
        }
    }
    if let Some(shader) = material.child("shader") {
        check_shader(shader, report);
    }
    let workflows = material.child("pbr").map(Element::children);
    for workflow in workflows.into_iter().flatten() {
        if !matches!(workflow.name.as_str(), "metal" | "specular") {
            let message = format!(
                "<pbr> holds <metal> or <specular>, and not <{}>",
                workflow.name
            );
            report.error("ELEMENT_INCORRECT_TYPE", workflow, message);
        }
    }
}

fn check_shader(shader: &Element, report: &mut Report) {
    let kind = shader.filled_attribute("type").unwrap_or("pixel");
    if !SHADERS.contains(&kind) {
        let message = format!("a shader is one of {}, not {kind:?}", SHADERS.join(", "));
        report.error("ELEMENT_INVALID", shader, message);
    } else if kind.starts_with("normal_map")
        && part::text(shader, "normal_map").is_none_or(|text| text == "__default__")
    {
        let message = format!("a shader of the type {kind:?} needs a <normal_map>");
        report.error("ELEMENT_MISSING", shader, message);
    }
}
