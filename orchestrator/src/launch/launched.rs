//! [`Launched`]: how a run was started, kept in its folder so that it can be started again.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::programs::ProgramPlan;
use super::{LaunchPlan, flag};
use crate::config::TraceConfig;
use crate::run_directory::replace_private;

/// The start of a run, as written down to resume it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Launched {
    /// Stem of the run's name, if it was given none.
    pub stem: String,
    /// The command line that starts such a run.
    pub command: String,
    /// Its processes.
    pub plan: LaunchPlan,
    /// Programs that run beside it.
    pub programs: Vec<ProgramPlan>,
    /// File for the events of the run.
    #[serde(default)]
    pub events: Option<PathBuf>,
}

impl Launched {
    /// Writes it down; paths are those that hold from anywhere.
    ///
    /// # Errors
    /// Fails if the system refuses.
    pub fn write(&self, path: &Path) -> io::Result<()> {
        let mut all = self.clone();
        all.plan.make_absolute()?;
        if let Some(events) = &mut all.events {
            *events = std::path::absolute(&*events)?;
        }
        let text = serde_json::to_string_pretty(&all)?;
        replace_private(path, &(text + "\n"))
    }

    /// Reads it.
    ///
    /// # Errors
    /// Fails if it is not there, or written by another version.
    pub fn read(path: &Path) -> io::Result<Self> {
        let text = std::fs::read_to_string(path)?;
        Ok(serde_json::from_str(&text)?)
    }
}

impl LaunchPlan {
    /// Adds where the run is written down, or taken up again.
    pub(super) fn push_journal(&self, arguments: &mut Vec<OsString>) {
        let Some(journal) = &self.journal else {
            return;
        };
        let name = if self.is_resumed {
            "--resume"
        } else {
            "--journal"
        };
        flag(arguments, name, journal);
        if self.is_resumed && self.accepts_loss {
            arguments.push("--accept-loss".into());
        }
        if let Some(limit) = self.journal_limit_mib {
            flag(arguments, "--journal-limit", limit.to_string());
        }
    }

    /// Makes all paths absolute.
    fn make_absolute(&mut self) -> io::Result<()> {
        let files = [
            &mut self.digests,
            &mut self.states,
            &mut self.commands,
            &mut self.record_commands,
            &mut self.messages,
            &mut self.journal,
            &mut self.record.file,
            &mut self.trace.file,
        ];
        let files = files.into_iter().flatten();
        for path in files.chain(&mut self.worlds) {
            *path = std::path::absolute(&*path)?;
        }
        Ok(())
    }

    /// Returns the plan that resumes the run from its journal; `None` if it has no journal.
    pub fn resumed(self) -> Option<Self> {
        self.journal.as_ref()?;
        Some(Self {
            is_resumed: true,
            // The one of before stays as it is.
            trace: TraceConfig::default(),
            ..self
        })
    }
}

/// An endpoint as text.
pub(super) mod endpoint_text {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};
    use transport::Endpoints;

    pub(in crate::launch) fn serialize<S: Serializer>(
        endpoint: &Endpoints,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_str(endpoint)
    }

    pub(in crate::launch) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Endpoints, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{line, plan};
    use super::*;

    #[test]
    fn a_run_that_is_taken_up_again_has_its_worlds_and_commands_from_its_journal() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("launch.json");
        let launched = Launched {
            stem: "a".to_owned(),
            command: "phalanx run a.sdf".to_owned(),
            plan: plan(2),
            programs: Vec::new(),
            events: None,
        };
        launched.write(&path).unwrap();
        let read = Launched::read(&path).unwrap();
        assert!(read.plan.worlds[0].is_absolute());
        let resumed = read.plan.resumed().unwrap();
        let line = line(&resumed.commands()[0]);
        assert!(line.contains("--resume=/run/a/journal "), "{line}");
        for absent in ["--journal=", "--commands=", ".sdf"] {
            assert!(!line.contains(absent), "{line}");
        }
        assert_eq!(resumed.commands().len(), 3);
    }
}
