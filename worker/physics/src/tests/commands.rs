//! Commands against closed forms: poses, joints, wrenches, collisions and attachments.

use std::f64::consts::PI;
use std::sync::Arc;

use protocol::{PerformerId, SimTime};
use sdf::{Axis, Geometry, JointKind, JointParent, LinkReference, Model, Pose};

use super::builder::*;
use super::hand_off::hand_off;
use crate::{Cell, CommandError, ModelRef};

const X: [f64; 3] = [1.0, 0.0, 0.0];
const Y: [f64; 3] = [0.0, 1.0, 0.0];

fn cube(name: &str, at: [f64; 3]) -> Model {
    let shape = Geometry::Box { size: [1.0; 3] };
    body(name, pose(at, [0.0; 3]), collision(shape, 1.0))
}

/// Returns two links 1 m apart along x, held by a joint about or along some axes at the first.
fn pair(kind: JointKind, at: [f64; 3]) -> Model {
    let place = |x: f64| pose([at[0] + x, at[1], at[2]], [0.0; 3]);
    let links = vec![link("a", place(0.0), None), link("b", place(1.0), None)];
    let joint = joint(kind, JointParent::Link(0), 1, at);
    model("pair", links, vec![joint])
}

fn hinge(axis: Axis) -> JointKind {
    JointKind::Revolute(axis)
}

fn free(xyz: [f64; 3]) -> Axis {
    axis(xyz, f64::NEG_INFINITY, f64::INFINITY)
}

/// Returns a cell without gravity.
fn weightless(models: Vec<Model>) -> Cell {
    let mut world = (*world(models)).clone();
    world.gravity = [0.0; 3];
    fill(&Arc::new(world))
}

fn who(model: u32) -> ModelRef {
    ModelRef::moving(PerformerId(model), model as usize)
}

fn at(cell: &Cell, model: u32, link: usize) -> [f64; 3] {
    cell.link_pose(who(model), link).position
}

fn place(cell: &mut Cell, model: u32, pose: &Pose) -> Result<(), CommandError> {
    cell.set_state(PerformerId(model), Some(pose), None)
}

fn reference(model: usize, link: usize) -> LinkReference {
    LinkReference { model, link }
}

fn assert_near(found: [f64; 3], expected: [f64; 3], tolerance: f64) {
    let mut pairs = found.iter().zip(&expected);
    let near = pairs.all(|(one, other)| (one - other).abs() <= tolerance);
    assert!(near, "{found:?} is not {expected:?}");
}

#[test]
fn a_model_that_is_put_elsewhere_keeps_its_form_and_begins_at_rest() {
    let mut cell = cell(vec![pair(hinge(free(Y)), [0.0; 3])]);
    cell.set_joint(PerformerId(0), 0, 0, Some(0.5), Some(3.0))
        .unwrap();
    let form = |cell: &Cell| {
        let [one, other] = [0, 1].map(|link| cell.link_pose(who(0), link));
        one.inverse().then(&other).position
    };
    let before = form(&cell);
    let target = pose([10.0, -3.0, 50.0], [0.3, 0.2, 1.0]);
    place(&mut cell, 0, &target).unwrap();
    assert_near(form(&cell), before, 1e-12);
    let state = state(&mut cell, 0);
    assert_near(state.position, target.position, 1e-12);
    assert_eq!(state.linear_velocity, [0.0; 3]);
    assert_eq!(state.angular_velocity, [0.0; 3]);
    run(&mut cell, 0.5);
    let expected = 50.0 - GRAVITY * 0.5 * 0.5 / 2.0;
    let found = at(&cell, 0, 0)[2];
    assert!((found - expected).abs() < 1e-9, "{found} {expected}");
}

