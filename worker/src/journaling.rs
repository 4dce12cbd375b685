//! [`Journaling`]: what of a run goes into its journal, and when.
//!
//! Nothing is put down while iterations are done again: it is there already. The thread that writes
//! it is the journal's own: it tries a full disk again until it takes everything, and syncs, which
//! may take longer than any other output may wait.

use std::collections::{BTreeSet, VecDeque};
use std::io;
use std::sync::Arc;

use journal::{Beside, Commit, JournalNews, JournalThread, Mark, Record, Saved};
use lockstep::{Checkpoint, PrimaryInput, RunTarget, StepReport};
use protocol::action::{ModelChange, Spawn};
use protocol::exit::Outcome;
use protocol::primary_to_secondary::Step;
use protocol::{ModelId, ScheduledCommand, Sequence};

use crate::run_sink::{RunEnd, RunSink, RunView, SinkError};
use crate::secondary::InputSender;
use crate::startup::JournalPlan;

/// State that the driver of a primary must save besides its rules.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DriverState {
    /// The models that came and are there, in the order in which they came.
    pub spawned: Vec<Arc<Spawn>>,
    /// The models of the start that are gone.
    pub gone: BTreeSet<ModelId>,
}

impl DriverState {
    /// Returns it as bytes.
    fn encode(&self) -> Vec<u8> {
        let spawned: Vec<&Spawn> = self.spawned.iter().map(|one| &**one).collect();
        postcard::to_stdvec(&(spawned, &self.gone)).expect("models can always be encoded")
    }

    /// Notes that a model is gone: of one that came, nothing is left.
    fn remove(&mut self, model: ModelId) {
        let place = self.spawned.iter().position(|spawn| spawn.model == model);
        if let Some(place) = place {
            self.spawned.remove(place);
        } else {
            self.gone.insert(model);
        }
    }

    /// Returns the memory in some bytes.
    ///
    /// # Errors
    /// Fails if they are none.
    pub fn decode(bytes: &[u8]) -> Result<Self, postcard::Error> {
        let (spawned, gone): (Vec<Spawn>, BTreeSet<ModelId>) = postcard::from_bytes(bytes)?;
        Ok(Self {
            spawned: spawned.into_iter().map(Arc::new).collect(),
            gone,
        })
    }
}

