//! Joints that hold: limits, also with a limit of velocity, chains, ropes, hips of light links.

use super::scene::{Body, Joint, Shape, driven_model, model, world, world_under};
use super::simulation::{JointRef, Simulation};
use super::sliding::both_steps;
use super::{COARSE, Case, FINE, Quantity, zero};

/// Greatest passing of a limit in motion and at rest \[rad or m\].
const IN_MOTION: f64 = 0.01;
const AT_REST: f64 = 0.001;

pub(super) fn cases() -> Vec<Case> {
    vec![
        Case {
            name: "limit-slider",
            source: "SDF: no position beyond <lower> and <upper>, no rate beyond <velocity>",
            run: |_| both_steps(slider),
        },
        Case {
            name: "limit-revolute",
            source: "SDF: no position beyond <lower> and <upper>, no rate beyond <velocity>",
            run: |_| both_steps(revolute),
        },
        Case {
            name: "limit-finger",
            source: "SDF: no position beyond <lower> and <upper>, no rate beyond <velocity>",
            run: |_| both_steps(finger),
        },
        Case {
            name: "limit-hip",
            source: "SDF: no position beyond <lower> and <upper>",
            run: |_| both_steps(hip),
        },
        Case {
            name: "joint-fixed-chain",
            source: "rigid links on fixed joints do not sag",
            run: |_| fixed_chains(),
        },
        Case {
            name: "joint-rope",
            source: "rigid links on ball joints do not stretch",
            run: |_| rope(),
        },
    ]
}

/// Greatest passing of a limit over a time, at its end, and the fastest rate.
struct Passing {
    moving: f64,
    resting: f64,
    rate: f64,
}

impl Passing {
    fn told(
        &self,
        name: &str,
        step_s: f64,
        limit: f64,
        tolerances: [f64; 3],
        unit: &'static str,
    ) -> [Quantity; 3] {
        let [moving, resting, rate] = tolerances;
        let above = (self.rate - limit).max(0.0);
        [
            zero(format!("{name}: beyond, moving"), step_s, self.moving).within(moving, unit),
            zero(format!("{name}: beyond, at rest"), step_s, self.resting).within(resting, unit),
            zero(format!("{name}: rate above"), step_s, above).within(rate, "1/s"),
        ]
    }
}

fn pushed(
    simulation: &mut Simulation,
    joint: JointRef,
    [lower, upper]: [f64; 2],
    mut push: impl FnMut(&mut Simulation),
) -> Passing {
    let mut passing = Passing {
        moving: 0.0,
        resting: 0.0,
        rate: 0.0,
    };
    let duration_s = 3.0;
    simulation.run_with(duration_s, |simulation| {
        let position = simulation.joint_position(joint);
        let beyond = (position - upper).max(lower - position).max(0.0);
        passing.moving = passing.moving.max(beyond);
        if simulation.time_s() > duration_s - 0.5 {
            passing.resting = passing.resting.max(beyond);
        }
        passing.rate = passing.rate.max(simulation.joint_velocity(joint).abs());
        push(simulation);
    });
    passing
}

/// Origin of a push: the joint's own drive (true), or something outside.
const PUSHES: [(&str, bool, f64); 4] = [
    ("driven by 100", true, 100.0),
    ("pushed by 10", false, 10.0),
    ("pushed by 100", false, 100.0),
    ("pushed by -100", false, -100.0),
];

fn slider(step_s: f64) -> Vec<Quantity> {
    let mut found = Vec::new();
    for (name, is_driven, force) in PUSHES {
        let body = Body::ethereal("slide", [0.0; 3], 0.1, [1e-4; 3]);
        let limit = "<lower>0</lower><upper>0.04</upper><velocity>0.2</velocity>";
        let rail = Joint::new("rail", "prismatic", ["world", "slide"]).about([1.0, 0.0, 0.0]);
        let rail = rail.limited(limit);
        let write = if is_driven { driven_model } else { model };
        let text = world_under([0.0; 3], &[write("slider", &[body], &[rail])]);
        let mut simulation = Simulation::new(&text, step_s);
        let rail = simulation.joint("slider", "rail");
        let slide = simulation.link("slider", "slide");
        let passing = pushed(&mut simulation, rail, [0.0, 0.04], |simulation| {
            if is_driven {
                simulation.push_joint(rail, force);
            } else {
                simulation.push(slide, [force, 0.0, 0.0]);
            }
        });
        let tolerances = [1e-3, 1e-4, 0.002];
        found.extend(passing.told(&format!("{name} N"), step_s, 0.2, tolerances, "m"));
    }
    found
}

