//! Starting a run's workers: [`LaunchPlan`] says which programs run with which arguments,
//! [`supervisor::Supervisor`] runs them and sees to it that none outlives the run.
//!
//! Nothing here knows how a simulation works: a worker is a program with a command line.

pub mod death;
mod find_worker;
mod guard;
pub mod launched;
pub mod primary_watch;
pub mod process;
pub mod process_state;
pub mod programs;
pub mod supervisor;
mod surroundings;
mod upkeep;
pub mod world_programs;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

use protocol::Role;
use serde::{Deserialize, Serialize};
use transport::Endpoints;

pub use find_worker::{FindWorkerError, WORKER_VARIABLE, find_worker};

use crate::cli::{LevelsLoad, PeerLossPolicy, SolverChoice};
use crate::config::{
    LevelsConfig, LogsConfig, NetworkConfig, PhysicsConfig, ProcessesConfig, RecordConfig,
    RecoveryConfig, TraceConfig,
};
use crate::key_files::RunKeys;

/// Everything that decides a run's processes.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch of the command line, apart from the others"
)]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LaunchPlan {
    /// Address that the primary binds.
    #[serde(with = "launched::endpoint_text")]
    pub endpoint: Endpoints,
    /// By which keys the processes know each other; `None` encrypts nothing.
    pub keys: Option<RunKeys>,
    /// True if that is so although other machines can connect.
    pub is_insecure: bool,
    /// The world files.
    pub worlds: Vec<PathBuf>,
    /// File for the primary's summary.
    pub summary: PathBuf,
    /// File for the primary's last events.
    pub last_events: PathBuf,
    /// Number of secondaries; 0 is standalone.
    pub secondaries: u32,
    /// Iterations after which the run ends.
    pub iterations: Option<u64>,
    /// Simulated over real time, 0 is as fast as possible; `None` is what the world says.
    pub real_time_factor: Option<f64>,
    /// True if time stands still at the start.
    pub paused: bool,
    /// Seed of all random numbers.
    pub seed: u64,
    /// File for the digest of every iteration.
    pub digests: Option<PathBuf>,
    /// File for the changes of every iteration.
    pub states: Option<PathBuf>,
    /// File with the commands that are done at their iterations.
    pub commands: Option<PathBuf>,
    /// File for the commands that were done.
    pub record_commands: Option<PathBuf>,
    /// File for a line for every message.
    pub messages: Option<PathBuf>,
    /// Settings of recording.
    pub record: RecordConfig,
    /// Settings of tracing.
    #[serde(default)]
    pub trace: TraceConfig,
    /// The recording that is simulated again, instead of worlds.
    pub recording: Option<PathBuf>,
    /// Threads that step cells, in each process.
    pub threads: u32,
    /// Number of iterations that one message brings at most.
    pub run_ahead_max: u32,
    /// True if every step is done twice and compared.
    pub verify: bool,
    /// True if cells move for the sake of load.
    pub balance: bool,
    /// Reactions to the loss of a process.
    pub recovery: RecoveryConfig,
    /// Settings of physics.
    #[serde(default)]
    pub physics: PhysicsConfig,
    /// Rules for the cell that every performer is in.
    pub levels: LevelsConfig,
    /// Time for which peers are waited for.
    pub network: NetworkConfig,
    /// Log levels of the processes.
    pub logs: LogsConfig,
    /// Settings of single processes.
    pub processes: ProcessesConfig,
    /// Journal of the run, from which it can be resumed.
    pub journal: Option<PathBuf>,
    /// Largest size of the journal \[MiB\]; `None` is the worker's default.
    pub journal_limit_mib: Option<u64>,
    /// True if the run is resumed from the journal.
    pub is_resumed: bool,
    /// True if that is done although something is lost.
    #[serde(default)]
    pub accepts_loss: bool,
}

/// One process to be started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkerCommand {
    /// Its name: `primary`, `standalone`, or that of a secondary.
    pub name: String,
    /// Its role.
    pub role: Role,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// Variables of its environment besides those of this program.
    pub environment: BTreeMap<String, String>,
}

