//! Starting a run's workers: [`LaunchPlan`] says which programs run with which arguments,
//! [`supervisor::Supervisor`] runs them and sees to it that none outlives the run.
//!
//! Nothing here knows how a simulation works: a worker is a program with a command line.

pub mod death;
mod environment;
mod find_worker;
mod guard;
pub mod hosts;
pub mod launched;
pub mod primary_watch;
pub mod process;
pub mod process_state;
pub mod programs;
mod relays;
mod restart_policy;
pub mod ros2_control;
pub mod slurm;
pub mod supervisor;
mod worker_record;
pub mod world_programs;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

use protocol::Role;
use run::{JournalLocation, RunSpec, Trace};
use serde::{Deserialize, Serialize};
use transport::{Endpoints, KeyError, KeyPair, PublicKey};

pub use find_worker::{FindWorkerError, WORKER_VARIABLE, find_worker};
pub use worker_record::WorkerRecord;

use self::hosts::{PreparedHost, RemoteStart};
use crate::key_files::RunKeys;
use crate::private_file::replace_private;

/// Everything that decides a run's processes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LaunchPlan {
    /// The specification, with the address, the keys and the files of this run.
    pub spec: RunSpec,
    /// File from which the first process reads the specification.
    pub spec_file: PathBuf,
    /// Keys by which the processes know each other; `None` encrypts nothing.
    pub keys: Option<RunKeys>,
    /// The recording that is simulated again, instead of worlds.
    pub recording: Option<PathBuf>,
    /// True if the run goes on from its journal.
    pub is_resumed: bool,
    /// True if that is done although something is lost.
    pub accepts_loss: bool,
}

/// One process to be started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkerCommand {
    /// Its name: `primary`, `standalone`, or that of a secondary or a relay.
    pub name: String,
    /// Its role.
    pub role: Role,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// Variables of its environment besides those of this program.
    pub environment: BTreeMap<String, String>,
    /// The other machine that it runs on, if it does.
    pub remote: Option<RemoteStart>,
}

impl LaunchPlan {
    /// Returns the address at which processes of this machine reach the primary.
    ///
    /// # Panics
    /// Panics if the plan was made without an address.
    pub fn endpoint(&self) -> Endpoints {
        self.bind().seen_from_here()
    }

    /// Returns the processes of the run, the one that keeps time first; those of hosts come after
    /// those of this machine.
    ///
    /// # Errors
    /// Fails if a key that hosts are to have cannot be read.
    pub fn commands(&self, hosts: &[PreparedHost]) -> Result<Vec<WorkerCommand>, KeyError> {
        let mut commands = vec![self.first_command()];
        let own = self.spec.run.secondaries;
        commands.extend((1..=own).map(|number| self.secondary_command(number)));
        for command in &mut commands {
            environment::give(command, &self.spec);
        }
        commands.extend(self.commands_on(hosts, own + 1)?);
        Ok(commands)
    }

    /// Returns the secondaries of hosts, which are numbered from `first` on.
    ///
    /// # Errors
    /// Fails if the key that hosts are to have cannot be read.
    pub fn commands_on(
        &self,
        hosts: &[PreparedHost],
        first: u32,
    ) -> Result<Vec<WorkerCommand>, KeyError> {
        let mut commands = Vec::new();
        let mut next = first;
        for host in hosts {
            let slots = host.host.slots;
            let has_relay = slots > self.spec.network.relay_above;
            let relay = has_relay.then(|| relays::Relay::of(next));
            if let Some(relay) = &relay {
                commands.push(self.relay_command(relay, host)?);
            }
            for number in next..next + slots {
                commands.push(match &relay {
                    Some(relay) => self.command_behind(relay, number, host),
                    None => self.remote_command(number, host)?,
                });
            }
            next += slots;
        }
        for command in &mut commands {
            environment::give(command, &self.spec);
        }
        Ok(commands)
    }

    /// Returns the most secondaries that the run lets in: those that it needs and stand-bys.
    pub fn room(&self) -> u32 {
        self.needed_secondaries()
            .saturating_add(self.spec.run.recovery.stand_bys)
    }

    /// Returns the number of secondaries that the run begins with.
    pub fn needed_secondaries(&self) -> u32 {
        let started = self.spec.run.secondaries + self.spec.secondaries_of_hosts();
        started + self.spec.network.remote_secondaries
    }

    /// Writes the specification for the first process.
    ///
    /// # Errors
    /// Fails if the system refuses, or a path is no text.
    pub fn write_spec(&self) -> io::Result<()> {
        replace_private(&self.spec_file, &self.effective_spec().to_text()?)
    }

