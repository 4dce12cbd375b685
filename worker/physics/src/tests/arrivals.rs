//! Cells that performers come to and leave: bits, sleepers, and what it costs.

use std::fmt::Write;
use std::sync::Arc;

use protocol::PerformerId;
use rapier3d_f64::math::Vector;

use super::builder::*;
use super::determinism::{digest, heap, machine, robot, workshop};
use super::hand_off::{BOX, adopt, at, chain, hand_off, hand_off_a_copy, statics};
use crate::{Cell, PerformerStates};

/// As while a run is paused: nothing is stepped, and snapshots are taken of every cell on the way.
#[test]
fn performers_pass_through_a_cell_that_is_not_stepped() {
    for world in [workshop(), chain()] {
        let mut from = fill(&world);
        run(&mut from, 0.3);
        let mut direct = statics(&world);
        hand_off_a_copy(&from, &mut direct);
        let all: Vec<_> = from.performers().collect();
        let mut between = statics(&world);
        hand_off(&mut from, &mut between, &all);
        let through = between.snapshot();
        let mut between = Cell::restore(Arc::clone(&world), &through).unwrap();
        let mut to = statics(&world);
        hand_off(&mut between, &mut to, &all);
        let mut empty = Cell::restore(Arc::clone(&world), &between.snapshot()).unwrap();
        for step in 0..300 {
            for cell in [&mut direct, &mut to, &mut between, &mut empty] {
                cell.step(STEP);
            }
            assert_eq!(digest(&mut direct), digest(&mut to), "step {step}");
        }
        assert!(between.snapshot() == empty.snapshot());
    }
}

fn are_asleep(cell: &Cell) -> bool {
    let links = cell.contents.performers.values().flat_map(|p| &p.links);
    links
        .into_iter()
        .all(|link| cell.physics.bodies[*link].is_sleeping())
}

#[test]
fn a_sleeping_stack_sleeps_on_and_wakes_nobody() {
    let mut models = vec![ground(1.0)];
    models.extend((0..3).map(|level| at([0.0, 0.0, 0.1 + 0.2 * f64::from(level)], BOX)));
    models.push(at([2.0, 0.0, 0.1], BOX));
    models.push(robot([0.0, 3.0, 0.1]));
    let world = world(models);
    let mut from = fill(&world);
    run(&mut from, 6.0);
    assert!(are_asleep(&from), "the stack does not come to rest");
    let mut to = statics(&world);
    let [stack, rest] = [
        [1, 2, 3].map(PerformerId).to_vec(),
        vec![PerformerId(4), PerformerId(5)],
    ];
    hand_off(&mut from, &mut to, &rest);
    assert!(are_asleep(&to));
    run(&mut to, 0.1);
    assert!(are_asleep(&to));
    let before = states(&mut from);
    hand_off(&mut from, &mut to, &stack);
    let mut restored = Cell::restore(Arc::clone(&world), &to.snapshot()).unwrap();
    for step in 0..1000 {
        assert!(are_asleep(&to) && are_asleep(&restored), "step {step}");
        to.step(STEP);
        restored.step(STEP);
    }
    assert!(to.snapshot() == restored.snapshot());
    let after = states(&mut to);
    assert_eq!(before[..], after[..3]);
}

#[test]
fn sleepers_that_lose_their_ground_as_they_arrive_fall() {
    let world = world(vec![ground(1.0), at([0.0, 0.0, 0.1], BOX)]);
    let mut from = fill(&world);
    run(&mut from, 5.0);
    assert!(are_asleep(&from));
    let mut to = statics(&world);
    hand_off_a_copy(&from, &mut to);
    to.remove_static(0);
    run(&mut to, 0.1);
    let height = state(&mut to, 1).position[2];
    assert!(height < 0.06, "{height}");
}

/// A stack arrives asleep, and before the next step, as while a run is paused, a box on top of it.
#[test]
fn sleepers_that_meet_an_arrival_wake_together() {
    let mut models = vec![ground(1.0)];
    models.extend([0.1, 0.3, 5.0].map(|height| at([0.0, 0.0, height], BOX)));
    let world = world(models);
    let mut stack = Cell::new(Arc::clone(&world));
    stack.insert_static(0);
    stack.insert_performer(PerformerId(1), 1);
    stack.insert_performer(PerformerId(2), 2);
    run(&mut stack, 5.0);
    assert!(are_asleep(&stack));
    let mut above = Cell::new(Arc::clone(&world));
    above.insert_performer(PerformerId(3), 3);
    let handle = above.contents.performers[&PerformerId(3)].links[0];
    let body = &mut above.physics.bodies[handle];
    body.set_translation(Vector::new(0.1, 0.0, 0.499), true);
    let mut to = statics(&world);
    hand_off_a_copy(&stack, &mut to);
    let mut to = Cell::restore(Arc::clone(&world), &to.snapshot()).unwrap();
    hand_off_a_copy(&above, &mut to);
    for step in 0..10 {
        to.step(STEP);
        let links = to.contents.performers.values().map(|owned| owned.links[0]);
        let awake = links.filter(|link| !to.physics.bodies[*link].is_sleeping());
        assert_eq!(awake.count(), 3, "step {step}");
    }
}

