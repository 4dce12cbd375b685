//! [`Resume`]: the state that a primary saves, restores and replays.

pub(crate) mod replay;
pub(crate) mod saved_state;
mod storage;

use crate::checkpoint::Checkpoint;
use replay::Replaying;
use storage::StorageFailure;

/// State of a run that was resumed, and of its storage.
#[derive(Debug, Default)]
pub(crate) struct Resume {
    /// Cells whose host is not known yet, in a run that was resumed.
    checkpoint: Option<Box<Checkpoint>>,
    /// Iterations that were complete before and are done again.
    replay: Option<Replaying>,
    /// Reason why what is done cannot be written down.
    storage_failure: Option<StorageFailure>,
}

impl Resume {
    /// Keeps the checkpoint from which the run goes on, until secondaries are here.
    pub(crate) fn begin_from(&mut self, checkpoint: Checkpoint) {
        self.checkpoint = Some(Box::new(checkpoint));
    }

    /// Takes the checkpoint from which the run goes on.
    pub(crate) fn take_checkpoint(&mut self) -> Option<Checkpoint> {
        self.checkpoint.take().map(|checkpoint| *checkpoint)
    }
}
