//! The reach of a performer holds all of its collisions during the next step.

use rapier3d_f64::math::Vector;
use sdf::Geometry;

use super::builder::*;
use super::determinism::heap;
use crate::{Cell, PerformerStates};

/// Returns the box around all colliders of each performer.
fn boxes(cell: &Cell) -> Vec<[Vector; 2]> {
    let around = |links: &[rapier3d_f64::dynamics::RigidBodyHandle]| {
        let colliders = links
            .iter()
            .flat_map(|link| cell.physics.bodies[*link].colliders());
        let boxes = colliders.map(|collider| cell.physics.colliders[*collider].compute_aabb());
        let none = [Vector::INFINITY, Vector::NEG_INFINITY];
        boxes.fold(none, |[least, greatest], next| {
            [least.min(next.mins), greatest.max(next.maxs)]
        })
    };
    let performers = cell.contents.performers.values();
    performers
        .map(|performer| around(&performer.links))
        .collect()
}

/// Returns by how much a box leaves a reach \[m\].
fn excess(reach: [[f32; 3]; 2], [least, greatest]: [Vector; 2]) -> f64 {
    let [low, high] = reach.map(|corner| Vector::from_array(corner.map(f64::from)));
    (low - least).max(greatest - high).max_element()
}

/// Before the heap lands nothing but gravity acts, and the reach must hold everything; after that,
/// contacts push outwards by no more than they turn a velocity round.
#[test]
fn a_reach_holds_the_step_that_follows() {
    let world = heap();
    let mut cell = fill(&world);
    for step in 0..1200 {
        let states = states(&mut cell);
        for (state, now) in states.iter().zip(boxes(&cell)) {
            assert!(excess(state.reach, now) <= 0.0, "step {step}: {state:?}");
        }
        cell.step(STEP);
        for (state, next) in states.iter().zip(boxes(&cell)) {
            let excess = excess(state.reach, next);
            assert!(excess < 0.02, "step {step}, {excess}: {state:?}");
        }
    }
}

#[test]
fn a_reach_holds_what_flies_and_turns_fast() {
    let arm = Geometry::Box {
        size: [2.0, 0.1, 0.1],
    };
    let mut cell = cell(vec![body(
        "arm",
        pose([1.0, 2.0, 3.0], [0.3, 0.2, 0.1]),
        collision(arm, 1.0),
    )]);
    let handle = cell.contents.performers[&protocol::PerformerId(0)].links[0];
    let body = &mut cell.physics.bodies[handle];
    body.set_linvel(Vector::new(300.0, -50.0, 20.0), true);
    body.set_angvel(Vector::new(20.0, 60.0, 40.0), true);
    for step in 0..500 {
        let reach = state(&mut cell, 0).reach;
        cell.step(STEP);
        let next = boxes(&cell)[0];
        assert!(
            excess(reach, next) <= 0.0,
            "step {step}: {reach:?} {next:?}"
        );
    }
}

#[test]
fn a_reach_grows_with_the_step_and_is_none_without_collisions() {
    let bare = model(
        "bare",
        vec![link("link", pose([0.0; 3], [0.0; 3]), None)],
        Vec::new(),
    );
    let ball = body(
        "ball",
        pose([1.0, 0.0, 0.0], [0.0; 3]),
        collision(Geometry::Sphere { radius: 0.5 }, 1.0),
    );
    let cell = cell(vec![bare, ball]);
    let mut performer_states = PerformerStates::default();
    let mut reach = |step_size_s| {
        cell.read(step_size_s, false, &mut performer_states);
        [
            performer_states.states()[0].reach,
            performer_states.states()[1].reach,
        ]
    };
    assert_eq!(
        reach(0.0),
        [protocol::NO_REACH, [[0.5, -0.5, -0.5], [1.5, 0.5, 0.5]]]
    );
    let [_, [least, greatest]] = reach(0.5);
    assert_eq!(greatest, [1.5, 0.5, 0.5]);
    let fallen = -0.5 - GRAVITY * 0.25;
    assert!((f64::from(least[2]) - fallen).abs() < 1e-6 && f64::from(least[2]) <= fallen);
}
