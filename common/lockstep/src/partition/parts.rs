//! [`Parts`]: parts of crowded levels, each with a cell of its own.
//!
//! A level is one cell, and one secondary steps it. Where its world says so, a level to which more
//! performers belong than that is split: across, so that about half of them are on each side and
//! few are cut through, and each part again. Parts tile all of space, so that every place has one;
//! which performer belongs to which follows from positions alone, and so is the same for any number
//! of secondaries.
//!
//! An example: 300 robots drive in one level that is split above 100. At first the level is one
//! part. It is cut across x into parts 0 and 1 of 150 robots, 64 iterations later part 0 across y
//! into 0 and 2, and then part 1 into 1 and 3. Robots gather in 0 until it has 101: it is cut into
//! 0 and 4. All drive away but 20, all of them in 0: the others are joined to what is beside them,
//! two at a time, until one part is left.
//!
//! **Invariant:** part 0 is in use, since static models of the level have their systems there.
//! **Invariant:** a part that is in use has ghosts of all that its level has, so that sensors see
//! what they saw when the level was whole.

use std::collections::BTreeMap;

use protocol::{CellId, Iteration, LevelId, PerformerId, PerformerState};
use serde::{Deserialize, Serialize};

use super::ghosts::Reason;
use super::marks::Marks;
use super::{PartChange, Partition};
use crate::auto_levels;
use crate::bounds::Bounds;
use crate::topology::{LevelSpec, PARTS_MAX, Topology};

/// Iterations from one look at how full parts are to the next.
pub(super) const REVISED_EVERY: u64 = 64;

/// The parts of all levels that may be split.
#[derive(Debug, Default)]
pub(super) struct Parts {
    of_level: BTreeMap<LevelId, LevelParts>,
    /// True if performers may have moved since the parts were revised.
    are_to_be_revised: bool,
}

/// The parts of one level.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct LevelParts {
    /// Regions that tile space.
    parts: Vec<Part>,
    /// Numbers of parts that were joined to others and still own performers.
    retiring: Vec<u32>,
}

/// One part of a level.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Part {
    number: u32,
    region: Bounds,
}

/// A change of a level's parts.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Revision {
    /// A part is cut, and the new one with this number is beyond the cut.
    Split { part: u32, new: u32, cut: Cut },
    /// The cut between two parts is elsewhere.
    Shift { below: u32, above: u32, cut: Cut },
    /// Two parts become one.
    Join { kept: u32, gone: u32 },
    /// Two parts change numbers.
    Exchange { one: u32, other: u32 },
}

/// A plane across an axis.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Cut {
    axis: usize,
    /// Coordinate of the plane \[m\].
    at: f64,
}

/// Performers that belong to the parts of a level, by the numbers of these, with their boxes.
type Members = [Vec<(usize, Bounds)>; PARTS_MAX as usize];

impl Parts {
    /// Starts with each level whole.
    pub(super) fn new(topology: &Topology) -> Self {
        let levels = topology.levels.iter().zip((0..).map(LevelId));
        let split = levels.filter(|(level, _)| level.split_above.is_some());
        Self {
            of_level: split.map(|(_, id)| (id, LevelParts::whole())).collect(),
            are_to_be_revised: false,
        }
    }

    /// Tells whether performers may have moved since the parts were revised.
    pub(super) fn are_to_be_revised(&self) -> bool {
        self.are_to_be_revised
    }

    /// Tells whether a level has more than one part.
    pub(super) fn is_split(&self, level: LevelId) -> bool {
        let parts = self.of_level.get(&level);
        parts.is_some_and(|parts| parts.in_use() != 1)
    }

    /// Tells whether any level has more than one part.
    pub(super) fn are_any_split(&self) -> bool {
        self.of_level.keys().any(|level| self.is_split(*level))
    }

