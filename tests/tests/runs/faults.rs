//! Shows that a run which is to stop at a loss does so in order, whatever the loss, and that one
//! which is to recover replaces what it has lost and computes the same bits. Real processes are
//! killed, stopped and asked to leave; every wait is on a condition.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;
use tests::processes::{Process, Scratch, binary, is_running, send_signal, wait_for};
use tests::repository;

/// Time within which everything has ended once a loss can be known: far less than a step or a peer
/// is waited for, and with much to spare for what else the machine does.
const END_WITHIN: Duration = Duration::from_secs(20);

/// Silence after which a peer is lost, where one is to fall silent \[ms\].
const SILENCE_MS: u32 = 3000;

/// Silence that is longer than anything here: whoever is lost is found by other signs.
const NEVER_MS: u32 = 300_000;

/// A run of `phalanx run --headless` that writes all files that a run can write.
struct Run {
    scratch: Scratch,
    process: Process,
    peers: Vec<(String, u32)>,
}

impl Run {
    /// Starts one that stops at a loss, also at silence of so long.
    fn stopping(silence_ms: u32) -> Self {
        Self::start(
            silence_ms,
            &["--secondaries", "2", "--on-peer-loss", "stop"],
        )
    }

    fn start(silence_ms: u32, arguments: &[&str]) -> Self {
        let scratch = Scratch::new();
        let config = scratch.path("own.toml");
        let text =
            format!("[network]\nheartbeat_timeout_ms = {silence_ms}\npeer_timeout_s = 300\n");
        std::fs::write(&config, text).expect("a file can be written");
        let world = repository::root().join("worlds/ramp.sdf");
        let mut command = scratch.phalanx();
        command
            .args(["run", "--headless", "--format", "json", "--name", "r"])
            .arg(world)
            .env("PHALANX_CONFIG", config);
        for (flag, name) in [
            ("--digests", "digests"),
            ("--states", "states"),
            ("--events", "events"),
        ] {
            command.arg(flag).arg(scratch.path(name));
        }
        command.args(arguments);
        let process = scratch.start("run", &mut command);
        let mut run = Self {
            scratch,
            process,
            peers: Vec::new(),
        };
        let secondaries = arguments[1]
            .parse::<usize>()
            .expect("--secondaries N comes first");
        wait_for("all peers take part", || run.look() == secondaries + 1);
        run
    }

    /// Notes the peers that are active, and returns how many.
    fn look(&mut self) -> usize {
        let peers = self.show("peers");
        let peers = peers.as_array().cloned().unwrap_or_default();
        let active = peers.iter().filter(|peer| peer["state"] == "active");
        let pid = |peer: &Value| u32::try_from(peer["pid"].as_u64()?).ok();
        let named = active.filter_map(|peer| Some((peer["name"].as_str()?.to_owned(), pid(peer)?)));
        self.peers = named.collect();
        self.peers.len()
    }

    fn iteration(&self) -> u64 {
        self.show("stats")["iteration"].as_u64().unwrap_or(0)
    }

    /// Waits until a secondary is another process than before and is there.
    fn wait_for_successor(&mut self, name: &str) -> u32 {
        let former = self.pid(name);
        let mut pid = former;
        wait_for(&format!("{name} is replaced"), || {
            let peers = self.show("peers");
            let mut peers = peers.as_array().into_iter().flatten();
            let found = peers.find(|peer| peer["name"] == name);
            let is_there = ["active", "standby"];
            let found = found.filter(|peer| is_there.iter().any(|state| peer["state"] == *state));
            let now = found.and_then(|peer| u32::try_from(peer["pid"].as_u64()?).ok());
            pid = now.unwrap_or(former);
            pid != former
        });
        assert!(!is_running(former), "the former {name} is left");
        pid
    }

    /// Waits for a good end as soon as can be, with the digests of a run without a fault.
    fn completes(&mut self, iterations: u64) -> Value {
        let hurry = ["ctl", "r", "set-real-time-factor", "0"];
        let (code, _, stderr) = self.scratch.phalanx_says(&hurry);
        assert_eq!(code, 0, "{stderr}");
        assert_eq!(self.process.wait(), 0, "{}", self.process.stderr());
        let summary: Value = serde_json::from_str(&self.process.stdout()).expect("JSON");
        assert_eq!(summary["iterations"], iterations);
        let alone = self.scratch.path("alone");
        let world = repository::root().join("worlds/ramp.sdf");
        let iterations = iterations.to_string();
        let arguments = [
            "run",
            "--headless",
            "--secondaries",
            "0",
            "--real-time-factor",
            "0",
        ];
        let mut command = self.scratch.phalanx();
        command.args(arguments).args(["--iterations", &iterations]);
        command.arg("--digests").arg(&alone).arg(world);
        let mut process = self.scratch.start("alone", &mut command);
        assert_eq!(process.wait(), 0, "{}", process.stderr());
        assert!(
            read(&alone) == read(&self.scratch.path("digests")),
            "digests are the same"
        );
        summary
    }

