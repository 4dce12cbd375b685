//! Shows that real processes over real `ipc://` and `tcp://` compute the same bits, obey, and end
//! in order whatever happens to them. Every wait is on a condition, with a generous bound.

use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;
use tests::processes::{Process, Scratch, binary, is_running, send_signal, wait_for};
use tests::repository;

fn world(name: &str) -> PathBuf {
    repository::root().join("worlds").join(name)
}

fn headless(scratch: &Scratch, arguments: &[&str]) -> Command {
    let mut command = scratch.phalanx();
    command
        .args(["run", "--headless", "--format", "json"])
        .args(arguments);
    command
}

/// Runs a world to its end and returns the summary and the digests of all iterations.
fn run(world: &str, secondaries: u32, iterations: u32) -> (Value, String) {
    let scratch = Scratch::new();
    let digests = scratch.path("digests");
    let (secondaries, iterations) = (secondaries.to_string(), iterations.to_string());
    let mut command = headless(&scratch, &[world, "--secondaries", &secondaries]);
    command.args(["--iterations", &iterations, "--real-time-factor", "0"]);
    command.arg("--digests").arg(&digests);
    let mut process = scratch.start("run", &mut command);
    let code = process.wait();
    assert_eq!(code, 0, "{}", process.stderr());
    let summary = serde_json::from_str(&process.stdout()).expect("the summary is JSON");
    (
        summary,
        std::fs::read_to_string(digests).expect("digests are text"),
    )
}

fn worker(arguments: &[&str]) -> Command {
    let mut command = Command::new(binary("worker"));
    command.args(arguments);
    command
}

/// Arguments of a run that ends with the first loss, and not for silence.
const STOPS: [&str; 4] = ["--on-peer-loss", "stop", "--heartbeat-timeout-ms", "300000"];

/// Time within which a run has ended once it is to: far less than anything is waited for, and with
/// much to spare for what else the machine does.
const END_WITHIN: Duration = Duration::from_secs(20);

/// A run of two secondaries that goes on until something happens to it.
struct Going {
    scratch: Scratch,
    process: Process,
    pids: Vec<(String, u32)>,
}

impl Going {
    fn start(arguments: &[&str]) -> Self {
        let scratch = Scratch::new();
        let ramp = world("ramp.sdf");
        let ramp = ramp.to_str().expect("the path is text");
        let mut all = vec![ramp, "--secondaries", "2", "--name", "r"];
        all.extend_from_slice(arguments);
        let process = scratch.start("run", &mut headless(&scratch, &all));
        let mut going = Self {
            scratch,
            process,
            pids: Vec::new(),
        };
        let mut peers = Value::Null;
        wait_for("all peers are there", || {
            peers = going.show("peers");
            peers.as_array().is_some_and(|peers| {
                peers.len() == 3 && peers.iter().all(|peer| peer["state"] == "active")
            })
        });
        let peers = peers.as_array().expect("it was just seen to be a list");
        going.pids = peers
            .iter()
            .map(|peer| {
                let name = peer["name"].as_str().expect("peers have names").to_owned();
                let pid = peer["pid"].as_u64().expect("peers have pids");
                (name, u32::try_from(pid).expect("pids are small"))
            })
            .collect();
        going
    }

    fn pid(&self, name: &str) -> u32 {
        let found = self.pids.iter().find(|(peer, _)| peer == name);
        found
            .unwrap_or_else(|| panic!("no peer {name} in {:?}", self.pids))
            .1
    }

    fn show(&self, panel: &str) -> Value {
        let output = self
            .scratch
            .phalanx()
            .args(["show", "r", panel, "--format", "json"])
            .output()
            .expect("phalanx starts");
        serde_json::from_slice(&output.stdout).unwrap_or(Value::Null)
    }

    fn control(&self, command: &[&str]) -> (i32, String) {
        let output = self
            .scratch
            .phalanx()
            .args(["ctl", "r"])
            .args(command)
            .output()
            .expect("it starts");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code().expect("it was not killed"), said)
    }

    /// Waits for the end, and returns the exit code and how long the end took.
    fn end(&mut self) -> (i32, Duration) {
        let begin = Instant::now();
        let code = self.process.wait();
        let took = begin.elapsed();
        for (name, pid) in &self.pids {
            wait_for(&format!("{name} is gone"), || !is_running(*pid));
        }
        (code, took)
    }
}

