//! [`SavedPartition`]: what [`Partition`] must save to go on as if nothing had happened.
//!
//! State that follows from other state, such as the members of cells, the activating performers of
//! levels and the trees of boxes, is not kept but found again.

use protocol::{CellId, Iteration, LevelId, PerformerId};
use serde::{Deserialize, Serialize};

use super::cells::{Cells, SavedCells};
use super::ghosts::Reason;
use super::marks::Marks;
use super::sight::{SavedSight, SavedSpot};
use super::{Partition, Request, Rules};
use crate::saved_state_error::SavedStateError;
use crate::topology::Topology;

/// Saved state of a partition.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct SavedPartition {
    step_size_s: f64,
    /// Those that are there, in order of their numbers.
    performers: Vec<SavedPerformer>,
    cells: SavedCells,
    /// Ghosts that are near.
    ghosts: Vec<(CellId, PerformerId)>,
    /// Ghosts that something in their cell sees.
    seen: Vec<(CellId, PerformerId)>,
    sight: SavedSight,
    /// For each world, whether its default cell has ghosts of all.
    overseen: Vec<bool>,
    /// Performers, and whether they are to keep levels active or else to be removed.
    asked: Vec<(PerformerId, bool)>,
    updated: Option<Iteration>,
}

/// Saved state of one performer.
#[derive(Debug, Serialize, Deserialize)]
struct SavedPerformer {
    cell: CellId,
    home: CellId,
    entered: Iteration,
    half: [f64; 3],
    has_loose_links: bool,
    looked_at: [f64; 3],
    slacks: [f64; 2],
    marks: u8,
    touched: Vec<LevelId>,
    allowed: Option<[[f32; 3]; 2]>,
    seen_at: Option<[f64; 3]>,
    spot: Option<SavedSpot>,
}

impl Partition {
    pub(crate) fn save(&self, topology: &Topology) -> SavedPartition {
        let cells = || (0..self.ghosts.cell_count() as u32).map(CellId);
        let asked = self.agenda.requests.iter().map(|request| match request {
            Request::Keep(performer) => (*performer, true),
            Request::Remove(performer) => (*performer, false),
        });
        let ghosts = |reason: Reason| {
            let ghosts = cells().flat_map(|cell| {
                let ghosts = self.ghosts.for_reason(cell, reason);
                ghosts.map(move |performer| (cell, performer))
            });
            ghosts.collect()
        };
        SavedPartition {
            step_size_s: self.rules.step_size_s,
            performers: topology
                .present()
                .map(|one| self.save_performer(one))
                .collect(),
            cells: self.cells.save(),
            ghosts: ghosts(Reason::Near),
            seen: ghosts(Reason::Seen),
            sight: self.sight.save(),
            overseen: self.population.overseen.clone(),
            asked: asked.collect(),
            updated: self.rest.updated,
        }
    }

    fn save_performer(&self, performer: PerformerId) -> SavedPerformer {
        let index = performer.0 as usize;
        let place = &self.places[index];
        SavedPerformer {
            cell: place.cell,
            home: place.home,
            entered: place.entered,
            half: place.half,
            has_loose_links: place.has_loose_links,
            looked_at: place.looked_at,
            slacks: [place.levels_slack, place.home_slack],
            marks: self.marks[index].0,
            touched: self.levels.of_performer(performer).to_vec(),
            allowed: self.neighbours.allowed(index),
            seen_at: place.seen_at,
            spot: self.sight.save_spot(index),
        }
    }

    /// Makes a partition that goes on where another one was.
    ///
    /// # Errors
    /// Fails when the saved state does not fit the topology, and says why.
    pub(crate) fn restore(
        topology: &Topology,
        rules: Rules,
        saved: SavedPartition,
    ) -> Result<Self, SavedStateError> {
        saved.check(topology)?;
        let rules = Rules {
            step_size_s: saved.step_size_s,
            ..rules
        };
        let mut partition = Self::new(topology, rules);
        let (stirred, woken) = (saved.cells.stirred.clone(), saved.cells.woken.clone());
        partition.cells = Cells::restore(topology.cells.len(), saved.cells);
        partition.marks.fill(Marks::REMOVED);
        for (performer, one) in topology.present().zip(saved.performers) {
            partition.restore_performer(topology, performer, one);
        }
        for level in (0..topology.levels.len() as u32).map(LevelId) {
            if partition.levels.is_active(level) {
                partition.pin(topology, level, true);
            }
        }
        for (cell, performer) in saved.ghosts {
            partition.ghosts.add(cell, performer, Reason::Near);
        }
        for (cell, performer) in saved.seen {
            partition.ghosts.add(cell, performer, Reason::Seen);
        }
        partition.sight.restore(saved.sight);
        if partition.sight.is_on() {
            for cell in (0..topology.cells.len() as u32).map(CellId) {
                partition.open_eyes(topology, cell);
            }
        }
        partition.levels.take_changes();
        partition.ghosts.take_changes();
        partition.cells.stirred = stirred;
        partition.cells.woken = woken;
        let asked = saved.asked.into_iter();
        partition.agenda.requests = asked
            .map(|(performer, keeps)| {
                let request = if keeps {
                    Request::Keep
                } else {
                    Request::Remove
                };
                request(performer)
            })
            .collect();
        partition.population.overseen = saved.overseen;
        partition.rest.updated = saved.updated;
        partition.want(topology);
        Ok(partition)
    }

