//! Joints of several axes and ratios between them, against closed forms.

use std::f64::consts::TAU;

use protocol::PerformerId;
use rapier3d_f64::math::Vector;
use sdf::{Axis, Joint, JointKind, JointParent, Mimic, Model};

use super::builder::*;
use crate::Cell;

const X: [f64; 3] = [1.0, 0.0, 0.0];
const Y: [f64; 3] = [0.0, 1.0, 0.0];
const Z: [f64; 3] = [0.0, 0.0, 1.0];

pub(super) fn free(xyz: [f64; 3]) -> Axis {
    axis(xyz, f64::NEG_INFINITY, f64::INFINITY)
}

fn named(name: &str, joint: Joint) -> Joint {
    Joint {
        name: name.to_owned(),
        ..joint
    }
}

fn hinge(name: &str, axis: Axis, child: usize, at: [f64; 3]) -> Joint {
    named(
        name,
        joint(JointKind::Revolute(axis), JointParent::World, child, at),
    )
}

fn link_speeds(cell: &Cell, link: usize) -> (Vector, Vector) {
    let handle = cell.contents.performers[&PerformerId(0)].links[link];
    let body = &cell.physics.bodies[handle];
    (body.linvel(), body.angvel())
}

/// Adds to the torques on a link.
fn add_torque(cell: &mut Cell, link: usize, torque: [f64; 3]) {
    let handle = cell.contents.performers[&PerformerId(0)].links[link];
    let body = &mut cell.physics.bodies[handle];
    body.add_torque(Vector::from_array(torque), true);
}

/// Returns the turn about an axis within half a turn.
fn angle(cell: &Cell, link: usize, axis: Vector) -> f64 {
    let handle = cell.contents.performers[&PerformerId(0)].links[link];
    let rotation = cell.physics.bodies[handle].rotation();
    2.0 * Vector::new(rotation.x, rotation.y, rotation.z)
        .dot(axis)
        .atan2(rotation.w)
}

/// A nut of 1 kg falls along a screw: `a = g / (1 + I (2 pi / p)^2 / m)`.
#[test]
fn a_screw_falls_as_its_thread_lets_it() {
    let pitch = 0.5_f64;
    let kind = JointKind::Screw {
        axis: free(Z),
        thread_pitch: pitch,
    };
    let nut = link("nut", pose([0.0; 3], [0.0; 3]), None);
    let joints = vec![joint(kind, JointParent::World, 0, [0.0; 3])];
    let mut cell = cell(vec![model("screw", vec![nut], joints)]);
    run(&mut cell, 1.0);
    let state = state(&mut cell, 0);
    let per_turn = TAU / pitch;
    let acceleration = GRAVITY / (1.0 + 0.01 * per_turn * per_turn);
    let way = -state.position[2];
    assert!(
        (way / (acceleration / 2.0) - 1.0).abs() < 0.005,
        "fell by {way}"
    );
    // Right-handed: it goes down as it turns against z.
    let turning = state.angular_velocity[2];
    let ratio = state.linear_velocity[2] / turning * per_turn;
    assert!(turning < 0.0 && (ratio - 1.0).abs() < 0.005, "{ratio}");
    assert!(
        state.position[0].hypot(state.position[1]) < 1e-6,
        "{state:?}"
    );
}

/// Two wheels of 0.01 and 0.03 kg m^2 on hinges of the world, coupled 1 to -2.
pub(super) fn gears(gravity: bool) -> Model {
    let mut parent = link("parent", pose([0.0; 3], [0.0; 3]), None);
    let mut child = link("child", pose([0.0, 0.5, 0.0], [0.0; 3]), None);
    child.inertial.inertia = [0.03, 0.0, 0.0, 0.03, 0.0, 0.03];
    for link in [&mut parent, &mut child] {
        link.gravity = gravity;
    }
    let gearbox = JointKind::Gearbox {
        axes: [free(X), free(X)],
        ratio: 2.0,
        reference_body: None,
    };
    let joints = vec![
        hinge("first", free(X), 0, [0.0; 3]),
        hinge("second", free(X), 1, [0.0, 0.5, 0.0]),
        named("gears", joint(gearbox, JointParent::Link(0), 1, [0.0; 3])),
    ];
    model("gearbox", vec![parent, child], joints)
}

