//! The files that show what a run computed: digests for every iteration, states, messages, and
//! the commands that it was given.
//!
//! A file that cannot be written ends the run: half a proof is none.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use journal::Beside;
use lockstep::{Primary, StepReport};
use protocol::primary_to_secondary::Step;
use protocol::{Action, ScheduledCommand, StampedAction};

use crate::commands_file::CommandsRecord;
use crate::digests_file::DigestsFile;
use crate::divergence_file::DivergenceFile;
use crate::messages_file::MessagesFile;
use crate::states_file::StatesFile;

/// The files that a run was asked to write.
#[derive(Debug, Default)]
pub struct ProofFiles {
    /// A line for every iteration.
    pub digests: Option<DigestsFile>,
    /// Changes of every iteration.
    pub states: Option<StatesFile>,
    /// Commands to the run, with their iterations.
    pub commands: Option<CommandsRecord>,
    /// True if performers have come or gone since the last iteration, and whether all is as at the
    /// start.
    pub renewal: Option<bool>,
    /// Differences between two results of a step, if there are any.
    pub divergence: DivergenceFile,
    /// Messages on topics; the status thread writes it.
    pub messages: Option<MessagesFile>,
    /// File for the last events when the run ends.
    pub last_events: Option<PathBuf>,
}

impl ProofFiles {
    /// Notes a step that is published.
    pub fn on_step(&mut self, step: &Step) {
        if let Some(states) = &mut self.states {
            states.note_step(step);
        }
        let changes_models = |stamped: &StampedAction| {
            matches!(stamped.action, Action::Spawn(_) | Action::Remove { .. })
        };
        if step.anew || step.actions.iter().any(changes_models) {
            self.renewal = Some(step.anew || self.renewal == Some(true));
        }
    }

    /// Writes down a command that is part of a step.
    ///
    /// # Errors
    /// Fails if its file cannot be written, which is then given up; the text is for people.
    pub fn on_stamped(&mut self, command: &ScheduledCommand) -> Result<(), String> {
        if let Some(commands) = &mut self.commands
            && let Err(error) = commands.write(command)
        {
            let cause = cannot_write("commands", commands.path(), &error);
            self.commands = None;
            return Err(cause);
        }
        Ok(())
    }

    /// Writes down an iteration.
    ///
    /// # Errors
    /// Fails if a file cannot be written, which is then given up; the text is for people.
    pub fn on_step_done(&mut self, report: &StepReport, primary: &Primary) -> Result<(), String> {
        if let Some(anew) = self.renewal.take()
            && let Some(states) = &mut self.states
            && let Err(error) = states.renew(primary.plan(), anew)
        {
            let cause = cannot_write("states", states.path(), &error);
            self.states = None;
            return Err(cause);
        }
        if report.paused {
            return Ok(());
        }
        if let Some(digests) = &mut self.digests
            && let Err(error) = digests.write(report.iteration, report.digest)
        {
            let cause = cannot_write("digests", digests.path(), &error);
            self.digests = None;
            return Err(cause);
        }
        if let Some(states) = &mut self.states {
            // The step after this iteration may be under way, with performers that come.
            let all = primary.states_after(report.iteration).iter();
            let all = all.take(states.performer_count());
            if let Err(error) = states.write(report.iteration, report.digest, all) {
                let cause = cannot_write("states", states.path(), &error);
                self.states = None;
                return Err(cause);
            }
        }
        Ok(())
    }

    /// Flushes buffers to the operating system, so that their contents outlive this process, and
    /// returns the files, so that the caller can sync them against a loss of power.
    ///
    /// # Errors
    /// Fails if a file cannot be written; the text is for people.
    pub fn flush(&mut self) -> Result<Vec<Beside>, String> {
        let mut files = Vec::new();
        if let Some(digests) = &mut self.digests {
            let flushed = digests.finish().and_then(|()| digests.file().try_clone());
            let file = flushed.map_err(|error| cannot_write("digests", digests.path(), &error))?;
            files.push((digests.path(), file));
        }
        if let Some(states) = &mut self.states {
            let flushed = states.flush().and_then(|()| states.file().try_clone());
            let file = flushed.map_err(|error| cannot_write("states", states.path(), &error))?;
            files.push((states.path(), file));
        }
        if let Some(commands) = &mut self.commands {
            let flushed = commands.finish().and_then(|()| commands.file().try_clone());
            let file =
                flushed.map_err(|error| cannot_write("commands", commands.path(), &error))?;
            files.push((commands.path(), file));
        }
        // Pipes and terminals keep nothing, and cannot be made to.
        let keeps = |file: &File| file.metadata().is_ok_and(|data| data.is_file());
        let files = files.into_iter().filter(|(_, file)| keeps(file));
        Ok(files
            .map(|(path, file)| Beside {
                path: path.to_owned(),
                file: Box::new(file),
            })
            .collect())
    }

    /// Syncs the files, so that their contents outlive a loss of power.
    ///
    /// # Errors
    /// Fails if the system cannot; the text is for people.
    pub fn sync(&mut self) -> Result<(), String> {
        for Beside { path, mut file } in self.flush()? {
            let synced = file.sync();
            synced.map_err(|error| format!("cannot write {}: {error}", path.display()))?;
        }
        Ok(())
    }

    /// Makes sure that everything is in the files.
    ///
    /// # Errors
    /// Fails if a file cannot be written; the text is for people.
    pub fn finish(&mut self) -> Result<(), String> {
        if let Some(digests) = &mut self.digests {
            digests
                .finish()
                .map_err(|error| cannot_write("digests", digests.path(), &error))?;
        }
        if let Some(states) = &mut self.states {
            states
                .finish()
                .map_err(|error| cannot_write("states", states.path(), &error))?;
        }
        if let Some(commands) = &mut self.commands {
            commands
                .finish()
                .map_err(|error| cannot_write("commands", commands.path(), &error))?;
        }
        Ok(())
    }
}

fn cannot_write(what: &str, path: &Path, error: &io::Error) -> String {
    format!("cannot write {what} to {}: {error}", path.display())
}