    fn restore_performer(
        &mut self,
        topology: &Topology,
        performer: PerformerId,
        saved: SavedPerformer,
    ) {
        let index = performer.0 as usize;
        let place = &mut self.places[index];
        place.cell = saved.cell;
        place.home = saved.home;
        place.entered = saved.entered;
        place.half = saved.half;
        place.has_loose_links = saved.has_loose_links;
        place.looked_at = saved.looked_at;
        place.seen_at = saved.seen_at;
        place.is_new = saved.allowed.is_none();
        [place.levels_slack, place.home_slack] = saved.slacks;
        let marks = Marks(saved.marks);
        self.marks[index] = marks;
        let is_activating = marks.has(Marks::ACTIVATING);
        self.cells.add(saved.cell, performer, is_activating);
        self.levels.touch(performer, saved.cell, &saved.touched);
        if is_activating {
            for level in saved.touched {
                self.levels.keep(level);
            }
        }
        if let Some(allowed) = saved.allowed {
            let is_beside = marks.has(Marks::BESIDE);
            let place = &self.places[index];
            self.neighbours
                .put_back(index, place, allowed, &self.rules, is_beside);
        }
        if let Some(spot) = saved.spot {
            self.restore_spot(topology, index, &spot);
        }
    }
}

impl SavedPartition {
    fn check(&self, topology: &Topology) -> Result<(), SavedStateError> {
        let is_cell = |cell: &CellId| (cell.0 as usize) < topology.cells.len();
        let is_performer = |one: &PerformerId| {
            let found = topology.performers.get(one.0 as usize);
            found.is_some_and(|found| !found.is_removed)
        };
        let is_level = |level: &LevelId| (level.0 as usize) < topology.levels.len();
        if self.performers.len() != topology.present().count() {
            return Err(SavedStateError::PerformerCount);
        }
        let worlds = topology.global_models.len();
        if self.overseen.len() != worlds || self.sight.watched.len() != worlds {
            return Err(SavedStateError::WorldCount);
        }
        if !self.cells.parts.fit(topology) {
            return Err(SavedStateError::Parts);
        }
        let SavedCells {
            open,
            suspended,
            stirred,
            woken,
            ..
        } = &self.cells;
        let lists = [open, suspended, stirred, woken];
        if !lists.into_iter().flatten().all(is_cell) {
            return Err(SavedStateError::NoSuchCell);
        }
        let mut ghosts = self.ghosts.iter().chain(&self.seen);
        let mut moved = self.sight.restless.iter().chain(&self.sight.untold);
        let are_ghosts = ghosts.all(|(cell, one)| is_cell(cell) && is_performer(one));
        if !are_ghosts || !moved.all(is_performer) {
            return Err(SavedStateError::Ghost);
        }
        if !self.asked.iter().all(|(one, _)| is_performer(one)) {
            return Err(SavedStateError::NoSuchPerformer);
        }
        let present = topology.present().map(|id| topology.performer(id));
        for (saved, one) in self.performers.iter().zip(present) {
            let cells = [&saved.cell, &saved.home];
            let are_of_world =
                |cell: &&CellId| is_cell(cell) && topology.cell(**cell).world == one.world;
            if !cells.iter().all(are_of_world) {
                return Err(SavedStateError::CellOfOtherWorld);
            }
            let is_ascending = saved.touched.is_sorted_by(|one, other| one < other);
            if !is_ascending || !saved.touched.iter().all(is_level) {
                return Err(SavedStateError::NoSuchLevel);
            }
            let corners = saved.allowed.iter().flatten().flatten();
            if corners.into_iter().any(|corner| corner.is_nan()) {
                return Err(SavedStateError::NoReach);
            }
            if saved.spot.as_ref().is_some_and(|one| !one.is_sound()) {
                return Err(SavedStateError::NoReach);
            }
            if Marks(saved.marks).has(Marks::REMOVED) {
                return Err(SavedStateError::GoneAndThere);
            }
        }
        Ok(())
    }
}
