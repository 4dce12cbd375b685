//! [`RunSinks`]: all that keeps what a run does, in the order in which it is told.
//!
//! 1. The outputs, so that a checkpoint of the journal rests on files that are handed over.
//! 2. The status thread, whose messages go to a file and to the recording: it ends before that.
//! 3. The recording, or the comparison with one, which may change how the run ended.
//! 4. The reports of divergences.
//! 5. The journal, which goes once the run has ended well by all that come before.
//! 6. The history, whose last events are those of the whole run.
//!
//! The trace is none of them: it measures them. Nor is the audit: it is about what comes in.

use std::io;
use std::sync::Arc;

use journal::Beside;
use lockstep::{Checkpoint, PrimaryInput, RunTarget, StepReport};
use protocol::Chain;
use protocol::primary_to_observers::Event;
use protocol::primary_to_secondary::Step;
use protocol::report::divergence::DivergenceReport;
use protocol::report::{History, PeerReport, Stats};
use protocol::{ScheduledCommand, SessionTime, StopReason};

use crate::divergence_file::DivergenceFile;
use crate::history::RunHistory;
use crate::journaling::{JournalError, Journaling};
use crate::output_file::WriteOutputError;
use crate::recordings::Recordings;
use crate::run_outputs::RunOutputs;
use crate::run_sink::{RunEnd, RunSink, RunView, SinkError};
use crate::secondary::InputSender;
use crate::startup::JournalPlan;
use crate::status::StatusThread;

/// The sinks of a run. One that fails has the primary told, which then ends the run.
pub(super) struct RunSinks {
    outputs: RunOutputs,
    status: StatusThread,
    recordings: Recordings,
    divergences: DivergenceFile,
    journal: Option<Journaling>,
    history: RunHistory,
    failures: InputSender<PrimaryInput>,
}

impl RunSinks {
    /// Begins to write outputs and to publish.
    ///
    /// # Errors
    /// When the system has no thread left.
    pub(super) fn start(
        mut outputs: RunOutputs,
        mut status: StatusThread,
        failures: InputSender<PrimaryInput>,
    ) -> io::Result<Self> {
        let told = failures.clone();
        outputs.start_writer(move |error: WriteOutputError| {
            told.send(PrimaryInput::Failed(Chain(&error).to_string()));
        })?;
        status.attach(failures.clone(), outputs.messages.take());
        Ok(Self {
            outputs,
            status,
            recordings: Recordings::default(),
            divergences: DivergenceFile::default(),
            journal: None,
            history: RunHistory::default(),
            failures,
        })
    }

    /// Has the run recorded, or compared with a recording.
    pub(super) fn keep_recordings(&mut self, recordings: Recordings) {
        if let Some(feed) = recordings.said_feed() {
            self.status.record(feed);
        }
        self.recordings = recordings;
    }

    /// Has divergences described.
    pub(super) fn keep_divergences(&mut self, file: DivergenceFile) {
        self.divergences = file;
    }

    /// Has a journal written.
    ///
    /// # Errors
    /// When the system has no thread left.
    pub(super) fn keep_journal(&mut self, plan: JournalPlan) -> io::Result<()> {
        self.journal = Some(Journaling::start(plan, self.failures.clone())?);
        Ok(())
    }

    /// Returns the history.
    pub(super) fn history(&mut self) -> &mut RunHistory {
        &mut self.history
    }

    /// Returns all that is known of the past, with the figures of now.
    pub(super) fn past(&self, stats: &Stats, now: SessionTime) -> History {
        self.history.all(stats, now)
    }

    /// Returns the status thread.
    pub(super) fn status(&mut self) -> &mut StatusThread {
        &mut self.status
    }

    /// Returns the journal, if there is one.
    pub(super) fn journal(&self) -> Option<&Journaling> {
        self.journal.as_ref()
    }

    /// Tells whether a recording is written.
    pub(super) fn is_recording(&self) -> bool {
        self.recordings.is_recording()
    }

