//! [`StepLog`]: steps since the last checkpoint, enough to replay them for any cell.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use protocol::link_poses::POSE_BYTES;
use protocol::primary_to_secondary::Step;
use protocol::{Action, CellId, Digest, Iteration, Sequence};

use crate::checkpoint::Checkpoint;

/// Size of the kept past from which on a checkpoint is asked for early \[bytes\].
pub(crate) const BYTES_MAX: usize = 256 << 20;

/// Most of it that goes into one message, beside a single step \[bytes\].
pub(crate) const PART_BYTES_MAX: usize = 32 << 20;

/// The steps since a checkpoint.
#[derive(Debug, Default)]
pub(crate) struct StepLog {
    /// `None` before the first checkpoint: the steps are all that there were.
    base: Option<Arc<Checkpoint>>,
    /// The next base, kept until nobody asks for what was said before it.
    ready: Option<Arc<Checkpoint>>,
    steps: VecDeque<Done>,
    bytes: usize,
}

/// A step that all have acknowledged.
#[derive(Debug)]
struct Done {
    step: Arc<Step>,
    /// The cells that were hosted, ascending, with their digests.
    digests: Vec<(CellId, Digest)>,
    /// Duration of it.
    took: Duration,
    bytes: usize,
}

impl StepLog {
    /// Goes on from a checkpoint.
    pub(crate) fn since(base: Arc<Checkpoint>) -> Self {
        Self {
            base: Some(base),
            ..Self::default()
        }
    }

    /// Takes a step that is done, and how long it took.
    pub(crate) fn push(&mut self, step: Arc<Step>, digests: Vec<(CellId, Digest)>, took: Duration) {
        let bytes = size(&step) + digests.len() * size_of::<(CellId, Digest)>();
        self.bytes += bytes;
        self.steps.push_back(Done {
            step,
            digests,
            took,
            bytes,
        });
    }

    /// Takes a checkpoint to forget what was before it, once that is not needed any more.
    pub(crate) fn rest_on(&mut self, checkpoint: Arc<Checkpoint>, delivered: Option<Sequence>) {
        self.ready = Some(checkpoint);
        self.forget(delivered);
    }

    /// Forgets what was before the last checkpoint if observers have what was said until then, or
    /// if it is too much.
    pub(crate) fn forget(&mut self, delivered: Option<Sequence>) {
        let is_too_much = self.bytes > BYTES_MAX;
        let is_over = |checkpoint: &mut Arc<Checkpoint>| {
            is_too_much || delivered.is_none_or(|delivered| delivered >= checkpoint.sequence)
        };
        let Some(checkpoint) = self.ready.take_if(is_over) else {
            return;
        };
        while let Some(done) = self
            .steps
            .pop_front_if(|done| done.step.sequence <= checkpoint.sequence)
        {
            self.bytes -= done.bytes;
        }
        self.base = Some(checkpoint);
    }

    pub(crate) fn base(&self) -> Option<&Arc<Checkpoint>> {
        self.base.as_ref()
    }

    /// Returns the step after which the steps begin; 0 is before the first.
    pub(crate) fn from(&self) -> Sequence {
        self.base.as_ref().map_or(Sequence(0), |base| base.sequence)
    }

    /// Returns the last step that is done.
    pub(crate) fn until(&self) -> Sequence {
        let last = self.steps.back();
        last.map_or(self.from(), |done| done.step.sequence)
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns the steps after one.
    pub(crate) fn after(&self, from: Sequence) -> impl Iterator<Item = &Step> {
        let steps = self.steps.iter().map(|done| &*done.step);
        steps.skip_while(move |step| step.sequence <= from)
    }

    /// Returns how long the steps after one took, all together.
    pub(crate) fn took_after(&self, from: Sequence) -> Duration {
        let steps = self.steps.iter().rev();
        let after = steps.take_while(|done| done.step.sequence > from);
        after.map(|done| done.took).sum()
    }

    /// Returns the iteration of a step and the digest that a cell had after it.
    pub(crate) fn digest(&self, sequence: Sequence, cell: CellId) -> Option<(Iteration, Digest)> {
        let first = self.steps.front()?.step.sequence;
        let place = sequence.0.checked_sub(first.0)?;
        let done = self.steps.get(usize::try_from(place).ok()?)?;
        let found = done.digests.binary_search_by_key(&cell, |(cell, _)| *cell);
        Some((done.step.iteration, done.digests[found.ok()?].1))
    }
}

/// Returns about how much memory a step takes \[bytes\].
pub(crate) fn size(step: &Step) -> usize {
    let hand_offs: usize = step.hand_offs.iter().map(|one| one.state.len() + 32).sum();
    let messages = step.messages.iter();
    let messages: usize = messages
        .map(|one| one.topic.len() + one.kind.len() + one.body.len() + 96)
        .sum();
    let links: usize = step.ghost_poses.iter().map(|one| one.poses().len()).sum();
    let poses = links * POSE_BYTES + step.ghost_poses.len() * 32;
    let actions = step.actions.iter().map(|one| match &one.action {
        Action::Spawn(spawn) => spawn.parcel.len() + 128,
        _ => 128,
    });
    let actions: usize = actions.sum();
    size_of::<Step>() + hand_offs + messages + poses + actions
}
