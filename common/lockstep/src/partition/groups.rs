//! Groups: performers that meet, or that joints hold together, and the one cell that owns each.
//!
//! Groups matter only where cells do: the search starts at performers that are away from home and
//! at those that meet one of another cell, and floods from there. A group that comes together is
//! owned by the cell that most of it is in already; it goes home later, together, when all of it
//! have been there for a while and clearly more of it belong elsewhere.
//!
//! An example: a is in L1, its home, b and c are in L2, theirs, and touch each other. a comes so
//! near to b that they could touch in the next step. The search starts at a, since it meets one of
//! another cell, and floods to b and c. Most of the three are in L2 already, so a passes to L2.
//! They part: the search starts at a, since it is away from home, finds it alone, and once it has
//! been in L2 for the minimum stay it goes home. A pile of six in L1, of which three belong to L2,
//! stays, since three are not clearly more than three; when four of them do, all six pass,
//! since twice four is more than three times two.
//!
//! **Invariant:** after an update, all members of a group are in one cell, except that nobody
//! leaves a suspended cell without an activating performer but whom a command has put elsewhere,
//! and nobody a cell where a joint goes with the step to come.

use protocol::{CellId, Iteration, PerformerId, PerformerState};

use super::marks::Marks;
use super::{HandOffPlan, Partition};
use crate::topology::Topology;

/// Number of a group's members that belong elsewhere, to those that belong where it is, until it
/// goes there.
const CLEARLY: (usize, usize) = (3, 2);

/// Notes about a performer from which the search for its group may start.
const MAY_MATTER: Marks = Marks(Marks::AWAY.0 | Marks::BESIDE.0 | Marks::JOINED.0);

/// The cell that is to own a group, and the members that go there.
struct Verdict {
    target: CellId,
    is_waiting: bool,
    stays_in_suspended_cells: bool,
}

impl Partition {
    /// Finds the groups that matter and adds to `hand_offs` who changes cell.
    pub(super) fn find_groups(
        &mut self,
        topology: &Topology,
        iteration: Iteration,
        states: &[PerformerState],
        hand_offs: &mut Vec<HandOffPlan>,
    ) {
        self.neighbours.begin_round();
        let mut members = std::mem::take(&mut self.buffers.members);
        let marked = self.take_marked(Some(MAY_MATTER | Marks::GROUPED));
        for performer in marked.iter().copied() {
            if self.enters(performer) {
                continue;
            }
            self.marks[performer].set(Marks::GROUPED, false);
            if self.is_seed(topology, performer, states) {
                self.flood(topology, performer, states, &mut members);
                self.decide(topology, iteration, (&members, states), hand_offs);
            }
        }
        self.buffers.marked = marked;
        // Members found before their turn lost the mark again.
        for performer in self.buffers.grouped.drain(..) {
            self.marks[performer].set(Marks::GROUPED, true);
        }
        self.buffers.members = members;
        hand_offs.sort_unstable();
    }

    fn is_seed(&self, topology: &Topology, performer: usize, states: &[PerformerState]) -> bool {
        let marks = self.marks[performer];
        if !marks.has(MAY_MATTER) || marks.has(Marks::REMOVED) {
            return false;
        }
        if self.neighbours.is_seen(performer) {
            return false;
        }
        marks.has(Marks::AWAY)
            || self
                .joined_to(topology, performer)
                .any(|other| self.places[other].cell != self.places[performer].cell)
            || (marks.has(Marks::BESIDE)
                && self
                    .neighbours
                    .meets_another_cell(performer, &self.places, states, &self.rules))
    }