impl LaunchPlan {
    /// Returns the processes of the run, the one that keeps time first.
    pub fn commands(&self) -> Vec<WorkerCommand> {
        let mut commands = vec![self.first_command()];
        commands.extend((1..=self.secondaries).map(|number| self.secondary_command(number)));
        for command in &mut commands {
            surroundings::give(command, &self.logs, &self.processes);
        }
        commands
    }

    /// Returns the names of the secondaries.
    pub fn secondary_names(&self) -> Vec<String> {
        (1..=self.secondaries).map(secondary_name).collect()
    }

    /// Returns the names of the world files.
    pub fn world_names(&self) -> String {
        let files = self.worlds.iter().chain(&self.recording);
        let names = files.map(|world| world.display().to_string());
        names.collect::<Vec<_>>().join(", ")
    }

    fn first_command(&self) -> WorkerCommand {
        let mut arguments: Vec<OsString> = Vec::new();
        let all = self.secondaries + self.network.remote_secondaries;
        let role = if all == 0 {
            Role::Standalone
        } else {
            Role::Primary
        };
        if role == Role::Primary {
            arguments.push("--network-role=primary".into());
            flag(&mut arguments, "--network-secondaries", all.to_string());
            self.push_network(&mut arguments);
            self.push_recovery(&mut arguments);
        }
        flag(&mut arguments, "--bind", self.endpoint.to_string());
        self.push_security(&mut arguments);
        flag(&mut arguments, "--summary", &self.summary);
        flag(&mut arguments, "--last-events", &self.last_events);
        if let Some(folder) = self.summary.parent() {
            flag(&mut arguments, "--divergence-reports", folder);
            flag(&mut arguments, "--audit", folder.join("audit.log"));
        }
        flag(&mut arguments, "--seed", self.seed.to_string());
        if let Some(iterations) = self.iterations {
            flag(&mut arguments, "--iterations", iterations.to_string());
        }
        if let Some(factor) = self.real_time_factor {
            flag(&mut arguments, "--real-time-factor", factor.to_string());
        }
        if let Some(digests) = &self.digests {
            flag(&mut arguments, "--digests", digests);
        }
        if let Some(states) = &self.states {
            flag(&mut arguments, "--states", states);
        }
        if let Some(commands) = self.commands.as_ref().filter(|_| !self.is_resumed) {
            flag(&mut arguments, "--commands", commands);
        }
        if let Some(record) = &self.record_commands {
            flag(&mut arguments, "--record-commands", record);
        }
        if let Some(messages) = &self.messages {
            flag(&mut arguments, "--messages", messages);
        }
        if self.paused {
            arguments.push("--paused".into());
        }
        self.push_recordings(&mut arguments);
        self.push_cells(&mut arguments);
        self.push_journal(&mut arguments);
        arguments.push("--lifeline".into());
        if !self.is_resumed {
            arguments.push("--".into());
            arguments.extend(self.worlds.iter().map(OsString::from));
        }
        WorkerCommand {
            name: role.to_string(),
            role,
            arguments,
            environment: BTreeMap::new(),
        }
    }

    /// Adds what is recorded, what is traced and what is simulated again.
    fn push_recordings(&self, arguments: &mut Vec<OsString>) {
        if let Some(file) = &self.record.file {
            flag(arguments, "--record", file);
            flag(arguments, "--record-rate", self.record.rate_hz.to_string());
            if self.record.has_states {
                arguments.push("--record-states".into());
            }
        }
        if let Some(file) = &self.trace.file {
            flag(arguments, "--trace", file);
            flag(arguments, "--trace-from", self.trace.from.to_string());
            let iterations = self.trace.iterations.to_string();
            flag(arguments, "--trace-iterations", iterations);
        }
        if let Some(recording) = &self.recording {
            flag(arguments, "--recording", recording);
        }
    }

