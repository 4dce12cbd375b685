//! Checks of libsdformat's classes beyond the specification: types of sensors, lights and
//! materials, names that are reserved or given twice.
//!
//! Only what libsdformat loads is judged: models in worlds and models, not those of a
//! `<population>`. Names of links, joints, frames and models belong to [`crate::frames`].

mod material;
mod sensor;
mod world;

use std::collections::BTreeSet;

use crate::convert;
use crate::report::Report;
use crate::tree::Element;
use crate::value;

/// Reports what is wrong with a tree that has its includes; `is_changed` if it has any.
pub(crate) fn check(root: &Element, is_changed: bool, report: &mut Report) {
    if is_changed && convert::has_scopes(root) {
        super::check::refuse_scoped_names(root, report);
    }
    for child in root.children() {
        match child.name.as_str() {
            "world" => world::check(child, report),
            "model" => model(child, report),
            "light" => light(child, report),
            "actor" => actor(child, report),
            _ => {}
        }
    }
}

fn model(element: &Element, report: &mut Report) {
    for child in element.children() {
        match child.name.as_str() {
            "model" => model(child, report),
            "link" => link(child, report),
            "joint" => joint(child, report),
            _ => {}
        }
    }
}

fn actor(element: &Element, report: &mut Report) {
    unique_names(element, "animation", "", report);
    for child in element.children() {
        match child.name.as_str() {
            "link" => link(child, report),
            "joint" => joint(child, report),
            _ => {}
        }
    }
}

fn joint(element: &Element, report: &mut Report) {
    unique_names(element, "sensor", "", report);
    for sensor in element.children_named("sensor") {
        sensor::check(sensor, report);
    }
}

fn link(element: &Element, report: &mut Report) {
    for kind in [
        "visual",
        "collision",
        "light",
        "sensor",
        "particle_emitter",
        "projector",
    ] {
        unique_names(element, kind, "", report);
    }
    for child in element.children() {
        match child.name.as_str() {
            "visual" => {
                free_name(child, report);
                geometry(child, report);
                material::check(child, report);
            }
            "collision" => {
                free_name(child, report);
                geometry(child, report);
            }
            "light" => light(child, report),
            "sensor" => sensor::check(child, report),
            "particle_emitter" => particle_emitter(child, report),
            "projector" => free_name(child, report),
            _ => {}
        }
    }
}

fn light(element: &Element, report: &mut Report) {
    free_name(element, report);
    let kinds = ["point", "spot", "directional"];
    attribute_is_one_of(element, "type", &kinds, report);
}

fn particle_emitter(element: &Element, report: &mut Report) {
    free_name(element, report);
    let kinds = ["point", "box", "cylinder", "ellipsoid"];
    attribute_is_one_of(element, "type", &kinds, report);
    material::check(element, report);
}

/// The mesh of a geometry, if that is its shape, names the submesh that it wants.
fn geometry(parent: &Element, report: &mut Report) {
    let before_mesh = [
        "box",
        "capsule",
        "cone",
        "cylinder",
        "ellipsoid",
        "plane",
        "sphere",
    ];
    let Some(geometry) = parent.child("geometry") else {
        return;
    };
    if before_mesh
        .iter()
        .any(|name| geometry.child(name).is_some())
    {
        return;
    }
    let submesh = geometry
        .child("mesh")
        .and_then(|mesh| mesh.child("submesh"));
    if let Some(submesh) = submesh
        && is_unset(submesh, "name")
    {
        report.error("ELEMENT_MISSING", submesh, "<submesh> needs a <name>");
    }
}

/// Reports a name that is reserved.
fn free_name(element: &Element, report: &mut Report) {
    if let Some(name) = element.attribute("name") {
        value::refuse_reserved_name(element, name, report);
    }
}

/// Reports children of one kind that share a name; `default` is the name of those without one.
fn unique_names(parent: &Element, kind: &str, default: &str, report: &mut Report) {
    let mut seen = BTreeSet::new();
    for child in parent.children_named(kind) {
        let name = child.filled_attribute("name").unwrap_or(default);
        if !name.is_empty() && !seen.insert(name) {
            let message = format!(
                "two <{kind}>s of one <{}> are named {name:?}; rename one",
                parent.name
            );
            report.error("DUPLICATE_NAME", child, message);
        }
    }
}

fn attribute_is_one_of(element: &Element, name: &str, kinds: &[&str], report: &mut Report) {
    // A missing one has been told of already.
    let Some(text) = element.filled_attribute(name) else {
        return;
    };
    if !kinds.contains(&text) {
        let message = format!(
            "{text:?} is no {name} of <{}>; there are {}",
            element.name,
            kinds.join(", ")
        );
        report.error("ATTRIBUTE_INVALID", element, message);
    }
}

/// Reports the text of a child that is none of those that there are.
fn text_is_one_of(parent: &Element, name: &str, kinds: &[&str], report: &mut Report) {
    let Some(child) = parent.child(name) else {
        return;
    };
    let text = child.text();
    if !text.is_empty() && !kinds.contains(&&*text) {
        let message = format!("{text:?} is no <{name}>; there are {}", kinds.join(", "));
        report.error("ELEMENT_INVALID", child, message);
    }
}

/// Tells whether a child is missing, empty, or has the text that stands for nothing.
fn is_unset(parent: &Element, name: &str) -> bool {
    let text = parent.child(name).map(Element::text).unwrap_or_default();
    text.is_empty() || text == "__default__"
}

#[cfg(test)]
mod tests;
