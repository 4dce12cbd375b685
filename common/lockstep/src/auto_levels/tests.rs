//! Shows that levels cut by contents hold every performer, share the work, and name the right
//! static models. Random worlds print their seeds.

use sdf::{
    Collision, Geometry, JointKind, Link, LinkReference, Model, Performer, Pose, WorldJoint,
};

use super::*;
use crate::levels::tests::{performer, platform};
use crate::topology::Topology;

fn world(models: Vec<Model>) -> World {
    World {
        name: "w".to_owned(),
        models,
        ..World::default()
    }
}

/// Balls of radius 0.5 m at these places.
fn balls(places: &[[f64; 3]]) -> World {
    let places = places.iter().enumerate();
    world(
        places
            .map(|(number, place)| performer(&format!("ball_{number}"), *place))
            .collect(),
    )
}

fn box_model(name: &str, center: [f64; 3], size: [f64; 3]) -> Model {
    let pose = Pose {
        position: center,
        ..Pose::IDENTITY
    };
    let shape = Collision::new("collision", Pose::IDENTITY, Geometry::Box { size });
    let link = Link {
        collisions: vec![shape],
        ..Link::new("link", pose)
    };
    Model {
        is_static: true,
        ..Model::new(name, vec![link], Vec::new())
    }
}

fn cut_in(world: &World, count: usize) -> Vec<Level> {
    let levels = cut(world, NonZeroUsize::new(count).unwrap()).unwrap();
    assert!(levels.len() <= count);
    for (number, level) in levels.iter().enumerate() {
        assert_eq!(level.name, format!("auto_{number}"));
    }
    levels
}

/// Returns how much weight each level's cell has at the start, as a part of the mean; the first
/// number is that of the default cell.
fn shares(world: &World, count: usize) -> Vec<f64> {
    let levels = cut_in(world, count);
    let mut world = world.clone();
    world.levels = levels;
    let plan = Topology::new(std::slice::from_ref(&world));
    let mut weights = vec![0.0; plan.cells.len()];
    for performer in &plan.performers {
        let model = &world.models[performer.model];
        let collisions: usize = model.links.iter().map(|link| link.collisions.len()).sum();
        weights[performer.home.0 as usize] += (model.links.len() + collisions) as f64;
    }
    let mean = weights.iter().sum::<f64>() / (weights.len() - 1) as f64;
    weights.iter().map(|weight| weight / mean).collect()
}

/// Expects all levels that are asked for, none with more than `share_max` of the mean weight, and
/// nothing in the default cell.
fn check_shares(world: &World, count: usize, share_max: f64, what: &str) {
    let shares = shares(world, count);
    assert_eq!(shares.len(), count + 1, "{what}");
    assert_eq!(shares[0], 0.0, "{what}: a performer is in no level");
    for share in &shares[1..] {
        assert!(*share <= share_max && *share > 0.0, "{what}: {shares:?}");
    }
}

fn random(seed: &mut u64) -> f64 {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
    (*seed >> 33) as f64 / f64::from(1_u32 << 31)
}

#[test]
fn a_line_is_cut_into_equal_parts_between_performers() {
    let places: Vec<_> = (0..64)
        .map(|i| [f64::from(i) * 2.0, 0.01 * f64::from(i % 3), 0.5])
        .collect();
    let world = balls(&places);
    for count in [1, 2, 4, 8, 16, 64] {
        check_shares(&world, count, 1.0, "a line");
    }
    check_shares(&world, 5, 1.2, "a line");
    let levels = cut_in(&world, 2);
    let face = levels[0].center[0] + levels[0].size[0] / 2.0;
    assert!((face - 63.0).abs() < 1e-9, "{face}");
}

#[test]
fn a_grid_is_cut_into_equal_parts() {
    let places: Vec<_> = (0..1024)
        .map(|i| [f64::from(i % 32) * 1.5, f64::from(i / 32) * 1.5, 0.5])
        .collect();
    let world = balls(&places);
    for count in [2, 4, 16, 64] {
        check_shares(&world, count, 1.01, "a grid");
    }
    for count in [3, 6, 7, 12] {
        check_shares(&world, count, 1.3, "a grid");
    }
}

#[test]
fn clusters_are_told_apart() {
    for seed in 1..=10 {
        let mut state = seed;
        let mut places = Vec::new();
        for cluster in 0..4 {
            let [x, y] = [f64::from(cluster % 2), f64::from(cluster / 2)].map(|at| at * 100.0);
            for _ in 0..50 {
                let [dx, dy] = [(); 2].map(|()| random(&mut state) * 8.0);
                places.push([x + dx, y + dy, 0.5]);
            }
        }
        let world = balls(&places);
        check_shares(&world, 4, 1.0, &format!("seed {seed}"));
        check_shares(&world, 8, 1.4, &format!("seed {seed}"));
    }
}

