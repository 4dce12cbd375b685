//! [`RunSpec`]: the specification of a run. Every setting is here once, with its default, its
//! limits and its flag.
//!
//! A file for each section of a run file has the section's struct and, beside it, the rows of its
//! [`Setting`]s. `phalanx` puts files, variables and flags over each other ([`overlay`]), checks
//! the whole, and hands it to `worker` as one file; the flags of a `worker` that is started by hand
//! fill the same struct. Nothing here starts, opens or shows anything but that file.

mod check;
pub mod flags;
mod host;
mod journal;
mod kind;
mod levels;
mod logs;
mod name;
mod network;
mod outputs;
mod participants;
mod physics;
mod process;
mod program;
mod record;
mod ros2;
mod ros_variables;
mod security;
mod setting;
mod simulation;
pub mod suggestion;
mod trace;
mod values;

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use lockstep::PeerLossPolicy;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use ::ros2::{Mapping as RosMapping, RuleError as RosRuleError, Rules as RosRules};
pub use check::SpecError;
pub use host::{Host, HostError, HostList, SLOTS_MAX, check_host_name};
pub use journal::{Journal, JournalLocation};
pub use kind::{Kind, KindError, LogFilterError, paths};
pub use levels::Levels;
pub use logs::Logs;
pub use name::{ProgramNameError, RunNameError, check_program_name, check_run_name};
pub use network::{HostAccess, Network};
pub use outputs::Outputs;
pub use participants::Participants;
pub use physics::Physics;
pub use process::{Process, Processes};
pub use program::Program;
pub use record::{Record, RecordFormat, RecordImages};
pub use ros_variables::{RosReach, RosVariableError};
pub use ros2::{DOMAIN_MAX as ROS_DOMAIN_MAX, Ros2, ServiceMapping};
pub use security::Security;
pub use setting::{Audience, Flag, Setting};
pub use simulation::{Recovery, SECONDARIES_MAX, Simulation};
pub use trace::Trace;
pub use values::{Word, word};

/// The sections that stay on the machine of a run.
const PRIVATE_SECTIONS: [&str; 5] = ["network", "security", "process", "program", "host"];

/// All settings of a run. Its JSON has the sections and names of run files.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunSpec {
    /// Worlds, time and randomness.
    pub run: Simulation,
    /// Settings of physics.
    pub physics: Physics,
    /// Programs that take part in lockstep.
    pub participants: Participants,
    /// Settings that decide which cell every performer is in.
    pub levels: Levels,
    /// Meeting point of the processes, and their time-outs.
    pub network: Network,
    /// Access to the run.
    pub security: Security,
    /// Logs of the processes.
    pub logs: Logs,
    /// Files that the run writes as it goes.
    pub outputs: Outputs,
    /// Recording of the run.
    pub record: Record,
    /// Trace of the run.
    pub trace: Trace,
    /// Topics of the run in ROS 2.
    pub ros2: Ros2,
    /// Its journal, from which it is resumed.
    pub journal: Journal,
    /// Environment and CPUs of single processes.
    #[serde(rename = "process")]
    pub processes: Processes,
    /// Programs beside the simulation.
    #[serde(rename = "program")]
    pub programs: Vec<Program>,
    /// Other machines that secondaries are started on.
    #[serde(rename = "host")]
    pub hosts: Vec<Host>,
}

/// The settings of all sections, in the order of `configs/default.toml`.
pub fn settings() -> impl Iterator<Item = &'static Setting> {
    [
        simulation::SETTINGS,
        physics::SETTINGS,
        participants::SETTINGS,
        levels::SETTINGS,
        network::SETTINGS,
        security::SETTINGS,
        logs::SETTINGS,
        outputs::SETTINGS,
        record::SETTINGS,
        trace::SETTINGS,
        ros2::SETTINGS,
        journal::SETTINGS,
    ]
    .into_iter()
    .flatten()
}

/// Values of settings that somebody gave, checked, by section and key.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Given(pub BTreeMap<(&'static str, &'static str), Value>);

impl Given {
    /// Adds a value; the last one of a setting counts.
    pub fn put(&mut self, setting: &Setting, value: Value) {
        self.0.insert((setting.section, setting.key), value);
    }
}

