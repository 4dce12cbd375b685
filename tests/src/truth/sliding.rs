//! Bodies that slide: straight, spinning, pushed beside their centre, and not at all.

use std::f64::consts::{FRAC_1_SQRT_2, PI, TAU};

use super::planar::{Push, Sledge, corners, rim};
use super::scene::{
    Body, FOOT, Joint, Shape, driven_model, fixed_drum, fixed_slab, ground, single, slope, world,
    world_under,
};
use super::simulation::Simulation;
use super::{COARSE, Case, FINE, GRAVITY, Quantity, zero};

pub(super) fn cases() -> Vec<Case> {
    vec![
        Case {
            name: "slide-oblong",
            source: "Coulomb: friction mu m g against the velocity, so straight for v^2 / (2 mu g)",
            run: |_| both_steps(oblong),
        },
        Case {
            name: "slide-puck",
            source: "Coulomb at three points, four corners or a rim, integrated (planar)",
            run: |_| both_steps(puck),
        },
        Case {
            name: "slide-push",
            source: "quasi-static motion of least dissipation under Coulomb at points (planar)",
            run: |_| both_steps(push),
        },
        Case {
            name: "slide-threshold",
            source: "Coulomb: sticks below tan(angle) = mu, beyond it a = g (sin - mu cos)",
            run: |_| both_steps(threshold),
        },
    ]
}

pub(super) fn both_steps(measure: fn(f64) -> Vec<Quantity>) -> Vec<Quantity> {
    [FINE, COARSE].into_iter().flat_map(measure).collect()
}

fn oblong(step_s: f64) -> Vec<Quantity> {
    let (speed, friction) = (2.0, 0.2);
    let shape = Shape::Box([0.8, 0.1, 0.3]);
    let body = Body::new("box", [0.0, 0.0, 0.15], 1.0, shape).rubbing(friction);
    let mut simulation = Simulation::new(&world(&[ground(), single(body)]), step_s);
    let link = simulation.body("box");
    let along = speed * FRAC_1_SQRT_2;
    simulation.set_velocity(link, [[along, along, 0.0], [0.0; 3]]);
    simulation.run(2.0);
    let [x, y, _] = simulation.position(link);
    let yaw = simulation.pose(link).roll_pitch_yaw()[2];
    let way = speed * speed / (2.0 * friction * GRAVITY);
    vec![
        Quantity::absolute("direction", step_s, [45.0, y.atan2(x).to_degrees()]).within(0.2, "deg"),
        Quantity::relative("way", step_s, [way, x.hypot(y)]).within(part(step_s), "m"),
        zero("turn", step_s, yaw).within(0.005, "rad"),
    ]
}

/// Returns the part that a coarse step may be off by more than a fine one.
pub(super) fn part(step_s: f64) -> f64 {
    if step_s > FINE { 0.02 } else { 0.005 }
}

/// The part by which ways are off at most; turns are by twice of it. Loads on more than three
/// points are those of the reference: linear over the base.
const PART: f64 = 0.005;

fn puck(step_s: f64) -> Vec<Quantity> {
    let (radius, height) = (0.1, 0.01);
    let square = Shape::Box([2.0 * radius, 2.0 * radius, 2.0 * height]);
    let disc = Shape::Cylinder(radius, 2.0 * height);
    let at = [0.0, 0.0, height];
    let tripod = Body::ethereal("puck", at, 1.0, disc.moments(1.0));
    let kinds = [
        (
            "tripod",
            tripod.on_feet(&rim(radius, 3), 0.0),
            rim(radius, 3),
            disc,
        ),
        (
            "square",
            Body::new("puck", at, 1.0, square),
            corners([radius; 2]),
            square,
        ),
        (
            "disc",
            Body::new("puck", at, 1.0, disc),
            rim(radius, 64),
            disc,
        ),
    ];
    let on_others = ["disc on a box", "disc on a drum"].map(|name| {
        let body = Body::new("puck", at, 1.0, disc);
        (name, body, rim(radius, 64), disc)
    });
    let mut found = Vec::new();
    for (name, body, points, shape) in kinds.into_iter().chain(on_others) {
        let [velocity, rate, friction] = [2.0, 20.0, 0.2];
        let sledge = Sledge {
            mass: 1.0,
            moment: shape.moments(1.0)[2],
            height,
            friction,
            points,
        };
        let expected = sledge.slide([velocity, 0.0], rate);
        let body = single(body.rubbing(friction));
        let floor = match name {
            "disc on a box" => fixed_slab(4.0),
            "disc on a drum" => fixed_drum(3.0),
            _ => ground(),
        };
        let mut simulation = Simulation::new(&world(&[floor, body]), step_s);
        let link = simulation.body("puck");
        simulation.set_velocity(link, [[velocity, 0.0, 0.0], [0.0, 0.0, rate]]);
        let (mut turned, mut last) = (0.0, 0.0);
        simulation.run_with(4.0, |simulation| {
            let yaw = simulation.pose(link).roll_pitch_yaw()[2];
            turned += (yaw - last + PI).rem_euclid(TAU) - PI;
            last = yaw;
        });
        let [x, y, _] = simulation.position(link);
        let way = [expected.way, x.hypot(y)];
        found.push(Quantity::relative(format!("{name}: way"), step_s, way).within(PART, "m"));
        let turn = [expected.turn, turned];
        let turn_name = format!("{name}: turn");
        found.push(Quantity::relative(turn_name, step_s, turn).within(2.0 * PART, "rad"));
    }
    found
}