/// A torque of 1 N m at the parent: `a = t / (I1 + 4 I2)`, and its work is all that moves. The
/// ratio holds over many turns.
#[test]
fn a_gearbox_keeps_its_ratio_and_its_power() {
    let mut cell = cell(vec![gears(false)]);
    cell.step(STEP);
    add_torque(&mut cell, 0, [1.0, 0.0, 0.0]);
    let (mut first, mut second) = (0.0, 0.0);
    for _ in 0..2000 {
        cell.step(STEP);
        first += link_speeds(&cell, 0).1.x * STEP;
        second += link_speeds(&cell, 1).1.x * STEP;
    }
    let speed = link_speeds(&cell, 0).1.x;
    let expected = 2.0 / (0.01 + 4.0 * 0.03);
    assert!(
        (speed / expected - 1.0).abs() < 0.005,
        "{speed}, not {expected}"
    );
    assert!((second / first + 2.0).abs() < 1e-3, "{second} for {first}");
    let energy = 0.5 * 0.01 * speed * speed + 0.5 * 0.03 * link_speeds(&cell, 1).1.x.powi(2);
    assert!(
        (energy / first - 1.0).abs() < 0.01,
        "{energy} J of {first} J"
    );
}

/// Against a reference that turns itself, the ratio is of the turns relative to it: all three turn
/// as one.
#[test]
fn a_gearbox_counts_against_its_reference_body() {
    let mut body = gears(false);
    let mut base = link("base", pose([0.0; 3], [0.0; 3]), None);
    base.gravity = false;
    body.links.push(base);
    body.joints[0].parent = JointParent::Link(2);
    body.joints[1].parent = JointParent::Link(2);
    if let JointKind::Gearbox { reference_body, .. } = &mut body.joints[2].kind {
        *reference_body = Some(2);
    }
    body.joints.push(hinge("base", free(X), 2, [0.0; 3]));
    let mut cell = cell(vec![body]);
    cell.step(STEP);
    add_torque(&mut cell, 2, [1.0, 0.0, 0.0]);
    run(&mut cell, 1.0);
    let [parent, child, base] = [0, 1, 2].map(|link| link_speeds(&cell, link).1.x);
    let ratio = (child - base) / (parent - base);
    assert!(
        base > 0.1 && (ratio + 2.0).abs() < 1e-2,
        "{parent} {child} {base}"
    );
}

pub(super) fn follow(multiplier: f64, offset: f64) -> Mimic {
    Mimic {
        joint: "leader".to_owned(),
        axis: 0,
        multiplier,
        offset,
        reference: 0.1,
    }
}

/// Two arms of 1 kg and 1 m on hinges; the second mimics the first.
pub(super) fn arms(mimic: Option<Mimic>) -> Model {
    let arm = |name: &str, at: [f64; 3]| {
        let mut arm = link(name, pose(at, [0.0; 3]), None);
        arm.inertial.pose.position = [0.5, 0.0, 0.0];
        arm
    };
    let following = Axis { mimic, ..free(Y) };
    let joints = vec![
        hinge("leader", free(Y), 0, [0.0; 3]),
        hinge("follower", following, 1, [0.0, 1.0, 0.0]),
    ];
    model(
        "arms",
        vec![arm("a", [0.0; 3]), arm("b", [0.0, 1.0, 0.0])],
        joints,
    )
}

