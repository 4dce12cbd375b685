//! Joints that systems drive and push, against closed forms and from cell to cell.

use std::f64::consts::TAU;
use std::sync::Arc;

use protocol::PerformerId;
use sdf::{Axis, Joint, JointKind, JointParent, Link, Mimic, Model, World};

use super::builder::*;
use super::determinism::digest;
use super::hand_off::{hand_off, statics};
use super::ratios::free;
use crate::{Cell, ModelRef};

const X: [f64; 3] = [1.0, 0.0, 0.0];
const Y: [f64; 3] = [0.0, 1.0, 0.0];
const Z: [f64; 3] = [0.0, 0.0, 1.0];

const FIRST: ModelRef = ModelRef::moving(PerformerId(0), 0);

/// Gives a model a system, which its joints have actuators for.
fn hinge(axis: Axis, parent: JointParent, child: usize) -> Joint {
    joint(JointKind::Revolute(axis), parent, child, [0.0; 3])
}

/// A lever of 1 kg, 1 m long, that points along x from a hinge about -y, so that a positive turn
/// lifts it.
fn lever(axis: Axis) -> Model {
    let mut arm = link("arm", pose([0.0; 3], [0.0; 3]), None);
    arm.inertial.pose.position = X;
    driven(model(
        "lever",
        vec![arm],
        vec![hinge(axis, JointParent::World, 0)],
    ))
}

/// A disc of 0.01 kg m^2 about a hinge along z.
fn disc(axis: Axis) -> Model {
    let disc = link("disc", pose([0.0; 3], [0.0; 3]), None);
    driven(model(
        "disc",
        vec![disc],
        vec![hinge(axis, JointParent::World, 0)],
    ))
}

/// Returns a turn after driving it for a while, and before each step what it is told.
fn drive(cell: &mut Cell, duration_s: f64, velocity: f64) -> f64 {
    for _ in 0..(duration_s / STEP).round() as usize {
        cell.drive_joint(FIRST, 0, 0, velocity);
        cell.step(STEP);
    }
    cell.joint_position(FIRST, 0, 0)
}

#[test]
fn a_driven_lever_keeps_its_speed_against_its_weight() {
    let mut cell = cell(vec![lever(free([0.0, -1.0, 0.0]))]);
    let angle = drive(&mut cell, 1.0, 0.5);
    assert!((angle - 0.5).abs() < 1e-3, "{angle} rad");
    let rate = cell.joint_velocity(FIRST, 0, 0);
    assert!((rate - 0.5).abs() < 1e-3, "{rate} rad/s");
    let torque = cell.joint_force(FIRST, 0, 0);
    let expected = GRAVITY * angle.cos();
    assert!(
        (torque / expected - 1.0).abs() < 0.02,
        "{torque} N m, not {expected}"
    );
}

#[test]
fn a_servo_exerts_no_more_than_the_effort_limit() {
    let effort = 0.02;
    let mut cell = cell(vec![disc(Axis { effort, ..free(Z) })]);
    drive(&mut cell, 0.5, 5.0);
    let rate = cell.joint_velocity(FIRST, 0, 0);
    let expected = effort / 0.01 * 0.5;
    assert!(
        (rate / expected - 1.0).abs() < 1e-3,
        "{rate} rad/s, not {expected}"
    );
    let torque = cell.joint_force(FIRST, 0, 0);
    assert!((torque / effort - 1.0).abs() < 1e-3, "{torque} N m");
    drive(&mut cell, 3.0, 5.0);
    let rate = cell.joint_velocity(FIRST, 0, 0);
    assert!((rate - 5.0).abs() < 1e-6, "{rate} rad/s in the end");
}

#[test]
fn a_servo_goes_no_faster_than_the_velocity_limit() {
    let mut cell = cell(vec![disc(Axis {
        velocity: 2.0,
        ..free(Z)
    })]);
    drive(&mut cell, 0.2, -7.0);
    let rate = cell.joint_velocity(FIRST, 0, 0);
    assert!((rate + 2.0).abs() < 1e-6, "{rate} rad/s");
}

#[test]
fn a_position_counts_turns() {
    let mut cell = cell(vec![disc(free(Z))]);
    let angle = drive(&mut cell, 3.0, -TAU);
    assert!((angle + 3.0 * TAU).abs() < 0.01, "{angle} rad");
}

#[test]
fn a_servo_lets_go_when_it_is_not_told_again() {
    let mut cell = cell(vec![lever(free([0.0, -1.0, 0.0]))]);
    let held = drive(&mut cell, 4.0, 0.0);
    assert!(held.abs() < 2e-3, "sank by {held} rad");
    run(&mut cell, 0.1);
    let fallen = cell.joint_position(FIRST, 0, 0);
    // The lever turns about its end with I = m l^2 + 0.01.
    let expected = held - 0.5 * GRAVITY / 1.01 * 0.01;
    assert!(
        (fallen - expected).abs() < 2e-3,
        "{fallen} rad, not {expected}"
    );
}