#[test]
fn digests_are_equal_for_standalone_and_any_number_of_secondaries() {
    let ramp = world("ramp.sdf");
    let ramp = ramp.to_str().expect("the path is text");
    let (summary, reference) = run(ramp, 0, 1000);
    assert_eq!(summary["outcome"], "completed");
    assert_eq!(summary["iterations"], 1000);
    assert_eq!(reference.lines().count(), 1000);
    let last = reference
        .lines()
        .last()
        .expect("there are lines")
        .split(' ')
        .nth(1);
    assert_eq!(summary["digest"].as_str(), last);
    for secondaries in 1..=3 {
        let (summary, digests) = run(ramp, secondaries, 1000);
        assert!(
            digests == reference,
            "digests differ with {secondaries} secondaries"
        );
        let peers = summary["secondaries"].as_array().expect("a list");
        assert_eq!(peers.len(), secondaries as usize);
        let owned: usize = peers
            .iter()
            .map(|peer| peer["performers"].as_array().map_or(0, Vec::len))
            .sum();
        assert_eq!(owned, 3, "each performer is owned exactly once: {summary}");
    }
}

#[test]
fn worlds_of_our_own_and_a_generated_fleet_run_distributed() {
    let scratch = Scratch::new();
    let fleet = scratch.path("fleet.sdf");
    let output = scratch
        .phalanx()
        .args(["generate", "fleet", "--robots", "8", "--levels", "2x2"])
        .output()
        .expect("phalanx starts");
    std::fs::write(&fleet, output.stdout).expect("the fleet can be written");
    for world in [world("crossing.sdf"), world("shapes.sdf"), fleet] {
        let world = world.to_str().expect("the path is text");
        let (_, alone) = run(world, 0, 200);
        let (_, distributed) = run(world, 2, 200);
        assert!(alone == distributed, "digests of {world} differ");
        let lines: Vec<&str> = alone.lines().collect();
        assert_ne!(
            lines[0].split(' ').nth(1),
            lines[199].split(' ').nth(1),
            "{world} moves"
        );
    }
}

/// Uses the corpus of real worlds beside the repository; passes without it.
#[test]
fn gazebo_worlds_with_levels_run_distributed() {
    let Some(corpus) = repository::corpus() else {
        println!("no corpus beside the repository: nothing to run");
        return;
    };
    for file in [
        "examples/scripts/distributed_levels/standalone.sdf",
        "examples/worlds/levels.sdf",
    ] {
        let world = corpus.join("gz-sim").join(file);
        let world = world.to_str().expect("the path is text");
        let (summary, alone) = run(world, 0, 100);
        let (_, distributed) = run(world, 2, 100);
        assert!(alone == distributed, "digests of {world} differ");
        assert_eq!(
            summary["performers"].as_array().map(Vec::len),
            Some(2),
            "{summary}"
        );
    }
}

#[test]
fn processes_started_by_hand_meet_in_the_users_own_folder() {
    let scratch = Scratch::new();
    let by_hand = |arguments: &[&str]| {
        let mut command = worker(arguments);
        command.env("PHALANX_RUNTIME_DIR", scratch.folder());
        command
    };
    let mut command = by_hand(&["--network-role=primary", "--network-secondaries=1"]);
    command.args(["--iterations", "50", "--real-time-factor", "0"]);
    let mut primary = scratch.start("primary", command.arg(world("ramp.sdf")));
    primary.wait_for_stderr(&format!("ipc://{}", scratch.path("by-hand").display()));
    let mut secondary = scratch.start("s1", &mut by_hand(&["--network-role=secondary"]));
    assert_eq!(primary.wait(), 0, "{}", primary.stderr());
    assert_eq!(secondary.wait(), 0, "{}", secondary.stderr());
}

#[test]
fn processes_started_by_hand_meet_over_tcp() {
    let scratch = Scratch::new();
    let summary = scratch.path("summary.json");
    let mut command = worker(&["--network-role=Primary", "--network-secondaries=2"]);
    command.args(["--bind", "tcp://127.0.0.1:0", "--insecure"]);
    command.args(["--iterations", "300"]);
    command
        .args(["--real-time-factor", "0", "--summary"])
        .arg(&summary)
        .arg(world("ramp.sdf"));
    let mut primary = scratch.start("primary", &mut command);
    let line = primary.wait_for_stderr("tcp://127.0.0.1:");
    let endpoint = &line[line.find("tcp://").expect("it was just found")..];
    let secondary = |name: &str| {
        let arguments = [
            "--network-role=SECONDARY",
            "--connect",
            endpoint,
            "--name",
            name,
        ];
        scratch.start(name, &mut worker(&arguments))
    };
    let (mut a, mut b) = (secondary("a"), secondary("b"));
    assert_eq!(primary.wait(), 0, "{}", primary.stderr());
    assert_eq!((a.wait(), b.wait()), (0, 0), "{}{}", a.stderr(), b.stderr());
    let text = std::fs::read_to_string(summary).expect("the summary is there");
    let summary: Value = serde_json::from_str(&text).expect("the summary is JSON");
    let ramp = world("ramp.sdf");
    let (alone, _) = run(ramp.to_str().expect("the path is text"), 0, 300);
    assert_eq!(summary["digest"], alone["digest"]);
}

