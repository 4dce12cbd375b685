//! The invariants of the partition, asked one by one; for tests, which call it after every update.

use std::collections::{BTreeMap, BTreeSet};

use protocol::{CellId, LevelId, PerformerId, PerformerState};

use super::Partition;
use super::ghosts::Reason;
use super::marks::Marks;
use super::neighbours::reach_box;
use crate::topology::Topology;

impl Partition {
    /// Checks everything that must hold after an update.
    ///
    /// # Panics
    /// Panics when an invariant is broken, with a sentence that says which.
    pub fn check(&self, topology: &Topology) {
        self.cells.parts.check();
        self.check_owners(topology);
        self.check_levels(topology);
        self.check_ghosts(topology);
        self.check_seen(topology);
        for number in 0..topology.cells.len() {
            let cell = CellId(number as u32);
            let is_permanent = topology.cell(cell).is_permanent;
            let has_near = self.ghosts.for_reason(cell, Reason::Near).next().is_some();
            let is_open = is_permanent || !self.owned(cell).is_empty() || has_near;
            assert_eq!(
                self.is_open(cell),
                is_open,
                "cell {cell} is open if and only if it is permanent or someone is in it or near"
            );
            if self.is_suspended(cell) {
                assert!(
                    self.cells.may_be_suspended(topology, &self.levels, cell),
                    "suspended cell {cell} has performers, none of them activating, and neither \
                     its level nor one of theirs is active"
                );
            }
        }
    }

    /// Checks that performers that meet, or that joints hold together, are in one cell; `states`
    /// are those of the last update. It asks every pair, so it is for small worlds.
    ///
    /// # Panics
    /// Panics when two are apart of which not both are in suspended cells.
    pub fn check_groups(&self, topology: &Topology, states: &[PerformerState]) {
        let members: Vec<usize> = (0..states.len())
            .filter(|one| !self.marks[*one].has(Marks::REMOVED))
            .collect();
        let is_still = |one: usize| self.is_suspended(self.places[one].cell);
        for (index, one) in members.iter().enumerate() {
            let place = &self.places[*one];
            let bounds = reach_box(&states[*one], self.rules.interaction_margin);
            for other in &members[index + 1..] {
                let beside = &self.places[*other];
                let id = PerformerId(*other as u32);
                let meets = place.world() == beside.world()
                    && reach_box(&states[*other], self.rules.interaction_margin).touches(&bounds);
                let is_held = topology.performers[*one].joined_to.contains(&id);
                let may_be_apart = is_still(*one) && is_still(*other);
                assert!(
                    place.cell == beside.cell || may_be_apart || !(meets || is_held),
                    "performers {one} and {other} form a group, and one cell owns both"
                );
            }
        }
    }

    fn check_owners(&self, topology: &Topology) {
        let mut owners: Vec<Option<CellId>> = vec![None; topology.performers.len()];
        for number in 0..topology.cells.len() {
            let cell = CellId(number as u32);
            let owned = self.owned(cell);
            assert!(owned.is_sorted(), "performers of cell {cell} are ascending");
            for performer in owned {
                let before = owners[performer.0 as usize].replace(cell);
                assert_eq!(before, None, "performer {performer} is in one cell");
                let world = topology.performer(*performer).world;
                assert_eq!(
                    topology.cell(cell).world,
                    world,
                    "performers stay in their world"
                );
            }
        }
        for (number, (owner, place)) in owners.iter().zip(&self.places).enumerate() {
            let is_gone = self.marks[number].has(Marks::REMOVED);
            let expected = (!is_gone).then_some(place.cell);
            assert_eq!(*owner, expected, "performer {number} is in its cell");
            assert_eq!(
                self.marks[number].has(Marks::AWAY),
                !is_gone && place.is_away(),
                "performer {number} is noted as away if and only if it is"
            );
        }
    }

