//! [`Sight`]: who sees whom by [`SightRule::Range`]: the ghosts of cells in which something sees as
//! far as its sensors do.
//!
//! Each performer has a box in which it may move before anything changes, a little wider than where
//! it is. Grown by how large it is, that is where others see it; grown by how far it sees, that is
//! what it looks at. So a cell's ghosts change only as often as such a box does: of who moves
//! within its own, two comparisons are asked, and of who rests nothing.
//!
//! An example: a robot with a lidar of 30 m drives at 1 m/s with steps of 1 ms. Its box ends 0.5 m
//! beside it, so twice a second it gets another one, and its cell looks for others 30.5 m around.

use std::ops::ControlFlow;

use protocol::{CellId, Digest, Iteration, PerformerId, PerformerState};
use serde::{Deserialize, Serialize};

use super::ghosts::Reason;
use super::location::swept;
use super::marks::Marks;
use super::{Partition, SightRule};
use crate::bounds::Bounds;
use crate::box_tree::{BoxTree, Leaf};
use crate::topology::{Topology, Watcher};

/// Width that is added to the boxes in which performers may move \[m\], at least, and the number of
/// steps of motion that it is for.
const WIDER: (f64, f64) = (0.5, 256.0);
/// Greatest such width \[m\].
const WIDER_MAX: f64 = 16.0;

/// Views of cells.
#[derive(Debug)]
pub(super) struct Sight {
    is_on: bool,
    /// The box in which each performer may move \[m\]; none before it was looked at.
    spots: Vec<Option<Bounds>>,
    leaves: Vec<Option<Leaf>>,
    /// One tree per world with the boxes in which performers are seen.
    trees: Vec<BoxTree>,
    views: Vec<View>,
    /// For each world, the cells in which something looks at others, ascending.
    watching: Vec<Vec<CellId>>,
    poses: Poses,
    /// Performers that got another box with the present update.
    placed: Vec<usize>,
}

/// View of one cell.
#[derive(Clone, Debug, Default)]
struct View {
    /// Boxes that those in it look at \[m\].
    eyes: Vec<Bounds>,
    /// A box around all of these.
    whole: Option<Bounds>,
    /// Its models that never move and look, as they were last.
    watchers: Vec<Watcher>,
}

/// Ghosts whose links are somewhere else than those who see them know.
#[derive(Debug)]
struct Poses {
    /// Digest of the state in which each performer was known last, if it is a ghost.
    known: Vec<Digest>,
    /// Performers that moved with an iteration, or are new as ghosts, ascending.
    restless: Vec<PerformerId>,
    /// That iteration.
    moved_at: Option<Iteration>,
    /// Performers whose ghosts the step to come has to place, ascending.
    untold: Vec<PerformerId>,
    /// The worlds of which something looks at others.
    watched: Vec<bool>,
}

/// Saved state beside that of each performer.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct SavedSight {
    pub(super) restless: Vec<PerformerId>,
    pub(super) moved_at: Option<Iteration>,
    pub(super) untold: Vec<PerformerId>,
    pub(super) watched: Vec<bool>,
}

/// Saved state of one performer.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct SavedSpot {
    spot: Bounds,
    known: Digest,
}

impl SavedSpot {
    /// Tells whether it can be one: around some place.
    pub(super) fn is_sound(&self) -> bool {
        let Bounds { min, max } = self.spot;
        min.iter().all(|at| *at < f64::INFINITY) && max.iter().all(|at| *at > f64::NEG_INFINITY)
    }
}

impl Sight {
    pub(super) fn new(topology: &Topology, rule: SightRule) -> Self {
        let (worlds, performers) = (topology.global_models.len(), topology.performers.len());
        Self {
            is_on: rule == SightRule::Range,
            spots: vec![None; performers],
            leaves: vec![None; performers],
            trees: (0..worlds).map(|_| BoxTree::new()).collect(),
            views: vec![View::default(); topology.cells.len()],
            watching: vec![Vec::new(); worlds],
            poses: Poses {
                known: vec![Digest::default(); performers],
                restless: Vec::new(),
                moved_at: None,
                untold: Vec::new(),
                watched: vec![false; worlds],
            },
            placed: Vec::new(),
        }
    }

    /// Tells whether cells see by range.
    pub(super) fn is_on(&self) -> bool {
        self.is_on
    }

    /// Makes room for one more performer.
    pub(super) fn grow(&mut self) {
        self.spots.push(None);
        self.leaves.push(None);
        self.poses.known.push(Digest::default());
    }

