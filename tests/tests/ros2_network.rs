//! Shows a run in ROS 2 to a node on another host: it is found by multicast, by a node that names
//! the run's host where there is no multicast, and not at all if the run keeps to its own host. The
//! node is on Fast DDS; the hosts are network namespaces with a cable between them.
//!
//! A build without ROS 2, a machine without Fast DDS, and one where namespaces cannot be made, say
//! so and show nothing.

use std::path::{Path, PathBuf};
use std::time::Duration;

use tests::fast_dds::{self, FastPeer};
use tests::namespaces::{ADDRESSES, TwoHosts};
use tests::processes::{Process, Scratch, TIMEOUT, binary};
use tests::{repository, required};

const DOMAIN: &str = "42";
const ODOMETRY: &str = "/model/r0/odometry=nav_msgs/msg/Odometry=i1u1s2d7d36d6d36";
/// Time in which nodes find each other with much to spare \[s\].
const FOUND_S: u64 = 120;
/// Time after which nodes do not find each other any more, several of their announcements \[s\].
const LOST_S: u64 = 8;
/// Simulated time between two messages \[ns\].
const INTERVAL_NS: u64 = 10_000_000;

struct Bench {
    hosts: TwoHosts,
    scratch: Scratch,
    program: PathBuf,
}

impl Bench {
    fn prepare() -> Option<Self> {
        let program = fast_dds::program()?;
        let scratch = Scratch::new();
        let hosts = TwoHosts::make()?;
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

fn finds(peer: &mut FastPeer, timeout_s: u64) -> bool {
    peer.tell(&format!("wait 1 {timeout_s}"));
    let known = peer.hear("writers", |line| line.get("known").is_some());
    known["known"] == 1
}

/// Shows that messages come, each after the one before.
fn check_messages(peer: &mut FastPeer) {
    let mut last = None;
    for _ in 0..100 {
        let line = peer.next(TIMEOUT).expect("odometry comes");
        let part = |place: usize| line["values"][place].as_u64().expect("a stamp");
        let stamp = part(0) * 1_000_000_000 + part(1);
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
    assert!(finds(&mut peer, FOUND_S), "multicast: {}", run.stderr());
    check_messages(&mut peer);
    drop((peer, run));

    let run = bench.run("closed", &["--ros-localhost-only", "on"]);
    let mut peer = bench.peer(&[]);
    assert!(!finds(&mut peer, LOST_S), "the run keeps to its own host");
    drop((peer, run));

    let mut command = bench.hosts.command(0, &binary("worker"));
    command
        .args(["--ros2", "--ros-domain", DOMAIN])
        .arg(world());
    command.env("ROS_LOCALHOST_ONLY", "1");
    let run = bench.scratch.start("variable", &mut command);
    let mut peer = bench.peer(&[]);
    assert!(!finds(&mut peer, LOST_S), "the variable holds, too");
    drop((peer, run));

    bench.set_multicast(false);
    let run = bench.run("deaf", &["--ros-localhost-only", "off"]);
    let mut peer = bench.peer(&[]);
    assert!(!finds(&mut peer, LOST_S), "there is no multicast");
    drop(peer);
    let mut peer = bench.peer(&["--initial-peer", ADDRESSES[0]]);
    assert!(
        finds(&mut peer, FOUND_S),
        "it names the host: {}",
        run.stderr()
    );
    check_messages(&mut peer);
    assert!(peer.next(Duration::from_secs(5)).is_some());
}
