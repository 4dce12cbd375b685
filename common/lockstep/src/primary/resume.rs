//! [`Resume`]: the state that a primary saves, restores and replays.

pub(crate) mod replay;
pub(crate) mod saved_state;
mod storage;
pub(crate) mod waiting;

use protocol::Iteration;
use protocol::primary_to_secondary::Step;

use crate::checkpoint::Checkpoint;
use replay::Replaying;
use storage::StorageFailure;
use waiting::WaitingCommands;

/// State of a run that was resumed, and of its storage.
#[derive(Debug, Default)]
pub(crate) struct Resume {
    /// Cells whose host is not known yet, in a run that was resumed.
    checkpoint: Option<Box<Checkpoint>>,
    /// Iteration of that checkpoint.
    begins_at: Option<Iteration>,
    /// Iterations that were complete before and are done again.
    replay: Option<Replaying>,
    /// Commands that came meanwhile.
    waiting: WaitingCommands,
    /// Reason why what is done cannot be written down.
    storage_failure: Option<StorageFailure>,
}

impl Resume {
    /// Keeps the checkpoint from which the run goes on, until secondaries are here.
    pub(crate) fn begin_from(&mut self, checkpoint: Checkpoint) {
        self.begins_at = Some(checkpoint.iteration);
        self.checkpoint = Some(Box::new(checkpoint));
    }

    /// Tells whether what a step says was said before the run was resumed: iterations that are
    /// replayed, and the one of the checkpoint, as far as nothing new comes with it.
    pub(crate) fn repeats(&self, iteration: Iteration, step: &Step) -> bool {
        let is_plain = !step.reset && step.actions.is_empty() && step.messages.is_empty();
        self.is_replaying() || (is_plain && self.begins_at == Some(iteration))
    }

    /// Takes the checkpoint from which the run goes on.
    pub(crate) fn take_checkpoint(&mut self) -> Option<Checkpoint> {
        self.checkpoint.take().map(|checkpoint| *checkpoint)
    }
}
