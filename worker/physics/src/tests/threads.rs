//! The number of threads on which a cell steps changes no bit.

use std::sync::Arc;

use protocol::SimTime;
use rayon::ThreadPoolBuilder;
use sdf::{Geometry, World};

use super::builder::*;
use super::determinism::{digest, machine, robot};

/// A bar that goes through heaps of boxes, so that they all touch what moves as it is told.
const BAR: &str = "<sdf version='1.11'><world name='w'><actor name='bar'><pose>0 0 0 0 0 0</pose>\
    <link name='l'><collision name='c'><geometry><box><size>0.2 60 0.4</size></box></geometry>\
    </collision></link><script><trajectory id='0' type='walk'>\
    <waypoint><time>0</time><pose>-1 0 0.3 0 0 0</pose></waypoint>\
    <waypoint><time>2</time><pose>2 0 0.3 0 0 0</pose></waypoint>\
    </trajectory></script></actor></world></sdf>";

/// Heaps, robots and machines side by side in one level, with a bar that goes through them.
fn yard() -> Arc<World> {
    let read = sdf::read_worlds(BAR, "w.sdf", &sdf::NoFiles).unwrap();
    let mut world = read.worlds.into_iter().next().unwrap();
    world.models.push(ground(0.8));
    for number in 0..240_u32 {
        let (heap, level) = (f64::from(number % 12), f64::from(number / 12));
        let geometry = match number % 5 {
            0 => Geometry::Sphere { radius: 0.12 },
            1 => Geometry::Cylinder {
                radius: 0.1,
                length: 0.2,
            },
            _ => Geometry::Box {
                size: [0.2, 0.3, 0.1],
            },
        };
        let at = [0.03 * level, 2.0 * heap - 12.0, 0.1 + 0.22 * level];
        let tilted = pose(at, [0.3 * level, 0.1 * heap, 0.2]);
        world
            .models
            .push(body("piece", tilted, collision(geometry, 0.6)));
    }
    for number in 0..8 {
        let y = f64::from(number) * 2.0;
        world.models.push(robot([0.5, 13.0 + y, 0.2]));
        world.models.push(machine([1.0, 14.0 + y, 1.0]));
    }
    Arc::new(world)
}

/// Steps a cell of the yard; returns the digest of each step and the most parts of one.
fn digests(threads: Option<usize>) -> (Vec<protocol::Digest>, usize) {
    let work = || {
        let mut cell = fill(&yard());
        let mut parts = 0;
        let advance = |step: u64| {
            let [begin, end] = [step, step + 1].map(|step| SimTime(step * 1_000_000));
            cell.move_actors(begin, end);
            cell.step(STEP);
            parts = parts.max(cell.solver.part_count());
            digest(&mut cell)
        };
        let digests = (0..450).map(advance).collect();
        (digests, parts)
    };
    let Some(count) = threads else {
        return work();
    };
    let pool = ThreadPoolBuilder::new().num_threads(count).build();
    pool.expect("threads can be started").install(work)
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let (expected, parts) = digests(None);
    assert_eq!(parts, 1);
    for threads in [2, 5] {
        let (found, parts) = digests(Some(threads));
        assert!(parts > 1, "{threads} threads");
        let differs = found
            .iter()
            .zip(&expected)
            .position(|(one, other)| one != other);
        assert_eq!(differs, None, "{threads} threads");
    }
}
