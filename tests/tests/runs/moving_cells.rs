//! Shows that cells move between real processes, by hand, while a run goes on and while it pauses,
//! and that not one bit of it changes; and that a command to a run that dies ends with it.

use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;
use tests::processes::{Process, Scratch, send_signal, wait_for};
use tests::repository;

const ITERATIONS: &str = "4000";

fn run(scratch: &Scratch, name: &str, arguments: &[&str]) -> (Process, PathBuf) {
    let states = scratch.path(&format!("{name}.states"));
    let mut command = scratch.phalanx();
    command
        .args(["run", "--headless", "--format", "json", "--name", name])
        .arg(repository::root().join("worlds/four_levels.sdf"))
        .args(["--iterations", ITERATIONS])
        .args(arguments)
        .arg("--states")
        .arg(&states);
    (scratch.start(name, &mut command), states)
}

fn phalanx(scratch: &Scratch, arguments: &[&str]) -> (i32, String) {
    let output = said(scratch.phalanx().args(arguments));
    let text = [output.stdout, output.stderr].concat();
    let code = output.status.code().expect("it ends by itself");
    (code, String::from_utf8(text).expect("it says text"))
}

fn said(command: &mut Command) -> std::process::Output {
    command.output().expect("phalanx starts")
}

fn show(scratch: &Scratch, run: &str, panel: &str) -> Option<Value> {
    let (code, text) = phalanx(scratch, &["show", run, panel, "--format", "json"]);
    (code == 0).then(|| serde_json::from_str(&text).expect("it is JSON"))
}

fn owner_of(scratch: &Scratch, run: &str, level: &str) -> Option<String> {
    let levels = show(scratch, run, "levels")?;
    let mut levels = levels.as_array()?.iter();
    let found = levels.find(|one| one["name"] == level)?;
    Some(found["owner"].as_str()?.to_owned())
}

#[test]
fn cells_that_are_moved_by_hand_change_no_bit() {
    let scratch = Scratch::new();
    let (mut alone, expected) = run(
        &scratch,
        "alone",
        &["--secondaries", "0", "--real-time-factor", "0"],
    );
    assert_eq!(alone.wait(), 0, "{}", alone.stderr());

    // So slowly that it does not end while time runs between two moves.
    let moving = ["--secondaries", "2", "--balance", "off", "--paused"];
    let slowly = ["--real-time-factor", "0.05"];
    let (mut moved, states) = run(&scratch, "moved", &[&moving[..], &slowly].concat());
    wait_for("level L1 has a host", || {
        owner_of(&scratch, "moved", "L1").is_some()
    });
    for turn in 0..6 {
        let owner = owner_of(&scratch, "moved", "L1").expect("somebody is in L1");
        let other = if owner == "s1" { "s2" } else { "s1" };
        let (code, text) = phalanx(&scratch, &["ctl", "moved", "move-cell", "L1", other]);
        assert_eq!(code, 0, "{text}");
        assert_eq!(owner_of(&scratch, "moved", "L1").as_deref(), Some(other));
        // Half of the moves are made while time is paused.
        let next = if turn == 2 { "play" } else { "pause" };
        let (code, text) = phalanx(&scratch, &["ctl", "moved", next]);
        assert_eq!(code, 0, "{text}");
    }
    for words in [&["set-real-time-factor", "0"][..], &["play"]] {
        let (code, text) = phalanx(&scratch, &[&["ctl", "moved"], words].concat());
        assert_eq!(code, 0, "{text}");
    }
    assert_eq!(moved.wait(), 0, "{}", moved.stderr());
    let summary: Value = serde_json::from_str(&moved.stdout()).expect("the summary is JSON");
    assert_eq!(summary["events"]["migrations"], 6);
    assert!(summary["events"]["hand_offs"].as_u64() > Some(0));

    let files = [&expected, &states].map(|path| path.to_str().expect("the path is text"));
    let (code, text) = phalanx(&scratch, &["diff", files[0], files[1]]);
    assert_eq!((code, text.as_str()), (0, "equal: 4000 iterations\n"));
}

#[test]
fn a_command_to_a_run_that_dies_ends_with_it() {
    let scratch = Scratch::new();
    let (mut dying, _) = run(&scratch, "dying", &["--secondaries", "2", "--paused"]);
    wait_for("the run is paused", || {
        show(&scratch, "dying", "stats").is_some_and(|stats| stats["state"] == "paused")
    });
    let peers = show(&scratch, "dying", "peers").expect("the run answers");
    let peers = peers.as_array().expect("peers are a list");
    let primary = peers.iter().find(|peer| peer["name"] == "primary");
    let pid = primary.and_then(|peer| peer["pid"].as_u64());
    send_signal(pid.expect("the primary has a process") as u32, "KILL");
    let asked = Instant::now();
    let pause = ["ctl", "--timeout", "300", "dying", "pause"];
    let (code, text) = phalanx(&scratch, &pause);
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("ended"), "{text}");
    assert!(
        asked.elapsed() < Duration::from_secs(100),
        "{:?}",
        asked.elapsed()
    );
    assert_eq!(dying.wait(), 4, "{}", dying.stderr());
}
