//! Neighbours: performers near each other. One tree per world holds boxes that are a little wider
//! than performers reach, so that few of them change with an iteration.
//!
//! Only performers that may meet one of another cell are marked [`Marks::BESIDE`]; all others cost
//! a comparison. A mark too many costs time alone.

use std::cell::Cell;
use std::ops::ControlFlow;

use protocol::{CellId, PerformerState};

use super::location::PerformerLocation;
use super::marks::Marks;
use super::{Rules, turn};
use crate::bounds::Bounds;
use crate::box_tree::{BoxTree, Leaf};

/// Least and greatest width added to boxes \[m\], at most twice that by their turn, and number of
/// steps of motion that it is for.
const WIDER: (f32, f32, f32) = (0.1, 1.0, 16.0);
/// A box that holds performers without collisions alone.
const NOWHERE: [[f32; 3]; 2] = protocol::NO_REACH;

/// The performers of all worlds by where they are.
#[derive(Debug)]
pub(super) struct Neighbours {
    /// One tree per world; labels are cells, marks are [`Marks::BESIDE`].
    trees: Vec<BoxTree>,
    leaves: Vec<Option<Leaf>>,
    /// The box that each performer may reach before its leaf must change \[m\].
    allowed: Vec<[[f32; 3]; 2]>,
    /// The round in which each performer was last seen.
    seen: Vec<u32>,
    round: u32,
    beside: Vec<(Leaf, u32)>,
}

impl Neighbours {
    pub(super) fn new(worlds: usize, performers: usize) -> Self {
        Self {
            trees: (0..worlds).map(|_| BoxTree::new()).collect(),
            leaves: vec![None; performers],
            allowed: vec![NOWHERE; performers],
            seen: vec![0; performers],
            round: 0,
            beside: Vec::new(),
        }
    }

    /// Returns the box that a performer may reach before its leaf must change, if it has one \[m\].
    pub(super) fn allowed(&self, performer: usize) -> Option<[[f32; 3]; 2]> {
        self.leaves[performer].map(|_| self.allowed[performer])
    }

    /// Puts a performer back where it was allowed to reach.
    pub(super) fn put_back(
        &mut self,
        performer: usize,
        location: &PerformerLocation,
        allowed: [[f32; 3]; 2],
        rules: &Rules,
        is_beside: bool,
    ) {
        let bounds = Bounds::from(allowed).inflated(2.0 * rules.interaction_margin);
        let tree = &mut self.trees[location.world()];
        let leaf = tree.insert(performer as u32, &bounds, location.cell.0);
        tree.set_mark(leaf, is_beside);
        self.leaves[performer] = Some(leaf);
        self.allowed[performer] = allowed;
    }

    /// Makes room for one more performer.
    pub(super) fn grow(&mut self) {
        self.leaves.push(None);
        self.allowed.push(NOWHERE);
        self.seen.push(0);
    }

    /// Has no more performers than so many.
    pub(super) fn truncate(&mut self, performers: usize) {
        self.leaves.truncate(performers);
        self.allowed.truncate(performers);
        self.seen.truncate(performers);
    }

    /// Tells whether a performer still is where its leaf says.
    pub(super) fn is_in_place(&self, performer: usize, state: &PerformerState) -> bool {
        let [least, most] = &self.allowed[performer];
        let [low, high] = &state.reach;
        (0..3).all(|axis| low[axis] >= least[axis] && high[axis] <= most[axis])
    }

    /// Puts a performer where it is now.
    pub(super) fn place(
        &mut self,
        performer: usize,
        location: &PerformerLocation,
        state: &PerformerState,
        rules: &Rules,
        marks: &mut [Marks],
    ) {
        self.remove(performer, location, marks);
        if !is_somewhere(state) {
            return;
        }
        let [low, high] = state.reach;
        let (least, most, steps) = WIDER;
        let speed = state.linear_velocity.map(f64::abs);
        let speed = speed.into_iter().fold(0.0, f64::max);
        let wider = (steps * (speed * rules.step_size_s) as f32).clamp(least, most);
        let wider = wider * turn(state.performer) as f32;
        let allowed = [low.map(|low| low - wider), high.map(|high| high + wider)];
        let bounds = Bounds::from(allowed).inflated(2.0 * rules.interaction_margin);
        let tree = &mut self.trees[location.world()];
        self.leaves[performer] = Some(tree.insert(performer as u32, &bounds, location.cell.0));
        self.allowed[performer] = allowed;
        self.look_beside(performer, location, rules, marks);
    }

    /// Takes a performer out.
    pub(super) fn remove(
        &mut self,
        performer: usize,
        location: &PerformerLocation,
        marks: &mut [Marks],
    ) {
        if let Some(leaf) = self.leaves[performer].take() {
            self.trees[location.world()].remove(leaf);
        }
        self.allowed[performer] = NOWHERE;
        marks[performer].set(Marks::BESIDE, false);
    }

    /// Notes that a performer has changed cell.
    pub(super) fn move_to_cell(
        &mut self,
        performer: usize,
        location: &PerformerLocation,
        rules: &Rules,
        marks: &mut [Marks],
    ) {
        if let Some(leaf) = self.leaves[performer] {
            self.trees[location.world()].set_label(leaf, location.cell.0);
            self.look_beside(performer, location, rules, marks);
        }
    }

