//! Joints of small models: kinds, axes, sides and errors.

use crate::read::read_worlds;
use crate::resolve::NoFiles;
use crate::world::{Axis, Joint, JointEnd, JointKind, JointParent, LinkReference, Mimic, World};

const LINKS: &str =
    "<link name='a'/><link name='b'><pose>0 0 0 1.5707963267948966 0 0</pose></link>";

fn read(content: &str) -> Result<(World, Vec<&'static str>), Vec<&'static str>> {
    let text = format!("<sdf version='1.12'><world name='w'>{content}</world></sdf>");
    let codes = |problems: &[crate::Problem]| problems.iter().map(|p| p.code).collect();
    read_worlds(&text, "w.sdf", &NoFiles)
        .map(|mut read| (read.worlds.swap_remove(0), codes(&read.warnings)))
        .map_err(|error| codes(&error.errors))
}

fn in_model(joints: &str) -> String {
    format!("<model name='m'>{LINKS}{joints}</model>")
}

fn joint(kind: &str, rest: &str) -> String {
    format!("<joint name='j' type='{kind}'><parent>a</parent><child>b</child>{rest}</joint>")
}

fn only_joint(content: &str) -> Joint {
    let (world, warnings) = read(&in_model(content)).unwrap();
    assert!(
        warnings
            .iter()
            .all(|code| matches!(*code, "UNSUPPORTED_ELEMENT" | "ELEMENT_DEPRECATED")),
        "{content}: {warnings:?}"
    );
    world.models[0].joints[0].clone()
}

fn check_errors(content: &str, codes: &[&str]) {
    assert_eq!(read(content).unwrap_err(), codes, "{content}");
}

fn check_warning(content: &str, code: &str, joint_count: usize) {
    let (world, warnings) = read(content).unwrap();
    assert!(warnings.contains(&code), "{content}: {warnings:?}");
    assert_eq!(world.models[0].joints.len(), joint_count, "{content}");
}

#[test]
fn every_kind_is_read() {
    let one = "<axis><xyz>0 0 1</xyz></axis>";
    let two = "<axis><xyz>0 0 1</xyz></axis><axis2><xyz>1 0 0</xyz></axis2>";
    for (kind, axes) in [
        ("fixed", ""),
        ("ball", ""),
        ("revolute", one),
        ("continuous", one),
        ("prismatic", one),
        ("screw", one),
        ("universal", two),
        ("revolute2", two),
        ("gearbox", two),
    ] {
        let read = only_joint(&joint(kind, axes));
        assert_eq!(read.kind.name(), kind);
        let count = axes.matches("<xyz>").count();
        assert_eq!(read.kind.axes().len(), count, "{kind}");
        assert_eq!((read.parent, read.child), (JointParent::Link(0), 1));
    }
}

#[test]
fn a_screw_has_its_pitch_under_both_names() {
    let pitch = |text: &str| match only_joint(&joint("screw", &format!("<axis/>{text}"))).kind {
        JointKind::Screw { thread_pitch, .. } => thread_pitch,
        kind => panic!("{kind:?}"),
    };
    assert_eq!(pitch(""), 1.0);
    assert_eq!(pitch("<screw_thread_pitch>0.5</screw_thread_pitch>"), 0.5);
    let old = "<thread_pitch>-3.141592653589793</thread_pitch>";
    assert_eq!(pitch(old), 2.0);
    assert_eq!(
        pitch(&format!("{old}<screw_thread_pitch>3</screw_thread_pitch>")),
        3.0
    );
    check_errors(
        &in_model(&joint("screw", "<axis/><thread_pitch>0</thread_pitch>")),
        &["ELEMENT_INVALID"],
    );
}

#[test]
fn a_gearbox_has_ratio_and_reference() {
    let parts = "<axis/><axis2/><gearbox_ratio>4</gearbox_ratio>\
                 <gearbox_reference_body>c</gearbox_reference_body>";
    let content = format!("<link name='c'/>{}", joint("gearbox", parts));
    let JointKind::Gearbox {
        ratio,
        reference_body,
        ..
    } = only_joint(&content).kind
    else {
        panic!("{content}")
    };
    assert_eq!((ratio, reference_body), (4.0, Some(2)));
    let unknown = in_model(&joint("gearbox", parts));
    check_warning(&unknown, "GEARBOX_REFERENCE_UNKNOWN", 1);
}

#[test]
fn an_axis_has_limits_and_dynamics() {
    let axis = "<axis><xyz>0 2 0</xyz><limit><lower>-1</lower><upper>2</upper><effort>3</effort>\
                <velocity>-1</velocity><stiffness>5</stiffness><dissipation>6</dissipation></limit>\
                <dynamics><damping>7</damping><friction>8</friction>\
                <spring_reference>9</spring_reference><spring_stiffness>10</spring_stiffness>\
                </dynamics></axis>";
    let read = only_joint(&joint("prismatic", axis)).kind.axes()[0].clone();
    assert!((read.xyz[2] - 1.0).abs() < 1e-12, "{read:?}");
    let expect = Axis {
        xyz: read.xyz,
        lower: -1.0,
        upper: 2.0,
        effort: 3.0,
        velocity: f64::INFINITY,
        limit_stiffness: 5.0,
        limit_dissipation: 6.0,
        damping: 7.0,
        friction: 8.0,
        spring_reference: 9.0,
        spring_stiffness: 10.0,
        mimic: None,
        initial_position: 0.0,
    };
    assert_eq!(read, expect);
    let endless = only_joint(&joint("continuous", axis)).kind.axes()[0].clone();
    assert_eq!(
        (endless.lower, endless.upper),
        (f64::NEG_INFINITY, f64::INFINITY)
    );
}

#[test]
fn nonsense_that_libsdformat_accepts_is_a_warning() {
    let axis = |rest: &str| in_model(&joint("revolute", &format!("<axis>{rest}</axis>")));
    check_warning(&in_model(&joint("revolute", "")), "ELEMENT_MISSING", 1);
    let reversed = "<limit><lower>1</lower><upper>-1</upper></limit>";
    check_warning(&axis(reversed), "LIMITS_REVERSED", 1);
    let driving = "<dynamics><damping>-1</damping></dynamics>";
    check_warning(&axis(driving), "NEGATIVE_LOSS", 1);
    let (world, _) = read(&axis(reversed)).unwrap();
    let limits = &world.models[0].joints[0].kind.axes()[0];
    assert_eq!((limits.lower, limits.upper), (-1.0, 1.0));
}

#[test]
fn an_axis_follows_another() {
    let leader = "<joint name='k' type='universal'><parent>a</parent><child>b</child><axis/>\
                  <axis2/></joint>";
    let follower = |mimic: &str| joint("revolute", &format!("<axis>{mimic}</axis>"));
    let mimic = "<mimic joint='k' axis='axis2'><multiplier>2</multiplier><offset>3</offset>\
                 <reference>4</reference></mimic>";
    let read = only_joint(&(follower(mimic) + leader)).kind.axes()[0].clone();
    let expect = Mimic {
        joint: "k".to_owned(),
        axis: 1,
        multiplier: 2.0,
        offset: 3.0,
        reference: 4.0,
    };
    assert_eq!(read.mimic, Some(expect));
    for wrong in [
        "<mimic joint='j'/>",
        "<mimic joint='gone'/>",
        "<mimic joint='k' axis='axis3'/>",
        "<mimic joint='j' axis='axis2'/>",
    ] {
        let content = in_model(&(follower(wrong) + leader));
        check_errors(&content, &["JOINT_AXIS_MIMIC_INVALID"]);
    }
}

#[test]
fn sides_may_be_frames_and_models_in_depth() {
    let content = "<frame name='f' attached_to='n'/><model name='n'><model name='o'>\
                   <link name='l'/></model></model>";
    let joint = "<joint name='j' type='fixed'><parent>world</parent><child>f</child></joint>";
    let read = only_joint(&format!("{content}{joint}"));
    assert_eq!((read.parent, read.child), (JointParent::World, 2));
}

#[test]
fn sides_that_cannot_be_are_errors_once() {
    let sides = |parent: &str, child: &str| {
        in_model(&format!(
            "<frame name='f' attached_to='b'/><joint name='j' type='fixed'>\
             <parent>{parent}</parent><child>{child}</child></joint>"
        ))
    };
    check_errors(&sides("a", "a"), &["JOINT_PARENT_SAME_AS_CHILD"]);
    check_errors(&sides("f", "b"), &["JOINT_PARENT_SAME_AS_CHILD"]);
    check_errors(&sides("a", "j"), &["JOINT_CHILD_LINK_INVALID"]);
    check_errors(&sides("j", "a"), &["JOINT_PARENT_LINK_INVALID"]);
    check_errors(&sides("a", "world"), &["JOINT_CHILD_LINK_INVALID"]);
    check_errors(
        &sides("x", "y"),
        &["JOINT_CHILD_LINK_INVALID", "JOINT_PARENT_LINK_INVALID"],
    );
}

#[test]
fn in_a_nested_model_most_errors_are_warnings_as_libsdformat_overlooks_them() {
    let nested = |joint: &str| {
        format!(
            "<model name='m'><model name='n'>{LINKS}<frame name='f' attached_to='b'/>{joint}\
                 </model></model>"
        )
    };
    let side = |parent: &str| {
        nested(&format!(
            "<joint name='j' type='fixed'><parent>{parent}</parent><child>b</child></joint>"
        ))
    };
    check_warning(&side("gone"), "JOINT_PARENT_LINK_INVALID", 0);
    check_warning(&side("f"), "JOINT_PARENT_SAME_AS_CHILD", 0);
    let axis = nested(&joint(
        "revolute",
        "<axis><xyz expressed_in='gone'>1 0 0</xyz></axis>",
    ));
    check_warning(&axis, "JOINT_AXIS_EXPRESSED_IN_INVALID", 1);
    check_errors(
        &nested("<joint name='j' type='ball'><parent>a</parent><child>gone</child></joint>"),
        &["JOINT_CHILD_LINK_INVALID"],
    );
}

#[test]
fn a_joint_of_a_world_holds_links_of_models() {
    let models = "<model name='m'><pose>1 0 0 0 0 0</pose><link name='l'/></model>\
                  <model name='n'><link name='k'/><model name='o'><link name='l'/></model></model>\
                  <model name='s'><static>true</static><link name='l'/></model>\
                  <frame name='f' attached_to='n::o'/><frame name='g'/>";
    let joint = |parent: &str, child: &str| {
        format!(
            "{models}<joint name='j' type='fixed'><parent>{parent}</parent><child>{child}</child>\
             </joint>"
        )
    };
    let link = |model: usize, link: usize| LinkReference { model, link };
    for (parent, child, expect) in [
        ("world", "m::l", (JointEnd::World, link(0, 0))),
        ("m", "f", (JointEnd::Link(link(0, 0)), link(1, 1))),
        ("s", "n::k", (JointEnd::Link(link(2, 0)), link(1, 0))),
        ("g", "m", (JointEnd::World, link(0, 0))),
    ] {
        let (world, _) = read(&joint(parent, child)).unwrap();
        let read = &world.joints[0];
        assert_eq!((read.parent, read.child), expect, "{parent} {child}");
    }
    let (world, _) = read(&joint("world", "m::l")).unwrap();
    assert_eq!(world.joints[0].pose.position, [1.0, 0.0, 0.0]);
    for (parent, child, code) in [
        ("m::l", "g", "JOINT_CHILD_LINK_INVALID"),
        ("m::l", "world", "JOINT_CHILD_LINK_INVALID"),
        ("gone::l", "m", "JOINT_PARENT_LINK_INVALID"),
        ("m::l", "m", "JOINT_PARENT_SAME_AS_CHILD"),
    ] {
        check_errors(&joint(parent, child), &[code]);
    }
}

#[test]
fn an_axis_may_start_elsewhere_and_those_that_mimic_it_follow() {
    let axis = "<axis><xyz>0 0 1</xyz><phalanx:initial_position>0.5</phalanx:initial_position>\
                <limit><lower>0.4</lower><upper>1</upper></limit></axis>";
    let follower = "<link name='c'/><joint name='k' type='revolute'><parent>b</parent>\
                    <child>c</child><axis><xyz>0 0 1</xyz><mimic joint='j' axis='axis'>\
                    <multiplier>-2</multiplier><offset>0.25</offset><reference>0.5</reference>\
                    </mimic></axis></joint>";
    let both = joint("revolute", axis) + follower;
    let (world, warnings) = read(&in_model(&both)).unwrap();
    assert_eq!(warnings, Vec::<&str>::new());
    let joints = &world.models[0].joints;
    let starts: Vec<_> = joints
        .iter()
        .map(|joint| joint.kind.axes()[0].initial_position)
        .collect();
    assert_eq!(starts, [0.5, 0.25]);
}

#[test]
fn a_joint_that_starts_beyond_its_limits_is_warned_of_unless_it_never_moves() {
    let limits = |start: &str| {
        let axis = format!(
            "<axis><xyz>0 0 1</xyz>{start}<limit><lower>-2</lower><upper>-1</upper></limit></axis>"
        );
        in_model(&joint("revolute", &axis))
    };
    assert_eq!(read(&limits("")).unwrap().1, ["JOINT_BEYOND_LIMITS"]);
    let start = "<phalanx:initial_position>-1.5</phalanx:initial_position>";
    assert_eq!(read(&limits(start)).unwrap().1, Vec::<&str>::new());
    let still = limits("").replace("<link name='a'", "<static>true</static><link name='a'");
    assert_eq!(read(&still).unwrap().1, Vec::<&str>::new());
    let endless = limits("").replace("'revolute'", "'continuous'");
    assert_eq!(read(&endless).unwrap().1, Vec::<&str>::new());
}
