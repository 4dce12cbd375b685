//! Shows that `phalanx check` tells what a start tells, and that a run which could not write its
//! files does not begin. Runs the real programs on worlds with systems and sensors that are wrong.

use std::collections::BTreeSet;
use std::io::Write;
use std::process::{Command, Stdio};

use serde_json::Value;
use tests::processes::{Scratch, binary};

/// A world with something wrong in every part that a start looks at.
const WRONG: &str = "<sdf version='1.11'>
<world name='w'>
<plugin name='gz::sim::systems::ApplyLinkWrench' filename='none'/>
<plugin name='gz::sim::systems::DiffDrive' filename='none'/>
<model name='robot'>
<link name='body'><inertial><mass>0</mass></inertial>
<sensor name='turn' type='imu'><imu><orientation_reference_frame><localization>UP</localization>
</orientation_reference_frame></imu></sensor>
<sensor name='ray' type='lidar'><lidar><scan><horizontal><samples>90000000</samples></horizontal>
</scan></lidar></sensor>
<sensor name='eye' type='camera'><camera/></sensor>
<visual name='v'><geometry><mesh><uri>missing.obj</uri></mesh></geometry></visual>
</link>
<plugin name='gz::sim::systems::DiffDrive' filename='none'>
  <left_joint>nowhere</left_joint><right_joint>nowhere</right_joint></plugin>
<plugin name='gz::sim::systems::JointController' filename='none'/>
</model>
</world></sdf>
";

/// Returns what a check warns of, as lines with place and code.
fn checked(report: &Value) -> BTreeSet<String> {
    let warnings = report["warnings"].as_array().expect("there are warnings");
    let line = |warning: &Value| {
        let text = |field: &str| warning[field].as_str().expect("a text").to_owned();
        let (file, message, code) = (text("file"), text("message"), text("code"));
        let (line, column) = (&warning["line"], &warning["column"]);
        match code.as_str() {
            "VISUAL_FILE" => format!("{message} [{code}]"),
            _ => format!("{file}:{line}:{column}: {message} [{code}]"),
        }
    };
    warnings.iter().map(line).collect()
}

#[test]
fn a_check_tells_what_a_start_tells_with_the_same_places() {
    let scratch = Scratch::new();
    let path = scratch.path("w.sdf").display().to_string();
    std::fs::write(&path, WRONG).expect("the folder can be written to");
    let (code, stdout, stderr) = scratch.phalanx_says(&["check", &path, "--format", "json"]);
    assert_eq!(code, 0, "{stderr}");
    let report: Value = serde_json::from_str(&stdout).expect("JSON");
    assert_eq!(report.get("unseen"), None, "{report}");
    let told = checked(&report);
    let output = Command::new(binary("worker"))
        .args([path.as_str(), "--iterations", "2"])
        .env("PHALANX_RUNTIME_DIR", scratch.folder())
        .stdin(Stdio::null())
        .output()
        .expect("the worker starts");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    let said = stderr.lines().filter_map(|line| line.split_once(" WARN "));
    let said: BTreeSet<String> = said.map(|(_, text)| text.to_owned()).collect();
    assert_eq!(told, said);
    for (place, code) in [
        (
            ":4:1: system gz::sim::systems::DiffDrive of world w",
            "SYSTEM",
        ),
        (":6:1: robot::body: a link whose mass", "PHYSICS"),
        (
            ":7:1: sensor robot::body::turn (imu) does nothing",
            "SENSOR",
        ),
        (
            ":9:1: sensor robot::body::ray (lidar) does nothing",
            "SENSOR",
        ),
        (
            ":14:1: system gz::sim::systems::DiffDrive of model robot",
            "SYSTEM",
        ),
    ] {
        let is_it = |line: &&String| line.contains(place) && line.ends_with(&format!("[{code}]"));
        assert!(told.iter().any(|line| is_it(&line)), "{place} of {told:#?}");
    }
    let shown = scratch.phalanx_says(&["check", &path]).1;
    assert!(shown.contains("\n  4 | <plugin name="), "{shown}");
}

#[test]
fn a_world_that_is_piped_in_is_looked_at_too() {
    let scratch = Scratch::new();
    let mut check = scratch
        .phalanx()
        .args(["check", "/dev/stdin"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("phalanx starts");
    let mut stdin = check.stdin.take().expect("it is piped");
    stdin.write_all(WRONG.as_bytes()).expect("it reads");
    drop(stdin);
    let output = check.wait_with_output().expect("it ends");
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{told}");
    assert!(
        told.contains("of model robot") && told.contains("[SYSTEM]"),
        "{told}"
    );
}

#[test]
fn what_cannot_be_written_is_told_once_before_anything_starts() {
    let scratch = Scratch::new();
    let missing = scratch.path("missing/file").display().to_string();
    for flag in [
        "--digests",
        "--record",
        "--record-commands",
        "--trace",
        "--events",
        "--states",
    ] {
        let words = ["run", "--headless", "--iterations", "5", flag, &missing];
        let (code, stdout, stderr) = scratch.phalanx_says(&words);
        assert_eq!((code, stdout.as_str()), (3, ""), "{flag}: {stderr}");
        let expected = format!(
            "error: cannot write {missing} ({flag}): No such file or directory (os error 2)\n"
        );
        assert_eq!(stderr, expected, "{flag}");
    }
    let entries = std::fs::read_dir(scratch.folder()).expect("it is there");
    assert_eq!(entries.count(), 0, "no run has begun");
    let file = scratch.path("kept").display().to_string();
    std::fs::write(&file, "before").expect("the folder can be written to");
    let words = [
        "run",
        "--headless",
        "--digests",
        &file,
        "--states",
        &missing,
    ];
    assert_eq!(scratch.phalanx_says(&words).0, 3);
    assert_eq!(
        std::fs::read_to_string(&file).expect("it is there"),
        "before"
    );
}
