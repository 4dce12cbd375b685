//! `<include merge="true">`: the parts of a model become parts of the model around it.
//!
//! As in libsdformat a frame named `_merged__NAME__model__` takes the place of the model's own.

use crate::problem::Problem;
use crate::tree::{Element, Node};

/// Returns the parts of a model as they stand in its parent.
///
/// # Errors
/// When what is included is no model, or is placed by one of its frames.
pub(crate) fn into_parent(
    mut model: Element,
    include: &Element,
    parent: &str,
) -> Result<Vec<Node>, Problem> {
    let refuse = |message: &str| include.problem("MERGE_INCLUDE_UNSUPPORTED", message);
    if model.name != "model" {
        return Err(refuse("only models can be merged"));
    }
    if model.filled_attribute("placement_frame").is_some() {
        return Err(refuse(
            "a merged model cannot be placed by a placement_frame",
        ));
    }
    if parent == "world" && (model.child("link").is_some() || model.child("joint").is_some()) {
        return Err(refuse(
            "a model with links or joints cannot be merged into a world",
        ));
    }
    let proxy = format!(
        "_merged__{}__model__",
        model.attribute("name").unwrap_or_default()
    );
    let mut nodes = vec![Node::Element(proxy_frame(&mut model, &proxy, parent))];
    for node in model.nodes {
        let Node::Element(mut part) = node else {
            continue;
        };
        match part.name.as_str() {
            "link" | "model" => anchor(&mut part, &proxy),
            "frame" if part.filled_attribute("attached_to").is_none() => {
                part.set_attribute("attached_to", &proxy);
            }
            "frame" | "gripper" | "joint" | "plugin" => {}
            _ => continue,
        }
        rename_references(&mut part, &proxy);
        nodes.push(Node::Element(part));
    }
    Ok(nodes)
}

fn proxy_frame(model: &mut Element, proxy: &str, parent: &str) -> Element {
    let mut frame = Element::new_at("frame", model);
    frame.set_attribute("name", proxy);
    let explicit = model.filled_attribute("canonical_link").map(str::to_owned);
    let first = model.child("link").or(model.child("model"));
    let first = first
        .and_then(|part| part.attribute("name"))
        .map(str::to_owned);
    if let Some(body) = explicit.or(first) {
        frame.set_attribute("attached_to", &body);
    }
    let mut pose = model
        .take_child("pose")
        .unwrap_or_else(|| Element::new_at("pose", model));
    if pose.filled_attribute("relative_to").is_none() {
        let own_frame = if parent == "world" {
            "world"
        } else {
            "__model__"
        };
        pose.set_attribute("relative_to", own_frame);
    }
    frame.nodes.push(Node::Element(pose));
    frame
}

fn anchor(part: &mut Element, proxy: &str) {
    if part.child("pose").is_none() {
        let pose = Element::new_at("pose", part);
        part.nodes.push(Node::Element(pose));
    }
    if let Some(pose) = part.child_mut("pose")
        && pose.filled_attribute("relative_to").is_none()
    {
        pose.set_attribute("relative_to", proxy);
    }
}

/// Lets what refers to the merged model's own frame refer to the proxy.
fn rename_references(element: &mut Element, proxy: &str) {
    for attribute in ["relative_to", "attached_to", "expressed_in"] {
        if element.attribute(attribute) == Some("__model__") {
            element.set_attribute(attribute, proxy);
        }
    }
    if matches!(element.name.as_str(), "parent" | "child") && element.text() == "__model__" {
        element.nodes = vec![Node::Text(proxy.to_owned())];
    }
    // A nested model has a frame of its own by that name.
    let is_model = element.name == "model";
    for child in element.children_mut().filter(|child| !child.is_foreign()) {
        if !is_model || child.name == "pose" {
            rename_references(child, proxy);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frames::{Body, Scope};
    use crate::report::Report;
    use crate::tree::parse;

    #[test]
    fn merged_links_stand_where_the_include_puts_them() {
        let model = parse(
            "<model name='arm'><pose>0 0 5 0 0 0</pose><link name='a'/>\
             <link name='b'><pose relative_to='__model__'>1 0 0 0 0 0</pose></link>\
             <frame name='f'><pose>2 0 0 0 0 0</pose></frame></model>",
            "f",
        );
        let mut robot = parse("<model name='robot'><link name='base'/></model>", "f").unwrap();
        let merged = into_parent(model.unwrap(), &robot, "model").unwrap();
        robot.nodes.extend(merged);
        let mut report = Report::default();
        let scope = Scope::build(&robot, &mut report);
        assert!(report.errors.is_empty(), "{:?}", report.errors);
        for (name, position, body) in [
            ("a", [0.0, 0.0, 5.0], "a"),
            ("b", [1.0, 0.0, 5.0], "b"),
            ("f", [2.0, 0.0, 5.0], "a"),
        ] {
            assert_eq!(scope.pose_of(name).unwrap().position, position, "{name}");
            assert_eq!(
                scope.body_of(name),
                Some(Body::Link(body.to_owned())),
                "{name}"
            );
        }
    }

    #[test]
    fn lights_and_placed_models_cannot_be_merged() {
        for text in ["<light name='l'/>", "<model name='m' placement_frame='f'/>"] {
            let element = parse(text, "f").unwrap();
            let problem = into_parent(element.clone(), &element, "model").unwrap_err();
            assert_eq!(problem.code, "MERGE_INCLUDE_UNSUPPORTED", "{text}");
        }
    }
}