    fn show(&self, panel: &str) -> Value {
        let (_, stdout, _) = self
            .scratch
            .phalanx_says(&["show", "r", panel, "--format", "json"]);
        serde_json::from_str(&stdout).unwrap_or(Value::Null)
    }

    fn pid(&self, name: &str) -> u32 {
        let mut peers = self.peers.iter();
        let found = peers.find(|(peer, _)| peer == name);
        found.unwrap_or_else(|| panic!("{name} takes part")).1
    }

    fn log(&self, name: &str) -> String {
        let path = self.scratch.path("r/logs").join(format!("{name}.log"));
        std::fs::read_to_string(path).unwrap_or_default()
    }

    /// Waits for the end, which must come within a time, and holds what is true of every stop: who
    /// and why is known to all, no process is left, and all files are whole. Returns the cause.
    fn stops_within(&mut self, timeout: Duration, culprit: &str) -> String {
        let begin = Instant::now();
        let code = self.process.wait();
        let took = begin.elapsed();
        assert_eq!(code, 4, "{}", self.process.stderr());
        assert!(took < timeout, "the end took {took:?}");
        for (name, pid) in &self.peers {
            assert!(!is_running(*pid), "{name} is left");
        }
        let summary: Value = serde_json::from_str(&self.process.stdout()).expect("JSON");
        assert_eq!(summary["outcome"], "peer_lost");
        let cause = summary["cause"].as_str().expect("a cause").to_owned();
        assert!(cause.starts_with(culprit), "{cause}");
        let written = std::fs::read_to_string(self.scratch.path("r/summary.json"))
            .expect("what a run writes is whole");
        assert_eq!(
            serde_json::from_str::<Value>(&written).expect("what a run writes is whole"),
            summary
        );
        for (name, _) in self.peers.iter().filter(|(name, _)| name != culprit) {
            assert!(self.log(name).contains(culprit), "{name} knows who");
        }
        self.files_are_whole(&summary);
        cause
    }