    /// Returns the cells of a level's parts that are in use, of which the first is the level's own.
    pub(super) fn cells<'t>(
        &self,
        topology: &'t Topology,
        level: LevelId,
    ) -> impl Iterator<Item = CellId> + use<'t> {
        let in_use = self.of_level.get(&level).map_or(1, LevelParts::in_use);
        let level = topology.level(level);
        let numbers = (0..PARTS_MAX).filter(move |number| in_use >> number & 1 == 1);
        numbers.map(|number| level.cell_of_part(number))
    }

    /// Returns the cell of the part to which a performer belongs whose home would be `whole` if its
    /// level were whole, and how far it may move before that changes \[m\]. A performer stays with
    /// its part while its box touches that.
    pub(super) fn home(
        &self,
        topology: &Topology,
        whole: CellId,
        position: [f64; 3],
        now: &Bounds,
    ) -> (CellId, f64) {
        let cell = topology.cell(whole);
        let Some((level, parts)) = cell
            .level
            .and_then(|id| Some((id, self.of_level.get(&id)?)))
        else {
            return (whole, f64::INFINITY);
        };
        let present = parts.find(cell.part);
        let part = present
            .filter(|part| part.region.touches(now))
            .unwrap_or_else(|| parts.at(position));
        let home = topology.level(level).cell_of_part(part.number);
        (home, part.region.slack(now))
    }
}

impl LevelParts {
    fn whole() -> Self {
        let region = Bounds::around([0.0; 3], [f64::INFINITY; 3]);
        Self {
            parts: vec![Part { number: 0, region }],
            retiring: Vec::new(),
        }
    }

    /// Returns a bit for the number of each part that is in use.
    fn in_use(&self) -> u32 {
        let numbers = self.parts.iter().map(|part| part.number);
        let numbers = numbers.chain(self.retiring.iter().copied());
        numbers.fold(0, |bits, number| bits | 1 << number)
    }

    fn find(&self, number: u32) -> Option<Part> {
        self.parts
            .iter()
            .copied()
            .find(|part| part.number == number)
    }

    /// Returns the part at a place \[m\]; of several that meet there the first.
    fn at(&self, position: [f64; 3]) -> Part {
        let place = Bounds::around(position, [0.0; 3]);
        let mut parts = self.parts.iter();
        let found = parts.find(|part| part.region.touches(&place));
        *found.unwrap_or(&self.parts[0])
    }

    /// Returns what is to change, if anything is.
    fn revision(&self, split_above: usize, members: &Members) -> Option<Revision> {
        self.split(split_above, members)
            .or_else(|| self.shift(split_above, members))
            .or_else(|| self.join(split_above, members))
            .or_else(|| self.exchange(members))
    }

    /// Splits the fullest part that is too full and can be cut.
    fn split(&self, split_above: usize, members: &Members) -> Option<Revision> {
        let in_use = self.in_use();
        let new = (0..PARTS_MAX).find(|number| in_use >> number & 1 == 0)?;
        let count = |part: u32| members[part as usize].len();
        let numbers = self.parts.iter().map(|part| part.number);
        let mut full: Vec<u32> = numbers.filter(|part| count(*part) > split_above).collect();
        full.sort_by_key(|part| (std::cmp::Reverse(count(*part)), *part));
        full.into_iter().find_map(|part| {
            let (cut, fuller) = halves(&[&members[part as usize]])?;
            let is_worth_it = fuller * 4 <= count(part) * 3;
            is_worth_it.then_some(Revision::Split { part, new, cut })
        })
    }

    /// Shifts the cut between two parts of which one has more than twice what the other has, if the
    /// fuller one then has a quarter less.
    fn shift(&self, split_above: usize, members: &Members) -> Option<Revision> {
        let [below, above] = self.pairs().find(|[below, above]| {
            let counts = [below, above].map(|part| members[part.number as usize].len());
            let [fuller, other] = [counts[0].max(counts[1]), counts[0].min(counts[1])];
            fuller + other > split_above && fuller > 2 * other
        })?;
        let numbers = [below.number, above.number];
        let [one, other] = numbers.map(|number| &members[number as usize]);
        let (cut, fuller) = halves(&[one, other])?;
        let is_worth_it = fuller * 4 <= one.len().max(other.len()) * 3;
        let [below, above] = numbers;
        is_worth_it.then_some(Revision::Shift { below, above, cut })
    }

