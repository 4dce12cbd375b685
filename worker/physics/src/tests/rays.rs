//! Rays and ghosts: what is seen, and that seeing changes nothing.

use std::sync::Arc;

use protocol::{LinkPoses, PerformerId};
use sdf::Geometry;

use super::builder::*;
use super::determinism::{digest, heap, robot};
use crate::{Cell, Echo, RayHit, Scan};

const BALL: Geometry = Geometry::Sphere { radius: 0.5 };
const DOWN: [f64; 3] = [0.0, 0.0, -1.0];

fn ball(position: [f64; 3]) -> sdf::Model {
    body("ball", pose(position, [0.0; 3]), collision(BALL, 1.0))
}

fn check(cell: &Cell, origin: [f64; 3], direction: [f64; 3], expected: Option<(usize, f64)>) {
    let hit = cell.cast_ray(origin, direction, 100.0);
    assert_eq!(hit.map(|hit| hit.model), expected.map(|(model, _)| model));
    if let (Some(hit), Some((_, distance))) = (hit, expected) {
        assert!((hit.distance - distance).abs() < 1e-12, "{hit:?}");
    }
}

fn place(cell: &mut Cell, ghost: u32, position: [f64; 3]) -> bool {
    let [x, y, z] = position;
    let poses = LinkPoses::pack(PerformerId(ghost), [[x, y, z, 0.0, 0.0, 0.0, 1.0]]);
    cell.place_ghost(&poses)
}

#[test]
fn a_ray_meets_the_nearest_of_statics_performers_and_ghosts() {
    let shelf = Geometry::Box {
        size: [1.0, 1.0, 0.2],
    };
    let shelf = fixed(body(
        "shelf",
        pose([2.0, 0.0, 3.0], [0.0; 3]),
        collision(shelf, 1.0),
    ));
    let world = world(vec![
        ground(1.0),
        ball([0.0, 0.0, 5.0]),
        shelf,
        ball([4.0, 0.0, 5.0]),
    ]);
    let mut cell = Cell::new(Arc::clone(&world));
    cell.insert_static(0);
    check(&cell, [0.0, 0.0, 10.0], DOWN, Some((0, 10.0)));
    cell.insert_performer(PerformerId(7), 1);
    cell.insert_static(2);
    check(&cell, [0.0, 0.0, 10.0], DOWN, Some((1, 4.5)));
    check(&cell, [2.0, 0.0, 10.0], [0.0, 0.0, -3.0], Some((2, 6.9)));
    check(&cell, [4.0, 0.0, 10.0], DOWN, Some((0, 10.0)));
    cell.insert_ghost(PerformerId(8), 3);
    check(&cell, [4.0, 0.0, 10.0], DOWN, Some((3, 4.5)));
    assert!(place(&mut cell, 8, [2.0, 0.0, 6.0]));
    check(&cell, [2.0, 0.0, 10.0], DOWN, Some((3, 3.5)));
    check(&cell, [4.0, 0.0, 10.0], DOWN, Some((0, 10.0)));
    check(&cell, [4.0, 0.0, 10.0], [0.0, 0.0, 1.0], None);
    cell.remove_ghost(PerformerId(8));
    cell.remove_static(2);
    check(&cell, [2.0, 0.0, 10.0], DOWN, Some((0, 10.0)));
    run(&mut cell, 0.5);
    let fallen = 5.0 - state(&mut cell, 7).position[2];
    check(&cell, [0.0, 0.0, 10.0], DOWN, Some((1, 4.5 + fallen)));
    cell.remove_performer(PerformerId(7));
    check(&cell, [0.0, 0.0, 10.0], DOWN, Some((0, 10.0)));
}