    /// Returns the names of the secondaries.
    pub fn secondary_names(&self) -> Vec<String> {
        (1..=self.spec.run.secondaries + self.spec.secondaries_of_hosts())
            .map(secondary_name)
            .collect()
    }

    /// Returns the names of the world files.
    pub fn world_names(&self) -> String {
        let files = self.spec.run.worlds.iter().chain(&self.recording);
        let names = files.map(|world| world.display().to_string());
        names.collect::<Vec<_>>().join(", ")
    }

    /// Returns the plan that goes on with the run from its journal; `None` if it has none.
    pub fn resumed(mut self) -> Option<Self> {
        self.spec.journal.folder()?;
        self.is_resumed = true;
        // That of the first start stays as it is.
        self.spec.trace = Trace::default();
        Some(self)
    }

    /// Returns the specification of this start: a run that goes on has its worlds and commands
    /// from its journal.
    fn effective_spec(&self) -> RunSpec {
        let mut spec = self.spec.clone();
        if self.is_resumed {
            spec.run.worlds.clear();
            spec.run.commands = None;
            spec.journal.place = JournalLocation::Nowhere;
        }
        spec
    }

    fn first_command(&self) -> WorkerCommand {
        let mut arguments: Vec<OsString> = Vec::new();
        let all = self.needed_secondaries();
        let role = if all == 0 {
            Role::Standalone
        } else {
            Role::Primary
        };
        if role == Role::Primary {
            arguments.push("--network-role=primary".into());
            flag(&mut arguments, "--network-secondaries", all.to_string());
        }
        flag(&mut arguments, "--run", &self.spec_file);
        if let Some(recording) = &self.recording {
            flag(&mut arguments, "--recording", recording);
        }
        if let (true, Some(journal)) = (self.is_resumed, self.spec.journal.folder()) {
            flag(&mut arguments, "--resume", journal);
            if self.accepts_loss {
                arguments.push("--accept-loss".into());
            }
        }
        arguments.push("--lifeline".into());
        WorkerCommand {
            name: role.to_string(),
            role,
            arguments,
            environment: BTreeMap::new(),
            remote: None,
        }
    }

    fn secondary_command(&self, number: u32) -> WorkerCommand {
        let mut arguments = Vec::new();
        flag(&mut arguments, "--connect", self.endpoint().to_string());
        if let Some(keys) = &self.keys {
            flag(&mut arguments, "--key", &keys.secondary);
            flag(&mut arguments, "--server-key", &keys.primary_public);
        }
        self.command_of_secondary(number, arguments)
    }

    /// Returns the command of a secondary on another machine: no file of this one is there.
    fn remote_command(&self, number: u32, host: &PreparedHost) -> Result<WorkerCommand, KeyError> {
        let (arguments, key) = self.keys_of_host()?;
        Ok(WorkerCommand {
            remote: Some(host.start(self.bind(), key)),
            ..self.command_of_secondary(number, arguments)
        })
    }

    /// Returns the arguments about keys of a process on another machine, and the text of its own.
    fn keys_of_host(&self) -> Result<(Vec<OsString>, Option<String>), KeyError> {
        let mut arguments = Vec::new();
        let Some(keys) = &self.keys else {
            return Ok((arguments, None));
        };
        let public = PublicKey::read(&keys.primary_public)?;
        arguments.push("--key=-".into());
        flag(&mut arguments, "--server-key", public.to_string());
        Ok((arguments, Some(KeyPair::read(&keys.secondary)?.lines())))
    }

    fn bind(&self) -> &Endpoints {
        let bind = self.spec.network.bind.as_ref();
        bind.expect("a plan has an address")
    }

    /// Returns the command of a secondary that is told by some arguments where the primary is.
    fn command_of_secondary(&self, number: u32, connection: Vec<OsString>) -> WorkerCommand {
        self.command_of(Role::Secondary, secondary_name(number), connection)
    }

    /// Returns the command of a secondary or a relay that is told by some arguments where the
    /// primary is.
    fn command_of(&self, role: Role, name: String, connection: Vec<OsString>) -> WorkerCommand {
        let network = &self.spec.network;
        let mut arguments = Vec::new();
        flag(&mut arguments, "--network-role", role.to_string());
        arguments.extend(connection);
        flag(&mut arguments, "--name", &name);
        if self.spec.security.insecure {
            arguments.push("--insecure".into());
        }
        let timeout = network.peer_timeout.as_secs_f64().to_string();
        flag(&mut arguments, "--peer-timeout", timeout);
        if !network.spin.is_zero() {
            let spin = network.spin.as_micros().to_string();
            flag(&mut arguments, "--spin-us", spin);
        }
        arguments.push("--lifeline".into());
        WorkerCommand {
            name,
            role,
            arguments,
            environment: BTreeMap::new(),
            remote: None,
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