#[test]
fn a_model_with_a_velocity_flies_as_one() {
    let mut cell = cell(vec![pair(hinge(free(Y)), [0.0; 3])]);
    let joint = cell.set_joint(PerformerId(0), 0, 0, Some(0.5), Some(3.0));
    joint.unwrap();
    let target = pose([0.0, 0.0, 50.0], [0.3, 0.2, 1.0]);
    let (linear, angular) = ([2.0, -1.0, 4.0], [0.0, 0.0, 0.0]);
    let set = |cell: &mut Cell, target: Option<&Pose>, velocity| {
        cell.set_state(PerformerId(0), target, Some(velocity))
    };
    set(&mut cell, Some(&target), [linear, angular]).unwrap();
    let found = state(&mut cell, 0);
    assert_near(found.position, target.position, 1e-12);
    assert_near(found.linear_velocity, linear, 1e-12);
    let form = |cell: &Cell| {
        let [one, other] = [0, 1].map(|link| cell.link_pose(who(0), link));
        one.inverse().then(&other).position
    };
    let before = form(&cell);
    run(&mut cell, 0.5);
    assert_near(form(&cell), before, 1e-9);
    let rise = 4.0 * 0.5 - GRAVITY * 0.5 * 0.5 / 2.0;
    assert_near(state(&mut cell, 0).position, [1.0, -0.5, 50.0 + rise], 1e-9);
    // Turning about its origin, every link has the velocity of its place.
    let spin = [0.0, 0.0, 2.0];
    set(&mut cell, None, [[0.0; 3], spin]).unwrap();
    let origin = state(&mut cell, 0);
    assert_near(origin.linear_velocity, [0.0; 3], 1e-12);
    assert_near(origin.angular_velocity, spin, 1e-12);
    let body = cell.body(who(0), 1).unwrap();
    let arm = body.center_of_mass().to_array();
    let [x, y] = [arm[0] - origin.position[0], arm[1] - origin.position[1]];
    assert!(x.hypot(y) > 0.01, "the other link is beside the origin");
    assert_near(body.linvel().to_array(), [-2.0 * y, 2.0 * x, 0.0], 1e-9);
}

#[test]
fn what_is_held_or_never_moves_gets_no_velocity_and_stays_where_it_is() {
    let mut held = cube("held", [0.0, 0.0, 2.0]);
    let mount = joint(hinge(free(Y)), JointParent::World, 0, [0.0, 0.0, 2.0]);
    held.joints = vec![mount];
    let mut idle = cube("idle", [5.0, 0.0, 2.0]);
    idle.links[0].is_static = true;
    let mut cell = cell(vec![held, idle]);
    let velocity = Some([[1.0, 0.0, 0.0], [0.0; 3]]);
    let target = pose([9.0, 9.0, 9.0], [0.0; 3]);
    for (model, expected) in [(0, CommandError::Held), (1, CommandError::NoVelocity)] {
        let before = at(&cell, model, 0);
        let set = cell.set_state(PerformerId(model), Some(&target), velocity);
        assert_eq!(set, Err(expected));
        assert_eq!(at(&cell, model, 0), before);
    }
}

#[test]
fn bodies_on_a_removed_model_wake_and_fall() {
    let stack = vec![
        ground(1.0),
        cube("lower", [0.0, 0.0, 0.5]),
        cube("upper", [0.0, 0.0, 1.5]),
    ];
    let mut cell = cell(stack);
    run(&mut cell, 6.0);
    let body = |cell: &Cell| cell.body(who(2), 0).unwrap().is_sleeping();
    assert!(body(&cell), "it sleeps before");
    place(&mut cell, 1, &pose([5.0, 0.0, 0.5], [0.0; 3])).unwrap();
    run(&mut cell, 2.0);
    assert!((at(&cell, 2, 0)[2] - 0.5).abs() < 0.01);
    assert_near(at(&cell, 1, 0), [5.0, 0.0, 0.5], 0.01);
}

#[test]
fn a_model_that_a_joint_holds_to_the_world_stays() {
    let mut held = pair(hinge(free(Y)), [0.0, 0.0, 2.0]);
    held.joints
        .push(joint(JointKind::Fixed, JointParent::World, 0, [0.0; 3]));
    let mut cell = cell(vec![held]);
    let before = cell.snapshot();
    let refused = place(&mut cell, 0, &Pose::IDENTITY);
    assert_eq!(refused, Err(CommandError::Held));
    assert!(cell.snapshot() == before, "nothing changes");
}

#[test]
fn attached_models_are_put_elsewhere_together() {
    let mut cell = weightless(vec![cube("a", [0.0; 3]), cube("b", [2.0, 0.0, 0.0])]);
    cell.attach(reference(0, 0), reference(1, 0)).unwrap();
    place(&mut cell, 1, &pose([0.0, 0.0, 9.0], [0.0, 0.0, PI / 2.0])).unwrap();
    assert_near(at(&cell, 0, 0), [0.0, -2.0, 9.0], 1e-12);
    run(&mut cell, 0.1);
    assert_near(at(&cell, 0, 0), [0.0, -2.0, 9.0], 1e-9);
    cell.attach(reference(0, 0), reference(1, 0)).unwrap_err();
}

