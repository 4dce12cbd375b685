//! A guess of when the partition changes next, by which windows of speculation are sized. A wrong
//! one costs time alone.
//!
//! An example: a robot drives along x at 0.3 m/s towards a level whose buffer begins 6 mm ahead of
//! its box. With steps of 1 ms it touches the buffer after 20 of them: a window of 24 steps would
//! be rolled back, one of 18 holds.

use protocol::{PerformerId, PerformerState};

use super::marks::Marks;
use super::{Partition, PerformerLocation};
use crate::topology::Topology;

/// Greatest number of performers that are looked at closely.
const LOOKED_AT_MAX: usize = 256;

impl Partition {
    /// Returns a guess of how many iterations pass until a performer touches other levels or
    /// belongs elsewhere, at most `most`: as if each went on at its velocity. Who meets others is
    /// not foreseen.
    pub fn iterations_until_change(
        &self,
        topology: &Topology,
        states: &[PerformerState],
        most: u32,
    ) -> u32 {
        let mut least = most;
        let mut looked_at = 0;
        for performer in self.population.by_world.iter().flatten().copied() {
            let (place, state) = (&self.places[performer], &states[performer]);
            let is_quick = |count: u32| place.may_change_within(count, state, &self.rules);
            if !is_quick(least) || self.marks[performer].has(Marks::REMOVED) {
                continue;
            }
            looked_at += 1;
            if looked_at > LOOKED_AT_MAX || least == 0 {
                break;
            }
            least = self.until_change_of(topology, performer, state, least);
        }
        least
    }

    /// Returns after how many iterations a performer is elsewhere among the levels, at most `most`.
    fn until_change_of(
        &self,
        topology: &Topology,
        performer: usize,
        state: &PerformerState,
        most: u32,
    ) -> u32 {
        let place = &self.places[performer];
        let touched = self.levels.of_performer(PerformerId(performer as u32));
        let mut found = Vec::new();
        let mut is_elsewhere = |count: u32| {
            let mut there: PerformerLocation = place.clone();
            let state = moved_on(state, f64::from(count) * self.rules.step_size_s);
            let regions = self.regions(topology, place.world());
            there.look(regions, &self.rules, &state, touched, &mut found);
            there.home != place.home || found != touched
        };
        if !is_elsewhere(most) {
            return most;
        }
        // It is still as it is after `unchanged` iterations, and elsewhere after `changed`.
        let (mut unchanged, mut changed) = (0, most);
        while changed - unchanged > 1 {
            let middle = u32::midpoint(unchanged, changed);
            if is_elsewhere(middle) {
                changed = middle;
            } else {
                unchanged = middle;
            }
        }
        changed
    }
}

/// Returns a state after a time in which it keeps its velocity.
fn moved_on(state: &PerformerState, time_s: f64) -> PerformerState {
    let way = state.linear_velocity.map(|speed| speed * time_s);
    PerformerState {
        position: std::array::from_fn(|axis| state.position[axis] + way[axis]),
        reach: state
            .reach
            .map(|corner| std::array::from_fn(|axis| corner[axis] + way[axis] as f32)),
        ..*state
    }
}
