//! Shows a run in ROS 2 to a node on another implementation of DDS, `cyclonedds` of `PyPI`: real
//! processes simulate two robots that pass from level to level, cells move from one to the other,
//! and one is killed.
//!
//! A build without ROS 2, and a machine without `PyPI`, say so and show nothing:
//! `cargo build -p worker -p orchestrator --features worker/ros2,orchestrator/ros2` comes first.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tests::cyclone_dds;
use tests::json_process::JsonProcess;
use tests::processes::{Process, Scratch, TIMEOUT, binary, kill_all, wait_for};
use tests::python::{Package, Python};
use tests::ros2_readers::{LOG_LEVEL, ReaderLog, wait_for_readers};
use tests::{repository, required, ros_domain};

/// Simulated time at the end of a run \[ns\].
const END_NS: u64 = 5_000_000_000;
/// Number of iterations until then.
const ITERATIONS: &str = "5000";
/// Simulated time between two messages of a robot's odometry \[ns\].
const ODOMETRY_NS: u64 = 10_000_000;
/// Simulated time between two messages of the clock \[ns\].
const CLOCK_NS: u64 = 1_000_000;

/// Time without a message after which none is under way.
const SILENCE: Duration = Duration::from_millis(500);
/// Number of processes that are killed one after the other.
const KILLS: usize = 5;

const ODOMETRY: [&str; 2] = ["/model/r0/odometry", "/model/r1/odometry"];
const CLOCK: &str = "/clock";

/// A node of ROS 2 on Cyclone DDS; gone when dropped.
struct Peer {
    process: JsonProcess,
    /// Stamp \[ns\] and number of the writer of all messages, by topic.
    heard: BTreeMap<String, Vec<(u64, u64)>>,
}

/// Parts of a run that not every one has.
#[derive(Clone, Copy, Default)]
struct Wishes<'a> {
    /// Commands of its beginning.
    commands: Option<&'a str>,
    /// Rules of topics.
    rules: Option<&'a str>,
}

/// Processes of a run in ROS 2, with a node that listens.
struct Run {
    scratch: Scratch,
    domain: String,
    primary: Process,
    secondaries: Vec<Process>,
    peer: Peer,
}

impl Peer {
    fn start(python: &Python, domain: &str) -> Self {
        let script = repository::root().join("tests/tests/ros2_run/peer.py");
        let mut command = Command::new(python.program());
        command.arg(script).arg(domain);
        command.args(ODOMETRY.map(|topic| format!("{topic}=Odometry")));
        command.arg(format!("{CLOCK}=Clock"));
        command.env("PEER_CONFIGURATION", cyclone_dds::CONFIGURATION);
        Self {
            process: JsonProcess::start(&mut command),
            heard: BTreeMap::new(),
        }
    }