/// The follower goes to `m (q - 0.1) + b`, within 1 mrad while both fall.
#[test]
fn a_mimic_follows_its_leader() {
    for (multiplier, offset) in [(1.0, 0.1), (-1.0, -0.1), (0.5, 0.25), (2.0, 0.0)] {
        let mut cell = cell(vec![arms(Some(follow(multiplier, offset)))]);
        run(&mut cell, 0.3);
        for _ in 0..300 {
            cell.step(STEP);
            let [leader, follower] = [0, 1].map(|link| angle(&cell, link, Vector::Y));
            let error = follower - multiplier * (leader - 0.1) - offset;
            assert!(error.abs() < 1e-3, "{multiplier} {offset}: off by {error}");
        }
    }
}

/// Fingers that mirror each other balance: gravity on both moves neither.
#[test]
fn a_mimic_pulls_its_leader_as_the_leader_pulls_it() {
    let mimic = Mimic {
        joint: "leader".to_owned(),
        axis: 0,
        multiplier: -1.0,
        offset: 0.0,
        reference: 0.0,
    };
    let mut cell = cell(vec![arms(Some(mimic))]);
    run(&mut cell, 2.0);
    for link in [0, 1] {
        let sunk = angle(&cell, link, Vector::Y);
        assert!(sunk.abs() < 1e-3, "link {link} sinks by {sunk}");
    }
}

fn universal(axes: [Axis; 2], kind: fn([Axis; 2]) -> JointKind) -> Model {
    let mut bob = link("bob", pose([0.0; 3], [0.0; 3]), None);
    bob.inertial.pose.position = [0.0, 0.0, -1.0];
    let joints = vec![joint(kind(axes), JointParent::World, 0, [0.0; 3])];
    model("universal", vec![bob], joints)
}

/// Small swings about either axis have the pendulum's period, and about the third there are none.
#[test]
fn a_universal_joint_swings_about_both_axes_and_not_about_the_third() {
    for kind in [JointKind::Universal, JointKind::Revolute2] {
        for (start, about) in [([0.05, 0.0, 0.0], Vector::X), ([0.0, 0.05, 0.0], Vector::Y)] {
            let mut model = universal([free(X), free(Y)], kind);
            // Turned at position 0, so that gravity swings it back.
            model.links[0].pose = pose([0.0; 3], start);
            let mut cell = cell(vec![model]);
            let quarter = TAU * (1.01 / GRAVITY).sqrt() / 4.0;
            run(&mut cell, quarter);
            let now = angle(&cell, 0, about);
            assert!(now.abs() < 2e-3, "{start:?}: {now} after a quarter");
        }
        let mut cell = cell(vec![universal([free(X), free(Y)], kind)]);
        cell.step(STEP);
        add_torque(&mut cell, 0, [0.0, 0.0, 5.0]);
        run(&mut cell, 1.0);
        assert!(angle(&cell, 0, Vector::Z).abs() < 1e-3);
    }
}

/// After large turns about both, the axes are still at right angles and the pivot in its place.
#[test]
fn a_universal_joint_holds_at_large_angles() {
    let mut model = universal([free(X), free(Y)], JointKind::Universal);
    model.links[0].pose = pose([0.0; 3], [1.0, 0.0, 0.0]);
    let mut cell = cell(vec![model]);
    cell.step(STEP);
    let handle = cell.contents.performers[&PerformerId(0)].links[0];
    let start_axis = cell.physics.bodies[handle].rotation().inverse() * Vector::Y;
    cell.physics.bodies[handle].set_angvel(Vector::new(3.0, 2.0, 0.0), true);
    let mut farthest = 0.0_f64;
    for _ in 0..3000 {
        cell.step(STEP);
        let body = &cell.physics.bodies[handle];
        let carried = *body.rotation() * start_axis;
        let error = carried.dot(Vector::X).abs() + body.translation().length();
        farthest = farthest.max(error);
    }
    assert!(farthest < 2e-3, "off by {farthest}");
}

