//! A folder of models and worlds, and what URIs find in it.

use std::fs;
use std::os::unix::fs::symlink;

use super::{ConfinedPaths, FuelCaches, SearchPaths, read_bounded};
use crate::resolve::{ResolveError, Resolver};

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
fn files_outside_the_search_paths_are_not_found() {
    check("model://gone", None);
    check("model://plain/gone.sdf", None);
    check("model://bare", None);
    check("model://none", None);
    check("model://plain/../bare/model.sdf", None);
    check("https://fuel.example.org/plain", None);
}

/// A folder of models, one of worlds and one that is neither, and what a text of others may read.
struct Places {
    root: tempfile::TempDir,
    resolver: ConfinedPaths,
}

impl Places {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let place = |name: &str| root.path().join(name);
        let list = "<model><sdf version='1.9'>model.sdf</sdf></model>";
        let astray = "<model><sdf version='1.9'>../../private/a.sdf</sdf></model>";
        for (file, text) in [
            ("models/box/model.sdf", "box"),
            ("models/box/model.config", list),
            ("models/box/meshes/box.obj", "mesh"),
            ("models/box/meshes/side.bin", "side"),
            ("models/box/side.bin", "above"),
            ("models/astray/model.config", astray),
            ("models/.hidden/a.sdf", "hidden"),
            ("worlds/parts/wheel.sdf", "wheel"),
            ("private/a.sdf", "private"),
            ("private/models/b.sdf", "private"),
            ("ros/arm/arm.sdf", "arm"),
        ] {
            fs::create_dir_all(place(file).parent().unwrap()).unwrap();
            fs::write(place(file), text).unwrap();
        }
        symlink("../private/a.sdf", place("models/link.sdf")).unwrap();
        symlink("../private", place("models/folder")).unwrap();
        symlink("box/model.sdf", place("models/inner.sdf")).unwrap();
        symlink("../../../private/a.sdf", place("models/box/meshes/far.bin")).unwrap();
        let paths = SearchPaths::new([place("models")]).with_packages([place("ros")]);
        let resolver = paths.confined([place("worlds"), "/".into()]);
        Self { root, resolver }
    }

    fn place(&self, name: &str) -> String {
        self.root.path().join(name).to_string_lossy().into_owned()
    }

    /// Reads what a text, by name in this folder, means by a URI.
    fn read(&self, uri: &str, from: &str) -> Result<String, ResolveError> {
        let uri = uri.replace("ROOT", &self.root.path().to_string_lossy());
        let found = self.resolver.read_data(&uri, &self.place(from));
        let text = self.resolver.read(&uri, &self.place(from));
        let found = found.map(|data| String::from_utf8(data.bytes).unwrap());
        match (&text, &found) {
            (Ok(text), Ok(data)) => assert_eq!(text.text, *data, "{uri}"),
            (Err(_), Ok(data)) => panic!("{uri} is {data:?}, and no text"),
            (_, Err(_)) => {}
        }
        text.map(|text| text.text)
    }
}

#[test]
fn texts_of_others_find_what_is_below_the_folders() {
    let places = Places::new();
    for (uri, from, expected) in [
        ("model://box", "elsewhere.sdf", "box"),
        ("model://box/model.sdf", "elsewhere.sdf", "box"),
        ("box/./model.sdf", "elsewhere.sdf", "box"),
        ("package://box/model.sdf", "elsewhere.sdf", "box"),
        ("package://arm/arm.sdf", "elsewhere.sdf", "arm"),
        ("meshes/box.obj", "models/box/model.sdf", "mesh"),
        ("wheel.sdf", "worlds/parts/car.sdf", "wheel"),
        ("parts/wheel.sdf", "elsewhere.sdf", "wheel"),
        ("inner.sdf", "elsewhere.sdf", "box"),
    ] {
        let read = places.read(uri, from);
        assert_eq!(read.as_deref().ok(), Some(expected), "{uri}: {read:?}");
    }
}

