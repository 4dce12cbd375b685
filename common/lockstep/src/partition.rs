//! [`Partition`]: the cell of every performer, and the levels, ghosts and cells that follow from
//! it.
//!
//! A function of the simulation alone: of performers' states, iteration by iteration, and never of
//! load, timing or host. So every run of a world makes the same changes at the same iterations.
//! **Invariant:** every performer is in exactly one cell, and performers that may touch each other
//! in the next step are in the same one; [`Partition::check`] asks.

mod cells;
mod check;
mod forecast;
mod ghosts;
mod groups;
mod location;
mod marks;
mod moved;
mod neighbours;
mod parts;
mod population;
mod present;
mod rest;
pub(crate) mod saved;
mod shown_groups;
mod sight;
#[cfg(test)]
mod tests;

use protocol::primary_to_secondary::{GhostChange, LevelChange, Suspension};
use protocol::{CellId, Iteration, LevelId, PerformerId, PerformerState};
use serde::{Deserialize, Serialize};

use self::cells::Cells;
use self::ghosts::{Ghosts, Reason};
use self::location::{Glance, PerformerLocation, Regions};
use self::marks::Marks;
pub use self::moved::Moved;
use self::neighbours::Neighbours;
use self::population::{Agenda, Buffers, Population};
use self::rest::Rest;
use self::sight::Sight;
use crate::levels::ActiveLevels;
use crate::topology::Topology;

/// One of this many performers beside another cell is asked in each iteration whether it still is.
const TURNS: u64 = 64;

/// Rule for loading a level's models.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum LoadRule {
    /// While a performer touches the level or its buffer.
    #[default]
    Buffer,
    /// From touching the level itself until leaving its buffer, as Gazebo does.
    Volume,
}

/// Rule for which performers of other cells a cell has ghosts of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum SightRule {
    /// Those that keep its level active, and in a default cell of which something looks all of
    /// them.
    #[default]
    Buffer,
    /// Besides those, all that are within the range of what looks at others in it.
    Range,
}

/// The settings that decide who is where; they are part of what makes two runs the same.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rules {
    /// Rule that says when a level's models are loaded.
    pub load: LoadRule,
    /// Rule that says whom a cell sees.
    pub sight: SightRule,
    /// Distance of two performers, beyond what they can move in a step, from which on one cell must
    /// own both \[m\].
    pub interaction_margin: f64,
    /// Number of iterations that a performer stays in a cell before it goes home for the sake of
    /// order alone.
    pub minimum_stay: u64,
    /// Simulated time per iteration \[s\].
    pub step_size_s: f64,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            load: LoadRule::Buffer,
            sight: SightRule::Buffer,
            interaction_margin: 0.02,
            minimum_stay: 50,
            step_size_s: 0.001,
        }
    }
}

/// Changes of an iteration; each list in ascending order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// Cells that need a host from now on.
    pub cells_opened: Vec<CellId>,
    /// Cells that nothing is in any longer.
    pub cells_closed: Vec<CellId>,
    /// Performers that change cell.
    pub hand_offs: Vec<HandOffPlan>,
    /// Levels that come or go in cells.
    pub levels: Vec<LevelChange>,
    /// Ghosts that come or go in cells.
    pub ghosts: Vec<GhostChange>,
    /// Cells that stop for now or go on.
    pub suspensions: Vec<Suspension>,
    /// Parts that levels have got, or given up, by their cells, ascending.
    pub parts: Vec<PartChange>,
}

/// A level gets a part, or gives one up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PartChange {
    /// The part's cell.
    pub cell: CellId,
    /// True if it is new; else it was joined to another.
    pub is_new: bool,
}

/// A performer passes from one cell to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct HandOffPlan {
    /// The performer.
    pub performer: PerformerId,
    /// The cell that it leaves.
    pub from: CellId,
    /// The cell that it enters.
    pub to: CellId,
}

/// The cell of every performer, and what follows from it.
#[derive(Debug)]
pub struct Partition {
    rules: Rules,
    levels: ActiveLevels,
    cells: Cells,
    ghosts: Ghosts,
    sight: Sight,
    places: Vec<PerformerLocation>,
    marks: Vec<Marks>,
    neighbours: Neighbours,
    population: Population,
    agenda: Agenda,
    buffers: Buffers,
    rest: Rest,
}

