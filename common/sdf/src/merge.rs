//! `<include merge="true">`: the parts of a model become parts of the model or world around it.
//!
//! As in libsdformat (`insertIncludedElement` in parser.cc) a frame named `_merged__NAME__model__`
//! takes the place of the model's own, and what is neither named nor custom is left behind.

use crate::frames::{MODEL_FRAME, Scope, WORLD_FRAME};
use crate::pose::Pose;
use crate::report::Report;
use crate::tree::{Element, Node};
use crate::value;

/// Returns the parts of a model as they stand in its parent; none where they cannot, which is
/// reported.
pub(crate) fn into_parent(
    model: Element,
    include: &Element,
    parent: &str,
    report: &mut Report,
) -> Vec<Node> {
    let mut refuse = |message: &str| {
        report.error("MERGE_INCLUDE_UNSUPPORTED", include, message);
        Vec::new()
    };
    if model.name != "model" {
        return refuse("only models can be merged");
    }
    if parent == "sdf" {
        return refuse("a model can be merged into a model or world alone");
    }
    let is_world = parent == "world";
    if is_world && (model.child("link").is_some() || model.child("gripper").is_some()) {
        return refuse("a model with links or grippers cannot be merged into a world");
    }
    let own_frame = if is_world { WORLD_FRAME } else { MODEL_FRAME };
    let Some(proxy) = proxy_frame(&model, own_frame, report) else {
        return Vec::new();
    };
    let name = proxy.attribute("name").unwrap_or_default().to_owned();
    let parts = model.nodes.into_iter().filter_map(|node| match node {
        Node::Element(part) => adapted(part, &name).map(Node::Element),
        Node::Text(_) => None,
    });
    std::iter::once(Node::Element(proxy)).chain(parts).collect()
}

/// Makes the frame that stands for the model's own; none where the model's frames are wrong.
fn proxy_frame(model: &Element, own_frame: &str, report: &mut Report) -> Option<Element> {
    let mut own_report = Report::default();
    let scope = Scope::build(model, &mut own_report);
    let (pose, relative_to) = value::pose(model, &mut own_report);
    let placed = match model.filled_attribute("placement_frame") {
        None => Some(pose),
        Some(placement) => {
            let placed = scope.pose_of(placement);
            if placed.is_none() {
                let message = format!("the model has no frame {placement:?} to be placed by");
                own_report.error("POSE_RELATIVE_TO_INVALID", model, message);
            }
            placed.map(|placed| pose.then(&placed.inverse()))
        }
    };
    let is_fine = own_report.errors.is_empty();
    report.errors.append(&mut own_report.errors);
    let placed = placed.filter(|_| is_fine)?;

    let mut frame = Element::new_at("frame", model);
    let name = model.attribute("name").unwrap_or_default();
    frame.set_attribute("name", &format!("_merged__{name}__model__"));
    if let Some(body) = scope.canonical_name() {
        frame.set_attribute("attached_to", &body);
    }
    let mut element = pose_element(&placed, model);
    element.set_attribute("relative_to", relative_to.unwrap_or(own_frame));
    frame.nodes.push(Node::Element(element));
    Some(frame)
}

/// Makes a `<pose>` that is read as this very pose.
fn pose_element(pose: &Pose, place: &Element) -> Element {
    let numbers = pose.position.iter().chain(&pose.orientation_xyzw);
    let words: Vec<_> = numbers.map(f64::to_string).collect();
    let mut element = Element::with_text_at("pose", &words.join(" "), place);
    element.set_attribute("rotation_format", "quat_xyzw");
    element
}