    /// Has no more performers than so many.
    pub(super) fn truncate(&mut self, performers: usize) {
        self.spots.truncate(performers);
        self.leaves.truncate(performers);
        self.poses.known.truncate(performers);
    }

    /// Forgets where a performer is: it is gone, or as large as it never was.
    pub(super) fn forget(&mut self, performer: usize, world: usize) {
        self.spots[performer] = None;
        if let Some(leaf) = self.leaves[performer].take() {
            self.trees[world].remove(leaf);
        }
    }

    /// Forgets that ghosts of a performer are to be placed.
    pub(super) fn forget_poses(&mut self, performer: PerformerId) {
        self.poses.restless.retain(|one| *one != performer);
        self.poses.untold.retain(|one| *one != performer);
    }

    /// Tells whether ghosts have moved since the iteration before.
    pub(super) fn is_restless(&self) -> bool {
        !self.poses.restless.is_empty()
    }

    /// Tells whether a performer has moved since, or is new as a ghost.
    pub(super) fn has_moved(&self, performer: PerformerId) -> bool {
        self.poses.restless.binary_search(&performer).is_ok()
    }

    /// Returns the performers whose ghosts the step to come has to place, ascending.
    pub(super) fn untold(&self) -> &[PerformerId] {
        &self.poses.untold
    }

    /// Notes that a step places them.
    pub(super) fn note_told(&mut self) {
        self.poses.untold.clear();
    }

    pub(super) fn save(&self) -> SavedSight {
        let poses = &self.poses;
        SavedSight {
            restless: poses.restless.clone(),
            moved_at: poses.moved_at,
            untold: poses.untold.clone(),
            watched: poses.watched.clone(),
        }
    }

    pub(super) fn save_spot(&self, performer: usize) -> Option<SavedSpot> {
        let known = self.poses.known[performer];
        self.spots[performer].map(|spot| SavedSpot { spot, known })
    }

    pub(super) fn restore(&mut self, saved: SavedSight) {
        let poses = &mut self.poses;
        poses.restless = saved.restless;
        poses.moved_at = saved.moved_at;
        poses.untold = saved.untold;
        poses.watched = saved.watched;
    }
}

/// Returns a box that is wider by these lengths on every side \[m\].
fn grown(bounds: &Bounds, by: [f64; 3]) -> Bounds {
    Bounds {
        min: std::array::from_fn(|axis| bounds.min[axis] - by[axis]),
        max: std::array::from_fn(|axis| bounds.max[axis] + by[axis]),
    }
}

impl Partition {
    /// Returns the performers whose ghosts something sees elsewhere than the step to come finds
    /// them, ascending; `None` where all ghosts are told of in each step.
    pub fn moved_ghosts(&self) -> Option<&[PerformerId]> {
        self.sight.is_on.then(|| self.sight.untold())
    }

    /// Notes that a step places these.
    pub fn note_ghosts_placed(&mut self) {
        self.sight.note_told();
    }

    /// Notes that a step does not place these after all.
    pub fn note_ghosts_unplaced(&mut self, ghosts: Vec<PerformerId>) {
        if self.sight.is_on {
            let untold = &mut self.sight.poses.untold;
            untold.extend(ghosts);
            untold.sort_unstable();
            untold.dedup();
        }
    }

    /// Has cells see who is within the sight of what is in them. It looks at those in `moved`, else
    /// at all, and at cells that are `stirred`.
    pub(super) fn see(
        &mut self,
        topology: &Topology,
        states: &[PerformerState],
        moved: Option<&[PerformerId]>,
        mut stirred: Vec<CellId>,
    ) {
        self.place_spots(topology, states, moved);
        for performer in &self.sight.placed {
            if topology.performers[*performer].sight.range.is_some() {
                stirred.push(self.places[*performer].cell);
            }
        }
        stirred.sort_unstable();
        stirred.dedup();
        for cell in &stirred {
            self.open_eyes(topology, *cell);
            self.look_around(topology, *cell);
        }
        let placed = std::mem::take(&mut self.sight.placed);
        for performer in placed.iter().copied() {
            self.show(topology, performer, &stirred);
        }
        self.sight.placed = placed;
    }

    /// Gives other boxes to those who are not in theirs any more.
    fn place_spots(
        &mut self,
        topology: &Topology,
        states: &[PerformerState],
        moved: Option<&[PerformerId]>,
    ) {
        self.sight.placed.clear();
        match moved {
            Some(moved) => {
                for performer in moved.iter().map(|one| one.0 as usize) {
                    let place = self.places.get(performer);
                    if place.is_some_and(|place| self.population.place_of[place.world()].is_some())
                    {
                        self.place_spot(topology, performer, &states[performer]);
                    }
                }
            }
            None => {
                for world in 0..self.population.by_world.len() {
                    let population = std::mem::take(&mut self.population.by_world[world]);
                    for performer in population.iter().copied() {
                        self.place_spot(topology, performer, &states[performer]);
                    }
                    self.population.by_world[world] = population;
                }
            }
        }
    }