/// A request that is done with the next update.
#[derive(Clone, Copy, Debug)]
enum Request {
    Keep(PerformerId),
    Remove(PerformerId),
}

impl Request {
    fn performer(self) -> usize {
        let (Self::Keep(performer) | Self::Remove(performer)) = self;
        performer.0 as usize
    }
}

impl Partition {
    /// Starts with every performer in its first home, no level loaded and no cell open.
    pub fn new(topology: &Topology, rules: Rules) -> Self {
        let worlds = topology.global_models.len();
        let performers = &topology.performers;
        let marks = performers.iter().map(|performer| {
            let mut marks = Marks::default();
            marks.set(Marks::ACTIVATING, !performer.is_level_bound());
            marks.set(Marks::JOINED, !performer.joined_to.is_empty());
            marks
        });
        Self {
            rules,
            levels: ActiveLevels::new(topology),
            cells: Cells::new(topology),
            ghosts: Ghosts::new(performers.len(), topology.cells.len()),
            sight: Sight::new(topology, rules.sight),
            places: performers.iter().map(PerformerLocation::new).collect(),
            marks: marks.collect(),
            neighbours: Neighbours::new(worlds, performers.len()),
            population: Population::new(topology),
            agenda: Agenda::default(),
            buffers: Buffers::default(),
            rest: Rest::default(),
        }
    }

    /// Takes before an update whose states have changed since the one before. Who tells this once
    /// has to tell it always: of those who have not moved, nothing is asked anew.
    pub fn note_moved(&mut self, moved: &mut Moved) {
        self.rest.note_moved(moved);
    }

    /// Takes the states of all performers after an iteration, indexed by their ids, and returns
    /// what changes before the next one. The first call opens the cells of the start. When it is
    /// called once more after the same iteration, since time is paused, nothing changes but what
    /// was asked for: otherwise a pause would bring changes forward.
    ///
    /// # Panics
    /// Panics when there are more or fewer states than performers.
    pub fn update(
        &mut self,
        topology: &Topology,
        iteration: Iteration,
        states: &[PerformerState],
    ) -> Changes {
        assert_eq!(
            states.len(),
            self.places.len(),
            "every performer has one state"
        );
        let is_repeated = self.rest.updated.replace(iteration) == Some(iteration);
        if is_repeated {
            return self.update_as_asked(topology, states);
        }
        let is_at_rest = self.rest.holds() && !self.cells.parts.are_to_be_revised();
        if is_at_rest && self.agenda.requests.is_empty() && self.cells.are_quiet() {
            return Changes::default();
        }
        let is_as_asked = !self.agenda.requests.is_empty() || !self.cells.are_quiet();
        let mut moved = std::mem::take(&mut self.buffers.moved);
        let are_known = self.rest.begin_update(&mut moved) && !is_as_asked;
        self.cells.begin_iteration();
        self.agenda.put_elsewhere.clear();
        self.oversee(topology);
        if self.sight.is_on() && !are_known {
            self.find_watchers(topology);
        }
        self.do_as_asked(topology);
        if are_known && !self.population.has_level_bound {
            self.locate_moved(topology, iteration, states, &mut moved);
        } else {
            self.locate_all(topology, iteration, states);
        }
        let parts = self.revise_parts(topology, iteration, states);
        let mut hand_offs = Vec::new();
        self.find_groups(topology, iteration, states, &mut hand_offs);
        for hand_off in &hand_offs {
            self.hand_over(topology, iteration, *hand_off);
        }
        let known = are_known.then_some(&moved[..]);
        if self.sight.is_on() {
            self.note_moved_ghosts(topology, iteration, states, known);
        }
        let changes = Changes {
            parts,
            ..self.take_changes(topology, states, known, hand_offs)
        };
        self.buffers.moved = moved;
        self.agenda.held.clear();
        let is_any_away = self.want(topology);
        self.agenda.entering.clear();
        // Who is away may go home for having stayed long enough.
        let is_changed = changes != Changes::default() || self.sight.is_restless();
        self.rest.end_update(is_changed, is_any_away);
        changes
    }

    fn locate_all(&mut self, topology: &Topology, iteration: Iteration, states: &[PerformerState]) {
        for world in 0..self.population.by_world.len() {
            let population = std::mem::take(&mut self.population.by_world[world]);
            for performer in population.iter().copied() {
                if self.enters(performer) {
                    continue;
                }
                self.locate(topology, iteration, performer, &states[performer]);
            }
            self.population.by_world[world] = population;
        }
    }

