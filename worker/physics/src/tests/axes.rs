//! What limits, damps, drives and brakes single axes, against closed forms.

use std::f64::consts::{FRAC_PI_2, PI, TAU};

use protocol::PerformerId;
use rapier3d_f64::math::Vector;
use sdf::{Axis, Geometry, JointKind, JointParent, Model};

use super::builder::*;
use crate::Cell;

const X: [f64; 3] = [1.0, 0.0, 0.0];
const Y: [f64; 3] = [0.0, 1.0, 0.0];
const Z: [f64; 3] = [0.0, 0.0, 1.0];

fn free(xyz: [f64; 3]) -> Axis {
    axis(xyz, f64::NEG_INFINITY, f64::INFINITY)
}

/// 1 kg at the origin that slides along x, with an axis of one's choice.
fn slider(axis: Axis) -> Model {
    let joints = vec![joint(
        JointKind::Prismatic(axis),
        JointParent::World,
        0,
        [0.0; 3],
    )];
    model(
        "slider",
        vec![link("carriage", pose([0.0; 3], [0.0; 3]), None)],
        joints,
    )
}

/// A wheel of 0.01 kg m^2 that turns about x.
fn wheel(axis: Axis) -> Model {
    let joints = vec![joint(
        JointKind::Revolute(axis),
        JointParent::World,
        0,
        [0.0; 3],
    )];
    model(
        "wheel",
        vec![link("wheel", pose([0.0; 3], [0.0; 3]), None)],
        joints,
    )
}

/// A bob of 1 kg with 0.01 kg m^2 that hangs 1 m below a hinge along y, turned by an angle.
fn pendulum(axis: Axis, angle: f64) -> Model {
    let mut bob = link("bob", pose([0.0; 3], [0.0, angle, 0.0]), None);
    bob.inertial.pose.position = [0.0, 0.0, -1.0];
    let joints = vec![joint(
        JointKind::Revolute(axis),
        JointParent::World,
        0,
        [0.0; 3],
    )];
    model("pendulum", vec![bob], joints)
}

fn set_speed(cell: &mut Cell, linear: [f64; 3], angular: [f64; 3]) {
    let link = cell.contents.performers[&PerformerId(0)].links[0];
    let body = &mut cell.physics.bodies[link];
    body.set_linvel(Vector::from_array(linear), true);
    body.set_angvel(Vector::from_array(angular), true);
}

/// Adds to the forces on the first link.
fn push(cell: &mut Cell, force: [f64; 3], torque: [f64; 3]) {
    let link = cell.contents.performers[&PerformerId(0)].links[0];
    let body = &mut cell.physics.bodies[link];
    body.add_force(Vector::from_array(force), true);
    body.add_torque(Vector::from_array(torque), true);
}

fn slid(cell: &mut Cell) -> f64 {
    state(cell, 0).position[0]
}

/// Returns the times at which something falls through zero.
fn falls(cell: &mut Cell, duration_s: f64, value: impl Fn(&mut Cell) -> f64) -> Vec<f64> {
    let (mut last, mut times) = (value(cell), Vec::new());
    for step in 0..(duration_s / STEP) as usize {
        cell.step(STEP);
        let now = value(cell);
        if last > 0.0 && now <= 0.0 {
            times.push((step as f64 + last / (last - now)) * STEP);
        }
        last = now;
    }
    times
}

fn period(times: &[f64]) -> f64 {
    (times[times.len() - 1] - times[0]) / (times.len() - 1) as f64
}

/// Period within 1e-4: it is off by the square of phase per substep, 6e-7 here, and by the
/// interpolation of crossings. The amplitude keeps within 1 % over 10 periods.
#[test]
fn a_mass_on_a_spring_swings_with_its_period() {
    let mut cell = cell(vec![slider(Axis {
        spring_stiffness: 40.0,
        spring_reference: 0.5,
        ..free(X)
    })]);
    let times = falls(&mut cell, 10.0, |cell| slid(cell) - 0.5);
    let expected = TAU / 40.0_f64.sqrt();
    assert!(
        (period(&times) / expected - 1.0).abs() < 1e-4,
        "{}",
        period(&times)
    );
    let mut reach = 0.0_f64;
    for _ in 0..1000 {
        cell.step(STEP);
        reach = reach.max((slid(&mut cell) - 0.5).abs());
    }
    assert!((reach / 0.5 - 1.0).abs() < 0.01, "reaches {reach}");
}

