//! What is lost and not restored yet.

use std::collections::BTreeMap;

use protocol::primary_to_secondary::{AffinityChange, DataAgain};
use protocol::{CellId, PeerName, SessionTime};

/// What is lost and not restored yet.
#[derive(Debug, Default)]
pub(crate) struct Losses {
    pub(crate) open: Vec<Loss>,
    /// The number of the next loss: one name may be lost more than once.
    next: u64,
    /// Cells that are up to date at their new hosts, which take them with the next step.
    pub(crate) restored: BTreeMap<CellId, PeerName>,
    /// The same once no step is under way: they count as hosted there.
    pub(crate) arriving: Vec<AffinityChange>,
    /// Since when nobody is there to restore what is lost.
    pub(crate) alone_since: Option<SessionTime>,
}

/// A secondary that is lost.
#[derive(Debug)]
pub(crate) struct Loss {
    pub(crate) number: u64,
    pub(crate) name: PeerName,
    pub(crate) since: SessionTime,
    /// All that it hosted.
    pub(crate) cells: Vec<CellId>,
    /// Those of them that nobody restores yet.
    pub(crate) left: Vec<CellId>,
    /// True if the step under way waits for its answer.
    pub(crate) owes: bool,
    /// True if somebody must still say what systems of worlds say in that step.
    pub(crate) speaks: bool,
    /// What observers may lack of what it said.
    pub(crate) again: Option<DataAgain>,
    /// Number of jobs that are under way for it.
    pub(crate) jobs: u32,
    /// True if it is one of the losses that are counted: not cells that are lost again.
    pub(crate) is_counted: bool,
}

impl Loss {
    /// Makes one of a secondary with the cells that it had up to date, whose answer is here.
    pub(crate) fn of(name: &PeerName, cells: Vec<CellId>, now: SessionTime) -> Self {
        Self {
            number: 0,
            name: name.clone(),
            since: now,
            left: cells.clone(),
            cells,
            owes: false,
            speaks: false,
            again: None,
            jobs: 0,
            is_counted: false,
        }
    }

    /// Tells whether there is something that nobody has been asked to do again.
    pub(crate) fn is_unassigned(&self) -> bool {
        let of_worlds = self.again.as_ref().is_some_and(|again| again.of_worlds);
        !self.left.is_empty() || self.speaks || of_worlds
    }
}

impl Losses {
    /// Tells whether anything that is lost is not restored yet.
    pub(crate) fn is_under_way(&self) -> bool {
        !self.open.is_empty()
    }

    /// Notes a loss.
    pub(crate) fn lose(&mut self, loss: Loss) {
        let number = self.next;
        self.next += 1;
        self.open.push(Loss { number, ..loss });
    }

    /// Returns a loss by its number.
    pub(crate) fn loss_mut(&mut self, number: u64) -> Option<&mut Loss> {
        self.open.iter_mut().find(|loss| loss.number == number)
    }

    /// Tells whether cells wait for somebody to restore them.
    pub(crate) fn has_unassigned(&self) -> bool {
        self.open.iter().any(Loss::is_unassigned)
    }

    /// Tells whether the step under way waits for the answer of one of this name who is lost: not
    /// for that of another who has taken the name since.
    pub(crate) fn owes(&self, name: &PeerName) -> bool {
        let mut losses = self.open.iter();
        losses.any(|loss| loss.owes && loss.name == *name)
    }

    /// Tells whether a cell is not where the affinities say: its host is lost, and it is being
    /// restored elsewhere, or is and the next step tells.
    pub(crate) fn has(&self, cell: CellId) -> bool {
        let mut losses = self.open.iter();
        self.restored.contains_key(&cell) || losses.any(|loss| loss.cells.contains(&cell))
    }

    /// Tells whether somebody of this name is lost and not replaced yet.
    pub(crate) fn has_lost(&self, name: &PeerName) -> bool {
        self.open.iter().any(|loss| loss.name == *name)
    }

    /// Returns the lost secondaries with the cells that each of them hosted.
    pub(crate) fn lost(&self) -> impl Iterator<Item = (&PeerName, &[CellId])> {
        let losses = self.open.iter();
        losses.map(|loss| (&loss.name, loss.cells.as_slice()))
    }
}