    /// Joins the two parts that have the fewest performers together, if these are few.
    fn join(&self, split_above: usize, members: &Members) -> Option<Revision> {
        let joined = self.pairs().filter_map(|pair| {
            let numbers = pair.map(|part| part.number);
            let counts = numbers.map(|number| members[number as usize].len());
            let sum = counts[0] + counts[1];
            let is_one_empty = counts.contains(&0) && sum <= split_above;
            let [kept, gone] = [numbers[0].min(numbers[1]), numbers[0].max(numbers[1])];
            (2 * sum < split_above || is_one_empty).then_some((sum, kept, gone))
        });
        let (_, kept, gone) = joined.min()?;
        Some(Revision::Join { kept, gone })
    }

    /// Gives number 0 to the fullest part when nobody belongs to the part that has it.
    fn exchange(&self, members: &Members) -> Option<Revision> {
        let count = |part: &Part| members[part.number as usize].len();
        let fullest = self.parts.iter().min_by_key(|part| {
            let count = count(part);
            (std::cmp::Reverse(count), part.number)
        })?;
        let is_empty = members[0].is_empty() && !members[fullest.number as usize].is_empty();
        is_empty.then_some(Revision::Exchange {
            one: 0,
            other: fullest.number,
        })
    }

    /// Returns the pairs of parts that make a box together, each with the lower one first.
    fn pairs(&self) -> impl Iterator<Item = [Part; 2]> + '_ {
        let pairs = self
            .parts
            .iter()
            .flat_map(|one| self.parts.iter().map(|other| [*one, *other]));
        pairs.filter(|[below, above]| axis_between(&below.region, &above.region).is_some())
    }

    fn revise(&mut self, revision: Revision) {
        match revision {
            Revision::Split { part, new, cut } => {
                let whole = self.find(part).expect("a part that is split is in use");
                let [below, above] = cut.apart(whole.region);
                self.region_of(part, below);
                self.parts.push(Part {
                    number: new,
                    region: above,
                });
            }
            Revision::Shift { below, above, cut } => {
                let regions = [below, above].map(|part| {
                    let part = self.find(part).expect("parts that are shifted are in use");
                    part.region
                });
                let [lower, upper] = cut.apart(regions[0].joined(&regions[1]));
                self.region_of(below, lower);
                self.region_of(above, upper);
            }
            Revision::Join { kept, gone } => {
                let regions = [kept, gone].map(|part| {
                    let part = self.find(part).expect("parts that are joined are in use");
                    part.region
                });
                self.region_of(kept, regions[0].joined(&regions[1]));
                self.parts.retain(|part| part.number != gone);
                self.retiring.push(gone);
            }
            Revision::Exchange { one, other } => {
                for part in &mut self.parts {
                    if part.number == one {
                        part.number = other;
                    } else if part.number == other {
                        part.number = one;
                    }
                }
            }
        }
    }

    fn region_of(&mut self, number: u32, region: Bounds) {
        for part in self.parts.iter_mut().filter(|part| part.number == number) {
            part.region = region;
        }
    }

    /// Tells whether these can be the parts of a level.
    fn are_sound(&self) -> bool {
        let numbers = self.parts.iter().map(|part| part.number);
        let mut numbers: Vec<u32> = numbers.chain(self.retiring.iter().copied()).collect();
        numbers.sort_unstable();
        let are_known = numbers.iter().all(|number| *number < PARTS_MAX);
        let is_box = |part: &Part| (0..3).all(|axis| part.region.min[axis] < part.region.max[axis]);
        are_known
            && numbers.windows(2).all(|pair| pair[0] < pair[1])
            && self.find(0).is_some()
            && self.parts.iter().all(is_box)
    }
}

impl Cut {
    /// Returns the two sides of a box, the lower one first.
    fn apart(self, whole: Bounds) -> [Bounds; 2] {
        let mut sides = [whole; 2];
        sides[0].max[self.axis] = self.at;
        sides[1].min[self.axis] = self.at;
        sides
    }
}

impl Revision {
    /// Returns which part of a level comes or goes, if one does.
    fn change(self, level: &LevelSpec) -> Option<PartChange> {
        let (part, is_new) = match self {
            Self::Split { new, .. } => (new, true),
            Self::Join { gone, .. } => (gone, false),
            Self::Shift { .. } | Self::Exchange { .. } => return None,
        };
        let cell = level.cell_of_part(part);
        Some(PartChange { cell, is_new })
    }

