//! [`Batch`]: what of the commands goes into a step, no more than a message can carry.

use protocol::{Command, PerformerId, StampedAction, TopicMessage};

use crate::primary::commands::queue::Origin;

/// How much of commands without a bound of their own goes into one step; the rest waits for the
/// next one \[bytes\].
const BYTES_MAX: usize = 64 << 20;
/// The largest model that may be spawned, with its meshes, beside what else is in its step
/// \[bytes\].
pub(crate) const MODEL_BYTES_MAX: usize = 128 << 20;

/// A command that is part of a step under way.
#[derive(Debug)]
pub(crate) struct AppliedCommand {
    pub(crate) origin: Origin,
    /// The number of its actions.
    pub(crate) number: u64,
    /// The name of the model that it spawned.
    pub(crate) name: Option<String>,
    /// Warnings of that model: parts that are ignored or missing.
    pub(crate) warnings: Vec<String>,
    /// Performers that are no longer held together when it fails.
    pub(crate) joined: Option<[PerformerId; 2]>,
}

/// What of the commands goes into a step.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    pub(crate) actions: Vec<StampedAction>,
    pub(crate) messages: Vec<TopicMessage>,
    pub(crate) applied: Vec<AppliedCommand>,
    /// Performers that come with it.
    pub(crate) spawned: Vec<PerformerId>,
    /// Performers that go with it.
    pub(crate) removed: Vec<PerformerId>,
    /// True if a round must be made for it.
    pub(crate) is_needed: bool,
    /// What of it has no bound of its own \[bytes\].
    pub(crate) bytes: usize,
}

impl AppliedCommand {
    pub(crate) fn plain(origin: Origin, number: u64) -> Self {
        Self {
            origin,
            number,
            name: None,
            warnings: Vec::new(),
            joined: None,
        }
    }

    /// Tells whether the schedule has it done.
    pub(crate) fn is_of_schedule(&self) -> bool {
        matches!(self.origin, Origin::Schedule)
    }

    /// Returns who is held together by it, with the number of its actions.
    pub(crate) fn joined(&self) -> Option<(u64, [PerformerId; 2])> {
        Some((self.number, self.joined?))
    }
}

impl Batch {
    /// Tells whether nothing more fits into its step.
    pub(crate) fn is_full(&self) -> bool {
        self.bytes >= BYTES_MAX
    }

    /// Tells whether it changes models.
    pub(crate) fn changes_models(&self) -> bool {
        !self.actions.is_empty()
    }

    /// Takes a command that cannot be granted after all out of it.
    pub(crate) fn take_out(&mut self, number: u64) -> Option<Origin> {
        self.actions.retain(|stamped| stamped.number != number);
        let place = self.applied.iter().position(|one| one.number == number)?;
        Some(self.applied.remove(place).origin)
    }
}

/// Returns how large a command is, where that has no bound of its own \[bytes\].
pub(crate) fn size(command: &Command) -> usize {
    match command {
        Command::Spawn(request) => request.sdf.len(),
        Command::Publish { body, .. } => body.len(),
        _ => 0,
    }
}