    /// Locates those that have moved, and those whose turn it is to be asked whether others still
    /// are beside them: about everybody else, nothing new would be found.
    fn locate_moved(
        &mut self,
        topology: &Topology,
        iteration: Iteration,
        states: &[PerformerState],
        moved: &mut Vec<PerformerId>,
    ) {
        let first = (iteration.0 % TURNS) as usize;
        let turn = (first..self.marks.len()).step_by(TURNS as usize);
        let beside = turn.filter(|performer| self.marks[*performer].has(Marks::BESIDE));
        moved.extend(beside.map(|performer| PerformerId(performer as u32)));
        moved.sort_unstable();
        moved.dedup();
        for performer in moved.iter().map(|one| one.0 as usize) {
            let place = self.places.get(performer);
            if place.is_some_and(|place| self.population.place_of[place.world()].is_some()) {
                self.locate(topology, iteration, performer, &states[performer]);
            }
        }
    }

    /// Does what was asked for and nothing else.
    fn update_as_asked(&mut self, topology: &Topology, states: &[PerformerState]) -> Changes {
        let mut asked: Vec<usize> = self
            .agenda
            .requests
            .iter()
            .map(|one| one.performer())
            .collect();
        if asked.is_empty() {
            return Changes::default();
        }
        self.rest.disturb();
        let still = asked.iter().filter(|performer| self.is_still(**performer));
        let still: Vec<usize> = still.copied().collect();
        self.oversee(topology);
        self.do_as_asked(topology);
        self.agenda.held.clear();
        // Who goes on with one of them was not looked at while it stood still.
        for performer in still.into_iter().filter(|one| !self.is_still(*one)) {
            let with_it = self.cells.owned(self.places[performer].cell).iter();
            asked.extend(with_it.map(|one| one.0 as usize));
        }
        asked.sort_unstable();
        asked.dedup();
        for performer in asked.iter().copied() {
            if !self.marks[performer].has(Marks::REMOVED) {
                self.glance(topology, performer, &states[performer]);
            }
        }
        let asked = asked.into_iter().map(|one| PerformerId(one as u32));
        let asked: Vec<PerformerId> = asked.collect();
        let changes = self.take_changes(topology, states, Some(&asked), Vec::new());
        self.want(topology);
        self.agenda.entering.clear();
        changes
    }

    /// Takes all changes of an update that looked at those in `moved`, or else at all.
    fn take_changes(
        &mut self,
        topology: &Topology,
        states: &[PerformerState],
        moved: Option<&[PerformerId]>,
        hand_offs: Vec<HandOffPlan>,
    ) -> Changes {
        let is_seen_by_range = self.sight.is_on();
        let stirred = is_seen_by_range.then(|| self.cells.stirred.clone());
        let (cells_opened, cells_closed, suspensions) =
            self.cells
                .take_changes(topology, &self.levels, &self.ghosts);
        if let Some(stirred) = stirred {
            self.see(topology, states, moved, stirred);
        }
        let ghosts = self.ghosts.take_changes();
        if is_seen_by_range {
            let new = ghosts.iter().filter(|change| change.present);
            let new = new.filter(|change| topology.watched[topology.cell(change.cell).world]);
            self.note_new_ghosts(states, new.map(|change| change.performer));
        }
        Changes {
            cells_opened,
            cells_closed,
            hand_offs,
            levels: self.levels.take_changes(),
            ghosts,
            suspensions,
            parts: Vec::new(),
        }
    }

    /// Has the next update look at everything anew, also after the same iteration: models were
    /// moved by command while time stood still.
    pub fn disturb(&mut self) {
        self.rest.updated = None;
        self.rest.disturb();
    }

