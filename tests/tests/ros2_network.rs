//! Shows a run in ROS 2 to a node on another host: it is found by multicast, by a node that names
//! the run's host where there is no multicast, and not at all if the run keeps to its own host. A
//! robot whose owner is now on this host and now on that one is heard without a gap, and so is one
//! behind a cable that loses packets. The node is on Fast DDS; the hosts are network namespaces
//! with a cable between them.
//!
//! A build without ROS 2, a machine without Fast DDS, and one where namespaces cannot be made, say
//! so and show nothing.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use protocol::Access;
use serde_json::{Value, json};
use tests::fast_dds::{self, FastPeer};
use tests::key_ring::KeyRing;
use tests::namespaces::{ADDRESSES, TwoHosts};
use tests::processes::{Process, Scratch, TIMEOUT, binary};
use tests::slow_cable::Impairment;
use tests::{repository, required};

const DOMAIN: &str = "42";
const ODOMETRY: &str = "/model/r0/odometry=nav_msgs/msg/Odometry=i1u1s2d7d36d6d36";
/// Length of a run whose robot goes from host to host \[iterations\].
const ITERATIONS: u64 = 2000;
/// Iterations of 1 ms between two of its hand-offs.
const HAND_OFF_EVERY: u64 = 100;
/// Number of robots that come into a run, and iterations of 1 ms from one to the next.
const COMERS: u64 = 30;
const COMES_EVERY: u64 = 10;
/// Time in which nodes find each other with much to spare \[s\].
const FOUND_S: u64 = 120;
/// Time after which nodes do not find each other any more, several of their announcements \[s\].
const LOST_S: u64 = 8;
/// Simulated time between two messages \[ns\].
const INTERVAL_NS: u64 = 10_000_000;

/// Processes of a run on two hosts.
struct Distributed {
    primary: Process,
    summary: PathBuf,
    /// One on each host; gone when dropped.
    _secondaries: Vec<Process>,
}

struct Bench {
    hosts: TwoHosts,
    scratch: Scratch,
    program: PathBuf,
}

impl Bench {
    fn prepare() -> Option<Self> {
        Self::on(TwoHosts::make()?)
    }

    fn on(hosts: TwoHosts) -> Option<Self> {
        let program = fast_dds::program()?;
        let scratch = Scratch::new();
        let bench = Self {
            hosts,
            scratch,
            program,
        };
        let mut run = bench.run("probe", &["--iterations", "1"]);
        if run.wait() != 0 {
            let stderr = run.stderr();
            assert!(stderr.contains("built without ROS 2"), "{stderr}");
            required::skip(required::ROS2, &stderr);
            return None;
        }
        Some(bench)
    }

    /// Starts a run on the first host.
    fn run(&self, name: &str, flags: &[&str]) -> Process {
        let mut command = self.hosts.command(0, &binary("worker"));
        command.args(["--ros2", "--ros-domain", DOMAIN]);
        command.args(flags).arg(world());
        self.scratch.start(name, &mut command)
    }

    /// Starts a run with a secondary on each host, whose robot is put on the other's side again and
    /// again, once a node reads its odometry from both.
    fn distributed(&self, keys: &KeyRing, name: &str) -> Distributed {
        let path = |what: &str| self.scratch.path(&format!("{name}.{what}"));
        let commands = path("commands");
        fs::write(&commands, hand_offs()).expect("commands are written");
        let address = format!("tcp://{}:5000", ADDRESSES[0]);
        let worker = binary("worker");
        let mut command = self.hosts.command(0, &worker);
        command.args(["--network-role=primary", "--network-secondaries=2"]);
        command.args(["--bind", &address, "--balance", "off"]);
        command
            .args(["--minimum-stay", "0", "--commands"])
            .arg(&commands);
        command.args(["--peer-timeout=300", "--heartbeat-timeout-ms=30000"]);
        command.args(["--iterations", &ITERATIONS.to_string(), "--summary"]);
        command.arg(path("summary")).args(keys.of_primary());
        command.args(["--ros2", "--ros-domain", DOMAIN]);
        command.args(["--ros-localhost-only", "off"]);
        command.args(["--await-reader", "/model/r0/odometry"]);
        let primary = self.scratch.start(name, command.arg(world()));
        let secondaries = (0..2).map(|host| {
            let mut command = self.hosts.command(host, &worker);
            let secondary = format!("{name}-{host}");
            command.args(["--network-role=secondary", "--name", &secondary]);
            command.args(["--connect", &address]);
            command.args(keys.of_secondary("secondaries"));
            self.scratch.start(&secondary, &mut command)
        });
        Distributed {
            primary,
            summary: path("summary"),
            _secondaries: secondaries.collect(),
        }
    }

