//! Landings: flat, without a rebound or a spin; and rebounds by the coefficient of restitution.

use super::scene::{Body, Shape, ground, single, world};
use super::simulation::{Simulation, length};
use super::sliding::{both_steps, part};
use super::{Case, GRAVITY, Quantity, zero};

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