#[test]
fn a_crowd_without_gaps_is_shared_within_half_of_the_mean() {
    for seed in 1..=10 {
        let mut state = seed;
        let places: Vec<[f64; 3]> = (0..800)
            .map(|_| std::array::from_fn(|_| random(&mut state) * 20.0))
            .collect();
        let world = balls(&places);
        check_shares(&world, 8, 1.5, &format!("seed {seed}"));
    }
}

#[test]
fn a_cut_goes_where_it_crosses_the_fewest_performers() {
    // Twenty touch each other in a row, with a gap that is one off the middle.
    let place = |i: u32| f64::from(i) * 0.9 + if i >= 9 { 5.0 } else { 0.0 };
    let places: Vec<_> = (0..20).map(|i| [place(i), 0.0, 0.5]).collect();
    let levels = cut_in(&balls(&places), 2);
    let face = levels[0].center[0] + levels[0].size[0] / 2.0;
    assert!(face > place(8) + 0.5 && face < place(9) - 0.5, "{face}");
}

#[test]
fn performers_with_more_links_and_collisions_weigh_more() {
    let mut world = balls(&[
        [0.0, 0.0, 0.5],
        [10.0, 0.0, 0.5],
        [20.0, 0.0, 0.5],
        [30.0, 0.0, 0.5],
    ]);
    let link = world.models[0].links[0].clone();
    world.models[0].links = vec![link; 3];
    let levels = cut_in(&world, 2);
    let face = levels[0].center[0] + levels[0].size[0] / 2.0;
    assert!((face - 5.0).abs() < 1e-9, "{face}");
}

#[test]
fn performers_that_a_joint_holds_together_stay_on_one_side() {
    let mut world = balls(&[[0.0, 0.0, 0.5], [10.0, 0.0, 0.5], [20.0, 0.0, 0.5]]);
    let end = |model| LinkReference { model, link: 0 };
    let mut join = |parent, child| {
        world.joints = vec![WorldJoint {
            name: "joint".to_owned(),
            kind: JointKind::Fixed,
            parent: sdf::JointEnd::Link(end(parent)),
            child: end(child),
            pose: Pose::IDENTITY,
        }];
        let levels = cut_in(&world, 3);
        assert_eq!(levels.len(), 2);
        levels[0].center[0] + levels[0].size[0] / 2.0
    };
    assert!(join(0, 1) > 10.5);
    assert!(join(2, 1) < 9.5);
}

#[test]
fn levels_tile_the_box_around_everything_and_go_far_out() {
    let mut state = 5;
    let places: Vec<[f64; 3]> = (0..100)
        .map(|_| std::array::from_fn(|_| random(&mut state) * 30.0))
        .collect();
    let levels = cut_in(&balls(&places), 7);
    let boxes: Vec<Bounds> = levels
        .iter()
        .map(|level| Bounds::around(level.center, level.size.map(|edge| edge * 0.5)))
        .collect();
    for _ in 0..1_000 {
        let [x, y, z] = std::array::from_fn(|_| random(&mut state));
        let point = [x * 220.0 - 95.0, y * 220.0 - 95.0, z * 2_000.0 - 980.0];
        let point = Bounds::around(point, [0.0; 3]);
        let holding = boxes.iter().filter(|level| level.touches(&point));
        assert_eq!(holding.count(), 1, "{point:?}");
    }
}

#[test]
fn the_buffer_is_as_wide_as_performers_reach_within_bounds() {
    for (size, buffer) in [(0.2, 1.0), (6.0, 3.0), (100.0, 10.0)] {
        let mut model = box_model("box", [0.0; 3], [size, 1e-9, 1e-9]);
        model.is_static = false;
        let level = &cut_in(&world(vec![model]), 1)[0];
        assert!((level.buffer - buffer).abs() < 1e-6, "{size}");
    }
}

#[test]
fn a_static_model_is_in_every_level_whose_outer_box_it_touches() {
    let mut state = 3;
    let mut models: Vec<Model> = (0..200)
        .map(|i| {
            let place = std::array::from_fn(|_| random(&mut state) * 60.0);
            performer(&format!("ball_{i}"), place)
        })
        .collect();
    for i in 0..100 {
        let center = std::array::from_fn(|_| random(&mut state) * 60.0);
        let size = std::array::from_fn(|_| 0.1 + random(&mut state) * 10.0);
        models.push(box_model(&format!("box_{i}"), center, size));
    }
    let world = world(models);
    for level in cut_in(&world, 9) {
        let outer = Bounds::around(level.center, level.size.map(|edge| edge * 0.5));
        let outer = outer.inflated(level.buffer);
        let expected: Vec<&str> = world
            .models
            .iter()
            .filter(|model| model.is_static)
            .filter(|model| {
                let (min, max) = model.collision_bounds().unwrap();
                outer.touches(&Bounds { min, max })
            })
            .map(|model| model.name.as_str())
            .collect();
        assert_eq!(level.models, expected, "{}", level.name);
    }
}