/// Lets a part of a merged model refer to the proxy; none for what is left behind. References
/// deeper in it, as of a `<collision>`, keep their words, which then mean the parent's frame.
fn adapted(mut part: Element, proxy: &str) -> Option<Element> {
    let replace = |element: &mut Element, attribute: &str, or_missing: bool| {
        let is_meant = match element.filled_attribute(attribute) {
            None => or_missing,
            Some(name) => name == MODEL_FRAME,
        };
        if is_meant {
            element.set_attribute(attribute, proxy);
        }
    };
    match part.name.as_str() {
        "link" | "model" => {
            if part.child("pose").is_none() {
                let pose = Element::new_at("pose", &part);
                part.nodes.push(Node::Element(pose));
            }
            let pose = part.child_mut("pose").expect("it was put there if missing");
            replace(pose, "relative_to", true);
        }
        "frame" => {
            replace(&mut part, "attached_to", true);
            if let Some(pose) = part.child_mut("pose") {
                replace(pose, "relative_to", false);
            }
        }
        "joint" => {
            for child in part.children_mut() {
                match child.name.as_str() {
                    "pose" => replace(child, "relative_to", false),
                    "parent" | "child" if child.text() == MODEL_FRAME => {
                        child.nodes = vec![Node::Text(proxy.into())];
                    }
                    "axis" | "axis2" => {
                        if let Some(xyz) = child.child_mut("xyz") {
                            replace(xyz, "expressed_in", false);
                        }
                    }
                    _ => {}
                }
            }
        }
        "gripper" | "plugin" => {}
        name if name.contains(':') => {}
        _ => return None,
    }
    Some(part)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frames::Body;
    use crate::tree::parse;

    const ARM: &str = "<link name='a'/>\
         <link name='b'><pose relative_to='__model__'>1 0 0 0 0 0</pose></link>\
         <frame name='f'><pose>2 0 0 0 0 0</pose></frame><static>true</static>";

    fn check(model: &str, expect: [(&str, [f64; 3], &str); 3]) {
        let mut report = Report::default();
        let mut robot = parse("<model name='robot'><link name='base'/></model>", "f").unwrap();
        let model = parse(model, "f").unwrap();
        let merged = into_parent(model, &robot, "model", &mut report);
        robot.nodes.extend(merged);
        let scope = Scope::build(&robot, &mut report);
        assert!(report.errors.is_empty(), "{:?}", report.errors);
        for (name, position, body) in expect {
            let found = scope.pose_of(name).unwrap().position;
            for (a, b) in found.iter().zip(position) {
                assert!((a - b).abs() < 1e-12, "{name}: {found:?}");
            }
            let body = Some(Body::Link(body.to_owned()));
            assert_eq!(scope.body_of(name), body, "{name}");
        }
        assert!(robot.child("static").is_none());
    }

    #[test]
    fn merged_links_stand_where_the_include_puts_them() {
        check(
            &format!("<model name='arm'><pose>0 0 5 0 0 0</pose>{ARM}</model>"),
            [
                ("a", [0.0, 0.0, 5.0], "a"),
                ("b", [1.0, 0.0, 5.0], "b"),
                ("f", [2.0, 0.0, 5.0], "a"),
            ],
        );
        check(
            &format!(
                "<model name='arm' placement_frame='b'><pose>0 0 5 0 0 3.141592653589793</pose>\
                 {ARM}</model>"
            ),
            [
                ("a", [1.0, 0.0, 5.0], "a"),
                ("b", [0.0, 0.0, 5.0], "b"),
                ("_merged__arm__model__", [1.0, 0.0, 5.0], "a"),
            ],
        );
    }

    fn check_refused(text: &str, parent: &str, code: &str) {
        let element = parse(text, "f").unwrap();
        let mut report = Report::default();
        let parts = into_parent(element.clone(), &element, parent, &mut report);
        assert!(parts.is_empty(), "{text}");
        assert_eq!(report.errors[0].code, code, "{text}");
    }

    #[test]
    fn lights_and_links_in_worlds_and_broken_models_cannot_be_merged() {
        let unsupported = "MERGE_INCLUDE_UNSUPPORTED";
        check_refused("<light name='l'/>", "model", unsupported);
        let link = "<model name='m'><link name='l'/></model>";
        check_refused(link, "world", unsupported);
        check_refused(link, "sdf", unsupported);
        check_refused("<model name='m'/>", "model", "MODEL_WITHOUT_LINK");
        let placed = "<model name='m' placement_frame='f'><link name='l'/></model>";
        check_refused(placed, "model", "POSE_RELATIVE_TO_INVALID");
    }
}
