//! Surfaces with a direction: a second coefficient of friction, and slip that yields to a force.

use std::f64::consts::{FRAC_1_SQRT_2, PI};

use super::scene::{Body, Shape, ground, single, world, world_under};
use super::simulation::Simulation;
use super::sliding::{both_steps, part};
use super::{Case, GRAVITY, Quantity, zero};

pub(super) fn cases() -> Vec<Case> {
    vec![
        Case {
            name: "surface-second-friction",
            source: "Coulomb along each axis: sticks along fdir1, a = g (sin - mu2 cos) beside",
            run: |_| both_steps(second_friction),
        },
        Case {
            name: "surface-slip",
            source: "slip compliance of DART and Gazebo: v = slip F, for all contacts together",
            run: |_| both_steps(slip),
        },
        Case {
            name: "surface-torsion",
            source: "Gazebo, torsional friction: I dw/dt = -3/16 pi mu a N",
            run: |_| both_steps(torsion),
        },
    ]
}

fn second_friction(step_s: f64) -> Vec<Quantity> {
    let [first, second, tangent] = [1.0, 0.1, 0.5_f64];
    let angle = tangent.atan();
    // The direction of the slope, and the first direction of friction in the axes of the body.
    let slide = |downhill: [f64; 2], first_direction: &str| {
        let surface =
            format!("<mu>{first}</mu><mu2>{second}</mu2><fdir1>{first_direction}</fdir1>");
        let body = Body::new("box", [0.0, 0.0, 0.05], 1.0, Shape::Box([0.3, 0.3, 0.1]));
        let [x, y] = downhill.map(|part| GRAVITY * angle.sin() * part);
        let gravity = [x, y, -GRAVITY * angle.cos()];
        let text = world_under(gravity, &[ground(), single(body.surfaced(&surface))]);
        let mut simulation = Simulation::new(&text, step_s);
        simulation.run(1.0);
        let [x, y, _] = simulation.position(simulation.body("box"));
        let along = x * downhill[0] + y * downhill[1];
        let beside = x * downhill[1] - y * downhill[0];
        [along, beside]
    };
    let way = 0.5 * GRAVITY * (angle.sin() - second * angle.cos());
    let oblique = [FRAC_1_SQRT_2; 2];
    let across = slide([0.0, 1.0], "1 0 0");
    let turned = slide(oblique, "1 -1 0");
    let stuck = slide([1.0, 0.0], "1 0 0");
    let within = part(step_s);
    vec![
        Quantity::relative("way along fdir2", step_s, [way, across[0]]).within(within, "m"),
        zero("way beside it", step_s, across[1]).within(1e-3, "m"),
        Quantity::relative("way along an oblique fdir2", step_s, [way, turned[0]])
            .within(within, "m"),
        zero("way beside the oblique one", step_s, turned[1]).within(1e-3, "m"),
        zero("way along fdir1", step_s, stuck[0]).within(1e-4, "m"),
    ]
}

/// A ball that spins where it stands, on a patch.
fn torsion(step_s: f64) -> Vec<Quantity> {
    let [coefficient, patch, rate, duration_s] = [0.8, 0.02, 10.0, 0.2];
    let body = Body::new("ball", [0.0, 0.0, 0.1], 1.0, Shape::Sphere(0.1)).rubbing(1.0);
    let moment = Shape::Sphere(0.1).moments(1.0)[2];
    let torsional = format!(
        "</ode><torsional><coefficient>{coefficient}</coefficient>\
         <patch_radius>{patch}</patch_radius></torsional>"
    );
    let ball = single(body).replace("</ode>", &torsional);
    let mut simulation = Simulation::new(&world(&[ground(), ball]), step_s);
    let link = simulation.body("ball");
    simulation.set_velocity(link, [[0.0; 3], [0.0, 0.0, rate]]);
    simulation.run(duration_s);
    let [_, [.., left]] = simulation.velocity(link);
    let slowing = 3.0 / 16.0 * PI * coefficient * patch * GRAVITY / moment;
    simulation.run(1.0);
    let [_, [.., rest]] = simulation.velocity(link);
    vec![
        Quantity::relative("rate", step_s, [rate - slowing * duration_s, left])
            .within(part(step_s), "rad/s"),
        zero("rate at last", step_s, rest).within(1e-6, "rad/s"),
    ]
}

fn slip(step_s: f64) -> Vec<Quantity> {
    let compliances = [0.05, 0.02];
    let force = 2.0;
    let shapes = [
        ("box", Shape::Box([0.3, 0.3, 0.1]), 0.05),
        ("ball that cannot turn", Shape::Sphere(0.1), 0.1),
    ];
    let mut found = Vec::new();
    for (name, shape, height) in shapes {
        let surface = format!(
            "<mu>1</mu><mu2>1</mu2><fdir1>1 0 0</fdir1><slip1>{}</slip1><slip2>{}</slip2>",
            compliances[0], compliances[1]
        );
        for (axis, compliance) in compliances.into_iter().enumerate() {
            let body = Body::new("body", [0.0, 0.0, height], 1.0, shape).surfaced(&surface);
            let body = body.with_moments([if name == "box" { 0.01 } else { 1e6 }; 3]);
            let mut simulation = Simulation::new(&world(&[ground(), single(body)]), step_s);
            let link = simulation.body("body");
            let mut pull = [0.0; 3];
            pull[axis] = force;
            simulation.run_with(1.0, |simulation| simulation.push(link, pull));
            let begin = simulation.position(link)[axis];
            simulation.run_with(1.0, |simulation| simulation.push(link, pull));
            let speed = simulation.position(link)[axis] - begin;
            let name = format!("{name}: speed along fdir{}", axis + 1);
            let both = [compliance * force, speed];
            found.push(Quantity::relative(name, step_s, both).within(0.01, "m/s"));
        }
    }
    found
}