#[test]
fn killing_a_secondary_ends_the_run_with_exit_code_4_and_no_process_left() {
    let mut going = Going::start(&STOPS);
    send_signal(going.pid("s2"), "KILL");
    let (code, took) = going.end();
    assert_eq!(code, 4, "{}", going.process.stderr());
    assert!(took < END_WITHIN, "the end took {took:?}");
    let summary: Value = serde_json::from_str(&going.process.stdout()).expect("JSON");
    assert_eq!(summary["outcome"], "peer_lost");
    assert!(
        summary["cause"]
            .as_str()
            .is_some_and(|cause| cause.contains("s2")),
        "{summary}"
    );
}

#[test]
fn a_secondary_that_is_asked_to_end_leaves_and_the_run_says_so() {
    let mut going = Going::start(&STOPS);
    send_signal(going.pid("s1"), "TERM");
    let (code, _) = going.end();
    assert_eq!(code, 4, "{}", going.process.stderr());
    let summary: Value = serde_json::from_str(&going.process.stdout()).expect("JSON");
    let cause = summary["cause"].as_str().expect("a cause");
    assert!(cause.contains("s1") && cause.contains("SIGTERM"), "{cause}");
}

#[test]
fn a_secondary_that_falls_silent_is_found_by_its_heartbeat() {
    let stops_at_silence = ["--on-peer-loss", "stop", "--heartbeat-timeout-ms", "2000"];
    let mut going = Going::start(&[&["--paused"][..], &stops_at_silence].concat());
    let silent = going.pid("s1");
    send_signal(silent, "STOP");
    let (code, _) = going.end();
    assert_eq!(code, 4, "{}", going.process.stderr());
    let summary: Value = serde_json::from_str(&going.process.stdout()).expect("JSON");
    assert!(
        summary["cause"]
            .as_str()
            .is_some_and(|cause| cause.contains("s1")),
        "{summary}"
    );
}

#[test]
fn killing_the_primary_ends_its_secondaries() {
    let mut going = Going::start(&[]);
    send_signal(going.pid("primary"), "KILL");
    let (code, _) = going.end();
    assert_ne!(code, 0);
    let summary: Value = serde_json::from_str(&going.process.stdout()).expect("JSON");
    assert_ne!(summary["outcome"], "completed");
}

#[test]
fn sigterm_and_sigint_end_the_run_in_order_with_exit_code_130() {
    for signal in ["TERM", "INT", "HUP"] {
        let mut going = Going::start(&[]);
        going.process.signal(signal);
        let (code, took) = going.end();
        assert_eq!(code, 130, "{signal}: {}", going.process.stderr());
        assert!(took < END_WITHIN, "{signal}: the end took {took:?}");
        let summary: Value = serde_json::from_str(&going.process.stdout()).expect("JSON");
        assert_eq!(summary["outcome"], "interrupted", "{signal}");
    }
}

#[test]
fn no_process_outlives_an_orchestrator_that_is_killed() {
    let mut going = Going::start(&[]);
    going.process.signal("KILL");
    let status = going.process.wait_status();
    assert_eq!(status.code(), None, "it was killed");
    for (name, pid) in &going.pids {
        wait_for(&format!("{name} is gone"), || !is_running(*pid));
    }
}

