//! [`Parts`]: parts of crowded levels, each with a cell of its own.
//!
//! A level is one cell, as is all that is in no level, and one secondary steps it. Where the world
//! says so, what more performers belong to than that is split: across, so that about half of them
//! are on each side and few are cut through, and each part again. Parts tile all of space, so that
//! every place has one; which performer belongs to which follows from positions alone, and so is
//! the same for any number of secondaries.
//!
//! An example: 300 robots drive in one level that is split above 100. At first the level is one
//! part. It is cut across x into parts 0 and 1 of 150 robots, 64 iterations later part 0 across y
//! into 0 and 2, and then part 1 into 1 and 3. Robots gather in 0 until it has 101: it is cut into
//! 0 and 4. All drive away but 20: the level is whole again.
//!
//! **Invariant:** part 0 is in use, and has its level loaded while that is active: static models
//! of the level have their systems there.
//! **Invariant:** a part that is in use has ghosts of all that moves in its level, so that sensors
//! see those whom they saw when the level was whole.

use std::collections::BTreeSet;

use protocol::{CellId, Iteration, LevelId, PerformerId, PerformerState};
use serde::{Deserialize, Serialize};

use super::ghosts::Reason;
use super::marks::Marks;
use super::{PartChange, Partition};
use crate::auto_levels;
use crate::bounds::Bounds;
use crate::topology::{PARTS_MAX, Topology};

/// Iterations from one look at how full parts are to the next.
pub(super) const REVISED_EVERY: u64 = 64;

/// The parts of all that may be split.
#[derive(Debug, Default)]
pub(super) struct Parts {
    /// Parts by the cell of the first one, ascending.
    of_cell: Vec<(CellId, CellParts)>,
    /// True if any of these has more than one part.
    is_any_split: bool,
    /// The last iteration after which they were revised.
    revised: Option<Iteration>,
    /// True if performers may have moved since.
    are_to_be_revised: bool,
}

/// The parts of a level, or of what is in none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct CellParts {
    /// Regions that tile space.
    parts: Vec<Part>,
    /// Numbers of parts that were joined to others and still own performers.
    retiring: Vec<u32>,
}

/// One part.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Part {
    number: u32,
    region: Bounds,
}

/// A change of parts.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Revision {
    /// All become one.
    Unite,
    /// A part is cut, and the new one with this number is beyond the cut.
    Split { part: u32, new: u32, cut: Cut },
    /// The cut between two parts is elsewhere.
    Shift { below: u32, above: u32, cut: Cut },
    /// Two parts become one.
    Join { kept: u32, gone: u32 },
}

/// A plane across an axis.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Cut {
    axis: usize,
    /// Coordinate of the plane \[m\].
    at: f64,
}

/// Performers that belong to parts, by the numbers of these, with their boxes \[m\].
type Members = [Vec<(usize, Bounds)>; PARTS_MAX as usize];

impl Parts {
    /// Starts with everything whole.
    pub(super) fn new(topology: &Topology) -> Self {
        let cells = topology.cells.iter().zip((0..).map(CellId));
        let split = cells.filter(|(cell, _)| cell.split.is_some());
        Self {
            of_cell: split.map(|(_, id)| (id, CellParts::whole())).collect(),
            ..Self::default()
        }
    }

    /// Tells whether performers may have moved since the parts were revised.
    pub(super) fn are_to_be_revised(&self) -> bool {
        self.are_to_be_revised
    }

    /// Tells whether anything has more than one part.
    pub(super) fn is_any_split(&self) -> bool {
        self.is_any_split
    }

    /// Tells whether what a cell is the first part of has more than that.
    pub(super) fn is_split(&self, whole: CellId) -> bool {
        self.is_any_split && self.of(whole).is_some_and(CellParts::is_split)
    }

    /// Returns the parts of what a cell is the first part of, if that may be split.
    fn of(&self, whole: CellId) -> Option<&CellParts> {
        let place = find(&self.of_cell, whole).ok()?;
        Some(&self.of_cell[place].1)
    }

