//! [`Batch`]: what of the wishes goes into a step, no more than a message can carry.

use protocol::{Command, PerformerId, StampedAction, TopicMessage};

use super::wishes::Asker;

/// How much of wishes without a bound of their own goes into one step; the rest waits for the next
/// one \[bytes\].
const BYTES_MAX: usize = 64 << 20;
/// The largest model that may be spawned, with its meshes, beside what else is in its step
/// \[bytes\].
pub(super) const MODEL_BYTES_MAX: usize = 128 << 20;

/// A wish that is part of a step under way.
#[derive(Debug)]
pub(super) struct Granted {
    pub(super) asker: Asker,
    /// The number of its actions.
    pub(super) number: u64,
    /// The name of the model that it spawned.
    pub(super) name: Option<String>,
    /// Warnings of that model: parts that are ignored or missing.
    pub(super) warnings: Vec<String>,
    /// Performers that are no longer held together when it fails.
    pub(super) joined: Option<[PerformerId; 2]>,
}

/// What of the wishes goes into a step.
#[derive(Debug, Default)]
pub(super) struct Batch {
    pub(super) actions: Vec<StampedAction>,
    pub(super) messages: Vec<TopicMessage>,
    pub(super) granted: Vec<Granted>,
    /// Performers that come with it.
    pub(super) spawned: Vec<PerformerId>,
    /// Performers that go with it.
    pub(super) removed: Vec<PerformerId>,
    /// Whether a round must be made for it.
    pub(super) is_needed: bool,
    /// What of it has no bound of its own \[bytes\].
    pub(super) bytes: usize,
}

impl Granted {
    pub(super) fn plain(asker: Asker, number: u64) -> Self {
        Self {
            asker,
            number,
            name: None,
            warnings: Vec::new(),
            joined: None,
        }
    }

    /// Tells whether the schedule has it done.
    pub(super) fn is_of_schedule(&self) -> bool {
        matches!(self.asker, Asker::Schedule)
    }

    /// Returns who is held together by it, with the number of its actions.
    pub(super) fn joined(&self) -> Option<(u64, [PerformerId; 2])> {
        Some((self.number, self.joined?))
    }
}

impl Batch {
    /// Tells whether nothing more fits into its step.
    pub(super) fn is_full(&self) -> bool {
        self.bytes >= BYTES_MAX
    }

    /// Tells whether it changes models.
    pub(super) fn changes_models(&self) -> bool {
        !self.actions.is_empty()
    }

    /// Takes a wish that cannot be granted after all out of it.
    pub(super) fn take_out(&mut self, number: u64) -> Option<Asker> {
        self.actions.retain(|stamped| stamped.number != number);
        let place = self.granted.iter().position(|one| one.number == number)?;
        Some(self.granted.remove(place).asker)
    }
}

/// Returns how large a command is, where that has no bound of its own \[bytes\].
pub(super) fn size(command: &Command) -> usize {
    match command {
        Command::Spawn(request) => request.sdf.len(),
        Command::Publish { body, .. } => body.len(),
        _ => 0,
    }
}
