//! Shows that a run whose processes were all killed goes on where it was, on any number of
//! secondaries, and writes the digests of an undisturbed one. Real processes are killed at any
//! moment, more than once, and taken up again by `phalanx resume`.

use std::process::Command;

use serde_json::Value;
use tests::processes::{Scratch, is_running, wait_for};
use tests::repository;

const ITERATIONS: &str = "1500";

fn world() -> String {
    let path = repository::root().join("worlds/ramp.sdf");
    path.to_str().expect("the path is text").to_owned()
}

/// Returns the digests of an undisturbed run.
fn undisturbed(scratch: &Scratch) -> String {
    let file = scratch.path("whole.txt");
    let arguments = [
        &[
            "run",
            "--headless",
            "--secondaries",
            "0",
            "--journal",
            "off",
        ][..],
        &["--iterations", ITERATIONS, "--real-time-factor", "0"],
        &[
            "--digests",
            file.to_str().expect("the path is text"),
            &world(),
        ],
    ];
    let (code, _, stderr) = scratch.phalanx_says(&arguments.concat());
    assert_eq!(code, 0, "{stderr}");
    std::fs::read_to_string(file).expect("the digests are written")
}

/// Kills all processes of run `r` at once.
fn kill_all(scratch: &Scratch) {
    let text = std::fs::read_to_string(scratch.path("r/run.json")).expect("the run is known");
    let record: Value = serde_json::from_str(&text).expect("the record is JSON");
    let workers = record["workers"].as_array().expect("a list").iter();
    let pids = [&record["pid"]]
        .into_iter()
        .chain(workers.map(|worker| &worker["pid"]));
    let pids: Vec<u32> = pids
        .map(|pid| u32::try_from(pid.as_u64().expect("a pid")).expect("pids are small"))
        .collect();
    let names = pids.iter().map(u32::to_string);
    // Those that the end of the keeper has ended are gone already.
    let _ = Command::new("kill").arg("-KILL").args(names).status();
    for pid in pids {
        wait_for(&format!("{pid} is gone"), || !is_running(pid));
    }
}

/// Waits until run `r` has come so far.
fn wait_for_iteration(scratch: &Scratch, least: u64) {
    wait_for(&format!("iteration {least}"), || {
        let (_, stdout, _) = scratch.phalanx_says(&["show", "r", "stats", "--format", "json"]);
        let stats: Value = serde_json::from_str(&stdout).unwrap_or(Value::Null);
        stats["iteration"].as_u64().is_some_and(|now| now >= least)
    });
}

#[test]
fn a_run_that_is_killed_twice_ends_with_the_digests_of_an_undisturbed_one() {
    let scratch = Scratch::new();
    let whole = undisturbed(&scratch);
    let file = scratch.path("cut.txt");
    let digests = file.to_str().expect("the path is text");
    let world = world();
    let begin = [
        &["run", "--detach", "--name", "r", "--secondaries", "2"][..],
        &["--iterations", ITERATIONS, "--real-time-factor", "0.3"],
        &["--checkpoint-every", "100", "--digests", digests, &world],
    ];
    let (code, _, stderr) = scratch.phalanx_says(&begin.concat());
    assert_eq!(code, 0, "{stderr}");
    wait_for_iteration(&scratch, 150);
    let (code, _, stderr) = scratch.phalanx_says(&["resume", "r", "--headless"]);
    assert!(
        code == 1 && stderr.contains("is living"),
        "{code}: {stderr}"
    );
    kill_all(&scratch);
    let (_, listed, _) = scratch.phalanx_says(&["ps"]);
    assert!(listed.contains("killed, resumable"), "{listed}");

    let again = ["resume", "--detach", "--secondaries", "3"];
    let (code, stdout, stderr) = scratch.phalanx_says(&again);
    assert_eq!((code, stdout.as_str()), (0, "r\n"), "{stderr}");
    wait_for_iteration(&scratch, 400);
    kill_all(&scratch);

    let last = [
        "resume",
        "r",
        "--headless",
        "--format",
        "json",
        "--secondaries",
        "1",
    ];
    let (code, stdout, stderr) = scratch.phalanx_says(&last);
    assert_eq!(code, 0, "{stderr}");
    let summary: Value = serde_json::from_str(&stdout).expect("the summary is JSON");
    assert_eq!(summary["iterations"], 1500);
    let cut = std::fs::read_to_string(&file).expect("the digests are written");
    assert!(cut == whole, "the digests are those of an undisturbed run");
    let (code, _, stderr) = scratch.phalanx_says(&["resume"]);
    assert!(
        code == 1 && stderr.contains("nothing to resume"),
        "{stderr}"
    );
}
