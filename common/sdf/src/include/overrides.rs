//! Changes of an `<include>` to its entity: name, pose, placement, static, plugins.

use crate::report::Report;
use crate::tree::{Element, Node};
use crate::value::parse_truth;

/// The name that nothing may refer to.
const ROOT_FRAME: &str = "__root__";

/// Lets an `<include>` have the last word on its entity.
pub(super) fn apply(entity: &mut Element, include: &Element, report: &mut Report) {
    if let Some(name) = text_of(include, "name") {
        entity.set_attribute("name", &name);
    }
    // An error found in the model is shown at its own line, the entity itself at the include.
    (entity.file, entity.line, entity.column) =
        (include.file.clone(), include.line, include.column);
    if let Some(pose) = include.child("pose") {
        entity.replace_child(pose.clone());
    }
    if entity.name == "model" {
        if let Some(flag) = include.child("static") {
            entity.replace_child(flag.clone());
        }
        place(entity, include, report);
    }
    if entity.name != "light" {
        for plugin in include.children_named("plugin") {
            entity.nodes.push(Node::Element(plugin.clone()));
        }
    }
}

/// Tells whether an entity's parts are to become parts of what is around its `<include>`.
pub(super) fn is_merged(include: &Element) -> bool {
    include.attribute("merge").and_then(parse_truth) == Some(true)
}

fn place(model: &mut Element, include: &Element, report: &mut Report) {
    let Some(frame) = include.child("placement_frame") else {
        return;
    };
    if include.child("pose").is_none() {
        let message = "<placement_frame> says what <pose> places, and there is no <pose>";
        report.error("MODEL_PLACEMENT_FRAME_INVALID", include, message);
        return;
    }
    let name = frame.text();
    if name == ROOT_FRAME {
        let message = format!("{ROOT_FRAME:?} is reserved and cannot place a model");
        report.error("RESERVED_NAME", frame, message);
        return;
    }
    model.set_attribute("placement_frame", &name);
}

fn text_of(include: &Element, name: &str) -> Option<String> {
    let text = include.child(name)?.text();
    (!text.is_empty()).then(|| text.into_owned())
}
