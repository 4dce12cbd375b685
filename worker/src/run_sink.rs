//! [`RunSink`]: something that keeps what a run does, such as a file, a recording or a journal.
//!
//! The primary's driver tells its sinks of each thing once, in the order of
//! [`RunSinks`](crate::primary). A sink never decides anything about a run but that it cannot go
//! on, or how it ended.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use journal::Beside;
use lockstep::{Checkpoint, Primary, StepReport};
use protocol::Chain;
use protocol::exit::Outcome;
use protocol::primary_to_observers::Event;
use protocol::primary_to_secondary::Step;
use protocol::report::divergence::DivergenceReport;
use protocol::report::{PeerReport, Stats};
use protocol::{ScheduledCommand, SessionTime, StopReason};

use crate::journaling::JournalError;
use crate::meter::Meter;
use crate::output_file::WriteOutputError;
use crate::recording_file::DigestDifference;
use crate::report::Reporter;

/// Something that keeps what a run does. What does not concern it, it ignores.
pub trait RunSink {
    /// Takes note of a step that is about to be published, or begins after it was run ahead.
    fn on_step(&mut self, step: &Step) {
        let _ = step;
    }

    /// Keeps a command that is part of the step that was just published.
    ///
    /// # Errors
    /// Fails if the run cannot go on.
    fn on_command(
        &mut self,
        command: &ScheduledCommand,
        run: &RunView<'_>,
    ) -> Result<(), SinkError> {
        let _ = (command, run);
        Ok(())
    }

    /// Keeps a step that is done; waits where too much waits to be written.
    ///
    /// # Errors
    /// Fails if the run cannot go on.
    fn on_step_done(&mut self, report: &StepReport, run: &RunView<'_>) -> Result<(), SinkError> {
        let _ = (report, run);
        Ok(())
    }

    /// Keeps an event.
    fn on_event(&mut self, event: &Event, run: &RunView<'_>) {
        let _ = (event, run);
    }

    /// Keeps statistics, which come about once per second; `peers` are those of a run that is
    /// recorded.
    fn on_stats(&mut self, stats: &Stats, peers: Option<&[PeerReport]>, run: &RunView<'_>) {
        let _ = (stats, peers, run);
    }

    /// Keeps two results of a step that differ.
    fn on_divergence(&mut self, report: &DivergenceReport) {
        let _ = report;
    }

    /// Tells whether a checkpoint is one to be kept.
    fn wants(&self, checkpoint: &Checkpoint) -> bool {
        let _ = checkpoint;
        false
    }

    /// Keeps a checkpoint that some sink wants. One that has files to be as safe as the checkpoint
    /// adds them to those `beside` it; one that keeps the checkpoint takes them, so it comes later.
    ///
    /// # Errors
    /// Fails if the run cannot go on; the sinks after it do not get the checkpoint then.
    fn on_checkpoint(
        &mut self,
        checkpoint: &Arc<Checkpoint>,
        beside: &mut Vec<Beside>,
    ) -> Result<(), SinkError> {
        let _ = (checkpoint, beside);
        Ok(())
    }

    /// Takes note that all that was complete before a resume is done again.
    fn on_replayed(&mut self) {}

    /// Completes what it keeps, and tells what could not be written.
    fn finish(&mut self, end: &mut RunEnd, run: &mut RunView<'_>) {
        let _ = (end, run);
    }
}

/// State of a run, as its sinks see it.
pub struct RunView<'a> {
    /// Its rules.
    pub primary: &'a Primary,
    /// Makes reports of it.
    pub reporter: &'a mut Reporter,
    /// Measurements of it.
    pub meter: &'a mut Meter,
    /// The time.
    pub now: SessionTime,
}

/// Reason why a run cannot go on, of one of its sinks.
#[derive(Debug, thiserror::Error)]
pub enum SinkError {
    /// A file cannot be written.
    #[error(transparent)]
    Write(#[from] WriteOutputError),
    /// A file cannot be made to outlive a loss of power.
    #[error("cannot write {}", .path.display())]
    Sync {
        /// The file.
        path: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
    /// It is not as its recording.
    #[error(transparent)]
    Differs(#[from] DigestDifference),
}

/// End of a run, which goes from sink to sink.
#[derive(Debug)]
pub struct RunEnd {
    reason: StopReason,
    is_in_order: bool,
    is_journaled: bool,
    journal: Option<JournalError>,
}

impl RunEnd {
    /// Makes the end of a run that has a journal or has not.
    pub fn new(reason: StopReason, is_journaled: bool) -> Self {
        Self {
            is_in_order: matches!(reason.outcome, Outcome::Completed | Outcome::Interrupted),
            reason,
            is_journaled,
            journal: None,
        }
    }

    /// Tells whether the run ended in order, whatever could not be written then.
    pub fn is_in_order(&self) -> bool {
        self.is_in_order
    }

    /// Tells whether the run has a journal.
    pub fn is_journaled(&self) -> bool {
        self.is_journaled
    }

    /// Returns how the run ended, by the sinks so far.
    pub fn reason(&self) -> &StopReason {
        &self.reason
    }

    /// Says how the run ended.
    pub fn set_reason(&mut self, reason: StopReason) {
        self.reason = reason;
    }

    /// Takes note of something that could not be written: a run that ended in order has failed
    /// then.
    pub fn fail(&mut self, error: &dyn std::error::Error) {
        let cause = Chain(error).to_string();
        if self.is_in_order && self.reason.outcome != Outcome::Failed {
            self.reason = StopReason::new(Outcome::Failed, cause);
        } else {
            tracing::warn!("{cause}");
        }
    }

    /// Takes note that the journal is not whole, which changes nothing of how the run ended.
    pub fn lose_journal(&mut self, error: JournalError) {
        tracing::warn!("{}", Chain(&error));
        self.journal = Some(error);
    }

    /// Returns how the run ended, and the failure of its journal, if it is not whole.
    pub fn into_parts(self) -> (StopReason, Option<JournalError>) {
        (self.reason, self.journal)
    }
}
