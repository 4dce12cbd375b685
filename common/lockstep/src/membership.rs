//! Which cell every performer is in, and which levels, ghosts and cells follow from it.
//!
//! A function of the simulation alone: of performers' states, iteration by iteration, and never of
//! load, timing or host. So every run of a world makes the same changes at the same iterations.

use protocol::primary_to_secondary::{GhostChange, LevelChange, Suspension};
use protocol::{CellId, Iteration, LevelId, PerformerId, PerformerState};

use crate::levels::ActiveLevels;
use crate::plan::Plan;

/// When a level's models are loaded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LoadRule {
    /// While a performer touches the level or its buffer.
    #[default]
    Buffer,
    /// From touching the level itself until leaving its buffer, as Gazebo does.
    Volume,
}

/// The settings that decide who is where; they are part of what makes two runs the same.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rules {
    /// When a level's models are loaded.
    pub load: LoadRule,
    /// How near two performers may come, beyond what they can move in a step, before one cell must
    /// own both \[m\].
    pub interaction_margin: f64,
    /// How many iterations a performer stays in a cell before it goes home for the sake of order
    /// alone.
    pub minimum_stay: u64,
    /// Simulated time per iteration \[s\].
    pub step_size_s: f64,
}

/// What changes with an iteration; each list in ascending order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// Cells that need a host from now on.
    pub cells_opened: Vec<CellId>,
    /// Cells that nothing is in any longer.
    pub cells_closed: Vec<CellId>,
    /// Performers that change cell.
    pub hand_offs: Vec<Passage>,
    /// Levels that come or go in cells.
    pub levels: Vec<LevelChange>,
    /// Ghosts that come or go in cells.
    pub ghosts: Vec<GhostChange>,
    /// Cells that stop for now or go on.
    pub suspensions: Vec<Suspension>,
}

/// A performer passes from one cell to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Passage {
    /// The performer.
    pub performer: PerformerId,
    /// The cell that it leaves.
    pub from: CellId,
    /// The cell that it enters.
    pub to: CellId,
}

/// Which cell every performer is in, and what follows from it.
#[derive(Debug)]
pub struct Membership {
    levels: ActiveLevels,
    cells: Vec<CellId>,
    owned: Vec<Vec<PerformerId>>,
    started: bool,
}

impl Membership {
    /// Starts with every performer in its first home, no level loaded and no cell open.
    pub fn new(plan: &Plan, rules: Rules) -> Self {
        let _ = rules;
        let mut owned = vec![Vec::new(); plan.cells.len()];
        for (id, performer) in plan.performers.iter().enumerate() {
            owned[performer.home.0 as usize].push(PerformerId(id as u32));
        }
        Self {
            levels: ActiveLevels::new(plan),
            cells: plan.performers.iter().map(|one| one.home).collect(),
            owned,
            started: false,
        }
    }

    /// Takes the states of all performers after an iteration, indexed by their ids, and returns
    /// what changes before the next one. The first call opens the cells of the start.
    ///
    /// # Panics
    /// When there are more or fewer states than performers.
    pub fn update(
        &mut self,
        plan: &Plan,
        iteration: Iteration,
        states: &[PerformerState],
    ) -> Changes {
        let _ = iteration;
        let cells = &self.cells;
        let positions = states
            .iter()
            .zip(cells)
            .map(|(state, cell)| (state.performer, *cell, state.position));
        let mut changes = Changes {
            levels: self.levels.update(plan, positions),
            ..Changes::default()
        };
        if !self.started {
            self.started = true;
            changes.cells_opened = (0..self.owned.len())
                .filter(|cell| !self.owned[*cell].is_empty())
                .map(|cell| CellId(cell as u32))
                .collect();
        }
        changes
    }

    /// Has a model keep levels active from the next update on, as a declared performer does, with a
    /// box of these edge lengths \[m\] where they are given.
    pub fn set_performer(&mut self, performer: PerformerId, size: Option<[f64; 3]>) {
        let _ = (performer, size);
    }

    /// Returns the cell that owns a performer.
    pub fn cell(&self, performer: PerformerId) -> CellId {
        self.cells[performer.0 as usize]
    }

    /// Returns the performers that a cell owns, ascending.
    pub fn owned(&self, cell: CellId) -> &[PerformerId] {
        &self.owned[cell.0 as usize]
    }

    /// Returns the performers of which a cell holds a ghost, ascending.
    pub fn ghosts(&self, cell: CellId) -> impl Iterator<Item = PerformerId> + '_ {
        let _ = cell;
        std::iter::empty()
    }

    /// Returns the levels that a cell has loaded, ascending.
    pub fn loaded(&self, cell: CellId) -> impl Iterator<Item = LevelId> + '_ {
        self.levels.of_cell(cell)
    }

    /// Returns the levels that a performer keeps active, ascending.
    pub fn levels_of(&self, performer: PerformerId) -> &[LevelId] {
        self.levels.of_performer(performer)
    }

    /// Tells whether any performer keeps this level active.
    pub fn is_active(&self, level: LevelId) -> bool {
        self.levels.is_active(level)
    }

    /// Tells whether a cell has a performer or a ghost, and so needs a host.
    pub fn is_open(&self, cell: CellId) -> bool {
        self.started && !self.owned[cell.0 as usize].is_empty()
    }

    /// Tells whether a cell stands still because no performer keeps its level active.
    pub fn is_suspended(&self, cell: CellId) -> bool {
        let _ = cell;
        false
    }

    /// Returns the performers whose links' poses ghosts need after the next step, ascending.
    pub fn wanted_poses(&self) -> &[PerformerId] {
        &[]
    }

    /// Returns the performers that may change cell after the next step, ascending. It is a guess
    /// that saves time: whoever it misses is asked for in a step of its own.
    pub fn wanted_states(&self) -> &[PerformerId] {
        &[]
    }
}
