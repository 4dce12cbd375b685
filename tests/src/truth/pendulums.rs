//! Pendulums, tops and oscillators: periods, energies, precession.

use std::f64::consts::{FRAC_PI_2, TAU};

use super::scene::{Body, Joint, driven_model, model, single, world, world_under};
use super::simulation::Simulation;
use super::sliding::both_steps;
use super::{Case, Effort, FINE, GRAVITY, Quantity};

/// Mass \[kg\], length \[m\] and moment of a pendulum's body about its own centre \[kg m^2\].
const MASS: f64 = 1.0;
const LENGTH: f64 = 1.0;
const MOMENT: f64 = 0.01;

pub(super) fn cases() -> Vec<Case> {
    vec![
        Case {
            name: "pendulum-energy",
            source: "conservation of energy",
            run: energies,
        },
        Case {
            name: "pendulum-period",
            source: "T = 4 sqrt(I / (m g l)) K(sin(a / 2)), K by the arithmetic-geometric mean",
            run: |_| both_steps(periods),
        },
        Case {
            name: "spinning-top",
            source: "level top: precession m g l / (I3 w3)",
            run: |_| tops(),
        },
        Case {
            name: "control-oscillator",
            source: "amplitude of the semi-implicit Euler method with the same forces and steps",
            run: |_| both_steps(oscillators),
        },
    ]
}

/// Writer of a model.
type Write = fn(&str, &[Body], &[Joint]) -> String;

/// Writes links that hang on each other, each turned by an angle from hanging \[rad\].
fn pendulum(links: usize, angle: f64, write: Write) -> String {
    let mut bodies = Vec::new();
    let mut joints = Vec::new();
    let mut parent = "world".to_owned();
    for index in 0..links {
        let name = format!("link_{index}");
        let along = index as f64 * LENGTH;
        let position = [-along * angle.sin(), 0.0, -along * angle.cos()];
        let body = Body::ethereal(&name, position, MASS, [MOMENT; 3]);
        bodies.push(body.centered([0.0, 0.0, -LENGTH]).turned([0.0, angle, 0.0]));
        let joint = Joint::new(&format!("joint_{index}"), "revolute", [&parent, &name]);
        joints.push(joint.about([0.0, 1.0, 0.0]));
        parent = name;
    }
    world(&[write("pendulum", &bodies, &joints)])
}

fn energies(effort: Effort) -> Vec<Quantity> {
    let kinds = [
        ("level", 1, FRAC_PI_2),
        ("from 2 rad", 1, 2.0),
        ("double", 2, FRAC_PI_2),
    ];
    let of_kind = |(name, links, angle): (&str, usize, f64), step_s: f64| {
        let mut simulation = Simulation::new(&pendulum(links, angle, model), step_s);
        // The zero of the energy is where the links hang.
        let lowest: f64 = (1..=links)
            .map(|link| -(link as f64) * MASS * GRAVITY * LENGTH)
            .sum();
        let begin = simulation.energy() - lowest;
        let mean_s = 2.0;
        simulation.run(effort.long_s - mean_s);
        let (mut sum, mut count) = (0.0, 0.0);
        simulation.run_with(mean_s, |simulation| {
            sum += simulation.energy() - lowest;
            count += 1.0;
        });
        let name = format!("{name}: energy kept after {} s", effort.long_s);
        let tolerance = if step_s > FINE { 0.02 } else { 0.005 };
        Quantity::relative(name, step_s, [1.0, sum / count / begin]).within(tolerance, "1")
    };
    both_steps_of(&kinds, of_kind)
}

fn both_steps_of<K: Copy>(kinds: &[K], of_kind: impl Fn(K, f64) -> Quantity) -> Vec<Quantity> {
    let steps = [FINE, super::COARSE].into_iter();
    steps
        .flat_map(|step_s| kinds.iter().map(move |kind| (*kind, step_s)))
        .map(|(kind, step_s)| of_kind(kind, step_s))
        .collect()
}

