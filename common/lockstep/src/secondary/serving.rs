//! A secondary that has its world: which step is due, which one waits for snapshots, and the last
//! answer, for a step that comes twice.
//!
//! **Invariant:** a step is done once, after the one before it, and only when every snapshot that
//! it names is there. What was done ahead of the step that was asked for is taken back when another
//! step comes in its place.

use std::collections::BTreeMap;
use std::sync::Arc;

use protocol::primary_to_secondary::{CellSnapshot, CellSource, Step};
use protocol::secondary_to_primary::{StepAck, StepsAhead};
use protocol::{CellId, PeerName, Sequence};

use super::{JobEnd, StepWork};

/// Number of steps that one without a cell may be behind: more than those of all messages that it
/// may owe.
const BEHIND_MAX: u64 = 1 << 24;

#[derive(Debug)]
pub(super) struct Serving {
    takes_part: bool,
    /// True if the run had begun when it was welcomed, so that it is told first what was before.
    has_begun: bool,
    /// Number of cells that the worlds have, and so how many snapshots there can be.
    cell_count: u32,
    last: Option<Arc<StepAck>>,
    /// Further answers to steps of the window that it opened.
    ahead: Vec<Arc<StepsAhead>>,
    /// True if more steps of the window are to be done.
    goes_on: bool,
    /// The last message that asked for steps.
    batch_number: u64,
    current: Option<Current>,
    /// For the step to come, by the cells that it gives to this secondary.
    snapshots: BTreeMap<CellId, CellSnapshot>,
    /// Cells that were brought up to date here, by the step that gives them to this secondary: a
    /// job may end before a step comes that was lost on its way and gives those of an earlier job.
    restored: BTreeMap<Sequence, BTreeMap<CellId, CellSnapshot>>,
}

#[derive(Debug)]
enum Current {
    /// Waits for snapshots.
    Held(Arc<Step>),
    /// Is being done.
    Computing {
        sequence: Sequence,
        /// Set when it asks for a checkpoint: true for one with the scene.
        checkpoint: Option<bool>,
    },
}

/// Outcome of a step.
pub(super) enum StepVerdict {
    /// Do it.
    Run(StepWork),
    /// Nothing yet: snapshots are missing.
    Hold,
    /// It came before and is under way, or is answered already.
    Duplicate(Option<Arc<StepAck>>),
    /// It is over.
    Stale,
    /// It cannot follow the last one that was done, which this is.
    OutOfOrder(Sequence),
    /// Others before it are missing, which are sent again: nobody waits for one without a cell.
    Early,
}

/// Outcome of a snapshot.
pub(super) enum SnapshotVerdict {
    /// It was kept, or was the last that a step waited for.
    Kept(Option<StepWork>),
    /// It is there already.
    Duplicate,
    /// No step to come can name it.
    Stale,
    /// No step could ever name it.
    Malformed,
}

impl Serving {
    pub(super) fn new(cell_count: u32, has_begun: bool) -> Self {
        Self {
            takes_part: false,
            has_begun,
            cell_count,
            last: None,
            ahead: Vec::new(),
            goes_on: false,
            batch_number: 0,
            current: None,
            snapshots: BTreeMap::new(),
            restored: BTreeMap::new(),
        }
    }

    /// Tells whether no step has come yet.
    pub(super) fn is_new(&self) -> bool {
        self.last.is_none() && self.current.is_none()
    }

    /// Tells whether it answers steps; one that joins later is told first what was before.
    pub(super) fn takes_part(&self) -> bool {
        self.takes_part
    }

    pub(super) fn on_step(&mut self, step: Arc<Step>, own_name: &PeerName) -> StepVerdict {
        let asked = self.asked();
        let current = self.current.as_ref().map(Current::sequence);
        let is_first = step.sequence == Sequence(1) && self.is_new() && !self.has_begun;
        if !self.takes_part && !is_first {
            return StepVerdict::Stale;
        }
        self.takes_part = true;
        if step.batch_number > self.batch_number {
            // What was done ahead since the last step that was asked for may be taken back. One who
            // has joined hears late what its job has done.
            return if step.sequence <= asked {
                StepVerdict::Stale
            } else if step.sequence <= self.done().next() && current.is_none() {
                self.begin(step, own_name)
                    .map_or(StepVerdict::Hold, StepVerdict::Run)
            } else if current.is_none() && self.has_no_cell() {
                StepVerdict::Early
            } else {
                StepVerdict::OutOfOrder(self.done())
            };
        }
        if Some(step.sequence) == current {
            StepVerdict::Duplicate(None)
        } else if step.sequence == asked {
            let answer = self.whole_answer().filter(|_| current.is_none());
            StepVerdict::Duplicate(answer)
        } else {
            StepVerdict::Stale
        }
    }

