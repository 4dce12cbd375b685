//! Actors go where their script says, in every cell, and push what is in their way.

use std::sync::Arc;

use protocol::{PerformerId, SimTime};
use sdf::World;

use super::builder::*;
use crate::{Cell, ModelRef};

const BALL: &str = "<link name='l'><collision name='c'><geometry><sphere><radius>0.5</radius>\
    </sphere></geometry></collision></link>";

/// Returns a world with an actor and, beside it, a cube at 5 m.
fn stage(script: &str, link: &str) -> Arc<World> {
    let text = format!(
        "<sdf version='1.11'><world name='w'><gravity>0 0 0</gravity><actor name='a'>\
         <pose>0 0 1 0 0 0</pose>{link}<script>{script}</script></actor><model name='cube'>\
         <pose>5 0 1 0 0 0</pose><link name='link'><collision name='c'><geometry><box>\
         <size>1 1 1</size></box></geometry></collision></link></model></world></sdf>"
    );
    let read = sdf::read_worlds(&text, "w.sdf", &sdf::NoFiles).unwrap();
    Arc::new(read.worlds.into_iter().next().unwrap())
}

fn trajectory(tension: f64, points: &[(f64, [f64; 4])]) -> String {
    let point = |(time, [x, y, z, yaw]): &(f64, [f64; 4])| {
        format!("<waypoint><time>{time}</time><pose>{x} {y} {z} 0 0 {yaw}</pose></waypoint>")
    };
    let points: String = points.iter().map(point).collect();
    format!("<trajectory id='0' type='walk' tension='{tension}'>{points}</trajectory>")
}

/// Goes along x by 4 m in 4 s.
fn walk() -> String {
    trajectory(0.0, &[(0.0, [0.0; 4]), (4.0, [4.0, 0.0, 0.0, 0.0])])
}

/// Returns where a part of the walk ends: a Hermite curve with tangents of half the way.
fn along(part: f64) -> f64 {
    let (square, cube) = (part * part, part * part * part);
    4.0 * (3.0 * square - 2.0 * cube) + 2.0 * (2.0 * cube - 3.0 * square + part)
}

fn advance(cell: &mut Cell, steps: std::ops::Range<u64>) {
    for step in steps {
        let [begin, end] = [step, step + 1].map(|step| SimTime(step * 1_000_000));
        cell.move_actors(begin, end);
        cell.step(STEP);
    }
}

fn actor(cell: &Cell) -> [f64; 3] {
    let solids: Vec<_> = cell.actor_solids().collect();
    assert_eq!(solids.len(), 1);
    solids[0].at.translation.to_array()
}

fn assert_near(found: [f64; 3], expected: [f64; 3]) {
    let mut pairs = found.iter().zip(&expected);
    let near = pairs.all(|(one, other)| (one - other).abs() < 1e-9);
    assert!(near, "{found:?} is not {expected:?}");
}

fn check(script: &str, link: &str, steps: u64, expected: [f64; 3]) {
    let mut cell = Cell::new(stage(script, link));
    advance(&mut cell, 0..steps);
    assert_near(actor(&cell), expected);
}

#[test]
fn an_actor_is_where_its_script_says_with_collisions_and_without() {
    for link in ["", BALL] {
        check("", link, 100, [0.0, 0.0, 1.0]);
        for (steps, part) in [(2000, 0.5), (1000, 0.25), (4500, 0.125)] {
            check(&walk(), link, steps, [along(part), 0.0, 1.0]);
        }
    }
}

#[test]
fn a_script_waits_ends_or_does_not_begin_as_it_says() {
    let with = |settings: &str| format!("{settings}{}", walk());
    let once = with("<loop>false</loop>");
    check(&once, BALL, 4500, [4.0, 0.0, 1.0]);
    let late = with("<delay_start>1</delay_start>");
    check(&late, BALL, 1000, [0.0, 0.0, 1.0]);
    check(&late, BALL, 3000, [2.0, 0.0, 1.0]);
    let never = with("<auto_start>false</auto_start>");
    check(&never, BALL, 2000, [0.0, 0.0, 1.0]);
}

#[test]
fn an_actor_turns_the_shorter_way() {
    let script = trajectory(1.0, &[(0.0, [0.0; 4]), (1.0, [0.0, 0.0, 0.0, 2.0])]);
    let mut cell = Cell::new(stage(&script, BALL));
    advance(&mut cell, 0..500);
    let rotation = cell.actor_solids().next().unwrap().at.rotation;
    let expected = [0.0, 0.0, libm::sin(0.5), libm::cos(0.5)];
    let mut pairs = rotation.to_array().into_iter().zip(expected);
    assert!(pairs.all(|(one, other)| (one - other).abs() < 1e-9));
}

#[test]
fn an_actor_pushes_what_is_in_its_way_and_is_not_pushed() {
    let script = trajectory(0.0, &[(0.0, [0.0; 4]), (8.0, [8.0, 0.0, 0.0, 0.0])]);
    let pushed = |link: &str| {
        let mut cell = Cell::new(stage(&script, link));
        cell.insert_performer(PerformerId(0), 0);
        advance(&mut cell, 0..7000);
        let cube = ModelRef::moving(PerformerId(0), 0);
        (actor(&cell)[0], cell.link_pose(cube, 0).position[0])
    };
    let (actor, cube) = pushed(BALL);
    assert!(actor > 6.0 && cube > actor + 0.9, "{actor} {cube}");
    let (same, stays) = pushed("");
    assert!((same - actor).abs() < 1e-9);
    assert!((stays - 5.0).abs() < 1e-9, "{stays}");
}

#[test]
fn a_cell_that_stood_still_and_one_from_a_snapshot_see_the_actor_where_it_is() {
    let world = stage(&walk(), BALL);
    let mut late = Cell::new(Arc::clone(&world));
    advance(&mut late, 1999..2000);
    assert_near(actor(&late), [2.0, 0.0, 1.0]);
    let mut cell = Cell::new(Arc::clone(&world));
    cell.insert_performer(PerformerId(0), 0);
    advance(&mut cell, 0..3900);
    let mut copy = Cell::restore(world, &cell.snapshot()).unwrap();
    assert_near(actor(&copy), actor(&cell));
    for cell in [&mut cell, &mut copy] {
        advance(cell, 3900..4300);
    }
    assert!(cell.snapshot() == copy.snapshot());
}

#[test]
fn an_actor_without_collisions_is_a_capsule_of_a_persons_size() {
    let cell = Cell::new(stage("", ""));
    let solid = cell.actor_solids().next().unwrap();
    let around = solid.shape.compute_aabb(&solid.at);
    assert_near(around.mins.to_array(), [-0.25, -0.25, 0.1]);
    assert_near(around.maxs.to_array(), [0.25, 0.25, 1.9]);
}

#[test]
fn rays_meet_actors_where_they_are_now() {
    for (link, radius) in [("", 0.25), (BALL, 0.5)] {
        let mut cell = Cell::new(stage(&walk(), link));
        let mut distance = || {
            let hit = cell.cast_ray([-10.0, 0.0, 1.0], [1.0, 0.0, 0.0], 50.0);
            let distance = hit.unwrap().distance;
            advance(&mut cell, 0..1000);
            distance
        };
        assert!((distance() - (10.0 - radius)).abs() < 1e-9);
        assert!((distance() - (10.0 - radius + along(0.25))).abs() < 1e-6);
    }
}