fn periods(step_s: f64) -> Vec<Quantity> {
    let of_angle = |angle: f64| {
        let mut simulation = Simulation::new(&pendulum(1, angle, driven_model), step_s);
        let joint = simulation.joint("pendulum", "joint_0");
        let (mut last, mut crossings) = (angle, Vec::new());
        simulation.run_with(12.0, |simulation| {
            let now = angle + simulation.joint_position(joint);
            if last > 0.0 && now <= 0.0 {
                let part = last / (last - now);
                crossings.push(simulation.time_s() - step_s * (1.0 - part));
            }
            last = now;
        });
        let turns = crossings.len() - 1;
        let measured = (crossings[turns] - crossings[0]) / turns as f64;
        let moment = MOMENT + MASS * LENGTH * LENGTH;
        let unit = (moment / (MASS * GRAVITY * LENGTH)).sqrt();
        let expected = 4.0 * unit * elliptic((angle / 2.0).sin());
        let name = format!("period from {angle} rad");
        let tolerance = if step_s > FINE { 0.005 } else { 0.001 };
        Quantity::relative(name, step_s, [expected, measured]).within(tolerance, "s")
    };
    [0.05, 2.0].map(of_angle).to_vec()
}

/// Returns the complete elliptic integral of the first kind of a modulus.
fn elliptic(modulus: f64) -> f64 {
    let (mut a, mut b) = (1.0, (1.0 - modulus * modulus).sqrt());
    for _ in 0..20 {
        (a, b) = (f64::midpoint(a, b), (a * b).sqrt());
    }
    FRAC_PI_2 / a
}

fn tops() -> Vec<Quantity> {
    let (arm, duration_s) = (0.1, 3.0);
    let moments = [0.005, 0.0026, 0.0026];
    let of_rate = |rate: f64, step_s: f64| {
        let body = Body::ethereal("top", [0.0; 3], 1.0, moments).centered([arm, 0.0, 0.0]);
        let pivot = Joint::new("pivot", "ball", ["world", "top"]);
        let text = world(&[model("top", &[body], &[pivot])]);
        let mut simulation = Simulation::new(&text, step_s);
        let top = simulation.body("top");
        let precession = GRAVITY * arm / (moments[0] * rate);
        simulation.set_velocity(top, [[0.0; 3], [rate, 0.0, precession]]);
        let (mut turned, mut last) = (0.0, 0.0_f64);
        simulation.run_with(duration_s + step_s, |simulation| {
            let [x, y, _] = simulation.pose(top).rotate([1.0, 0.0, 0.0]);
            let now = y.atan2(x);
            turned += (now - last + TAU / 2.0).rem_euclid(TAU) - TAU / 2.0;
            last = now;
        });
        let [_, _, height] = simulation.pose(top).rotate([1.0, 0.0, 0.0]);
        let name = format!("precession at {rate} rad/s");
        let both = [precession, turned / duration_s];
        let name_of_tilt = format!("tilt at {rate} rad/s");
        [
            Quantity::relative(name, step_s, both).within(0.005, "rad/s"),
            super::zero(name_of_tilt, step_s, height.asin()).within(0.02, "rad"),
        ]
    };
    [100.0, 300.0]
        .into_iter()
        .flat_map(|rate| of_rate(rate, FINE))
        .collect()
}

/// Measures a mass that a force per step holds as a spring.
fn oscillators(step_s: f64) -> Vec<Quantity> {
    let of_stiffness = |stiffness: f64| {
        let (begin, duration_s) = (0.1, 5.0);
        let body = Body::ethereal("mass", [begin, 0.0, 0.0], 1.0, [0.01; 3]);
        let text = world_under([0.0; 3], &[single(body)]);
        let mut simulation = Simulation::new(&text, step_s);
        let mass = simulation.body("mass");
        let period = TAU / stiffness.sqrt();
        let is_late = |time: f64| time > duration_s - 2.0 * period;
        let mut measured = 0.0_f64;
        simulation.run_with(duration_s, |simulation| {
            let x = simulation.position(mass)[0];
            if is_late(simulation.time_s()) {
                measured = measured.max(x.abs());
            }
            simulation.push(mass, [-stiffness * x, 0.0, 0.0]);
        });
        let (mut x, mut v, mut expected) = (begin, 0.0, 0.0_f64);
        for step in 0..(duration_s / step_s).round() as u64 {
            if is_late(step as f64 * step_s) {
                expected = expected.max(f64::abs(x));
            }
            v -= step_s * stiffness * x;
            x += step_s * v;
        }
        let name = format!("amplitude at {stiffness} N/m");
        Quantity::relative(name, step_s, [expected, measured]).within(0.005, "m")
    };
    [1e3, 1e4].map(of_stiffness).to_vec()
}
