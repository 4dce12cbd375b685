//! Files that a run writes beside its journal, as its settings ask for them.

use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

use anyhow::Context;
use journal::Losses;
use lockstep::{Primary, Topology};
use protocol::Iteration;
use worker::audit::AuditLog;
use worker::commands_file::CommandsRecord;
use worker::digests_file::DigestsFile;
use worker::history::RunHistory;
use worker::messages_file::MessagesFile;
use worker::run_outputs::RunOutputs;
use worker::states_file::StatesFile;

use super::Run;

impl Run {
    /// Empties the files that are written at the end, and sees that they can be.
    ///
    /// # Errors
    /// Fails if one cannot be written.
    pub(crate) fn empty_reports(&self) -> anyhow::Result<()> {
        let outputs = &self.spec.outputs;
        if let Some(path) = &outputs.summary {
            fs::write(path, "")
                .with_context(|| format!("cannot write summary to {}", path.display()))?;
        }
        if let Some(path) = &outputs.last_events {
            RunHistory::default().write_events(path)?;
        }
        Ok(())
    }

    /// Opens the file in which it is written down who does what.
    ///
    /// # Errors
    /// Fails if it cannot be opened.
    pub(crate) fn audit_log(&self) -> anyhow::Result<Option<AuditLog>> {
        let log = self.spec.outputs.audit.as_deref().map(|path| {
            AuditLog::open(path).with_context(|| format!("cannot write {}", path.display()))
        });
        log.transpose()
    }

    /// Creates the outputs of a run that begins.
    ///
    /// # Errors
    /// Fails if one cannot be created.
    pub(crate) fn create_outputs(
        &self,
        plan: &Topology,
        step_size: Duration,
    ) -> anyhow::Result<RunOutputs> {
        let outputs = &self.spec.outputs;
        Ok(RunOutputs {
            digests: create("digests", outputs.digests.as_deref(), DigestsFile::create)?,
            states: create("states", outputs.states.as_deref(), |path| {
                StatesFile::create(path, plan, step_size)
            })?,
            commands: create(
                "commands",
                outputs.record_commands.as_deref(),
                CommandsRecord::create,
            )?,
            messages: create(
                "messages",
                outputs.messages.as_deref(),
                MessagesFile::create,
            )?,
        })
    }

    /// Goes on with the outputs of a run that is taken up again. One that lacks what was before the
    /// checkpoint is refused; where losses are accepted, it is left as it is and not written any
    /// more, which is told.
    ///
    /// # Errors
    /// Fails if one is refused.
    pub(crate) fn resume_outputs(
        &self,
        primary: &Primary,
        (after, commands): (Iteration, u64),
        told: &mut Vec<String>,
    ) -> anyhow::Result<RunOutputs> {
        let outputs = &self.spec.outputs;
        let mut resumed = Resumed {
            losses: self.losses(),
            told,
        };
        let digests = resumed.file("digests", outputs.digests.as_deref(), |path| {
            DigestsFile::resume(path, after)
        })?;
        let states = resumed.file("states", outputs.states.as_deref(), |path| {
            StatesFile::resume(path, primary, after)
        })?;
        let commands = resumed.file("commands", outputs.record_commands.as_deref(), |path| {
            CommandsRecord::resume(path, commands)
        })?;
        let messages = resumed.file("messages", outputs.messages.as_deref(), |_| {
            Err(io::Error::other(
                "what was said before the checkpoint cannot be told from the rest",
            ))
        })?;
        Ok(RunOutputs {
            digests,
            states,
            commands,
            messages,
        })
    }
}

/// Goes on with files, or says which it does not go on with.
struct Resumed<'a> {
    losses: Losses,
    told: &'a mut Vec<String>,
}

impl Resumed<'_> {
    fn file<T>(
        &mut self,
        what: &str,
        path: Option<&Path>,
        resume: impl FnOnce(&Path) -> io::Result<T>,
    ) -> anyhow::Result<Option<T>> {
        let Some(path) = path else {
            return Ok(None);
        };
        let error = match resume(path) {
            Ok(file) => return Ok(Some(file)),
            Err(error) => error,
        };
        let cannot = format!("cannot go on with {what} in {}", path.display());
        match self.losses {
            Losses::Refuse => Err(anyhow::Error::new(error).context(format!(
                "{cannot} (--accept-loss goes on without that file)"
            ))),
            Losses::Accept => {
                let text = format!("{cannot}: {error}; no more is written to it");
                self.told.push(text);
                Ok(None)
            }
        }
    }
}

/// Creates an output, if there is to be one.
fn create<T>(
    what: &str,
    path: Option<&Path>,
    create: impl FnOnce(&Path) -> io::Result<T>,
) -> anyhow::Result<Option<T>> {
    let created = path.map(|path| {
        create(path).with_context(|| format!("cannot write {what} to {}", path.display()))
    });
    created.transpose()
}
