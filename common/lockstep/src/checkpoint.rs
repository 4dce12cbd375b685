//! [`Checkpoint`]: all that a run needs to go on from the end of one step.

use protocol::primary_to_secondary::{CellSnapshot, SceneSnapshot};
use protocol::{Digest, Iteration, Sequence};

/// The state of a run after a step: of the primary, of what all hosts share, and of every cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    /// The step after which it was made.
    pub sequence: Sequence,
    /// The iteration that was complete then.
    pub iteration: Iteration,
    /// Digest of all performers after that iteration.
    pub digest: Digest,
    /// Saved state of the primary's rules, in an encoding of its own.
    pub primary: Vec<u8>,
    /// State that all hosts have in common.
    pub scene: SceneSnapshot,
    /// All open cells, in order of their ids.
    pub cells: Vec<CellSnapshot>,
}
