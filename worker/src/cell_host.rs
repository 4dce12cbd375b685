//! The cells that this process hosts: does what a step says to them and answers with their states.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Instant;

use lockstep::Plan;
use protocol::primary_to_secondary::{LevelChange, Step};
use protocol::secondary_to_primary::{CellAck, StepAck};
use protocol::{CellId, DigestBuilder, LevelId, PeerName, PerformerId, PerformerState, StateBlob};
use sdf::World;

use crate::physics::Cell;

/// A step that cannot be meant.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum StepError {
    /// Time must advance exactly when the step is not a paused one.
    #[error("the step size does not fit whether time stands still")]
    Time,
    /// No such cell, or it is here already.
    #[error("cell {0} cannot be adopted")]
    Cell(CellId),
    /// No such level in the cell's world, or it is there, or gone, already.
    #[error("level {level} cannot come into cell {cell} or leave it")]
    Level {
        /// The cell.
        cell: CellId,
        /// The level.
        level: LevelId,
    },
}

/// The cells of one process.
pub struct CellHost {
    name: PeerName,
    worlds: Vec<Arc<World>>,
    plan: Plan,
    cells: BTreeMap<CellId, HostedCell>,
    states: Vec<PerformerState>,
    digest: DigestBuilder,
}

struct HostedCell {
    physics: Cell,
    world: usize,
    /// How many levels keep each static model in the cell.
    keepers: BTreeMap<usize, u32>,
    levels: BTreeSet<LevelId>,
    has_performers: bool,
}

impl CellHost {
    /// Makes the host named `name`, without cells yet.
    pub fn new(name: PeerName, worlds: Vec<World>) -> Self {
        let plan = Plan::new(&worlds);
        Self {
            name,
            worlds: worlds.into_iter().map(Arc::new).collect(),
            plan,
            cells: BTreeMap::new(),
            states: Vec::new(),
            digest: DigestBuilder::default(),
        }
    }

    /// Does one step in every cell and returns the answer to it.
    ///
    /// # Errors
    /// When the step cannot be meant: what it names does not exist, or is not as it says.
    pub fn run(&mut self, step: &Step) -> Result<StepAck, StepError> {
        let begin = Instant::now();
        if step.paused != (step.step_size_ns == 0) {
            return Err(StepError::Time);
        }
        for change in &step.affinities {
            if change.secondary.as_ref() == Some(&self.name) {
                self.adopt_cell(change.cell)?;
            }
        }
        for change in &step.level_changes {
            self.change_level(*change)?;
        }
        let mut cells = Vec::with_capacity(self.cells.len());
        let mut blob = StateBlob::default();
        for (id, cell) in &mut self.cells {
            let physics_begin = Instant::now();
            if !step.paused && cell.has_performers {
                cell.physics.step(step.step_size_ns as f64 / 1e9);
            }
            let physics_ns = physics_begin.elapsed().as_nanos() as u64;
            self.states.clear();
            let step_size_s = step.step_size_ns as f64 / 1e9;
            cell.physics.states(step_size_s, &mut self.states);
            self.digest.clear();
            for state in &self.states {
                self.digest.digest(state.digest);
                blob.push(state);
            }
            cells.push(CellAck {
                cell: *id,
                digest: self.digest.finish(),
                physics_ns,
                performer_count: self.states.len() as u32,
            });
        }
        Ok(StepAck {
            sequence: step.sequence,
            iteration: step.iteration,
            cells,
            states: blob,
            poses: Vec::new(),
            transfers: Vec::new(),
            snapshots: Vec::new(),
            busy_ns: begin.elapsed().as_nanos() as u64,
        })
    }

    /// Builds a cell as it is at the start: global models, then its performers.
    fn adopt_cell(&mut self, id: CellId) -> Result<(), StepError> {
        let plan = self
            .plan
            .cells
            .get(id.0 as usize)
            .ok_or(StepError::Cell(id))?;
        if self.cells.contains_key(&id) {
            return Err(StepError::Cell(id));
        }
        let world = plan.world;
        let mut physics = Cell::new(Arc::clone(&self.worlds[world]));
        for model in &self.plan.global_models[world] {
            physics.insert_static(*model);
        }
        let mut has_performers = false;
        for (number, performer) in self.plan.performers.iter().enumerate() {
            if performer.home == id {
                physics.insert_performer(PerformerId(number as u32), performer.model);
                has_performers = true;
            }
        }
        let cell = HostedCell {
            physics,
            world,
            levels: BTreeSet::new(),
            keepers: BTreeMap::new(),
            has_performers,
        };
        self.cells.insert(id, cell);
        Ok(())
    }

    fn change_level(&mut self, change: LevelChange) -> Result<(), StepError> {
        let Some(cell) = self.cells.get_mut(&change.cell) else {
            return Ok(());
        };
        let wrong = StepError::Level {
            cell: change.cell,
            level: change.level,
        };
        let level = self.plan.levels.get(change.level.0 as usize);
        let Some(level) = level.filter(|level| level.world == cell.world) else {
            return Err(wrong);
        };
        let is_new = if change.loaded {
            cell.levels.insert(change.level)
        } else {
            cell.levels.remove(&change.level)
        };
        if !is_new {
            return Err(wrong);
        }
        for model in &level.static_models {
            if change.loaded {
                cell.keep(*model);
            } else {
                cell.release(*model);
            }
        }
        Ok(())
    }
}

impl HostedCell {
    fn keep(&mut self, model: usize) {
        let keepers = self.keepers.entry(model).or_insert(0);
        *keepers += 1;
        if *keepers == 1 {
            self.physics.insert_static(model);
        }
    }

    fn release(&mut self, model: usize) {
        let keepers = self
            .keepers
            .get_mut(&model)
            .expect("a level that is unloaded was loaded before");
        *keepers -= 1;
        if *keepers == 0 {
            self.keepers.remove(&model);
            self.physics.remove_static(model);
        }
    }
}
