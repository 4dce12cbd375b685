//! [`Ghosts`]: ghosts of performers in cells; bookkeeping alone.

use protocol::primary_to_secondary::GhostChange;
use protocol::{CellId, PerformerId};

use crate::journal::Journal;

/// Reason why a cell holds a ghost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reason {
    /// The performer keeps the cell's level active, or is overseen.
    Near,
    /// Something in the cell sees it.
    Seen,
}

impl Reason {
    fn bit(self) -> u8 {
        match self {
            Self::Near => 1,
            Self::Seen => 2,
        }
    }
}

/// A ghost in a cell.
#[derive(Clone, Copy, Debug)]
struct Ghost {
    performer: PerformerId,
    /// Bits of the reasons for it, of which there is one at least.
    reasons: u8,
}

/// The ghosts of all cells.
#[derive(Debug)]
pub(super) struct Ghosts {
    /// For each cell, its ghosts by their performers, ascending.
    in_cell: Vec<Vec<Ghost>>,
    /// Number of ghosts of each cell that are near.
    near: Vec<u32>,
    /// Number of ghosts that each performer has.
    of_performer: Vec<u32>,
    /// Ghosts that were in cells before.
    before: Journal<PerformerId>,
}

impl Ghosts {
    pub(super) fn new(performers: usize, cells: usize) -> Self {
        Self {
            in_cell: vec![Vec::new(); cells],
            near: vec![0; cells],
            of_performer: vec![0; performers],
            before: Journal::new(),
        }
    }

    /// Returns how many cells there are.
    pub(super) fn cell_count(&self) -> usize {
        self.in_cell.len()
    }

    /// Makes room for one more performer.
    pub(super) fn grow(&mut self) {
        self.of_performer.push(0);
    }

    /// Has no more performers than so many.
    pub(super) fn truncate(&mut self, performers: usize) {
        self.of_performer.truncate(performers);
    }

    /// Adds a reason for a ghost; tells whether it is new.
    pub(super) fn add(&mut self, cell: CellId, performer: PerformerId, reason: Reason) -> bool {
        let ghosts = &mut self.in_cell[cell.0 as usize];
        let place = match find(ghosts, performer) {
            Ok(place) => place,
            Err(place) => {
                let reasons = 0;
                ghosts.insert(place, Ghost { performer, reasons });
                self.of_performer[performer.0 as usize] += 1;
                self.before.note(cell, performer, false);
                place
            }
        };
        let reasons = &mut ghosts[place].reasons;
        let is_new = *reasons & reason.bit() == 0;
        if reason == Reason::Near && is_new {
            self.near[cell.0 as usize] += 1;
        }
        *reasons |= reason.bit();
        is_new
    }

    /// Takes a reason away, and tells whether there was such a one; a ghost without any goes.
    pub(super) fn remove(&mut self, cell: CellId, performer: PerformerId, reason: Reason) -> bool {
        let ghosts = &mut self.in_cell[cell.0 as usize];
        let Ok(place) = find(ghosts, performer) else {
            return false;
        };
        let reasons = &mut ghosts[place].reasons;
        if *reasons & reason.bit() == 0 {
            return false;
        }
        if reason == Reason::Near {
            self.near[cell.0 as usize] -= 1;
        }
        *reasons &= !reason.bit();
        if *reasons == 0 {
            ghosts.remove(place);
            self.of_performer[performer.0 as usize] -= 1;
            self.before.note(cell, performer, true);
        }
        true
    }

    /// Has a cell see these performers, ascending, and no others.
    pub(super) fn see(&mut self, cell: CellId, seen: &[PerformerId]) {
        let is_lost = |performer: &PerformerId| seen.binary_search(performer).is_err();
        let lost: Vec<PerformerId> = self
            .for_reason(cell, Reason::Seen)
            .filter(is_lost)
            .collect();
        for performer in lost {
            self.remove(cell, performer, Reason::Seen);
        }
        for performer in seen {
            self.add(cell, *performer, Reason::Seen);
        }
    }

    /// Returns the ghosts that came and went since the last call, in order of cell, then performer.
    pub(super) fn take_changes(&mut self) -> Vec<GhostChange> {
        let mut changes = Vec::new();
        self.before.take(|cell, performer, was_present| {
            let ghosts = &self.in_cell[cell.0 as usize];
            let present = find(ghosts, performer).is_ok();
            if present != was_present {
                changes.push(GhostChange {
                    cell,
                    performer,
                    present,
                });
            }
        });
        changes
    }

    /// Returns the performers of which a cell holds a ghost, ascending.
    pub(super) fn in_cell(&self, cell: CellId) -> impl Iterator<Item = PerformerId> + '_ {
        self.in_cell[cell.0 as usize]
            .iter()
            .map(|ghost| ghost.performer)
    }

    /// Returns the performers of which a cell holds a ghost for a reason, ascending.
    pub(super) fn for_reason(
        &self,
        cell: CellId,
        reason: Reason,
    ) -> impl Iterator<Item = PerformerId> + '_ {
        let ghosts = self.in_cell[cell.0 as usize].iter();
        let ghosts = ghosts.filter(move |ghost| ghost.reasons & reason.bit() != 0);
        ghosts.map(|ghost| ghost.performer)
    }

    /// Tells whether a cell holds a ghost that is near: what is far and only seen opens no cell.
    pub(super) fn are_near(&self, cell: CellId) -> bool {
        self.near[cell.0 as usize] > 0
    }

    /// Tells whether a performer is a ghost anywhere.
    pub(super) fn has_any(&self, performer: PerformerId) -> bool {
        let count = self.of_performer.get(performer.0 as usize);
        count.is_some_and(|count| *count > 0)
    }
}

/// Returns where the ghost of a performer is, or would be.
fn find(ghosts: &[Ghost], performer: PerformerId) -> Result<usize, usize> {
    ghosts.binary_search_by_key(&performer, |ghost| ghost.performer)
}