    fn place_spot(&mut self, topology: &Topology, performer: usize, state: &PerformerState) {
        if self.marks[performer].has(Marks::REMOVED) || self.enters(performer) {
            return;
        }
        let place = &self.places[performer];
        if !state.position.iter().all(|at| at.is_finite()) {
            return; // Nothing is known about where it is: it is seen where it was.
        }
        let sight = topology.performers[performer].sight;
        let mut here = Bounds::around(state.position, [0.0; 3]);
        let is_somewhere = state.reach.as_flattened().iter().all(|one| one.is_finite());
        if sight.has_loose_links && is_somewhere {
            here = here.joined(&state.reach.into());
        }
        let here = swept(&here, state, self.rules.step_size_s);
        if self.sight.spots[performer].is_some_and(|spot| spot.holds(&here)) {
            return;
        }
        let (least, steps) = WIDER;
        let speed = state.linear_velocity.map(f64::abs);
        let speed = speed.into_iter().fold(0.0, f64::max);
        let wider = (speed * self.rules.step_size_s * steps).clamp(least, WIDER_MAX);
        let world = place.world();
        self.sight.forget(performer, world);
        self.set_spot(topology, performer, here.inflated(wider));
        self.sight.placed.push(performer);
    }

    /// Gives a performer a box in which it may move.
    pub(super) fn set_spot(&mut self, topology: &Topology, performer: usize, spot: Bounds) {
        self.sight.spots[performer] = Some(spot);
        let world = self.places[performer].world();
        if let Some(bounds) = self.seen_in(topology, performer) {
            let leaf = self.sight.trees[world].insert(performer as u32, &bounds, 0);
            self.sight.leaves[performer] = Some(leaf);
        }
    }

    /// Restores the box of a performer and the state in which it was known.
    pub(super) fn restore_spot(
        &mut self,
        topology: &Topology,
        performer: usize,
        saved: &SavedSpot,
    ) {
        self.sight.poses.known[performer] = saved.known;
        self.set_spot(topology, performer, saved.spot);
    }

    /// Returns the box in which a performer is seen \[m\].
    fn seen_in(&self, topology: &Topology, performer: usize) -> Option<Bounds> {
        let size = topology.performers[performer].sight.size;
        // Detectors see the box with which it touches levels.
        let half = self.places[performer].half.map(|half| half.max(size));
        self.sight.spots[performer].map(|spot| grown(&spot, half))
    }

    /// Finds the cells in which others look that never move, and the worlds of which nobody did.
    pub(super) fn find_watchers(&mut self, topology: &Topology) {
        for (number, (cell, view)) in topology.cells.iter().zip(&self.sight.views).enumerate() {
            if cell.watchers != view.watchers {
                self.cells.stir(CellId(number as u32));
            }
        }
        for world in 0..topology.watched.len() {
            if !topology.watched[world] || self.sight.poses.watched[world] {
                continue;
            }
            self.sight.poses.watched[world] = true;
            let cells = (0..topology.cells.len() as u32).map(CellId);
            for cell in cells.filter(|cell| topology.cell(*cell).world == world) {
                let ghosts = self.ghosts.in_cell(cell);
                self.sight.poses.untold.extend(ghosts);
            }
        }
    }

    /// Finds what those in a cell look at, if it is not suspended.
    pub(super) fn open_eyes(&mut self, topology: &Topology, cell: CellId) {
        let spec = topology.cell(cell);
        let is_awake = self.cells.is_open(cell) && !self.cells.is_suspended(cell);
        let mut eyes = Vec::new();
        if is_awake {
            for performer in self.cells.owned(cell).iter().map(|one| one.0 as usize) {
                let range = topology.performers[performer].sight.range;
                if let (Some(range), Some(spot)) = (range, self.sight.spots[performer]) {
                    eyes.push(spot.inflated(range));
                }
            }
            let is_loaded = spec
                .level
                .is_none_or(|level| self.levels.of_cell(cell).any(|one| one == level));
            if is_loaded {
                eyes.extend(spec.watchers.iter().map(|watcher| watcher.bounds));
            }
        }
        let whole = eyes.iter().copied();
        let view = &mut self.sight.views[cell.0 as usize];
        view.whole = whole.reduce(|one, other| one.joined(&other));
        view.eyes = eyes;
        view.watchers.clone_from(&spec.watchers);
        let is_watching = view.whole.is_some();
        let watching = &mut self.sight.watching[spec.world];
        match (watching.binary_search(&cell), is_watching) {
            (Err(place), true) => watching.insert(place, cell),
            (Ok(place), false) => {
                watching.remove(place);
            }
            (Ok(_), true) | (Err(_), false) => {}
        }
    }

