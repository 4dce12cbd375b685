//! Robots as the SDF that they become: one tree a case, and what is refused.

use std::fmt::Write;

use expect_test::{Expect, expect};

use super::*;
use crate::tree::Node;

const INERTIAL: &str = "<inertial><mass value='2'/>\
    <inertia ixx='1' ixy='0' ixz='0' iyy='1' iyz='0' izz='1'/></inertial>";

/// Two links, the second of which hangs on the first by a joint of some type.
fn pair(kind: &str, in_joint: &str, rest: &str) -> String {
    format!(
        "<robot name='r'><link name='a'>{INERTIAL}</link><link name='b'>{INERTIAL}</link>\
         <joint name='j' type='{kind}'><parent link='a'/><child link='b'/>\
         <origin xyz='1 2 3'/>{in_joint}</joint>{rest}</robot>"
    )
}

fn read(text: &str) -> (Result<Element, Problem>, Report) {
    let mut report = Report::default();
    let root = crate::tree::parse(text, "robot.urdf").unwrap();
    (convert(&root, &mut report), report)
}

/// Prints elements as paths with attributes and text, without inertials.
fn list(element: &Element, indent: usize, lines: &mut String) {
    if element.name == "inertial" {
        return;
    }
    let mut head = element.name.clone();
    for (name, value) in &element.attributes {
        write!(head, " {name}={value}").unwrap();
    }
    let text = element.text();
    let text = if text.is_empty() {
        String::new()
    } else {
        format!(": {text}")
    };
    writeln!(lines, "{:indent$}{head}{text}", "").unwrap();
    for node in &element.nodes {
        if let Node::Element(child) = node {
            list(child, indent + 2, lines);
        }
    }
}

fn check(text: &str, expect: &Expect) {
    let (root, report) = read(text);
    let mut lines = String::new();
    list(root.unwrap().child("model").unwrap(), 0, &mut lines);
    for warning in &report.warnings {
        writeln!(lines, "{} at {}", warning.code, warning.place).unwrap();
    }
    expect.assert_eq(&lines);
}

fn check_refused(text: &str, code: &str, part: &str) {
    let problem = read(text).0.unwrap_err();
    assert_eq!(problem.code, code, "{problem}");
    assert!(problem.message.contains(part), "{problem}");
}