/// The log decrement within 1 %: a first-order step damps by `1 + c h / 2 m` of the true rate.
#[test]
fn a_damped_spring_decays_as_its_closed_form() {
    let (stiffness, damping) = (100.0_f64, 1.0_f64);
    let mut cell = cell(vec![slider(Axis {
        spring_stiffness: stiffness,
        spring_reference: 0.2,
        damping,
        ..free(X)
    })]);
    let rate = damping / 2.0;
    let frequency = (stiffness - rate * rate).sqrt();
    run(&mut cell, TAU / frequency * 3.0);
    let left = 0.2 - slid(&mut cell);
    let expected = 0.2 * (-rate * TAU / frequency * 3.0).exp();
    assert!(
        (left / expected - 1.0).abs() < 0.01,
        "{left}, not {expected}"
    );
}

/// On an arm of 1 m, level at position 0, the spring turns by `k q = m g cos q`. The solver undoes
/// a part of what a motor did where a mass is off the axis; 2 % bounds what may be left of that.
#[test]
fn a_damped_spring_on_an_arm_rests_where_its_load_says() {
    for (moment, damping) in [(0.01, 2.0), (0.01, 20.0), (1e-4, 20.0)] {
        let spring = Axis {
            spring_stiffness: 100.0,
            damping,
            ..free(Y)
        };
        let mut arm = pendulum(spring, FRAC_PI_2);
        arm.links[0].inertial.inertia = [moment, 0.0, 0.0, moment, 0.0, moment];
        let mut cell = cell(vec![arm]);
        run(&mut cell, 10.0);
        let [_, y, _, w] = state(&mut cell, 0).orientation_xyzw;
        let turned = (2.0 * y.atan2(w) - FRAC_PI_2).abs();
        let expected = 0.097_53;
        assert!(
            (turned / expected - 1.0).abs() < 0.02,
            "moment {moment}, damping {damping}: {turned} rad"
        );
    }
}

#[test]
fn stiff_springs_and_strong_dampers_on_light_links_stay_calm() {
    for (stiffness, damping) in [
        (1e7, 0.0),
        (1e7, 10.0),
        (1e10, 1.0),
        (0.0, 1e6),
        (1e12, 1e6),
    ] {
        let mut model = wheel(Axis {
            spring_stiffness: stiffness,
            spring_reference: 0.1,
            damping,
            ..free(X)
        });
        model.links[0].inertial.inertia = [1e-6, 0.0, 0.0, 1e-6, 0.0, 1e-6];
        let mut cell = cell(vec![model]);
        run(&mut cell, 2.0);
        let [x, _, _, w] = state(&mut cell, 0).orientation_xyzw;
        let angle = 2.0 * x.atan2(w);
        let expected = if stiffness > 0.0 { 0.1 } else { 0.0 };
        assert!(
            (angle - expected).abs() < 0.11,
            "{stiffness} {damping}: at {angle}"
        );
        let speed = state(&mut cell, 0).angular_velocity[0].abs();
        // An undamped spring may go on swinging, with no more energy than it was given.
        assert!(
            speed < 0.1 * (stiffness / 1e-6).sqrt() + 1e-9,
            "{stiffness} {damping}: {speed}"
        );
    }
}

/// A torsion spring at rest after three turns drives the wheel there, not to the same direction.
#[test]
fn a_spring_counts_turns() {
    let mut cell = cell(vec![wheel(Axis {
        spring_stiffness: 1.0,
        spring_reference: 3.0 * TAU,
        damping: 0.2,
        ..free(X)
    })]);
    let mut turned = 0.0;
    for _ in 0..4000 {
        cell.step(STEP);
        turned += state(&mut cell, 0).angular_velocity[0] * STEP;
    }
    assert!((turned - 3.0 * TAU).abs() < 0.05, "turned by {turned}");
}

/// A wheel with a limit stops there whichever turn it is in: it passes it by no more than what one
/// substep goes, and comes back to it.
fn check_limits(lower: f64, upper: f64, speed: f64, expected: f64) {
    let mut cell = cell(vec![wheel(axis(X, lower, upper))]);
    cell.step(STEP);
    set_speed(&mut cell, [0.0; 3], [speed, 0.0, 0.0]);
    let (mut turned, mut farthest) = (0.0, 0.0_f64);
    for _ in 0..3000 {
        cell.step(STEP);
        turned += state(&mut cell, 0).angular_velocity[0] * STEP;
        farthest = farthest.max(turned * speed.signum());
    }
    let overshoot = speed.abs() * STEP;
    assert!(
        (turned - expected).abs() < overshoot,
        "[{lower}, {upper}]: turned by {turned}"
    );
    assert!(
        farthest < expected.abs() + overshoot,
        "[{lower}, {upper}]: as far as {farthest}"
    );
}

