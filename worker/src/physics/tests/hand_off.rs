//! Performers that leave one cell and enter another go on as if they had stayed.

use std::sync::Arc;

use protocol::PerformerId;
use sdf::{
    Axis, Geometry, JointEnd, JointKind, JointParent, LinkReference, Model, World, WorldJoint,
};

use super::builder::*;
use super::determinism::{digest, heap, machine, robot, workshop};
use super::ratios::{arms, follow, free, gears};
use crate::physics::{Arrival, Cell};

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
fn statics(world: &Arc<World>) -> Cell {
    let mut cell = Cell::new(Arc::clone(world));
    for (index, model) in world.models.iter().enumerate() {
        if model.is_static {
            cell.insert_static(index);
        }
    }
    cell
}

/// Hands performers over, as a step does.
fn hand_off(from: &mut Cell, to: &mut Cell, performers: &[PerformerId]) {
    let transfer = |performer: &PerformerId| (*performer, from.transfer(*performer));
    let states: Vec<_> = performers.iter().map(transfer).collect();
    for performer in performers {
        from.remove_performer(*performer);
    }
    adopt(to, &states).unwrap();
}

fn adopt(
    to: &mut Cell,
    states: &[(PerformerId, Vec<u8>)],
) -> Result<(), crate::physics::AdoptError> {
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
const BOX: Geometry = Geometry::Box {
    size: [0.2, 0.2, 0.2],
};

fn at(position: [f64; 3], geometry: Geometry) -> Model {
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
    check("rolling robot", &rolling, 0.5, &Deviation::Contacts(1e-5));
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
fn chain() -> Arc<World> {
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

/// Hands all performers over and keeps them.
fn hand_off_a_copy(from: &Cell, to: &mut Cell) {
    let transfer = |performer| (performer, from.transfer(performer));
    let states: Vec<_> = from.performers().map(transfer).collect();
    adopt(to, &states).unwrap();
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
    for step in 0..1000 {
        assert!(are_asleep(&to), "step {step}");
        to.step(STEP);
    }
    let after = states(&mut to);
    assert_eq!(before[..], after[..3]);
}

/// Two boxes arrive asleep, and in the same step a third flies into one of them.
#[test]
fn sleepers_that_are_hit_as_they_arrive_wake_together() {
    let mut models = vec![ground(1.0)];
    models.extend([0.1, 0.3, 5.0].map(|height| at([0.0, 0.0, height], BOX)));
    let world = world(models);
    let mut from = Cell::new(Arc::clone(&world));
    from.insert_static(0);
    from.insert_performer(PerformerId(1), 1);
    from.insert_performer(PerformerId(2), 2);
    run(&mut from, 5.0);
    assert!(are_asleep(&from));
    for gap in [0.0, 0.0005, 0.001, 0.002, 0.004] {
        let mut to = statics(&world);
        to.insert_performer(PerformerId(3), 3);
        run(&mut to, 0.1);
        let handle = to.contents.performers[&PerformerId(3)].links[0];
        let body = &mut to.physics.bodies[handle];
        let velocity = rapier3d_f64::math::Vector::new(0.0, 0.0, -2.0);
        body.set_translation(rapier3d_f64::math::Vector::new(0.1, 0.0, 0.5 + gap), true);
        body.set_linvel(velocity, true);
        hand_off_a_copy(&from, &mut to);
        for step in 0..10 {
            to.step(STEP);
            let sleeping = to.contents.performers.values().map(|performer| {
                let body = performer.links[0];
                let is_active = to
                    .physics
                    .islands
                    .active_bodies()
                    .any(|active| active == body);
                (to.physics.bodies[body].is_sleeping(), !is_active)
            });
            for (flagged, left_out) in sleeping {
                assert_eq!(flagged, left_out, "gap {gap}, step {step}");
            }
        }
        let awake = to.physics.islands.active_bodies().count();
        assert_eq!(awake, 3, "gap {gap}");
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
        for round in 0..36_usize {
            let chosen: Vec<_> = all
                .iter()
                .filter(|id| (id.0 as usize + round) % 3 == 0)
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
    let begin = std::time::Instant::now();
    let transfer = |performer| (performer, from.transfer(performer));
    let states: Vec<_> = from.performers().map(transfer).collect();
    let transferred = begin.elapsed();
    let bytes: usize = states.iter().map(|(_, state)| state.len()).sum();
    let mut to = statics(&world);
    let begin = std::time::Instant::now();
    adopt(&mut to, &states).unwrap();
    let adopted = begin.elapsed();
    let begin = std::time::Instant::now();
    to.settle();
    let settled = begin.elapsed();
    let begin = std::time::Instant::now();
    to.step(STEP);
    let stepped = begin.elapsed();
    println!(
        "100 hand-offs of {links} links: {} bytes a link; transfer {transferred:?}, adopt \
         {adopted:?}, settle {settled:?}, the step after {stepped:?}",
        bytes / links
    );
    assert!(bytes / links < 1500, "{bytes} bytes for {links} links");
}
