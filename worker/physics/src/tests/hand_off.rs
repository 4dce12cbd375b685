//! Performers that leave one cell and enter another go on as if they had stayed.

use std::sync::Arc;

use protocol::PerformerId;
use sdf::{
    Axis, Geometry, JointEnd, JointKind, JointParent, LinkReference, Model, World, WorldJoint,
};

use super::builder::*;
use super::determinism::{digest, machine, robot};
use super::ratios::{arms, follow, free, gears};
use crate::{Arrival, Cell};

const X: [f64; 3] = [1.0, 0.0, 0.0];
const Y: [f64; 3] = [0.0, 1.0, 0.0];
const Z: [f64; 3] = [0.0, 0.0, 1.0];

/// How far a hand-off may take a performer from where it would be, while the scene runs \[m\].
enum Deviation {
    /// Not by a bit.
    None,
    /// Rounding: the solver meets joints in another order.
    Rounding,
    /// What rapier knows of contacts is lost.
    Contacts(f64),
}

/// Returns a cell with the static models of a world.
pub(super) fn statics(world: &Arc<World>) -> Cell {
    let mut cell = Cell::new(Arc::clone(world));
    for (index, model) in world.models.iter().enumerate() {
        if model.is_static {
            cell.insert_static(index);
        }
    }
    cell
}

/// Hands performers over, as a step does.
pub(super) fn hand_off(from: &mut Cell, to: &mut Cell, performers: &[PerformerId]) {
    let transfer = |performer: &PerformerId| (*performer, from.transfer(*performer));
    let states: Vec<_> = performers.iter().map(transfer).collect();
    for performer in performers {
        from.remove_performer(*performer);
    }
    adopt(to, &states).unwrap();
}

pub(super) fn adopt(
    to: &mut Cell,
    states: &[(PerformerId, Vec<u8>)],
) -> Result<(), crate::AdoptError> {
    let arrival = |(performer, state)| {
        let PerformerId(model) = performer;
        Arrival {
            performer,
            model: model as usize,
            state,
        }
    };
    let arrivals = states
        .iter()
        .map(|(performer, state)| arrival((*performer, state.as_slice())));
    to.adopt(&arrivals.collect::<Vec<_>>())
}

/// Hands all performers over and keeps them.
pub(super) fn hand_off_a_copy(from: &Cell, to: &mut Cell) {
    let transfer = |performer| (performer, from.transfer(performer));
    let states: Vec<_> = from.performers().map(transfer).collect();
    adopt(to, &states).unwrap();
}

/// Returns the greatest distance between the same performers of two cells \[m\].
fn distance(first: &mut Cell, second: &mut Cell) -> f64 {
    let (first, second) = (states(first), states(second));
    assert_eq!(first.len(), second.len());
    let pairs = first.iter().zip(&second);
    let distances = pairs.map(|(first, second)| {
        assert_eq!(first.performer, second.performer);
        let squares = [0, 1, 2].map(|axis| {
            let way = first.position[axis] - second.position[axis];
            way * way
        });
        squares.iter().sum::<f64>().sqrt()
    });
    distances.fold(0.0, f64::max)
}

/// Runs a scene, hands all of its performers to a new cell, and goes on beside the run without;
/// twice, with the same bits, and once more by way of snapshots.
fn check(scene: &str, world: &Arc<World>, before_s: f64, deviation: &Deviation) {
    let mut stayed = fill(world);
    run(&mut stayed, before_s);
    let all: Vec<_> = stayed.performers().collect();
    let mut moved = [(); 2].map(|()| {
        let mut from = fill(world);
        run(&mut from, before_s);
        let mut to = statics(world);
        hand_off(&mut from, &mut to, &all);
        assert_eq!(from.performers().count(), 0, "{scene}");
        from.step(STEP);
        to
    });
    let unstepped = moved[0].snapshot();
    let mut restored = Cell::restore(Arc::clone(world), &unstepped).unwrap();
    let mut greatest = 0.0_f64;
    assert_eq!(
        digest(&mut stayed),
        digest(&mut moved[0]),
        "{scene}: at once"
    );
    for step in 0..600 {
        stayed.step(STEP);
        let [first, second] = &mut moved;
        first.step(STEP);
        second.step(STEP);
        restored.step(STEP);
        greatest = greatest.max(distance(&mut stayed, first));
        let expected = digest(first);
        assert_eq!(expected, digest(second), "{scene}: twice, step {step}");
        assert_eq!(
            expected,
            digest(&mut restored),
            "{scene}: restored, step {step}"
        );
        if step == 300 {
            restored = Cell::restore(Arc::clone(world), &first.snapshot()).unwrap();
        }
    }
    println!("{scene}: {greatest:e} m");
    let most = match deviation {
        Deviation::None => 0.0,
        Deviation::Rounding => 1e-9,
        Deviation::Contacts(most) => *most,
    };
    assert!(greatest <= most, "{scene}: {greatest} m apart");
}

const BALL: Geometry = Geometry::Sphere { radius: 0.1 };
pub(super) const BOX: Geometry = Geometry::Box {
    size: [0.2, 0.2, 0.2],
};

pub(super) fn at(position: [f64; 3], geometry: Geometry) -> Model {
    body("body", pose(position, [0.0; 3]), collision(geometry, 0.5))
}

/// Returns a model of one arm, its mass off the joint that holds it to the world.
fn arm(kind: JointKind) -> Model {
    let mut arm = link("arm", pose([0.0; 3], [0.0; 3]), None);
    arm.inertial.pose.position = [0.5, 0.1, -0.2];
    model(
        "arm",
        vec![arm],
        vec![joint(kind, JointParent::World, 0, [0.0; 3])],
    )
}

