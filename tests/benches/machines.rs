//! Measures what the way between two machines costs an iteration, with a message for each step and
//! with speculation. The machines are network namespaces with a cable that takes 0.2, 1 or 10 ms in
//! each direction; the primary is on one, two secondaries are on the other.
//!
//! Before that, it measures what relays spare a primary that has 64 secondaries on 8 hosts:
//! messages and time per step, with secondaries that only answer.
//!
//! Prints one JSON line for each. The part of the way needs root and the program `ip`, and says so
//! where they are missing.
//! Run it with `cargo bench -p tests --bench machines`, once the programs of that profile are
//! built.

use std::io::Write;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use lockstep::limits::RUN_AHEAD_DEFAULT;
use protocol::Access;
use serde_json::{Value, json};
use tests::key_ring::KeyRing;
use tests::namespaces::{ADDRESSES, TwoHosts};
use tests::processes::{Scratch, binary};
use tests::slow_cable::Impairment;
use tests::{relay_load, repository};

/// Time that a packet takes from one machine to the other, and how many iterations are measured.
const WAYS: [(Duration, u32); 3] = [
    (Duration::from_micros(200), 4_000),
    (Duration::from_millis(1), 2_000),
    (Duration::from_millis(10), 400),
];

/// Hosts of the part about relays, secondaries on each, and steps that are measured.
const HOSTS: usize = 8;
const PER_HOST: usize = 8;
const STEPS: u32 = 2_000;

const SECONDARIES: usize = 2;
const TURNS: usize = 3;

/// Time that a run may take.
const TIMEOUT: Duration = Duration::from_mins(5);

fn main() {
    relays();
    let mut ways = Vec::new();
    for (delay, iterations) in WAYS {
        let how = Impairment {
            delay,
            bytes_per_s: None,
            loss_permille: 0,
            seed: 1,
        };
        let alone = (0..TURNS).map(|_| alone(iterations));
        let alone: Vec<Measured> = alone.collect();
        let (mut single, mut ahead) = (Vec::new(), Vec::new());
        for _ in 0..TURNS {
            for (run_ahead_max, results) in [(1, &mut single), (RUN_AHEAD_DEFAULT, &mut ahead)] {
                // It has said what is missing.
                let Some((hosts, _packets)) = TwoHosts::make_far_apart(how) else {
                    return;
                };
                results.push(apart(&hosts, iterations, run_ahead_max));
            }
        }
        let all = alone.iter().chain(&single).chain(&ahead);
        let is_same = all.clone().all(|one| one.digests == alone[0].digests);
        assert!(is_same, "the digests differ with a way of {delay:?}");
        ways.push(json!({
            "way_ms": delay.as_secs_f64() * 1e3,
            "iterations": iterations,
            "one_process_us": best(&alone),
            "step_by_step_us": best(&single),
            "run_ahead_us": best(&ahead),
            "gain": best(&single) / best(&ahead),
        }));
    }
    let line = json!({
        "bench": "machines",
        "world": "ramp",
        "secondaries": SECONDARIES,
        "run_ahead_max": RUN_AHEAD_DEFAULT,
        "per_iteration": ways,
    });
    let _ = writeln!(std::io::stdout(), "{line}");
}

/// Measures steps of many secondaries with and without relays.
fn relays() {
    let [without, with] = [false, true].map(|has_relays| {
        let turns = (0..TURNS).map(|_| relay_load::measure(HOSTS, PER_HOST, STEPS, has_relays));
        let best = turns.min_by(|one, other| one.step_us.total_cmp(&other.step_us));
        best.expect("there are turns")
    });
    let part = |load: relay_load::RelayLoad| {
        let (step_us, messages) = (load.step_us, load.messages_per_step);
        json!({ "step_us": step_us, "messages_per_step": messages })
    };
    let line = json!({
        "bench": "machines",
        "part": "relays",
        "hosts": HOSTS,
        "secondaries": HOSTS * PER_HOST,
        "without": part(without),
        "with": part(with),
    });
    let _ = writeln!(std::io::stdout(), "{line}");
}

/// A run that was measured.
struct Measured {
    /// Time of an iteration \[us\].
    iteration_us: f64,
    digests: String,
}

/// Returns the least time of several turns: the one that the machine disturbed least.
fn best(turns: &[Measured]) -> f64 {
    let times = turns.iter().map(|turn| turn.iteration_us);
    times.fold(f64::INFINITY, f64::min)
}

fn world() -> PathBuf {
    repository::root().join("worlds/ramp.sdf")
}

fn settings(command: &mut Command, scratch: &Scratch, iterations: u32) {
    command.args(["--iterations", &iterations.to_string()]);
    command.args(["--real-time-factor=0", "--digests"]);
    command.arg(scratch.path("digests"));
    command
        .arg("--summary")
        .arg(scratch.path("summary"))
        .arg(world());
}

fn measured(scratch: &Scratch) -> Measured {
    let read = |name: &str| std::fs::read_to_string(scratch.path(name)).expect("the run wrote it");
    let summary: Value = serde_json::from_str(&read("summary")).expect("JSON");
    let steps_per_s = summary["steps_per_s"].as_f64().expect("a number");
    Measured {
        iteration_us: 1e6 / steps_per_s,
        digests: read("digests"),
    }
}

/// Runs the world in one process.
fn alone(iterations: u32) -> Measured {
    let scratch = Scratch::new();
    let mut command = Command::new(binary("worker"));
    settings(&mut command, &scratch, iterations);
    let mut process = scratch.start("alone", &mut command);
    assert_eq!(process.wait_for_long(TIMEOUT), 0, "{}", process.stderr());
    measured(&scratch)
}

/// Runs it with the primary on one machine and all secondaries on the other.
fn apart(hosts: &TwoHosts, iterations: u32, run_ahead_max: u32) -> Measured {
    let scratch = Scratch::new();
    let keys = KeyRing::new(scratch.path("keys"));
    keys.add("secondaries", Access::Secondary);
    let address = format!("tcp://{}:5000", ADDRESSES[0]);
    let worker = binary("worker");
    let mut command = hosts.command(0, &worker);
    command.arg("--network-role=primary");
    command.arg(format!("--network-secondaries={SECONDARIES}"));
    command.arg(format!("--run-ahead-max={run_ahead_max}"));
    command.args(["--bind", &address]).args(keys.of_primary());
    settings(&mut command, &scratch, iterations);
    let mut primary = scratch.start("primary", &mut command);
    let mut secondaries = Vec::new();
    for number in 1..=SECONDARIES {
        let name = format!("s{number}");
        let mut command = hosts.command(1, &worker);
        command.args(["--network-role=secondary", "--name", &name]);
        command.args(["--connect", &address]);
        command.args(keys.of_secondary("secondaries"));
        secondaries.push(scratch.start(&name, &mut command));
    }
    assert_eq!(primary.wait_for_long(TIMEOUT), 0, "{}", primary.stderr());
    for secondary in &mut secondaries {
        assert_eq!(secondary.wait(), 0, "{}", secondary.stderr());
    }
    measured(&scratch)
}