    /// Returns the cells of the parts that are in use of what a cell is the first part of: that
    /// one, then the others.
    pub(super) fn cells<'t>(
        &self,
        topology: &'t Topology,
        whole: CellId,
    ) -> impl Iterator<Item = CellId> + use<'t> {
        let parts = self.of(whole).filter(|_| self.is_any_split);
        let in_use = parts.map_or(1, CellParts::in_use);
        let numbers = (0..PARTS_MAX).filter(move |number| in_use >> number & 1 == 1);
        numbers.map(move |number| topology.cell_of_part(whole, number))
    }

    /// Returns the cell of the part to which a performer belongs whose home would be `whole` if
    /// nothing were split and was `home` so far, and how far it may move before that changes
    /// \[m\]. A performer stays with its part while its box touches that.
    pub(super) fn home(
        &self,
        topology: &Topology,
        home: CellId,
        whole: CellId,
        (position, now): ([f64; 3], &Bounds),
    ) -> (CellId, f64) {
        let whole = topology.cell(whole).whole;
        let Some(parts) = self.of(whole) else {
            return (whole, f64::INFINITY);
        };
        let home = topology.cell(home);
        let present = parts.find(home.part).filter(|_| home.whole == whole);
        let part = present
            .filter(|part| part.region.touches(now))
            .unwrap_or_else(|| parts.at(position));
        let home = topology.cell_of_part(whole, part.number);
        (home, part.region.slack(now))
    }
}

impl CellParts {
    fn whole() -> Self {
        let region = Bounds::around([0.0; 3], [f64::INFINITY; 3]);
        Self {
            parts: vec![Part { number: 0, region }],
            retiring: Vec::new(),
        }
    }

    fn is_split(&self) -> bool {
        self.in_use() != 1
    }

    /// Returns a bit for the number of each part that is in use.
    fn in_use(&self) -> u32 {
        let numbers = self.parts.iter().map(|part| part.number);
        let numbers = numbers.chain(self.retiring.iter().copied());
        numbers.fold(0, |bits, number| bits | 1 << number)
    }

    fn find(&self, number: u32) -> Option<Part> {
        let mut parts = self.parts.iter().copied();
        parts.find(|part| part.number == number)
    }

    /// Returns the part at a place \[m\]; of several that meet there, and for no place, the first.
    fn at(&self, position: [f64; 3]) -> Part {
        let place = Bounds::around(position, [0.0; 3]);
        let mut parts = self.parts.iter();
        let found = parts.find(|part| part.region.touches(&place));
        *found.unwrap_or(&self.parts[0])
    }

    /// Returns what is to change, if anything is.
    fn revision(&self, split_above: usize, members: &Members) -> Option<Revision> {
        self.unite_few(split_above, members)
            .or_else(|| self.split(split_above, members))
            .or_else(|| self.shift(split_above, members))
            .or_else(|| self.join(split_above, members))
    }

    /// Unites all parts, if there are several.
    fn unite(&self) -> Option<Revision> {
        (self.parts.len() > 1).then_some(Revision::Unite)
    }

    /// Unites all parts when few belong to them together.
    fn unite_few(&self, split_above: usize, members: &Members) -> Option<Revision> {
        let sum: usize = members.iter().map(Vec::len).sum();
        self.unite().filter(|_| 2 * sum < split_above)
    }

    /// Splits the fullest part that is too full and can be cut.
    fn split(&self, split_above: usize, members: &Members) -> Option<Revision> {
        let in_use = self.in_use();
        let new = (0..PARTS_MAX).find(|number| in_use >> number & 1 == 0)?;
        let count = |part: &Part| members[part.number as usize].len();
        let full = self.parts.iter().filter(|part| count(part) > split_above);
        let cuts = full.filter_map(|part| {
            let (cut, fuller) = halves(&part.region, &[&members[part.number as usize]])?;
            let is_worth_it = fuller * 4 <= count(part) * 3;
            let order = (std::cmp::Reverse(count(part)), part.number);
            is_worth_it.then_some((order, cut))
        });
        let ((_, part), cut) = cuts.min_by_key(|(order, _)| *order)?;
        Some(Revision::Split { part, new, cut })
    }

