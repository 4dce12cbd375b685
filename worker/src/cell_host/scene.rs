//! What is the same for all cells of a process throughout a run.

use std::sync::Arc;

use lockstep::Plan;
use protocol::{CellId, LevelId, PerformerId};
use sdf::World;

/// The worlds, and what follows from them alone.
pub(super) struct Scene {
    pub(super) plan: Plan,
    pub(super) worlds: Vec<Arc<World>>,
    /// The performers that start in each cell, ascending, by the cell's id.
    residents: Vec<Vec<PerformerId>>,
    /// Simulated time per iteration \[s\].
    pub(super) step_size_s: f64,
    /// Whether every step is done twice and compared.
    pub(super) verify: bool,
}

impl Scene {
    pub(super) fn new(worlds: Vec<World>, step_size_ns: u64, verify: bool) -> Self {
        let plan = Plan::new(&worlds);
        let mut residents = vec![Vec::new(); plan.cells.len()];
        for (number, performer) in plan.performers.iter().enumerate() {
            residents[performer.home.0 as usize].push(PerformerId(number as u32));
        }
        Self {
            plan,
            worlds: worlds.into_iter().map(Arc::new).collect(),
            residents,
            step_size_s: step_size_ns as f64 / 1e9,
            verify,
        }
    }

    /// Returns the index of a cell's world, if there is such a cell.
    pub(super) fn world_of_cell(&self, cell: CellId) -> Option<usize> {
        self.plan.cells.get(cell.0 as usize).map(|cell| cell.world)
    }

    /// Returns the index of a level's world, if there is such a level.
    pub(super) fn world_of_level(&self, level: LevelId) -> Option<usize> {
        let level = self.plan.levels.get(level.0 as usize);
        level.map(|level| level.world)
    }

    /// Returns the index of a performer's world, if there is such a performer.
    pub(super) fn world_of_performer(&self, performer: PerformerId) -> Option<usize> {
        let performer = self.plan.performers.get(performer.0 as usize);
        performer.map(|performer| performer.world)
    }

    /// Returns the performers that start in a cell, ascending.
    pub(super) fn residents(&self, cell: CellId) -> &[PerformerId] {
        &self.residents[cell.0 as usize]
    }
}
