//! [`Record`]: one line of the log.

use lockstep::RunTarget;
use protocol::{Digest, Iteration, ScheduledCommand};
use serde::{Deserialize, Serialize};

/// Point in the life of a run: the numbers of commits and commands that came before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    /// Ends of steps.
    pub commits: u64,
    /// Commands that were part of steps.
    pub commands: u64,
}

impl Mark {
    /// Tells whether nothing that this has is missing in another.
    pub(crate) fn is_within(self, other: Self) -> bool {
        self.commits <= other.commits && self.commands <= other.commands
    }
}

/// Entry of the log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Record {
    /// A step is done.
    Commit(Commit),
    /// A command is part of the step that is under way.
    Command(Box<ScheduledCommand>),
    /// The run has another target from here on.
    #[serde(rename = "Aim")]
    Target(RunTarget),
}

/// The end of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Commit {
    /// The iteration that is complete.
    pub iteration: Iteration,
    /// Digest of all performers after it.
    pub digest: Digest,
    /// True if time stood still in the step.
    pub is_paused: bool,
    /// Number of commands of the schedule that were not done yet.
    pub schedule_left: u64,
}
