//! Joints against closed forms and against their own limits.

use std::f64::consts::{FRAC_PI_2, TAU};

use sdf::{Axis, Joint, JointKind, JointParent, Link, Model, Pose};

use super::builder::*;

const Y: [f64; 3] = [0.0, 1.0, 0.0];

/// A bob of 1 kg on a rod without mass, 1 m from a pivot at the origin, an angle from hanging.
fn pendulum(kind: JointKind, angle: f64) -> Model {
    let mut bob = link("bob", pose([0.0; 3], [0.0, angle, 0.0]), None);
    bob.inertial.pose.position = [0.0, 0.0, -1.0];
    model(
        "pendulum",
        vec![bob],
        vec![joint(kind, JointParent::World, 0, [0.0; 3])],
    )
}

fn angle(cell: &mut crate::Cell, model: u32) -> f64 {
    let [x, y, z, w] = state(cell, model).orientation_xyzw;
    assert!(
        x.abs() < 1e-6 && z.abs() < 1e-6,
        "turned out of its plane: {x} {z}"
    );
    2.0 * y.atan2(w)
}

#[test]
fn a_pendulum_swings_with_its_period() {
    for kind in [
        JointKind::Revolute(axis(Y, f64::NEG_INFINITY, f64::INFINITY)),
        JointKind::Revolute(axis(Y, -1.0, 1.0)),
        JointKind::Continuous(axis(Y, 0.0, 0.0)),
        JointKind::Ball,
    ] {
        let mut cell = cell(vec![pendulum(kind.clone(), 0.05)]);
        let (mut crossings, mut last) = (Vec::new(), 0.05);
        for step in 0..9000 {
            cell.step(STEP);
            let now = angle(&mut cell, 0);
            if last > 0.0 && now <= 0.0 {
                crossings.push(f64::from(step) * STEP);
            }
            last = now;
        }
        let count = crossings.len() - 1;
        let period = (crossings[count] - crossings[0]) / count as f64;
        // I = m l^2 + 0.01 kg m^2 about the pivot.
        let expected = TAU * (1.01 / GRAVITY).sqrt();
        assert!(
            (period / expected - 1.0).abs() < 0.01,
            "{kind:?}: {period} s, not {expected} s"
        );
    }
}

#[test]
fn a_pendulum_loses_little_energy() {
    let kind = JointKind::Continuous(axis(Y, 0.0, 0.0));
    let mut cell = cell(vec![pendulum(kind, FRAC_PI_2)]);
    let mut highest = 0.0_f64;
    for step in 0..30_000 {
        cell.step(STEP);
        if step > 27_000 {
            highest = highest.max(1.0 - angle(&mut cell, 0).cos());
        }
    }
    assert!(
        (0.93..1.001).contains(&highest),
        "rises to {highest} m of 1 m after 30 s"
    );
}

#[test]
fn damping_slows_a_joint_as_its_coefficient_says() {
    let damping = 0.5;
    let spin_axis = Axis {
        damping,
        ..axis(Y, f64::NEG_INFINITY, f64::INFINITY)
    };
    let mut swing = pendulum(JointKind::Revolute(spin_axis), 0.05);
    swing.links[0].inertial.inertia = [0.01, 0.0, 0.0, 0.01, 0.0, 0.01];
    let mut cell = cell(vec![swing]);
    let mut highest = 0.0_f64;
    for step in 0..10_000 {
        cell.step(STEP);
        if step > 7_500 {
            highest = highest.max(angle(&mut cell, 0));
        }
    }
    // The fourth maximum, at t = 4 T, is exp(-c t / 2 I) of the first.
    let (inertia, gravity_torque) = (1.01, GRAVITY);
    let decay = damping / (2.0 * inertia);
    let period = TAU / (gravity_torque / inertia - decay * decay).sqrt();
    let expected = 0.05 * (-decay * 4.0 * period).exp();
    assert!(
        (highest / expected - 1.0).abs() < 0.05,
        "{highest}, not {expected}"
    );
}

#[test]
fn a_revolute_joint_keeps_to_its_limits() {
    let mut cell = cell(vec![pendulum(
        JointKind::Revolute(axis([0.0, -1.0, 0.0], 0.0, 0.3)),
        FRAC_PI_2,
    )]);
    let mut least = f64::INFINITY;
    for _ in 0..3000 {
        cell.step(STEP);
        least = least.min(angle(&mut cell, 0));
    }
    // Positions count from the initial configuration: the pivot may fall 0.3 rad, no further.
    assert!((least - (FRAC_PI_2 - 0.3)).abs() < 0.01, "fell to {least}");
}