#[test]
fn a_hit_has_a_normal_and_ends_at_the_greatest_distance() {
    let cell = cell(vec![ball([0.0; 3]), ball([5.0, 0.0, 0.0])]);
    let cast = |distance| cell.cast_ray([2.0, 0.0, 0.0], [-1.0, 0.0, 0.0], distance);
    let expected = RayHit {
        distance: 1.5,
        normal: [1.0, 0.0, 0.0],
        model: 0,
    };
    assert_eq!(cast(1.5), Some(expected));
    assert_eq!(cast(f64::INFINITY), Some(expected));
    assert_eq!(cast(1.4999), None);
    let inside = cell.cast_ray([5.1, 0.0, 0.0], [1.0, 0.0, 0.0], 1.0);
    let inside = inside.unwrap();
    assert_eq!(
        (inside.distance, inside.normal, inside.model),
        (0.0, [0.0; 3], 1)
    );
}

#[test]
fn degenerate_rays_hit_nothing() {
    let cell = cell(vec![ground(1.0), ball([0.0; 3])]);
    let up = [0.0, 0.0, 1.0];
    for (origin, direction, distance) in [
        ([0.0, 0.0, -5.0], [0.0; 3], 9.0),
        ([0.0, 0.0, -5.0], [0.0, f64::NAN, 1.0], 9.0),
        ([0.0, f64::INFINITY, -5.0], up, 9.0),
        ([0.0, 0.0, -5.0], up, f64::NAN),
        ([0.0, 0.0, -5.0], up, -1.0),
    ] {
        assert_eq!(cell.cast_ray(origin, direction, distance), None);
    }
}

#[test]
fn a_tree_finds_what_trying_all_finds() {
    let mut models = Vec::new();
    for number in 0..300_u32 {
        let part = |factor: f64| (f64::from(number) * factor).sin() * 10.0;
        models.push(ball([part(1.7), part(2.9), part(5.3)]));
    }
    let world = world(models);
    let all = fill(&world);
    let mut hits = 0;
    for number in 0..200_u32 {
        let part = |factor: f64| (f64::from(number) * factor).cos();
        let direction = [part(0.7), part(1.3), part(2.1)];
        let cast = |cell: &Cell| cell.cast_ray([0.0; 3], direction, 30.0);
        let nearest = (0..world.models.len()).filter_map(|model| {
            let mut one = Cell::new(Arc::clone(&world));
            one.insert_ghost(PerformerId(0), model);
            cast(&one)
        });
        let nearest = nearest.min_by(|first, second| first.distance.total_cmp(&second.distance));
        assert_eq!(cast(&all), nearest, "{direction:?}");
        hits += usize::from(nearest.is_some());
    }
    assert!(hits > 50, "{hits} hits");
}

#[test]
fn a_scan_finds_what_single_rays_find_also_along_axes_and_faces() {
    let mut models = vec![ground(1.0)];
    for number in 0..200_u32 {
        let part = |factor: f64| ((f64::from(number) * factor).sin() * 9.0).round();
        let size = [1.0, 2.0, 1.0];
        let cube = collision(Geometry::Box { size }, 1.0);
        let at = pose([part(1.7), part(2.9), part(5.3).abs() + 0.5], [0.0; 3]);
        let cube = body("cube", at, cube);
        models.push(if number % 2 == 0 { fixed(cube) } else { cube });
    }
    let cell = cell(models);
    let steps = [-1.0, -0.5, 0.0, 0.3, 1.0];
    let mut hits = 0;
    for origin in [[0.0, 0.0, 3.25], [0.5, 1.0, 3.0], [20.0, -20.0, 9.0]] {
        let scan = Scan {
            origin,
            begin: 0.0,
            end: 60.0,
            own_link: None,
        };
        let all = steps.iter().flat_map(|x| steps.map(|y| [*x, y]));
        let all = all.flat_map(|[x, y]| steps.map(|z| [x, y, z]));
        for direction in all.filter(|direction| *direction != [0.0; 3]) {
            let length = direction.iter().map(|part| part * part).sum::<f64>().sqrt();
            let unit = direction.map(|part| part / length);
            let mut met = None;
            cell.cast_rays(&scan, [unit], |echo| met = Some(echo));
            let single = cell.cast_ray(origin, unit, 60.0).map(|hit| hit.distance);
            match met.unwrap() {
                Echo::Nothing => assert_eq!(single, None, "{origin:?} {unit:?}"),
                Echo::TooNear => assert_eq!(single, Some(0.0), "{origin:?} {unit:?}"),
                Echo::At { distance, .. } => {
                    let error = (single.unwrap() - distance).abs();
                    assert!(error < 1e-9, "{origin:?} {unit:?}");
                    hits += 1;
                }
            }
        }
    }
    assert!(hits > 50, "{hits} hits");
}

