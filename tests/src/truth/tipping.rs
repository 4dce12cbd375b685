//! Cylinders on slopes and on each other: they tip over their rim in whichever direction it is.

use std::f64::consts::PI;

use super::scene::{Body, Shape, fixed_drum, fixed_slab, ground, single, world, world_under};
use super::simulation::Simulation;
use super::sliding::both_steps;
use super::{Case, GRAVITY, Quantity};

/// Radius and height of the cylinder \[m\].
const SIZE: [f64; 2] = [0.25, 1.0];

/// Directions in which the slope falls \[deg\]: where a cylinder has a corner at first, in the
/// middle between two, and elsewhere.
const DIRECTIONS: [f64; 7] = [0.0, 5.6, 10.0, 22.5, 101.25, 200.0, 343.1];

/// The time in which what does not stand falls \[s\].
const FALL_S: f64 = 4.0;

pub(super) fn cases() -> Vec<Case> {
    vec![
        Case {
            name: "tip-on-plane",
            source: "statics: stands while the centre of mass is above the base, tan = 2 r / h",
            run: |_| both_steps(|step_s| tip(&ground(), step_s)),
        },
        Case {
            name: "tip-on-box",
            source: "statics: stands while the centre of mass is above the base, tan = 2 r / h",
            run: |_| both_steps(|step_s| tip(&fixed_slab(4.0), step_s)),
        },
        Case {
            name: "tip-on-drum",
            source: "statics: stands while the centre of mass is above the base, tan = 2 r / h",
            run: |_| both_steps(|step_s| tip(&fixed_drum(2.0), step_s)),
        },
        Case {
            name: "overhang",
            source: "statics: stands while the centre of mass is above the drum below",
            run: |_| both_steps(overhang),
        },
    ]
}

fn tip(floor: &str, step_s: f64) -> Vec<Quantity> {
    let mut found = Vec::new();
    for direction in DIRECTIONS {
        let stands = [0.99, 1.01].map(|part| lean_at(floor, step_s, direction, part));
        let [below, above] = stands.map(f64::to_degrees);
        let name = format!("lean at 0.99 of the slope, falling to {direction} deg");
        found.push(Quantity::absolute(name, step_s, [0.0, below]).within(0.05, "deg"));
        let name = format!("lean at 1.01 of it, falling to {direction} deg");
        found.push(Quantity::at_least(name, step_s, [10.0, above]).within(0.0, "deg"));
    }
    found
}

/// Lets a drum stand out over a fixed one of the same radius.
fn overhang(step_s: f64) -> Vec<Quantity> {
    let [radius, height] = [0.25, 0.2];
    let mut found = Vec::new();
    for direction in DIRECTIONS {
        let lean = |part: f64| {
            let (sin, cos) = (direction * PI / 180.0).sin_cos();
            let beside = part * radius;
            let at = [beside * cos, beside * sin, 0.5 * height];
            let body = Body::new("cylinder", at, 1.0, Shape::Cylinder(radius, height));
            let body = single(body.rubbing(2.0));
            let mut simulation = Simulation::new(&world(&[fixed_drum(radius), body]), step_s);
            let link = simulation.body("cylinder");
            simulation.run(FALL_S);
            lean_of(simulation.pose(link).roll_pitch_yaw()).to_degrees()
        };
        let name = format!("lean with 0.99 of the radius beyond, towards {direction} deg");
        found.push(Quantity::absolute(name, step_s, [0.0, lean(0.99)]).within(0.05, "deg"));
        let name = format!("lean with 1.01 of it beyond, towards {direction} deg");
        found.push(Quantity::at_least(name, step_s, [10.0, lean(1.01)]).within(0.0, "deg"));
    }
    found
}

/// Returns the angle between the axis of a cylinder and the vertical \[rad\].
fn lean_of([roll, pitch, _]: [f64; 3]) -> f64 {
    (roll.cos() * pitch.cos()).clamp(-1.0, 1.0).acos()
}

/// Returns how far a cylinder leans in the end on a slope that is a part of the one on which it
/// tips \[rad\].
fn lean_at(floor: &str, step_s: f64, direction: f64, part: f64) -> f64 {
    let [radius, height] = SIZE;
    let angle = (part * 2.0 * radius / height).atan();
    let direction = direction * PI / 180.0;
    let along = GRAVITY * angle.sin();
    let gravity = [
        along * direction.cos(),
        along * direction.sin(),
        -GRAVITY * angle.cos(),
    ];
    let shape = Shape::Cylinder(radius, height);
    let body = Body::new("cylinder", [0.0, 0.0, 0.5 * height], 1.0, shape).rubbing(2.0);
    let mut simulation = Simulation::new(
        &world_under(gravity, &[floor.to_owned(), single(body)]),
        step_s,
    );
    let link = simulation.body("cylinder");
    simulation.run(FALL_S);
    lean_of(simulation.pose(link).roll_pitch_yaw())
}
