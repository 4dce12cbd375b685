//! [`Launched`]: how a run was started, kept in its folder so that it can be started again.

use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::LaunchPlan;
use crate::private_file::replace_private;

/// The start of a run, as written down to resume it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Launched {
    /// Stem of the run's name, if it was given none.
    pub stem: String,
    /// The command line that starts such a run.
    pub command: String,
    /// Its processes.
    pub plan: LaunchPlan,
}

impl Launched {
    /// Writes it down; paths are those that hold from anywhere.
    ///
    /// # Errors
    /// Fails if the system refuses.
    pub fn write(&self, path: &Path) -> io::Result<()> {
        let mut all = self.clone();
        all.plan.spec = serde_json::from_str(&all.plan.spec.to_text()?)?;
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
        };
        launched.write(&path).unwrap();
        let read = Launched::read(&path).unwrap();
        assert!(read.plan.spec.run.worlds[0].is_absolute());
        let resumed = read.plan.resumed().unwrap();
        let line = line(&resumed.commands(&[]).unwrap()[0]);
        assert!(line.contains("--resume=/run/a/journal "), "{line}");
        let spec = resumed.effective_spec();
        assert!(spec.run.worlds.is_empty() && spec.run.commands.is_none());
        assert_eq!(spec.journal.place, run::JournalLocation::Nowhere);
        assert_eq!(spec.trace, run::Trace::default());
        assert_eq!(resumed.commands(&[]).unwrap().len(), 3);
    }
}
