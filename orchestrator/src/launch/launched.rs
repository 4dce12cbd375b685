//! [`Launched`]: how a run was started, kept in its folder so that it can be started again.

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::LaunchPlan;
use super::programs::ProgramPlan;

/// How a run was started.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Launched {
    /// What it is called where it has no name.
    pub stem: String,
    /// The command line that starts such a run.
    pub command: String,
    /// Its processes.
    pub plan: LaunchPlan,
    /// What runs beside it.
    pub programs: Vec<ProgramPlan>,
}

impl Launched {
    /// Writes it down; paths are those that hold from anywhere.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn write(&self, path: &Path) -> io::Result<()> {
        let mut all = self.clone();
        all.plan.make_absolute()?;
        let text = serde_json::to_string_pretty(&all)?;
        let new = path.with_extension("json.new");
        std::fs::write(&new, text + "\n")?;
        std::fs::rename(&new, path)
    }

    /// Reads it.
    ///
    /// # Errors
    /// When it is not there, or written by another version.
    pub fn read(path: &Path) -> io::Result<Self> {
        let text = std::fs::read_to_string(path)?;
        Ok(serde_json::from_str(&text)?)
    }
}

impl LaunchPlan {
    /// Makes all paths absolute.
    fn make_absolute(&mut self) -> io::Result<()> {
        let files = [
            &mut self.digests,
            &mut self.states,
            &mut self.commands,
            &mut self.record_commands,
            &mut self.messages,
            &mut self.journal,
        ];
        let files = files.into_iter().flatten();
        for path in files.chain(&mut self.worlds) {
            *path = std::path::absolute(&*path)?;
        }
        Ok(())
    }

    /// Returns the plan that takes the run up again from its journal.
    ///
    /// # Errors
    /// When it has none.
    pub fn resumed(self) -> Option<Self> {
        let journal: PathBuf = self.journal.clone()?;
        Some(Self {
            journal: Some(journal),
            is_resumed: true,
            ..self
        })
    }
}
