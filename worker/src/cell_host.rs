//! The cells that this process hosts: does what a step says to them and answers with their states.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use lockstep::Plan;
use protocol::primary_to_secondary::{LevelChange, Step};
use protocol::secondary_to_primary::{CellAck, StepAck};
use protocol::{
    CellId, Digest, DigestBuilder, LevelId, PeerName, PerformerId, PerformerState, StateBlob,
};
use sdf::World;

use crate::physics::Cell;

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
    pub fn run(&mut self, step: &Step) -> StepAck {
        let begin = Instant::now();
        for change in &step.affinities {
            if change.secondary == self.name {
                self.adopt_cell(change.cell);
            }
        }
        for change in &step.level_changes {
            self.change_level(*change);
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
            cell.physics.states(&mut self.states);
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
        StepAck {
            sequence: step.sequence,
            iteration: step.iteration,
            cells,
            states: blob,
            busy_ns: begin.elapsed().as_nanos() as u64,
        }
    }

    /// Returns the digest of each cell's snapshot, in order of cells: all of its bits, not only
    /// those of its performers' states.
    pub fn snapshot_digests(&self) -> Vec<(CellId, Digest)> {
        let digest = |cell: &HostedCell| Digest::of_bytes(&cell.physics.snapshot());
        self.cells
            .iter()
            .map(|(id, cell)| (*id, digest(cell)))
            .collect()
    }

    /// Builds a cell as it is at the start: global models, then its performers.
    fn adopt_cell(&mut self, id: CellId) {
        let world = self.plan.cell(id).world;
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
            keepers: BTreeMap::new(),
            has_performers,
        };
        self.cells.insert(id, cell);
    }

    fn change_level(&mut self, change: LevelChange) {
        let Some(cell) = self.cells.get_mut(&change.cell) else {
            return;
        };
        let LevelId(level) = change.level;
        let level = &self.plan.levels[level as usize];
        assert_eq!(
            level.world, cell.world,
            "a cell loads levels of its own world only"
        );
        for model in &level.static_models {
            if change.loaded {
                cell.keep(*model);
            } else {
                cell.release(*model);
            }
        }
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