/// Performers come and go between two cells while everything moves; bits are those of a second run
/// and of cells that were restored on the way.
#[test]
fn cells_that_many_came_to_and_left_keep_their_bits() {
    for world in [heap(), workshop()] {
        let mut cells = [fill(&world), statics(&world)];
        let mut others = [fill(&world), statics(&world)];
        let all: Vec<_> = cells[0].performers().collect();
        for round in 0..36 {
            let chosen: Vec<_> = all
                .iter()
                .filter(|id| (id.0 + round).is_multiple_of(3))
                .collect();
            for pair in [&mut cells, &mut others] {
                let [first, second] = pair;
                let owned = |cell: &Cell| -> Vec<PerformerId> {
                    cell.performers()
                        .filter(|id| chosen.contains(&id))
                        .collect()
                };
                let (there, back) = (owned(first), owned(second));
                hand_off(first, second, &there);
                hand_off(second, first, &back);
            }
            if round % 10 == 5 {
                others = others
                    .map(|mut cell| Cell::restore(Arc::clone(&world), &cell.snapshot()).unwrap());
            }
            for step in 0..25 {
                for (cell, other) in cells.iter_mut().zip(&mut others) {
                    cell.step(STEP);
                    other.step(STEP);
                    assert_eq!(digest(cell), digest(other), "round {round}, step {step}");
                }
            }
            if round % 10 == 9 {
                others = others
                    .map(|mut cell| Cell::restore(Arc::clone(&world), &cell.snapshot()).unwrap());
            }
        }
    }
}

#[test]
fn a_cell_that_all_have_left_steps_on() {
    for world in [heap(), chain()] {
        let mut cell = fill(&world);
        run(&mut cell, 0.2);
        for performer in cell.performers().collect::<Vec<_>>() {
            cell.remove_performer(performer);
        }
        run(&mut cell, 0.1);
        assert_eq!(states(&mut cell), []);
        let contents = &cell.contents;
        assert!(contents.mechanisms.is_empty() && contents.joint_mechanisms.is_empty());
        assert!(cell.physics.impulse_joints.is_empty());
        assert_eq!(cell.physics.bodies.len(), 1 + contents.statics.len());
        let mut restored = Cell::restore(Arc::clone(&world), &cell.snapshot()).unwrap();
        run(&mut restored, 0.1);
        let mut empty = Cell::new(world);
        run(&mut empty, 0.1);
    }
}

#[test]
fn a_hand_off_costs_little() {
    let mut models = vec![ground(1.0)];
    for number in 0..50_u32 {
        let x = f64::from(number);
        models.push(robot([x, 0.0, 0.1]));
        models.push(machine([3.0 * x, 20.0, 3.0]));
    }
    let links: usize = models[1..].iter().map(|model| model.links.len()).sum();
    let world = world(models);
    let mut from = fill(&world);
    run(&mut from, 0.2);
    let mut to = statics(&world);
    let mut parcels = Vec::new();
    let mut all = PerformerStates::default();
    let mut figures = String::new();
    let mut measure = |what: &str, act: &mut dyn FnMut()| {
        let begin = std::time::Instant::now();
        act();
        write!(figures, ", {what} {:?}", begin.elapsed()).unwrap();
    };
    measure("states", &mut || from.read(STEP, true, &mut all));
    measure("transfer", &mut || {
        let transfer = |performer| (performer, from.transfer(performer));
        parcels = from.performers().map(transfer).collect();
    });
    measure("adopt", &mut || adopt(&mut to, &parcels).unwrap());
    measure("settle", &mut || to.settle());
    measure("the step after", &mut || to.step(STEP));
    let bytes: usize = parcels.iter().map(|(_, parcel)| parcel.len()).sum();
    println!(
        "100 hand-offs of {links} links: {} bytes a link{figures}",
        bytes / links
    );
    assert!(bytes / links < 800, "{bytes} bytes for {links} links");
}
