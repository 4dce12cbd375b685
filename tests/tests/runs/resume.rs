//! Shows that a run whose processes were all killed goes on where it was, on any number of
//! secondaries, and writes the digests of an undisturbed one. Real processes are killed at any
//! moment, more than once, and taken up again by `phalanx resume`.

use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;
use tests::processes::{Scratch, is_running, kill_all, kill_all_to_resume, send_signal, wait_for};
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
        &["--iterations", ITERATIONS, "--real-time-factor", "0.1"],
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
    kill_all_to_resume(&scratch);

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

/// Starts run `r` in a pause and has it do so many iterations, a hundred at a time.
fn stepped(scratch: &Scratch, hundreds: usize, more: &[&str]) {
    let world = world();
    let begin = [
        &[
            "run",
            "--detach",
            "--paused",
            "--name",
            "r",
            "--secondaries",
            "1",
        ][..],
        more,
        &[&world],
    ];
    let (code, _, stderr) = scratch.phalanx_says(&begin.concat());
    assert_eq!(code, 0, "{stderr}");
    wait_for("the run is paused", || {
        let (_, listed, _) = scratch.phalanx_says(&["ps"]);
        listed.contains("paused")
    });
    for _ in 0..hundreds {
        let (code, _, stderr) = scratch.phalanx_says(&["ctl", "r", "step", "100"]);
        assert_eq!(code, 0, "{stderr}");
    }
}

/// Returns the only segment of the log of run `r`.
fn segment(scratch: &Scratch) -> PathBuf {
    scratch.path("r/journal/log-0000000001")
}

#[test]
fn a_damaged_journal_is_not_taken_up_unless_its_loss_is_accepted() {
    let scratch = Scratch::new();
    stepped(&scratch, 4, &[]);
    kill_all(&scratch);
    let whole = std::fs::read(segment(&scratch)).expect("the log is there");
    let mut damaged = whole.clone();
    let middle = damaged.len() / 2;
    damaged[middle] ^= 4;
    std::fs::write(segment(&scratch), &damaged).expect("it can be written");

    for how in ["--headless", "--detach"] {
        let (code, _, stderr) = scratch.phalanx_says(&["resume", "r", how]);
        assert_eq!(code, 3, "{how}: {stderr}");
        for part in [
            "log-0000000001: it is damaged at byte",
            "to 400",
            "--accept-loss",
        ] {
            assert!(stderr.contains(part), "{how}: {stderr}");
        }
    }
    // By hand, it is the worker that refuses.
    let worker = Command::new(tests::processes::binary("worker"))
        .arg(format!("--resume={}", scratch.path("r/journal").display()))
        .output()
        .expect("a worker starts");
    let stderr = String::from_utf8_lossy(&worker.stderr);
    assert_eq!(worker.status.code(), Some(3), "{stderr}");
    assert!(stderr.contains("is damaged at byte"), "{stderr}");

    std::fs::remove_file(segment(&scratch)).expect("it can be removed");
    let (code, _, stderr) = scratch.phalanx_says(&["resume", "r", "--headless"]);
    assert!(
        code == 3 && stderr.contains("log-0000000001 is missing"),
        "{code}: {stderr}"
    );

    std::fs::write(segment(&scratch), &damaged).expect("it can be written");
    let again = ["resume", "r", "--detach", "--accept-loss"];
    let (code, _, stderr) = scratch.phalanx_says(&again);
    assert_eq!(code, 0, "{stderr}");
    wait_for("the loss is an event", || {
        let asked = ["show", "r", "events", "--format", "json"];
        let (_, events, _) = scratch.phalanx_says(&asked);
        events.contains("the run goes on without") && events.contains("is damaged at byte")
    });
    kill_all(&scratch);
    // It was accepted once and for all.
    let (code, _, stderr) = scratch.phalanx_says(&["resume", "r", "--detach"]);
    assert_eq!(code, 0, "{stderr}");
}

