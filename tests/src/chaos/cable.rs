//! A run on two hosts, made of network namespaces, whose cable is pulled.

use std::fs;
use std::time::Duration;

use protocol::Access;

use super::scenario::{Act, Scenario};
use super::{Failure, Outcome};
use crate::key_ring::KeyRing;
use crate::namespaces::{ADDRESSES, TwoHosts};
use crate::processes::{Process, Scratch, binary, let_pass};

/// Silence after which a peer counts as lost \[ms\].
const HEARTBEAT_TIMEOUT_MS: &str = "5000";

/// Longest time the run may take.
const TIMEOUT: Duration = Duration::from_mins(3);

/// A run whose last secondary is on the other host.
struct Distributed {
    scratch: Scratch,
    hosts: TwoHosts,
    primary: Process,
    secondaries: Vec<Process>,
}

/// Does what a scenario says.
pub(super) fn run(scenario: &Scenario) -> Outcome {
    let mut outcome = Outcome::default();
    let Some(hosts) = TwoHosts::make() else {
        outcome.skipped = 1;
        return outcome;
    };
    let mut run = Distributed::start(scenario, hosts);
    outcome.runs = 1;
    for (pause, act) in &scenario.acts {
        let_pass(*pause);
        if let Act::PullCable(time) = act {
            outcome.faults += 1;
            run.hosts.set_connected(false);
            let_pass(*time);
            run.hosts.set_connected(true);
        }
    }
    match run.finish(scenario) {
        Ok(iterations) => outcome.iterations = iterations,
        Err(failure) => {
            let folder = run.scratch.keep();
            outcome.failures.push((scenario.seed, failure, folder));
        }
    }
    outcome
}

impl Distributed {
    fn start(scenario: &Scenario, hosts: TwoHosts) -> Self {
        let scratch = Scratch::new();
        for (name, text) in [
            ("fleet.sdf", scenario.world()),
            ("script", scenario.script()),
        ] {
            fs::write(scratch.path(name), text).expect("a file can be written");
        }
        let keys = KeyRing::new(scratch.path("keys"));
        keys.add("secondaries", Access::Secondary);
        let address = format!("tcp://{}:5000", ADDRESSES[0]);
        let worker = binary("worker");
        let mut command = hosts.command(0, &worker);
        command.arg("--network-role=primary");
        command.arg(format!(
            "--network-secondaries={}",
            scenario.secondaries + 1
        ));
        command.args(["--bind", &address, "--on-peer-loss", "recover"]);
        command.args(["--iterations", &scenario.iterations.to_string()]);
        command.args(["--real-time-factor", "0.7"]);
        command.args(["--heartbeat-timeout-ms", HEARTBEAT_TIMEOUT_MS]);
        command.arg("--commands").arg(scratch.path("script"));
        command.arg("--digests").arg(scratch.path("digests"));
        command
            .args(keys.of_primary())
            .arg(scratch.path("fleet.sdf"));
        let primary = scratch.start("primary", &mut command);
        let mut secondaries = Vec::new();
        for number in 0..=scenario.secondaries {
            let host = usize::from(number == scenario.secondaries);
            let name = format!("s{number}");
            let mut command = hosts.command(host, &worker);
            command.args(["--network-role=secondary", "--name", &name]);
            command.args(["--connect", &address]);
            let command = command.args(keys.of_secondary("secondaries"));
            secondaries.push(scratch.start(&name, command));
        }
        primary.wait_for_stderr("all secondaries are ready");
        Self {
            scratch,
            hosts,
            primary,
            secondaries,
        }
    }

    /// Waits for the end and compares; returns how many iterations there were.
    fn finish(&mut self, scenario: &Scenario) -> Result<usize, Failure> {
        let code = self.primary.wait_for_long(TIMEOUT);
        if code != 0 {
            let text = format!("the primary ended with {code}: {}", self.primary.stderr());
            return Err(Failure::Wrong(text));
        }
        for secondary in &mut self.secondaries {
            let code = secondary.wait();
            // One that was cut off for too long has lost the primary.
            if code != 0 && code != 4 {
                let text = format!("a secondary ended with {code}: {}", secondary.stderr());
                return Err(Failure::Wrong(text));
            }
        }
        let mut command = std::process::Command::new(binary("worker"));
        command.args(["--iterations", &scenario.iterations.to_string()]);
        command.args(["--real-time-factor", "0"]);
        command.arg("--commands").arg(self.scratch.path("script"));
        command.arg("--digests").arg(self.scratch.path("expected"));
        let command = command.arg(self.scratch.path("fleet.sdf"));
        let mut alone = self.scratch.start("alone", command);
        assert_eq!(alone.wait_for_long(TIMEOUT), 0, "{}", alone.stderr());
        let read = |name: &str| fs::read_to_string(self.scratch.path(name)).unwrap_or_default();
        let (found, expected) = (read("digests"), read("expected"));
        if found != expected {
            return Err(Failure::Difference("the digests differ".to_owned()));
        }
        Ok(expected.lines().count())
    }
}
