//! Shows that the worlds of the project do what their first lines say, whoever owns what in them.
//! Runs them on a simulated cluster and looks at where things are.

use std::collections::BTreeMap;

use lockstep::Primary;
use tests::cluster::{Cluster, NetworkFaults};
use tests::repository;

/// Track of a performer along x \[m\].
#[derive(Clone, Copy, Debug)]
struct Track {
    least: f64,
    greatest: f64,
    last: [f64; 3],
    /// Number of times that it was at x = 20 m.
    crossings: u32,
    speed: f64,
    fastest: f64,
}

fn positions(primary: &Primary) -> BTreeMap<String, ([f64; 3], f64)> {
    let ids = primary.performers_by_name().iter();
    ids.map(|id| {
        let (_, state) = primary.performer(*id);
        let [x, y, z] = state.linear_velocity;
        let name = primary.topology().performer(*id).name.clone();
        (name, (state.position, x.hypot(y).hypot(z)))
    })
    .collect()
}

/// Runs a world and follows everything in it.
fn follow(text: &str, iterations: u64) -> BTreeMap<String, Track> {
    let worlds = sdf::read_worlds(text, "world.sdf", &sdf::NoFiles)
        .expect("a world")
        .worlds;
    let mut cluster = Cluster::new(&worlds, 2, iterations, NetworkFaults::SHUFFLED, 1);
    let mut tracks: BTreeMap<String, Track> = BTreeMap::new();
    let mut seen = 0;
    cluster.run_until(|cluster| {
        if cluster.digests().len() == seen {
            return false;
        }
        seen = cluster.digests().len();
        for (name, (position, speed)) in positions(&cluster.primary) {
            let x = position[0];
            let track = tracks.entry(name).or_insert(Track {
                least: x,
                greatest: x,
                last: position,
                crossings: 0,
                speed,
                fastest: 0.0,
            });
            track.crossings += u32::from((track.last[0] < 20.0) != (x < 20.0));
            track.least = track.least.min(x);
            track.greatest = track.greatest.max(x);
            track.last = position;
            track.speed = speed;
            track.fastest = track.fastest.max(speed);
        }
        false
    });
    tracks
}

#[test]
fn balls_without_friction_slide_turn_swing_and_dither_through_four_levels() {
    let path = repository::root().join("worlds/four_levels.sdf");
    let text = std::fs::read_to_string(path).expect("the world is there");
    let tracks = follow(&text, 9_500);
    let traveller = tracks["traveller"];
    assert!((traveller.fastest - 5.3).abs() < 0.2, "{traveller:?}");
    assert!((traveller.last[0] - 38.65).abs() < 0.05, "{traveller:?}");
    assert!(traveller.last[1].abs() < 0.01, "{traveller:?}");
    let returner = tracks["returner"];
    assert!(returner.greatest > 8.25, "reaches the buffer: {returner:?}");
    assert!(returner.greatest < 9.7, "and not the level: {returner:?}");
    assert!(returner.last[0] < 8.0, "goes back: {returner:?}");
    let swinger = tracks["swinger"];
    assert!(swinger.greatest > 20.4, "leaves L2: {swinger:?}");
    assert!(swinger.crossings >= 3, "{swinger:?}");
    let ditherer = tracks["ditherer"];
    assert!(ditherer.crossings >= 3, "{ditherer:?}");
    let is_on_border = ditherer.greatest < 20.24 && ditherer.least > 19.76;
    assert!(is_on_border, "{ditherer:?}");
}

#[test]
fn generated_boxes_fall_pile_up_and_stay_on_their_floors() {
    let tracks = follow(&sdf::generate_piles(30, [2, 2]), 4_000);
    assert_eq!(tracks.len(), 30);
    let highest = tracks
        .values()
        .map(|track| track.last[2])
        .fold(0.0, f64::max);
    assert!(highest > 0.3, "nothing lies on anything: {highest} m");
    for (name, track) in &tracks {
        assert!(track.last[2] > 0.05, "{name} is in the floor: {track:?}");
        assert!(track.speed < 0.5, "{name} does not come to rest: {track:?}");
        assert!(track.last[0].abs() < 10.0, "{name} is gone: {track:?}");
    }
}