#[test]
fn a_push_turns_a_disc_as_its_inertia_lets_it_and_is_limited() {
    for (push, acts) in [(0.004, 0.004), (-0.5, -0.03)] {
        let mut cell = cell(vec![disc(Axis {
            effort: 0.03,
            ..free(Z)
        })]);
        for _ in 0..500 {
            cell.push_joint(FIRST, 0, 0, push);
            cell.step(STEP);
        }
        let rate = cell.joint_velocity(FIRST, 0, 0);
        let expected = acts / 0.01 * 0.5;
        assert!(
            (rate / expected - 1.0).abs() < 1e-6,
            "{rate} rad/s, not {expected}"
        );
        assert_eq!(cell.joint_force(FIRST, 0, 0), acts);
        run(&mut cell, 0.5);
        let after = cell.joint_velocity(FIRST, 0, 0);
        assert!(
            (after - rate).abs() < 1e-6,
            "a push holds for one step: {after} rad/s"
        );
    }
}

#[test]
fn a_push_acts_on_both_links_opposite_and_equal() {
    let weightless = |name: &str| Link {
        gravity: false,
        ..link(name, pose([0.0; 3], [0.0; 3]), None)
    };
    let parts = vec![weightless("one"), weightless("other")];
    let joints = vec![hinge(free(Y), JointParent::Link(0), 1)];
    let mut cell = cell(vec![driven(model("pair", parts, joints))]);
    for _ in 0..200 {
        cell.push_joint(FIRST, 0, 0, 0.005);
        cell.step(STEP);
    }
    let [one, other] = [0, 1].map(|link| cell.link_velocity(FIRST, link)[1][1]);
    let expected = 0.005 / 0.01 * 0.2;
    assert!(
        (one + expected).abs() < 1e-9,
        "{one} rad/s, not {expected} back"
    );
    assert!(
        (other - expected).abs() < 1e-9,
        "{other} rad/s, not {expected}"
    );
}

#[test]
fn a_carriage_is_lifted_by_a_force() {
    let kind = JointKind::Prismatic(free(Z));
    let joints = vec![joint(kind, JointParent::World, 0, [0.0; 3])];
    let carriage = link("carriage", pose([0.0; 3], [0.0; 3]), None);
    let mut cell = cell(vec![driven(model("lift", vec![carriage], joints))]);
    for _ in 0..1000 {
        cell.push_joint(FIRST, 0, 0, GRAVITY + 0.4);
        cell.step(STEP);
    }
    let height = cell.joint_position(FIRST, 0, 0);
    assert!((height / 0.2 - 1.0).abs() < 2e-3, "{height} m");
}

#[test]
fn both_axes_of_a_universal_joint_are_driven() {
    let kind = JointKind::Universal([free(X), free(Y)]);
    let joints = vec![joint(kind, JointParent::World, 0, [0.0; 3])];
    let mut arm = link("arm", pose([0.0; 3], [0.0; 3]), None);
    arm.inertial.pose.position = [0.0, 0.0, -0.5];
    let mut cell = cell(vec![driven(model("arm", vec![arm], joints))]);
    for _ in 0..1000 {
        cell.drive_joint(FIRST, 0, 0, 0.3);
        cell.drive_joint(FIRST, 0, 1, -0.6);
        cell.step(STEP);
    }
    let angles = [0, 1].map(|axis| cell.joint_position(FIRST, 0, axis));
    assert!((angles[0] - 0.3).abs() < 3e-3, "{angles:?}");
    assert!((angles[1] + 0.6).abs() < 3e-3, "{angles:?}");
}

#[test]
fn a_follower_mimics_a_driven_leader() {
    let disc = |name: &str| link(name, pose([0.0; 3], [0.0; 3]), None);
    let named = |name: &str, axis, child| Joint {
        name: name.to_owned(),
        ..hinge(axis, JointParent::World, child)
    };
    let follows = Axis {
        mimic: Some(Mimic {
            joint: "leader".to_owned(),
            axis: 0,
            multiplier: -2.0,
            offset: 0.0,
            reference: 0.0,
        }),
        ..free(Z)
    };
    let joints = vec![named("leader", free(Z), 0), named("follower", follows, 1)];
    let discs = vec![disc("one"), disc("two")];
    let mut cell = cell(vec![driven(model("gripper", discs, joints))]);
    let angle = drive(&mut cell, 1.0, 0.5);
    let follower = cell.joint_position(FIRST, 1, 0);
    assert!((angle - 0.5).abs() < 0.01, "{angle} rad");
    assert!(
        (follower + 2.0 * angle).abs() < 0.01,
        "{follower} rad for {angle}"
    );
}