    /// Marks a performer if one of another cell is near, and those then too.
    pub(super) fn look_beside(
        &mut self,
        performer: usize,
        location: &PerformerLocation,
        rules: &Rules,
        marks: &mut [Marks],
    ) {
        let Some(leaf) = self.leaves[performer] else {
            return;
        };
        let tree = &mut self.trees[location.world()];
        let allowed = Bounds::from(self.allowed[performer]);
        let bounds = allowed.inflated(2.0 * rules.interaction_margin);
        let own = location.cell.0;
        let is_beside = Cell::new(false);
        self.beside.clear();
        tree.visit(
            &bounds,
            |below| {
                let is_known = is_beside.get() && below.all_are_marked();
                !is_known && !below.all_have_label(own)
            },
            |leaf, other| {
                is_beside.set(true);
                self.beside.push((leaf, other));
                ControlFlow::Continue(())
            },
        );
        tree.set_mark(leaf, is_beside.get());
        marks[performer].set(Marks::BESIDE, is_beside.get());
        for (leaf, other) in self.beside.drain(..) {
            tree.set_mark(leaf, true);
            marks[other as usize].set(Marks::BESIDE, true);
        }
    }

    /// Begins a round in which no performer has been seen.
    pub(super) fn begin_round(&mut self) {
        self.round = self.round.wrapping_add(1).max(1);
    }

    /// Tells whether a performer has been seen in this round.
    pub(super) fn is_seen(&self, performer: usize) -> bool {
        self.seen[performer] == self.round
    }

    /// Notes that a performer has been seen in this round.
    pub(super) fn see(&mut self, performer: usize, location: &PerformerLocation) {
        self.seen[performer] = self.round;
        if let Some(leaf) = self.leaves[performer] {
            self.trees[location.world()].set_seen(leaf, self.round);
        }
    }

    /// Tells whether a performer meets one of another cell.
    pub(super) fn meets_another_cell(
        &self,
        performer: usize,
        places: &[PerformerLocation],
        states: &[PerformerState],
        rules: &Rules,
    ) -> bool {
        let location = &places[performer];
        let own: CellId = location.cell;
        let bounds = reach_box(&states[performer], rules.interaction_margin);
        let mut meets = false;
        self.trees[location.world()].visit(
            &bounds,
            |below| !below.all_have_label(own.0),
            |_, other| {
                meets = meet([performer, other as usize], places, states, rules);
                if meets {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                }
            },
        );
        meets
    }

    /// Adds to `met` those that a performer meets and that have not been seen in this round.
    pub(super) fn unseen_met(
        &self,
        performer: usize,
        places: &[PerformerLocation],
        states: &[PerformerState],
        rules: &Rules,
        met: &mut Vec<usize>,
    ) {
        let location = &places[performer];
        let margin = margin_within(location, rules);
        let bounds = reach_box(&states[performer], margin);
        self.trees[location.world()].visit(
            &bounds,
            |below| !below.all_are_seen(self.round),
            |_, other| {
                let other = other as usize;
                if meet([performer, other], places, states, rules) {
                    met.push(other);
                }
                ControlFlow::Continue(())
            },
        );
    }

    /// Returns those that a performer meets, without itself.
    pub(super) fn met(
        &self,
        performer: usize,
        places: &[PerformerLocation],
        states: &[PerformerState],
        rules: &Rules,
    ) -> Vec<usize> {
        let location = &places[performer];
        let bounds = reach_box(&states[performer], margin_within(location, rules));
        let mut met = Vec::new();
        self.trees[location.world()].visit(
            &bounds,
            |_| true,
            |_, other| {
                let other = other as usize;
                if other != performer && meet([performer, other], places, states, rules) {
                    met.push(other);
                }
                ControlFlow::Continue(())
            },
        );
        met
    }
}

/// Tells whether two performers meet: by where they may reach and the interaction margin. Within a
/// cell that is wider, so that groups do not come and go; to those of another cell it is not, since
/// it would be wider for who has just come from there, and bring it back at once.
fn meet(
    ends: [usize; 2],
    places: &[PerformerLocation],
    states: &[PerformerState],
    rules: &Rules,
) -> bool {
    let are_in_one = places[ends[0]].cell == places[ends[1]].cell;
    let [one, other] = ends.map(|end| {
        let margin = if are_in_one {
            margin_within(&places[end], rules)
        } else {
            rules.interaction_margin
        };
        reach_box(&states[end], margin)
    });
    one.touches(&other)
}

/// Returns the margin with which a performer meets those of its cell \[m\]: twice the interaction
/// margin when it is away from home.
fn margin_within(location: &PerformerLocation, rules: &Rules) -> f64 {
    let times = if location.is_away() { 2.0 } else { 1.0 };
    times * rules.interaction_margin
}

/// Returns where a performer may reach and a margin; nowhere if it has no collisions or nothing is
/// known about where they are.
pub(super) fn reach_box(state: &PerformerState, margin: f64) -> Bounds {
    if is_somewhere(state) {
        Bounds::from(state.reach).inflated(margin)
    } else {
        Bounds::from(NOWHERE)
    }
}

fn is_somewhere(state: &PerformerState) -> bool {
    let [low, high] = state.reach;
    (0..3).all(|axis| {
        low[axis] <= high[axis] && low[axis] < f32::INFINITY && high[axis] > f32::NEG_INFINITY
    })
}