#[test]
fn a_joint_gets_its_position_and_what_hangs_on_it_turns_about_its_axis() {
    let turn = |kind, joint_axis, position: f64| {
        let mut cell = weightless(vec![pair(kind, [0.0, 0.0, 2.0])]);
        cell.set_joint(PerformerId(0), 0, joint_axis, Some(position), None)
            .unwrap();
        assert_near(at(&cell, 0, 0), [0.0, 0.0, 2.0], 1e-12);
        let set = at(&cell, 0, 1);
        run(&mut cell, 0.05);
        assert_near(at(&cell, 0, 1), set, 1e-6);
        set
    };
    let (sine, cosine) = (libm::sin(0.7), libm::cos(0.7));
    let expected = [cosine, 0.0, 2.0 - sine];
    assert_near(turn(hinge(free(Y)), 0, 0.7), expected, 1e-12);
    assert_near(
        turn(JointKind::Prismatic(free(X)), 0, 0.7),
        [1.7, 0.0, 2.0],
        1e-12,
    );
    let screw = JointKind::Screw {
        axis: free(Y),
        thread_pitch: 0.5,
    };
    let slide = 0.7 / (2.0 * PI) * 0.5;
    assert_near(turn(screw, 0, 0.7), [cosine, slide, 2.0 - sine], 1e-12);
    let universal = JointKind::Universal([free(X), free(Y)]);
    assert_near(turn(universal, 1, 0.7), expected, 1e-12);
}

#[test]
fn a_joint_starts_where_its_axis_says_and_counts_from_the_pose_of_the_file() {
    let start = Axis {
        initial_position: 0.7,
        lower: -0.8,
        upper: 0.75,
        ..free(Y)
    };
    let mut model = pair(hinge(start.clone()), [0.0, 0.0, 2.0]);
    model
        .links
        .push(link("c", pose([2.0, 0.0, 2.0], [0.0; 3]), None));
    let second = joint(hinge(start), JointParent::Link(1), 2, [1.0, 0.0, 2.0]);
    model.joints.push(second);
    let mut cell = weightless(vec![model]);
    let (sine, cosine) = (libm::sin(0.7), libm::cos(0.7));
    let first = [cosine, 0.0, 2.0 - sine];
    assert_near(at(&cell, 0, 0), [0.0, 0.0, 2.0], 1e-12);
    assert_near(at(&cell, 0, 1), first, 1e-12);
    let second = [first[0] + libm::cos(1.4), 0.0, first[2] - libm::sin(1.4)];
    assert_near(at(&cell, 0, 2), second, 1e-12);
    for joint in [0, 1] {
        let position = cell.joint_position(who(0), joint, 0);
        assert!((position - 0.7).abs() < 1e-9, "{position}");
    }
    // Pushed on, it stops where the limit of the file is.
    cell.set_joint(PerformerId(0), 1, 0, None, Some(1.0))
        .unwrap();
    run(&mut cell, 0.5);
    let second = cell.joint_position(who(0), 1, 0);
    assert!(second < 0.77, "{second}");
}

#[test]
fn a_joint_that_cannot_start_elsewhere_stays_where_the_file_has_it() {
    let start = Axis {
        initial_position: 1.0,
        ..free(Y)
    };
    let mut model = pair(hinge(start), [0.0; 3]);
    let ball = joint(JointKind::Ball, JointParent::Link(0), 1, [0.0; 3]);
    model.joints.push(ball);
    let cell = weightless(vec![model]);
    assert_near(at(&cell, 0, 1), X, 1e-12);
}

#[test]
fn a_joint_gets_its_velocity_against_its_parent() {
    let mut cell = weightless(vec![pair(hinge(free(Y)), [0.0; 3])]);
    cell.set_joint(PerformerId(0), 0, 0, None, Some(2.0))
        .unwrap();
    let [linear, angular] = cell.link_velocity(who(0), 1);
    assert_near(linear, [0.0, 0.0, -2.0], 1e-12);
    assert_near(angular, [0.0, 2.0, 0.0], 1e-12);
    assert_eq!(cell.link_velocity(who(0), 0), [[0.0; 3]; 2]);
    cell.set_joint(PerformerId(0), 0, 0, None, Some(-1.0))
        .unwrap();
    assert_near(cell.link_velocity(who(0), 1)[1], [0.0, -1.0, 0.0], 1e-12);
}

