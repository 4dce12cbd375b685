//! Which cell holds a ghost of which performer; bookkeeping alone.

use std::collections::{BTreeMap, BTreeSet};

use protocol::primary_to_secondary::GhostChange;
use protocol::{CellId, PerformerId};

/// The ghosts of all cells.
#[derive(Debug)]
pub(super) struct Ghosts {
    present: BTreeSet<(CellId, PerformerId)>,
    /// How many ghosts each performer has.
    of_performer: Vec<u32>,
    /// How many ghosts each cell holds.
    in_cell: Vec<u32>,
    /// Where something changed, and whether the ghost was there before.
    stirred: BTreeMap<(CellId, PerformerId), bool>,
}

impl Ghosts {
    pub(super) fn new(performers: usize, cells: usize) -> Self {
        Self {
            present: BTreeSet::new(),
            of_performer: vec![0; performers],
            in_cell: vec![0; cells],
            stirred: BTreeMap::new(),
        }
    }

    pub(super) fn add(&mut self, cell: CellId, performer: PerformerId) {
        if self.present.insert((cell, performer)) {
            self.stirred.entry((cell, performer)).or_insert(false);
            self.of_performer[performer.0 as usize] += 1;
            self.in_cell[cell.0 as usize] += 1;
        }
    }

    pub(super) fn remove(&mut self, cell: CellId, performer: PerformerId) {
        if self.present.remove(&(cell, performer)) {
            self.stirred.entry((cell, performer)).or_insert(true);
            self.of_performer[performer.0 as usize] -= 1;
            self.in_cell[cell.0 as usize] -= 1;
        }
    }

    /// Returns the ghosts that came and went since the last call, in order of cell, then performer.
    pub(super) fn take_changes(&mut self) -> Vec<GhostChange> {
        let stirred = std::mem::take(&mut self.stirred);
        let changes = stirred.into_iter().map(|((cell, performer), was_present)| {
            let present = self.present.contains(&(cell, performer));
            (present != was_present).then_some(GhostChange {
                cell,
                performer,
                present,
            })
        });
        changes.flatten().collect()
    }

    /// Returns the performers of which a cell holds a ghost, ascending.
    pub(super) fn in_cell(&self, cell: CellId) -> impl Iterator<Item = PerformerId> + '_ {
        let range = (cell, PerformerId(0))..=(cell, PerformerId(u32::MAX));
        self.present.range(range).map(|(_, performer)| *performer)
    }

    /// Tells whether a cell holds a ghost.
    pub(super) fn are_in(&self, cell: CellId) -> bool {
        self.in_cell[cell.0 as usize] > 0
    }

    /// Tells whether a performer is a ghost anywhere.
    pub(super) fn has_any(&self, performer: PerformerId) -> bool {
        self.of_performer[performer.0 as usize] > 0
    }
}