#[test]
fn friction_and_springs_act_beside_a_servo() {
    let mut cell = cell(vec![disc(Axis {
        friction: 0.05,
        damping: 0.01,
        spring_stiffness: 0.2,
        ..free(Z)
    })]);
    let angle = drive(&mut cell, 1.0, 1.0);
    assert!((angle - 1.0).abs() < 0.01, "{angle} rad");
    let torque = cell.joint_force(FIRST, 0, 0);
    let expected = 0.05 + 0.01 + 0.2 * angle;
    assert!(
        (torque / expected - 1.0).abs() < 0.03,
        "{torque} N m, not {expected}"
    );
}

#[test]
fn a_servo_stops_at_the_limits_of_its_joint() {
    let mut cell = cell(vec![disc(Axis {
        upper: 0.4,
        lower: -0.4,
        effort: 1.0,
        ..free(Z)
    })]);
    let angle = drive(&mut cell, 2.0, 1.0);
    assert!((angle - 0.4).abs() < 0.01, "{angle} rad");
}

#[test]
fn an_order_wakes_who_sleeps_and_a_stop_does_not() {
    let body = |cell: &Cell| {
        let handle = cell.contents.performers[&PerformerId(0)].links[0];
        cell.physics.bodies[handle].is_sleeping()
    };
    let mut cell = cell(vec![disc(free(Z))]);
    drive(&mut cell, 4.0, 0.0);
    assert!(body(&cell), "a wheel that is held falls asleep");
    drive(&mut cell, 0.5, 0.0);
    assert!(body(&cell), "and sleeps on");
    let angle = drive(&mut cell, 1.0, 0.1);
    assert!((angle - 0.1).abs() < 1e-3, "{angle} rad");
    let slow = drive(&mut cell, 10.0, 2e-4) - angle;
    assert!((slow / 2e-3 - 1.0).abs() < 0.01, "creeps by {slow} rad");
}

#[test]
fn invalid_numbers_and_missing_parts_change_nothing() {
    let mut cell = cell(vec![disc(free(Z)), lever(free(Y))]);
    for (joint, axis, number) in [(0, 0, f64::NAN), (0, 1, 1.0), (7, 0, 1.0)] {
        cell.drive_joint(FIRST, joint, axis, number);
        cell.push_joint(FIRST, joint, axis, number);
    }
    cell.push_joint(FIRST, 0, 0, f64::INFINITY);
    cell.step(STEP);
    assert_eq!(cell.joint_velocity(FIRST, 0, 0), 0.0);
    assert_eq!(cell.joint_position(FIRST, 7, 0), 0.0);
    assert_eq!(cell.joint_force(FIRST, 0, 3), 0.0);
}

#[test]
fn driven_joints_go_on_in_other_cells_with_the_same_bits() {
    let parts = vec![
        link("base", pose([0.0, 0.0, 1.0], [0.0; 3]), None),
        link("tip", pose([0.5, 0.0, 1.0], [0.0; 3]), None),
    ];
    let at = |axis, parent, child, at| joint(JointKind::Revolute(axis), parent, child, at);
    let joints = vec![
        at(free(Y), JointParent::World, 0, [0.0, 0.0, 1.0]),
        at(free(Z), JointParent::Link(0), 1, [0.5, 0.0, 1.0]),
    ];
    let world: Arc<World> = world(vec![driven(model("arm", parts, joints))]);
    let act = |cell: &mut Cell, step: u32| {
        cell.drive_joint(FIRST, 0, 0, 0.5 + 0.001 * f64::from(step));
        cell.push_joint(FIRST, 1, 0, 0.01);
        cell.step(STEP);
    };
    let mut stayed = fill(&world);
    for step in 0..300 {
        act(&mut stayed, step);
    }
    let mut from = Cell::restore(Arc::clone(&world), &stayed.snapshot()).unwrap();
    let mut moved = statics(&world);
    hand_off(&mut from, &mut moved, &[PerformerId(0)]);
    for step in 300..900 {
        act(&mut stayed, step);
        act(&mut moved, step);
        assert_eq!(digest(&mut stayed), digest(&mut moved), "step {step}");
        let forces = [&stayed, &moved].map(|cell| cell.joint_force(FIRST, 0, 0));
        assert_eq!(forces[0], forces[1], "step {step}");
    }
    let turned = moved.joint_position(FIRST, 0, 0);
    assert_eq!(turned, stayed.joint_position(FIRST, 0, 0));
}