    /// Returns what is wrong with the recording, once for each such thing.
    pub(super) fn take_problem(&self) -> Option<String> {
        self.recordings.take_problem()
    }

    /// Takes note of the state of a run that may have changed: whether lost cells are being
    /// restored, and what steps aim at.
    pub(super) fn note_state(&mut self, is_recovering: bool, target: RunTarget) {
        self.status.note_recovering(is_recovering);
        if let Some(journal) = &mut self.journal {
            journal.note_run_target(target);
        }
    }

    /// Takes note of a step that is about to be published, or begins after it was run ahead.
    pub(super) fn on_step(&mut self, step: &Step) {
        self.all().for_each(|sink| sink.on_step(step));
    }

    /// Keeps a command that is part of the step that was just published.
    pub(super) fn on_command(&mut self, command: &ScheduledCommand, run: &RunView<'_>) {
        self.each(|sink| sink.on_command(command, run));
    }

    /// Keeps a step that is done.
    pub(super) fn on_step_done(&mut self, report: &StepReport, run: &RunView<'_>) {
        self.each(|sink| sink.on_step_done(report, run));
    }

    /// Keeps an event.
    pub(super) fn on_event(&mut self, event: &Event, run: &RunView<'_>) {
        self.all().for_each(|sink| sink.on_event(event, run));
    }

    /// Keeps statistics; `peers` are those of a run that is recorded.
    pub(super) fn on_stats(
        &mut self,
        stats: &Stats,
        peers: Option<&[PeerReport]>,
        run: &RunView<'_>,
    ) {
        self.all().for_each(|sink| sink.on_stats(stats, peers, run));
    }

    /// Keeps two results of a step that differ.
    pub(super) fn on_divergence(&mut self, report: &DivergenceReport) {
        self.all().for_each(|sink| sink.on_divergence(report));
    }

    /// Takes note that all that was complete before a resume is done again.
    pub(super) fn on_replayed(&mut self) {
        self.all().for_each(RunSink::on_replayed);
    }

    /// Keeps a checkpoint, if any sink wants it and none before that one fails.
    pub(super) fn on_checkpoint(&mut self, checkpoint: &Arc<Checkpoint>) {
        if !self.all().any(|sink| sink.wants(checkpoint)) {
            return;
        }
        let mut beside: Vec<Beside> = Vec::new();
        let kept = self
            .all()
            .try_for_each(|sink| sink.on_checkpoint(checkpoint, &mut beside));
        if let Err(error) = kept {
            self.fail(&error);
        }
    }

    /// Completes all, and returns how the run ended, with the failure of its journal, if that is
    /// not whole.
    pub(super) fn finish(
        &mut self,
        reason: StopReason,
        run: &mut RunView<'_>,
    ) -> (StopReason, Option<JournalError>) {
        let mut end = RunEnd::new(reason, self.journal.is_some());
        for sink in self.all() {
            sink.finish(&mut end, run);
        }
        end.into_parts()
    }

    /// Returns the sinks in their order.
    fn all(&mut self) -> impl Iterator<Item = &mut dyn RunSink> {
        let journal = self.journal.as_mut();
        let first: [&mut dyn RunSink; 4] = [
            &mut self.outputs,
            &mut self.status,
            &mut self.recordings,
            &mut self.divergences,
        ];
        let journal = journal.map(|journal| journal as &mut dyn RunSink);
        let last: &mut dyn RunSink = &mut self.history;
        first.into_iter().chain(journal).chain([last])
    }

    /// Tells each sink of something, also those after one that fails.
    fn each(&mut self, mut tell: impl FnMut(&mut dyn RunSink) -> Result<(), SinkError>) {
        let failed: Vec<SinkError> = self.all().filter_map(|sink| tell(sink).err()).collect();
        for error in failed {
            self.fail(&error);
        }
    }

    fn fail(&self, error: &SinkError) {
        let cause = Chain(error).to_string();
        self.failures.send(PrimaryInput::Failed(cause));
    }
}