#[test]
fn limits_of_any_range_stop_a_wheel() {
    check_limits(-1.0, 1.0, 5.0, 1.0);
    check_limits(-10.0, 10.0, 8.0, 10.0);
    check_limits(-10.0, 10.0, -8.0, -10.0);
    check_limits(-1.0, f64::INFINITY, -5.0, -1.0);
    check_limits(f64::NEG_INFINITY, 20.0, 30.0, 20.0);
    check_limits(0.0, PI, 4.0, PI);
    check_limits(-4.0, 0.5, -5.0, -4.0);
}

#[test]
fn a_wheel_with_one_limit_goes_on_for_ever_the_other_way() {
    let mut cell = cell(vec![wheel(axis(X, -1.0, f64::INFINITY))]);
    cell.step(STEP);
    set_speed(&mut cell, [0.0; 3], [40.0, 0.0, 0.0]);
    run(&mut cell, 2.0);
    let speed = state(&mut cell, 0).angular_velocity[0];
    assert!((speed - 40.0).abs() < 1e-6, "{speed}");
}

/// A weight of 9.8 N on a limit of 1000 N/m sinks by 9.8 mm.
#[test]
fn a_soft_limit_gives_way_as_its_stiffness_says() {
    let mut cell = cell(vec![slider(Axis {
        limit_stiffness: 1000.0,
        limit_dissipation: 20.0,
        ..axis([0.0, 0.0, -1.0], -1.0, 0.05)
    })]);
    run(&mut cell, 3.0);
    let depth = -0.05 - state(&mut cell, 0).position[2];
    assert!(
        (depth / (GRAVITY / 1000.0) - 1.0).abs() < 0.01,
        "sinks by {depth}"
    );
}

/// The torque of gravity on the bob is 9.8 N m at a quarter turn.
#[test]
fn dry_friction_holds_below_its_torque_and_slides_above() {
    let slips = |friction| {
        let axis = Axis {
            friction,
            ..free(Y)
        };
        let mut cell = cell(vec![pendulum(axis, FRAC_PI_2)]);
        [1.0, 2.0].map(|duration| {
            run(&mut cell, duration);
            let [_, y, _, w] = state(&mut cell, 0).orientation_xyzw;
            FRAC_PI_2 - 2.0 * y.atan2(w)
        })
    };
    for held in [9.9, 13.0] {
        let [early, late] = slips(held);
        assert!(
            early.abs() < 1e-3 && (late - early).abs() < 1e-6,
            "{held} N m: {early}, then {late}"
        );
    }
    let [early, _] = slips(9.0);
    // Less than `0.8 / 1.01 t^2 / 2`, since the torque of gravity lessens with the slip.
    assert!(
        (0.2..0.397).contains(&early),
        "holds more than it can: {early}"
    );
}

/// Friction and a limit on one axis: the limit stops what slides, and both hold it there.
#[test]
fn dry_friction_and_a_limit_share_an_axis() {
    let mut cell = cell(vec![slider(Axis {
        friction: 2.0,
        ..axis([0.0, 0.0, -1.0], -1.0, 0.3)
    })]);
    run(&mut cell, 2.0);
    let height = state(&mut cell, 0).position[2];
    assert!((height + 0.3).abs() < 2e-3, "at {height}");
    push(&mut cell, [0.0, 0.0, GRAVITY + 1.0], [0.0; 3]);
    run(&mut cell, 0.5);
    let held = state(&mut cell, 0).position[2];
    assert!((held - height).abs() < 1e-3, "moved to {held}");
    push(&mut cell, [0.0, 0.0, 2.0], [0.0; 3]);
    run(&mut cell, 0.5);
    let risen = state(&mut cell, 0).position[2] - held;
    assert!((risen / 0.125 - 1.0).abs() < 0.03, "rises by {risen}");
}

#[test]
fn dry_friction_slows_a_slider_as_coulomb_says() {
    let friction = 3.0;
    let mut cell = cell(vec![slider(Axis {
        friction,
        ..free(X)
    })]);
    cell.step(STEP);
    set_speed(&mut cell, [2.0, 0.0, 0.0], [0.0; 3]);
    run(&mut cell, 1.5);
    let expected = 2.0 * 2.0 / (2.0 * friction);
    let way = slid(&mut cell);
    assert!(
        (way / expected - 1.0).abs() < 0.005,
        "{way}, not {expected}"
    );
}