#[test]
fn texts_of_others_reach_nothing_else_and_are_not_told_whether_it_is_there() {
    let places = Places::new();
    for (uri, gone) in [
        ("ROOT/private/a.sdf", "ROOT/private/gone.sdf"),
        ("file://ROOT/private/a.sdf", "file://ROOT/private/gone.sdf"),
        ("file://a.sdf", "file://gone.sdf"),
        ("../private/a.sdf", "../private/gone.sdf"),
        ("model://../private/a.sdf", "model://../private/gone.sdf"),
        ("model://.hidden/a.sdf", "model://.gone/a.sdf"),
        ("ROOT/models/box/model.sdf", "/gone"),
        ("a.sdf", "gone.sdf"),
        ("link.sdf", "gone.sdf"),
        ("model://folder/a.sdf", "model://folder/gone.sdf"),
        ("model://folder", "model://gone"),
        ("private/a.sdf", "private/gone.sdf"),
    ] {
        for from in [
            "private/text.sdf",
            "models/box/model.sdf",
            "private/models/text.sdf",
        ] {
            let [read, other] = [uri, gone].map(|uri| places.read(uri, from));
            let [read, other] = [read, other].map(|read| read.unwrap_err().to_string());
            let [read, other] = [read, other].map(|text| text.replace("\"folder\"", "\"gone\""));
            assert_eq!(read, other, "{uri}");
            assert!(read.contains("PHALANX_RESOURCE_PATH"), "{read}");
            assert!(!read.contains("private"), "{read}");
        }
    }
    let astray = places.read("model://astray", "elsewhere.sdf").unwrap_err();
    assert!(astray.to_string().contains("model.config"), "{astray}");
}

#[test]
fn files_of_a_mesh_lie_below_its_folder() {
    let places = Places::new();
    let mesh = places.place("models/box/meshes/box.obj");
    let side = |name: &str| {
        let data = places.resolver.read_side(name, &mesh);
        data.ok().map(|data| String::from_utf8(data.bytes).unwrap())
    };
    assert_eq!(side("side.bin").as_deref(), Some("side"));
    let place = places.place("models/box/meshes/side.bin");
    for name in [
        "../side.bin",
        "far.bin",
        "gone.bin",
        place.as_str(),
        "model://box/side.bin",
    ] {
        assert_eq!(side(name), None, "{name}");
    }
    let private = places.place("private/mesh.obj");
    assert!(places.resolver.read_side("a.sdf", &private).is_err());
}

#[test]
fn only_regular_files_are_opened_and_as_much_as_they_have() {
    let root = tempfile::tempdir().unwrap();
    let place = |name: &str| root.path().join(name);
    let pipe = std::process::Command::new("mkfifo")
        .arg(place("pipe"))
        .status();
    assert!(pipe.unwrap().success());
    symlink("/dev/zero", place("device")).unwrap();
    let confined = SearchPaths::new([root.path().to_owned()]).confined([]);
    let open = SearchPaths::new([root.path().to_owned()]);
    for name in ["pipe", "device", "gone"] {
        assert!(confined.read_data(name, "/text").is_err(), "{name}");
        assert!(open.read_data(name, "/text").is_err(), "{name}");
    }
    // The kernel says that such a file has no bytes, and makes up some for who reads it.
    let made_up = open.read_data("/proc/self/status", "/text").unwrap();
    assert_eq!(made_up.bytes, b"");
    let proc = SearchPaths::new(["/proc/self".into()]).confined([]);
    assert_eq!(proc.read_data("status", "/text").unwrap().bytes, b"");
    assert!(read_bounded("/dev/zero".as_ref(), 1 << 16).is_err());
    fs::write(place("file"), "ab").unwrap();
    assert_eq!(read_bounded(&place("file"), 2).unwrap(), b"ab");
    assert!(read_bounded(&place("file"), 1).is_err());
}

#[test]
fn a_file_is_the_same_however_it_is_named() {
    let places = Places::new();
    let open = SearchPaths::new([places.root.path().join("models")]);
    let resolvers: [&dyn Resolver; 2] = [&open, &places.resolver];
    for resolver in resolvers {
        let names = ["model://box/model.sdf", "box/./model.sdf", "inner.sdf"];
        let same = names.map(|name| resolver.read_data(name, "/text").unwrap().identity);
        assert!(same.iter().all(|identity| *identity == same[0]), "{same:?}");
        let other = resolver.read_data("box/side.bin", "/text").unwrap();
        assert_ne!(other.identity, same[0]);
    }
}