    /// Holds that digests, states and events end with whole lines and agree with the summary.
    fn files_are_whole(&self, summary: &Value) {
        let digests = read(&self.scratch.path("digests"));
        let last = digests.lines().last().unwrap_or("0 -").to_owned();
        assert!(digests.is_empty() || digests.ends_with('\n'), "{last}");
        let iterations = summary["iterations"]
            .as_u64()
            .expect("what a run writes is whole");
        assert_eq!(digests.lines().count() as u64, iterations);
        let events = read(&self.scratch.path("events"));
        let events: Vec<Value> = events
            .lines()
            .map(|line| serde_json::from_str(line).expect("each line of events is JSON"))
            .collect();
        let cause = summary["cause"]
            .as_str()
            .expect("what a run writes is whole");
        let told = events
            .iter()
            .position(|event| event["kind"] == "run" && event["severity"] == "error");
        let told = told.unwrap_or_else(|| panic!("the end is an event: {events:?}"));
        let culprit = cause.split(' ').next().expect("what a run writes is whole");
        let innocent = if culprit == "s1" { "s2" } else { "s1" };
        let left_before = events[..told].iter().any(|event| {
            let text = event["text"].as_str().unwrap_or_default();
            text.starts_with(innocent) && text.contains("left")
        });
        assert!(
            !left_before,
            "{innocent} is told as leaving before the cause: {events:?}"
        );
        let states = self.scratch.path("states");
        let (code, stdout, stderr) = self.scratch.phalanx_says(&[
            "diff",
            states.to_str().expect("what a run writes is whole"),
            states.to_str().expect("what a run writes is whole"),
        ]);
        assert_eq!(code, 0, "{stdout}{stderr}");
    }
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn a_secondary_that_is_killed_ends_the_run_which_names_the_signal() {
    let mut run = Run::stopping(NEVER_MS);
    send_signal(run.pid("s2"), "KILL");
    let cause = run.stops_within(END_WITHIN, "s2");
    assert!(cause.contains("was killed by SIGKILL"), "{cause}");
}

#[test]
fn a_secondary_that_is_asked_to_leave_says_so_and_ends_the_run() {
    let mut run = Run::stopping(NEVER_MS);
    send_signal(run.pid("s1"), "TERM");
    let cause = run.stops_within(END_WITHIN, "s1");
    assert!(cause.contains("SIGTERM"), "{cause}");
}

#[test]
fn a_secondary_that_is_stopped_falls_silent_and_the_run_says_what_it_does() {
    let mut run = Run::stopping(SILENCE_MS);
    send_signal(run.pid("s1"), "STOP");
    let silence = Duration::from_millis(SILENCE_MS.into());
    let cause = run.stops_within(silence + END_WITHIN, "s1");
    assert!(cause.contains("fell silent"), "{cause}");
    assert!(cause.contains("is stopped by a signal (T)"), "{cause}");
}

#[test]
fn a_step_that_takes_too_long_is_told_and_given_up() {
    // An honest step that takes longer than it may: the one that builds a large world.
    let scratch = Scratch::new();
    let arguments = ["generate", "piles", "--boxes", "5000", "--levels", "1x1"];
    let (code, world, stderr) = scratch.phalanx_says(&arguments);
    assert_eq!(code, 0, "{stderr}");
    let path = scratch.path("pile.sdf");
    std::fs::write(&path, world).unwrap();
    let endpoint = scratch.endpoint();
    let summary = scratch.path("summary.json");
    let mut primary = Command::new(binary("worker"));
    primary
        .args(["--network-role=primary", "--network-secondaries=1"])
        .args(["--bind", &endpoint, "--step-timeout", "0.05"])
        .args(["--warn-after", "0.01", "--diagnose-after", "0.02"])
        .arg("--summary")
        .arg(&summary)
        .arg(&path);
    let mut primary = scratch.start("primary", &mut primary);
    let mut secondary = Command::new(binary("worker"));
    secondary.args([
        "--network-role=secondary",
        "--connect",
        &endpoint,
        "--name",
        "s1",
    ]);
    let mut secondary = scratch.start("s1", &mut secondary);
    assert_eq!(primary.wait(), 4, "{}", primary.stderr());
    assert_eq!(secondary.wait(), 4, "{}", secondary.stderr());
    let summary: Value = serde_json::from_str(&read(&summary)).unwrap();
    let cause = summary["cause"].as_str().unwrap();
    assert!(
        cause.contains("s1") && cause.contains("did not acknowledge"),
        "{cause}"
    );
    let said = primary.stderr();
    assert!(said.contains("for s1"), "{said}");
    assert!(said.contains("of CPU time in the last"), "{said}");
}

/// Options of a run that recovers, so slowly that it is not over before all is done to it.
const RECOVERING: [&str; 6] = [
    "--on-peer-loss",
    "recover",
    "--real-time-factor",
    "0.1",
    "--checkpoint-every",
    "50",
];

fn recovering(silence_ms: u32, secondaries: &str, iterations: &str) -> Run {
    let mut arguments = vec!["--secondaries", secondaries, "--iterations", iterations];
    arguments.extend(RECOVERING);
    Run::start(silence_ms, &arguments)
}

#[test]
fn a_killed_secondary_is_started_again_and_no_bit_is_lost() {
    let mut run = recovering(NEVER_MS, "2", "8000");
    wait_for("the run is well under way", || run.iteration() > 120);
    send_signal(run.pid("s2"), "KILL");
    run.wait_for_successor("s2");
    let summary = run.completes(8000);
    assert_eq!(summary["events"]["recoveries"], 1);
    let said = run.process.stderr();
    assert!(said.contains("was killed by SIGKILL"), "{said}");
    assert!(said.contains("started s2 again"), "{said}");
}

#[test]
fn the_last_secondary_is_replaced_when_it_is_stopped_and_no_bit_is_lost() {
    let mut run = recovering(SILENCE_MS, "1", "8000");
    wait_for("the run is well under way", || run.iteration() > 120);
    send_signal(run.pid("s1"), "STOP");
    run.wait_for_successor("s1");
    let summary = run.completes(8000);
    assert_eq!(summary["events"]["recoveries"], 1);
}

#[test]
fn a_process_that_was_started_again_does_not_outlive_who_started_it() {
    let mut run = recovering(NEVER_MS, "2", "1000000");
    send_signal(run.pid("s1"), "KILL");
    let successor = run.wait_for_successor("s1");
    run.process.signal("KILL");
    run.process.wait_status();
    for pid in [successor, run.pid("s2"), run.pid("primary")] {
        wait_for("every process is gone", || !is_running(pid));
    }
}

#[test]
fn a_drained_secondary_leaves_and_stays_away() {
    let mut run = recovering(NEVER_MS, "2", "6000");
    let (code, _, stderr) = run.scratch.phalanx_says(&["ctl", "r", "drain", "s1"]);
    assert_eq!(code, 0, "{stderr}");
    wait_for("s1 is gone", || !is_running(run.pid("s1")));
    let (code, _, stderr) = run.scratch.phalanx_says(&["ctl", "r", "checkpoint"]);
    assert_eq!(code, 0, "{stderr}");
    let summary = run.completes(6000);
    assert_eq!(summary["events"]["recoveries"], 0);
    assert!(!run.process.stderr().contains("started s1 again"));
}
