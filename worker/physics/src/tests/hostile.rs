//! States and snapshots that no cell has written are refused, and never end the process.

use std::sync::Arc;

use protocol::{Digest, PerformerId};
use sdf::World;

use super::builder::*;
use super::determinism::{robot, workshop};
use crate::{AdoptError, Arrival, Cell};

/// A sequence of numbers that is the same for the same seed (xorshift).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit as u64) as usize
    }

    /// Changes, cuts or lengthens bytes.
    fn damage(&mut self, bytes: &mut Vec<u8>, from: usize) {
        for _ in 0..=self.below(4) {
            let place = from + self.below(bytes.len() - from);
            match self.below(8) {
                0 => bytes.truncate(place.max(from + 1)),
                1 => bytes.push(self.below(256) as u8),
                2 => bytes[place] = 0xff,
                3 => bytes[place] = 0,
                _ => bytes[place] ^= 1 << self.below(8),
            }
        }
    }
}

/// Returns what adopting the second model of a world in a state comes to.
fn adopt(world: &Arc<World>, model: usize, state: &[u8]) -> (Cell, Result<(), AdoptError>) {
    let mut cell = Cell::new(Arc::clone(world));
    let performer = PerformerId(1);
    let outcome = cell.adopt(&[Arrival {
        performer,
        model,
        state,
    }]);
    (cell, outcome)
}

fn robots() -> Arc<World> {
    let mut tall = robot([0.0, 0.0, 0.5]);
    tall.links
        .push(link("mast", pose([0.0; 3], [0.0; 3]), None));
    world(vec![ground(1.0), robot([0.0, 0.0, 0.1]), tall])
}

#[test]
fn states_of_other_models_and_cut_ones_are_refused() {
    let world = robots();
    let mut cell = fill(&world);
    run(&mut cell, 0.1);
    let state = cell.transfer(PerformerId(1));
    assert!(adopt(&world, 1, &state).1.is_ok());
    let error = |model, state: &[u8]| adopt(&world, model, state).1.unwrap_err();
    for length in 0..state.len() {
        let error = error(1, &state[..length]);
        assert!(matches!(error, AdoptError::Malformed { .. }), "{error}");
    }
    let longer = [state.as_slice(), &[0]].concat();
    assert!(matches!(error(1, &longer), AdoptError::Malformed { .. }));
    assert!(matches!(
        error(2, &state),
        AdoptError::State { part: "links", .. }
    ));
    for model in [0, 3, usize::MAX] {
        assert!(matches!(error(model, &state), AdoptError::Model { .. }));
    }
    let arrival = |performer| Arrival {
        performer: PerformerId(performer),
        model: 1,
        state: &state,
    };
    for order in [[1, 1], [2, 1]] {
        let mut cell = Cell::new(Arc::clone(&world));
        let outcome = cell.adopt(&order.map(arrival));
        assert!(matches!(outcome, Err(AdoptError::Order { .. })));
    }
    let again = cell.adopt(&[arrival(1)]);
    assert!(matches!(again, Err(AdoptError::Order { .. })));
}

#[test]
fn a_state_without_its_joint_of_the_world_is_refused() {
    let world = workshop();
    let mut cell = fill(&world);
    run(&mut cell, 0.1);
    let held = PerformerId(5);
    let state = cell.transfer(held);
    let arrive = |world: &Arc<World>| {
        let mut cell = Cell::new(Arc::clone(world));
        cell.adopt(&[Arrival {
            performer: held,
            model: 5,
            state: &state,
        }])
    };
    assert!(arrive(&world).is_ok());
    let mut other = World::clone(&world);
    other.joints.clear();
    let error = arrive(&Arc::new(other)).unwrap_err();
    assert!(matches!(error, AdoptError::WorldJoint { .. }), "{error}");
    let mut other = World::clone(&world);
    other.joints.push(other.joints[0].clone());
    let error = arrive(&Arc::new(other)).unwrap_err();
    assert!(error.to_string().contains("held"), "{error}");
}

