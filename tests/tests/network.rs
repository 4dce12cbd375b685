//! Shows that a run on two hosts survives a cable that is pulled for two seconds, and ends or
//! recovers when it stays away. The hosts are network namespaces of this machine; where those
//! cannot be made, each test says so on stderr and has nothing to show.

use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use protocol::Access;
use tests::key_ring::KeyRing;
use tests::namespaces::{ADDRESSES, TwoHosts};
use tests::processes::{Process, Scratch, binary, let_pass};
use tests::repository;
use tests::slow_cable::Impairment;

/// Silence after which a peer counts as lost; a cable that is back after two seconds is heard
/// again after three, since TCP doubles the time between its attempts, and a busy machine pulls it
/// for longer.
const HEARTBEAT_TIMEOUT: Duration = Duration::from_secs(15);

/// A primary and perhaps a secondary on the first host, and a secondary on the second.
struct Distributed {
    hosts: TwoHosts,
    scratch: Scratch,
    primary: Process,
    secondaries: Vec<Process>,
}

impl Distributed {
    /// Starts a run; `near` is how many secondaries are on the primary's host.
    fn start(hosts: TwoHosts, near: usize, iterations: u32, flags: &[&str]) -> Self {
        let scratch = Scratch::new();
        let keys = KeyRing::new(scratch.path("keys"));
        keys.add("secondaries", Access::Secondary);
        let address = format!("tcp://{}:5000", ADDRESSES[0]);
        let worker = binary("worker");
        let mut command = hosts.command(0, &worker);
        command.arg("--network-role=primary");
        command.arg(format!("--network-secondaries={}", near + 1));
        command.args(["--bind", &address, "--iterations", &iterations.to_string()]);
        let timeout = HEARTBEAT_TIMEOUT.as_millis().to_string();
        command.args(["--peer-timeout=300", "--heartbeat-timeout-ms", &timeout]);
        command.arg("--digests");
        command.arg(scratch.path("digests")).args(flags);
        let primary = scratch.start("primary", command.args(keys.of_primary()).arg(ramp()));
        let mut secondaries = Vec::new();
        for number in 0..=near {
            let host = usize::from(number == near);
            let name = format!("s{number}");
            let mut command = hosts.command(host, &worker);
            command.args([
                "--network-role=secondary",
                "--name",
                &name,
                "--connect",
                &address,
            ]);
            secondaries.push(scratch.start(&name, command.args(keys.of_secondary("secondaries"))));
        }
        primary.wait_for_stderr("all secondaries are ready");
        Self {
            hosts,
            scratch,
            primary,
            secondaries,
        }
    }

    fn digests(&self) -> String {
        std::fs::read_to_string(self.scratch.path("digests")).expect("digests are text")
    }
}

fn ramp() -> PathBuf {
    repository::root().join("worlds/ramp.sdf")
}

/// Returns the digests of the same run in one process.
fn alone(iterations: u32) -> String {
    let scratch = Scratch::new();
    let digests = scratch.path("digests");
    let mut command = Command::new(binary("worker"));
    command.args(["--iterations", &iterations.to_string()]);
    command
        .args(["--real-time-factor=0", "--digests"])
        .arg(&digests);
    let mut process = scratch.start("alone", command.arg(ramp()));
    assert_eq!(process.wait(), 0, "{}", process.stderr());
    std::fs::read_to_string(digests).expect("digests are text")
}

#[test]
fn a_cable_that_is_pulled_for_two_seconds_costs_time_and_nothing_else() {
    let Some(hosts) = TwoHosts::make() else {
        return;
    };
    let iterations = 4000;
    let mut run = Distributed::start(hosts, 0, iterations, &["--real-time-factor=0.4"]);
    let_pass(Duration::from_millis(500));
    run.hosts.set_connected(false);
    let_pass(Duration::from_secs(2));
    run.hosts.set_connected(true);
    assert_eq!(run.primary.wait(), 0, "{}", run.primary.stderr());
    assert_eq!(
        run.secondaries[0].wait(),
        0,
        "{}",
        run.secondaries[0].stderr()
    );
    assert!(run.digests() == alone(iterations), "the digests differ");
}

