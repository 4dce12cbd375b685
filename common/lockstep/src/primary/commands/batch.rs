//! [`Batch`]: what of the wishes goes into a step, no more than a message can carry.

use protocol::{Command, PerformerId, StampedAction, TopicMessage};

use crate::primary::commands::queue::Asker;

/// How much of wishes without a bound of their own goes into one step; the rest waits for the next
/// one \[bytes\].
const BYTES_MAX: usize = 64 << 20;
/// The largest model that may be spawned, with its meshes, beside what else is in its step
/// \[bytes\].
pub(crate) const MODEL_BYTES_MAX: usize = 128 << 20;

/// A wish that is part of a step under way.
#[derive(Debug)]
pub(crate) struct Granted {
    pub(crate) asker: Asker,
    /// The number of its actions.
    pub(crate) number: u64,
    /// The name of the model that it spawned.
    pub(crate) name: Option<String>,
    /// Warnings of that model: parts that are ignored or missing.
    pub(crate) warnings: Vec<String>,
    /// Performers that are no longer held together when it fails.
    pub(crate) joined: Option<[PerformerId; 2]>,
}

/// What of the wishes goes into a step.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    pub(crate) actions: Vec<StampedAction>,
    pub(crate) messages: Vec<TopicMessage>,
    pub(crate) granted: Vec<Granted>,
    /// Performers that come with it.
    pub(crate) spawned: Vec<PerformerId>,
    /// Performers that go with it.
    pub(crate) removed: Vec<PerformerId>,
    /// Whether a round must be made for it.
    pub(crate) is_needed: bool,
    /// What of it has no bound of its own \[bytes\].
    pub(crate) bytes: usize,
}

impl Granted {
    pub(crate) fn plain(asker: Asker, number: u64) -> Self {
        Self {
            asker,
            number,
            name: None,
            warnings: Vec::new(),
            joined: None,
        }
    }

    /// Tells whether the schedule has it done.
    pub(crate) fn is_of_schedule(&self) -> bool {
        matches!(self.asker, Asker::Schedule)
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

    /// Takes a wish that cannot be granted after all out of it.
    pub(crate) fn take_out(&mut self, number: u64) -> Option<Asker> {
        self.actions.retain(|stamped| stamped.number != number);
        let place = self.granted.iter().position(|one| one.number == number)?;
        Some(self.granted.remove(place).asker)
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