    /// Notes what arrives until a condition holds.
    fn listen_until(&mut self, what: &str, holds: impl Fn(&Self, &Value) -> bool) {
        let until = Instant::now() + TIMEOUT;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let Some(line) = self.process.next(left) else {
                panic!("no {what} in {TIMEOUT:?}");
            };
            self.note(&line);
            if holds(self, &line) {
                return;
            }
        }
    }

    fn last(&self, topic: &str) -> u64 {
        let heard = self.heard.get(topic).and_then(|heard| heard.last());
        heard.map_or(0, |(stamp, _)| *stamp)
    }

    /// Listens until the last message of each topic is there, and others are not under way.
    fn listen_to_the_end(&mut self) {
        let topics = [ODOMETRY[0], ODOMETRY[1], CLOCK];
        self.listen_until("end of all topics", |peer, _| {
            let has_ended = |topic: &&str| {
                peer.heard
                    .get(*topic)
                    .is_some_and(|heard| heard.iter().rev().any(|(stamp, _)| *stamp == END_NS))
            };
            topics.iter().all(has_ended)
        });
        while let Some(line) = self.process.next(SILENCE) {
            self.note(&line);
        }
    }

    /// Notes a message, if the line is one.
    fn note(&mut self, line: &Value) {
        if let (Some(topic), Some(stamp)) = (line["topic"].as_str(), line["stamp"].as_u64()) {
            let writer = line["writer"].as_u64().expect("a writer has a number");
            let heard = self.heard.entry(topic.to_owned()).or_default();
            heard.push((stamp, writer));
        }
    }

    fn stamps(&self, topic: &str) -> Vec<u64> {
        self.heard[topic].iter().map(|(stamp, _)| *stamp).collect()
    }

    /// Shows that each message of a topic has come once, those of one publisher in order; for time,
    /// those of all.
    fn check_complete(&self, topic: &str, interval: u64) {
        let heard = &self.heard[topic];
        let in_order = |stamps: &[u64]| stamps.is_sorted_by(|one, next| one < next);
        let mut writers: Vec<u64> = heard.iter().map(|(_, writer)| *writer).collect();
        writers.sort_unstable();
        writers.dedup();
        for writer in writers {
            let own = heard.iter().filter(|(_, number)| *number == writer);
            let own: Vec<u64> = own.map(|(stamp, _)| *stamp).collect();
            assert!(in_order(&own), "{topic} of publisher {writer}: {own:?}");
        }
        let mut stamps = self.stamps(topic);
        // The clock stands at 0 before the run begins.
        stamps.retain(|stamp| *stamp > 0);
        let back: Vec<_> = heard
            .windows(2)
            .filter(|two| two[1].0 <= two[0].0)
            .collect();
        assert!(
            topic != CLOCK || in_order(&stamps),
            "time goes back: {back:?}"
        );
        stamps.sort_unstable();
        assert_eq!(stamps, every(interval), "{topic}");
    }

    /// Shows that each message of a topic until then has come once, in order.
    fn check_order(&self, topic: &str, interval: u64, until: u64) {
        let mut stamps = self.stamps(topic);
        // The clock stands at 0 before the run begins.
        stamps.retain(|stamp| *stamp > 0);
        let mut expected = every(interval);
        expected.retain(|stamp| *stamp <= until);
        let is_missing = |stamp: &&u64| !stamps.contains(stamp);
        let lost: Vec<_> = expected.iter().filter(is_missing).collect();
        let back = stamps.windows(2).filter(|two| two[1] <= two[0]);
        let back: Vec<_> = back.collect();
        assert!(
            stamps == expected,
            "{topic} lacks {lost:?}; twice or back: {back:?}"
        );
    }

    fn writer_count(&self, topic: &str) -> usize {
        let mut writers: Vec<u64> = self.heard[topic]
            .iter()
            .map(|(_, writer)| *writer)
            .collect();
        writers.sort_unstable();
        writers.dedup();
        writers.len()
    }
}

impl Run {
    /// Starts a paused run of two secondaries, in a domain of its own, and waits until the node and
    /// the publishers of both know each other; none where that is not possible here.
    fn start() -> Option<Self> {
        Self::start_with(2, Wishes::default())
    }