#[test]
fn free_bodies_go_on_with_the_same_bits() {
    let ball = world(vec![at([0.0, 0.0, 50.0], BALL)]);
    check("falling ball", &ball, 0.3, &Deviation::None);
    let mut model = at([0.0, 0.0, 50.0], BOX);
    model.links[0].inertial.inertia = [0.01, 0.0, 0.0, 0.02, 0.0, 0.03];
    model.links[0].inertial.pose.position = [0.05, 0.02, 0.0];
    model.links[0].velocity_decay = [0.1, 0.2];
    let world = world(vec![model]);
    check("tumbling box", &world, 0.3, &Deviation::None);
}

#[test]
fn bodies_in_contact_go_on_within_micrometres() {
    let (incline, above) = incline(0.6, 0.3, 0.1);
    let box_ = body("box", above, collision(BOX, 0.3));
    let sliding = world(vec![incline, box_]);
    check("sliding box", &sliding, 0.3, &Deviation::Contacts(1e-5));
    let mut slope = ground(1.0);
    slope.links[0].collisions[0].geometry = Geometry::Plane {
        normal: [0.2, 0.05, 1.0],
        size: [1.0; 2],
    };
    let rolling = world(vec![slope, robot([0.0, 0.0, 0.12])]);
    check("rolling robot", &rolling, 0.5, &Deviation::Contacts(5e-5));
    let resting = world(vec![ground(1.0), at([0.0, 0.0, 0.1], BOX)]);
    check("resting box", &resting, 0.2, &Deviation::Contacts(1e-6));
}

#[test]
fn joints_and_mechanisms_go_on_where_they_were() {
    let busy = Axis {
        damping: 0.3,
        friction: 0.2,
        spring_stiffness: 3.0,
        spring_reference: 0.4,
        velocity: 2.0,
        ..axis(Y, -9.0, 1.0)
    };
    let screw = JointKind::Screw {
        axis: free(Z),
        thread_pitch: 0.5,
    };
    let strong = Axis {
        damping: 20.0,
        ..free(Y)
    };
    let kinds = [
        ("pendulum", JointKind::Continuous(free(Y))),
        ("limits", JointKind::Revolute(axis(Y, -0.5, 0.7))),
        ("turns", JointKind::Revolute(axis(Y, -4.0, 1.0))),
        ("slide", JointKind::Prismatic(axis(X, -1.0, 1.0))),
        ("ball joint", JointKind::Ball),
        ("universal", JointKind::Universal([free(X), free(Y)])),
        (
            "busy universal",
            JointKind::Revolute2([busy.clone(), axis(X, -0.1, 0.1)]),
        ),
        ("screw", screw),
        ("friction, damper and spring", JointKind::Revolute(busy)),
        ("strong damper", JointKind::Revolute(strong)),
    ];
    for (scene, kind) in kinds {
        for before_s in [0.0, 0.001, 0.4] {
            let scene = format!("{scene} after {before_s} s");
            let world = world(vec![arm(kind.clone())]);
            check(&scene, &world, before_s, &Deviation::Rounding);
        }
    }
    let gearbox = world(vec![gears(true)]);
    check("gearbox", &gearbox, 0.4, &Deviation::Rounding);
    let mimic = world(vec![arms(Some(follow(-0.5, 0.2)))]);
    check("mimic", &mimic, 0.4, &Deviation::Rounding);
}

#[test]
fn machines_with_everything_go_on_where_they_were() {
    let falling = world(vec![machine([0.0, 0.0, 50.0])]);
    check("machine", &falling, 0.4, &Deviation::Rounding);
}

/// A world of two arms, one held by the world and the other by the first.
pub(super) fn chain() -> Arc<World> {
    let arm = |number: f64| {
        let at = pose([number, 0.0, 3.0], [0.0; 3]);
        model("arm", vec![link("arm", at, None)], Vec::new())
    };
    let damped = Axis {
        damping: 0.1,
        friction: 0.1,
        ..axis(Y, -5.0, 5.0)
    };
    let held = |parent, model, x| WorldJoint {
        name: "held".to_owned(),
        kind: JointKind::Universal([damped.clone(), free(X)]),
        parent,
        child: LinkReference { model, link: 0 },
        pose: pose([x, 0.0, 3.0], [0.0; 3]),
    };
    let first = LinkReference { model: 0, link: 0 };
    Arc::new(World {
        joints: vec![
            held(JointEnd::World, 0, -0.5),
            held(JointEnd::Link(first), 1, 0.5),
        ],
        ..World::clone(&world(vec![arm(0.0), arm(1.0)]))
    })
}

#[test]
fn performers_that_the_world_joins_go_together() {
    check("chain", &chain(), 0.4, &Deviation::Rounding);
}

#[test]
fn a_fast_ball_keeps_its_speed() {
    let world = world(vec![at([0.0, 0.0, 1.0], BALL)]);
    let mut cell = fill(&world);
    let handle = cell.contents.performers[&PerformerId(0)].links[0];
    let velocity = rapier3d_f64::math::Vector::new(900.0, -50.0, 7.0);
    cell.physics.bodies[handle].set_linvel(velocity, true);
    run(&mut cell, 0.1);
    let mut to = statics(&world);
    hand_off_a_copy(&cell, &mut to);
    for _ in 0..500 {
        cell.step(STEP);
        to.step(STEP);
        assert_eq!(digest(&mut cell), digest(&mut to));
    }
}
