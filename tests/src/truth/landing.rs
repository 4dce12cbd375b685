//! Landings: flat, without a rebound or a spin; and rebounds by the coefficient of restitution.

use super::scene::{Body, Shape, ground, single, world};
use super::simulation::{Simulation, length};
use super::sliding::{both_steps, part};
use super::{Case, FINE, GRAVITY, Quantity, zero};

/// Height of the fall \[m\].
const FALL: f64 = 0.5;

pub(super) fn cases() -> Vec<Case> {
    vec![
        Case {
            name: "land-flat",
            source: "Newton's law of impact with e = 0: no velocity is left, and no spin arises",
            run: |_| both_steps(flat),
        },
        Case {
            name: "land-restitution",
            source: "Newton's law of impact: rebound to e^2 of the height",
            run: |_| both_steps(restitution),
        },
        Case {
            name: "land-slanted",
            source: "laws of Newton (e = 0) and Coulomb at one edge, which sticks or slips",
            run: |_| slanted(),
        },
    ]
}

fn flat(step_s: f64) -> Vec<Quantity> {
    let kinds = [
        ("cube", Shape::Box([0.2; 3])),
        ("cylinder", Shape::Cylinder(0.1, 0.2)),
    ];
    let mut found = Vec::new();
    for (name, shape) in kinds {
        let body = Body::new("body", [0.0, 0.0, 0.1 + FALL], 1.0, shape);
        let mut simulation = Simulation::new(&world(&[ground(), single(body)]), step_s);
        let link = simulation.body("body");
        let (mut upward, mut spin) = (0.0_f64, 0.0_f64);
        simulation.run_with(1.5, |simulation| {
            let [linear, angular] = simulation.velocity(link);
            upward = upward.max(linear[2]);
            spin = spin.max(length(angular));
        });
        let impact = (2.0 * GRAVITY * FALL).sqrt();
        let rebound = format!("{name}: rebound per impact");
        found.push(zero(rebound, step_s, upward / impact).within(0.01, "1"));
        found.push(zero(format!("{name}: spin"), step_s, spin).within(0.01, "rad/s"));
    }
    found
}

/// Sizes of a rod \[m\], the angle at which it lands \[rad\] and the height of its fall \[m\].
const ROD: [f64; 3] = [1.0, 0.2, 0.02];
const LEAN: f64 = std::f64::consts::FRAC_PI_4;
const DROP: f64 = 0.2;

/// Lets a rod of 1 kg land on an edge of its end.
fn slanted() -> Vec<Quantity> {
    let [length, _, thickness] = ROD;
    let (sin, cos) = LEAN.sin_cos();
    // From the centre to the edge.
    let arm = [
        (length * cos - thickness * sin) / 2.0,
        -(length * sin + thickness * cos) / 2.0,
    ];
    let mut found = Vec::new();
    for friction in [0.1, 0.3, 0.5, 2.0] {
        let body = Body::new("rod", [0.0, 0.0, DROP - arm[1]], 1.0, Shape::Box(ROD));
        let body = body.turned([0.0, LEAN, 0.0]).rubbing(friction);
        let mut simulation = Simulation::new(&world(&[ground(), single(body)]), FINE);
        let rod = simulation.body("rod");
        while simulation.velocity(rod)[1][1] == 0.0 {
            simulation.step();
        }
        // The step before has stopped it so far that it touches; this one ends the impact.
        simulation.step();
        let [linear, angular] = simulation.velocity(rod);
        let [along, turn] = after_impact(arm, friction);
        let mut add = |name: &str, both: [f64; 2]| {
            let name = format!("mu = {friction}: {name}");
            found.push(Quantity::relative(name, FINE, both).within(0.02, ""));
        };
        add("speed along the ground", [along, linear[0]]);
        add("rate of turn", [turn, angular[1]]);
    }
    found
}

/// Returns the speed along the ground \[m/s\] and the rate of turn \[rad/s\] after an impact of a
/// mass of 1 kg at the end of an arm: impulses p with W p = -v where the edge sticks, and on the
/// cone of friction where it slips.
fn after_impact([x, z]: [f64; 2], friction: f64) -> [f64; 2] {
    let speed = (2.0 * GRAVITY * DROP).sqrt();
    let moment = (ROD[0] * ROD[0] + ROD[2] * ROD[2]) / 12.0;
    let [tangential, across, normal] =
        [1.0 + z * z / moment, -x * z / moment, 1.0 + x * x / moment];
    let ratio = -across / tangential;
    let ratio = ratio.clamp(-friction, friction);
    let press = speed / (normal + across * ratio);
    let rub = ratio * press;
    [rub, (z * rub - x * press) / moment]
}

fn restitution(step_s: f64) -> Vec<Quantity> {
    let kinds = [
        ("ball", Shape::Sphere(0.1)),
        ("flat cube", Shape::Box([0.2; 3])),
    ];
    let mut found = Vec::new();
    for (name, shape) in kinds {
        for coefficient in [0.0, 0.25, 0.5, 0.75, 1.0] {
            let body = Body::new("body", [0.0, 0.0, 0.1 + FALL], 1.0, shape);
            let body = body.bouncing(coefficient);
            let mut simulation = Simulation::new(&world(&[ground(), single(body)]), step_s);
            let rebound = (apex(&mut simulation) / FALL).max(0.0).sqrt();
            let name = format!("{name}: rebound at e = {coefficient}");
            let both = [coefficient, rebound];
            // Without a rebound, the height that is left is the depth of a resting contact.
            let tolerance = if coefficient == 0.0 {
                0.03
            } else {
                part(step_s)
            };
            found.push(Quantity::absolute(name, step_s, both).within(tolerance, "1"));
        }
    }
    found
}

/// Returns how high the body rises after it first touched \[m\].
fn apex(simulation: &mut Simulation) -> f64 {
    let link = simulation.body("body");
    let (mut has_landed, mut highest, mut last) = (false, 0.0_f64, f64::INFINITY);
    let fall = (2.0 * FALL / GRAVITY).sqrt();
    // The second rise would begin after a full flight of the first.
    simulation.run_with(2.2 * fall, |simulation| {
        let height = simulation.position(link)[2] - 0.1;
        has_landed |= height > last || simulation.time_s() > 1.1 * fall;
        if has_landed {
            highest = highest.max(height);
        }
        last = height;
    });
    highest
}