/// Measures a finger of 0.1 kg on a hand of 2 kg, as grippers have it: on one that is held, askew,
/// and on one that hangs, along the line through its hinge.
fn finger(step_s: f64) -> Vec<Quantity> {
    let kinds = [
        ("held", "fixed", [0.0, 0.6, -0.8]),
        ("hanging", "revolute", [0.0, 0.0, -1.0]),
    ];
    let mut found = Vec::new();
    for (name, wrist, axis) in kinds {
        let bodies = [
            Body::ethereal("hand", [0.0; 3], 2.0, [0.01; 3]).centered([0.0, 0.0, -0.2]),
            Body::ethereal("finger", [0.0, 0.0, -0.3], 0.1, [1e-4; 3]),
        ];
        let limit = "<lower>0</lower><upper>0.04</upper><velocity>0.2</velocity>";
        let wrist = Joint::new("wrist", wrist, ["world", "hand"]);
        let is_hinge = name == "hanging";
        let wrist = if is_hinge {
            wrist.about([1.0, 0.0, 0.0])
        } else {
            wrist
        };
        let rail = Joint::new("rail", "prismatic", ["hand", "finger"]);
        let rail = rail.about(axis).limited(limit);
        let text = world(&[model("gripper", &bodies, &[wrist, rail])]);
        let mut simulation = Simulation::new(&text, step_s);
        let rail = simulation.joint("gripper", "rail");
        let finger = simulation.link("gripper", "finger");
        let passing = pushed(&mut simulation, rail, [0.0, 0.04], |simulation| {
            let along = simulation.pose(finger).rotate(axis);
            simulation.push(finger, along.map(|part| 100.0 * part));
        });
        let tolerances = [1e-3, 1e-4, 0.002];
        found.extend(passing.told(name, step_s, 0.2, tolerances, "m"));
    }
    found
}

fn revolute(step_s: f64) -> Vec<Quantity> {
    let mut found = Vec::new();
    for (name, is_driven, torque) in PUSHES {
        let lever = Body::ethereal("lever", [0.0; 3], 1.0, [0.1; 3]).centered([0.3, 0.0, 0.0]);
        let limit = "<lower>0</lower><upper>1</upper><velocity>1</velocity>";
        let hinge = Joint::new("hinge", "revolute", ["world", "lever"]).about([0.0, 0.0, 1.0]);
        let write = if is_driven { driven_model } else { model };
        let text = world(&[write("door", &[lever], &[hinge.limited(limit)])]);
        let mut simulation = Simulation::new(&text, step_s);
        let hinge = simulation.joint("door", "hinge");
        let lever = simulation.link("door", "lever");
        let passing = pushed(&mut simulation, hinge, [0.0, 1.0], |simulation| {
            if is_driven {
                simulation.push_joint(hinge, torque);
            } else {
                simulation.twist(lever, [0.0, 0.0, torque]);
            }
        });
        let tolerances = [IN_MOTION, AT_REST, 0.01];
        found.extend(passing.told(&format!("{name} N m"), step_s, 1.0, tolerances, "rad"));
    }
    found
}

