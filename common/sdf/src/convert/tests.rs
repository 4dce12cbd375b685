//! Upgrades step by step, on small trees.

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