/// A journal is not whole.
#[derive(Debug, thiserror::Error)]
#[error("the journal cannot be written")]
pub struct JournalError(#[source] io::Error);

/// A checkpoint whose step is done and whose parts are on their way.
#[derive(Debug)]
struct Expected {
    sequence: Sequence,
    mark: Mark,
    driver: DriverState,
}

/// Largest number of checkpoints that may be on their way at once; of more, the oldest are not
/// kept.
const EXPECTED_MAX: usize = 8;

/// Steps after which a command that was put down is part of one that is done: its own, and one
/// before it that fetches what it needs.
const STEPS_OF_COMMAND: u8 = 2;

/// Puts down what a run does.
#[derive(Debug)]
pub struct Journaling {
    journal: JournalThread,
    mark: Mark,
    is_replaying: bool,
    target: Option<RunTarget>,
    /// The step under way, if a checkpoint is made of it.
    asked: Option<Sequence>,
    expected: VecDeque<Expected>,
    memory: DriverState,
    /// Steps to be done until the commands put down so far are a part of one that is.
    unsettled: u8,
    /// Number of records that must be written before anyone is told that commands are done.
    safe_from: u64,
}

impl Journaling {
    /// Starts to write; failures of the disk go to `inputs`.
    ///
    /// # Errors
    /// Fails if the thread that writes cannot be started.
    pub fn start(plan: JournalPlan, inputs: InputSender<PrimaryInput>) -> io::Result<Self> {
        let thread = JournalThread::start(plan.writer, move |news| {
            inputs.send(match news {
                JournalNews::Failed(cause) => PrimaryInput::StorageFailed(cause),
                JournalNews::Works => PrimaryInput::StorageWorks,
                JournalNews::Saved(sequence) => PrimaryInput::CheckpointStored(sequence),
                JournalNews::Unsafe(cause) => PrimaryInput::Failed(cause),
                JournalNews::Written => return inputs.wake(),
            });
        })?;
        Ok(Self::new(thread, plan.end, plan.is_replaying, plan.driver))
    }

    /// Begins where a journal ends; with `is_replaying`, what follows is there up to there.
    pub fn new(journal: JournalThread, end: Mark, is_replaying: bool, memory: DriverState) -> Self {
        Self {
            journal,
            mark: end,
            is_replaying,
            target: None,
            asked: None,
            expected: VecDeque::new(),
            memory,
            unsettled: 0,
            safe_from: 0,
        }
    }

    /// Returns how many records must be written before a client is told that its command is done.
    pub fn safe_from(&self) -> u64 {
        self.safe_from
    }

    /// Tells whether so many records are written; if not, the driver is woken when they are.
    pub fn is_written(&self, records: u64) -> bool {
        self.journal.is_written(records)
    }

    /// Puts down what steps target at, where that has changed.
    pub fn note_run_target(&mut self, target: RunTarget) {
        if !self.is_replaying && self.target != Some(target) {
            self.target = Some(target);
            self.journal.record(Record::Target(target));
        }
    }

    fn commit(&mut self, report: &StepReport) {
        let is_asked = self.asked.take() == Some(report.sequence);
        if self.is_replaying {
            return;
        }
        self.mark.commits += 1;
        self.journal.record(Record::Commit(Commit {
            iteration: report.iteration,
            digest: report.digest,
            is_paused: report.paused,
            schedule_left: report.schedule_left,
        }));
        if self.unsettled > 0 {
            self.unsettled -= 1;
            self.safe_from = self.journal.records();
        }
        if is_asked {
            if self.expected.len() == EXPECTED_MAX {
                self.expected.pop_front();
            }
            self.expected.push_back(Expected {
                sequence: report.sequence,
                mark: self.mark,
                driver: self.memory.clone(),
            });
        }
    }
}

impl RunSink for Journaling {
    fn on_step(&mut self, step: &Step) {
        self.asked = step.checkpoint.then_some(step.sequence);
        if step.reset {
            self.memory = DriverState::default();
        }
        for stamped in &step.actions {
            match stamped.action.model_change() {
                ModelChange::Comes(spawn) => self.memory.spawned.push(Arc::new(spawn.clone())),
                ModelChange::Leaves(model) => self.memory.remove(model),
                ModelChange::None => {}
            }
        }
    }

    fn on_command(
        &mut self,
        command: &ScheduledCommand,
        _run: &RunView<'_>,
    ) -> Result<(), SinkError> {
        if !self.is_replaying {
            self.mark.commands += 1;
            self.unsettled = STEPS_OF_COMMAND;
            self.journal
                .record(Record::Command(Box::new(command.clone())));
        }
        Ok(())
    }

    fn on_step_done(&mut self, report: &StepReport, _run: &RunView<'_>) -> Result<(), SinkError> {
        self.commit(report);
        Ok(())
    }

    fn on_replayed(&mut self) {
        self.is_replaying = false;
    }

    fn wants(&self, checkpoint: &Checkpoint) -> bool {
        let mut expected = self.expected.iter();
        expected.any(|one| one.sequence == checkpoint.sequence)
    }

    /// Puts the checkpoint down, which counts once the files beside it are as safe.
    fn on_checkpoint(
        &mut self,
        checkpoint: &Arc<Checkpoint>,
        beside: &mut Vec<Beside>,
    ) -> Result<(), SinkError> {
        while let Some(expected) = self.expected.pop_front() {
            if expected.sequence == checkpoint.sequence {
                let saved = Saved {
                    mark: expected.mark,
                    checkpoint: Arc::clone(checkpoint),
                    driver: expected.driver.encode(),
                };
                self.journal.save(saved, std::mem::take(beside));
                break;
            }
        }
        Ok(())
    }

    /// Ends the journal; that of a run that is over is removed.
    fn finish(&mut self, end: &mut RunEnd, _run: &mut RunView<'_>) {
        let is_over = end.reason().outcome == Outcome::Completed;
        if let Err(error) = self.journal.finish(is_over) {
            end.lose_journal(JournalError(error));
        }
    }
}