    /// Does so with so many secondaries, and wishes.
    fn start_with(count: usize, wishes: Wishes<'_>) -> Option<Self> {
        let scratch = Scratch::new();
        let domain = ros_domain::take();
        if !has_ros(&scratch) {
            return None;
        }
        let python = cyclone_dds::python("ros2-peers", &scratch)?;
        let mut peer = Peer::start(&python, &domain);
        let endpoint = scratch.endpoint();
        let mut primary = Command::new(binary("worker"));
        primary.args([
            "--network-role=primary",
            &format!("--network-secondaries={count}"),
            "--paused",
        ]);
        if let Some(rules) = wishes.rules {
            let path = scratch.path("rules");
            fs::write(&path, rules).expect("rules are written");
            primary.arg("--ros-rules").arg(path);
        }
        if let Some(commands) = wishes.commands {
            let path = scratch.path("schedule");
            fs::write(&path, commands).expect("commands are written");
            primary.arg("--commands").arg(path);
            // Robots that are put somewhere are handed over at once.
            primary.args(["--minimum-stay", "0"]);
        }
        primary.arg("--summary").arg(scratch.path("summary"));
        primary.args(["--bind", &endpoint, "--on-peer-loss", "recover"]);
        primary.args([
            "--ros2",
            "--ros-domain",
            &domain,
            "--ros-localhost-only",
            "on",
        ]);
        // Nobody is lost because the machine is busy.
        primary.args(["--peer-timeout=300", "--heartbeat-timeout-ms=30000"]);
        primary.args(["--iterations", ITERATIONS, "--digests"]);
        primary.arg(scratch.path("digests"));
        primary
            .arg("--record-commands")
            .arg(scratch.path("commands"));
        let primary = scratch.start("primary", primary.arg(world()));
        let secondaries = (1..=count).map(|number| {
            let name = &format!("s{number}");
            let mut command = Command::new(binary("worker"));
            command.args([
                "--network-role=secondary",
                "--name",
                name,
                "--connect",
                &endpoint,
            ]);
            command.env("PHALANX_LOG", LOG_LEVEL);
            scratch.start(name, &mut command)
        });
        let secondaries = secondaries.collect();
        peer.process.tell(&json!({"wait_for": count}));
        peer.listen_until("publishers", |_, line| line["known"] == count);
        let log = |number| ReaderLog::new(scratch.path(&format!("s{number}.err")));
        wait_for_readers(&(1..=count).map(log).collect::<Vec<_>>(), &readers(count));
        Some(Self {
            scratch,
            domain,
            primary,
            secondaries,
            peer,
        })
    }

    fn ctl(&self, words: &[&str]) {
        let endpoint = self.scratch.endpoint();
        let mut arguments = vec!["ctl", endpoint.as_str()];
        arguments.extend(words);
        let (code, _, stderr) = self.scratch.phalanx_says(&arguments);
        assert_eq!(code, 0, "{words:?}: {stderr}");
    }

    /// Has time run at a pace: slowly while there is something to be done at certain times.
    fn paces(&self, real_time_factor: &str) {
        self.ctl(&["set-real-time-factor", real_time_factor]);
    }

    /// Waits for the end, and returns the summary of the run.
    fn summary(&mut self) -> Value {
        assert_eq!(self.primary.wait(), 0, "{}", self.primary.stderr());
        let text = fs::read_to_string(self.scratch.path("summary")).expect("a summary");
        serde_json::from_str(&text).expect("a summary is JSON")
    }

    /// Has the robots drive, by messages of the node.
    fn drive(&mut self) {
        for robot in ["r0", "r1"] {
            let topic = format!("/model/{robot}/cmd_vel");
            self.peer
                .process
                .tell(&json!({"topic": topic, "linear": 2.0, "angular": 0.0, "readers": 2}));
        }
    }

    /// Shows that a run of its recorded commands in one process has the same digests.
    fn replay(&mut self) {
        assert_eq!(self.primary.wait(), 0, "{}", self.primary.stderr());
        let commands = fs::read_to_string(self.scratch.path("commands")).expect("commands");
        assert_eq!(commands.matches("cmd_vel").count(), 2, "{commands}");
        let mut again = Command::new(binary("worker"));
        again.args([
            "--iterations",
            ITERATIONS,
            "--real-time-factor",
            "0",
            "--commands",
        ]);
        again.arg(self.scratch.path("commands"));
        again.arg("--digests").arg(self.scratch.path("again"));
        let mut again = self.scratch.start("again", again.arg(world()));
        assert_eq!(again.wait(), 0, "{}", again.stderr());
        let [first, second] = ["digests", "again"]
            .map(|name| fs::read(self.scratch.path(name)).expect("digests are written"));
        assert!(
            first == second,
            "the commands of domain {} replay otherwise",
            self.domain
        );
    }
}

