//! Frames of small models and worlds: poses, bodies and errors.

use super::{Body, Scope};
use crate::report::Report;
use crate::tree::parse;

fn check(model: &str, frame: &str, position: [f64; 3], body: Option<&str>) {
    let root = parse(&format!("<model name='m'>{model}</model>"), "f").unwrap();
    let mut report = Report::default();
    let scope = Scope::build(&root, &mut report);
    assert!(report.errors.is_empty(), "{:?}", report.errors);
    let pose = scope.pose_of(frame).unwrap();
    for (a, b) in pose.position.iter().zip(position) {
        assert!((a - b).abs() < 1e-12, "{model} gave {pose:?}");
    }
    let expect = body.map(|name| Body::Link(name.to_owned()));
    assert_eq!(scope.body_of(frame), expect, "{model}");
}

fn check_errors(model: &str, codes: &[&str]) {
    let root = parse(&format!("<model name='m'>{model}</model>"), "f").unwrap();
    let mut report = Report::default();
    Scope::build(&root, &mut report);
    let found: Vec<_> = report.errors.iter().map(|error| error.code).collect();
    assert_eq!(found, codes, "{model}: {:?}", report.errors);
}

const PAIR: &str = "<link name='a'><pose>1 0 0 0 0 1.5707963267948966</pose></link>\
                    <link name='b'><pose relative_to='a'>1 0 0 0 0 0</pose></link>";

#[test]
fn frames_stand_on_each_other() {
    check(PAIR, "b", [1.0, 1.0, 0.0], Some("b"));
    let frame = "<frame name='f' attached_to='b'><pose>1 0 0 0 0 0</pose></frame>";
    check(&format!("{frame}{PAIR}"), "f", [1.0, 2.0, 0.0], Some("b"));
    let joint = "<joint name='j' type='fixed'><parent>a</parent><child>b</child></joint>";
    check(&format!("{PAIR}{joint}"), "j", [1.0, 1.0, 0.0], Some("b"));
}

#[test]
fn nested_models_are_reached_by_scoped_names_and_placed_by_their_frames() {
    let nested = format!("<model name='n'><pose>0 0 5 0 0 0</pose>{PAIR}</model>");
    check(&nested, "n::b", [1.0, 1.0, 5.0], Some("n::b"));
    check(&nested, "n", [0.0, 0.0, 5.0], Some("n::a"));
    check(&nested, "__model__", [0.0; 3], Some("n::a"));
    let placed =
        format!("<model name='n' placement_frame='b'><pose>0 0 5 0 0 0</pose>{PAIR}</model>");
    check(&placed, "n::b", [0.0, 0.0, 5.0], Some("n::b"));
}

#[test]
fn a_chain_of_a_hundred_thousand_frames_is_followed() {
    use std::fmt::Write;
    let mut model = "<link name='f0'/>".to_owned();
    for index in (1..100_000).rev() {
        let before = index - 1;
        write!(
            model,
            "<frame name='f{index}' attached_to='f{before}'>\
            <pose>1 0 0 0 0 0</pose></frame>"
        )
        .unwrap();
    }
    check(&model, "f99999", [99_999.0, 0.0, 0.0], Some("f0"));
}

#[test]
fn unknown_names_cycles_and_doubles_are_errors() {
    check_errors(
        "<link name='a'><pose relative_to='x'/></link>",
        &["POSE_RELATIVE_TO_INVALID"],
    );
    check_errors(
        "<link name='a'><pose relative_to='a'/></link>",
        &["POSE_RELATIVE_TO_CYCLE"],
    );
    check_errors(
        "<link name='a'><pose relative_to='b'/></link>\
         <link name='b'><pose relative_to='a'/></link>",
        &["POSE_RELATIVE_TO_CYCLE"],
    );
    check_errors(
        "<link name='a'/><frame name='f' attached_to='g'/><frame name='g' attached_to='f'/>",
        &["POSE_RELATIVE_TO_CYCLE", "FRAME_ATTACHED_TO_CYCLE"],
    );
    check_errors("<link name='a'/><link name='a'/>", &["DUPLICATE_NAME"]);
    check_errors("<link name='a'/><frame name='a'/>", &["DUPLICATE_NAME"]);
    check_errors("<link/>", &["ATTRIBUTE_MISSING"]);
    check_errors("<link name='__model__'/>", &["RESERVED_NAME"]);
    let joint = |parent: &str, child: &str| {
        format!(
            "<link name='a'/><joint name='j' type='fixed'><parent>{parent}</parent>\
                 <child>{child}</child></joint>"
        )
    };
    check_errors(&joint("a", "world"), &["JOINT_CHILD_LINK_INVALID"]);
    check_errors(&joint("x", "a"), &["JOINT_PARENT_LINK_INVALID"]);
    check_errors(&joint("a", "a"), &["JOINT_PARENT_SAME_AS_CHILD"]);
    check_errors(&joint("world", ""), &["JOINT_CHILD_LINK_INVALID"]);
    let alone = "<link name='a'/><joint name='j' type='fixed'/>";
    check_errors(alone, &["ELEMENT_MISSING"]);
}