    /// Takes in a performer that a topology has got since; it is in its home from the next update
    /// on, which opens that cell, and may change cell with the one after.
    ///
    /// # Panics
    /// Panics when its number is in use, or not the next one after those that are known.
    pub fn insert(&mut self, topology: &Topology, performer: PerformerId) {
        let index = performer.0 as usize;
        self.rest.disturb();
        let added = topology.performer(performer);
        if index == self.places.len() {
            self.places.push(PerformerLocation::new(added));
            self.marks.push(Marks::REMOVED);
            self.levels.grow();
            self.ghosts.grow();
            self.sight.grow();
            self.neighbours.grow();
        }
        assert!(
            self.marks[index].has(Marks::REMOVED),
            "performer {performer} comes under a number that is free"
        );
        self.places[index] = PerformerLocation::new(added);
        self.marks[index] = Marks::ACTIVATING;
        if let Some(population) = self.population.place_of[added.world] {
            let population = &mut self.population.by_world[population];
            population.insert(population.partition_point(|one| *one < index), index);
        }
        self.agenda.entering.push(index);
        self.cells.add(added.home, performer, true);
    }

    /// Has no more performers than the topology, whose last numbers nobody has any more.
    pub fn give_back(&mut self, topology: &Topology) {
        let count = topology.performers.len();
        self.places.truncate(count);
        self.marks.truncate(count);
        self.levels.truncate(count);
        self.ghosts.truncate(count);
        self.sight.truncate(count);
        self.neighbours.truncate(count);
    }

    /// Takes the performers of worlds with levels of which any of these is noted, or with `None`
    /// all of them, ascending; to be given back as [`Buffers::marked`].
    fn take_marked(&mut self, any: Option<Marks>) -> Vec<usize> {
        let mut marked = std::mem::take(&mut self.buffers.marked);
        marked.clear();
        match any {
            Some(any) => marks::find(&self.marks, any, &mut marked),
            None => marked.extend(0..self.marks.len()),
        }
        if self.population.by_world.len() < self.population.place_of.len() {
            let has_levels =
                |one: usize| self.population.place_of[self.places[one].world()].is_some();
            marked.retain(|performer| has_levels(*performer));
        }
        marked
    }

    /// Tells whether a performer enters its cell with the step to come.
    fn enters(&self, performer: usize) -> bool {
        !self.agenda.entering.is_empty() && self.agenda.entering.contains(&performer)
    }

    /// Notes whether joints hold a performer together with others, as the topology has it.
    pub fn note_joined(&mut self, topology: &Topology, performer: PerformerId) {
        self.rest.disturb();
        let is_joined = !topology.performer(performer).joined_to.is_empty();
        self.marks[performer.0 as usize].set(Marks::JOINED, is_joined);
    }

    /// Has performers stay in their cell with the next update: a joint that holds them together, or
    /// held them to one that leaves, goes with the step to come, and in a step performers change
    /// cell before commands are done.
    pub fn hold(&mut self, performers: &[PerformerId]) {
        self.rest.disturb();
        self.agenda
            .held
            .extend(performers.iter().map(|one| one.0 as usize));
    }

    /// Sets the simulated time per iteration \[s\].
    pub fn set_step_size(&mut self, step_size_s: f64) {
        self.rules.step_size_s = step_size_s;
        self.rest.disturb();
    }

    /// Has a model keep levels active from the next update on, as a declared performer does, with a
    /// box of these edge lengths \[m\] where they are given.
    pub fn set_performer(&mut self, performer: PerformerId, size: Option<[f64; 3]>) {
        if let Some(size) = size {
            let place = &mut self.places[performer.0 as usize];
            place.resize(size);
            self.sight.forget(performer.0 as usize, place.world());
        }
        self.agenda.requests.push(Request::Keep(performer));
    }

    /// Takes a performer out of its world with the next update: it is in no cell, and its ghosts
    /// and the levels that only it kept go.
    pub fn remove(&mut self, performer: PerformerId) {
        self.agenda.requests.push(Request::Remove(performer));
    }

    fn do_as_asked(&mut self, topology: &Topology) {
        for request in std::mem::take(&mut self.agenda.requests) {
            let (Request::Keep(performer) | Request::Remove(performer)) = request;
            let index = performer.0 as usize;
            let cell = self.places[index].cell;
            let marks = self.marks[index];
            match request {
                _ if marks.has(Marks::REMOVED) => {}
                Request::Keep(_) if marks.has(Marks::ACTIVATING) => {}
                Request::Keep(_) => {
                    self.marks[index].set(Marks::ACTIVATING, true);
                    self.cells.add_activating(cell);
                    self.be_seen(topology, performer);
                    for level in self.levels.of_performer(performer).to_vec() {
                        self.keep(topology, performer, level);
                    }
                }
                Request::Remove(_) => {
                    self.touch(topology, performer, &[]);
                    let default_cell = self.population.default_cells[self.places[index].world()];
                    for whole in [default_cell, topology.cell(cell).whole] {
                        self.hide_in_parts(topology, performer, whole);
                    }
                    self.hide(topology, performer);
                    self.cells
                        .remove(cell, performer, marks.has(Marks::ACTIVATING));
                    let place = &self.places[index];
                    self.neighbours.remove(index, place, &mut self.marks);
                    self.marks[index] = Marks::REMOVED;
                    if let Some(population) = self.population.place_of[self.places[index].world()] {
                        self.population.by_world[population].retain(|one| *one != index);
                    }
                }
            }
        }
    }