    /// Starts a node on the second host.
    fn peer(&self, flags: &[&str]) -> FastPeer {
        let mut command = self.hosts.command(1, &self.program);
        let arguments: Vec<&str> = [DOMAIN]
            .into_iter()
            .chain(flags.iter().copied())
            .chain([ODOMETRY])
            .collect();
        FastPeer::start(&mut command, &arguments)
    }

    /// Has hosts hear and send by multicast, or not.
    fn set_multicast(&self, has_it: bool) {
        for host in 0..2 {
            let mut command = self.hosts.command(host, Path::new("ip"));
            let interface = self.hosts.interface(host);
            let state = if has_it { "on" } else { "off" };
            command.args(["link", "set", interface, "multicast", state]);
            assert!(command.status().expect("ip runs").success());
        }
    }
}

fn world() -> PathBuf {
    repository::root().join("tests/tests/ros2_run/two_levels.sdf")
}

/// Tells whether a node finds so many publishers of each topic in this time.
fn finds(peer: &mut FastPeer, count: u64, timeout_s: u64) -> bool {
    peer.tell(&format!("wait {count} {timeout_s}"));
    let known = peer.hear("publishers", |line| line.get("known").is_some());
    known["known"] == count
}

/// Returns commands by which a robot is put on the other side, again and again.
fn hand_offs() -> String {
    let mut schedule = String::new();
    for turn in 1..ITERATIONS / HAND_OFF_EVERY {
        let side = if turn % 2 == 1 { 3 } else { -3 };
        let pose = json!({"model": "r0", "pose": [side, 0, 0.2, 0, 0, 0, 1]});
        let command = json!({"set-poses": {"poses": [pose]}});
        let line = json!({"iteration": turn * HAND_OFF_EVERY, "command": command});
        schedule += &line.to_string();
        schedule.push('\n');
    }
    schedule
}

/// Returns the stamp of a message of odometry \[ns\].
fn stamp(line: &Value) -> u64 {
    let part = |place: usize| line["values"][place].as_u64().expect("a stamp");
    part(0) * 1_000_000_000 + part(1)
}

/// Shows that messages come, each after the one before.
fn check_messages(peer: &mut FastPeer) {
    let mut last = None;
    for _ in 0..100 {
        let line = peer.next(TIMEOUT).expect("odometry comes");
        let stamp = stamp(&line);
        if let Some(last) = last {
            assert_eq!(stamp, last + INTERVAL_NS);
        }
        last = Some(stamp);
    }
}

#[test]
fn nodes_of_another_host_are_met_as_far_as_the_settings_say() {
    let Some(bench) = Bench::prepare() else {
        return;
    };
    let run = bench.run("open", &["--ros-localhost-only", "off"]);
    let mut peer = bench.peer(&[]);
    assert!(finds(&mut peer, 1, FOUND_S), "multicast: {}", run.stderr());
    check_messages(&mut peer);
    drop((peer, run));

    let run = bench.run("closed", &["--ros-localhost-only", "on"]);
    let mut peer = bench.peer(&[]);
    assert!(
        !finds(&mut peer, 1, LOST_S),
        "the run keeps to its own host"
    );
    drop((peer, run));

    let mut command = bench.hosts.command(0, &binary("worker"));
    command
        .args(["--ros2", "--ros-domain", DOMAIN])
        .arg(world());
    command.env("ROS_LOCALHOST_ONLY", "1");
    let run = bench.scratch.start("variable", &mut command);
    let mut peer = bench.peer(&[]);
    assert!(!finds(&mut peer, 1, LOST_S), "the variable holds, too");
    drop((peer, run));

    bench.set_multicast(false);
    let run = bench.run("deaf", &["--ros-localhost-only", "off"]);
    let mut peer = bench.peer(&[]);
    assert!(!finds(&mut peer, 1, LOST_S), "there is no multicast");
    drop(peer);
    let mut peer = bench.peer(&["--initial-peer", ADDRESSES[0]]);
    assert!(
        finds(&mut peer, 1, FOUND_S),
        "it names the host: {}",
        run.stderr()
    );
    check_messages(&mut peer);
    assert!(peer.next(Duration::from_secs(5)).is_some());
}

