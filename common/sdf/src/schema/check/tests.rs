//! Files that libsdformat refuses at once, and those that it reads with a warning.

use super::*;
use crate::tree::parse;

/// Checks which codes a file has, errors first, and that all have the place of the file.
fn check(content: &str, errors: &[&str], warnings: &[&str]) {
    check_version("1.12", content, errors, warnings);
}

fn check_version(version: &str, content: &str, errors: &[&str], warnings: &[&str]) {
    let text = format!("<sdf version='{version}'>{content}</sdf>");
    let mut root = parse(&text, "f.sdf").unwrap();
    convert::upgrade(&mut root).unwrap();
    let mut report = Report::default();
    super::check(&mut root, &mut report);
    let codes = |problems: &[crate::problem::Problem]| -> Vec<&'static str> {
        problems.iter().map(|problem| problem.code).collect()
    };
    assert_eq!(
        codes(&report.errors),
        errors,
        "{content}: {:?}",
        report.errors
    );
    assert_eq!(
        codes(&report.warnings),
        warnings,
        "{content}: {:?}",
        report.warnings
    );
}

fn check_world(content: &str, errors: &[&str]) {
    check(&format!("<world name='w'>{content}</world>"), errors, &[]);
}

fn check_model(content: &str, errors: &[&str]) {
    check(
        &format!("<model name='m'><link name='l'/>{content}</model>"),
        errors,
        &[],
    );
}

#[test]
fn values_are_of_their_type() {
    check_world("<gravity>0 0 -1</gravity>", &[]);
    check_world("<gravity>0 0</gravity>", &["ELEMENT_INVALID"]);
    check_world(
        "<wind><linear_velocity>a b c</linear_velocity></wind>",
        &["ELEMENT_INVALID"],
    );
    check_world(
        "<scene><ambient>0 0 255</ambient></scene>",
        &["ELEMENT_INVALID"],
    );
    check_model("<static>yes</static>", &["ELEMENT_INVALID"]);
    check_model("<static> TRUE </static>", &[]);
    check_model("<pose>1 0 0 0 0</pose>", &["ELEMENT_INVALID"]);
    check_model(
        "<pose degrees='x'>1 0 0 0 0 0</pose>",
        &["ATTRIBUTE_INVALID"],
    );
}

#[test]
fn required_values_are_not_empty_and_others_may_be() {
    check_world("<gravity/>", &["ELEMENT_INVALID"]);
    check_model("<static/><pose/>", &[]);
    check_model("<pose relative_to=''/>", &[]);
    check_model("<frame name=''/>", &["ATTRIBUTE_INVALID"]);
}

#[test]
fn values_stay_in_their_range() {
    let bounce = |value: &str| {
        let bounce = format!("<restitution_coefficient>{value}</restitution_coefficient>");
        format!(
            "<link name='k'><collision name='c'><geometry><plane><size>-1 1</size></plane>\
             </geometry><surface><bounce>{bounce}</bounce></surface></collision></link>"
        )
    };
    check_model(&bounce("1"), &[]);
    check_model(&bounce("2"), &["ELEMENT_INVALID"]);
    check_model(&bounce("-1"), &["ELEMENT_INVALID"]);
}

#[test]
fn required_attributes_are_there() {
    check("<world/>", &["ATTRIBUTE_MISSING"], &[]);
    check_model("<link/>", &["ATTRIBUTE_MISSING"]);
    check_model("<plugin name='p'/>", &["ATTRIBUTE_MISSING"]);
    check_model("<plugin name='' filename='f'><a/></plugin>", &[]);
}

#[test]
fn joints_but_balls_name_their_ends() {
    check_model(
        "<joint name='j' type='fixed'><parent>l</parent></joint>",
        &["ELEMENT_MISSING"],
    );
    check_model("<joint name='j' type='ball'/>", &[]);
    check_model(
        "<joint name='j' type='ball'><child/></joint>",
        &["ELEMENT_INVALID"],
    );
}

#[test]
fn names_that_sdf_does_not_have_warn_once() {
    check(
        "<model name='m' x='1'/>",
        &[],
        &["ATTRIBUTE_INCORRECT_TYPE"],
    );
    check("<model name='m' a:b='1'><a:c/></model>", &[], &[]);
    let twice = "<model name='m'><x><pose>bad</pose></x><x/><y/></model>";
    check(twice, &[], &["UNKNOWN_ELEMENT", "UNKNOWN_ELEMENT"]);
    let screw = "<joint name='j' type='ball'><thread_pitch>1</thread_pitch></joint>";
    check(
        &format!("<model name='m'>{screw}</model>"),
        &[],
        &["ELEMENT_DEPRECATED"],
    );
}

#[test]
fn states_of_several_models_are_known_as_their_author_wrote_them() {
    let link = "<link name='l'><pose>0 0 0 0 0 0</pose></link>";
    let model = |name: &str| format!("<model name='{name}'>{link}{link}</model>");
    let states = model("a") + &model("b") + "<light name='c'/><light name='d'/>";
    let world = |content: &str| {
        let state = format!("<state world_name='w'>{states}{content}</state>");
        format!("<world name='w'>{state}</world>")
    };
    check_version("1.6", &world(""), &[], &[]);
    check_version("1.6", &world("<modell/>"), &[], &["UNKNOWN_ELEMENT"]);
}

#[test]
fn the_root_is_no_frame_and_top_models_are_in_the_world() {
    check_model(
        "<frame name='f' attached_to='__root__'/>",
        &["ATTRIBUTE_INVALID"],
    );
    check(
        "<model name='m' canonical_link='__root__'/>",
        &["ATTRIBUTE_INVALID"],
        &[],
    );
    check(
        "<model name='m'><pose relative_to='x'/></model>",
        &["ATTRIBUTE_INVALID"],
        &[],
    );
    check_world("<model name='m'><pose relative_to='x'/></model>", &[]);
}

#[test]
fn names_hold_no_scopes_since_1_8() {
    let model = "<model name='a::b'/>";
    check_version("1.7", model, &[], &[]);
    check_version("1.8", model, &["RESERVED_NAME"], &[]);
    check_version(
        "1.10",
        "<model name='m'><plugin name='a::b' filename='f'/></model>",
        &[],
        &[],
    );
}

#[test]
fn includes_are_judged_as_elements() {
    check_world(
        "<include><uri>u</uri><pose>1</pose></include>",
        &["ELEMENT_INVALID"],
    );
    check_world("<include><uri/></include>", &["ELEMENT_INVALID"]);
    check_world(
        "<include merge='x'><uri>u</uri></include>",
        &["ATTRIBUTE_INVALID"],
    );
}

#[test]
fn space_around_attributes_does_not_count() {
    let mut root = parse("<sdf version='1.12'><model name=' m '/></sdf>", "f").unwrap();
    super::check(&mut root, &mut Report::default());
    assert_eq!(root.child("model").unwrap().attribute("name"), Some("m"));
}
