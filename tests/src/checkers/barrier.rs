//! A step begins when every cell that is open has acknowledged the one before. What is done ahead
//! counts when the step begins, if it was granted then.

use std::collections::{BTreeMap, BTreeSet};

use protocol::primary_to_secondary::Step;
use protocol::secondary_to_primary::{StepAck, StepsAhead};
use protocol::{CellId, Sequence};

/// The cells that are open, and who of them has acknowledged the last step.
#[derive(Clone, Debug, Default)]
pub struct Barrier {
    last: Option<Sequence>,
    /// The batch of the last step that was published.
    batch_number: u64,
    open: BTreeSet<CellId>,
    acknowledged: BTreeSet<CellId>,
    /// The cells that have acknowledged a step which has not begun.
    ahead: BTreeMap<Sequence, BTreeSet<CellId>>,
    /// Steps done ahead in which something has looked at ghosts.
    looked: BTreeSet<Sequence>,
    /// Number of steps with a message of their own.
    pub published: u64,
    /// Number of steps that were done ahead and counted.
    pub done_ahead: u64,
    /// Number of steps that were done ahead and rolled back.
    pub taken_back: u64,
}

impl Barrier {
    /// Takes an ack of a member of the run as it reaches the primary.
    pub fn on_ack(&mut self, ack: &StepAck) {
        if self.last == Some(ack.sequence) {
            self.acknowledged.extend(ack.hosted());
            self.note_ahead(&ack.ahead);
        }
    }

    /// Takes further answers of a member of the run to steps of a window as they reach the primary.
    pub fn on_steps_ahead(&mut self, part: &StepsAhead) {
        let Some(last) = self.last else { return };
        if part.batch_number == self.batch_number {
            self.note_ahead(part.acks.iter().filter(|ack| ack.sequence > last));
        }
    }

    fn note_ahead<'a>(&mut self, acks: impl IntoIterator<Item = &'a StepAck>) {
        for ack in acks {
            let acknowledged = self.ahead.entry(ack.sequence).or_default();
            acknowledged.extend(ack.hosted());
            if ack.looked_at_ghosts {
                self.looked.insert(ack.sequence);
            }
        }
    }

    /// Takes a step that begins and was done ahead; returns whether something has looked at ghosts
    /// in it.
    ///
    /// # Panics
    /// Panics if the barrier does not hold.
    pub fn on_ahead(&mut self, step: &Step) -> bool {
        let has_looked = self.looked.remove(&step.sequence);
        let looked = std::mem::take(&mut self.looked);
        let mut ahead = std::mem::take(&mut self.ahead);
        self.begin(step);
        self.acknowledged = ahead.remove(&step.sequence).unwrap_or_default();
        self.done_ahead += 1;
        self.ahead = ahead;
        self.looked = looked;
        has_looked
    }

    /// The run is taken up again after the last step that this has seen.
    pub fn on_resumed(&mut self) {
        self.acknowledged.clone_from(&self.open);
    }

    /// Takes a step as it is published.
    ///
    /// # Panics
    /// Panics if the barrier does not hold.
    pub fn on_published(&mut self, step: &Step) {
        self.published += 1;
        self.begin(step);
    }

    fn begin(&mut self, step: &Step) {
        let mut missing = self.open.difference(&self.acknowledged);
        if let Some(cell) = missing.next() {
            panic!(
                "step {} begins before cell {cell} has acknowledged {:?}",
                step.sequence, self.last
            );
        }
        if step.reset {
            self.open.clear();
        }
        for change in &step.affinities {
            if change.secondary.is_some() {
                self.open.insert(change.cell);
            } else {
                self.open.remove(&change.cell);
            }
        }
        self.last = Some(step.sequence);
        self.batch_number = step.batch_number;
        self.acknowledged.clear();
        self.taken_back += self.ahead.len() as u64;
        self.ahead.clear();
        self.looked.clear();
    }
}

#[cfg(test)]
mod tests {
    use protocol::Digest;
    use protocol::primary_to_secondary::{AffinityChange, CellSource};
    use protocol::secondary_to_primary::CellAck;

    use super::*;

    fn step(sequence: u64, opens: &[u32]) -> Step {
        let affinities = opens.iter().map(|cell| AffinityChange {
            cell: CellId(*cell),
            secondary: Some("s1".parse().unwrap()),
            source: CellSource::Start,
        });
        Step {
            sequence: Sequence(sequence),
            affinities: affinities.collect(),
            ..Step::default()
        }
    }

    fn ack(sequence: u64, cells: &[u32]) -> StepAck {
        let cells = cells.iter().map(|cell| CellAck {
            cell: CellId(*cell),
            digest: Digest::default(),
            physics_ns: 0,
            systems_ns: 0,
            sensors_ns: 0,
            state_count: 0,
        });
        StepAck {
            sequence: Sequence(sequence),
            cells: cells.collect(),
            ..StepAck::default()
        }
    }

    #[test]
    fn a_step_after_all_acks_is_in_time() {
        let mut barrier = Barrier::default();
        barrier.on_published(&step(1, &[0, 1]));
        barrier.on_ack(&ack(1, &[1]));
        barrier.on_ack(&ack(1, &[0]));
        barrier.on_published(&step(2, &[]));
    }

    #[test]
    #[should_panic(expected = "step 2 begins before cell 0 has acknowledged")]
    fn a_step_before_the_last_ack_is_seen() {
        let mut barrier = Barrier::default();
        barrier.on_published(&step(1, &[0, 1]));
        barrier.on_ack(&ack(1, &[1]));
        barrier.on_published(&step(2, &[]));
    }

    #[test]
    #[should_panic(expected = "step 3 begins before cell 0 has acknowledged")]
    fn an_ack_of_an_earlier_step_does_not_count() {
        let mut barrier = Barrier::default();
        barrier.on_published(&step(1, &[0]));
        barrier.on_ack(&ack(1, &[0]));
        barrier.on_published(&step(2, &[]));
        barrier.on_ack(&ack(1, &[0]));
        barrier.on_published(&step(3, &[]));
    }
}
