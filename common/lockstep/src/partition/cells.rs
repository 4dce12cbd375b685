//! [`Cells`]: performers in cells, cells that need a host, and those that stand still; bookkeeping
//! alone.

use protocol::primary_to_secondary::Suspension;
use protocol::{CellId, PerformerId};
use serde::{Deserialize, Serialize};

use super::ghosts::Ghosts;
use super::parts::{Parts, SavedParts};
use crate::levels::ActiveLevels;
use crate::topology::Topology;

/// Saved state of cells.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct SavedCells {
    pub(super) open: Vec<CellId>,
    pub(super) suspended: Vec<CellId>,
    pub(super) stirred: Vec<CellId>,
    pub(super) woken: Vec<CellId>,
    pub(super) parts: SavedParts,
}

/// All cells.
#[derive(Debug)]
pub(super) struct Cells {
    /// The performers of each cell, ascending.
    owned: Vec<Vec<PerformerId>>,
    /// Number of activating performers among them.
    activating: Vec<u32>,
    open: Vec<bool>,
    suspended: Vec<bool>,
    /// Cells that may open, close, stop or go on.
    pub(super) stirred: Vec<CellId>,
    /// Suspended cells of which a performer meets an activating performer.
    pub(super) woken: Vec<CellId>,
    /// Cells of levels that are split.
    pub(super) parts: Parts,
}

impl Cells {
    /// Starts with every performer in its first home and every cell closed.
    pub(super) fn new(topology: &Topology) -> Self {
        let count = topology.cells.len();
        let mut cells = Self {
            owned: vec![Vec::new(); count],
            activating: vec![0; count],
            open: vec![false; count],
            suspended: vec![false; count],
            stirred: Vec::new(),
            woken: Vec::new(),
            parts: Parts::new(topology),
        };
        for (number, _) in topology
            .cells
            .iter()
            .enumerate()
            .filter(|(_, cell)| cell.is_permanent)
        {
            cells.stir(CellId(number as u32));
        }
        for (id, performer) in topology.performers.iter().enumerate() {
            cells.owned[performer.home.0 as usize].push(PerformerId(id as u32));
            cells.activating[performer.home.0 as usize] += u32::from(!performer.is_level_bound());
            cells.stir(performer.home);
        }
        cells
    }

    /// Goes on where others were, with nobody in any cell.
    pub(super) fn restore(count: usize, saved: SavedCells) -> Self {
        let of = |cells: &[CellId]| {
            let mut flags = vec![false; count];
            for cell in cells {
                flags[cell.0 as usize] = true;
            }
            flags
        };
        Self {
            owned: vec![Vec::new(); count],
            activating: vec![0; count],
            open: of(&saved.open),
            suspended: of(&saved.suspended),
            stirred: Vec::new(),
            woken: Vec::new(),
            parts: Parts::restore(saved.parts),
        }
    }

    pub(super) fn save(&self) -> SavedCells {
        let of = |flags: &[bool]| {
            let numbered = flags.iter().zip((0..).map(CellId));
            let set = numbered.filter(|(flag, _)| **flag);
            set.map(|(_, cell)| cell).collect()
        };
        SavedCells {
            open: of(&self.open),
            suspended: of(&self.suspended),
            stirred: self.stirred.clone(),
            woken: self.woken.clone(),
            parts: self.parts.save(),
        }
    }

    pub(super) fn add(&mut self, cell: CellId, performer: PerformerId, is_activating: bool) {
        let owned = &mut self.owned[cell.0 as usize];
        if let Err(place) = owned.binary_search(&performer) {
            owned.insert(place, performer);
            self.activating[cell.0 as usize] += u32::from(is_activating);
        }
        self.stir(cell);
    }

    pub(super) fn remove(&mut self, cell: CellId, performer: PerformerId, is_activating: bool) {
        let owned = &mut self.owned[cell.0 as usize];
        if let Ok(place) = owned.binary_search(&performer) {
            owned.remove(place);
            self.activating[cell.0 as usize] -= u32::from(is_activating);
        }
        self.stir(cell);
    }