    /// Returns the last step that was asked for and done.
    fn asked(&self) -> Sequence {
        self.last.as_ref().map_or(Sequence(0), |ack| ack.sequence)
    }

    /// Tells whether it had no cell in the last step that was asked for and done.
    fn has_no_cell(&self) -> bool {
        let last = self.last.as_ref();
        last.is_none_or(|ack| ack.hosted().next().is_none())
    }

    /// Returns the last step that was done, be it ahead.
    fn done(&self) -> Sequence {
        let first = self.last.as_ref().map_or(0, |ack| ack.ahead.len());
        let further: usize = self.ahead.iter().map(|part| part.acks.len()).sum();
        Sequence(self.asked().0 + (first + further) as u64)
    }

    /// Returns the last answer with all that was done ahead so far.
    fn whole_answer(&self) -> Option<Arc<StepAck>> {
        let mut answer = Arc::clone(self.last.as_ref()?);
        if !self.ahead.is_empty() {
            let whole = Arc::make_mut(&mut answer);
            let further = self.ahead.iter().flat_map(|part| part.acks.iter().cloned());
            whole.ahead.extend(further);
            whole.goes_on = self.goes_on;
        }
        Some(answer)
    }

    /// Tells whether steps of the last window are to be done.
    pub(super) fn goes_on(&self) -> bool {
        self.goes_on
    }

    /// Takes the answers to further steps of the window.
    pub(super) fn on_ahead_computed(&mut self, part: &Arc<StepsAhead>) {
        self.goes_on = part.goes_on;
        self.ahead.push(Arc::clone(part));
    }

    /// Returns the last step that was done, or that is being done.
    pub(super) fn position(&self) -> Sequence {
        let current = self.current.as_ref().map(Current::sequence);
        current.unwrap_or_else(|| self.done())
    }

    /// Takes cells that were brought up to date here; who took no part so far is where the job
    /// ended.
    pub(super) fn on_caught_up(&mut self, end: JobEnd, snapshots: Vec<CellSnapshot>) {
        let cells = snapshots.into_iter().map(|one| (one.cell, one));
        let restored = self.restored.entry(end.until.next()).or_default();
        restored.extend(cells);
        if end.becomes_host {
            self.takes_part = end.joins;
            self.goes_on = false;
            self.ahead.clear();
            self.last = Some(Arc::new(StepAck {
                sequence: end.until,
                ..StepAck::default()
            }));
        }
    }

    pub(super) fn on_snapshot(
        &mut self,
        snapshot: CellSnapshot,
        own_name: &PeerName,
    ) -> SnapshotVerdict {
        if snapshot.cell.0 >= self.cell_count {
            return SnapshotVerdict::Malformed;
        }
        // The primary sends it once all with cells have answered the step before: one without may
        // not have heard of some steps yet.
        let (first, last) = self.next_steps();
        let behind = if self.has_no_cell() { BEHIND_MAX } else { 0 };
        if snapshot.sequence < first {
            return SnapshotVerdict::Stale;
        }
        if snapshot.sequence.0 > last.0.saturating_add(behind) {
            return SnapshotVerdict::Malformed;
        }
        let known = self.snapshots.get(&snapshot.cell);
        if known.is_some_and(|known| known.sequence == snapshot.sequence) {
            return SnapshotVerdict::Duplicate;
        }
        self.snapshots.insert(snapshot.cell, snapshot);
        let Some(Current::Held(step)) = self
            .current
            .take_if(|current| matches!(current, Current::Held(_)))
        else {
            return SnapshotVerdict::Kept(None);
        };
        SnapshotVerdict::Kept(self.begin(step, own_name))
    }

    /// Takes the answer to the step that is being done; returns whether a checkpoint is asked for,
    /// and if so, whether with the scene.
    pub(super) fn on_computed(&mut self, ack: &Arc<StepAck>) -> Option<bool> {
        let Some(Current::Computing {
            sequence,
            checkpoint,
        }) = self.current.take()
        else {
            unreachable!("only the step asked for is computed");
        };
        assert_eq!(sequence, ack.sequence, "the step asked for is computed");
        self.goes_on = ack.goes_on;
        self.last = Some(Arc::clone(ack));
        self.ahead.clear();
        checkpoint
    }

    /// Returns the number of the step that is held, or else the least and the greatest of the next
    /// that can come.
    fn next_steps(&self) -> (Sequence, Sequence) {
        match &self.current {
            Some(Current::Held(step)) => (step.sequence, step.sequence),
            Some(Current::Computing { sequence, .. }) => (sequence.next(), sequence.next()),
            None => (self.asked().next(), self.done().next()),
        }
    }

