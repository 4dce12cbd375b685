//! Shows how often a step asks for memory once a run goes steadily: what the rules of the primary,
//! the host and its cells ask for beyond rapier itself.

use std::time::Duration;

use rapier3d_f64::pipeline::PhysicsWorld;
use sdf::World;
use tests::cluster;
use tests::direct::Direct;
use tests::worlds;

/// After how many steps all buffers have their sizes.
const WARM_UP: u32 = 300;
const STEPS: u32 = 200;
/// Allocations of a step for its two messages, for what is known of its round and for the lists of
/// cells, whatever the cells hold.
const PER_STEP: f64 = 20.0;

fn run(worlds: &[World]) -> Direct {
    let mut settings = cluster::settings(1, u64::MAX);
    settings.recovery.checkpoint_every = 0;
    settings.peers.peer_timeout = Duration::MAX;
    let mut direct = Direct::new(worlds, settings);
    for _ in 0..WARM_UP {
        direct.advance();
    }
    direct
}

/// Returns how many times a step asks for memory, in all and in rapier alone.
fn counts(direct: &mut Direct) -> (f64, f64) {
    let cell = direct
        .host()
        .cells()
        .max_by_key(|cell| cell.performers().count());
    let rapier = cell.expect("there is a cell").physics().rapier();
    let bytes = postcard::to_allocvec(rapier).expect("a world can be written");
    let mut rapier: PhysicsWorld = postcard::from_bytes(&bytes).expect("and read");
    for _ in 0..STEPS {
        rapier.step();
    }
    let alone = allocation_counter::measure(|| {
        for _ in 0..STEPS {
            rapier.step();
        }
    });
    let all = allocation_counter::measure(|| {
        for _ in 0..STEPS {
            direct.advance();
        }
    });
    let per_step = |count: u64| count as f64 / f64::from(STEPS);
    (per_step(all.count_total), per_step(alone.count_total))
}

/// Checks how often a step of a world asks for memory beyond rapier.
#[track_caller]
fn check(what: &str, worlds: &[World]) {
    let (all, rapier) = counts(&mut run(worlds));
    eprintln!("{what}: {all} per step, of which rapier alone {rapier}");
    assert!(
        all - rapier <= PER_STEP,
        "{what} ask {all} times, rapier alone {rapier}"
    );
}

#[test]
fn robots_add_nothing_to_how_often_a_step_asks_for_memory() {
    for robots in [1, 40] {
        let text = sdf::generate_fleet(robots, [1, 1]);
        let read = sdf::read_worlds(&text, "fleet.sdf", &sdf::NoFiles);
        let worlds = read.expect("the world is valid").worlds;
        check(&format!("{robots} robots"), &worlds);
    }
}

#[test]
fn bodies_add_nothing_to_how_often_a_step_asks_for_memory() {
    for bodies in [1, 24] {
        check(&format!("{bodies} bodies"), &[worlds::row(1, bodies)]);
    }
}