#[test]
fn a_joint_places_its_child_and_has_axis_limits_dynamics_and_mimic() {
    check(
        &pair(
            "revolute",
            "<axis xyz='0 0 1'/><limit lower='2' upper='-1' effort='3' velocity='4'/>\
             <dynamics damping='0.5'/><mimic joint='k' multiplier='2'/>",
            "",
        ),
        &expect![[r"
            model name=r
              link name=a
              joint type=revolute name=j
                pose rotation_format=quat_xyzw relative_to=a: 1 2 3 0 0 0 1
                parent: a
                child: b
                axis
                  xyz: 0 0 1
                  mimic joint=k
                    multiplier: 2
                    offset: 0
                  limit
                    lower: -1
                    upper: 2
                    effort: 3
                    velocity: 4
                  dynamics
                    damping: 0.5
                    friction: 0
              link name=b
                pose relative_to=j
        "]],
    );
}

#[test]
fn a_continuous_joint_has_no_limits_and_turns_about_x_unless_it_says_otherwise() {
    check(
        &pair("continuous", "", ""),
        &expect![[r"
            model name=r
              link name=a
              joint type=revolute name=j
                pose rotation_format=quat_xyzw relative_to=a: 1 2 3 0 0 0 1
                parent: a
                child: b
                axis
                  xyz: 1 0 0
                  limit
                  dynamics
              link name=b
                pose relative_to=j
        "]],
    );
}

#[test]
fn a_fixed_joint_makes_one_link_and_leaves_frames() {
    let text = pair("fixed", "", "").replace(
        "<link name='b'>",
        "<link name='b'><collision><geometry><sphere radius='1'/></geometry></collision>\
         <visual name='v'><geometry><mesh filename='package://p/m.dae'/></geometry></visual>",
    );
    check(
        &text,
        &expect![[r"
            model name=r
              link name=a
                collision name=a_fixed_joint_lump__b_collision
                  pose: 1 2 3 0 0 0
                  geometry
                    sphere
                      radius: 1
                visual name=a_fixed_joint_lump__v_visual
                  pose: 1 2 3 0 0 0
                  geometry
                    mesh
                      scale: 1 1 1
                      uri: package://p/m.dae
              frame name=j attached_to=a
                pose rotation_format=quat_xyzw: 1 2 3 0 0 0 1
              frame name=b attached_to=j
        "]],
    );
    let (root, _) = read(&text);
    let link = root
        .unwrap()
        .descendant(&["model", "link", "inertial"])
        .cloned()
        .unwrap();
    assert_eq!(link.child("mass").unwrap().text(), "4");
    assert_eq!(link.child("pose").unwrap().text(), "0.5 1 1.5 0 0 0 1");
    assert_eq!(link.descendant(&["inertia", "ixx"]).unwrap().text(), "15");
}

#[test]
fn fixed_joints_stay_where_the_robot_says_so() {
    let option = |name: &str| {
        let rest = format!("<gazebo reference='j'><{name}>true</{name}></gazebo>");
        pair("fixed", "", &rest)
    };
    check(
        &option("preserveFixedJoint"),
        &expect![[r"
            model name=r
              link name=a
              joint type=fixed name=j
                pose rotation_format=quat_xyzw relative_to=a: 1 2 3 0 0 0 1
                parent: a
                child: b
              link name=b
                pose relative_to=j
        "]],
    );
    check(
        &option("disableFixedJointLumping"),
        &expect![[r"
            model name=r
              link name=a
              joint type=revolute name=j
                pose rotation_format=quat_xyzw relative_to=a: 1 2 3 0 0 0 1
                parent: a
                child: b
                axis
                  xyz: 0 0 1
                  limit
                    lower: 0
                    upper: 0
                  dynamics
              link name=b
                pose relative_to=j
        "]],
    );
}

#[test]
fn joints_of_a_merged_link_move_to_the_remaining_link() {
    let rest = format!(
        "<link name='c'>{INERTIAL}</link><joint name='k' type='continuous'>\
         <parent link='b'/><child link='c'/><origin xyz='0 0 1'/></joint>"
    );
    check(
        &pair("fixed", "", &rest),
        &expect![[r"
            model name=r
              link name=a
              joint type=revolute name=k
                pose rotation_format=quat_xyzw relative_to=a: 1 2 4 0 0 0 1
                parent: a
                child: c
                axis
                  xyz: 1 0 0
                  limit
                  dynamics
              link name=c
                pose relative_to=k
              frame name=j attached_to=a
                pose rotation_format=quat_xyzw: 1 2 3 0 0 0 1
              frame name=b attached_to=j
        "]],
    );
}

#[test]
fn links_without_mass_are_left_out_with_all_that_hangs_on_them() {
    let text = pair("continuous", "", "").replacen(&format!("'b'>{INERTIAL}"), "'b'>", 1);
    check(
        &text,
        &expect![[r"
            model name=r
              link name=a
            LINK_INERTIA_INVALID at robot.urdf:1:135
            URDF_LINKS_LOST at robot.urdf:1:1
        "]],
    );
}

#[test]
fn warnings_say_what_is_lost_and_what_to_do() {
    let check = |text: &str, parts: &[&str]| {
        let (_, report) = read(text);
        let message = &report.warnings[0].message;
        assert!(parts.iter().all(|part| message.contains(part)), "{message}");
    };
    let massless = format!("'b'>{INERTIAL}");
    let text = pair("continuous", "", "").replacen(&massless, "'b'>", 1);
    check(
        &text,
        &[
            "\"b\" has no <inertial>",
            "its joint \"j\"",
            "give it a mass",
        ],
    );
    let text = pair("continuous", "", "").replacen(INERTIAL, "", 1);
    check(&text, &["\"a\"", "all that hangs on it"]);
    let rest = "<gazebo reference='x'><mu1>1</mu1></gazebo>";
    check(
        &pair("continuous", "", rest),
        &["\"x\"", "no such link or joint"],
    );
}

#[test]
fn a_child_of_the_world_is_held_by_a_joint_and_not_merged() {
    let text = pair("fixed", "", "").replace(&format!("'a'>{INERTIAL}"), "'world'>");
    check(
        &text.replace("link='a'", "link='world'"),
        &expect![[r"
            model name=r
              joint type=fixed name=j
                pose rotation_format=quat_xyzw relative_to=__model__: 1 2 3 0 0 0 1
                parent: world
                child: b
              link name=b
                pose relative_to=j
        "]],
    );
}

#[test]
fn extensions_reach_link_collision_visual_joint_and_model() {
    let rest = "<gazebo><static>true</static><plugin name='p' filename='f'/></gazebo>\
        <gazebo reference='a'><mu1>0.5</mu1><kp value='9'/><selfCollide>1</selfCollide>\
        <turnGravityOff>true</turnGravityOff><material>Gazebo/Red</material>\
        <collision><max_contacts>3</max_contacts></collision></gazebo>\
        <gazebo reference='j'><provideFeedback>yes</provideFeedback>\
        <springStiffness>7</springStiffness><sensor name='s' type='force_torque'/></gazebo>\
        <gazebo reference='nothing'><mu1>1</mu1></gazebo>";
    let shapes = "<collision><geometry><sphere radius='1'/></geometry></collision>\
        <visual><geometry><box size='1 1 1'/></geometry>\
        <material name='m'><color rgba='0.4 0 1 1'/></material></visual>";
    let text = pair("continuous", "", rest).replace("name='a'>", &format!("name='a'>{shapes}"));
    check(
        &text,
        &expect![[r"
            model name=r
              link name=a
                collision name=a_collision
                  pose: 0 0 0 0 0 0
                  geometry
                    sphere
                      radius: 1
                  max_contacts: 3
                  surface
                    friction
                      ode
                        mu: 0.5
                    contact
                      ode
                        kp: 9
                visual name=a_visual
                  pose: 0 0 0 0 0 0
                  geometry
                    box
                      size: 1 1 1
                  material
                    script
                      name: Gazebo/Red
                      uri: file://media/materials/scripts/gazebo.material
                    diffuse: 0.5000000074505806 0 1 1
                    ambient: 0.5000000074505806 0 1 1
                gravity: false
                self_collide: true
              joint type=revolute name=j
                pose rotation_format=quat_xyzw relative_to=a: 1 2 3 0 0 0 1
                parent: a
                child: b
                axis
                  xyz: 1 0 0
                  limit
                  dynamics
                    spring_stiffness: 7
                physics
                  ode
                    provide_feedback: true
                  provide_feedback: true
                sensor name=s type=force_torque
              link name=b
                pose relative_to=j
              static: true
              plugin name=p filename=f
            URDF_EXTENSION_IGNORED at robot.urdf:1:948
        "]],
    );
}

#[test]
fn extensions_of_a_merged_link_move_with_it() {
    let rest = "<gazebo reference='b'><mu1>0.5</mu1><sensor name='s' type='imu'>\
        <pose>0 0 1 0 0 0</pose></sensor></gazebo>\
        <gazebo><plugin name='p' filename='f'><bodyName>b</bodyName></plugin>\
        <joint name='q' type='ball'><parent>world</parent><child>b</child></joint></gazebo>";
    let shape = "<collision><geometry><sphere radius='1'/></geometry></collision>";
    let text = pair("fixed", "", rest).replace("name='b'>", &format!("name='b'>{shape}"));
    check(
        &text,
        &expect![[r"
            model name=r
              link name=a
                collision name=a_fixed_joint_lump__b_collision
                  pose: 1 2 3 0 0 0
                  geometry
                    sphere
                      radius: 1
                  surface
                    friction
                      ode
                        mu: 0.5
                sensor name=s type=imu
                  pose: 1 2 4 0 0 0
              plugin name=p filename=f
                bodyName: a
                xyzOffset: 1 2 3
                rpyOffset: 0 0 0
                gz::corrected_offsets: 1
              joint name=q type=ball
                parent: world
                child: a
              frame name=j attached_to=a
                pose rotation_format=quat_xyzw: 1 2 3 0 0 0 1
              frame name=b attached_to=j
        "]],
    );
}

#[test]
fn a_mistake_in_a_link_ends_the_reading_of_that_link() {
    let text = pair("continuous", "", "").replace(
        "</link><link",
        "<visual/><collision><geometry><sphere radius='1'/></geometry></collision></link><link",
    );
    check(
        &text,
        &expect![[r"
            model name=r
              link name=a
              joint type=revolute name=j
                pose rotation_format=quat_xyzw relative_to=a: 1 2 3 0 0 0 1
                parent: a
                child: b
                axis
                  xyz: 1 0 0
                  limit
                  dynamics
              link name=b
                pose relative_to=j
            URDF_LINK_INCOMPLETE at robot.urdf:1:128
        "]],
    );
}

#[test]
fn a_root_without_mass_is_named_as_the_cause_of_a_robot_without_links() {
    let massless = pair("continuous", "", "").replacen(INERTIAL, "", 1);
    let (result, report) = read(&massless);
    let problem = result.unwrap_err();
    assert_eq!(problem.code, "MODEL_WITHOUT_LINK");
    let message = &problem.message;
    assert!(
        message.contains("root link \"a\"") && message.contains("2 of 2"),
        "{problem}"
    );
    assert_eq!(report.warnings[0].code, "LINK_INERTIA_INVALID");
    // What stands still needs no link, and <gazebo> may bring some.
    for rest in [
        "<gazebo><static>true</static></gazebo>",
        "<gazebo><link name='c'/></gazebo>",
    ] {
        let text = massless.replace("</robot>", &format!("{rest}</robot>"));
        assert!(read(&text).0.is_ok(), "{rest}");
    }
}

/// A `<ros2_control>` that starts a joint somewhere.
fn control(joint: &str, value: &str) -> String {
    format!(
        "<ros2_control name='c' type='system'><joint name='{joint}'>\
         <command_interface name='position'/><state_interface name='position'>\
         <param name='initial_value'>{value}</param></state_interface></joint></ros2_control>"
    )
}

#[test]
fn ros2_control_says_where_joints_start() {
    check(
        &pair("continuous", "", &control("j", "0.5")),
        &expect![[r"
            model name=r
              link name=a
              joint type=revolute name=j
                pose rotation_format=quat_xyzw relative_to=a: 1 2 3 0 0 0 1
                parent: a
                child: b
                axis
                  xyz: 1 0 0
                  phalanx:initial_position: 0.5
                  limit
                  dynamics
              link name=b
                pose relative_to=j
            UNSUPPORTED_ELEMENT at robot.urdf:1:351
        "]],
    );
    let position = |rest: &str| {
        let text = pair("continuous", "", rest);
        let read = crate::read_model(&text, "robot.urdf", &crate::NoFiles).unwrap();
        read.parcel.model.joints[0].kind.axes()[0].initial_position
    };
    assert_eq!(position(&control("j", " -1.5 ")), -1.5);
    let in_gazebo = format!("<gazebo>{}</gazebo>", control("j", "0.5"));
    assert_eq!(position(&in_gazebo), 0.0);
}

#[test]
fn ros_controllers_are_named_once_with_their_replacement() {
    let rest = "<transmission name='t'><joint name='j'/></transmission><transmission name='u'/>";
    let (_, report) = read(&pair(
        "continuous",
        "<safety_controller k_velocity='1'/>",
        rest,
    ));
    let told: Vec<_> = report.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(told.len(), 2, "{told:?}");
    for (told, name) in told.iter().zip(["<transmission>", "<safety_controller>"]) {
        let hint = "JointTrajectoryController";
        assert!(told.contains(name) && told.contains(hint), "{told}");
    }
    for (joint, value, part) in [
        ("j", "half", "\"half\" is no number"),
        ("gone", "1", "there is no such joint"),
    ] {
        let (_, report) = read(&pair("continuous", "", &control(joint, value)));
        let ignored = &report.warnings[0];
        assert_eq!(ignored.code, "INITIAL_VALUE_IGNORED");
        assert!(ignored.message.contains(part), "{ignored}");
    }
}

#[test]
fn robots_that_are_no_trees_are_refused() {
    for (text, part) in [
        ("<robot/>".to_owned(), "name"),
        ("<robot name='r'/>".to_owned(), "needs a <link>"),
        (pair("continuous", "", "<link name='c'/>"), "one root"),
        (
            pair("continuous", "", "<link name='a'/>"),
            "two links are named",
        ),
        (
            pair("continuous", "", "").replace("parent link='a'", "parent link='x'"),
            "\"x\"",
        ),
        (
            pair("continuous", "", "").replace("parent link='a'", "parent link='b'"),
            "\"b\"",
        ),
        (
            pair(
                "continuous",
                "",
                "<joint name='k' type='fixed'><parent link='a'/><child link='b'/></joint>",
            ),
            "two joints",
        ),
    ] {
        if text.contains("parent link='b'") {
            // The link hangs on itself and not on the root.
            assert_eq!(read(&text).1.warnings[0].code, "URDF_LINK_IGNORED");
        } else {
            check_refused(&text, "FILE_READ", part);
        }
    }
}

#[test]
fn joints_that_are_wrong_are_refused() {
    check_refused(&pair("hinge", "", ""), "FILE_READ", "no type of joint");
    check_refused(&pair("revolute", "", ""), "FILE_READ", "<limit>");
    check_refused(
        &pair("revolute", "<limit effort='1'/>", ""),
        "FILE_READ",
        "velocity",
    );
    check_refused(
        &pair("continuous", "<axis xyz='1 x 0'/>", ""),
        "FILE_READ",
        "3 numbers",
    );
    check_refused(
        &pair("continuous", "<dynamics/>", ""),
        "FILE_READ",
        "damping",
    );
    check_refused(
        &pair("floating", "", ""),
        "POSE_RELATIVE_TO_INVALID",
        "floats",
    );
}

#[test]
fn hostile_robots_are_refused_in_time() {
    let mut chain = "<robot name='r'><link name='l0'/>".to_owned();
    for index in 1..2_000 {
        write!(
            chain,
            "<link name='l{index}'/><joint name='j{index}' type='fixed'>\
             <parent link='l{}'/><child link='l{index}'/></joint>",
            index - 1
        )
        .unwrap();
    }
    check_refused(&(chain + "</robot>"), "FILE_READ", "follow each other");
    let shape = "<collision><geometry><sphere radius='1'/></geometry></collision>";
    let text = format!(
        "<robot name='r'><link name='a'>{INERTIAL}{}</link>{}</robot>",
        shape.repeat(1_100),
        "<gazebo reference='a'><mu1>1</mu1></gazebo>".repeat(1_100)
    );
    check_refused(&text, "FILE_READ", "add more than");
}
