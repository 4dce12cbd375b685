//! Shows what `phalanx check` says of files that are right, wrong, or right and not to be run.
//! Runs the real program on files in a temporary folder.

use std::path::Path;
use std::process::{Command, Output, Stdio};

struct TestDir {
    folder: tempfile::TempDir,
}

impl TestDir {
    fn with(name: &str, bytes: impl AsRef<[u8]>) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        std::fs::write(folder.path().join(name), bytes).expect("the folder can be written to");
        Self { folder }
    }

    fn check(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_phalanx"))
            .current_dir(self.folder.path())
            .arg("check")
            .args(arguments)
            .stdin(Stdio::null())
            .output()
            .expect("the program runs")
    }

    /// Checks the exit code and returns what was printed.
    fn says(&self, arguments: &[&str], code: i32) -> String {
        let output = self.check(arguments);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {stderr}");
        String::from_utf8(output.stdout).expect("text is printed")
    }

    fn json(&self, file: &str, code: i32) -> serde_json::Value {
        serde_json::from_str(&self.says(&[file, "--format", "json"], code)).expect("JSON")
    }
}

fn world_file(name: &str) -> String {
    let worlds = Path::new(env!("CARGO_MANIFEST_DIR")).join("../worlds");
    worlds.join(name).display().to_string()
}

#[test]
fn an_error_shows_its_line_and_a_caret_under_its_column() {
    let place = TestDir::with("w.sdf", "<sdf version='1.9'>\n  <world name='w'>\n</sdf>\n");
    let text = place.says(&["w.sdf"], 3);
    assert!(text.starts_with("error: w.sdf:"), "{text}");
    assert!(text.contains(" | ") && text.contains('^'), "{text}");
    assert!(text.ends_with("1 error\n"), "{text}");
    let report = place.json("w.sdf", 3);
    assert_eq!(report["valid"], false);
    let error = &report["errors"][0];
    for field in ["line", "column"] {
        assert!(error[field].as_u64().is_some(), "{report}");
    }
    assert_eq!(error["file"], "w.sdf");
}

#[test]
fn a_good_world_is_described_and_summed_up() {
    let place = TestDir::with("unused", "");
    let text = place.says(&[&world_file("ramp.sdf")], 0);
    let summary: Vec<&str> = text.lines().rev().take(2).collect();
    assert!(summary[0].starts_with("1 world, "), "{text}");
    assert!(
        summary[1].starts_with("world \"") && summary[1].contains(" links, "),
        "{text}"
    );
    let report = place.json(&world_file("ramp.sdf"), 0);
    assert_eq!(report["valid"], true);
    let model = &report["worlds"][0]["models"][0];
    let scope = format!("{}::", model["name"].as_str().unwrap());
    let link = model["links"][0]["name"].as_str().unwrap();
    assert!(link.starts_with(&scope), "{report}");
    assert_eq!(model["pose"].as_array().unwrap().len(), 6);
}

#[test]
fn a_world_that_cannot_be_run_is_valid_with_a_warning() {
    let worlds = "<sdf version='1.9'><world name='a'/>\n<world name='b'><physics type='ode'>\n\
        <max_step_size>0.004</max_step_size></physics></world></sdf>";
    let place = TestDir::with("w.sdf", worlds);
    let report = place.json("w.sdf", 0);
    let warnings = report["warnings"].as_array().unwrap();
    let warning = warnings
        .iter()
        .find(|warning| warning["code"] == "NOT_RUNNABLE");
    assert_eq!(warning.unwrap()["line"], 3, "{report}");
}

#[test]
fn text_is_utf_8_or_latin_1_and_utf_16_is_refused() {
    let world = b"<sdf version='1.9'><world name='gr\xf6\xdfe'/></sdf>".to_vec();
    let place = TestDir::with("w.sdf", world);
    assert_eq!(place.json("w.sdf", 0)["worlds"][0]["name"], "größe");
    let place = TestDir::with("w.sdf", b"\xff\xfe<\0s\0d\0f\0/\0>\0");
    let output = place.check(&["w.sdf"]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{stderr}");
    assert!(stderr.contains("save it as UTF-8"), "{stderr}");
}

#[test]
fn a_robot_that_a_world_includes_is_read() {
    let robot = "<robot name='r'><link name='a'><inertial><mass value='2'/>\
        <inertia ixx='1' ixy='0' ixz='0' iyy='1' iyz='0' izz='1'/></inertial></link></robot>";
    let place = TestDir::with("robot.urdf", robot);
    let world = "<sdf version='1.9'><world name='w'><include><uri>robot.urdf</uri></include>\
        </world></sdf>";
    std::fs::write(place.folder.path().join("w.sdf"), world).unwrap();
    let report = place.json("w.sdf", 0);
    let link = &report["worlds"][0]["models"][0]["links"][0];
    assert_eq!(
        (&link["name"], &link["mass"]),
        (&"r::a".into(), &2.0.into()),
        "{report}"
    );
}

#[test]
fn warnings_stand_beside_errors_and_unexpanded_xacro_is_refused() {
    let robot = "<robot name='r'>\n<link name='slide'/><transmission name='t'/>\n</robot>";
    let place = TestDir::with("r.urdf", robot);
    let text = place.says(&["r.urdf"], 3);
    assert!(
        text.contains("the root link \"slide\" has no mass"),
        "{text}"
    );
    assert!(text.ends_with("1 error, 2 warnings\n"), "{text}");
    let report = place.json("r.urdf", 3);
    assert_eq!(report["errors"][0]["line"], 2, "{report}");
    assert_eq!(report["warnings"].as_array().map(Vec::len), Some(2));
    let macros = "<robot name='r'>\n<xacro:include filename='arm.xacro'/></robot>";
    let text = TestDir::with("r.urdf", macros).says(&["r.urdf"], 3);
    assert!(text.starts_with("error: r.urdf:2:1:"), "{text}");
    assert!(text.contains("run `xacro r.urdf > robot.urdf`"), "{text}");
}