    /// Returns the parts whose members may belong to others then.
    fn concerned(self) -> [u32; 2] {
        match self {
            Self::Split { part, new, .. } => [part, new],
            Self::Shift { below, above, .. } => [below, above],
            Self::Join { kept, gone } => [kept, gone],
            Self::Exchange { one, other } => [one, other],
        }
    }
}

/// Returns the axis across which two boxes touch, the first one below, that make one box together.
fn axis_between(below: &Bounds, above: &Bounds) -> Option<usize> {
    let is_equal =
        |axis: usize| below.min[axis] == above.min[axis] && below.max[axis] == above.max[axis];
    let mut differing = (0..3).filter(|axis| !is_equal(*axis));
    let axis = differing.next()?;
    (differing.next().is_none() && below.max[axis] == above.min[axis]).then_some(axis)
}

/// Returns the best cut through the boxes of some performers, and how many it leaves on the fuller
/// side.
fn halves(members: &[&Vec<(usize, Bounds)>]) -> Option<(Cut, usize)> {
    let members = members.iter().copied().flatten();
    let boxes: Vec<Bounds> = members.map(|(_, bounds)| *bounds).collect();
    let (axis, at) = auto_levels::halves(&boxes)?;
    let is_below = |bounds: &&Bounds| f64::midpoint(bounds.min[axis], bounds.max[axis]) < at;
    let below = boxes.iter().filter(is_below).count();
    Some((Cut { axis, at }, below.max(boxes.len() - below)))
}

impl Partition {
    /// Has the parts of levels follow who belongs to them, at most one change of each level at a
    /// time, and returns which came and went.
    pub(super) fn revise_parts(
        &mut self,
        topology: &Topology,
        iteration: Iteration,
        states: &[PerformerState],
    ) -> Vec<PartChange> {
        let mut changes = Vec::new();
        if self.cells.parts.of_level.is_empty() {
            return changes;
        }
        self.cells.parts.are_to_be_revised = true;
        if !iteration.0.is_multiple_of(REVISED_EVERY) {
            return changes;
        }
        let mut is_changed = false;
        for (level, members) in self.members_of_parts(topology, states) {
            is_changed |= self.free_parts(topology, level);
            let Some(split_above) = topology.level(level).split_above else {
                continue;
            };
            let parts = &self.cells.parts.of_level[&level];
            if let Some(revision) = parts.revision(split_above as usize, &members) {
                self.revise_level(topology, level, revision, &members, states);
                changes.extend(revision.change(topology.level(level)));
                is_changed = true;
            }
        }
        self.cells.parts.are_to_be_revised = is_changed;
        changes
    }

    /// Returns who belongs to the parts of each active level that may be split.
    fn members_of_parts(
        &self,
        topology: &Topology,
        states: &[PerformerState],
    ) -> BTreeMap<LevelId, Members> {
        let levels = self.cells.parts.of_level.keys();
        let active = levels.filter(|level| self.levels.is_active(**level));
        let mut members: BTreeMap<LevelId, Members> =
            active.map(|level| (*level, Members::default())).collect();
        for performer in self.population.by_world.iter().flatten().copied() {
            let place = &self.places[performer];
            let home = topology.cell(place.home);
            let position = states[performer].position;
            let is_there = !self.marks[performer].has(Marks::REMOVED)
                && position.iter().all(|coordinate| coordinate.is_finite());
            if let Some(level) = home.level.filter(|_| is_there)
                && let Some(members) = members.get_mut(&level)
            {
                let bounds = Bounds::around(position, place.half);
                members[home.part as usize].push((performer, bounds));
            }
        }
        members
    }

    /// Frees the numbers of parts that are joined to others and own nobody any more; tells whether
    /// there were any.
    fn free_parts(&mut self, topology: &Topology, level: LevelId) -> bool {
        let cell_of = |number: u32| topology.level(level).cell_of_part(number);
        let is_empty = |number: &u32| self.cells.owned(cell_of(*number)).is_empty();
        let retiring = self.cells.parts.of_level[&level].retiring.iter().copied();
        let freed: Vec<u32> = retiring.filter(is_empty).collect();
        if let Some(parts) = self.cells.parts.of_level.get_mut(&level) {
            parts.retiring.retain(|number| !freed.contains(number));
        }
        for cell in freed.iter().map(|number| cell_of(*number)) {
            let ghosts: Vec<PerformerId> = self.ghosts.for_reason(cell, Reason::Near).collect();
            for performer in ghosts {
                self.ghosts.remove(cell, performer, Reason::Near);
            }
            self.cells.stir(cell);
        }
        !freed.is_empty()
    }