#[test]
fn a_run_is_taken_up_again_right_after_the_death_of_its_run_daemon() {
    let scratch = Scratch::new();
    let file = scratch.path("events.jsonl");
    stepped(
        &scratch,
        1,
        &["--events", file.to_str().expect("the path is text")],
    );
    // What happens is written to the same file, in every life.
    let lives = || {
        let text = std::fs::read_to_string(&file).expect("events are written");
        text.matches("the run goes on after iteration").count()
    };
    for time in 1..=4 {
        let text = std::fs::read_to_string(scratch.path("r/run.json")).expect("it is known");
        let record: Value = serde_json::from_str(&text).expect("the record is JSON");
        let daemon = u32::try_from(record["pid"].as_u64().expect("a pid")).expect("it is small");
        send_signal(daemon, "KILL");
        wait_for("the run daemon is gone", || !is_running(daemon));
        let (code, stdout, stderr) = scratch.phalanx_says(&["resume", "r", "--detach"]);
        assert_eq!((code, stdout.as_str()), (0, "r\n"), "time {time}: {stderr}");
        // It is done once the run has replayed its past.
        let (code, _, stderr) = scratch.phalanx_says(&["ctl", "r", "step", "1"]);
        assert_eq!(code, 0, "time {time}: {stderr}");
        // A run daemon that is killed writes nothing more.
        wait_for("the event of this life is there", || lives() == time);
    }
    let (_, stdout, _) = scratch.phalanx_says(&["show", "r", "stats", "--format", "json"]);
    let stats: Value = serde_json::from_str(&stdout).expect("the figures are JSON");
    assert_eq!(stats["iteration"], 104);
}

#[test]
fn a_run_that_takes_the_name_of_an_unfinished_one_leaves_it_to_be_resumed() {
    let scratch = Scratch::new();
    let whole = undisturbed(&scratch);
    let file = scratch.path("cut.txt");
    let digests = file.to_str().expect("the path is text");
    let begin = ["--iterations", ITERATIONS, "--digests", digests];
    stepped(&scratch, 2, &begin);
    kill_all(&scratch);

    let world = world();
    let other = [
        &["run", "--headless", "--name", "r", "--secondaries", "0"][..],
        &["--iterations", "50", "--real-time-factor", "0", &world],
    ];
    let (code, _, stderr) = scratch.phalanx_says(&other.concat());
    assert_eq!(code, 0, "{stderr}");
    assert!(stderr.contains("`phalanx resume r-1`"), "{stderr}");
    let (_, listed, _) = scratch.phalanx_says(&["ps"]);
    let is_listed = |name: &str, state: &str| {
        let mut lines = listed.lines();
        lines.any(|line| line.starts_with(name) && line.contains(state))
    };
    assert!(is_listed("r-1 ", "resumable"), "{listed}");
    assert!(!is_listed("r ", "resumable"), "{listed}");

    let (code, _, stderr) = scratch.phalanx_says(&["resume", "r-1", "--detach"]);
    assert_eq!(code, 0, "{stderr}");
    let (code, _, stderr) = scratch.phalanx_says(&["ctl", "r-1", "play"]);
    assert_eq!(code, 0, "{stderr}");
    wait_for("the run has ended", || {
        let (_, listed, _) = scratch.phalanx_says(&["ps", "--format", "json"]);
        let runs: Value = serde_json::from_str(&listed).expect("the list is JSON");
        let mut runs = runs.as_array().expect("a list").iter();
        runs.all(|run| run["living"] == false)
    });
    let cut = std::fs::read_to_string(&file).expect("the digests are written");
    assert!(cut == whole, "the digests are those of an undisturbed run");
}

#[test]
fn a_job_that_slurm_starts_again_goes_on_with_its_run() {
    let scratch = Scratch::new();
    let whole = undisturbed(&scratch);
    let file = scratch.path("cut.txt");
    let digests = file.to_str().expect("the path is text");
    let world = world();
    let words = [
        &["run", "--headless", "--name", "r", "--secondaries", "2"][..],
        &["--iterations", ITERATIONS, "--real-time-factor", "0.1"],
        &["--digests", digests, &world],
    ]
    .concat();
    let job = |restarts: &str| {
        let mut command = scratch.phalanx();
        command.args(&words).env("SLURM_RESTART_COUNT", restarts);
        command
    };
    let mut first = scratch.start("first", &mut job("0"));
    wait_for_iteration(&scratch, 150);
    kill_all(&scratch);
    wait_for("the first job is killed", || first.ended().is_some());

    let mut second = scratch.start("second", &mut job("1"));
    assert_eq!(second.wait(), 0, "{}", second.stderr());
    let told = second.stderr();
    assert!(told.contains("the run r goes on"), "{told}");
    let cut = std::fs::read_to_string(&file).expect("the digests are written");
    assert!(cut == whole, "the digests are those of an undisturbed run");
}