    /// Notes that a performer of a cell is an activating performer from now on.
    pub(super) fn add_activating(&mut self, cell: CellId) {
        self.activating[cell.0 as usize] += 1;
        self.stir(cell);
    }

    /// Begins an iteration: what woke a cell in the one before may be over.
    pub(super) fn begin_iteration(&mut self) {
        self.stirred.append(&mut self.woken);
    }

    /// Tells whether nothing about any cell may change.
    pub(super) fn are_quiet(&self) -> bool {
        self.stirred.is_empty() && self.woken.is_empty()
    }

    /// Notes that something about a cell may change.
    pub(super) fn stir(&mut self, cell: CellId) {
        self.stirred.push(cell);
    }

    /// Has a suspended cell go on for an iteration at least.
    pub(super) fn wake(&mut self, cell: CellId) {
        self.woken.push(cell);
        self.stir(cell);
    }

    pub(super) fn owned(&self, cell: CellId) -> &[PerformerId] {
        &self.owned[cell.0 as usize]
    }

    pub(super) fn has_activating(&self, cell: CellId) -> bool {
        self.activating[cell.0 as usize] > 0
    }

    pub(super) fn is_open(&self, cell: CellId) -> bool {
        self.open[cell.0 as usize]
    }

    pub(super) fn is_suspended(&self, cell: CellId) -> bool {
        self.suspended[cell.0 as usize]
    }

    /// Tells whether a cell is suspended and will be after this update, as far as is known.
    pub(super) fn is_still(
        &self,
        topology: &Topology,
        levels: &ActiveLevels,
        cell: CellId,
    ) -> bool {
        self.is_suspended(cell) && self.may_be_suspended(topology, levels, cell)
    }

    /// Tells whether a cell has performers, of which none is activating, and neither
    /// its level nor one that they live with is active.
    pub(super) fn may_be_suspended(
        &self,
        topology: &Topology,
        levels: &ActiveLevels,
        cell: CellId,
    ) -> bool {
        let level = topology.cell(cell).level;
        let is_left = level.is_some_and(|level| !levels.is_active(level));
        let is_wanted = |performer: &PerformerId| {
            let mut bound_to = topology.performer(*performer).bound_to.iter();
            bound_to.any(|level| levels.is_active(*level))
        };
        let owned = self.owned(cell);
        is_left
            && self.activating[cell.0 as usize] == 0
            && !owned.is_empty()
            && !owned.iter().any(is_wanted)
    }

    /// Returns the cells that opened and closed since the last call, and those that stopped and
    /// went on, each ascending.
    pub(super) fn take_changes(
        &mut self,
        topology: &Topology,
        levels: &ActiveLevels,
        ghosts: &Ghosts,
    ) -> (Vec<CellId>, Vec<CellId>, Vec<Suspension>) {
        let (mut opened, mut closed, mut suspensions) = (Vec::new(), Vec::new(), Vec::new());
        let mut stirred = std::mem::take(&mut self.stirred);
        stirred.sort_unstable();
        stirred.dedup();
        self.woken.sort_unstable();
        self.woken.dedup();
        for cell in stirred.drain(..) {
            let index = cell.0 as usize;
            let is_permanent = topology.cell(cell).is_permanent;
            let open = is_permanent || !self.owned[index].is_empty() || ghosts.are_near(cell);
            if open != self.open[index] {
                self.open[index] = open;
                if open { &mut opened } else { &mut closed }.push(cell);
            }
            let suspended = self.may_be_suspended(topology, levels, cell)
                && self.woken.binary_search(&cell).is_err();
            if suspended != self.suspended[index] {
                self.suspended[index] = suspended;
                // Nothing is left in a closed cell that could go on.
                if open {
                    suspensions.push(Suspension { cell, suspended });
                }
            }
        }
        self.stirred = stirred;
        (opened, closed, suspensions)
    }
}
