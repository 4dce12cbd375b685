//! Things that stand stay where they are, weigh what they weigh, and gain no energy.

use super::scene::{Body, Joint, Shape, ground, model, single, world};
use super::simulation::{LinkRef, Simulation, distance};
use super::{COARSE, Case, Effort, FINE, GRAVITY, Quantity, zero};

/// The time that a scene may settle \[s\].
const SETTLING_S: f64 = 0.5;
/// The same of a body that first falls against the limits of its joint \[s\].
const LEANING_S: f64 = 3.0;
/// Greatest motion of what is at rest \[m\], and of what is stepped coarsely.
const REST: f64 = 1e-4;
const COARSE_REST: f64 = 1e-3;

const EQUILIBRIUM: &str = "statics: a body in stable equilibrium does not move";

pub(super) fn cases() -> Vec<Case> {
    vec![
        Case {
            name: "rest-table",
            source: EQUILIBRIUM,
            run: |effort| at_rest(&table(0.0), effort, SETTLING_S),
        },
        Case {
            name: "rest-foot-10",
            source: EQUILIBRIUM,
            run: |effort| at_rest(&on_foot(10.0, Hip::Fixed, 0.0), effort, SETTLING_S),
        },
        Case {
            name: "rest-foot-50",
            source: EQUILIBRIUM,
            run: |effort| at_rest(&on_foot(50.0, Hip::Fixed, 0.0), effort, SETTLING_S),
        },
        Case {
            name: "rest-foot-50-revolute",
            source: EQUILIBRIUM,
            run: |effort| at_rest(&on_foot(50.0, Hip::Limited(0.02), 0.0), effort, LEANING_S),
        },
        Case {
            name: "rest-tower",
            source: EQUILIBRIUM,
            run: tower,
        },
        Case {
            name: "rest-heavy-on-light",
            source: EQUILIBRIUM,
            run: heavy_on_light,
        },
        Case {
            name: "rest-weight",
            source: "statics: the joint under a standing body bears its weight m g",
            run: weight,
        },
        Case {
            name: "drop-foot",
            source: "e = 0: what lands stays down; energy of what nothing drives never rises",
            run: |_| drops(&[("fixed", Hip::Fixed), ("revolute", Hip::Limited(0.0))]),
        },
        Case {
            name: "drop-table",
            source: "energy of what nothing drives never rises",
            run: |_| {
                let steps = [FINE, COARSE].into_iter();
                let of_step = |step| energy_rise("table", &table(0.02), step);
                steps.flat_map(of_step).collect()
            },
        },
    ]
}

/// The joint that holds a body on its foot.
#[derive(Clone, Copy)]
enum Hip {
    Fixed,
    /// About x, within 0.1 rad to both sides, with the centre of mass so far beside it \[m\].
    Limited(f64),
}

/// Writes a table of 10 kg on four legs of 0.2 kg at a height above the ground.
fn table(height: f64) -> String {
    let top = [0.0, 0.0, height + 0.725];
    let mut bodies = vec![Body::new("top", top, 10.0, Shape::Box([1.0, 0.6, 0.05]))];
    let mut joints = Vec::new();
    for (index, (x, y)) in [(0.45, 0.25), (0.45, -0.25), (-0.45, 0.25), (-0.45, -0.25)]
        .into_iter()
        .enumerate()
    {
        let leg = format!("leg_{index}");
        let shape = Shape::Box([0.05, 0.05, 0.7]);
        bodies.push(Body::new(&leg, [x, y, height + 0.35], 0.2, shape));
        joints.push(Joint::new(&format!("hip_{index}"), "fixed", ["top", &leg]));
    }
    world(&[ground(), model("table", &bodies, &joints)])
}

/// Writes a body on a foot of 1 kg.
fn on_foot(mass: f64, hip: Hip, height: f64) -> String {
    let foot = Body::new(
        "foot",
        [0.0, 0.0, height + 0.05],
        1.0,
        Shape::Box([0.3, 0.3, 0.1]),
    );
    let body = Body::new(
        "body",
        [0.0, 0.0, height + 0.3],
        mass,
        Shape::Box([0.3, 0.3, 0.4]),
    );
    let (body, joint) = match hip {
        Hip::Fixed => (body, Joint::new("hip", "fixed", ["foot", "body"])),
        Hip::Limited(beside) => {
            let joint = Joint::new("hip", "revolute", ["foot", "body"]).about([1.0, 0.0, 0.0]);
            let joint = joint.limited("<lower>-0.1</lower><upper>0.1</upper>");
            (
                body.centered([0.0, beside, 0.0]),
                joint.at([0.0, 0.0, -0.2]),
            )
        }
    };
    world(&[ground(), model("robot", &[foot, body], &[joint])])
}

fn at_rest(text: &str, effort: Effort, settling_s: f64) -> Vec<Quantity> {
    let of_step = |(step_s, tolerance): (f64, f64)| {
        let mut simulation = Simulation::new(text, step_s);
        simulation.run(settling_s);
        let drift = drift(&mut simulation, effort.long_s);
        let name = format!("motion over {} s", effort.long_s);
        zero(name, step_s, drift).within(tolerance, "m")
    };
    [(FINE, REST), (COARSE, COARSE_REST)].map(of_step).to_vec()
}

