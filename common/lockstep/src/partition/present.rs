//! Queries of a [`Partition`] about the present.

use protocol::{CellId, LevelId, PerformerId};

use super::Partition;
use super::marks::Marks;
use crate::topology::Topology;

/// Of how many performers that may change cell whole states are asked for beforehand.
const WANTED_MAX: usize = 32;

impl Partition {
    /// Returns the cell that owns a performer, or owned it before it was removed.
    pub fn cell(&self, performer: PerformerId) -> CellId {
        self.places[performer.0 as usize].cell
    }

    /// Returns half the edge lengths of the box with which a performer touches levels \[m\].
    pub fn half_extents(&self, performer: PerformerId) -> [f64; 3] {
        self.places[performer.0 as usize].half
    }

    /// Returns the performers that a cell owns, ascending.
    pub fn owned(&self, cell: CellId) -> &[PerformerId] {
        self.cells.owned(cell)
    }

    /// Returns the performers of which a cell holds a ghost, ascending.
    pub fn ghosts(&self, cell: CellId) -> impl Iterator<Item = PerformerId> + '_ {
        self.ghosts.in_cell(cell)
    }

    /// Tells whether any cell has a ghost of a performer.
    pub fn has_ghost(&self, performer: PerformerId) -> bool {
        self.ghosts.has_any(performer)
    }

    /// Returns the levels that a cell has loaded, ascending.
    pub fn loaded(&self, cell: CellId) -> impl Iterator<Item = LevelId> + '_ {
        self.levels.of_cell(cell)
    }

    /// Returns the levels that a performer keeps active, ascending.
    pub fn levels_of(&self, performer: PerformerId) -> &[LevelId] {
        if self.marks[performer.0 as usize].has(Marks::ACTIVATING) {
            self.levels.of_performer(performer)
        } else {
            &[]
        }
    }

    /// Tells whether any performer keeps this level active.
    pub fn is_active(&self, level: LevelId) -> bool {
        self.levels.is_active(level)
    }

    /// Tells whether a cell has a performer or a ghost, and so needs a host.
    pub fn is_open(&self, cell: CellId) -> bool {
        self.cells.is_open(cell)
    }

    /// Tells whether a cell stands still because no performer keeps its level active.
    pub fn is_suspended(&self, cell: CellId) -> bool {
        self.cells.is_suspended(cell)
    }

    /// Returns the performers whose links' poses ghosts need after the next step, ascending.
    pub fn wanted_poses(&self) -> &[PerformerId] {
        &self.agenda.poses
    }

    /// Returns the performers that may change cell after the next step, ascending. It is a guess
    /// that saves time: whoever it misses is asked for in a step of its own.
    pub fn wanted_states(&self) -> &[PerformerId] {
        &self.agenda.states
    }

    /// Tells whether the links of a performer are to be known after the next step: it is a ghost
    /// or may soon be one. By range only those that have just moved count: who begins to move is
    /// asked in a step of its own.
    fn wants_poses(&self, performer: PerformerId, marks: Marks) -> bool {
        let is_near = marks.has(Marks::ACTIVATING) && marks.has(Marks::NEAR_LEVELS);
        let is_ghost = self.ghosts.has_any(performer);
        if self.sight.is_on() {
            return if is_ghost {
                self.sight.has_moved(performer)
            } else {
                is_near
            };
        }
        is_near || is_ghost
    }

    /// Notes what the next answers are to hold besides states, and tells whether any performer is
    /// away from home.
    pub(super) fn want(&mut self, topology: &Topology) -> bool {
        let mut is_any_away = false;
        self.agenda.poses.clear();
        self.agenda.states.clear();
        let changes = Marks::AWAY | Marks::BESIDE | Marks::GROUPED | Marks::NEAR_HOME;
        let may_be_anybody = self.sight.is_on() || self.cells.parts.is_any_split();
        let who = match (topology.watched.contains(&true), may_be_anybody) {
            (false, _) => Some(changes),
            (true, false) => Some(changes | Marks::ACTIVATING),
            // By range and in other parts, anybody can be a ghost.
            (true, true) => None,
        };
        let marked = self.take_marked(who);
        for performer in marked.iter().copied() {
            let id = PerformerId(performer as u32);
            let marks = self.marks[performer];
            // Hosts know nothing yet of one that comes with the step.
            if marks.has(Marks::REMOVED) || self.enters(performer) {
                continue;
            }
            let is_watched = topology.watched[self.places[performer].world()];
            if is_watched && self.wants_poses(id, marks) {
                self.agenda.poses.push(id);
            }
            is_any_away |= marks.has(Marks::AWAY);
            if marks.has(changes) {
                self.agenda.states.push(id);
            }
        }
        self.buffers.marked = marked;
        if self.agenda.states.len() > WANTED_MAX {
            // To fetch the few that pass takes less than to have all of them in each answer.
            self.agenda.states.clear();
        }
        is_any_away
    }
}