    fn check_levels(&self, topology: &Topology) {
        let mut loaded: BTreeMap<CellId, BTreeSet<LevelId>> = BTreeMap::new();
        let mut active: BTreeSet<LevelId> = BTreeSet::new();
        for number in 0..topology.performers.len() {
            let performer = PerformerId(number as u32);
            let touched = self.levels.of_performer(performer);
            assert!(touched.is_sorted(), "levels are in world order");
            loaded
                .entry(self.cell(performer))
                .or_default()
                .extend(touched);
            active.extend(self.levels_of(performer));
        }
        for number in 0..topology.cells.len() {
            let cell = CellId(number as u32);
            let mut expected = loaded.remove(&cell).unwrap_or_default();
            let spec = topology.cell(cell);
            let is_active = |level: &LevelId| self.is_active(*level);
            if spec.part == 0 && self.cells.parts.is_split(cell) {
                expected.extend(spec.level.filter(is_active));
            }
            assert!(
                self.loaded(cell).eq(expected),
                "cell {cell} has loaded what its performers touch"
            );
        }
        for number in 0..topology.levels.len() {
            let level = LevelId(number as u32);
            assert_eq!(
                self.is_active(level),
                active.contains(&level),
                "level {level} is active if and only if a performer keeps it so"
            );
        }
    }

    fn check_ghosts(&self, topology: &Topology) {
        let mut expected: BTreeSet<(CellId, PerformerId)> = BTreeSet::new();
        let there = self.marks.iter().zip((0..).map(PerformerId));
        let there = there.filter(|(marks, _)| !marks.has(Marks::REMOVED));
        for performer in there.map(|(_, performer)| performer) {
            let kept = self.levels_of(performer).iter().copied();
            let own = topology.cell(self.cell(performer)).whole;
            let kept = kept.map(|level| topology.level(level).cell);
            let wholes = kept.chain([own]);
            let is_there = self.marks[performer.0 as usize].has(Marks::ACTIVATING);
            let default_cell = self.population.default_cells[topology.performer(performer).world];
            let sees_all = is_there && self.sees_all(topology, default_cell);
            let wholes = wholes.chain(sees_all.then_some(default_cell));
            let cells = wholes.flat_map(|whole| self.cells.parts.cells(topology, whole));
            let others = cells.filter(|cell| *cell != self.cell(performer));
            expected.extend(others.map(|cell| (cell, performer)));
        }
        let present = (0..topology.cells.len() as u32).map(CellId);
        let present = present.flat_map(|cell| {
            self.ghosts
                .for_reason(cell, Reason::Near)
                .map(move |performer| (cell, performer))
        });
        // Who comes with the step that is to be published is no ghost in it.
        let has_come = |(_, performer): &(CellId, PerformerId)| {
            let place = self.places.get(performer.0 as usize);
            place.is_none_or(|place| !place.is_new)
        };
        let expected = expected.into_iter().filter(has_come);
        assert!(
            present.filter(has_come).eq(expected),
            "a performer is a ghost in the cells of all parts of the levels that it keeps active, \
             of where it is, and of a default cell that sees all, but its own"
        );
    }

    fn check_seen(&self, topology: &Topology) {
        for cell in (0..topology.cells.len() as u32).map(CellId) {
            let mut seen = self.ghosts.for_reason(cell, Reason::Seen);
            let is_there = |performer: PerformerId| {
                !self.marks[performer.0 as usize].has(Marks::REMOVED)
                    && topology.performer(performer).world == topology.cell(cell).world
                    && self.cell(performer) != cell
            };
            assert!(
                seen.all(is_there),
                "cell {cell} sees performers of other cells of its world"
            );
            let is_blind = self.is_suspended(cell) || !self.is_open(cell);
            let mut seen = self.ghosts.for_reason(cell, Reason::Seen);
            assert!(
                !is_blind || seen.next().is_none(),
                "cell {cell} sees nobody while it stands still"
            );
        }
    }
}
