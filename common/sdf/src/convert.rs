//! Upgrades a tree of an older SDF version to what the readers of this crate expect.
//!
//! The changes are those of libsdformat's `sdf/1.5` to `sdf/1.8` conversions that concern physics;
//! versions after 1.8 only added elements.

use std::collections::BTreeSet;

use crate::problem::Problem;
use crate::tree::{Element, Node};
use crate::value::parse_truth;

/// A version of SDF.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Version {
    major: u32,
    minor: u32,
}

/// The oldest version that is read.
const OLDEST: Version = Version { major: 1, minor: 4 };
/// The newest version that is read.
const NEWEST: Version = Version {
    major: 1,
    minor: 12,
};

const fn one(minor: u32) -> Version {
    Version { major: 1, minor }
}

/// Upgrades the tree under an `<sdf>` element in place.
///
/// # Errors
/// When the root is no `<sdf>`, or of a version that is not read.
pub(crate) fn upgrade(root: &mut Element) -> Result<(), Problem> {
    if root.name != "sdf" {
        let message = format!("the root element must be <sdf>, and is <{}>", root.name);
        return Err(root.problem("PARSING_ERROR", message));
    }
    let version = version(root)?;
    if version < one(5) {
        each_joint_axis(root, &mut axis_in_model_frame);
    }
    if version < one(6) {
        for world in root.children_mut().filter(|child| child.name == "world") {
            move_gravity(world);
        }
    }
    if version < one(7) {
        each_joint_axis(root, &mut name_axis_frame);
        rename_pose_frames(root);
        separate_names(root);
    }
    Ok(())
}

fn version(root: &Element) -> Result<Version, Problem> {
    let Some(text) = root.filled_attribute("version") else {
        return Err(root.problem("ATTRIBUTE_MISSING", "<sdf> needs a version attribute"));
    };
    let parsed = text.split_once('.').and_then(|(major, minor)| {
        Some(Version {
            major: major.parse().ok()?,
            minor: minor.parse().ok()?,
        })
    });
    match parsed {
        Some(version) if (OLDEST..=NEWEST).contains(&version) => Ok(version),
        _ => {
            let message = format!("SDF version {text:?} is not read; 1.4 to 1.12 are");
            Err(root.problem("CONVERSION_ERROR", message))
        }
    }
}

fn each_joint_axis(element: &mut Element, change: &mut impl FnMut(&mut Element)) {
    let is_joint = element.name == "joint";
    for child in element.children_mut().filter(|child| !child.is_foreign()) {
        if is_joint && (child.name == "axis" || child.name == "axis2") {
            change(child);
        } else {
            each_joint_axis(child, change);
        }
    }
}

/// Up to 1.4 an axis was given in the model's frame.
fn axis_in_model_frame(axis: &mut Element) {
    if axis.child("use_parent_model_frame").is_none() {
        let element = Element::with_text_at("use_parent_model_frame", "true", axis);
        axis.nodes.push(Node::Element(element));
    }
}

/// Up to 1.6 a flag chose between the model's and the joint's frame.
fn name_axis_frame(axis: &mut Element) {
    let Some(flag) = axis.take_child("use_parent_model_frame") else {
        return;
    };
    if parse_truth(&flag.text()) == Some(true)
        && let Some(xyz) = axis.child_mut("xyz")
    {
        xyz.set_attribute("expressed_in", "__model__");
    }
}

/// Up to 1.5 gravity and the magnetic field stood in `<physics>`.
fn move_gravity(world: &mut Element) {
    for name in ["gravity", "magnetic_field"] {
        let mut moved = None;
        for physics in world.children_mut().filter(|child| child.name == "physics") {
            moved = moved.or(physics.take_child(name));
        }
        if let Some(element) = moved.filter(|_| world.child(name).is_none()) {
            world.nodes.push(Node::Element(element));
        }
    }
}

/// Up to 1.6 `relative_to` was called `frame`.
fn rename_pose_frames(element: &mut Element) {
    if element.name == "pose"
        && let Some(frame) = element.take_attribute("frame")
        && !frame.trim().is_empty()
    {
        element.set_attribute("relative_to", &frame);
    }
    for child in element.children_mut().filter(|child| !child.is_foreign()) {
        rename_pose_frames(child);
    }
}

