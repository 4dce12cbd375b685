//! Small files that libsdformat refuses or accepts, by the code that it gives: the reader as a
//! whole says the same.

use sdf::{NoFiles, read_worlds};

fn codes(version: &str, content: &str) -> Vec<&'static str> {
    let text = format!("<sdf version='{version}'><world name='w'>{content}</world></sdf>");
    match read_worlds(&text, "w.sdf", &NoFiles) {
        Ok(_) => Vec::new(),
        Err(error) => error.errors.iter().map(|problem| problem.code).collect(),
    }
}

fn check(content: &str, expect: &[&str]) {
    assert_eq!(codes("1.12", content), expect, "{content}");
}

/// Checks what stands in a link.
fn check_link(content: &str, expect: &[&str]) {
    check(
        &format!("<model name='m'><link name='l'>{content}</link></model>"),
        expect,
    );
}

#[test]
fn numbers_are_read_as_generously_as_by_libsdformat() {
    for (mass, expect) in [
        ("1.5kg", &[] as &[&str]),
        ("0x10", &[]),
        (" 2 ", &[]),
        ("2<!-- two -->3", &[]),
        ("two", &["ELEMENT_INVALID"]),
        ("1e400", &["ELEMENT_INVALID"]),
        ("1e-320", &["ELEMENT_INVALID"]),
    ] {
        check_link(&format!("<inertial><mass>{mass}</mass></inertial>"), expect);
    }
    for (gravity, expect) in [
        ("0 0 -1 7", &[] as &[&str]),
        ("0 0 -1x", &[]),
        ("0 0", &["ELEMENT_INVALID"]),
        ("0,0,1", &["ELEMENT_INVALID"]),
        ("0 0 inf", &["ELEMENT_INVALID"]),
        ("", &["ELEMENT_INVALID"]),
    ] {
        check(&format!("<gravity>{gravity}</gravity>"), expect);
    }
}

#[test]
fn one_mistake_is_told_once() {
    check("<gravity>down</gravity>", &["ELEMENT_INVALID"]);
    check_link("<gravity>maybe</gravity>", &["ELEMENT_INVALID"]);
    check_link("<pose>1 2 3</pose>", &["ELEMENT_INVALID"]);
    check("<model><link name='l'/></model>", &["ATTRIBUTE_MISSING"]);
    check(
        "<model name=''><link name='l'/></model>",
        &["ATTRIBUTE_INVALID"],
    );
    check(
        "<model name='world'><link name='l'/></model>",
        &["RESERVED_NAME"],
    );
}

#[test]
fn all_mistakes_of_a_file_are_told_with_their_lines() {
    let text = "<sdf version='1.12'>\n<world name='w'>\n<gravity>x</gravity>\n<light name='a'/>\n\
                <model name='m'>\n<link name='l'><visual name='v'>\n<material><script/>\n\
                </material></visual></link></model></world></sdf>";
    let error = read_worlds(text, "w.sdf", &NoFiles).unwrap_err();
    let found: Vec<_> = error
        .errors
        .iter()
        .map(|problem| (problem.code, problem.place.line))
        .collect();
    assert_eq!(
        found,
        [
            ("ELEMENT_INVALID", 3),
            ("ATTRIBUTE_MISSING", 4),
            ("ELEMENT_INVALID", 7),
            ("ELEMENT_MISSING", 7),
        ]
    );
}

#[test]
fn every_version_is_upgraded_or_refused() {
    for version in [
        "1.0", "1.2", "1.3", "1.4", "1.5", "1.6", "1.7", "1.8", "1.9", "1.10", "1.11",
    ] {
        assert_eq!(codes(version, ""), [] as [&str; 0], "{version}");
    }
    for version in ["1.1", "1.13", "2.0", "100", "1.9.0", "new", ""] {
        assert_eq!(codes(version, ""), ["CONVERSION_ERROR"], "{version}");
    }
}

#[test]
fn hostile_files_end_in_an_error_or_a_world() {
    let deep = "<model name='m'>".repeat(300);
    assert_eq!(codes("1.12", &deep), ["XML_ERROR"]);
    let many = "<link/>".repeat(5000);
    let found = codes("1.12", &format!("<model name='m'>{many}</model>"));
    assert!((1..=1000).contains(&found.len()), "{} errors", found.len());
    let flat = (0..3000).map(|number| format!("<link name='m{number}::l'/>"));
    let flat = flat.collect::<Vec<_>>().concat();
    assert_eq!(
        codes("1.7", &format!("<model name='m'>{flat}</model>")),
        [] as [&str; 0]
    );
    let bomb = "<!DOCTYPE a [<!ENTITY b \"bbbb\">]><sdf version='1.12'><world name='&b;'/></sdf>";
    let read = read_worlds(bomb, "w.sdf", &NoFiles).unwrap();
    assert_eq!(read.worlds[0].name, "&b;");
}