fn push(step_s: f64) -> Vec<Quantity> {
    let half = [0.2, 0.15];
    let ([radius, speed, way], friction) = ([0.02, 0.05, 0.1], 0.3);
    let shape = Shape::Box([2.0 * half[0], 2.0 * half[1], 0.1]);
    let flat = Body::new("box", [0.0, 0.0, 0.05], 1.0, shape);
    let below = 0.05 + FOOT;
    let tripod = Body::new("box", [0.0, 0.0, below + FOOT], 1.0, shape);
    let tripod = tripod.on_feet(&rim(half[1], 3), below);
    let kinds = [
        ("tripod", tripod, rim(half[1], 3), 0.04),
        ("box", flat, corners(half), 0.02),
    ];
    let mut found = Vec::new();
    for (name, body, points, height) in kinds {
        for offset in [0.03, 0.1] {
            let expected = Push {
                points: points.clone(),
                face: half[0],
                offset,
                radius,
                height,
                way,
                friction,
            }
            .turn();
            let at = [-half[0] - radius, offset, height];
            let pusher = Body::new("pusher", at, 1.0, Shape::Sphere(radius)).rubbing(0.0);
            let rail = Joint::new("rail", "prismatic", ["world", "pusher"]).about([1.0, 0.0, 0.0]);
            let target = single(body.clone().rubbing(friction));
            let text = world(&[ground(), target, driven_model("pusher", &[pusher], &[rail])]);
            let mut simulation = Simulation::new(&text, step_s);
            let rail = simulation.joint("pusher", "rail");
            simulation.run_with(way / speed, |simulation| simulation.drive(rail, speed));
            let yaw = simulation.pose(simulation.body("box")).roll_pitch_yaw()[2];
            let name = format!("{name}: turn, {offset} m beside the centre");
            let quantity = Quantity::relative(name, step_s, [expected, yaw]);
            found.push(quantity.within(2.0 * PART, "rad"));
        }
    }
    found
}

fn threshold(step_s: f64) -> Vec<Quantity> {
    let friction = 0.5_f64;
    let on_slope = |tangent: f64| {
        let shape = Shape::Box([0.2, 0.2, 0.1]);
        let body = Body::new("box", [0.0, 0.0, 0.05], 1.0, shape).rubbing(friction);
        let text = world_under(slope(tangent.atan()), &[ground(), single(body)]);
        let mut simulation = Simulation::new(&text, step_s);
        simulation.run(2.0);
        simulation.position(simulation.body("box"))[0]
    };
    let way = |tangent: f64| {
        let angle = tangent.atan();
        0.5 * GRAVITY * (angle.sin() - friction * angle.cos()) * 4.0
    };
    let [below, above, steep] = [0.995, 1.005, 1.2].map(|part| part * friction);
    vec![
        zero("way at 0.995 of the threshold", step_s, on_slope(below)).within(1e-4, "m"),
        Quantity::relative("way at 1.005 of it", step_s, [way(above), on_slope(above)])
            .within(4.0 * part(step_s), "m"),
        Quantity::relative("way at 1.2 of it", step_s, [way(steep), on_slope(steep)])
            .within(part(step_s), "m"),
    ]
}
