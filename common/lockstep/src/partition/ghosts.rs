//! [`Ghosts`]: ghosts of performers in cells; bookkeeping alone.

use protocol::primary_to_secondary::GhostChange;
use protocol::{CellId, PerformerId};

use crate::journal::Journal;

/// The ghosts of all cells.
#[derive(Debug)]
pub(super) struct Ghosts {
    /// For each cell, the performers of which it holds a ghost, ascending.
    in_cell: Vec<Vec<PerformerId>>,
    /// Number of ghosts that each performer has.
    of_performer: Vec<u32>,
    /// Ghosts that were in cells before.
    before: Journal<PerformerId>,
}

impl Ghosts {
    pub(super) fn new(performers: usize, cells: usize) -> Self {
        Self {
            in_cell: vec![Vec::new(); cells],
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

    pub(super) fn add(&mut self, cell: CellId, performer: PerformerId) {
        let ghosts = &mut self.in_cell[cell.0 as usize];
        if let Err(place) = ghosts.binary_search(&performer) {
            ghosts.insert(place, performer);
            self.of_performer[performer.0 as usize] += 1;
            self.before.note(cell, performer, false);
        }
    }

    pub(super) fn remove(&mut self, cell: CellId, performer: PerformerId) {
        let ghosts = &mut self.in_cell[cell.0 as usize];
        if let Ok(place) = ghosts.binary_search(&performer) {
            ghosts.remove(place);
            self.of_performer[performer.0 as usize] -= 1;
            self.before.note(cell, performer, true);
        }
    }

    /// Returns the ghosts that came and went since the last call, in order of cell, then performer.
    pub(super) fn take_changes(&mut self) -> Vec<GhostChange> {
        let mut changes = Vec::new();
        self.before.take(|cell, performer, was_present| {
            let ghosts = &self.in_cell[cell.0 as usize];
            let present = ghosts.binary_search(&performer).is_ok();
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
        self.in_cell[cell.0 as usize].iter().copied()
    }

    /// Tells whether a cell holds a ghost.
    pub(super) fn are_in(&self, cell: CellId) -> bool {
        !self.in_cell[cell.0 as usize].is_empty()
    }

    /// Tells whether a performer is a ghost anywhere.
    pub(super) fn has_any(&self, performer: PerformerId) -> bool {
        self.of_performer[performer.0 as usize] > 0
    }
}
