//! Checks of a specification as a whole: settings that are right alone and do not go together.

use std::path::Path;

use crate::{RecordFormat, RunSpec, SECONDARIES_MAX};

/// Settings that do not go together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SpecError {
    /// A peer counts as lost before it has missed more than one heartbeat.
    #[error(
        "--heartbeat-timeout-ms of {timeout_ms} must be at least twice --heartbeat-interval-ms of \
         {interval_ms}"
    )]
    Heartbeats {
        /// Silence after which a peer counts as lost \[ms\].
        timeout_ms: u128,
        /// Time between heartbeats \[ms\].
        interval_ms: u128,
    },
    /// Two files of a run are one.
    #[error("{first} and {second} need a file each")]
    SameFile {
        /// The flag of one.
        first: &'static str,
        /// The flag of the other.
        second: &'static str,
    },
    /// States are no messages of ROS.
    #[error("--record-states needs --record-format phalanx: a recording for ROS has topics alone")]
    StatesForRos,
    /// More secondaries than a run may have.
    #[error("a run has at most {SECONDARIES_MAX} secondaries")]
    TooManySecondaries,
    /// There is nothing that others could reach.
    #[error(
        "--announce-lan needs an address that others reach: name it with --bind tcp://0.0.0.0:0"
    )]
    Unannounceable,
    /// Secondaries of other machines have nowhere to connect to.
    #[error(
        "secondaries of other machines need an address to connect to: name it with --bind \
         tcp://HOST:PORT"
    )]
    Unreachable,
}

impl RunSpec {
    /// Makes sure that the settings go together.
    ///
    /// # Errors
    /// Fails if two do not, with what to do.
    pub fn check(&self) -> Result<(), SpecError> {
        let network = &self.network;
        if !network.has_time_for_heartbeats() {
            return Err(SpecError::Heartbeats {
                timeout_ms: network.heartbeat_timeout.as_millis(),
                interval_ms: network.heartbeat_interval.as_millis(),
            });
        }
        let remote = network.remote_secondaries;
        let of_hosts = self.secondaries_of_hosts();
        let all = self.run.secondaries.saturating_add(remote);
        if all.saturating_add(of_hosts) > SECONDARIES_MAX {
            return Err(SpecError::TooManySecondaries);
        }
        let has_address = network.is_on_tcp();
        if remote > 0 && !has_address || of_hosts > 0 && network.bind.is_some() && !has_address {
            return Err(SpecError::Unreachable);
        }
        if network.announce_lan && network.bind.is_some() && !has_address {
            return Err(SpecError::Unannounceable);
        }
        let record = &self.record;
        if record.file.is_some() && record.states && record.format == RecordFormat::Ros2 {
            return Err(SpecError::StatesForRos);
        }
        self.check_files()
    }

    /// Makes sure that no file is written twice, or read and written.
    fn check_files(&self) -> Result<(), SpecError> {
        let commands = self.run.commands.as_deref();
        let read = commands.map(|path| ("--commands", path));
        let files: Vec<_> = self.output_files().chain(read).collect();
        for (index, (second, path)) in files.iter().enumerate() {
            let mut before = files[..index].iter();
            if let Some((first, _)) = before.find(|(_, it)| it == path) {
                return Err(SpecError::SameFile { first, second });
            }
        }
        Ok(())
    }

    /// Returns the files that a run writes as it goes, with their flags.
    pub fn output_files(&self) -> impl Iterator<Item = (&'static str, &Path)> {
        let others = [
            ("--record", &self.record.file),
            ("--trace", &self.trace.file),
            ("--audit", &self.outputs.audit),
        ];
        let files = self.outputs.files().into_iter().chain(others);
        files.filter_map(|(flag, path)| Some((flag, path.as_deref()?)))
    }
}