    /// Adds who is in which cell, and how and where cells are stepped.
    fn push_cells(&self, arguments: &mut Vec<OsString>) {
        let levels = &self.levels;
        flag(arguments, "--threads", self.threads.to_string());
        flag(arguments, "--run-ahead-max", self.run_ahead_max.to_string());
        flag(
            arguments,
            "--balance",
            if self.balance { "on" } else { "off" },
        );
        if self.verify {
            arguments.push("--verify".into());
        }
        let solver = match self.physics.solver {
            SolverChoice::Exact => "exact",
            SolverChoice::Fast => "fast",
        };
        flag(arguments, "--solver", solver);
        if let Some(count) = levels.auto_levels {
            flag(arguments, "--auto-levels", count.to_string());
        }
        let load = match levels.load {
            LevelsLoad::Buffer => "buffer",
            LevelsLoad::Volume => "volume",
        };
        flag(arguments, "--levels-load", load);
        let stay = levels.minimum_stay.as_secs_f64().to_string();
        flag(arguments, "--minimum-stay", stay);
        let margin = levels.interaction_margin_m.to_string();
        flag(arguments, "--interaction-margin", margin);
    }

    /// Adds who may connect; keys are named by their files.
    fn push_security(&self, arguments: &mut Vec<OsString>) {
        if let Some(keys) = &self.keys {
            flag(arguments, "--key", &keys.primary);
            for authorized in &keys.authorized {
                flag(arguments, "--authorized", authorized);
            }
        }
        if self.is_insecure {
            arguments.push("--insecure".into());
        }
    }

    fn push_network(&self, arguments: &mut Vec<OsString>) {
        let network = &self.network;
        let milliseconds = |duration: std::time::Duration| duration.as_millis().to_string();
        let seconds = |duration: std::time::Duration| duration.as_secs_f64().to_string();
        flag(
            arguments,
            "--heartbeat-interval-ms",
            milliseconds(network.heartbeat_interval),
        );
        flag(
            arguments,
            "--heartbeat-timeout-ms",
            milliseconds(network.heartbeat_timeout),
        );
        flag(arguments, "--peer-timeout", seconds(network.peer_timeout));
        flag(arguments, "--step-timeout", seconds(network.step_timeout));
        flag(arguments, "--warn-after", seconds(network.warn_after));
        let examined = seconds(network.diagnose_after);
        flag(arguments, "--diagnose-after", examined);
        if network.wait_for_debugger {
            arguments.push("--wait-for-debugger".into());
        }
        self.push_spin(arguments);
    }

    /// Adds how long every process looks for messages before it sleeps, where it does.
    fn push_spin(&self, arguments: &mut Vec<OsString>) {
        let spin = self.network.spin;
        if !spin.is_zero() {
            flag(arguments, "--spin-us", spin.as_micros().to_string());
        }
    }

    fn push_recovery(&self, arguments: &mut Vec<OsString>) {
        let recovery = &self.recovery;
        let policy = match recovery.on_peer_loss {
            PeerLossPolicy::Stop => "stop",
            PeerLossPolicy::Recover => "recover",
        };
        flag(arguments, "--on-peer-loss", policy);
        let every = recovery.checkpoint_every.to_string();
        flag(arguments, "--checkpoint-every", every);
        flag(arguments, "--stand-bys", recovery.stand_bys.to_string());
    }

    fn secondary_command(&self, number: u32) -> WorkerCommand {
        let name = secondary_name(number);
        let mut arguments = vec!["--network-role=secondary".into()];
        let endpoint = self.endpoint.seen_from_here();
        flag(&mut arguments, "--connect", endpoint.to_string());
        flag(&mut arguments, "--name", &name);
        if let Some(keys) = &self.keys {
            flag(&mut arguments, "--key", &keys.secondary);
            flag(&mut arguments, "--server-key", &keys.primary_public);
        }
        if self.is_insecure {
            arguments.push("--insecure".into());
        }
        let patience = self.network.peer_timeout.as_secs_f64().to_string();
        flag(&mut arguments, "--peer-timeout", patience);
        self.push_spin(&mut arguments);
        arguments.push("--lifeline".into());
        WorkerCommand {
            name,
            role: Role::Secondary,
            arguments,
            environment: BTreeMap::new(),
        }
    }
}

fn secondary_name(number: u32) -> String {
    format!("s{number}")
}

/// Adds `--name=value`.
fn flag(arguments: &mut Vec<OsString>, name: &str, value: impl Into<OsString>) {
    let mut argument = OsString::from(name);
    argument.push("=");
    argument.push(value.into());
    arguments.push(argument);
}

#[cfg(test)]
pub(crate) mod tests;
