//! Performers that joints of their world hold together.

use std::collections::BTreeMap;

use protocol::{CellId, PerformerId};
use sdf::{JointEnd, World};

use super::PerformerSpec;

/// Notes which performers joints of a world hold together, and puts them into one cell. Models that
/// never move hold nothing together.
pub(super) fn join(
    world: &World,
    index: usize,
    default_cell: CellId,
    performers: &mut [PerformerSpec],
) {
    if world.joints.is_empty() {
        return;
    }
    let by_model: BTreeMap<usize, usize> = performers
        .iter()
        .enumerate()
        .filter(|(_, performer)| performer.world == index)
        .map(|(number, performer)| (performer.model, number))
        .collect();
    for joint in &world.joints {
        let JointEnd::Link(parent) = joint.parent else {
            continue;
        };
        let ends = [parent.model, joint.child.model].map(|model| by_model.get(&model));
        if let [Some(one), Some(other)] = ends
            && one != other
        {
            performers[*one].joined_to.push(PerformerId(*other as u32));
            performers[*other].joined_to.push(PerformerId(*one as u32));
        }
    }
    for performer in &mut *performers {
        performer.joined_to.sort_unstable();
        performer.joined_to.dedup();
    }
    gather(index, default_cell, performers);
}

/// Puts the performers of a world that are held together into one cell each: the one that owns most
/// of them, and of several the first, the default cell last.
fn gather(index: usize, default_cell: CellId, performers: &mut [PerformerSpec]) {
    let is_held = |one: &PerformerSpec| one.world == index && !one.joined_to.is_empty();
    let held: Vec<usize> = (0..performers.len())
        .filter(|number| is_held(&performers[*number]))
        .collect();
    // To which other performer each is held, at last to itself.
    let mut held_to: BTreeMap<usize, usize> = held.iter().map(|one| (*one, *one)).collect();
    for number in &held {
        for other in &performers[*number].joined_to {
            let [one, other] = [*number, other.0 as usize].map(|end| group_of(&mut held_to, end));
            held_to.insert(one.max(other), one.min(other));
        }
    }
    let groups: Vec<(usize, usize)> = held
        .iter()
        .map(|number| (*number, group_of(&mut held_to, *number)))
        .collect();
    let mut owned: BTreeMap<(usize, CellId), usize> = BTreeMap::new();
    for (number, group) in &groups {
        *owned.entry((*group, performers[*number].home)).or_insert(0) += 1;
    }
    let mut homes: BTreeMap<usize, (usize, CellId)> = BTreeMap::new();
    for ((group, cell), count) in owned {
        let best = homes.entry(group).or_insert((count, cell));
        if count > best.0 || count == best.0 && best.1 == default_cell {
            *best = (count, cell);
        }
    }
    for (number, group) in groups {
        performers[number].home = homes[&group].1;
    }
}

/// Returns the performer that stands for all that one is held together with, and shortens the way
/// there.
fn group_of(held_to: &mut BTreeMap<usize, usize>, performer: usize) -> usize {
    let mut group = performer;
    while held_to[&group] != group {
        group = held_to[&group];
    }
    held_to.insert(performer, group);
    group
}

#[cfg(test)]
mod tests {
    use sdf::LinkReference;

    use crate::levels::tests::{fixed_joint, performer, world};
    use crate::topology::Topology;

    /// `joints` are pairs of performers by their place among the models after the two floors;
    /// 0 is a floor.
    fn joined_plan(positions: &[f64], joints: &[[usize; 2]]) -> Topology {
        let mut world = world("w", &["L1", "L2"]);
        for x in positions {
            world
                .models
                .push(performer(&format!("at {x}"), [*x, 0.0, 0.0]));
        }
        let reference = |index: usize| LinkReference {
            model: if index == 0 { 0 } else { index + 1 },
            link: 0,
        };
        world.joints = joints
            .iter()
            .map(|&[parent, child]| fixed_joint(reference(parent), reference(child)))
            .collect();
        Topology::new(&[world])
    }

    fn check_joined(positions: &[f64], joints: &[[usize; 2]], expected: &[u32]) {
        let plan = joined_plan(positions, joints);
        let homes: Vec<u32> = plan.performers.iter().map(|p| p.home.0).collect();
        assert_eq!(homes, expected, "{positions:?} {joints:?}");
    }

    #[test]
    fn performers_that_joints_hold_together_start_in_one_cell() {
        check_joined(&[0.0, 10.0, 10.0], &[], &[1, 2, 2]);
        check_joined(&[0.0, 10.0, 10.0], &[[1, 2], [2, 3]], &[2, 2, 2]);
        check_joined(&[0.0, 10.0, 10.0], &[[3, 2], [2, 1]], &[2, 2, 2]);
        check_joined(&[0.0, 10.0], &[[2, 1]], &[1, 1]);
        check_joined(&[50.0, 10.0], &[[1, 2]], &[2, 2]);
    }

    #[test]
    fn a_joint_to_what_never_moves_leaves_a_performer_in_its_cell() {
        check_joined(&[10.0, 0.0], &[[0, 1], [0, 2]], &[2, 1]);
    }

    #[test]
    fn both_ends_of_a_joint_know_each_other_once() {
        let plan = joined_plan(&[0.0, 0.0, 0.0], &[[1, 3], [3, 1], [0, 2]]);
        let joined: Vec<Vec<u32>> = plan
            .performers
            .iter()
            .map(|one| one.joined_to.iter().map(|id| id.0).collect())
            .collect();
        assert_eq!(joined, [vec![2], vec![], vec![0]]);
    }
}
