//! Changes to a small included model, and what it is then.

use super::apply;
use crate::report::Report;
use crate::tree::{Element, parse};

const MODEL: &str = "<model name='m'>\
     <link name='base'><pose>1 2 3 0 0 0</pose>\
       <visual name='v'><geometry><box><size>1 1 1</size></box></geometry></visual>\
       <collision name='c'><geometry><sphere/></geometry></collision></link>\
     <joint name='j' type='revolute'><parent>base</parent><child>n</child><axis/>\
     </joint>\
     <model name='n'><link name='inner'/></model></model>";

fn changed(changes: &str) -> (Element, Report) {
    let mut model = parse(MODEL, "m.sdf").unwrap();
    let changes = parse(&format!("<params>{changes}</params>"), "w.sdf").unwrap();
    let mut report = Report::default();
    apply(&mut model, &changes, &mut report);
    (model, report)
}

fn check(changes: &str, path: &[&str], expect: Option<&str>) {
    let (model, report) = changed(changes);
    assert_eq!(report.errors, [], "{changes}");
    let text = model.descendant(path).map(Element::text);
    assert_eq!(text.as_deref(), expect, "{changes}");
}

fn check_error(changes: &str, codes: &[&str]) {
    let (_, report) = changed(changes);
    let found: Vec<_> = report.errors.iter().map(|error| error.code).collect();
    assert_eq!(found, codes, "{changes}: {:?}", report.errors);
}

#[test]
fn parts_are_added_to_the_model_and_to_what_is_in_it() {
    let added = "<link element_id='' name='new' action='add'><gravity>1</gravity></link>";
    let (model, report) = changed(added);
    assert_eq!(report.errors, []);
    let new = model.children_named("link").nth(1).unwrap();
    assert_eq!(new.attributes, [("name".into(), "new".into())]);
    let visual = "<visual element_id='n::inner' name='w' action='add'>\
                  <transparency>2</transparency></visual>";
    check(
        visual,
        &["model", "link", "visual", "transparency"],
        Some("2"),
    );
    let child = "<link element_id='base'><gravity action='add'>0</gravity></link>";
    check(child, &["link", "gravity"], Some("0"));
}

#[test]
fn parts_are_modified_in_depth_and_by_default() {
    let pose = "<link element_id='base' action='modify'><pose relative_to='j'/></link>";
    check(pose, &["link", "pose"], Some("0 0 0 0 0 0"));
    let (model, _) = changed(pose);
    let pose = model.descendant(&["link", "pose"]).unwrap();
    assert_eq!(pose.attribute("relative_to"), Some("j"));
    check(
        "<visual element_id='base::v'><geometry action='modify'><box><size>2 2 2</size></box>\
         </geometry></visual>",
        &["link", "visual", "geometry", "box", "size"],
        Some("2 2 2"),
    );
    check(
        "<joint element_id='j' action='modify'><axis><limit><lower>-1</lower></limit></axis>\
         </joint>",
        &["joint", "axis", "limit", "lower"],
        Some("-1"),
    );
}

#[test]
fn parts_are_removed_and_replaced() {
    let removed = "<collision element_id='base::c' action='remove'/>";
    check(removed, &["link", "collision"], None);
    let inner = "<link element_id='base' action='remove'><pose/></link>";
    check(inner, &["link", "pose"], None);
    let replaced = "<visual element_id='base::v' name='w' action='replace'>\
                    <transparency>3</transparency></visual>";
    check(replaced, &["link", "visual", "transparency"], Some("3"));
    check(replaced, &["link", "visual", "geometry"], None);
}

#[test]
fn changes_that_cannot_be_made_are_errors() {
    check_error("<link action='remove'/>", &["ATTRIBUTE_MISSING"]);
    check_error("<link element_id='base::'/>", &["ATTRIBUTE_INVALID"]);
    check_error(
        "<link element_id='base' action='burn'/>",
        &["ATTRIBUTE_INVALID"],
    );
    check_error(
        "<link element_id='gone' action='remove'/>",
        &["ELEMENT_MISSING"],
    );
    check_error(
        "<visual element_id='base' action='remove'/>",
        &["ELEMENT_MISSING"],
    );
    check_error("<link element_id='' action='add'/>", &["ATTRIBUTE_MISSING"]);
    check_error(
        "<link element_id='' name='' action='add'/>",
        &["ATTRIBUTE_INVALID"],
    );
    check_error(
        "<link element_id='' name='base' action='add'/>",
        &["DUPLICATE_NAME"],
    );
    check_error(
        "<visual element_id='x' name='v' action='add'/>",
        &["ELEMENT_MISSING"],
    );
    check_error(
        "<pit element_id='' name='v' action='add'/>",
        &["ELEMENT_INVALID"],
    );
    check_error(
        "<link element_id='base'><pose/></link>",
        &["ATTRIBUTE_MISSING"],
    );
    check_error(
        "<link element_id='base'><light name='x' action='remove'/><pose/></link>",
        &["ELEMENT_MISSING", "ATTRIBUTE_MISSING"],
    );
    check_error(
        "<link element_id='base' colour='red' action='modify'/>",
        &["ATTRIBUTE_INVALID"],
    );
    check_error(
        "<visual element_id='base::v' action='replace'><x/></visual>",
        &["ATTRIBUTE_MISSING"],
    );
}