/// Returns all topics with the number of their readers: the node, and of the clock all other
/// secondaries besides.
fn readers(secondaries: usize) -> [(&'static str, usize); 3] {
    let [one, other] = ODOMETRY;
    [(one, 1), (other, 1), (CLOCK, secondaries)]
}

fn world() -> PathBuf {
    repository::root().join("tests/tests/ros2_run/two_levels.sdf")
}

/// Tells whether the run `r` has written a checkpoint.
fn has_checkpoint(scratch: &Scratch) -> bool {
    let files = fs::read_dir(scratch.path("r/journal")).expect("there is a journal");
    let mut names = files.filter_map(|file| file.ok()?.file_name().into_string().ok());
    names.any(|name| name.starts_with("checkpoint-"))
}

/// Tells whether `worker` was built with ROS 2.
fn has_ros(scratch: &Scratch) -> bool {
    let mut command = Command::new(binary("worker"));
    command.args([
        "--ros2",
        "--ros-domain",
        "101",
        "--ros-localhost-only",
        "on",
    ]);
    let mut process = scratch.start("has_ros", command.args(["--iterations", "1"]).arg(world()));
    if process.wait() == 0 {
        return true;
    }
    let stderr = process.stderr();
    assert!(stderr.contains("--features worker/ros2"), "{stderr}");
    required::skip(required::ROS2, &stderr);
    false
}

/// Returns all stamps from the first to the end \[ns\].
fn every(interval: u64) -> Vec<u64> {
    (1..=END_NS / interval)
        .map(|count| count * interval)
        .collect()
}

/// Returns commands by which both robots are put on the other's side, again and again; more often
/// than 200 times, since they wait where they are while a cell moves.
fn hand_offs() -> String {
    let mut schedule = String::new();
    for turn in 1..=112 {
        let side = if turn % 2 == 1 { 3 } else { -3 };
        let pose =
            |model: &str, x: i32, y: f64| json!({"model": model, "pose": [x, y, 0.2, 0, 0, 0, 1]});
        let poses = [pose("r0", side, 0.0), pose("r1", -side, 1.5)];
        let command = json!({"set-poses": {"poses": poses}});
        schedule += &json!({"iteration": turn * 44, "command": command}).to_string();
        schedule.push('\n');
    }
    schedule
}

#[test]
fn hand_offs_and_migrations_lose_and_double_no_message() {
    let Some(mut run) = Run::start() else { return };
    run.drive();
    run.paces("0.2");
    run.ctl(&["play"]);
    for (seconds, cell, host) in [(1, "west", "s2"), (2, "east", "s1"), (3, "west", "s1")] {
        run.peer.listen_until("time", |peer, _| {
            peer.last(CLOCK) >= seconds * 1_000_000_000
        });
        run.ctl(&["move-cell", cell, host]);
    }
    run.paces("1");
    run.peer.listen_to_the_end();
    for topic in ODOMETRY {
        run.peer.check_complete(topic, ODOMETRY_NS);
        assert_eq!(run.peer.writer_count(topic), 2, "both have been its owner");
    }
    run.peer.check_complete(CLOCK, CLOCK_NS);
    run.replay();
}

#[test]
fn a_reader_counts_through_200_hand_offs_and_20_migrations() {
    let schedule = hand_offs();
    let wishes = Wishes {
        commands: Some(&schedule),
        ..Wishes::default()
    };
    let Some(mut run) = Run::start_with(2, wishes) else {
        return;
    };
    run.paces("0.1");
    run.ctl(&["play"]);
    for turn in 0..20 {
        run.peer.listen_until("time", |peer, _| {
            peer.last(CLOCK) >= (turn + 1) * 200_000_000
        });
        let (cell, host) = match turn % 4 {
            0 => ("west", "s2"),
            1 => ("east", "s1"),
            2 => ("west", "s1"),
            _ => ("east", "s2"),
        };
        run.ctl(&["move-cell", cell, host]);
    }
    run.paces("1");
    run.peer.listen_to_the_end();
    for topic in ODOMETRY {
        run.peer.check_complete(topic, ODOMETRY_NS);
    }
    run.peer.check_complete(CLOCK, CLOCK_NS);
    let summary = run.summary();
    let hand_offs = summary["events"]["hand_offs"].as_u64();
    assert!(hand_offs >= Some(200), "{hand_offs:?} in {summary}");
    assert_eq!(summary["events"]["migrations"], 20, "{summary}");
}

/// A program that takes part in lockstep; each line that it is told is its answer.
const PARTICIPANT: &str = "
import sys
sys.path.insert(0, sys.argv[1])
from barrier import Participant
run = Participant(sys.argv[2], 'pilot', every=250, topics=[])
while True:
    print('{\"at\": %d}' % run.barrier['iteration'], flush=True)
    if not sys.stdin.readline():
        break
    run.answer()
";
const PARTICIPANT_PACKAGES: [Package; 2] = [
    Package {
        name: "pyzmq",
        version: "27.1.0",
        module: "zmq",
    },
    Package {
        name: "msgpack",
        version: "1.1.2",
        module: "msgpack",
    },
];

#[test]
fn nodes_hear_all_that_was_said_before_a_program_holds_the_run() {
    let Some(mut run) = Run::start() else { return };
    let python = Python::prepare("python-participants", &run.scratch);
    let python = python.expect("a Python environment");
    for package in &PARTICIPANT_PACKAGES {
        let found = python.require(package, &run.scratch);
        found.unwrap_or_else(|error| panic!("{}: {error}", package.name));
    }
    let script = run.scratch.path("participant.py");
    fs::write(&script, PARTICIPANT).expect("a program is written");
    let mut command = Command::new(python.program());
    command.arg(script);
    command.arg(repository::root().join("docs/examples"));
    command.arg(run.scratch.endpoint());
    let mut program = JsonProcess::start(&mut command);
    program.hear("the beginning", |line| line["at"] == 0);
    run.ctl(&["play"]);
    for turn in 1..=3 {
        program.tell(&"go on");
        program.hear("the barrier", |line| line["at"] == turn * 250);
        // The run stands still now, until the program answers.
        let topics = [ODOMETRY[0], ODOMETRY[1], CLOCK];
        run.peer.listen_until("all of it", |peer, _| {
            let until = turn * 250_000_000;
            topics.iter().all(|topic| peer.last(topic) >= until)
        });
    }
}

#[test]
fn a_limited_rate_holds_through_hand_offs() {
    const RATE_HZ: u64 = 7;
    let schedule = hand_offs();
    let rule = format!("[[topic]]\ntopic = \"/model/*/odometry\"\nrate_hz = {RATE_HZ}\n");
    let wishes = Wishes {
        commands: Some(&schedule),
        rules: Some(&rule),
    };
    let Some(mut run) = Run::start_with(2, wishes) else {
        return;
    };
    run.ctl(&["play"]);
    run.peer
        .listen_until("the end", |peer, _| peer.last(CLOCK) == END_NS);
    let summary = run.summary();
    let hand_offs = summary["events"]["hand_offs"].as_u64();
    assert!(hand_offs >= Some(200), "{hand_offs:?} in {summary}");
    while let Some(line) = run.peer.process.next(SILENCE) {
        run.peer.note(&line);
    }
    // The first message of each period.
    let mut expected = every(ODOMETRY_NS);
    let period = |stamp: &mut u64| *stamp * RATE_HZ / 1_000_000_000;
    expected.dedup_by_key(period);
    for topic in ODOMETRY {
        let mut stamps = run.peer.stamps(topic);
        stamps.sort_unstable();
        assert_eq!(stamps, expected, "{topic}");
    }
}

#[test]
fn a_resumed_run_says_nothing_twice_and_is_in_the_domain_of_its_beginning() {
    const PART: &str = "250";
    let (scratch, domain) = (Scratch::new(), ros_domain::take());
    if !has_ros(&scratch) {
        return;
    }
    let Some(python) = cyclone_dds::python("ros2-peers", &scratch) else {
        return;
    };
    let mut peer = Peer::start(&python, &domain);
    let say = |domain: &str, is_local: &str, words: &[&str]| {
        let mut command = scratch.phalanx();
        command.env("ROS_DOMAIN_ID", domain);
        command.env("ROS_LOCALHOST_ONLY", is_local);
        let output = command.args(words).output().expect("phalanx starts");
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code(), text)
    };
    let world = world();
    let world = world.to_str().expect("the path is text");
    let mut begin = vec!["run", "--detach", "--paused", "--name", "r", "--ros2"];
    // The first kill comes where a checkpoint is: nothing is done again then.
    begin.extend(["--secondaries", "2", "--checkpoint-every", PART]);
    begin.extend(["--log-level", LOG_LEVEL, world]);
    let (code, said) = say(&domain, "1", &begin);
    assert_eq!(code, Some(0), "{said}");
    let logs = ["r/logs/s1.log", "r/logs/s2.log"];
    let mut logs = logs.map(|log| ReaderLog::new(scratch.path(log)));
    peer.process.tell(&json!({"wait_for": 2}));
    peer.listen_until("publishers", |_, line| line["known"] == 2);
    wait_for_readers(&logs, &readers(2));
    let step = |peer: &mut Peer, until: u64| {
        let (code, said) = say(&domain, "1", &["ctl", "r", "step", PART]);
        assert_eq!(code, Some(0), "{said}");
        let topics = [ODOMETRY[0], ODOMETRY[1], CLOCK];
        peer.listen_until("all of it", |peer, _| {
            topics.iter().all(|topic| peer.last(topic) >= until)
        });
    };
    step(&mut peer, 250_000_000);
    for (life, until) in [(1, 500_000_000), (2, 750_000_000)] {
        wait_for("a checkpoint", || life > 1 || has_checkpoint(&scratch));
        // Once a later command is done, the journal has all that was said.
        let (code, said) = say(&domain, "1", &["ctl", "r", "set-real-time-factor", "1"]);
        assert_eq!(code, Some(0), "{said}");
        kill_all(&scratch);
        logs.iter_mut().for_each(ReaderLog::begin_anew);
        peer.process.tell(&json!({"wait_for_new": 2}));
        peer.listen_until("the end of a life", |_, line| line["noted"] == 2);
        // The environment is another one now.
        let (code, said) = say("199", "0", &["resume", "r", "--detach"]);
        assert_eq!(code, Some(0), "life {life}: {said}");
        peer.listen_until("publishers", |_, line| line["known"] == 2);
        wait_for_readers(&logs, &readers(2));
        step(&mut peer, until);
    }
    while let Some(line) = peer.process.next(SILENCE) {
        peer.note(&line);
    }
    for (topic, interval) in [
        (ODOMETRY[0], ODOMETRY_NS),
        (ODOMETRY[1], ODOMETRY_NS),
        (CLOCK, CLOCK_NS),
    ] {
        peer.check_order(topic, interval, 750_000_000);
    }
    let (code, said) = say(&domain, "1", &["ctl", "r", "stop"]);
    assert_eq!(code, Some(0), "{said}");
}

