//! A folder of models and worlds, and what URIs find in it.

use std::fs;

use super::SearchPaths;
use crate::resolve::Resolver;

fn check(uri: &str, expect: Option<&str>) {
    let root = tempfile::tempdir().unwrap();
    let put = |name: &str, text: &str| {
        let file = root.path().join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    };
    let sdf = |version: &str, file: &str| format!("<sdf version='{version}'>{file}</sdf>");
    let config = |content: &str| format!("<model>{content}</model>");
    put("worlds/beside.sdf", "beside");
    put("models/bare/model.sdf", "bare");
    put("models/plain/part.sdf", "part");
    put("models/plain/model.config", &config("<sdf>part.sdf</sdf>"));
    let all = ["1.9", "1.10", "1.13"].map(|version| sdf(version, &format!("{version}.sdf")));
    put("models/listed/model.config", &config(&all.concat()));
    put("models/listed/1.10.sdf", "new");
    put("models/old/manifest.xml", &config(&sdf("1.2", "old.sdf")));
    put("models/old/old.sdf", "old");
    put("models/none/model.config", &config("<name>none</name>"));
    let uri = uri.replace("ROOT", &root.path().to_string_lossy());
    let resolver = SearchPaths::new([root.path().join("models")]);
    let from = root.path().join("worlds/world.sdf");
    let found = resolver.read(&uri, &from.to_string_lossy());
    let text = found.map(|found| found.text).ok();
    assert_eq!(text.as_deref(), expect, "{uri}");
    let data = resolver.read_data(&uri, &from.to_string_lossy());
    if uri.contains(".sdf") {
        let bytes = data.map(|data| data.bytes).ok();
        assert_eq!(bytes.as_deref(), expect.map(str::as_bytes), "{uri}");
    } else {
        assert!(data.is_err(), "{uri} is a folder");
    }
}

#[test]
fn files_are_found_beside_the_file_and_in_the_folders_and_at_their_place() {
    check("beside.sdf", Some("beside"));
    check("file://beside.sdf", Some("beside"));
    check("file://ROOT/worlds/beside.sdf", Some("beside"));
    check("ROOT/worlds/beside.sdf", Some("beside"));
    check("../worlds/beside.sdf", Some("beside"));
    check("model://plain/part.sdf", Some("part"));
    check("package://plain/part.sdf", Some("part"));
}

#[test]
fn a_folder_stands_for_the_newest_file_that_can_be_read() {
    check("model://plain", Some("part"));
    check("plain", Some("part"));
    check("model://listed", Some("new"));
    check("model://old", Some("old"));
}

/// Looks from a robot in `ws/arm_description/urdf` for the file of a URI.
fn check_package(uri: &str, expect: Option<&str>) {
    let root = tempfile::tempdir().unwrap();
    let place = |name: &str| root.path().join(name);
    for file in [
        "ws/arm_description/meshes/arm.stl",
        "ros/src/hand_description/hand.stl",
        "opt/share/base_description/base.stl",
    ] {
        fs::create_dir_all(place(file).parent().unwrap()).unwrap();
        fs::write(place(file), file).unwrap();
    }
    let resolver = SearchPaths::default()
        .with_packages([place("ros/src"), place("ws/arm_description")])
        .with_packages([place("opt/share")]);
    let robots = ["ws/arm_description/urdf/arm.urdf", "elsewhere/arm.urdf"];
    for robot in robots.map(place) {
        let found = resolver.read_data(uri, &robot.to_string_lossy());
        let found = found.map(|data| String::from_utf8(data.bytes).unwrap());
        assert_eq!(found.as_deref().ok(), expect, "{uri} in {robot:?}");
    }
}

#[test]
fn packages_are_found_as_ros_finds_them() {
    let arm = "package://arm_description/meshes/arm.stl";
    check_package(arm, Some("ws/arm_description/meshes/arm.stl"));
    let hand = "package://hand_description/hand.stl";
    check_package(hand, Some("ros/src/hand_description/hand.stl"));
    let base = "package://base_description/base.stl";
    check_package(base, Some("opt/share/base_description/base.stl"));
    check_package(
        "package://arm_description/../arm_description/meshes/arm.stl",
        None,
    );
    check_package("package://gone/base.stl", None);
    check_package("model://base_description/base.stl", None);
}

#[test]
fn a_robot_finds_its_own_package_around_it() {
    let root = tempfile::tempdir().unwrap();
    let package = root.path().join("arm_description");
    fs::create_dir_all(package.join("urdf")).unwrap();
    fs::write(package.join("arm.stl"), "arm").unwrap();
    let urdf = package.join("urdf/arm.urdf");
    let find = |uri: &str| SearchPaths::default().read_data(uri, &urdf.to_string_lossy());
    assert_eq!(
        find("package://arm_description/arm.stl").unwrap().bytes,
        b"arm"
    );
    let error = find("package://other/arm.stl").unwrap_err().to_string();
    let hint = "set PHALANX_RESOURCE_PATH to the folder that holds \"other\"";
    assert!(
        error.contains(hint) && error.contains("ROS_PACKAGE_PATH"),
        "{error}"
    );
}

#[test]
fn what_is_elsewhere_is_not_found() {
    check("model://gone", None);
    check("model://plain/gone.sdf", None);
    check("model://bare", None);
    check("model://none", None);
    check("model://plain/../bare/model.sdf", None);
    check("https://fuel.example.org/plain", None);
}