/// The speed is reached, and passed by no more than what a step's force adds.
#[test]
fn a_greatest_speed_is_kept_and_let_go() {
    let velocity = 0.7;
    let mut cell = cell(vec![slider(Axis {
        velocity,
        ..free(Z)
    })]);
    for _ in 0..1000 {
        cell.step(STEP);
        let speed = -state(&mut cell, 0).linear_velocity[2];
        assert!(speed < velocity + 1.01 * GRAVITY * STEP, "{speed} m/s");
    }
    let speed = -state(&mut cell, 0).linear_velocity[2];
    assert!((speed - velocity).abs() < 0.02, "{speed} m/s");
    push(&mut cell, [0.0, 0.0, 2.0 * GRAVITY], [0.0; 3]);
    run(&mut cell, 0.1);
    let slowed = -state(&mut cell, 0).linear_velocity[2];
    assert!(
        (slowed - (velocity - 0.1 * GRAVITY)).abs() < 0.03,
        "{slowed} m/s"
    );
}

/// The period of large swings is `2 pi / (omega agm(1, cos(a / 2)))`.
#[test]
fn a_pendulum_of_large_swings_takes_longer() {
    let amplitude = 2.0_f64;
    let mut cell = cell(vec![pendulum(free(Y), amplitude)]);
    let times = falls(&mut cell, 4.0, |cell| {
        let [_, y, _, w] = state(cell, 0).orientation_xyzw;
        2.0 * y.atan2(w)
    });
    let (mut a, mut g) = (1.0, (amplitude / 2.0).cos());
    for _ in 0..10 {
        (a, g) = (f64::midpoint(a, g), (a * g).sqrt());
    }
    let expected = TAU * (1.01 / GRAVITY).sqrt() / a;
    assert!(
        (period(&times) / expected - 1.0).abs() < 0.005,
        "{}",
        period(&times)
    );
}

/// From rest at a quarter turn the bob falls with `g / c (1 - exp(-c t / I))`, within 1 % before it
/// has turned by 0.3 rad, whatever the damping.
#[test]
fn dampers_of_any_strength_act_on_masses_off_their_axis() {
    for damping in [0.5, 5.0, 50.0, 5000.0] {
        let axis = Axis { damping, ..free(Y) };
        let mut cell = cell(vec![pendulum(axis, FRAC_PI_2)]);
        run(&mut cell, 0.2);
        let speed = -state(&mut cell, 0).angular_velocity[1];
        let expected = GRAVITY / damping * (1.0 - (-damping * 0.2 / 1.01).exp());
        assert!(
            (speed / expected - 1.0).abs() < 0.01,
            "{damping}: {speed}, not {expected}"
        );
    }
}

/// From level, it rises to 0.91 m of 1 m after a minute: it loses 0.15 % in a second.
#[test]
fn a_pendulum_keeps_nine_tenths_of_its_energy_for_a_minute() {
    let mut cell = cell(vec![pendulum(free(Y), FRAC_PI_2)]);
    run(&mut cell, 57.0);
    let mut highest = 0.0_f64;
    for _ in 0..3000 {
        cell.step(STEP);
        let [_, y, _, w] = state(&mut cell, 0).orientation_xyzw;
        highest = highest.max(1.0 - (2.0 * y.atan2(w)).cos());
    }
    assert!((0.9..1.0).contains(&highest), "rises to {highest} m");
}

#[test]
fn a_joint_at_its_limits_moves_the_same_alone_as_beside_others() {
    let swing = || {
        wheel(Axis {
            spring_stiffness: 4.0,
            spring_reference: 0.3,
            ..axis(X, -0.2, 0.5)
        })
    };
    let stone = collision(Geometry::Box { size: [0.2; 3] }, 0.5);
    let stone = body("stone", pose([30.0, 0.0, 0.1], [0.0; 3]), stone);
    let mut alone = cell(vec![swing()]);
    let mut beside = cell(vec![swing(), ground(0.5), stone]);
    for step in 0..3000 {
        alone.step(STEP);
        beside.step(STEP);
        let digests = [&mut alone, &mut beside].map(|cell| state(cell, 0).digest);
        assert_eq!(digests[0], digests[1], "step {step}");
    }
}