#[test]
fn a_run_that_waits_for_its_readers_is_heard_from_its_first_message_also_when_resumed() {
    let (scratch, domain) = (Scratch::new(), ros_domain::take());
    if !has_ros(&scratch) {
        return;
    }
    let Some(python) = cyclone_dds::python("ros2-peers", &scratch) else {
        return;
    };
    let mut command = scratch.phalanx();
    command.args(["run", "--headless", "--name", "r", "--secondaries=2"]);
    command.args(["--ros2", "--ros-domain", &domain]);
    command.args(["--ros-localhost-only", "on", "--real-time-factor=0"]);
    command.args(["--await-reader", &ODOMETRY.join(",")]);
    command.arg("--await-reader-timeout=240").arg(world());
    let mut resume = scratch.phalanx();
    resume.args(["resume", "r", "--headless"]);
    let goes_on = "the run goes on after iteration ";
    for (life, command) in [&mut command, &mut resume].into_iter().enumerate() {
        let run = scratch.start(&format!("life-{life}"), command);
        run.wait_for_stderr("time waits up to 240 s for nodes that read /model/r0/odometry");
        let mut peer = Peer::start(&python, &domain);
        peer.listen_until("ten messages", |peer, _| {
            let heard = |topic| peer.heard.get(topic).map_or(0, Vec::len);
            ODOMETRY.iter().all(|topic| heard(*topic) >= 10)
        });
        // Nothing is said twice: the first message is the one after those of the life before.
        let log = fs::read_to_string(scratch.path("r/logs/primary.log")).expect("a log");
        let last = log.lines().find_map(|line| line.split_once(goes_on));
        let last = last.and_then(|(_, rest)| rest.split(' ').next());
        let before = last.map_or(0, |iteration| iteration.parse().expect("a number"));
        assert_eq!(before > 0, life > 0, "{log}");
        let count = before * CLOCK_NS / ODOMETRY_NS;
        for topic in ODOMETRY {
            let stamps = peer.stamps(topic);
            let expected: Vec<u64> = (1..)
                .map(|number| (count + number) * ODOMETRY_NS)
                .take(10)
                .collect();
            assert_eq!(
                stamps[..10],
                expected,
                "{topic} in life {life}, after {before}"
            );
        }
        kill_all(&scratch);
    }
}