    /// Shifts the cut between two parts of which one has more than twice what the other has, if the
    /// fuller one then has a quarter less.
    fn shift(&self, split_above: usize, members: &Members) -> Option<Revision> {
        self.pairs().find_map(|[below, above]| {
            let numbers = [below.number, above.number];
            let [one, other] = numbers.map(|number| &members[number as usize]);
            let [fuller, lesser] = [one.len().max(other.len()), one.len().min(other.len())];
            if fuller + lesser <= split_above || fuller <= 2 * lesser {
                return None;
            }
            let region = below.region.joined(&above.region);
            let (cut, fuller_then) = halves(&region, &[one, other])?;
            let [below, above] = numbers;
            let is_worth_it = fuller_then * 4 <= fuller * 3;
            is_worth_it.then_some(Revision::Shift { below, above, cut })
        })
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
            Revision::Unite => {
                let numbers = self.parts.iter().map(|part| part.number);
                self.retiring.extend(numbers.filter(|number| *number > 0));
                self.parts = Self::whole().parts;
            }
            Revision::Split { part, new, cut } => {
                let [below, above] = cut.apart(self.region(part));
                self.set_region(part, below);
                self.parts.push(Part {
                    number: new,
                    region: above,
                });
            }
            Revision::Shift { below, above, cut } => {
                let whole = self.region(below).joined(&self.region(above));
                let [lower, upper] = cut.apart(whole);
                self.set_region(below, lower);
                self.set_region(above, upper);
            }
            Revision::Join { kept, gone } => {
                let whole = self.region(kept).joined(&self.region(gone));
                self.set_region(kept, whole);
                self.parts.retain(|part| part.number != gone);
                self.retiring.push(gone);
            }
        }
    }

    fn region(&self, number: u32) -> Bounds {
        let part = self.find(number).expect("parts that change are in use");
        part.region
    }

    fn set_region(&mut self, number: u32, region: Bounds) {
        for part in self.parts.iter_mut().filter(|part| part.number == number) {
            part.region = region;
        }
    }

    /// Tells whether these can be parts: with numbers that are possible and all different, of which
    /// one is 0, and regions that do not overlap.
    fn are_sound(&self) -> bool {
        let numbers = self.parts.iter().map(|part| part.number);
        let mut numbers = numbers.chain(self.retiring.iter().copied());
        let count = self.parts.len() + self.retiring.len();
        let are_known = numbers.all(|number| number < PARTS_MAX);
        let is_box = |part: &Part| (0..3).all(|axis| part.region.min[axis] < part.region.max[axis]);
        let are_apart = |one: &Bounds, other: &Bounds| {
            (0..3).any(|axis| one.max[axis] <= other.min[axis] || other.max[axis] <= one.min[axis])
        };
        let do_not_overlap = self.parts.iter().enumerate().all(|(index, one)| {
            let others = &self.parts[index + 1..];
            others
                .iter()
                .all(|other| are_apart(&one.region, &other.region))
        });
        are_known
            && self.in_use().count_ones() as usize == count
            && self.find(0).is_some()
            && self.parts.iter().all(is_box)
            && do_not_overlap
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
    /// Tells whether members of a part may belong to others then.
    fn concerns(self, number: u32) -> bool {
        match self {
            Self::Unite => true,
            Self::Split { part, new, .. } => [part, new].contains(&number),
            Self::Shift { below, above, .. } => [below, above].contains(&number),
            Self::Join { kept, gone } => [kept, gone].contains(&number),
        }
    }
}

/// Returns where a cell is among others that are ascending, or would be.
fn find<T>(cells: &[(CellId, T)], cell: CellId) -> Result<usize, usize> {
    cells.binary_search_by_key(&cell, |(cell, _)| *cell)
}

/// Returns the axis across which two boxes touch, the first one below, that make one box together.
fn axis_between(below: &Bounds, above: &Bounds) -> Option<usize> {
    let is_equal =
        |axis: usize| below.min[axis] == above.min[axis] && below.max[axis] == above.max[axis];
    let mut differing = (0..3).filter(|axis| !is_equal(*axis));
    let axis = differing.next()?;
    (differing.next().is_none() && below.max[axis] == above.min[axis]).then_some(axis)
}

/// Returns the best cut of a region through the boxes of those members whose middles are in it, and
/// how many of all are then on the fuller side, as far as is known.
fn halves(region: &Bounds, members: &[&Vec<(usize, Bounds)>]) -> Option<(Cut, usize)> {
    let members = members.iter().copied().flatten();
    let boxes: Vec<Bounds> = members.map(|(_, bounds)| *bounds).collect();
    let middle = |bounds: &Bounds, axis: usize| f64::midpoint(bounds.min[axis], bounds.max[axis]);
    let is_inside = |bounds: &&Bounds| {
        let place = Bounds::around([0, 1, 2].map(|axis| middle(bounds, axis)), [0.0; 3]);
        region.touches(&place)
    };
    let inside: Vec<Bounds> = boxes.iter().filter(is_inside).copied().collect();
    let (axis, at) = auto_levels::halves(&inside)?;
    let below = inside.iter().filter(|bounds| middle(bounds, axis) < at);
    let below = below.count();
    let others = boxes.len() - inside.len();
    let is_between = region.min[axis] < at && at < region.max[axis];
    let fuller = below.max(inside.len() - below) + others;
    is_between.then_some((Cut { axis, at }, fuller))
}