fn check_world(world: &str, frame: &str, position: [f64; 3], body: &str) {
    let root = parse(&format!("<world name='w'>{world}</world>"), "f").unwrap();
    let mut report = Report::default();
    let scope = Scope::build(&root, &mut report);
    assert!(report.errors.is_empty(), "{world}: {:?}", report.errors);
    assert_eq!(scope.pose_of(frame).unwrap().position, position, "{world}");
    let found = scope.body_of(frame).map(|body| body.name());
    assert_eq!(found.as_deref(), Some(body), "{world}");
}

#[test]
fn frames_of_a_world_are_fixed_to_it_or_to_what_is_in_its_models() {
    let models = "<model name='m'><pose>1 0 0 0 0 0</pose><link name='l'/><model name='n'>\
                  <pose>2 0 0 0 0 0</pose><link name='k'/></model></model>\
                  <model name='s'><static>1</static><frame name='g'/></model>";
    let frame = |rest: &str| format!("{models}<frame name='f' {rest}</frame>");
    check_world(&frame(">"), "f", [0.0; 3], "world");
    check_world(&frame("attached_to='m'>"), "f", [1.0, 0.0, 0.0], "m::l");
    check_world(
        &frame("attached_to='m::n'>"),
        "f",
        [3.0, 0.0, 0.0],
        "m::n::k",
    );
    let within = frame("attached_to='m::n::__model__'>");
    check_world(&within, "f", [3.0, 0.0, 0.0], "m::n::k");
    check_world(&frame("attached_to='s::g'>"), "f", [0.0; 3], "s::__model__");
    let pose = "attached_to='world'><pose relative_to='m::n::k'>0 1 0 0 0 0</pose>";
    check_world(&frame(pose), "f", [3.0, 1.0, 0.0], "world");
    let model = "<model name='p'><pose relative_to='f'>0 0 1 0 0 0</pose><link name='l'/></model>";
    check_world(&(frame(pose) + model), "p::l", [3.0, 1.0, 1.0], "p::l");
}

#[test]
fn the_canonical_link_may_be_named_through_frames_and_is_free_in_a_static_model() {
    let model = |attributes: &str, parts: &str| {
        format!("<model name='n' {attributes}>{parts}<link name='a'/><link name='b'/></model>")
    };
    let frame = "<frame name='f' attached_to='b'/>";
    check(
        &model("canonical_link='f'", frame),
        "n",
        [0.0; 3],
        Some("n::b"),
    );
    let inner = "<model name='o'><link name='c'/></model>";
    check(
        &model("canonical_link='o::c'", inner),
        "n",
        [0.0; 3],
        Some("n::o::c"),
    );
    check(&model("", inner), "n", [0.0; 3], Some("n::a"));
    check_errors(
        &model("canonical_link='gone'", ""),
        &["MODEL_CANONICAL_LINK_INVALID"],
    );
    let looped = "<frame name='f'/>";
    check_errors(
        &model("canonical_link='f'", looped),
        &["FRAME_ATTACHED_TO_CYCLE"],
    );
    check_errors(
        &format!(
            "<link name='own'/>{}",
            model("canonical_link='gone'", "<static>true</static>")
        ),
        &[],
    );
}

#[test]
fn a_model_that_moves_needs_a_link_or_a_model_and_a_static_one_nothing() {
    check_errors("<frame name='f'/>", &["MODEL_WITHOUT_LINK"]);
    check_errors("<static>true</static><frame name='f'/>", &[]);
    check_errors(
        "<model name='n'><static>1</static></model><frame name='f'/>",
        &[],
    );
    check_errors(
        "<static>1</static><model name='n'/>",
        &["MODEL_WITHOUT_LINK"],
    );
}

#[test]
fn placement_frames_are_looked_up_in_the_model_that_they_place() {
    let placed = |frame: &str| {
        format!(
            "<model name='n' placement_frame='{frame}'><pose>0 0 5 0 0 0</pose>{PAIR}\
                 <model name='o'><pose>0 1 0 0 0 0</pose><link name='c'/></model></model>"
        )
    };
    check(&placed("o::c"), "n", [0.0, -1.0, 5.0], Some("n::a"));
    check(&placed("__model__"), "n", [0.0, 0.0, 5.0], Some("n::a"));
    check_errors(&placed("gone"), &["POSE_RELATIVE_TO_INVALID"]);
}
