//! Groups as observers see them: all of a world, also those that are far from any other cell and
//! that no update looks for.

use std::collections::BTreeMap;

use protocol::{PerformerId, PerformerState};

use super::Partition;
use super::marks::Marks;
use crate::topology::Topology;

impl Partition {
    /// Returns the groups of two performers and more of the worlds that have levels: those that
    /// meet by these states, or that joints hold together, directly or by way of others. Members
    /// and groups are ascending. It looks at every performer, so it is for those who ask.
    ///
    /// # Panics
    /// Panics when there are fewer states than performers.
    pub fn groups(&self, topology: &Topology, states: &[PerformerState]) -> Vec<Vec<PerformerId>> {
        let mut leaders: Vec<usize> = (0..self.places.len()).collect();
        for performer in self.population.by_world.iter().flatten().copied() {
            if self.marks[performer].has(Marks::REMOVED) {
                continue;
            }
            let met = self
                .neighbours
                .met(performer, &self.places, states, &self.rules);
            for other in met.into_iter().chain(self.joined_to(topology, performer)) {
                join(&mut leaders, performer, other);
            }
        }
        let mut groups: BTreeMap<usize, Vec<PerformerId>> = BTreeMap::new();
        for performer in self.population.by_world.iter().flatten().copied() {
            let leader = leader_of(&mut leaders, performer);
            let members = groups.entry(leader).or_default();
            members.push(PerformerId(performer as u32));
        }
        let mut groups: Vec<_> = groups.into_values().filter(|one| one.len() > 1).collect();
        for members in &mut groups {
            members.sort_unstable();
        }
        groups.sort_unstable();
        groups
    }
}

/// Returns who stands for the group of a performer, and shortens the way to it.
fn leader_of(leaders: &mut [usize], performer: usize) -> usize {
    let mut leader = performer;
    while leaders[leader] != leader {
        leader = leaders[leader];
    }
    let mut next = performer;
    while leaders[next] != leader {
        next = std::mem::replace(&mut leaders[next], leader);
    }
    leader
}

fn join(leaders: &mut [usize], one: usize, other: usize) {
    let [one, other] = [one, other].map(|end| leader_of(leaders, end));
    leaders[one.max(other)] = one.min(other);
}