#[test]
fn a_cable_that_stays_pulled_ends_the_run_on_both_hosts() {
    let Some(hosts) = TwoHosts::make() else {
        return;
    };
    let mut run = Distributed::start(hosts, 0, 1_000_000, &["--on-peer-loss=stop"]);
    run.hosts.set_connected(false);
    let start = Instant::now();
    assert_eq!(run.primary.wait(), 4, "{}", run.primary.stderr());
    assert!(
        start.elapsed() < HEARTBEAT_TIMEOUT * 3,
        "{:?}",
        start.elapsed()
    );
    assert_eq!(
        run.secondaries[0].wait(),
        4,
        "{}",
        run.secondaries[0].stderr()
    );
}

#[test]
fn a_secondary_behind_a_pulled_cable_is_replaced_by_one_that_is_near() {
    let Some(hosts) = TwoHosts::make() else {
        return;
    };
    let iterations = 4000;
    let flags = [
        "--on-peer-loss=recover",
        "--checkpoint-every=200",
        "--real-time-factor=0.4",
    ];
    let mut run = Distributed::start(hosts, 1, iterations, &flags);
    let_pass(Duration::from_millis(500));
    run.hosts.set_connected(false);
    assert_eq!(run.primary.wait(), 0, "{}", run.primary.stderr());
    assert_eq!(
        run.secondaries[0].wait(),
        0,
        "{}",
        run.secondaries[0].stderr()
    );
    assert_eq!(
        run.secondaries[1].wait(),
        4,
        "{}",
        run.secondaries[1].stderr()
    );
    assert!(run.digests() == alone(iterations), "the digests differ");
}

#[test]
fn a_network_that_is_slow_and_loses_packets_changes_no_bit() {
    let seed = 1;
    let how = Impairment {
        delay: Duration::from_millis(50),
        loss_permille: 10,
        seed,
    };
    let Some((hosts, packets)) = TwoHosts::make_far_apart(how) else {
        return;
    };
    let iterations = 200;
    let mut run = Distributed::start(hosts, 0, iterations, &["--real-time-factor=0"]);
    assert_eq!(run.primary.wait(), 0, "{}", run.primary.stderr());
    assert!(run.digests() == alone(iterations), "the digests differ");
    let (taken, lost) = (packets.taken(), packets.lost());
    println!("seed {seed}: {lost} of {taken} packets lost");
    assert!(
        lost > 0,
        "none of {taken} packets was lost: seed {seed} shows nothing"
    );
}

#[test]
fn quiet_steps_hide_a_way_of_a_tenth_of_a_second() {
    // Far longer than a busy machine takes for an iteration.
    let way = Duration::from_millis(100);
    let how = Impairment {
        delay: way,
        loss_permille: 0,
        seed: 1,
    };
    let Some((hosts, _packets)) = TwoHosts::make_far_apart(how) else {
        return;
    };
    let out = Scratch::new();
    let summary = out.path("summary");
    let flag = format!("--summary={}", summary.display());
    let iterations = 1000;
    let mut run = Distributed::start(hosts, 0, iterations, &["--real-time-factor=0", &flag]);
    assert_eq!(run.primary.wait(), 0, "{}", run.primary.stderr());
    assert!(run.digests() == alone(iterations), "the digests differ");
    let summary = std::fs::read_to_string(summary).expect("a summary");
    let summary: serde_json::Value = serde_json::from_str(&summary).expect("JSON");
    let each_s = 1.0 / summary["steps_per_s"].as_f64().expect("a number");
    // Step by step, none takes less than the way there and back.
    let least_s = 2.0 * way.as_secs_f64();
    println!("{:.0} us per iteration", each_s * 1e6);
    assert!(each_s < least_s / 2.0, "{each_s} s per iteration");
}