    /// Finds out which levels a performer touches, where its home is, and whether it is near
    /// others.
    fn locate(
        &mut self,
        topology: &Topology,
        iteration: Iteration,
        performer: usize,
        state: &PerformerState,
    ) {
        let marks = self.marks[performer];
        if marks.has(Marks::REMOVED) {
            return;
        }
        let is_new = std::mem::take(&mut self.places[performer].is_new);
        // What concerns a performer in a cell that stands still does so too.
        if !self.stands_still(performer, state) {
            self.glance(topology, performer, state);
        }
        let place = &self.places[performer];
        if !self.neighbours.is_in_place(performer, state) {
            self.neighbours
                .place(performer, place, state, &self.rules, &mut self.marks);
        } else if marks.has(Marks::BESIDE) && (performer as u64 ^ iteration.0).is_multiple_of(TURNS)
        {
            self.neighbours
                .look_beside(performer, place, &self.rules, &mut self.marks);
        }
        if is_new {
            let id = PerformerId(performer as u32);
            let whole = topology.cell(self.places[performer].cell).whole;
            self.show_in_parts(topology, id, whole);
            self.be_seen(topology, id);
        }
    }

    /// Tells whether a performer is in a cell that stands still and no command has put it
    /// elsewhere, and notes whom one has.
    fn stands_still(&mut self, performer: usize, state: &PerformerState) -> bool {
        if !self.population.has_level_bound {
            return false;
        }
        let is_elsewhere = self.places[performer].see(state.position);
        if !self.is_still(performer) {
            return false;
        }
        if is_elsewhere {
            self.agenda.put_elsewhere.push(performer);
        }
        !is_elsewhere
    }

    fn glance(&mut self, topology: &Topology, performer: usize, state: &PerformerState) {
        let mut glance = self.places[performer].glance(state, self.rules.step_size_s);
        if glance == Glance::Unclear {
            self.look(topology, performer, state);
            glance = self.places[performer].glance(state, self.rules.step_size_s);
        }
        let (is_near_levels, is_near_home) = match glance {
            Glance::Unclear => (true, true),
            Glance::Unchanged {
                is_near_levels,
                is_near_home,
            } => (is_near_levels, is_near_home),
        };
        self.marks[performer].set(Marks::NEAR_LEVELS, is_near_levels);
        self.marks[performer].set(Marks::NEAR_HOME, is_near_home);
    }

    /// Tells whether a performer's cell is suspended and no activating performer is in it.
    fn is_still(&self, performer: usize) -> bool {
        let cell = self.places[performer].cell;
        self.cells.is_suspended(cell) && !self.cells.has_activating(cell)
    }

    fn look(&mut self, topology: &Topology, performer: usize, state: &PerformerState) {
        let mut found = std::mem::take(&mut self.buffers.levels);
        let id = PerformerId(performer as u32);
        let place = &mut self.places[performer];
        let default_cell = self.population.default_cells[place.world()];
        let regions = Regions {
            topology,
            index: self.levels.index(),
            parts: &self.cells.parts,
            default_cell,
        };
        let touched = self.levels.of_performer(id);
        place.look(regions, &self.rules, state, touched, &mut found);
        self.marks[performer].set(Marks::AWAY, self.places[performer].is_away());
        self.touch(topology, id, &found);
        self.buffers.levels = found;
    }

    /// Returns what a performer of a world may be among.
    fn regions<'a>(&'a self, topology: &'a Topology, world: usize) -> Regions<'a> {
        Regions {
            topology,
            index: self.levels.index(),
            parts: &self.cells.parts,
            default_cell: self.population.default_cells[world],
        }
    }

