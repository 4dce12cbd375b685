//! Hand-offs, ghosts and migrations: where a cell is hosted changes no bit.

use protocol::primary_to_secondary::{CellSource, GhostChange};
use protocol::{CellId, PerformerId};

use super::fixture::*;

/// Runs with cells on hosts by name, changes something, and returns all digests.
fn run(homes: [&str; 3], change: impl Fn(&mut Hosts) -> Digests) -> Vec<Digests> {
    let mut hosts = Hosts::started(homes, PLAIN);
    let mut digests = hosts.advance_by(300);
    digests.push(change(&mut hosts));
    digests.extend(hosts.advance_by(400));
    digests
}

/// Says at which iteration two runs part.
fn assert_same(one: &[Digests], other: &[Digests]) {
    assert_eq!(one.len(), other.len());
    for (index, pair) in one.iter().zip(other).enumerate() {
        assert_eq!(pair.0, pair.1, "iteration {}", index + 1);
    }
}

#[test]
fn cells_have_the_same_bits_on_one_host_and_on_three() {
    let nothing = |hosts: &mut Hosts| hosts.advance(|_| {});
    let together = run(["a", "a", "a"], nothing);
    assert_same(&together, &run(["a", "b", "c"], nothing));
    assert_ne!(together[300], together[301], "things move");
}

#[test]
fn a_hand_off_has_the_same_bits_within_a_host_and_between_two() {
    let pass = |hosts: &mut Hosts| {
        // The lowest box of the pile, which carries the others, and the cart.
        hosts.hand_off(0, 1, 2);
        hosts.hand_off(RESIDENTS - 1, 1, 2)
    };
    let within = run(["a", "a", "a"], pass);
    assert_same(&within, &run(["a", "b", "b"], pass));
    let stay = |hosts: &mut Hosts| {
        hosts.advance_by(1);
        hosts.advance(|_| {})
    };
    assert_ne!(within.last(), run(["a", "a", "a"], stay).last());
}

#[test]
fn a_performer_handed_over_is_in_its_new_cell_alone() {
    let mut hosts = Hosts::started(["a", "b", "b"], PLAIN);
    hosts.advance_by(20);
    hosts.hand_off(3, 1, 2);
    assert_eq!(hosts.performers("a", 1), Some(vec![0, 1, 2, 4, 5, 6]));
    assert_eq!(
        hosts.performers("b", 2),
        Some(vec![3, 7, 8, 9, 10, 11, 12, 13])
    );
    let before = hosts.states[&PerformerId(3)];
    hosts.pause(|_| {});
    assert_eq!(hosts.states[&PerformerId(3)], before);
}

#[test]
fn several_performers_change_cells_in_one_step_in_both_directions() {
    let swap = |hosts: &mut Hosts| {
        let performers = [1, 4, RESIDENTS, RESIDENTS + 2].map(PerformerId);
        hosts.pause(|step| step.wanted.states = performers.to_vec());
        let mut states = std::mem::take(&mut hosts.transfers);
        hosts.advance(|step| {
            step.hand_offs = performers
                .map(|performer| {
                    let (from, to) = if performer.0 < RESIDENTS {
                        (1, 2)
                    } else {
                        (2, 1)
                    };
                    hand_off(performer.0, from, to, states.remove(&performer).unwrap())
                })
                .to_vec();
        })
    };
    assert_same(&run(["a", "a", "a"], swap), &run(["a", "b", "c"], swap));
}

#[test]
fn a_cell_that_migrates_in_the_middle_of_contact_goes_on_bit_for_bit() {
    let stay = |hosts: &mut Hosts| {
        hosts.pause(|_| {});
        hosts.advance(|_| {});
        hosts.advance(|_| {})
    };
    let there_and_back = |hosts: &mut Hosts| {
        hosts.migrate(1, "b");
        assert_eq!(hosts.performers("a", 1), None);
        assert_eq!(hosts.performers("b", 1), Some((0..RESIDENTS).collect()));
        hosts.migrate(1, "c")
    };
    assert_same(
        &run(["a", "b", "c"], stay),
        &run(["a", "b", "c"], there_and_back),
    );
}