/// Puts values over sections of settings.
///
/// # Errors
/// Fails if a path of the sections is no text.
pub fn overlay<T: Serialize + DeserializeOwned>(
    base: &T,
    given: &Given,
) -> Result<T, serde_json::Error> {
    let mut sections = serde_json::to_value(base)?;
    for ((section, key), value) in &given.0 {
        sections[section][key] = value.clone();
    }
    serde_json::from_value(sections)
}

/// Returns the value of a setting; `None` is unset.
pub fn value_of<T: Serialize>(sections: &T, setting: &Setting) -> Option<Value> {
    let sections = serde_json::to_value(sections).ok()?;
    let value = sections.get(setting.section)?.get(setting.key)?;
    Some(value.clone()).filter(|value| !value.is_null())
}

impl RunSpec {
    /// Returns the defaults of processes that are started by hand: like Gazebo's, they end when a
    /// peer is lost, and leave nothing on disk that nobody asked for.
    pub fn by_hand() -> Self {
        let mut spec = Self::default();
        spec.run.secondaries = 0;
        spec.run.recovery.on_peer_loss = PeerLossPolicy::Stop;
        spec.run.recovery.stand_bys = 0;
        spec.journal.place = JournalLocation::Nowhere;
        spec
    }

    /// Returns the settings that may be shown to everybody who gets a file of the run: all sections
    /// but access, meeting point, environments and programs, which may hold secrets and say nothing
    /// about what is computed.
    ///
    /// # Errors
    /// Fails if a path is no text.
    pub fn public_settings(&self) -> serde_json::Result<Value> {
        let mut all = serde_json::to_value(self)?;
        if let Some(sections) = all.as_object_mut() {
            sections.retain(|name, _| !PRIVATE_SECTIONS.contains(&name.as_str()));
        }
        Ok(all)
    }

    /// Returns the hosts that secondaries are started on.
    pub fn used_hosts(&self) -> Vec<Host> {
        match &self.network.hosts {
            Some(list) => list.with_sections(&self.hosts),
            None => self.hosts.clone(),
        }
    }

    /// Returns the number of secondaries that are started on other machines.
    pub fn secondaries_of_hosts(&self) -> u32 {
        let slots = self.used_hosts();
        slots
            .iter()
            .fold(0, |sum, host| sum.saturating_add(host.slots))
    }

    /// Reads a specification that [`RunSpec::to_text`] wrote.
    ///
    /// # Errors
    /// Fails if the file cannot be read, or was written by another version.
    pub fn read(path: &Path) -> io::Result<Self> {
        let text = std::fs::read_to_string(path)?;
        Ok(serde_json::from_str(&text)?)
    }

    /// Returns its JSON, whose paths hold from any folder.
    ///
    /// # Errors
    /// Fails if a path is no text, or the working directory is gone.
    pub fn to_text(&self) -> io::Result<String> {
        let mut all = self.clone();
        for path in all.paths_mut() {
            *path = std::path::absolute(&*path)?;
        }
        Ok(serde_json::to_string_pretty(&all)? + "\n")
    }

    /// Returns all files and folders that the processes of a run use.
    fn paths_mut(&mut self) -> impl Iterator<Item = &mut std::path::PathBuf> {
        let journal = match &mut self.journal.place {
            JournalLocation::Folder(folder) => Some(folder),
            JournalLocation::RunFolder | JournalLocation::Nowhere => None,
        };
        let outputs = &mut self.outputs;
        let single = [
            &mut self.run.commands,
            &mut outputs.digests,
            &mut outputs.states,
            &mut outputs.messages,
            &mut outputs.record_commands,
            &mut outputs.summary,
            &mut outputs.last_events,
            &mut outputs.audit,
            &mut outputs.divergence_reports,
            &mut self.record.file,
            &mut self.trace.file,
            &mut self.ros2.rules,
            &mut self.security.keys,
            &mut self.security.key,
        ];
        let events = outputs.events.iter_mut();
        single
            .into_iter()
            .flatten()
            .chain(journal)
            .chain(events.filter(|path| path.as_os_str() != "-"))
            .chain(&mut self.run.worlds)
            .chain(&mut self.security.authorized)
    }
}

#[cfg(test)]
mod tests;
