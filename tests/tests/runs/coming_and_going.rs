//! Shows that models which come and go leave nothing behind: real processes spawn and remove one
//! over and over, and what a checkpoint takes on the disk stays what it was, also of the run that
//! is taken up again after all its processes were killed.

use std::path::Path;

use serde_json::Value;
use tests::processes::{Scratch, kill_all, wait_for};
use tests::repository;

/// Number of times a model comes and goes between two measurements.
const CYCLES: u32 = 40;
/// Difference that the sizes of checkpoints may have \[bytes\]: models fall asleep, numbers count
/// up.
const SLACK_BYTES: u64 = 8 << 10;

const CRATE: &str = "<sdf version='1.10'><model name='crate'><link name='l'>\
    <inertial><mass>1</mass></inertial><collision name='c'><geometry><box>\
    <size>0.5 0.5 0.5</size></box></geometry></collision></link>\
    <plugin name='gz::sim::systems::VelocityControl' filename='v'/></model></sdf>";

/// Does a command of `phalanx ctl` on run `r`.
fn ctl(scratch: &Scratch, arguments: &[&str]) {
    let arguments = [&["ctl", "r"][..], arguments].concat();
    let (code, _, stderr) = scratch.phalanx_says(&arguments);
    assert_eq!(code, 0, "{arguments:?}: {stderr}");
}

fn come_and_go(scratch: &Scratch, file: &str) {
    for cycle in 0..CYCLES {
        ctl(scratch, &["spawn", file, "--pose", "0 0 6"]);
        if cycle % 8 == 0 {
            ctl(scratch, &["step", "3"]);
        }
        ctl(scratch, &["remove", "crate"]);
    }
}

/// Returns how many bytes a checkpoint takes that is made now.
fn checkpoint_bytes(scratch: &Scratch) -> u64 {
    ctl(scratch, &["step", "1"]);
    ctl(scratch, &["checkpoint"]);
    let number = |path: &Path| -> Option<u64> {
        let name = path.file_name()?.to_str()?;
        name.strip_prefix("checkpoint-")?.parse().ok()
    };
    let entries = std::fs::read_dir(scratch.path("r/journal")).expect("the journal is there");
    let files = entries.map(|entry| entry.expect("it can be read").path());
    let newest = files
        .filter(|path| number(path).is_some())
        .max_by_key(|path| number(path));
    let newest = newest.expect("a checkpoint is there");
    std::fs::metadata(newest).expect("it is there").len()
}

/// Waits until run `r` does what it is asked.
fn wait_until_ready(scratch: &Scratch) {
    wait_for("the run is paused", || {
        let (_, stdout, _) = scratch.phalanx_says(&["show", "r", "stats", "--format", "json"]);
        let stats: Value = serde_json::from_str(&stdout).unwrap_or(Value::Null);
        stats["state"] == "paused"
    });
}

#[test]
fn checkpoints_do_not_grow_with_models_that_came_and_went() {
    let scratch = Scratch::new();
    let file = scratch.path("crate.sdf");
    std::fs::write(&file, CRATE).expect("a file can be written");
    let file = file.to_str().expect("the path is text");
    let world = repository::root().join("worlds/ramp.sdf");
    let world = world.to_str().expect("the path is text");
    let begin = [
        &["run", "--detach", "--name", "r", "--secondaries", "2"][..],
        &["--paused", "--checkpoint-every", "100000", world],
    ];
    let (code, _, stderr) = scratch.phalanx_says(&begin.concat());
    assert_eq!(code, 0, "{stderr}");
    wait_until_ready(&scratch);
    ctl(&scratch, &["spawn", file, "--pose", "0 0 6"]);
    ctl(&scratch, &["remove", "crate"]);
    let few = checkpoint_bytes(&scratch);
    come_and_go(&scratch, file);
    let many = checkpoint_bytes(&scratch);
    assert!(
        many.abs_diff(few) < SLACK_BYTES,
        "{few} became {many} bytes"
    );

    kill_all(&scratch);
    let again = ["resume", "--detach", "--secondaries", "3"];
    let (code, _, stderr) = scratch.phalanx_says(&again);
    assert_eq!(code, 0, "{stderr}");
    wait_until_ready(&scratch);
    come_and_go(&scratch, file);
    let resumed = checkpoint_bytes(&scratch);
    assert!(
        resumed.abs_diff(few) < SLACK_BYTES,
        "{few} became {resumed} bytes"
    );
    ctl(&scratch, &["stop"]);
}