    /// Begins a step, or holds it back.
    fn begin(&mut self, step: Arc<Step>, own_name: &PeerName) -> Option<StepWork> {
        let needed: Vec<CellId> = step
            .affinities
            .iter()
            .filter(|change| change.source == CellSource::Snapshot)
            .filter(|change| change.secondary.as_ref() == Some(own_name))
            .map(|change| change.cell)
            .collect();
        if let Some(restored) = self.restored.remove(&step.sequence) {
            self.snapshots.extend(restored);
        }
        self.restored = self.restored.split_off(&step.sequence.next());
        self.batch_number = step.batch_number;
        self.goes_on = false;
        let is_here = |cell: &CellId| {
            let known = self.snapshots.get(cell);
            known.is_some_and(|known| known.sequence == step.sequence)
        };
        if !needed.iter().all(is_here) {
            self.current = Some(Current::Held(step));
            return None;
        }
        let snapshots = needed
            .iter()
            .filter_map(|cell| self.snapshots.remove(cell))
            .collect();
        self.snapshots
            .retain(|_, snapshot| snapshot.sequence > step.sequence);
        let is_world_publisher = step.world_publisher.as_ref() == Some(own_name);
        self.current = Some(Current::Computing {
            sequence: step.sequence,
            checkpoint: step.checkpoint.then_some(is_world_publisher),
        });
        let before = Sequence(step.sequence.0 - 1);
        let back_to = (before < self.done()).then_some(before);
        Some(StepWork {
            step,
            snapshots,
            back_to,
        })
    }
}

impl Current {
    fn sequence(&self) -> Sequence {
        match self {
            Self::Held(step) => step.sequence,
            Self::Computing { sequence, .. } => *sequence,
        }
    }
}

#[cfg(test)]
mod tests {
    use protocol::primary_to_secondary::AffinityChange;

    use super::*;

    #[test]
    fn a_late_joiner_ignores_the_first_step() {
        let name: PeerName = "s1".parse().unwrap();
        let first = Arc::new(Step {
            sequence: Sequence(1),
            batch_number: 1,
            ..Step::default()
        });
        let mut serving = Serving::new(4, true);
        let verdict = serving.on_step(Arc::clone(&first), &name);
        assert!(matches!(verdict, StepVerdict::Stale));
        let mut serving = Serving::new(4, false);
        assert!(matches!(serving.on_step(first, &name), StepVerdict::Run(_)));
    }

    #[test]
    fn cells_that_an_earlier_job_restored_are_kept_for_a_step_that_comes_after_a_later_job() {
        let name: PeerName = "s1".parse().unwrap();
        let mut serving = Serving::new(4, false);
        let gives = |sequence: u64, cell: u32| {
            Arc::new(Step {
                sequence: Sequence(sequence),
                batch_number: sequence,
                affinities: vec![AffinityChange {
                    cell: CellId(cell),
                    secondary: Some(name.clone()),
                    source: CellSource::Snapshot,
                }],
                ..Step::default()
            })
        };
        for (until, cell) in [(0, 1), (1, 2)] {
            let end = JobEnd {
                until: Sequence(until),
                becomes_host: false,
                joins: false,
            };
            let snapshot = CellSnapshot {
                sequence: Sequence(until + 1),
                cell: CellId(cell),
                bytes: vec![1],
            };
            serving.on_caught_up(end, vec![snapshot]);
        }
        for (sequence, cell) in [(1, 1), (2, 2)] {
            let verdict = serving.on_step(gives(sequence, cell), &name);
            let StepVerdict::Run(work) = verdict else {
                panic!("step {sequence} waits for a cell that is there");
            };
            assert_eq!(work.snapshots[0].cell, CellId(cell));
            let sequence = Sequence(sequence);
            serving.on_computed(&Arc::new(StepAck {
                sequence,
                ..StepAck::default()
            }));
        }
        assert!(serving.restored.is_empty());
    }

    #[test]
    fn a_joined_secondary_ignores_steps_of_its_job() {
        let mut serving = Serving::new(4, true);
        let name: PeerName = "s1".parse().unwrap();
        let end = JobEnd {
            until: Sequence(5),
            becomes_host: true,
            joins: true,
        };
        serving.on_caught_up(end, Vec::new());
        let step = |sequence, batch_number| {
            Arc::new(Step {
                sequence: Sequence(sequence),
                batch_number,
                ..Step::default()
            })
        };
        assert!(matches!(
            serving.on_step(step(5, 3), &name),
            StepVerdict::Stale
        ));
        let verdict = serving.on_step(step(6, 4), &name);
        assert!(matches!(verdict, StepVerdict::Run(work) if work.back_to.is_none()));
    }
}