    /// Has a performer touch these levels and no others.
    fn touch(&mut self, topology: &Topology, performer: PerformerId, found: &[LevelId]) {
        if self.levels.of_performer(performer) == found {
            return;
        }
        let touched = self.levels.of_performer(performer).to_vec();
        let index = performer.0 as usize;
        let cell = self.places[index].cell;
        self.levels.touch(performer, cell, found);
        if self.sight.is_on() {
            self.cells.stir(cell); // What never moves looks while its level is loaded.
        }
        if !self.marks[index].has(Marks::ACTIVATING) {
            return;
        }
        for level in found
            .iter()
            .filter(|level| touched.binary_search(level).is_err())
        {
            self.keep(topology, performer, *level);
        }
        for level in touched
            .iter()
            .filter(|level| found.binary_search(level).is_err())
        {
            if self.levels.release(*level) {
                self.stir_bound(*level);
                self.pin(topology, *level, false);
            }
            let whole = topology.level(*level).cell;
            for cell in self.cells.parts.cells(topology, whole) {
                self.cells.stir(cell);
            }
            self.show_in_parts(topology, performer, whole);
        }
    }

    /// Notes that cells may stop or go on of which performers live with a level.
    fn stir_bound(&mut self, level: LevelId) {
        for performer in &self.population.bound[level.0 as usize] {
            self.cells.stir(self.places[performer.0 as usize].cell);
        }
    }

    /// Has a performer that keeps levels active be a ghost in the default cell of its world, if
    /// something there looks at all of them and another cell owns it.
    fn be_seen(&mut self, topology: &Topology, performer: PerformerId) {
        let world = self.places[performer.0 as usize].world();
        self.show_in_parts(topology, performer, self.population.default_cells[world]);
    }

    /// Tells whether all who keep levels active are ghosts in a cell.
    fn sees_all(&self, topology: &Topology, cell: CellId) -> bool {
        topology.cell(cell).sees_all && !self.sight.is_on()
    }

    /// Has default cells in which something has begun to work be open, and see all if it looks.
    fn oversee(&mut self, topology: &Topology) {
        for world in 0..self.population.default_cells.len() {
            let cell = self.population.default_cells[world];
            if topology.cell(cell).is_permanent && !self.cells.is_open(cell) {
                self.cells.stir(cell);
            }
            if self.population.overseen[world] == self.sees_all(topology, cell) {
                continue;
            }
            self.population.overseen[world] = true;
            for performer in 0..self.places.len() {
                let marks = self.marks[performer];
                let is_there = marks.has(Marks::ACTIVATING) && !marks.has(Marks::REMOVED);
                if is_there && self.places[performer].world() == world {
                    self.be_seen(topology, PerformerId(performer as u32));
                }
            }
        }
    }

    /// Has a performer keep a level active, and be in its cells, as a ghost if need be.
    fn keep(&mut self, topology: &Topology, performer: PerformerId, level: LevelId) {
        if self.levels.keep(level) {
            self.stir_bound(level);
            self.pin(topology, level, true);
        }
        let whole = topology.level(level).cell;
        for cell in self.cells.parts.cells(topology, whole) {
            self.cells.stir(cell);
        }
        self.show_in_parts(topology, performer, whole);
    }

    fn hand_over(&mut self, topology: &Topology, iteration: Iteration, hand_off: HandOffPlan) {
        let HandOffPlan {
            performer,
            from,
            to,
        } = hand_off;
        let index = performer.0 as usize;
        self.places[index].cell = to;
        self.places[index].entered = iteration;
        self.marks[index].set(Marks::AWAY, self.places[index].is_away());
        let is_activating = self.marks[index].has(Marks::ACTIVATING);
        self.cells.remove(from, performer, is_activating);
        self.cells.add(to, performer, is_activating);
        self.levels.pass(performer, from, to);
        self.ghosts.remove(to, performer, Reason::Near);
        for whole in [from, to].map(|cell| topology.cell(cell).whole) {
            self.show_in_parts(topology, performer, whole);
        }
        let place = &self.places[index];
        self.neighbours
            .move_to_cell(index, place, &self.rules, &mut self.marks);
    }
}

/// Returns a factor from 1 to 2, another for each performer, so that performers that start and move
/// alike do not all need attention in the same iteration.
fn turn(performer: PerformerId) -> f64 {
    let turn = performer.0.wrapping_mul(2_654_435_769);
    1.0 + f64::from(turn) / f64::from(u32::MAX)
}