fn slider(direction: [f64; 3], lower: f64, upper: f64) -> Model {
    let kind = JointKind::Prismatic(axis(direction, lower, upper));
    let start = pose([1.0, 2.0, 3.0], [0.0; 3]);
    let joints = vec![joint(kind, JointParent::World, 0, start.position)];
    model("slider", vec![link("carriage", start, None)], joints)
}

#[test]
fn a_prismatic_joint_keeps_to_its_axis_and_its_limits() {
    let down = [0.6, 0.0, -0.8];
    let mut cell = cell(vec![slider(down, -0.1, 0.5)]);
    run(&mut cell, 0.2);
    let early = state(&mut cell, 0).position;
    let along = (early[0] - 1.0) * down[0] + (early[2] - 3.0) * down[2];
    assert!(
        (along / (0.5 * GRAVITY * 0.8 * 0.04) - 1.0).abs() < 0.02,
        "slid {along} m in 0.2 s"
    );
    run(&mut cell, 2.0);
    let end = state(&mut cell, 0);
    let expected = [1.0 + 0.5 * down[0], 2.0, 3.0 + 0.5 * down[2]];
    for (coordinate, expected) in end.position.into_iter().zip(expected) {
        assert!(
            (coordinate - expected).abs() < 2e-3,
            "{:?}, not {expected:?}",
            end.position
        );
    }
    assert!(end.orientation_xyzw[3] > 1.0 - 1e-9, "{end:?}");
}

#[test]
fn a_prismatic_joint_without_one_limit_keeps_the_other() {
    let mut cell = cell(vec![slider([0.0, 0.0, 1.0], -0.5, f64::INFINITY)]);
    run(&mut cell, 2.0);
    let height = state(&mut cell, 0).position[2];
    assert!((height - 2.5).abs() < 2e-3, "at {height}");
}

#[test]
fn a_fixed_joint_carries_a_link_as_if_welded() {
    let at = |x: f64| pose([x, 0.0, 1.0], [0.0; 3]);
    let carried: Link = link("carried", at(1.0), None);
    let mut root = link("root", at(0.0), None);
    root.kinematic = true;
    let weld: Joint = joint(JointKind::Fixed, JointParent::Link(0), 1, [0.5, 0.0, 1.0]);
    let mut welded = model("welded", vec![root, carried], vec![weld]);
    welded.canonical_link = 1;
    let mut cell = cell(vec![welded]);
    run(&mut cell, 2.0);
    let state = state(&mut cell, 0);
    assert!(
        (state.position[0]).abs() < 1e-3 && (state.position[2] - 1.0).abs() < 1e-3,
        "{state:?}"
    );
}

#[test]
fn a_models_pose_is_that_of_its_origin_and_not_of_its_link() {
    let mut offset = model(
        "offset",
        vec![link("link", pose([1.0, 2.0, 3.0], [0.3, 0.2, 0.1]), None)],
        vec![],
    );
    offset.pose = pose([5.0, 5.0, 5.0], [0.0, 0.0, 1.0]);
    let expected: Pose = offset.pose;
    let mut cell = cell(vec![offset]);
    let state = state(&mut cell, 0);
    let numbers = state.position.into_iter().chain(state.orientation_xyzw);
    let given = expected
        .position
        .into_iter()
        .chain(expected.orientation_xyzw);
    for (number, given) in numbers.zip(given) {
        assert!((number - given).abs() < 1e-14, "{state:?}");
    }
}

#[test]
fn velocities_are_those_of_the_canonical_links_origin() {
    let kind = JointKind::Continuous(axis(Y, 0.0, 0.0));
    let mut cell = cell(vec![pendulum(kind, FRAC_PI_2)]);
    run(&mut cell, 0.5);
    let state = state(&mut cell, 0);
    let speed = state
        .linear_velocity
        .iter()
        .map(|v| v * v)
        .sum::<f64>()
        .sqrt();
    assert!(speed < 0.02, "the pivot moves at {speed} m/s");
    assert!(state.angular_velocity[1].abs() > 1.0, "{state:?}");
}