impl Partition {
    /// Has parts follow who belongs to them, at most one change of each level at a time, and
    /// returns which came and went.
    pub(super) fn revise_parts(
        &mut self,
        topology: &Topology,
        iteration: Iteration,
        states: &[PerformerState],
    ) -> Vec<PartChange> {
        let mut changes = Vec::new();
        let parts = &mut self.cells.parts;
        if parts.of_cell.is_empty() {
            return changes;
        }
        parts.are_to_be_revised = true;
        // Commands have it all looked at several times after the same iteration.
        let is_revised = parts.revised == Some(iteration);
        if is_revised || !iteration.0.is_multiple_of(REVISED_EVERY) {
            return changes;
        }
        parts.revised = Some(iteration);
        let mut is_changed = false;
        for (whole, members) in self.members_of_parts(topology, states) {
            is_changed |= self.free_parts(topology, whole, &members);
            let split = topology.cell(whole).split.as_ref();
            let parts = self.cells.parts.of(whole);
            let is_kept_whole = !topology.cell(whole).contact.is_empty();
            let revision = parts.zip(split).and_then(|(parts, split)| {
                if is_kept_whole {
                    return parts.unite();
                }
                parts.revision(split.above as usize, &members)
            });
            if let Some(revision) = revision {
                changes.extend(self.revise_cell(topology, (whole, revision), &members, states));
                is_changed = true;
            }
        }
        let is_new = |change: &&PartChange| change.is_new;
        let new: BTreeSet<CellId> = changes.iter().filter(is_new).map(|one| one.cell).collect();
        self.show_all_in(topology, &new);
        self.cells.parts.are_to_be_revised = is_changed;
        changes
    }

    /// Returns who belongs to the parts of all that may be split and is not an inactive level.
    fn members_of_parts(
        &self,
        topology: &Topology,
        states: &[PerformerState],
    ) -> Vec<(CellId, Members)> {
        let cells = self.cells.parts.of_cell.iter().map(|(cell, _)| *cell);
        let is_active = |cell: &CellId| {
            let level = topology.cell(*cell).level;
            level.is_none_or(|level| self.levels.is_active(level))
        };
        let mut members: Vec<(CellId, Members)> = cells
            .filter(is_active)
            .map(|cell| (cell, Members::default()))
            .collect();
        for performer in self.population.by_world.iter().flatten().copied() {
            if self.marks[performer].has(Marks::REMOVED) || self.enters(performer) {
                continue;
            }
            let place = &self.places[performer];
            let home = topology.cell(place.home);
            if let Ok(found) = find(&members, home.whole) {
                let bounds = Bounds::around(states[performer].position, place.half);
                members[found].1[home.part as usize].push((performer, bounds));
            }
        }
        members
    }

    /// Frees the numbers of parts that are joined to others and that nobody belongs to or is in any
    /// more; tells whether there were any.
    fn free_parts(&mut self, topology: &Topology, whole: CellId, members: &Members) -> bool {
        let cell_of = |number: u32| topology.cell_of_part(whole, number);
        let is_empty = |number: &u32| {
            self.cells.owned(cell_of(*number)).is_empty() && members[*number as usize].is_empty()
        };
        let retiring = self.cells.parts.of(whole).map(|parts| &parts.retiring);
        let retiring = retiring.into_iter().flatten().copied();
        let freed: Vec<u32> = retiring.filter(is_empty).collect();
        if freed.is_empty() {
            return false;
        }
        for cell in freed.iter().map(|number| cell_of(*number)) {
            let ghosts: Vec<PerformerId> = self.ghosts.for_reason(cell, Reason::Near).collect();
            for performer in ghosts {
                self.ghosts.remove(cell, performer, Reason::Near);
            }
            self.cells.stir(cell);
        }
        self.change_parts(topology, whole, |parts| {
            parts.retiring.retain(|number| !freed.contains(number));
        });
        true
    }

