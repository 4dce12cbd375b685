//! Includes of files in memory: what stands in their place, and errors.

use super::{expand as expand_document, expand_within};
use crate::read::document;
use crate::report::Report;
use crate::resolve::{ResolveError, ResolvedFile, Resolver};
use crate::tree::Element;

/// Files by name.
struct Files(Vec<(&'static str, &'static str)>);

impl Resolver for Files {
    fn read(&self, uri: &str, _from: &str) -> Result<ResolvedFile, ResolveError> {
        let file = self.0.iter().find(|(name, _)| *name == uri);
        let (name, text) = file.ok_or_else(|| ResolveError::NotFound("no such file".to_owned()))?;
        Ok(ResolvedFile {
            text: (*text).to_owned(),
            file: (*name).to_owned(),
        })
    }
}

fn expanded(content: &str, files: &[(&'static str, &'static str)]) -> (Element, Report) {
    let text = format!("<sdf version='1.10'><world name='w'>{content}</world></sdf>");
    let mut report = Report::default();
    let document = document::read(&text, "top.sdf", &mut report).unwrap();
    let root = expand_document(document, &Files(files.to_vec()), &mut report);
    (root, report)
}

#[test]
fn an_include_overrides_name_pose_and_static() {
    let model = "<sdf version='1.6'><model name='m'><pose>9 9 9 0 0 0</pose>\
                 <link name='l'/></model></sdf>";
    let include = "<include><uri>m</uri><name>n</name><pose>1 2 3 0 0 0</pose>\
                   <static>true</static></include>";
    let (root, report) = expanded(include, &[("m", model)]);
    assert!(report.errors.is_empty(), "{:?}", report.errors);
    let model = root.descendant(&["world", "model"]).unwrap();
    assert_eq!(model.attribute("name"), Some("n"));
    assert_eq!(model.child("pose").unwrap().text(), "1 2 3 0 0 0");
    assert_eq!(model.child("static").unwrap().text(), "true");
    assert!(model.child("link").is_some());
}

#[test]
fn a_missing_file_is_an_error_that_names_the_uri_at_each_include() {
    let (_, report) = expanded("<include><uri>gone</uri></include>".repeat(2).as_str(), &[]);
    assert_eq!(report.errors.len(), 2);
    assert!(report.errors.iter().all(|error| error.code == "URI_LOOKUP"));
    assert!(
        report
            .errors
            .iter()
            .all(|error| error.message.contains("\"gone\""))
    );
}

#[test]
fn a_file_that_includes_itself_is_an_error() {
    let model = "<sdf version='1.10'><model name='m'><include><uri>m</uri></include>\
                 </model></sdf>";
    let (_, report) = expanded("<include><uri>m</uri></include>", &[("m", model)]);
    assert_eq!(report.errors.len(), 1, "{:?}", report.errors);
    assert!(
        report.errors[0].message.contains("by itself"),
        "{}",
        report.errors[0]
    );
}

#[test]
fn a_file_with_two_models_or_none_cannot_be_included() {
    for (text, code) in [
        (
            "<sdf version='1.10'><model name='a'/><model name='b'/></sdf>",
            "ELEMENT_INCORRECT_TYPE",
        ),
        ("<sdf version='1.10'/>", "ELEMENT_MISSING"),
        ("<sdf", "XML_ERROR"),
    ] {
        let (_, report) = expanded("<include><uri>m</uri></include>", &[("m", text)]);
        assert_eq!(report.errors[0].code, code, "{text}");
    }
}

const MODEL: &str = "<sdf version='1.10'><model name='m'><link name='l'/></model></sdf>";

fn check_errors(content: &str, codes: &[&str]) {
    let files = [
        ("m", MODEL),
        (
            "broken",
            "<sdf version='1.10'><model name='m'><include/></model></sdf>",
        ),
        (
            "light",
            "<sdf version='1.10'><light name='l' type='point'/></sdf>",
        ),
    ];
    let (_, report) = expanded(content, &files);
    let found: Vec<_> = report.errors.iter().map(|error| error.code).collect();
    assert_eq!(found, codes, "{content}: {:?}", report.errors);
}

fn include(uri: &str, rest: &str) -> String {
    format!("<include><uri>{uri}</uri>{rest}</include>")
}

#[test]
fn includes_that_cannot_be_are_errors() {
    check_errors("<include/>", &["ATTRIBUTE_MISSING"]);
    let frame = "<placement_frame>l</placement_frame>";
    check_errors(&include("m", frame), &["MODEL_PLACEMENT_FRAME_INVALID"]);
    check_errors(&include("m", &format!("{frame}<pose/>")), &[]);
    let root = "<placement_frame>__root__</placement_frame><pose/>";
    check_errors(&include("m", root), &["RESERVED_NAME"]);
    check_errors(
        "<include merge='true'><uri>light</uri></include>",
        &["MERGE_INCLUDE_UNSUPPORTED"],
    );
}

#[test]
fn the_errors_of_a_broken_model_are_told_once() {
    let content = include("broken", "").repeat(3);
    check_errors(&content, &["ATTRIBUTE_MISSING"]);
}

#[test]
fn a_light_takes_name_and_pose_alone() {
    let files = [(
        "light",
        "<sdf version='1.10'><light name='l' type='point'/></sdf>",
    )];
    let rest = "<name>n</name><pose>1 0 0 0 0 0</pose><static>1</static><plugin name='p'/>";
    let (root, _) = expanded(&include("light", rest), &files);
    let light = root.descendant(&["world", "light"]).unwrap();
    assert_eq!(light.attribute("name"), Some("n"));
    assert!(light.child("pose").is_some());
    assert!(light.child("static").is_none() && light.child("plugin").is_none());
}

#[test]
fn siblings_of_different_kinds_share_a_name_up_to_1_6() {
    let file = |version: &str| {
        format!(
            "<sdf version='{version}'><model name='m'><link name='a'/><joint name='a'/>\
                 <frame name='a'/></model></sdf>"
        )
    };
    for (version, expect) in [
        ("1.6", ["a", "a_joint", "a_frame"]),
        ("1.7", ["a", "a", "a"]),
    ] {
        let text: &'static str = file(version).leak();
        let (root, _) = expanded(&include("f", ""), &[("f", text)]);
        let model = root.descendant(&["world", "model"]).unwrap();
        let names: Vec<_> = model
            .children()
            .filter_map(|c| c.attribute("name"))
            .collect();
        assert_eq!(names, expect, "{version}");
    }
}

#[test]
fn a_chain_of_includes_that_doubles_at_each_step_is_stopped() {
    let names: Vec<&'static str> = (0..30).map(|i| &*format!("f{i}").leak()).collect();
    let mut files = vec![(names[0], MODEL)];
    for pair in names.windows(2) {
        let twice = include(pair[0], "").repeat(2);
        let text = format!("<sdf version='1.10'><model name='m'>{twice}</model></sdf>");
        files.push((pair[1], text.leak()));
    }
    let text = format!("<sdf version='1.10'>{}</sdf>", include(names[29], ""));
    let mut report = Report::default();
    let document = document::read(&text, "top.sdf", &mut report).unwrap();
    let root = expand_within(document, 1000, &Files(files), &mut report);
    assert!(root.element_count() <= 2000, "{}", root.element_count());
    assert!(
        report
            .errors
            .iter()
            .any(|error| error.message.contains("add more than")),
        "{:?}",
        report.errors
    );
}