#[test]
fn turns_are_counted_from_the_position_that_was_set() {
    let spring = Axis {
        spring_reference: 10.0,
        spring_stiffness: 5.0,
        ..free(Y)
    };
    let mut cell = weightless(vec![pair(hinge(spring), [0.0; 3])]);
    cell.set_joint(PerformerId(0), 0, 0, Some(10.0), None)
        .unwrap();
    let before = at(&cell, 0, 1);
    run(&mut cell, 0.2);
    assert_near(at(&cell, 0, 1), before, 1e-6);
}

#[test]
fn joints_in_loops_and_without_positions_are_refused() {
    let refused = |kinds: [JointKind; 2]| {
        let mut model = pair(kinds[0].clone(), [0.0; 3]);
        model
            .joints
            .push(joint(kinds[1].clone(), JointParent::Link(0), 1, [0.0; 3]));
        let mut cell = cell(vec![model]);
        cell.set_joint(PerformerId(0), 0, 0, Some(1.0), None)
    };
    let loops = [hinge(free(Y)), JointKind::Ball];
    assert_eq!(refused(loops), Err(CommandError::Loop));
    let ball = [JointKind::Ball, JointKind::Ball];
    assert_eq!(refused(ball), Err(CommandError::NoPosition));
    let mut single = cell(vec![pair(hinge(free(Y)), [0.0; 3])]);
    let second = single.set_joint(PerformerId(0), 0, 7, Some(1.0), None);
    assert_eq!(second, Err(CommandError::NoPosition));
}

/// Advances as a host does, by whole milliseconds.
fn advance(cell: &mut Cell, steps: std::ops::Range<u64>) {
    for step in steps {
        cell.apply_orders();
        cell.step(STEP);
        cell.end_orders(SimTime((step + 1) * 1_000_000));
    }
}

#[test]
fn a_wrench_acts_until_its_end_and_once_at_least() {
    let push = |until_ms: u64, steps| {
        let mut cell = weightless(vec![cube("a", [0.0; 3])]);
        let until = SimTime(until_ms * 1_000_000);
        let wrench = [[2.0, 0.0, 0.0], [0.0, 0.0, 0.5]];
        cell.add_wrench(PerformerId(0), 0, wrench, until).unwrap();
        advance(&mut cell, 0..steps);
        cell.link_velocity(who(0), 0)
    };
    // 1 kg, and a cube's inertia of 1/6 kg m^2.
    assert_near(push(100, 300)[0], [0.2, 0.0, 0.0], 1e-9);
    assert_near(push(100, 300)[1], [0.0, 0.0, 0.3], 1e-9);
    assert_near(push(0, 10)[0], [0.002, 0.0, 0.0], 1e-9);
}

#[test]
fn wrenches_on_a_performer_are_bounded() {
    let mut cell = weightless(vec![cube("a", [0.0; 3])]);
    let mut add = || cell.add_wrench(PerformerId(0), 0, [[0.0; 3]; 2], SimTime(u64::MAX));
    let accepted = std::iter::repeat_with(&mut add).take_while(Result::is_ok);
    assert_eq!(accepted.count(), 1024);
    assert_eq!(add(), Err(CommandError::TooManyWrenches));
}

#[test]
fn a_body_without_collisions_falls_through_the_ground() {
    let mut cell = cell(vec![ground(1.0), cube("a", [0.0, 0.0, 0.5])]);
    run(&mut cell, 6.0);
    cell.set_collisions(PerformerId(1), None, false);
    run(&mut cell, 0.5);
    assert!(at(&cell, 1, 0)[2] < -0.5, "{:?}", at(&cell, 1, 0));
    place(&mut cell, 1, &pose([0.0, 0.0, 0.6], [0.0; 3])).unwrap();
    cell.set_collisions(PerformerId(1), Some(0), true);
    run(&mut cell, 1.0);
    assert!((at(&cell, 1, 0)[2] - 0.5).abs() < 0.01);
    cell.switch_static(0, 0, false);
    run(&mut cell, 0.5);
    assert!(at(&cell, 1, 0)[2] < -0.5);
}

