//! Wheels: drawn sideways while they spin, turning a vehicle in place, rolling downhill.

use super::scene::{Body, Joint, Shape, driven_model, ground, single, slope, world, world_under};
use super::simulation::{JointRef, Simulation};
use super::sliding::{both_steps, part};
use super::{Case, GRAVITY, Quantity};

pub(super) fn cases() -> Vec<Case> {
    vec![
        Case {
            name: "wheel-drawn-sideways",
            source: "Coulomb: F = mu N v / sqrt(v^2 + s^2) for a slip s along the wheel",
            run: |_| both_steps(drawn),
        },
        Case {
            name: "wheel-skid-steer",
            source: "balance of moments of four slips: s^2 / (s^2 + b^2) of the ideal rate",
            run: |_| both_steps(skid_steer),
        },
        Case {
            name: "wheel-rolling",
            source: "a = g sin / (1 + I / (m r^2)): 5/7, 2/3, 1/2 of g sin",
            run: |_| both_steps(rolling),
        },
    ]
}

fn drawn(step_s: f64) -> Vec<Quantity> {
    let (radius, friction, slip) = (0.1, 0.5, 1.0);
    let shape = Shape::Wheel(radius, 0.04);
    let of_inertia = |factor: f64| {
        let moments = shape.moments(2.0).map(|moment| moment * factor);
        let bodies = [
            Body::ethereal("across", [0.0, 0.0, radius], 0.5, [0.01; 3]),
            Body::ethereal("fork", [0.0, 0.0, radius], 0.5, [0.01; 3]),
            Body::new("wheel", [0.0, 0.0, radius], 2.0, shape)
                .with_moments(moments)
                .rubbing(friction),
        ];
        let joints = [
            Joint::new("rail", "prismatic", ["world", "across"]).about([0.0, 1.0, 0.0]),
            Joint::new("lift", "prismatic", ["across", "fork"]).about([0.0, 0.0, 1.0]),
            Joint::new("axle", "revolute", ["fork", "wheel"]).about([0.0, 1.0, 0.0]),
        ];
        let text = world(&[ground(), driven_model("cart", &bodies, &joints)]);
        let mut simulation = Simulation::new(&text, step_s);
        let [axle, rail] = ["axle", "rail"].map(|name| simulation.joint("cart", name));
        let fork = simulation.link("cart", "fork");
        let pull = 0.5 * friction * 2.5 * GRAVITY;
        let mut drive = |simulation: &mut Simulation| {
            simulation.drive(axle, slip / radius);
            simulation.push(fork, [0.0, pull, 0.0]);
        };
        simulation.run_with(3.0, &mut drive);
        let begin = simulation.joint_position(rail);
        simulation.run_with(1.0, &mut drive);
        simulation.joint_position(rail) - begin
    };
    // F is half of mu N, so that v / sqrt(v^2 + s^2) = 1 / 2.
    let speed = slip / 3.0_f64.sqrt();
    [1.0, 10.0]
        .map(|factor| {
            let name = format!("speed sideways, {factor} times the inertia");
            Quantity::relative(name, step_s, [speed, of_inertia(factor)]).within(0.005, "m/s")
        })
        .to_vec()
}

fn skid_steer(step_s: f64) -> Vec<Quantity> {
    let (radius, along, across) = (0.1, 0.2, 0.25);
    let ideal = across * across / (across * across + along * along);
    let width = 0.04;
    let kinds = [
        ("sphere wheels", Shape::Sphere(radius), ideal),
        // Each touches at both ends of a line.
        (
            "cylinder wheels",
            Shape::Wheel(radius, width),
            of_lines([along, across], width / 2.0),
        ),
    ];
    let of_kind = |(name, shape, expected): (&str, Shape, f64)| {
        let chassis = Shape::Box([0.4, 0.4, 0.1]);
        let mut bodies = vec![Body::new("chassis", [0.0, 0.0, radius], 10.0, chassis)];
        let mut joints = Vec::new();
        for (index, [x, y]) in super::planar::corners([along, across])
            .into_iter()
            .enumerate()
        {
            let name = format!("wheel_{index}");
            bodies.push(Body::new(&name, [x, y, radius], 1.0, shape).rubbing(0.5));
            let axle = Joint::new(&format!("axle_{index}"), "revolute", ["chassis", &name]);
            joints.push(axle.about([0.0, 1.0, 0.0]));
        }
        let text = world(&[ground(), driven_model("rover", &bodies, &joints)]);
        let mut simulation = Simulation::new(&text, step_s);
        let axles: Vec<JointRef> = (0..4)
            .map(|index| simulation.joint("rover", &format!("axle_{index}")))
            .collect();
        let rate = 5.0;
        let mut drive = |simulation: &mut Simulation| {
            for (axle, side) in axles.iter().zip([-1.0, -1.0, 1.0, 1.0]) {
                simulation.drive(*axle, rate * side);
            }
        };
        simulation.run_with(1.0, &mut drive);
        let chassis = simulation.link("rover", "chassis");
        let begin = simulation.pose(chassis).roll_pitch_yaw()[2];
        simulation.run_with(1.0, &mut drive);
        let turned = simulation.pose(chassis).roll_pitch_yaw()[2] - begin;
        let turned = turned.rem_euclid(std::f64::consts::TAU);
        let of_ideal = turned / (rate * radius / across);
        let name = format!("{name}: part of the ideal rate");
        Quantity::relative(name, step_s, [expected, of_ideal]).within(0.005, "1")
    };
    kinds.map(of_kind).to_vec()
}

/// Solves the balance of moments for wheels that touch at both ends of a line, by bisection.
fn of_lines([along, across]: [f64; 2], half_width: f64) -> f64 {
    // The surface of a wheel goes at 1 / across, so that the ideal rate is 1.
    let moment = |rate: f64| -> f64 {
        let ends = [across - half_width, across + half_width];
        let of_end = |end: f64| {
            let slip = [across - rate * end, rate * along];
            let moment = slip[0] * end - slip[1] * along;
            moment / slip[0].hypot(slip[1])
        };
        ends.map(of_end).iter().sum()
    };
    let [mut low, mut high] = [0.0, 1.0];
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if moment(middle) > 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

fn rolling(step_s: f64) -> Vec<Quantity> {
    let (radius, mass, angle) = (0.1, 1.0, 0.1_f64);
    let wheel = Shape::Wheel(radius, 0.1);
    let ring = mass * radius * radius;
    let kinds = [
        (
            "sphere",
            Shape::Sphere(radius),
            Shape::Sphere(radius).moments(mass),
            5.0 / 7.0,
        ),
        ("cylinder", wheel, wheel.moments(mass), 2.0 / 3.0),
        ("ring", wheel, [ring / 2.0, ring, ring / 2.0], 0.5),
    ];
    let of_kind = |(name, shape, moments, part_of_free): (&str, Shape, [f64; 3], f64)| {
        let body = Body::new("body", [0.0, 0.0, radius], mass, shape).with_moments(moments);
        let text = world_under(slope(angle), &[ground(), single(body)]);
        let mut simulation = Simulation::new(&text, step_s);
        simulation.run(2.0);
        let way = simulation.position(simulation.body("body"))[0];
        let of_free = way / (0.5 * GRAVITY * angle.sin() * simulation.time_s().powi(2));
        let name = format!("{name}: part of g sin");
        Quantity::relative(name, step_s, [part_of_free, of_free]).within(part(step_s), "1")
    };
    kinds.map(of_kind).to_vec()
}