#[test]
fn a_performer_leaves_a_cell_in_the_step_in_which_the_cell_migrates() {
    let pass = |to: &'static str| {
        move |hosts: &mut Hosts| {
            hosts.pause(|step| {
                step.wanted.states = vec![PerformerId(0)];
                step.wanted.snapshots = vec![CellId(1)];
            });
            let state = hosts.transfers[&PerformerId(0)].clone();
            hosts.advance(|step| {
                if to != "a" {
                    step.affinities = vec![affinity(1, to, CellSource::Snapshot)];
                }
                step.hand_offs = vec![hand_off(0, 1, 2, state)];
            })
        }
    };
    assert_same(
        &run(["a", "b", "c"], pass("a")),
        &run(["a", "b", "c"], pass("c")),
    );
}

#[test]
fn a_cell_opens_for_its_first_performer_and_is_given_up_by_its_last() {
    let mut hosts = Hosts::started(["a", "b", "b"], PLAIN);
    hosts.advance_by(10);
    hosts.pause(|step| step.wanted.states = vec![PerformerId(0)]);
    let state = hosts.transfers[&PerformerId(0)].clone();
    hosts.advance(|step| {
        step.affinities = vec![affinity(0, "b", CellSource::Empty)];
        step.hand_offs = vec![hand_off(0, 1, 0, state)];
        step.level_changes = vec![load(0, 0)];
    });
    assert_eq!(hosts.performers("b", 0), Some(vec![0]));
    hosts.pause(|step| step.wanted.states = vec![PerformerId(0)]);
    let state = hosts.transfers[&PerformerId(0)].clone();
    hosts.advance(|step| {
        step.affinities = vec![give_up(0)];
        step.hand_offs = vec![hand_off(0, 0, 1, state)];
    });
    assert_eq!(hosts.performers("b", 0), None);
    assert_eq!(hosts.performers("a", 1), Some((0..RESIDENTS).collect()));
    hosts.advance_by(10);
}

#[test]
fn ghosts_are_where_their_performers_are_and_change_no_bit() {
    let plain = run(["a", "b", "b"], |hosts| hosts.advance(|_| {}));
    let mut hosts = Hosts::started(["a", "b", "b"], PLAIN);
    let mut digests = hosts.advance_by(300);
    let cart = PerformerId(RESIDENTS - 1);
    let change = |present| GhostChange {
        cell: CellId(2),
        performer: cart,
        present,
    };
    digests.push(hosts.advance(|step| step.ghost_changes = vec![change(true)]));
    for _ in 0..399 {
        let poses = hosts.poses(cart);
        digests.push(hosts.advance(|step| step.ghost_poses = vec![poses]));
    }
    digests.push(hosts.advance(|step| step.ghost_changes = vec![change(false)]));
    assert_same(&plain, &digests);
}

#[test]
fn the_answer_holds_what_is_wanted_of_own_performers_in_the_order_of_cells() {
    let mut hosts = Hosts::started(["a", "a", "b"], PLAIN);
    let wanted: Vec<_> = [2, RESIDENTS, 2 * RESIDENTS, 3 * RESIDENTS]
        .map(PerformerId)
        .to_vec();
    let step = hosts.following();
    let host = hosts.by_name.values_mut().next().unwrap();
    let mut step = protocol::primary_to_secondary::Step { ..step };
    step.wanted.poses.clone_from(&wanted);
    step.wanted.states = wanted;
    step.wanted.snapshots = vec![CellId(2), CellId(3)];
    let ack = host.run(&step, &[]).unwrap();
    let poses: Vec<_> = ack.poses.iter().map(|poses| poses.performer.0).collect();
    let transfers: Vec<_> = ack.transfers.iter().map(|one| one.performer.0).collect();
    assert_eq!((poses, transfers), (vec![2, RESIDENTS], vec![2, RESIDENTS]));
    let snapshots: Vec<_> = ack
        .snapshots
        .iter()
        .map(|one| (one.cell.0, one.sequence))
        .collect();
    assert_eq!(snapshots, [(2, step.sequence)]);
    assert_eq!(ack.poses[0].poses().len(), 1);
}
