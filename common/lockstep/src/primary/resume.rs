//! Resuming: what a primary saves, restores and replays.

pub(crate) mod replay;
pub(crate) mod saved_state;
pub(crate) mod storage;

use crate::checkpoint::Checkpoint;
use replay::Replaying;
use storage::Failure;

/// State of a run that was resumed, and of what is written down.
#[derive(Debug, Default)]
pub(crate) struct Resume {
    /// Cells whose host is not known yet, in a run that was resumed.
    pub(crate) checkpoint: Option<Box<Checkpoint>>,
    /// Iterations that were complete before and are done again.
    pub(crate) replay: Option<Replaying>,
    /// Reason why what is done cannot be written down.
    pub(crate) storage_failure: Option<Failure>,
}