#[test]
fn paused_nothing_moves_and_step_10_advances_exactly_10() {
    let mut going = Going::start(&["--paused"]);
    assert_eq!(going.show("stats")["iteration"], 0);
    let beats = |going: &Going| {
        going.show("peers")[1]["heartbeat_age_ms"]
            .as_f64()
            .expect("an age")
    };
    assert_eq!(going.control(&["step", "10"]).0, 0);
    let stats = going.show("stats");
    assert_eq!(
        (&stats["iteration"], &stats["paused"]),
        (&Value::from(10), &Value::from(true))
    );
    wait_for("a heartbeat comes while paused", || beats(&going) > 60.0);
    wait_for("another heartbeat comes while paused", || {
        beats(&going) < 50.0
    });
    assert_eq!(
        going.show("stats")["digest"],
        stats["digest"],
        "nothing moves"
    );
    assert_eq!(going.show("stats")["iteration"], 10);
    assert_eq!(going.control(&["play"]).0, 0);
    wait_for("time runs", || {
        going.show("stats")["iteration"]
            .as_u64()
            .is_some_and(|n| n > 10)
    });
    let (code, said) = going.control(&["step", "10"]);
    assert!(
        code == 1 && said.contains("pause it first"),
        "{code}: {said}"
    );
    assert_eq!(going.control(&["pause"]).0, 0);
    let paused_at = going.show("stats")["iteration"].clone();
    assert_eq!(going.show("stats")["iteration"], paused_at);
    assert_eq!(going.control(&["stop"]).0, 0);
    assert_eq!(going.end().0, 0);
}

#[test]
fn missing_secondaries_are_named_and_time_out_with_exit_code_6() {
    let scratch = Scratch::new();
    let endpoint = scratch.endpoint();
    // It is there before its primary, and comes in when that is.
    let arguments = [
        "--network-role=secondary",
        "--connect",
        &endpoint,
        "--name",
        "only",
    ];
    let mut only = scratch.start("only", &mut worker(&arguments));
    let mut command = worker(&["--network-role=primary", "--network-secondaries=2"]);
    command
        .args(["--bind", &endpoint, "--peer-timeout", "5"])
        .arg(world("ramp.sdf"));
    let mut primary = scratch.start("primary", &mut command);
    assert_eq!(primary.wait(), 6, "{}", primary.stderr());
    let said = primary.stderr();
    assert!(said.contains("1 of 2 secondaries did not join"), "{said}");
    only.wait();
    let arguments = [
        "--network-role=secondary",
        "--connect",
        &endpoint,
        "--peer-timeout",
        "0.2",
        "--name",
        "late",
    ];
    let mut late = scratch.start("late", &mut worker(&arguments));
    assert_eq!(late.wait(), 6, "{}", late.stderr());
    assert!(
        late.stderr().contains("no primary answered late"),
        "{}",
        late.stderr()
    );
}

#[test]
fn one_secondary_too_many_and_a_second_primary_are_refused() {
    let mut going = Going::start(&["--stand-bys", "0"]);
    let record = going.scratch.path("r");
    let endpoint = format!("ipc://{}", find_run(&going.scratch, &record).display());
    let arguments = [
        "--network-role=secondary",
        "--connect",
        &endpoint,
        "--name",
        "s3",
    ];
    let mut extra = going.scratch.start("extra", &mut worker(&arguments));
    assert_eq!(extra.wait(), 3, "{}", extra.stderr());
    assert!(
        extra.stderr().contains("has all of its 2 secondaries"),
        "{}",
        extra.stderr()
    );
    let arguments = [
        "--network-role=primary",
        "--network-secondaries=1",
        "--bind",
        &endpoint,
    ];
    let mut command = worker(&arguments);
    let mut second = going
        .scratch
        .start("second", command.arg(world("ramp.sdf")));
    assert_eq!(second.wait(), 3, "{}", second.stderr());
    assert!(second.stderr().contains("in use"), "{}", second.stderr());
    assert_eq!(going.control(&["stop"]).0, 0);
    assert_eq!(going.end().0, 0);
}

#[test]
fn a_port_in_use_is_said() {
    let scratch = Scratch::new();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let port = taken.local_addr().expect("it has an address").port();
    let bind = format!("tcp://127.0.0.1:{port}");
    let arguments = [
        "--network-role=primary",
        "--network-secondaries=1",
        "--bind",
        &bind,
        "--insecure",
    ];
    let mut command = worker(&arguments);
    let mut primary = scratch.start("primary", command.arg(world("ramp.sdf")));
    assert_eq!(primary.wait(), 3, "{}", primary.stderr());
    assert!(primary.stderr().contains("in use"), "{}", primary.stderr());
}

/// Returns the run directory of run `r`.
fn find_run(scratch: &Scratch, direct: &std::path::Path) -> PathBuf {
    if direct.is_dir() {
        direct.to_owned()
    } else {
        scratch.path("phalanx/r")
    }
}
