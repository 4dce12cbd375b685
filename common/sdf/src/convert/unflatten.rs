//! Up to 1.7 included models were written flat, their parts named `model::part`; since 1.8 they are
//! nested models. After libsdformat's `Converter::Unflatten`.

use std::collections::BTreeMap;

use crate::tree::{Element, Node};

/// Separator between the name of a model and that of its part.
const SCOPE: &str = "::";

/// Kinds of parts whose names may hold a model's.
const PARTS: [&str; 5] = ["frame", "joint", "link", "model", "gripper"];

/// Turns parts of a model that are named `model::part` into nested models.
pub(super) fn unflatten(model: &mut Element) {
    let mut orders: BTreeMap<String, usize> = BTreeMap::new();
    for child in model.children_mut() {
        let is_part = PARTS.contains(&child.name.as_str());
        let Some(name) = child.attribute("name").filter(|_| is_part) else {
            continue;
        };
        if let Some((first, _)) = name.split_once(SCOPE) {
            let order = orders.len();
            orders.entry(first.to_owned()).or_insert(order);
        } else if child.name == "model" {
            // libsdformat looks no further once it has met a nested model.
            unflatten(child);
            break;
        }
    }
    if orders.is_empty() {
        return;
    }
    let mut groups: BTreeMap<String, Group> = BTreeMap::new();
    for (name, order) in orders {
        let mut nested = Element::new_at("model", model);
        nested.set_attribute("name", &name);
        groups.insert(name, Group { order, nested });
    }
    for node in std::mem::take(&mut model.nodes) {
        match node {
            Node::Element(child) if PARTS.contains(&child.name.as_str()) => {
                place(child, model, &mut groups);
            }
            Node::Element(_) | Node::Text(_) => model.nodes.push(node),
        }
    }
    let mut groups: Vec<Group> = groups.into_values().collect();
    groups.sort_by_key(|group| group.order);
    for mut group in groups {
        unflatten(&mut group.nested);
        model.nodes.push(Node::Element(group.nested));
    }
}

/// A model to be nested, and its place among them.
struct Group {
    order: usize,
    nested: Element,
}

/// Puts a part where it belongs: in one of the new models, or back.
fn place(mut part: Element, model: &mut Element, groups: &mut BTreeMap<String, Group>) {
    let mut first = scope_of(part.attribute("name")).map(str::to_owned);
    if part.name == "gripper" {
        // A gripper may have kept its name, but not those of its links.
        let links = part.children_named("gripper_link").map(Element::text);
        let scopes: Option<Vec<String>> = links
            .map(|text| scope_of(Some(&text)).map(str::to_owned))
            .collect();
        first = match scopes.as_deref() {
            Some([scope, rest @ ..]) if rest.iter().all(|other| other == scope) => {
                Some(scope.clone())
            }
            Some([]) => first,
            _ => None,
        };
    }
    let Some(group) = first.and_then(|first| groups.get_mut(&first)) else {
        model.nodes.push(Node::Element(part));
        return;
    };
    let scope = group
        .nested
        .attribute("name")
        .unwrap_or_default()
        .to_owned();
    strip_attribute(&mut part, "name", &scope);
    strip_pose(&mut part, &scope);
    match part.name.as_str() {
        "frame" => {
            strip_attribute(&mut part, "attached_to", &scope);
            if part.attribute("name") == Some("__model__") {
                take_model_frame(part, &mut group.nested);
                return;
            }
        }
        "link" => {
            for child in part.children_mut() {
                strip_pose(child, &scope);
            }
        }
        "joint" => strip_joint(&mut part, &scope),
        "gripper" => {
            for child in part.children_mut() {
                if matches!(child.name.as_str(), "gripper_link" | "palm_link") {
                    strip_text(child, &scope);
                }
            }
        }
        _ => {}
    }
    group.nested.nodes.push(Node::Element(part));
}

/// The frame `__model__` stood for a model's own pose and link.
fn take_model_frame(mut frame: Element, nested: &mut Element) {
    if let Some(link) = frame.take_attribute("attached_to") {
        nested.set_attribute("canonical_link", &link);
    }
    nested
        .nodes
        .extend(frame.take_child("pose").map(Node::Element));
}

fn strip_joint(joint: &mut Element, scope: &str) {
    for child in joint.children_mut() {
        match child.name.as_str() {
            "parent" | "child" => strip_text(child, scope),
            "axis" | "axis2" => {
                if let Some(xyz) = child.child_mut("xyz") {
                    strip_attribute(xyz, "expressed_in", scope);
                }
            }
            "sensor" => strip_pose(child, scope),
            _ => {}
        }
    }
}

/// Strips the frame of an element's pose, and of the camera's in it.
fn strip_pose(element: &mut Element, scope: &str) {
    if let Some(pose) = element.child_mut("pose") {
        strip_attribute(pose, "relative_to", scope);
    }
    if let Some(pose) = element
        .child_mut("camera")
        .and_then(|camera| camera.child_mut("pose"))
    {
        strip_attribute(pose, "relative_to", scope);
    }
}

fn strip_attribute(element: &mut Element, name: &str, scope: &str) {
    let stripped = element
        .attribute(name)
        .and_then(|value| strip(value, scope))
        .map(str::to_owned);
    if let Some(value) = stripped {
        element.set_attribute(name, &value);
    }
}

fn strip_text(element: &mut Element, scope: &str) {
    let text = element.text();
    if let Some(stripped) = strip(&text, scope) {
        element.nodes = vec![Node::Text(stripped.into())];
    }
}

fn strip<'t>(name: &'t str, scope: &str) -> Option<&'t str> {
    name.strip_prefix(scope)?.strip_prefix(SCOPE)
}

fn scope_of(name: Option<&str>) -> Option<&str> {
    Some(name?.split_once(SCOPE)?.0)
}