/// Two caches, the first with a newest version that was asked for.
fn cached(root: &std::path::Path) -> SearchPaths {
    let list = "<model><sdf version='1.9'>model.sdf</sdf></model>";
    let own = "own/fuel.gazebosim.org/open";
    let other = "other/fuel.ignitionrobotics.org/open";
    for (file, text) in [
        (format!("{own}/models/ground plane/2/model.sdf"), "plane 2"),
        (
            format!("{own}/models/ground plane/10/model.sdf"),
            "plane 10",
        ),
        (format!("{own}/models/ground plane/tip"), "2\n"),
        (format!("{own}/models/cup/1/model.sdf"), "cup"),
        (format!("{own}/models/cup/1/meshes/cup.obj"), "mesh"),
        (format!("{own}/worlds/table/1/a.world"), "table"),
        (
            format!("{other}/models/ground plane/11/model.sdf"),
            "plane 11",
        ),
        (format!("{other}/models/cup/3/model.sdf"), "cup 3"),
        (format!("{other}/models/spoon/7/model.sdf"), "spoon"),
        ("own/private".to_owned(), "private"),
    ] {
        let path = root.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        if path.ends_with("model.sdf") {
            fs::write(path.with_file_name("model.config"), list).unwrap();
        }
        fs::write(&path, text).unwrap();
    }
    let caches = ["own", "other", "gone"].map(|name| root.join(name));
    SearchPaths::default().with_fuel(FuelCaches::new(caches))
}

#[test]
fn addresses_of_fuel_mean_what_the_caches_have() {
    let root = tempfile::tempdir().unwrap();
    let open = cached(root.path());
    let confined = open.clone().confined([]);
    let fuel = "https://fuel.gazebosim.org/1.0/Open";
    let cup = root
        .path()
        .join("own/fuel.gazebosim.org/open/models/cup/1/model.sdf");
    let cup = cup.to_string_lossy();
    for (uri, from, expected) in [
        (
            format!("{fuel}/models/Ground Plane"),
            "/w.sdf",
            Some("plane 2"),
        ),
        (
            format!("{fuel}/models/Ground%20Plane/tip"),
            "/w.sdf",
            Some("plane 2"),
        ),
        (
            format!("{fuel}/models/Ground Plane/11"),
            "/w.sdf",
            Some("plane 11"),
        ),
        (format!("{fuel}/models/Ground Plane/12"), "/w.sdf", None),
        (format!("{fuel}/models/cup"), "/w.sdf", Some("cup 3")),
        (
            format!("{fuel}/models/cup/1/files/meshes/cup.obj"),
            "/w.sdf",
            Some("mesh"),
        ),
        (
            format!("{fuel}/models/cup/1/files/gone.obj"),
            "/w.sdf",
            None,
        ),
        (format!("{fuel}/worlds/Table"), "/w.sdf", Some("table")),
        ("model://Spoon".to_owned(), "/w.sdf", Some("spoon")),
        (
            "model://ground%20plane/model.sdf".to_owned(),
            "/w.sdf",
            Some("plane 2"),
        ),
        ("model://fork".to_owned(), "/w.sdf", None),
        (
            "model://any name/meshes/cup.obj".to_owned(),
            &cup,
            Some("mesh"),
        ),
        ("meshes/cup.obj".to_owned(), &cup, Some("mesh")),
        ("model://cup/../../private".to_owned(), &cup, None),
    ] {
        let resolvers: [&dyn Resolver; 2] = [&open, &confined];
        for resolver in resolvers {
            let found = resolver.read(&uri, from).map(|found| found.text);
            assert_eq!(found.as_deref().ok(), expected, "{uri}: {found:?}");
        }
    }
    let error = open
        .read(&format!("{fuel}/models/Fork"), "/w.sdf")
        .unwrap_err();
    let hint = "`phalanx fuel fetch https://fuel.gazebosim.org/1.0/Open/models/Fork`";
    assert!(error.to_string().contains(hint), "{error}");
}

#[test]
fn texts_of_others_have_nothing_of_fuel_without_caches() {
    let root = tempfile::tempdir().unwrap();
    let confined = cached(root.path())
        .with_fuel(FuelCaches::default())
        .confined([]);
    let uri = "https://fuel.gazebosim.org/1.0/Open/models/cup";
    let error = confined.read(uri, "/w.sdf").unwrap_err().to_string();
    assert!(error.contains("--spawn-from-fuel"), "{error}");
    assert!(confined.read("model://cup", "/w.sdf").is_err());
}