    fn revise_cell(
        &mut self,
        topology: &Topology,
        (whole, revision): (CellId, Revision),
        members: &Members,
        states: &[PerformerState],
    ) -> Vec<PartChange> {
        let before = self.cells.parts.of(whole).cloned();
        self.change_parts(topology, whole, |parts| parts.revise(revision));
        let Some((before, parts)) = before.zip(self.cells.parts.of(whole)) else {
            return Vec::new();
        };
        for (number, members) in (0..).zip(members) {
            if !revision.concerns(number) {
                continue;
            }
            for (performer, _) in members {
                let position = states[*performer].position;
                if !position.iter().all(|coordinate| coordinate.is_finite()) {
                    continue; // Nobody knows where it is: it stays.
                }
                let place = &mut self.places[*performer];
                let part = parts.at(position);
                place.home = topology.cell_of_part(whole, part.number);
                // A look finds out how far it may move now.
                place.looked_at = [f64::NAN; 3];
                self.marks[*performer].set(Marks::AWAY, place.is_away());
            }
        }
        let changes = (0..PARTS_MAX).filter_map(|number| {
            let [was, is] = [&before, parts].map(|parts| parts.find(number).is_some());
            let cell = topology.cell_of_part(whole, number);
            (was != is).then_some(PartChange { cell, is_new: is })
        });
        changes.collect()
    }

    /// Changes parts, and has the level loaded in the first one while there are others.
    fn change_parts(
        &mut self,
        topology: &Topology,
        whole: CellId,
        change: impl FnOnce(&mut CellParts),
    ) {
        let all = &mut self.cells.parts;
        let Ok(place) = find(&all.of_cell, whole) else {
            return;
        };
        let parts = &mut all.of_cell[place].1;
        let was_split = parts.is_split();
        change(parts);
        let is_split = parts.is_split();
        all.is_any_split = all.of_cell.iter().any(|(_, parts)| parts.is_split());
        if let Some(level) = topology.cell(whole).level
            && self.levels.is_active(level)
            && was_split != is_split
        {
            self.levels.pin(whole, level, is_split);
            self.cells.stir(whole); // What never moves looks while its level is loaded.
        }
    }

    /// Has a level that was or is active be loaded in its first part while it is split.
    pub(super) fn pin(&mut self, topology: &Topology, level: LevelId, is_active: bool) {
        let whole = topology.level(level).cell;
        if self.cells.parts.is_split(whole) {
            self.levels.pin(whole, level, is_active);
        }
    }

    /// Has all whom sensors saw in what is split be ghosts in those parts of it that are new.
    fn show_all_in(&mut self, topology: &Topology, new: &BTreeSet<CellId>) {
        let wholes: BTreeSet<CellId> = new.iter().map(|cell| topology.cell(*cell).whole).collect();
        if wholes.is_empty() {
            return;
        }
        for performer in topology.present() {
            let touched = self.levels.of_performer(performer).iter();
            let mut beside: Vec<CellId> =
                touched.map(|level| topology.level(*level).cell).collect();
            let index = performer.0 as usize;
            beside.push(topology.cell(self.places[index].cell).whole);
            beside.push(self.population.default_cells[self.places[index].world()]);
            beside.retain(|cell| wholes.contains(cell));
            for whole in beside {
                self.show_in_parts(topology, performer, whole);
            }
        }
        for cell in new {
            self.cells.stir(*cell);
        }
    }

    /// Has a performer be a ghost in the parts that are in use of what a cell is the first part of,
    /// as far as it is to be one.
    pub(super) fn show_in_parts(
        &mut self,
        topology: &Topology,
        performer: PerformerId,
        whole: CellId,
    ) {
        for cell in self.cells.parts.cells(topology, whole) {
            let is_changed = if self.is_near(topology, performer, cell) {
                self.ghosts.add(cell, performer, Reason::Near)
            } else {
                self.ghosts.remove(cell, performer, Reason::Near)
            };
            if is_changed {
                self.cells.stir(cell);
            }
        }
    }

    /// Has a performer that leaves its world be a ghost in no part of what a cell is the first part
    /// of.
    pub(super) fn hide_in_parts(
        &mut self,
        topology: &Topology,
        performer: PerformerId,
        whole: CellId,
    ) {
        for cell in self.cells.parts.cells(topology, whole) {
            if self.ghosts.remove(cell, performer, Reason::Near) {
                self.cells.stir(cell);
            }
        }
    }

    /// Tells whether a performer is to be a ghost in a cell: it keeps the cell's level active, or
    /// something in no level looks at all, or it is in another part of what the cell is a part of.
    /// A host learns of one that comes with the present step too late to show it.
    pub(super) fn is_near(
        &self,
        topology: &Topology,
        performer: PerformerId,
        cell: CellId,
    ) -> bool {
        let index = performer.0 as usize;
        let own = self.places[index].cell;
        let marks = self.marks[index];
        if own == cell || marks.has(Marks::REMOVED) || self.enters(index) {
            return false;
        }
        let spec = topology.cell(cell);
        let is_kept = marks.has(Marks::ACTIVATING)
            && match spec.level {
                Some(level) => self.levels.touches(performer, level),
                None => self.sees_all(topology, spec.whole),
            };
        is_kept || topology.cell(own).whole == spec.whole
    }
}