/// Measures a torso of 20 kg on two links of 0.5 kg that falls against the limits of its hip.
fn hip(step_s: f64) -> Vec<Quantity> {
    let bodies = [
        Body::ethereal("leg", [0.0, 0.0, 0.5], 2.0, [0.02; 3]),
        Body::ethereal("first", [0.0, 0.0, 1.0], 0.5, [5e-4; 3]),
        Body::ethereal("second", [0.0, 0.0, 1.0], 0.5, [5e-4; 3]),
        Body::ethereal("torso", [0.0, 0.0, 1.0], 20.0, [0.5; 3]).centered([0.03, 0.02, 0.3]),
    ];
    let limit = "<lower>-0.3</lower><upper>0.3</upper>";
    let joint = |name, links, axis| {
        Joint::new(name, "revolute", links)
            .about(axis)
            .limited(limit)
    };
    let joints = [
        Joint::new("floor", "fixed", ["world", "leg"]),
        joint("a", ["leg", "first"], [1.0, 0.0, 0.0]),
        joint("b", ["first", "second"], [0.0, 1.0, 0.0]),
        joint("c", ["second", "torso"], [0.0, 0.0, 1.0]),
    ];
    let text = world(&[model("robot", &bodies, &joints)]);
    let mut simulation = Simulation::new(&text, step_s);
    let joints = ["a", "b", "c"].map(|name| simulation.joint("robot", name));
    let (mut moving, mut resting) = (0.0_f64, 0.0_f64);
    simulation.run_with(5.0, |simulation| {
        let positions = joints.map(|joint| simulation.joint_position(joint).abs() - 0.3);
        let beyond = positions.into_iter().fold(0.0, f64::max);
        moving = moving.max(beyond);
        if simulation.time_s() > 4.0 {
            resting = resting.max(beyond);
        }
    });
    vec![
        zero("beyond, moving", step_s, moving).within(IN_MOTION, "rad"),
        zero("beyond, at rest", step_s, resting).within(AT_REST, "rad"),
    ]
}

fn fixed_chains() -> Vec<Quantity> {
    let mut found = Vec::new();
    for (count, step_s, tolerance) in [
        (10, FINE, 1e-4),
        (10, COARSE, 1e-3),
        (20, FINE, 1e-4),
        (20, COARSE, 1e-3),
    ] {
        let mut bodies = Vec::new();
        let mut joints = Vec::new();
        let mut parent = "world".to_owned();
        for index in 0..count {
            let name = format!("link_{index}");
            let position = [0.1 * f64::from(index) + 0.05, 0.0, 0.0];
            bodies.push(Body::new(
                &name,
                position,
                1.0,
                Shape::Box([0.1, 0.05, 0.05]),
            ));
            let joint = Joint::new(&format!("joint_{index}"), "fixed", [&parent, &name]);
            joints.push(joint.at([-0.05, 0.0, 0.0]));
            parent = name;
        }
        let text = world(&[model("beam", &bodies, &joints)]);
        let mut simulation = Simulation::new(&text, step_s);
        let tip = simulation.link("beam", &parent);
        let mut sag = 0.0_f64;
        simulation.run_with(3.0, |simulation| {
            sag = sag.max(simulation.position(tip)[2].abs());
        });
        let name = format!("sag of {count} links");
        found.push(zero(name, step_s, sag).within(tolerance, "m"));
    }
    found
}

/// Measures a rope of ten links of 0.1 kg that carries 100 kg.
fn rope() -> Vec<Quantity> {
    let mut found = Vec::new();
    for (step_s, tolerance) in [(FINE, 1e-4), (COARSE, 1e-3)] {
        let mut bodies = Vec::new();
        let mut joints = Vec::new();
        let mut parent = "world".to_owned();
        for index in 0..10 {
            let name = format!("link_{index}");
            let position = [0.0, 0.0, -0.1 * f64::from(index) - 0.05];
            bodies.push(Body::new(&name, position, 0.1, Shape::Cylinder(0.02, 0.1)));
            let joint = Joint::new(&format!("joint_{index}"), "ball", [&parent, &name]);
            joints.push(joint.at([0.0, 0.0, 0.05]));
            parent = name;
        }
        bodies.push(Body::new(
            "weight",
            [0.0, 0.0, -1.1],
            100.0,
            Shape::Sphere(0.1),
        ));
        let joint = Joint::new("hook", "ball", [&parent, "weight"]).at([0.0, 0.0, 0.1]);
        joints.push(joint);
        let text = world(&[model("rope", &bodies, &joints)]);
        let mut simulation = Simulation::new(&text, step_s);
        let weight = simulation.link("rope", "weight");
        let mut stretch = 0.0_f64;
        simulation.run_with(3.0, |simulation| {
            stretch = stretch.max((simulation.position(weight)[2] + 1.1).abs());
        });
        found.push(zero("stretch of 1 m", step_s, stretch).within(tolerance, "m"));
    }
    found
}