/// Limits, springs and friction act about each of two axes on their own.
#[test]
fn a_universal_joint_has_limits_and_springs_on_each_axis() {
    let limited = axis(X, -0.2, 0.2);
    let sprung = Axis {
        spring_stiffness: 50.0,
        spring_reference: 0.3,
        damping: 5.0,
        ..free(Y)
    };
    let mut model = universal([limited, sprung], JointKind::Universal);
    model.links[0].gravity = false;
    let mut cell = cell(vec![model]);
    cell.step(STEP);
    add_torque(&mut cell, 0, [1.0, 0.0, 0.0]);
    run(&mut cell, 4.0);
    let handle = cell.contents.performers[&PerformerId(0)].links[0];
    let rotation = cell.physics.bodies[handle].rotation();
    let expected = pose([0.0; 3], [0.2, 0.0, 0.0]).then(&pose([0.0; 3], [0.0, 0.3, 0.0]));
    for (number, expected) in rotation
        .to_array()
        .into_iter()
        .zip(expected.orientation_xyzw)
    {
        assert!(
            (number - expected).abs() < 2e-3,
            "{rotation:?}, not {expected:?}"
        );
    }
}

/// Two hinges on one line between the same two links leave what one leaves.
#[test]
fn two_joints_between_two_links_hold_together() {
    let mut door = link("door", pose([0.0; 3], [0.0; 3]), None);
    door.inertial.pose.position = [0.5, 0.0, 0.0];
    let joints = vec![
        hinge("lower", free(Z), 0, [0.0, 0.0, -0.5]),
        hinge("upper", free(Z), 0, [0.0, 0.0, 0.5]),
    ];
    let mut cell = cell(vec![model("door", vec![door], joints)]);
    cell.step(STEP);
    add_torque(&mut cell, 0, [0.0, 0.0, 0.26]);
    run(&mut cell, 1.0);
    // Half of 0.26 N m over 0.26 kg m^2.
    let turned = angle(&cell, 0, Vector::Z);
    assert!((turned - 0.5).abs() < 0.01, "turned by {turned}");
    assert!(state(&mut cell, 0).position[2].abs() < 1e-3);
}

/// Four bars in a loop: a parallelogram stays one, and tips over as an inverted pendulum of
/// 1.02 kg m^2 that 1 N m pushes: `q = (cosh(w t) - 1) / g`.
#[test]
fn a_loop_of_joints_stays_closed() {
    let bar = |name: &str, at: [f64; 3]| link(name, pose(at, [0.0; 3]), None);
    let links = vec![
        bar("left", [0.0, 0.0, 0.0]),
        bar("top", [0.0, 0.0, 1.0]),
        bar("right", [2.0, 0.0, 0.0]),
    ];
    let revolute = |name: &str, parent, child, at| {
        named(name, joint(JointKind::Revolute(free(Y)), parent, child, at))
    };
    let joints = vec![
        revolute("a", JointParent::World, 0, [0.0, 0.0, 0.0]),
        revolute("b", JointParent::Link(0), 1, [0.0, 0.0, 1.0]),
        revolute("c", JointParent::Link(1), 2, [2.0, 0.0, 1.0]),
        revolute("d", JointParent::World, 2, [2.0, 0.0, 0.0]),
    ];
    let mut cell = cell(vec![model("loop", links, joints)]);
    cell.step(STEP);
    add_torque(&mut cell, 0, [0.0, 1.0, 0.0]);
    run(&mut cell, 0.3);
    let [left, top, right] = [0, 1, 2].map(|link| angle(&cell, link, Vector::Y));
    let frequency = (GRAVITY / 1.02).sqrt();
    let expected = ((frequency * 0.3).cosh() - 1.0) / GRAVITY;
    assert!(
        (left / expected - 1.0).abs() < 0.01,
        "{left}, not {expected}"
    );
    assert!(
        (left - right).abs() < 1e-3 && top.abs() < 1e-3,
        "{left} {top} {right}"
    );
}