/// Up to 1.6 a joint or frame could have the name of a link; as in libsdformat it gets a suffix.
fn separate_names(element: &mut Element) {
    if element.name == "model" || element.name == "world" {
        let mut taken: BTreeSet<String> = names_of(element, &["link", "model", "include"]);
        for kind in ["joint", "frame"] {
            let own = names_of(element, &[kind]);
            for child in element.children_mut().filter(|child| child.name == kind) {
                let Some(name) = child.attribute("name") else {
                    continue;
                };
                let mut free = name.to_owned();
                while taken.contains(&free) || (free != name && own.contains(&free)) {
                    free = format!("{free}_{kind}");
                }
                child.set_attribute("name", &free);
            }
            taken.extend(own);
        }
    }
    for child in element.children_mut().filter(|child| !child.is_foreign()) {
        separate_names(child);
    }
}

fn names_of(element: &Element, kinds: &[&str]) -> BTreeSet<String> {
    element
        .children()
        .filter(|child| kinds.contains(&child.name.as_str()))
        .filter_map(|child| child.attribute("name").map(str::to_owned))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::parse;

    fn upgraded(version: &str, content: &str) -> Element {
        let text = format!("<sdf version='{version}'>{content}</sdf>");
        let mut root = parse(&text, "f").unwrap();
        upgrade(&mut root).unwrap();
        root
    }

    fn check_axis(version: &str, flag: &str, expect: Option<&str>) {
        let joint = format!("<joint><axis><xyz>1 0 0</xyz>{flag}</axis></joint>");
        let root = upgraded(version, &format!("<model>{joint}</model>"));
        let xyz = root.descendant(&["model", "joint", "axis", "xyz"]).unwrap();
        assert_eq!(xyz.attribute("expressed_in"), expect, "{version} {flag}");
    }

    #[test]
    fn an_axis_was_given_in_the_models_frame_up_to_1_4_and_by_a_flag_up_to_1_6() {
        let yes = "<use_parent_model_frame>1</use_parent_model_frame>";
        let no = "<use_parent_model_frame>false</use_parent_model_frame>";
        check_axis("1.4", "", Some("__model__"));
        check_axis("1.5", "", None);
        check_axis("1.6", yes, Some("__model__"));
        check_axis("1.6", no, None);
        check_axis("1.7", yes, None);
    }

    #[test]
    fn gravity_leaves_physics_after_1_5() {
        let world = "<world><physics><gravity>0 0 -1</gravity></physics></world>";
        let gravity = |root: &Element| root.descendant(&["world", "gravity"]).map(Element::text);
        assert_eq!(gravity(&upgraded("1.5", world)), Some("0 0 -1".to_owned()));
        assert_eq!(gravity(&upgraded("1.6", world)), None);
    }

    #[test]
    fn pose_frames_are_renamed_outside_plugins_alone() {
        let root = upgraded(
            "1.6",
            "<model><pose frame='a'/><plugin><pose frame='b'/></plugin></model>",
        );
        let pose = |path: &[&str]| root.descendant(path).unwrap().attributes.clone();
        assert_eq!(pose(&["model", "pose"])[0].0, "relative_to");
        assert_eq!(pose(&["model", "plugin", "pose"])[0].0, "frame");
    }

    #[test]
    fn a_joint_named_as_a_link_gets_a_suffix_up_to_1_6() {
        let model = "<model><link name='a'/><joint name='a'/></model>";
        let name = |root: &Element| {
            root.descendant(&["model", "joint"])
                .unwrap()
                .attribute("name")
                .unwrap()
                .to_owned()
        };
        assert_eq!(name(&upgraded("1.6", model)), "a_joint");
        assert_eq!(name(&upgraded("1.7", model)), "a");
    }

    #[test]
    fn other_roots_and_versions_are_refused() {
        for (text, code) in [
            ("<gazebo version='1.0'/>", "PARSING_ERROR"),
            ("<sdf/>", "ATTRIBUTE_MISSING"),
            ("<sdf version='1.13'/>", "CONVERSION_ERROR"),
            ("<sdf version='1.3'/>", "CONVERSION_ERROR"),
            ("<sdf version='100'/>", "CONVERSION_ERROR"),
        ] {
            let problem = upgrade(&mut parse(text, "f").unwrap()).unwrap_err();
            assert_eq!(problem.code, code, "{text}");
        }
    }
}