    pub(super) fn joined_to<'a>(
        &'a self,
        topology: &'a Topology,
        performer: usize,
    ) -> impl Iterator<Item = usize> + 'a {
        let joined_to = topology.performers[performer].joined_to.iter();
        joined_to
            .map(|other| other.0 as usize)
            .filter(|other| !self.marks[*other].has(Marks::REMOVED))
    }

    /// Fills `members` with a performer and all that it meets or is held together with, directly or
    /// by way of others.
    fn flood(
        &mut self,
        topology: &Topology,
        seed: usize,
        states: &[PerformerState],
        members: &mut Vec<usize>,
    ) {
        members.clear();
        members.push(seed);
        self.neighbours.see(seed, &self.places[seed]);
        let mut done = 0;
        while done < members.len() {
            let performer = members[done];
            done += 1;
            let first = members.len();
            self.neighbours
                .unseen_met(performer, &self.places, states, &self.rules, members);
            members.extend(self.joined_to(topology, performer));
            let mut kept = first;
            for next in first..members.len() {
                let met = members[next];
                if !self.neighbours.is_seen(met) {
                    self.neighbours.see(met, &self.places[met]);
                    members[kept] = met;
                    kept += 1;
                }
            }
            members.truncate(kept);
        }
        if members.len() > 1 {
            self.buffers.grouped.extend_from_slice(members);
        }
    }

    /// Returns the cells of those members that must stay where they are: no cell takes one over
    /// whose state is not finite.
    fn cells_of_held(&self, members: &[usize], states: &[PerformerState]) -> Vec<CellId> {
        let is_held = |one: &&usize| {
            self.agenda.held.contains(one) || self.enters(**one) || !states[**one].is_finite()
        };
        let held = members.iter().filter(is_held);
        held.map(|one| self.places[*one].cell).collect()
    }

    /// Returns the cell that is to own a group nobody of which is held by a suspended cell.
    fn cell_of_moving(
        &self,
        topology: &Topology,
        iteration: Iteration,
        members: &[usize],
    ) -> Verdict {
        let places = || members.iter().map(|member| &self.places[*member]);
        let owner = self.places[members[0]].cell;
        let is_put = |member: &usize| self.agenda.put_elsewhere.contains(member);
        if !places().all(|place| place.cell == owner) {
            // Whom a command has put here comes to those that are here.
            let here = members.iter().filter(|member| !is_put(member));
            let here: Vec<CellId> = here.map(|member| self.places[*member].cell).collect();
            let target = if here.is_empty() {
                most_frequent(topology, places().map(|place| place.cell))
            } else {
                most_frequent(topology, here.into_iter())
            };
            return Verdict {
                target,
                is_waiting: false,
                stays_in_suspended_cells: false,
            };
        }
        let stay = |entered: Iteration| iteration.0.saturating_sub(entered.0);
        let has_stayed = members.iter().any(is_put)
            || places().all(|place| stay(place.entered) >= self.rules.minimum_stay);
        let homes: Vec<CellId> = places().map(|place| place.home).collect();
        let target = most_frequent(topology, homes.iter().copied());
        Verdict {
            target,
            is_waiting: !has_stayed || !is_clear(&homes, target, owner),
            stays_in_suspended_cells: false,
        }
    }

    fn decide(
        &mut self,
        topology: &Topology,
        iteration: Iteration,
        (members, states): (&[usize], &[PerformerState]),
        hand_offs: &mut Vec<HandOffPlan>,
    ) {
        let has_activating = members
            .iter()
            .any(|member| self.marks[*member].has(Marks::ACTIVATING));
        let is_still: Vec<bool> = if self.population.has_level_bound {
            let is_still = |member: &usize| {
                let cell = self.places[*member].cell;
                self.cells.is_still(topology, &self.levels, cell)
                    && !self.agenda.put_elsewhere.contains(member)
            };
            members.iter().map(is_still).collect()
        } else {
            Vec::new()
        };
        let some_still = is_still.contains(&true);
        if has_activating && some_still {
            for (member, is_still) in members.iter().zip(&is_still) {
                if *is_still {
                    self.cells.wake(self.places[*member].cell);
                }
            }
        }
        let verdict = if some_still && !has_activating {
            let still = members.iter().zip(&is_still).filter(|(_, still)| **still);
            Verdict {
                target: most_frequent(topology, still.map(|(member, _)| self.places[*member].cell)),
                is_waiting: false,
                stays_in_suspended_cells: true,
            }
        } else {
            self.cell_of_moving(topology, iteration, members)
        };
        if verdict.is_waiting {
            return;
        }
        let held = self.cells_of_held(members, states);
        let target = if held.is_empty() {
            verdict.target
        } else {
            most_frequent(topology, held.iter().copied())
        };
        for (index, member) in members.iter().enumerate() {
            let from = self.places[*member].cell;
            if held.contains(&from) {
                continue;
            }
            let stays = verdict.stays_in_suspended_cells && is_still[index];
            if from != target && !stays {
                hand_offs.push(HandOffPlan {
                    performer: PerformerId(*member as u32),
                    from,
                    to: target,
                });
            }
        }
    }
}

/// Tells whether clearly more of a group belong to one cell than to the one that owns it.
fn is_clear(homes: &[CellId], target: CellId, owner: CellId) -> bool {
    let count = |cell| homes.iter().filter(|home| **home == cell).count();
    let (there, here) = (count(target), count(owner));
    there * CLEARLY.1 > here * CLEARLY.0
}

/// Returns the cell that comes most often; of several the one of the lowest level, and a default
/// cell last.
fn most_frequent(topology: &Topology, cells: impl Iterator<Item = CellId>) -> CellId {
    let mut cells: Vec<(bool, CellId)> = cells
        .map(|cell| (topology.cell(cell).level.is_none(), cell))
        .collect();
    cells.sort_unstable();
    let runs = cells.chunk_by(|one, other| one == other);
    let best = runs.reduce(|best, run| if run.len() > best.len() { run } else { best });
    best.expect("a group has members")[0].1
}