/// Saved state of parts.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct SavedParts {
    cells: Vec<(CellId, CellParts)>,
    revised: Option<Iteration>,
    are_to_be_revised: bool,
}

impl SavedParts {
    /// Tells whether they can be the parts of a topology's cells.
    pub(super) fn fit(&self, topology: &Topology) -> bool {
        let start = Parts::new(topology);
        let cells = self.cells.iter().map(|(cell, _)| cell);
        cells.eq(start.of_cell.iter().map(|(cell, _)| cell))
            && self.cells.iter().all(|(_, parts)| parts.are_sound())
    }
}

impl Parts {
    pub(super) fn save(&self) -> SavedParts {
        SavedParts {
            cells: self.of_cell.clone(),
            revised: self.revised,
            are_to_be_revised: self.are_to_be_revised,
        }
    }

    pub(super) fn restore(saved: SavedParts) -> Self {
        Self {
            is_any_split: saved.cells.iter().any(|(_, parts)| parts.is_split()),
            of_cell: saved.cells,
            revised: saved.revised,
            are_to_be_revised: saved.are_to_be_revised,
        }
    }

    /// Checks the parts of each cell.
    ///
    /// # Panics
    /// Panics when they overlap, or their numbers are none.
    pub(super) fn check(&self) {
        for (cell, parts) in &self.of_cell {
            assert!(
                parts.are_sound(),
                "parts of cell {cell} tile space: {parts:?}"
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(parts: &[(u32, f64, f64)], retiring: &[u32]) -> CellParts {
        let everywhere = Bounds::around([0.0; 3], [f64::INFINITY; 3]);
        let part = |(number, min, max): &(u32, f64, f64)| {
            let mut region = everywhere;
            (region.min[0], region.max[0]) = (*min, *max);
            Part {
                number: *number,
                region,
            }
        };
        CellParts {
            parts: parts.iter().map(part).collect(),
            retiring: retiring.to_vec(),
        }
    }

    #[test]
    fn parts_that_cannot_be_are_not_sound() {
        let (least, most) = (f64::NEG_INFINITY, f64::INFINITY);
        let two = |number| parts(&[(0, least, 1.0), (number, 1.0, most)], &[]);
        assert!(two(1).are_sound());
        assert!(!two(0).are_sound(), "two have one number");
        assert!(!two(PARTS_MAX).are_sound(), "there is no such number");
        let without_first = parts(&[(1, least, most)], &[]);
        assert!(!without_first.are_sound());
        let overlapping = parts(&[(0, least, 1.0), (1, 0.5, most)], &[]);
        assert!(!overlapping.are_sound());
        let inverted = parts(&[(0, least, 1.0), (1, 2.0, 1.0)], &[]);
        assert!(!inverted.are_sound());
        let nowhere = parts(&[(0, f64::NAN, most)], &[]);
        assert!(!nowhere.are_sound());
        assert!(!parts(&[(0, least, most)], &[2, 2]).are_sound());
        assert!(parts(&[(0, least, most)], &[2, 5]).are_sound());
    }

    #[test]
    fn a_cut_outside_of_its_part_is_none() {
        let region = Bounds {
            min: [0.0; 3],
            max: [10.0; 3],
        };
        let at = |xs: &[f64]| -> Vec<(usize, Bounds)> {
            let boxes = xs.iter().map(|x| Bounds::around([*x, 5.0, 5.0], [1.0; 3]));
            boxes.enumerate().collect()
        };
        let (cut, fuller) = halves(&region, &[&at(&[1.0, 3.0, 6.0, 9.0])]).expect("they are apart");
        assert!(cut.axis == 0 && cut.at > 3.0 && cut.at < 6.0 && fuller == 2);
        // Those who are beyond a border count, but decide nothing.
        let (cut, fuller) = halves(&region, &[&at(&[-0.5, -0.4, -0.3, 1.0, 3.0])]).expect("two");
        assert!(
            cut.at > 1.0 && cut.at < 3.0 && fuller == 4,
            "{cut:?} {fuller}"
        );
        assert_eq!(halves(&region, &[&at(&[-0.5, -0.4, -0.3])]), None);
    }
}