#[test]
fn grounds_and_what_touches_nothing_are_in_no_level() {
    let mut plane = platform("plane");
    let (normal, size) = ([0.0, 0.0, 1.0], [100.0; 2]);
    plane.links[0].collisions[0].geometry = Geometry::Plane { normal, size };
    let mut sign = platform("sign");
    sign.links[0].collisions.clear();
    let mut models = vec![
        plane,
        sign,
        box_model("terrain", [10.0, 0.0, -1.0], [40.0, 40.0, 1.0]),
        box_model("house", [4.0, 8.0, 1.0], [3.0, 3.0, 3.0]),
    ];
    models.extend((0..8).map(|i| performer(&format!("ball_{i}"), [f64::from(i), 0.0, 0.5])));
    for level in cut_in(&world(models), 2) {
        assert_eq!(level.models, ["house"], "{}", level.name);
    }
}

#[test]
fn worlds_in_which_nothing_moves_have_no_levels() {
    assert_eq!(cut_in(&world(Vec::new()), 4), []);
    assert_eq!(cut_in(&world(vec![platform("floor")]), 4), []);
}

#[test]
fn fewer_performers_or_places_than_levels_give_fewer_levels() {
    assert_eq!(cut_in(&balls(&[[0.0; 3]]), usize::MAX).len(), 1);
    assert_eq!(cut_in(&balls(&[[0.0; 3], [5.0; 3]]), 4).len(), 2);
    assert_eq!(cut_in(&balls(&[[1.0; 3]; 20]), 4).len(), 1);
    let mut places = vec![[0.0; 3]; 20];
    places.extend([[3.0, 0.0, 0.0], [6.0, 0.0, 0.0], [9.0, 0.0, 0.0]]);
    assert_eq!(cut_in(&balls(&places), 4).len(), 4);
    places.reverse();
    assert_eq!(cut_in(&balls(&places), 4).len(), 4);
    for place in &mut places {
        place[0] = -place[0];
    }
    assert_eq!(cut_in(&balls(&places), 4).len(), 4);
}

#[test]
fn performers_without_end_or_without_shape_are_where_their_origin_is() {
    let mut world = balls(&[[0.0; 3], [10.0, 0.0, 0.0], [20.0, 0.0, 0.0]]);
    let (normal, size) = ([0.0, 0.0, 1.0], [100.0; 2]);
    world.models[0].links[0].collisions[0].geometry = Geometry::Plane { normal, size };
    world.models[1].links[0].collisions.clear();
    let levels = cut_in(&world, 3);
    assert_eq!(levels.len(), 3);
    assert!(levels.iter().all(|level| level.buffer == 1.0));
}

#[test]
fn performers_out_of_all_bounds_do_no_harm() {
    for far in [1e300, -1e7, f64::INFINITY, f64::NAN] {
        let world = balls(&[[0.0; 3], [5.0, 0.0, 0.0], [far, 0.0, 0.0]]);
        let levels = cut_in(&world, 3);
        assert_eq!(levels.len(), 2, "{far}");
        let is_finite = |level: &Level| level.size.iter().all(|edge| *edge < 1e4);
        assert!(levels.iter().all(is_finite), "{far}");
    }
}

#[test]
fn declared_boxes_count() {
    let mut world = balls(&[[0.0; 3], [10.0, 0.0, 0.0]]);
    world.performers.push(Performer {
        name: "wide".to_owned(),
        model: "ball_0".to_owned(),
        size: [14.0, 1.0, 1.0],
    });
    let face = |level: &Level| level.center[0] + level.size[0] / 2.0;
    assert!((face(&cut_in(&world, 2)[0]) - 8.25).abs() < 1e-9);
}

#[test]
fn a_world_with_levels_is_refused_by_name() {
    let mut world = crate::levels::tests::world("theirs", &["L1", "L2"]);
    world.models.push(performer("ball", [0.0; 3]));
    let error = cut(&world, NonZeroUsize::MIN).unwrap_err();
    let CutError::HasLevels { world, levels } = &error;
    assert_eq!((world.as_str(), *levels), ("theirs", 2));
}

#[test]
fn the_same_world_is_cut_the_same() {
    let mut state = 9;
    let places: Vec<[f64; 3]> = (0..2_000)
        .map(|_| std::array::from_fn(|_| random(&mut state) * 100.0))
        .collect();
    let world = balls(&places);
    assert_eq!(cut_in(&world, 40), cut_in(&world.clone(), 40));
}