/// Returns how far any link gets from where it is now \[m\].
fn drift(simulation: &mut Simulation, duration_s: f64) -> f64 {
    let links = simulation.links();
    let positions = |simulation: &Simulation| -> Vec<[f64; 3]> {
        links
            .iter()
            .map(|link| simulation.position(*link))
            .collect()
    };
    let begin = positions(simulation);
    let mut greatest = 0.0_f64;
    simulation.run_with(duration_s, |simulation| {
        for (now, begin) in positions(simulation).iter().zip(&begin) {
            greatest = greatest.max(distance(*now, *begin));
        }
    });
    for (now, begin) in positions(simulation).iter().zip(&begin) {
        greatest = greatest.max(distance(*now, *begin));
    }
    greatest
}

fn tower(effort: Effort) -> Vec<Quantity> {
    let size = 0.1;
    let boxes = (0..30).map(|index| {
        let position = [0.0, 0.0, (f64::from(index) + 0.5) * size];
        single(Body::new(
            &format!("box_{index}"),
            position,
            1.0,
            Shape::Box([size; 3]),
        ))
    });
    let models: Vec<String> = std::iter::once(ground()).chain(boxes).collect();
    let mut simulation = Simulation::new(&world(&models), FINE);
    simulation.run(SETTLING_S);
    let moved = drift(&mut simulation, effort.long_s);
    let top = simulation.position(simulation.body("box_29"))[2];
    vec![
        zero(format!("motion over {} s", effort.long_s), FINE, moved).within(REST, "m"),
        Quantity::absolute("height of the top", FINE, [29.5 * size, top]).within(1e-3, "m"),
    ]
}

fn heavy_on_light(effort: Effort) -> Vec<Quantity> {
    let cube = |name: &str, height: f64, mass: f64| {
        single(Body::new(
            name,
            [0.0, 0.0, height],
            mass,
            Shape::Box([0.2; 3]),
        ))
    };
    let text = world(&[
        ground(),
        cube("light", 0.1, 1.0),
        cube("heavy", 0.3, 1000.0),
    ]);
    let mut simulation = Simulation::new(&text, FINE);
    simulation.run(SETTLING_S);
    let moved = drift(&mut simulation, effort.long_s);
    let height = simulation.position(simulation.body("heavy"))[2];
    vec![
        zero(format!("motion over {} s", effort.long_s), FINE, moved).within(REST, "m"),
        Quantity::absolute("height of the heavy one", FINE, [0.3, height]).within(1e-3, "m"),
    ]
}

fn weight(_: Effort) -> Vec<Quantity> {
    let mut simulation = Simulation::new(&on_foot(10.0, Hip::Fixed, 0.0), FINE);
    simulation.run(SETTLING_S);
    let hip = simulation.joint("robot", "hip");
    let forces: Vec<f64> = (0..10_000)
        .map(|_| simulation.step_and_weigh(hip)[2])
        .collect();
    let count = forces.len() as f64;
    let weight = 10.0 * GRAVITY;
    let mean = forces.iter().sum::<f64>() / count;
    let squares = forces.iter().map(|force| (force - weight).powi(2));
    let noise = (squares.sum::<f64>() / count).sqrt() / weight;
    vec![
        Quantity::relative("mean", FINE, [weight, mean]).within(0.001, "N"),
        zero("RMS noise as a part of the weight", FINE, noise).within(0.005, "1"),
    ]
}

fn drops(hips: &[(&str, Hip)]) -> Vec<Quantity> {
    let mut found = Vec::new();
    for (name, hip) in hips {
        let text = on_foot(50.0, *hip, 0.02);
        for step_s in [FINE, COARSE] {
            found.push(rebound(name, &text, step_s));
            found.extend(energy_rise(name, &text, step_s));
        }
    }
    found
}

/// Measures how high a foot rises again after it has been down.
fn rebound(name: &str, text: &str, step_s: f64) -> Quantity {
    let mut simulation = Simulation::new(text, step_s);
    let foot: LinkRef = simulation.link("robot", "foot");
    let (mut lowest, mut rise) = (f64::INFINITY, 0.0_f64);
    simulation.run_with(2.0, |simulation| {
        let height = simulation.position(foot)[2];
        lowest = lowest.min(height);
        rise = rise.max(height - lowest.max(0.05));
    });
    let name = format!("{name}: rise of the foot after it landed");
    zero(
        name,
        step_s,
        rise - if lowest > 0.051 { lowest } else { 0.0 },
    )
    .within(1e-3, "m")
}

/// Measures the energy that something dropped by 2 cm has at most, and how much it regains.
fn energy_rise(name: &str, text: &str, step_s: f64) -> Vec<Quantity> {
    let mut simulation = Simulation::new(text, step_s);
    let masses = simulation
        .world()
        .models
        .iter()
        .filter(|model| !model.is_static);
    let mass: f64 = masses
        .flat_map(|model| &model.links)
        .map(|link| link.inertial.mass)
        .sum();
    let scale = mass * GRAVITY * 0.02;
    let begin = simulation.energy();
    let (mut highest, mut lowest, mut regained) = (f64::NEG_INFINITY, begin, 0.0_f64);
    simulation.run(step_s);
    simulation.run_with(2.0, |simulation| {
        let energy = simulation.energy();
        highest = highest.max(energy - begin);
        lowest = lowest.min(energy);
        regained = regained.max(energy - lowest);
    });
    vec![
        zero(
            format!("{name}: energy above the first, per drop"),
            step_s,
            highest.max(0.0) / scale,
        )
        .within(0.001, "1"),
        zero(
            format!("{name}: energy regained, per drop"),
            step_s,
            regained / scale,
        )
        .within(0.05, "1"),
    ]
}