#[test]
fn attached_links_keep_their_distance_until_they_are_let_go() {
    let shelf = fixed(cube("shelf", [0.0, 0.0, 5.0]));
    let mut cell = cell(vec![
        shelf,
        cube("a", [0.0, 0.0, 3.0]),
        cube("b", [3.0, 0.0, 3.0]),
    ]);
    let pairs = [
        (reference(0, 0), reference(1, 0)),
        (reference(1, 0), reference(2, 0)),
    ];
    for (parent, child) in pairs {
        cell.attach(parent, child).unwrap();
    }
    run(&mut cell, 1.0);
    assert_near(at(&cell, 1, 0), [0.0, 0.0, 3.0], 0.01);
    assert_near(at(&cell, 2, 0), [3.0, 0.0, 3.0], 0.01);
    cell.detach(pairs[1].0, pairs[1].1).unwrap();
    let error = cell.detach(pairs[1].0, pairs[1].1);
    assert_eq!(error, Err(CommandError::NotAttached));
    run(&mut cell, 0.5);
    assert!((at(&cell, 2, 0)[2] - (3.0 - GRAVITY / 8.0)).abs() < 0.02);
    assert_near(at(&cell, 1, 0), [0.0, 0.0, 3.0], 0.01);
}

#[test]
fn links_that_cannot_be_attached_are_refused() {
    let shelf = || fixed(cube("shelf", [0.0, 0.0, 5.0]));
    let mut cell = cell(vec![shelf(), cube("a", [0.0, 0.0, 3.0]), shelf()]);
    let mut attach = |one: (usize, usize), other: (usize, usize)| {
        cell.attach(reference(one.0, one.1), reference(other.0, other.1))
    };
    assert_eq!(attach((1, 0), (1, 0)), Err(CommandError::OneLink));
    assert_eq!(attach((0, 0), (2, 0)), Err(CommandError::NeverMove));
    assert_eq!(attach((1, 0), (7, 0)), Err(CommandError::Elsewhere));
    assert_eq!(attach((1, 9), (0, 0)), Err(CommandError::Elsewhere));
    assert_eq!(attach((1, 0), (0, 0)), Ok(()));
    assert_eq!(attach((0, 0), (1, 0)), Err(CommandError::Attached));
}

/// Returns a cell in which everything that was commanded holds on.
fn commanded() -> Cell {
    let models = vec![
        ground(1.0),
        cube("a", [0.0, 0.0, 3.0]),
        cube("b", [3.0, 0.0, 3.0]),
        pair(hinge(free(Y)), [8.0, 0.0, 1.0]),
    ];
    let mut cell = cell(models);
    cell.attach(reference(1, 0), reference(2, 0)).unwrap();
    let wrench = [[3.0, 1.0, 0.0], [0.0, 0.2, 0.0]];
    let until = SimTime(200_000_000);
    cell.add_wrench(PerformerId(2), 0, wrench, until).unwrap();
    cell.set_collisions(PerformerId(1), None, false);
    cell.set_joint(PerformerId(3), 0, 0, Some(1.0), Some(2.0))
        .unwrap();
    cell.settle();
    cell
}

#[test]
fn a_snapshot_holds_what_was_commanded() {
    let mut cell = commanded();
    advance(&mut cell, 0..50);
    let mut copy = Cell::restore(Arc::clone(&cell.world), &cell.snapshot()).unwrap();
    for cell in [&mut cell, &mut copy] {
        advance(cell, 50..400);
    }
    assert!(cell.snapshot() == copy.snapshot());
}

#[test]
fn a_hand_off_takes_along_what_was_commanded() {
    let mut stays = commanded();
    let mut from = commanded();
    for cell in [&mut stays, &mut from] {
        advance(cell, 0..50);
    }
    let mut to = super::hand_off::statics(&from.world);
    hand_off(&mut from, &mut to, &[1, 2, 3].map(PerformerId));
    assert!(from.contents.attachments.is_empty() && from.contents.persistent_loads.is_empty());
    for cell in [&mut stays, &mut to] {
        advance(cell, 50..400);
    }
    for (model, link) in [(1, 0), (2, 0), (3, 1)] {
        assert_near(at(&to, model, link), at(&stays, model, link), 1e-4);
    }
    assert_eq!(to.contents.attachments.len(), 1);
}

#[test]
fn an_attached_performer_that_comes_alone_is_refused() {
    let from = commanded();
    let mut to = super::hand_off::statics(&from.world);
    let alone = [(PerformerId(1), from.transfer(PerformerId(1)))];
    let error = super::hand_off::adopt(&mut to, &alone).unwrap_err();
    assert!(error.to_string().contains("attachment"), "{error}");
}
