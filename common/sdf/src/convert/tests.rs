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
    let gravity = |root: &Element| {
        root.descendant(&["world", "gravity"])
            .map(|found| found.text().into_owned())
    };
    assert_eq!(gravity(&upgraded("1.5", world)), Some("0 0 -1".into()));
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
fn other_roots_and_versions_are_refused() {
    for (text, code) in [
        ("<gazebo version='1.0'/>", "PARSING_ERROR"),
        ("<sdf/>", "ATTRIBUTE_MISSING"),
        ("<sdf version='1.13'/>", "CONVERSION_ERROR"),
        ("<sdf version='1.1'/>", "CONVERSION_ERROR"),
        ("<sdf version=' 1.9 '/>", "CONVERSION_ERROR"),
        ("<sdf version=''/>", "CONVERSION_ERROR"),
        ("<sdf version='100'/>", "CONVERSION_ERROR"),
    ] {
        let problem = upgrade(&mut parse(text, "f").unwrap()).unwrap_err();
        assert_eq!(problem.code, code, "{text}");
    }
}

#[test]
fn step_sizes_leave_the_engines_after_1_3() {
    let physics = "<world><physics><update_rate>9</update_rate><ode><solver><dt>0.5</dt></solver>\
                   </ode></physics></world>";
    let root = upgraded("1.3", physics);
    let text = |name: &str| {
        let path = ["world", "physics", name];
        root.descendant(&path).map(Element::text)
    };
    assert_eq!(text("real_time_update_rate").as_deref(), Some("9"));
    assert_eq!(text("max_step_size").as_deref(), Some("0.5"));
}

#[test]
fn attributes_of_1_0_become_elements() {
    let link = "<link name='l'><origin pose='1 2 3 0 0 0'/><inertial mass='2'/><collision \
                name='c'><geometry><box size='1 2 3'/></geometry></collision></link>";
    let root = upgraded(
        "1.0",
        &format!("<model name='m' static='true'>{link}</model>"),
    );
    let text = |path: &[&str]| root.descendant(path).unwrap().text();
    assert_eq!(text(&["model", "static"]), "true");
    assert_eq!(text(&["model", "link", "pose"]), "1 2 3 0 0 0");
    assert_eq!(text(&["model", "link", "inertial", "mass"]), "2");
    let size = ["model", "link", "collision", "geometry", "box", "size"];
    assert_eq!(text(&size), "1 2 3");
}

#[test]
fn the_noise_of_an_imu_is_split_per_axis_after_1_5() {
    let noise = "<noise><type>gaussian</type><rate><mean>1</mean></rate><accel><stddev>2</stddev>\
                 </accel></noise>";
    let sensor = format!("<sensor><imu>{noise}</imu></sensor>");
    let root = upgraded("1.5", &format!("<model><link>{sensor}</link></model>"));
    let imu = root
        .descendant(&["model", "link", "sensor", "imu"])
        .unwrap();
    assert!(imu.child("noise").is_none());
    for (path, expect) in [
        (["angular_velocity", "y", "noise", "mean"], "1"),
        (["linear_acceleration", "z", "noise", "stddev"], "2"),
    ] {
        assert_eq!(imu.descendant(path.as_slice()).unwrap().text(), expect);
        let noise = imu.descendant(&path[..3]).unwrap();
        assert_eq!(noise.attribute("type"), Some("gaussian"));
    }
}

#[test]
fn flat_parts_become_nested_models_after_1_7() {
    let flat = "<frame name='a::__model__' attached_to='a::l'><pose relative_to='f'>1 0 0 0 0 0\
                </pose></frame><link name='base'/><link name='a::l'><pose relative_to='a::x'/>\
                </link><link name='a::b::k'/><joint name='a::j'><parent>a::l</parent>\
                <child>a::b::k</child><axis><xyz expressed_in='a::l'/></axis></joint>\
                <link name='armature'/>";
    let world = format!("<world><model name='m'>{flat}</model></world>");
    let root = upgraded("1.7", &world);
    let model = root.descendant(&["world", "model"]).unwrap();
    let names: Vec<_> = model
        .children()
        .filter_map(|c| c.attribute("name"))
        .collect();
    assert_eq!(names, ["base", "armature", "a"]);
    let nested = model.child("model").unwrap();
    assert_eq!(nested.attribute("canonical_link"), Some("l"));
    assert_eq!(
        nested.child("pose").unwrap().attribute("relative_to"),
        Some("f")
    );
    let link = nested.child("link").unwrap();
    assert_eq!(link.attribute("name"), Some("l"));
    assert_eq!(
        link.child("pose").unwrap().attribute("relative_to"),
        Some("x")
    );
    let joint = nested.child("joint").unwrap();
    assert_eq!(joint.child("child").unwrap().text(), "b::k");
    let xyz = joint.descendant(&["axis", "xyz"]).unwrap();
    assert_eq!(xyz.attribute("expressed_in"), Some("l"));
    let deep = nested.child("model").unwrap();
    assert_eq!(deep.child("link").unwrap().attribute("name"), Some("k"));
    let root = upgraded("1.8", &world);
    assert!(root.descendant(&["world", "model", "model"]).is_none());
    let root = upgraded("1.7", &format!("<model name='m'>{flat}</model>"));
    assert!(root.descendant(&["model", "model"]).is_none());
}

#[test]
fn a_gripper_goes_where_its_links_are() {
    let gripper = "<gripper name='g'><gripper_link>a::l</gripper_link><palm_link>a::p</palm_link>\
                   </gripper><gripper name='h'><gripper_link>l</gripper_link></gripper>";
    let model = format!("<model name='m'><link name='a::l'/>{gripper}</model>");
    let root = upgraded("1.7", &format!("<world>{model}</world>"));
    let model = root.descendant(&["world", "model"]).unwrap();
    assert_eq!(model.child("gripper").unwrap().attribute("name"), Some("h"));
    let nested = model.descendant(&["model", "gripper"]).unwrap();
    assert_eq!(nested.child("gripper_link").unwrap().text(), "l");
    assert_eq!(nested.child("palm_link").unwrap().text(), "p");
}

#[test]
fn the_first_states_of_1_11_are_renamed() {
    let state = "<state><model><link/><link/></model><light/></state>";
    let root = upgraded("1.11", &format!("<world>{state}</world>"));
    let state = root.descendant(&["world", "state"]).unwrap();
    assert!(state.child("light_state").is_some());
    assert!(state.descendant(&["model_state", "link_state"]).is_some());
    assert!(state.descendant(&["model_state", "link"]).is_some());
}