#[test]
fn a_reader_counts_through_5_kills() {
    let Some(mut run) = Run::start_with(KILLS + 1, Wishes::default()) else {
        return;
    };
    run.paces("0.1");
    run.ctl(&["play"]);
    for turn in 0..KILLS {
        let host = format!("s{}", turn + 1);
        run.peer.listen_until("time", |peer, _| {
            peer.last(CLOCK) >= (turn as u64 + 1) * 800_000_000
        });
        for cell in ["west", "east"] {
            // It may be there already.
            let endpoint = run.scratch.endpoint();
            drop(
                run.scratch
                    .phalanx_says(&["ctl", &endpoint, "move-cell", cell, &host]),
            );
        }
        run.secondaries[turn].signal("KILL");
    }
    run.paces("1");
    run.peer.listen_to_the_end();
    let summary = run.summary();
    assert_eq!(summary["events"]["recoveries"], KILLS, "{summary}");
    for (topic, interval) in [
        (ODOMETRY[0], ODOMETRY_NS),
        (ODOMETRY[1], ODOMETRY_NS),
        (CLOCK, CLOCK_NS),
    ] {
        let mut stamps = run.peer.stamps(topic);
        stamps.retain(|stamp| *stamp > 0);
        assert!(
            topic != CLOCK || stamps.is_sorted(),
            "time goes back: {stamps:?}"
        );
        let all = stamps.len();
        stamps.sort_unstable();
        stamps.dedup();
        let (twice, lost) = (all - stamps.len(), every(interval).len() - stamps.len());
        let told = format!("{topic} lacks {lost} messages and says {twice} twice");
        let _ = writeln!(std::io::stdout(), "{told}");
        // A process may be killed just when it has sent a message and not said so yet.
        assert!(twice <= KILLS, "{told}");
        assert_eq!(lost, 0, "{told}");
    }
}

