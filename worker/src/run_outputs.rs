//! [`RunOutputs`]: the files that show what a run computed: digests for every iteration, states,
//! messages, and the commands that it was given.
//!
//! A file that cannot be written ends the run: half a proof is none.

use std::io;
use std::sync::Arc;

use journal::Beside;
use lockstep::{Checkpoint, Primary, StepReport};
use protocol::ScheduledCommand;
use protocol::primary_to_secondary::Step;

use crate::commands_file::CommandsRecord;
use crate::digests_file::DigestsFile;
use crate::messages_file::MessagesFile;
use crate::output_file::{Output, OutputWriter, WriteOutputError};
use crate::run_sink::{RunEnd, RunSink, RunView, SinkError};
use crate::states_file::StatesFile;

/// The files that a run was asked to write.
#[derive(Debug, Default)]
pub struct RunOutputs {
    /// A line for every iteration.
    pub digests: Option<DigestsFile>,
    /// Changes of every iteration.
    pub states: Option<StatesFile>,
    /// Commands to the run, with their iterations.
    pub commands: Option<CommandsRecord>,
    /// Messages on topics, until the status thread takes the file to write it.
    pub messages: Option<MessagesFile>,
}

impl RunOutputs {
    /// Has a thread write the files, if there are any; it calls `tell` when one cannot be written.
    ///
    /// # Errors
    /// When the system has no thread left.
    pub fn start_writer(
        &mut self,
        tell: impl Fn(WriteOutputError) + Send + 'static,
    ) -> io::Result<()> {
        let Self {
            digests,
            states,
            commands,
            messages,
        } = std::mem::take(self);
        let is_any = digests.is_some() || states.is_some();
        if !is_any && commands.is_none() && messages.is_none() {
            return Ok(());
        }
        let writer = OutputWriter::start(tell)?;
        *self = Self {
            digests: digests.map(|file| file.written_by(&writer)),
            states: states.map(|file| file.written_by(&writer)),
            commands: commands.map(|file| file.written_by(&writer)),
            messages: messages.map(|file| file.written_by(&writer)),
        };
        Ok(())
    }

    /// Notes a step that is published.
    pub fn note_step(&mut self, step: &Step) {
        if let Some(states) = &mut self.states {
            states.note_step(step);
        }
    }

    /// Writes down a command that is part of a step.
    ///
    /// # Errors
    /// Fails if its file cannot be written, which is then given up.
    pub fn write_command(&mut self, command: &ScheduledCommand) -> Result<(), WriteOutputError> {
        attempt(&mut self.commands, |commands| commands.write(command))
    }

    /// Writes down a step that is done.
    ///
    /// # Errors
    /// Fails if a file cannot be written, which is then given up.
    pub fn write_step(
        &mut self,
        report: &StepReport,
        primary: &Primary,
    ) -> Result<(), WriteOutputError> {
        if !report.paused {
            attempt(&mut self.digests, |digests| {
                digests.write(report.iteration, report.digest)
            })?;
        }
        attempt(&mut self.states, |states| {
            states.on_step_done(report, primary)
        })
    }

    /// Hands all to the system, at once or by the thread that writes, so that it outlives this
    /// process. Returns the files, so that the caller can sync them against a loss of power; that
    /// waits for the thread.
    ///
    /// # Errors
    /// Fails if a file cannot be written, which is then given up.
    pub fn hand_over(&mut self) -> Result<Vec<Beside>, WriteOutputError> {
        let mut files = Vec::new();
        attempt(&mut self.digests, |output| hand_over(output, &mut files))?;
        attempt(&mut self.states, |output| hand_over(output, &mut files))?;
        attempt(&mut self.commands, |output| hand_over(output, &mut files))?;
        Ok(files)
    }

    /// Waits until everything is in the files.
    ///
    /// # Errors
    /// Fails if a file cannot be written, which is then given up.
    pub fn complete(&mut self) -> Result<(), WriteOutputError> {
        attempt(&mut self.digests, Output::complete)?;
        attempt(&mut self.states, Output::complete)?;
        attempt(&mut self.commands, Output::complete)
    }

    /// Syncs the files, so that their contents outlive a loss of power.
    fn sync(&mut self) -> Result<(), SinkError> {
        for Beside { path, mut file } in self.hand_over()? {
            let synced = file.sync();
            synced.map_err(|source| SinkError::Sync { path, source })?;
        }
        Ok(())
    }
}

impl RunSink for RunOutputs {
    fn on_step(&mut self, step: &Step) {
        self.note_step(step);
    }

    fn on_command(
        &mut self,
        command: &ScheduledCommand,
        _run: &RunView<'_>,
    ) -> Result<(), SinkError> {
        Ok(self.write_command(command)?)
    }

    fn on_step_done(&mut self, report: &StepReport, run: &RunView<'_>) -> Result<(), SinkError> {
        Ok(self.write_step(report, run.primary)?)
    }

    /// Hands over the files, which are at least as far as the checkpoint once they are synced.
    fn on_checkpoint(
        &mut self,
        _checkpoint: &Arc<Checkpoint>,
        beside: &mut Vec<Beside>,
    ) -> Result<(), SinkError> {
        beside.extend(self.hand_over()?);
        Ok(())
    }

    /// Syncs the files where there is a journal: it goes with a run that ends well, which then has
    /// these files alone.
    fn finish(&mut self, end: &mut RunEnd, _run: &mut RunView<'_>) {
        let written = self.complete().map_err(SinkError::from);
        let synced = written.and_then(|()| {
            if end.is_journaled() {
                self.sync()
            } else {
                Ok(())
            }
        });
        if let Err(error) = synced {
            end.fail(&error);
        }
    }
}

/// Does something to an output that is there, and gives it up if that fails.
fn attempt<O: Output>(
    output: &mut Option<O>,
    act: impl FnOnce(&mut O) -> io::Result<()>,
) -> Result<(), WriteOutputError> {
    let Some(one) = output else {
        return Ok(());
    };
    let Err(source) = act(one) else {
        return Ok(());
    };
    let error = one.file().error(source);
    *output = None;
    Err(error)
}

fn hand_over(output: &mut impl Output, files: &mut Vec<Beside>) -> io::Result<()> {
    let output = output.file();
    let file = output.hand_over()?;
    let path = output.path().to_owned();
    files.extend(file.map(|file| Beside { path, file }));
    Ok(())
}