#[test]
fn damaged_states_end_in_an_error_or_in_a_cell_that_steps() {
    let seed = 0x5eed_0001;
    let mut numbers = Numbers(seed);
    let world = workshop();
    let mut cell = fill(&world);
    run(&mut cell, 0.3);
    let machine = 4;
    let state = cell.transfer(PerformerId(machine));
    let mut refused = 0;
    for attempt in 0..400 {
        println!("seed {seed:#x}, attempt {attempt}");
        let mut damaged = state.clone();
        numbers.damage(&mut damaged, 0);
        let (mut cell, outcome) = adopt(&world, machine as usize, &damaged);
        match outcome {
            Ok(()) => {
                run(&mut cell, 0.003);
                let _ = (
                    cell.transfer(PerformerId(1)),
                    cell.snapshot(),
                    states(&mut cell),
                );
            }
            Err(error) => {
                refused += 1;
                let message = error.to_string();
                let says_where = message.contains("performer 1") || message.contains("joint");
                assert!(says_where, "{message}");
            }
        }
    }
    assert!(refused > 50, "only {refused} refused");
}

/// Only what cells add to rapier is damaged: rapier's own sets cannot be looked into.
#[test]
fn damaged_snapshots_end_in_an_error_or_in_a_cell_that_steps() {
    let seed = 0x5eed_0002;
    let mut numbers = Numbers(seed);
    let world = workshop();
    let mut cell = fill(&world);
    cell.insert_ghost(PerformerId(99), 4);
    run(&mut cell, 0.3);
    let snapshot = cell.snapshot();
    let own = postcard::to_stdvec(&cell.contents).unwrap().len();
    let mut refused = 0;
    for attempt in 0..400 {
        println!("seed {seed:#x}, attempt {attempt}");
        let mut damaged = snapshot.clone();
        numbers.damage(&mut damaged, snapshot.len() - own);
        let digest = Digest::of_bytes(&damaged[16..]);
        damaged[..16].copy_from_slice(&digest.0.to_le_bytes());
        match Cell::restore(Arc::clone(&world), &damaged) {
            Ok(mut cell) => {
                run(&mut cell, 0.002);
                let _ = states(&mut cell);
                let performers: Vec<_> = cell.performers().collect();
                for performer in performers {
                    let _ = cell.transfer(performer);
                    cell.remove_performer(performer);
                }
                run(&mut cell, 0.002);
            }
            Err(_) => refused += 1,
        }
    }
    assert!(refused > 50, "only {refused} refused");
}

#[test]
fn damaged_worlds_are_refused_or_step() {
    let seed = 0x5eed_0003;
    let mut numbers = Numbers(seed);
    let world = World::clone(&workshop());
    let whole = sdf::encode_worlds(&[world]);
    let mut refused = 0;
    for attempt in 0..400 {
        println!("seed {seed:#x}, attempt {attempt}");
        let mut damaged = whole.clone();
        numbers.damage(&mut damaged, 0);
        let Ok(worlds) = sdf::decode_worlds(&damaged) else {
            refused += 1;
            continue;
        };
        for world in worlds {
            let mut cell = fill(&Arc::new(world));
            run(&mut cell, 0.003);
            let _ = states(&mut cell);
        }
    }
    assert!((1..400).contains(&refused), "{refused} refused");
}

#[test]
fn a_world_without_its_meshes_is_refused() {
    let mut world = World::clone(&workshop());
    assert!(!world.meshes.is_empty(), "one is needed");
    world.meshes.clear();
    let error = sdf::decode_worlds(&sdf::encode_worlds(&[world.clone()]));
    assert!(error.is_err());
    // It does not reach a cell; one that it did reach would not end the process.
    run(&mut fill(&Arc::new(world)), 0.002);
}