#[test]
fn a_robot_is_heard_without_a_gap_while_its_owner_is_on_either_host() {
    let Some(bench) = Bench::prepare() else {
        return;
    };
    let keys = KeyRing::new(bench.scratch.path("keys"));
    keys.add("secondaries", Access::Secondary);
    let by_name = [
        "--initial-peer",
        ADDRESSES[0],
        "--initial-peer",
        ADDRESSES[1],
    ];
    for (name, has_multicast, flags) in [("heard", true, &[][..]), ("named", false, &by_name)] {
        bench.set_multicast(has_multicast);
        let mut run = bench.distributed(&keys, name);
        let mut peer = bench.peer(flags);
        let mut heard = Vec::new();
        let interval = INTERVAL_NS / 1_000_000;
        while heard.len() < (ITERATIONS / interval) as usize {
            let line = peer.next(TIMEOUT).expect("odometry comes");
            let writer = line["writer"].as_u64().expect("a writer has a number");
            heard.push((stamp(&line), writer));
        }
        assert_eq!(run.primary.wait(), 0, "{}", run.primary.stderr());
        // Messages of one owner are in order; its last ones may come after the next one's first.
        for writer in [0, 1] {
            let own = heard.iter().filter(|(_, by)| *by == writer);
            let own: Vec<u64> = own.map(|(stamp, _)| *stamp).collect();
            assert!(!own.is_empty(), "{name}: both have been its owner");
            assert!(own.is_sorted_by(|one, next| one < next), "{name}: {own:?}");
        }
        heard.sort_unstable();
        let stamps: Vec<u64> = heard.iter().map(|(stamp, _)| *stamp).collect();
        let expected = (1..=ITERATIONS / interval).map(|count| count * INTERVAL_NS);
        assert_eq!(stamps, expected.collect::<Vec<_>>(), "{name}");
        let summary = fs::read(&run.summary).expect("a summary is written");
        let summary: Value = serde_json::from_slice(&summary).expect("a summary is JSON");
        let hand_offs = summary["events"]["hand_offs"].as_u64();
        assert!(hand_offs >= Some(15), "{name}: {summary}");
    }
}

/// Returns commands by which robots that tell where they are come one after the other, and the
/// topics on which they do.
fn comers() -> (String, Vec<String>) {
    let mut schedule = String::new();
    let names: Vec<String> = (0..COMERS).map(|number| format!("comer{number}")).collect();
    for (number, name) in (1..).zip(&names) {
        let sdf = format!(
            "<sdf version='1.9'><model name='{name}'><link name='base'/><plugin filename='o' \
             name='gz::sim::systems::OdometryPublisher'><odom_publish_frequency>10\
             </odom_publish_frequency></plugin></model></sdf>"
        );
        let pose = [0, 0, 5 + 2 * number, 0, 0, 0, 1];
        let spawn = json!({"sdf": sdf, "name": null, "allow_renaming": false, "pose": pose,
            "relative_to": null, "world": null});
        let line = json!({"iteration": number * COMES_EVERY, "command": {"spawn": spawn}});
        schedule += &line.to_string();
        schedule.push('\n');
    }
    let topics = names.iter().map(|name| ODOMETRY.replace("r0", name));
    (schedule, topics.collect())
}

#[test]
fn nothing_is_missed_behind_a_cable_that_loses_packets() {
    let how = Impairment {
        delay: Duration::from_millis(2),
        bytes_per_s: None,
        loss_permille: 100,
        seed: 20,
    };
    eprintln!("{how:?}");
    let Some((hosts, packets)) = TwoHosts::make_far_apart(how) else {
        return;
    };
    let Some(bench) = Bench::on(hosts) else {
        return;
    };
    let (schedule, topics) = comers();
    let commands = bench.scratch.path("commands");
    fs::write(&commands, schedule).expect("commands are written");
    let commands = commands.to_str().expect("a path of a test is text");
    let flags = [
        "--ros-localhost-only=off",
        "--await-reader=/model/r0/odometry",
        "--await-reader-timeout=240",
        "--commands",
        commands,
    ];
    // Two nodes have publishers of the same topics.
    let runs = ["one", "other"].map(|name| bench.run(name, &flags));
    let mut flags = vec!["--initial-peer", ADDRESSES[0]];
    flags.extend(topics.iter().map(String::as_str));
    let mut peer = bench.peer(&flags);
    let until = ITERATIONS * 1_000_000;
    let mut heard: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    while heard.len() < 2 || heard.values().any(|stamps| stamps.last() < Some(&until)) {
        let line = peer.next(TIMEOUT);
        let line = line.unwrap_or_else(|| panic!("{heard:?}: {}", runs[0].stderr()));
        if line["topic"] == "/model/r0/odometry" {
            let writer = line["writer"].as_u64().expect("a writer has a number");
            heard.entry(writer).or_default().push(stamp(&line));
        }
    }
    let expected: Vec<u64> = (INTERVAL_NS..=until)
        .step_by(INTERVAL_NS as usize)
        .collect();
    for stamps in heard.values() {
        assert_eq!(stamps[..expected.len()], expected);
    }
    assert!(
        finds(&mut peer, 2, FOUND_S),
        "robots that come are found, too"
    );
    let (taken, lost) = (packets.taken(), packets.lost());
    assert!(lost * 50 > taken, "{lost} of {taken} packets are lost");
}