    fn revise_level(
        &mut self,
        topology: &Topology,
        level: LevelId,
        revision: Revision,
        members: &Members,
        states: &[PerformerState],
    ) {
        let spec = topology.level(level);
        let parts = self
            .cells
            .parts
            .of_level
            .get_mut(&level)
            .expect("the parts of a level that is revised are known");
        parts.revise(revision);
        for number in revision.concerned() {
            for (performer, _) in &members[number as usize] {
                let place = &mut self.places[*performer];
                let part = parts.at(states[*performer].position);
                place.home = spec.cell_of_part(part.number);
                // A look finds out how far it may move now.
                place.looked_at = [f64::NAN; 3];
                self.marks[*performer].set(Marks::AWAY, place.is_away());
            }
        }
        if let Revision::Split { new, .. } = revision {
            self.show_level_in(topology, level, spec.cell_of_part(new));
        }
    }

    /// Has all whom sensors saw in a level be ghosts in a part of it that is new.
    fn show_level_in(&mut self, topology: &Topology, level: LevelId, cell: CellId) {
        for performer in topology.present() {
            self.show_in_parts(topology, performer, level);
        }
        self.cells.stir(cell);
    }

    /// Has a performer be a ghost in the parts of a level of which it is to be one, and in no
    /// others.
    pub(super) fn show_in_parts(
        &mut self,
        topology: &Topology,
        performer: PerformerId,
        level: LevelId,
    ) {
        for cell in self.cells.parts.cells(topology, level) {
            if self.is_near(topology, performer, level, cell) {
                self.ghosts.add(cell, performer, Reason::Near);
            } else {
                self.ghosts.remove(cell, performer, Reason::Near);
            }
        }
    }

    /// Has a performer that leaves its world be a ghost in no part of the level of its cell.
    pub(super) fn hide_in_parts(&mut self, topology: &Topology, performer: PerformerId) {
        let cell = self.places[performer.0 as usize].cell;
        if let Some(level) = topology.cell(cell).level {
            for cell in self.cells.parts.cells(topology, level) {
                self.ghosts.remove(cell, performer, Reason::Near);
            }
        }
    }

    /// Tells whether a performer is to be a ghost in a part of a level: it keeps the level active,
    /// or is in another of its parts.
    pub(super) fn is_near(
        &self,
        topology: &Topology,
        performer: PerformerId,
        level: LevelId,
        cell: CellId,
    ) -> bool {
        let index = performer.0 as usize;
        let own = self.places[index].cell;
        let marks = self.marks[index];
        let keeps = marks.has(Marks::ACTIVATING) && self.levels.touches(performer, level);
        let is_in_level = topology.cell(own).level == Some(level);
        own != cell && !marks.has(Marks::REMOVED) && (keeps || is_in_level)
    }
}

/// Saved state of parts.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct SavedParts {
    levels: Vec<(LevelId, LevelParts)>,
    are_to_be_revised: bool,
}

impl SavedParts {
    /// Tells whether they can be the parts of a topology's levels.
    pub(super) fn fit(&self, topology: &Topology) -> bool {
        let start = Parts::new(topology);
        let levels = self.levels.iter().map(|(level, _)| level);
        levels.eq(start.of_level.keys()) && self.levels.iter().all(|(_, parts)| parts.are_sound())
    }
}

impl Parts {
    pub(super) fn save(&self) -> SavedParts {
        let levels = self.of_level.iter();
        SavedParts {
            levels: levels
                .map(|(level, parts)| (*level, parts.clone()))
                .collect(),
            are_to_be_revised: self.are_to_be_revised,
        }
    }

    pub(super) fn restore(saved: SavedParts) -> Self {
        Self {
            of_level: saved.levels.into_iter().collect(),
            are_to_be_revised: saved.are_to_be_revised,
        }
    }
}