#[test]
fn of_hits_at_the_same_distance_every_host_returns_the_same() {
    let same = || ball([0.0, 0.0, 1.0]);
    let world = world(vec![ground(1.0), same(), same(), same(), fixed(same())]);
    let mut cell = fill(&world);
    let cast = |cell: &Cell| cell.cast_ray([0.0, 0.0, 9.0], DOWN, 90.0).unwrap().model;
    assert_eq!(cast(&cell), 4);
    cell.remove_static(4);
    let restored = Cell::restore(Arc::clone(&world), &cell.snapshot()).unwrap();
    assert_eq!(cast(&cell), cast(&restored));
}

#[test]
fn poses_that_are_none_move_no_ghost() {
    let world = world(vec![ball([0.0; 3]), robot([0.0; 3])]);
    let mut cell = Cell::new(world);
    cell.insert_ghost(PerformerId(0), 0);
    cell.insert_ghost(PerformerId(1), 1);
    assert_eq!(cell.ghosts().collect::<Vec<_>>(), [0, 1].map(PerformerId));
    assert!(!place(&mut cell, 1, [0.0; 3]), "one pose for three links");
    assert!(!place(&mut cell, 2, [0.0; 3]), "no such ghost");
    assert!(!place(&mut cell, 0, [f64::NAN, 0.0, 0.0]));
    let unturned = LinkPoses::pack(PerformerId(0), [[0.0; 7]]);
    assert!(!cell.place_ghost(&unturned));
    assert!(place(&mut cell, 0, [9.0, 0.0, 0.0]));
}

#[test]
fn ghosts_change_no_bit_and_are_in_snapshots() {
    let world = heap();
    let mut cell = fill(&world);
    let mut haunted = fill(&world);
    for ghost in 100..140 {
        haunted.insert_ghost(PerformerId(ghost), ghost as usize - 99);
    }
    for step in 0..1000_u32 {
        cell.step(STEP);
        haunted.step(STEP);
        let height = 5.0 - f64::from(step) * 0.004;
        assert!(place(&mut haunted, 100 + step % 40, [0.0, 0.0, height]));
        let _ = haunted.cast_ray([0.0, 0.0, 9.0], DOWN, 90.0);
        assert_eq!(digest(&mut cell), digest(&mut haunted), "step {step}");
    }
    let restored = Cell::restore(Arc::clone(&world), &haunted.snapshot()).unwrap();
    assert!(restored.ghosts().eq(haunted.ghosts()));
    for number in 0..50_u32 {
        let origin = [f64::from(number) * 0.02 - 0.5, 0.1, 9.0];
        let cast = |cell: &Cell| cell.cast_ray(origin, DOWN, 90.0);
        assert_eq!(cast(&restored), cast(&haunted));
    }
}

#[test]
fn a_copy_of_a_performer_is_seen_where_the_performer_is() {
    let world = world(vec![robot([0.0, 0.0, 4.0])]);
    let mut cell = fill(&world);
    run(&mut cell, 0.3);
    let mut neighbour = Cell::new(world);
    neighbour.insert_ghost(PerformerId(0), 0);
    assert!(neighbour.place_ghost(&cell.link_poses(PerformerId(0))));
    for number in 0..50_u32 {
        let origin = [f64::from(number) * 0.01 - 0.25, 0.1, 9.0];
        let cast = |cell: &Cell| cell.cast_ray(origin, DOWN, 90.0);
        assert_eq!(cast(&neighbour), cast(&cell));
    }
}