#[test]
fn robots_of_a_lost_secondary_are_back_and_say_nothing_twice() {
    let Some(mut run) = Run::start() else { return };
    run.drive();
    run.ctl(&["play"]);
    run.peer
        .listen_until("time", |peer, _| peer.last(CLOCK) >= 2_000_000_000);
    run.secondaries[0].signal("KILL");
    run.peer.listen_to_the_end();
    for (topic, interval) in [
        (ODOMETRY[0], ODOMETRY_NS),
        (ODOMETRY[1], ODOMETRY_NS),
        (CLOCK, CLOCK_NS),
    ] {
        let stamps = run.peer.stamps(topic);
        // The moment that was just being sent may come twice.
        let may_repeat = topic == CLOCK;
        let is_ascending =
            stamps.is_sorted_by(|first, second| first < second || (may_repeat && first == second));
        assert!(is_ascending, "{topic} says something twice: {stamps:?}");
        // A process that dies takes along what it has not sent yet.
        let lost = every(interval).len().saturating_sub(stamps.len());
        assert!(
            lost as u64 * interval <= 200_000_000,
            "{topic} lacks {lost} messages"
        );
    }
    run.replay();
}

#[test]
fn a_wrong_domain_is_told_with_its_variable() {
    let scratch = Scratch::new();
    if !has_ros(&scratch) {
        return;
    }
    let mut command = Command::new(binary("worker"));
    command
        .arg("--ros2")
        .env("ROS_DOMAIN_ID", "500")
        .arg(world());
    let mut process = scratch.start("wrong", &mut command);
    assert_eq!(process.wait(), 3);
    let stderr = process.stderr();
    assert!(stderr.contains("ROS_DOMAIN_ID is \"500\""), "{stderr}");
}