    /// Has a cell see those that what is in it looks at, and nobody else.
    fn look_around(&mut self, topology: &Topology, cell: CellId) {
        let mut seen = Vec::new();
        let tree = &self.sight.trees[topology.cell(cell).world];
        for eye in &self.sight.views[cell.0 as usize].eyes {
            tree.visit(
                eye,
                |_| true,
                |_, performer| {
                    let is_own = self.places[performer as usize].cell == cell;
                    let bounds = self.seen_in(topology, performer as usize);
                    if !is_own && bounds.is_some_and(|bounds| bounds.touches(eye)) {
                        seen.push(PerformerId(performer));
                    }
                    ControlFlow::Continue(())
                },
            );
        }
        seen.sort_unstable();
        seen.dedup();
        self.ghosts.see(cell, &seen);
    }

    /// Has cells see a performer that what is in them looks at, or not any more; those that are
    /// `known` have looked around.
    fn show(&mut self, topology: &Topology, performer: usize, known: &[CellId]) {
        let id = PerformerId(performer as u32);
        let place = &self.places[performer];
        let Some(bounds) = self.seen_in(topology, performer) else {
            return;
        };
        for cell in &self.sight.watching[place.world()] {
            if known.binary_search(cell).is_ok() {
                continue;
            }
            let view = &self.sight.views[cell.0 as usize];
            let is_near = view.whole.is_some_and(|whole| whole.touches(&bounds));
            let is_seen = is_near && view.eyes.iter().any(|eye| eye.touches(&bounds));
            if is_seen && place.cell != *cell {
                self.ghosts.add(*cell, id, Reason::Seen);
            } else {
                self.ghosts.remove(*cell, id, Reason::Seen);
            }
        }
    }

    /// Has no cell see a performer any longer.
    pub(super) fn hide(&mut self, topology: &Topology, performer: PerformerId) {
        if !self.sight.is_on {
            return;
        }
        let world = self.places[performer.0 as usize].world();
        self.sight.forget(performer.0 as usize, world);
        self.sight.forget_poses(performer);
        let cells = (0..topology.cells.len() as u32).map(CellId);
        for cell in cells.filter(|cell| topology.cell(*cell).world == world) {
            self.ghosts.remove(cell, performer, Reason::Seen);
        }
    }

    /// Notes whose ghosts have moved: of `moved`, else of all. In the same iteration those who had
    /// moved before still count.
    pub(super) fn note_moved_ghosts(
        &mut self,
        topology: &Topology,
        iteration: Iteration,
        states: &[PerformerState],
        moved: Option<&[PerformerId]>,
    ) {
        let poses = &mut self.sight.poses;
        if poses.moved_at.replace(iteration) != Some(iteration) {
            poses.restless.clear();
        }
        let mut note = |performer: usize| {
            let id = PerformerId(performer as u32);
            let is_watched = topology.watched[self.places[performer].world()];
            let digest = states[performer].digest;
            if is_watched && self.ghosts.has_any(id) && poses.known[performer] != digest {
                poses.known[performer] = digest;
                poses.restless.push(id);
                poses.untold.push(id);
            }
        };
        match moved {
            Some(moved) => moved
                .iter()
                .map(|one| one.0 as usize)
                .filter(|performer| *performer < self.places.len())
                .for_each(&mut note),
            None => self
                .population
                .by_world
                .iter()
                .flatten()
                .copied()
                .for_each(note),
        }
    }

    /// Notes performers that are new as ghosts, and puts all that are to be placed in order.
    pub(super) fn note_new_ghosts(
        &mut self,
        states: &[PerformerState],
        new: impl Iterator<Item = PerformerId>,
    ) {
        let poses = &mut self.sight.poses;
        for id in new {
            poses.known[id.0 as usize] = states[id.0 as usize].digest;
            poses.restless.push(id);
            poses.untold.push(id);
        }
        for list in [&mut poses.restless, &mut poses.untold] {
            list.retain(|id| self.ghosts.has_any(*id));
            list.sort_unstable();
            list.dedup();
        }
    }
}
