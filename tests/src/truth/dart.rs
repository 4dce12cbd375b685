//! The engine DART, which Gazebo uses by default, beside Phalanx: the same resolved worlds left to
//! themselves in both, and where their links are at the same times.
//!
//! DART's steps are of first order, so that it is run at the world's step and at a part of it, and
//! both are extrapolated to a step of no length. How far DART is from that at the world's own step
//! is told beside the error of Phalanx. The program is `tests/benches/truth/run_dart.py`.

pub mod cases;

use std::collections::{BTreeMap, BTreeSet};

use sdf::{Joint, JointKind, Model, Pose, World};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::robots::Peers;
use super::simulation::{Simulation, State, add, distance, length};

/// The times at which links are looked at \[s\].
pub const TIMES_S: [f64; 3] = [0.1, 0.5, 1.0];

/// Divisor of the step in the finer run of DART.
const DIVISION: u32 = 4;

/// Error of what touches nothing that is taken for equal \[m\] and \[rad\].
const FREE: [f64; 2] = [1e-4, 1e-3];
/// Error of what touches something that is taken for equal \[m\] and \[rad\].
const TOUCHING: [f64; 2] = [2e-3, 5e-3];
/// Part of the way by which what has touched and still moves may differ: both engines find another
/// instant of an impact, and DART bounds friction by the force that presses without friction.
const PART_OF_WAY: f64 = 0.02;
/// Multiple of DART's own error that is taken for equal.
const PART_OF_DART: f64 = 2.0;
/// Speed above which a link moves \[m/s\] and \[rad/s\].
const MOVING: [f64; 2] = [0.01, 0.05];
/// Way below which nothing moves \[m\] and \[rad\].
const STILL: [f64; 2] = [1e-5, 1e-5];

/// States of all links of all models at the times.
pub type Motion = Vec<Vec<Vec<State>>>;

/// Answer of DART about one world.
#[derive(Deserialize)]
pub struct Answer {
    /// States in both runs; models that were left out have no links.
    #[serde(default)]
    runs: Vec<Motion>,
    /// Models that touched something.
    #[serde(default)]
    touched: BTreeSet<usize>,
    /// Distances by which models were moved out of what they began in.
    #[serde(default)]
    moved: BTreeMap<usize, [f64; 3]>,
    /// Models that are not compared, and why.
    #[serde(default)]
    left_out: BTreeMap<usize, String>,
    /// Failure of DART, if it failed.
    failed: Option<String>,
}

/// Joint that is driven faster and faster, so that nothing slips at the begin.
#[derive(Clone, Debug, Serialize)]
pub struct Drive {
    /// Index of its model.
    model: usize,
    /// Index of the joint in the model.
    joint: usize,
    /// Acceleration of its only axis from rest \[rad/s^2\].
    acceleration: f64,
}

/// World, and what is driven in it.
#[derive(Clone, Debug)]
pub struct Scene<'a> {
    /// The world.
    pub world: &'a World,
    /// Joints that are driven.
    pub drives: Vec<Drive>,
}

impl<'a> Scene<'a> {
    /// Leaves a world to itself.
    pub fn left_alone(world: &'a World) -> Self {
        Self {
            world,
            drives: Vec::new(),
        }
    }

    /// Tells whether anything is driven in it.
    pub fn is_driven(&self) -> bool {
        !self.drives.is_empty()
    }

    /// Drives the wheels of all vehicles of a world ahead, those on the right faster where there
    /// are two; none where it has no vehicles.
    pub fn driven(world: &'a World) -> Option<Self> {
        let models = world.models.iter().enumerate();
        let vehicles = models.filter(|(_, model)| {
            let mut plugins = model.plugins.iter();
            !model.is_static && plugins.any(|it| VEHICLES.iter().any(|end| it.name.ends_with(end)))
        });
        let drives: Vec<Drive> = vehicles
            .flat_map(|(index, model)| wheels(index, model))
            .collect();
        (!drives.is_empty()).then_some(Self { world, drives })
    }
}

/// Systems whose models are vehicles, by how their names end.
const VEHICLES: [&str; 3] = ["DiffDrive", "AckermannSteering", "MecanumDrive"];
/// Accelerations of wheels on the left, and of the right one of two \[rad/s^2\].
const ACCELERATIONS: [f64; 2] = [2.0, 2.5];

/// Returns the wheels of a vehicle: all that turns without limits about an axis across it.
fn wheels(index: usize, model: &Model) -> Vec<Drive> {
    let back = model.pose.inverse();
    let across = |joint: &Joint| match &joint.kind {
        JointKind::Revolute(axis) | JointKind::Continuous(axis)
            if axis.lower == f64::NEG_INFINITY || axis.lower < -1e15 =>
        {
            Some(back.rotate(axis.xyz)[1]).filter(|across| across.abs() > 0.9)
        }
        _ => None,
    };
    let joints = model.joints.iter().enumerate();
    let found = joints.filter_map(|(number, joint)| Some((number, joint, across(joint)?)));
    let found: Vec<(usize, &Joint, f64)> = found.collect();
    let is_right = |joint: &Joint| back.then(&joint.pose).position[1] < 0.0;
    let of_wheel = |(joint, described, across): &(usize, &Joint, f64)| Drive {
        model: index,
        joint: *joint,
        acceleration: across.signum()
            * ACCELERATIONS[usize::from(found.len() == 2 && is_right(described))],
    };
    found.iter().map(of_wheel).collect()
}

/// Steps worlds in DART.
///
/// # Errors
/// Fails if DART cannot be had, or prints something else than answers.
pub fn ask(peers: &Peers, worlds: &[Scene]) -> Result<Vec<Answer>, String> {
    peers.require_dart()?;
    let plan = json!({
        "worlds": worlds.iter().map(plan).collect::<Vec<Value>>(),
        "times_s": TIMES_S,
        "divisions": [1, DIVISION],
    });
    let said = peers.run("run_dart.py", &plan)?;
    let answers = Vec::deserialize(&said["worlds"]).map_err(|error| error.to_string())?;
    if answers.len() == worlds.len() {
        Ok(answers)
    } else {
        Err(format!(
            "{} answers for {} worlds",
            answers.len(),
            worlds.len()
        ))
    }
}

/// Returns a world as the program that runs DART reads it: without what only looks or listens.
fn plan(scene: &Scene) -> Value {
    let world = scene.world;
    let mut models = world.models.clone();
    for model in &mut models {
        model.plugins.clear();
        model.custom.clear();
        for link in &mut model.links {
            link.visuals.clear();
            link.sensors.clear();
            link.lights.clear();
            link.plugins.clear();
            link.custom.clear();
        }
        for joint in &mut model.joints {
            joint.sensors.clear();
            joint.plugins.clear();
            joint.custom.clear();
        }
    }
    json!({
        "gravity": world.gravity,
        "step_s": world.physics.max_step_size_s,
        "models": models,
        "joints": world.joints,
        "drives": scene.drives,
    })
}

/// Difference of a link from where extrapolation from DART has it.
#[derive(Clone, Debug)]
pub struct Difference {
    /// The model and the link.
    pub link: String,
    /// The time of the greatest difference \[s\].
    pub time_s: f64,
    /// Difference of Phalanx \[m\] and \[rad\].
    pub own: [f64; 2],
    /// Difference of Phalanx from DART at the world's step \[m\] and \[rad\].
    pub same_step: [f64; 2],
    /// Difference of DART at the world's step \[m\] and \[rad\].
    pub dart: [f64; 2],
    /// True if the model touches something.
    pub touches: bool,
    /// Greatest difference that is taken for equal \[m\] and \[rad\].
    pub tolerance: [f64; 2],
}

/// Result of a comparison.
#[derive(Debug)]
pub enum Outcome {
    /// Nothing in the world can move, with the reason.
    Still,
    /// Nothing that moves can be compared, with the reasons.
    NotCompared,
    /// All figures agree; the greatest difference is told.
    Agrees,
    /// One differs, or several; the greatest difference is told.
    Differs,
}

/// Comparison of a world.
#[derive(Debug)]
pub struct Comparison {
    /// Result of it.
    pub outcome: Outcome,
    /// Number of links that were compared.
    pub links: usize,
    /// Number of joints that were driven.
    pub driven: usize,
    /// Greatest way of any of them \[m\] and \[rad\].
    pub way: [f64; 2],
    /// All differences, at all times.
    pub all: Vec<Difference>,
    /// Models that are not compared, and why.
    pub left_out: Vec<(String, String)>,
    /// Models that were moved out of what they began in.
    pub moved: Vec<String>,
}

/// Steps a world here and compares it with the answer of DART.
pub fn compare(scene: &Scene, answer: &Answer) -> Comparison {
    let mut world = scene.world.clone();
    for (model, by) in &answer.moved {
        shift(&mut world, *model, *by);
    }
    for model in answer.left_out.keys() {
        // Where it is in nobody's way.
        let links = world.models[*model].links.iter_mut();
        links.for_each(|link| link.collisions.clear());
    }
    let name = |index: &usize| world.models[*index].name.clone();
    let left_out = answer.left_out.iter();
    let drives = scene.drives.iter();
    let drives = drives.filter(|drive| !answer.left_out.contains_key(&drive.model));
    let mut comparison = Comparison {
        outcome: Outcome::Still,
        links: 0,
        driven: drives.count(),
        way: [0.0; 2],
        all: Vec::new(),
        left_out: left_out
            .map(|(index, why)| (name(index), why.clone()))
            .collect(),
        moved: answer.moved.keys().map(name).collect(),
    };
    let moves = |index: &usize| {
        let model = &world.models[*index];
        !model.is_static && model.links.iter().any(|link| !link.is_static)
    };
    let moving: Vec<usize> = (0..world.models.len()).filter(moves).collect();
    if moving.is_empty() {
        return comparison;
    }
    if let Some(failed) = &answer.failed {
        comparison.left_out.push((String::new(), failed.clone()));
    }
    comparison.outcome = Outcome::NotCompared;
    let [coarse, fine] = &answer.runs[..] else {
        return comparison;
    };
    let motion = motion(&world, &scene.drives);
    for index in moving {
        let touches = answer.touched.contains(&index);
        for (link, described) in world.models[index].links.iter().enumerate() {
            if fine[0][index].is_empty() || described.is_static {
                continue;
            }
            comparison.links += 1;
            for (sample, time_s) in TIMES_S.into_iter().enumerate() {
                let state = |motion: &Motion| motion[sample][index][link];
                let exact = extrapolated(&state(coarse).pose, &state(fine).pose);
                let way = apart(&exact, &described.pose);
                let own = state(&motion);
                let dart = apart(&state(coarse).pose, &exact);
                let moves = [length(own.linear), length(own.angular)];
                let moves = moves[0] > MOVING[0] || moves[1] > MOVING[1];
                let found = Difference {
                    link: format!("{}::{}", world.models[index].name, described.name),
                    time_s,
                    own: apart(&own.pose, &exact),
                    same_step: apart(&own.pose, &state(coarse).pose),
                    dart,
                    touches,
                    tolerance: tolerance(touches, moves, way, dart),
                };
                comparison.add(found, way);
            }
        }
    }
    comparison
}

impl Comparison {
    fn add(&mut self, found: Difference, way: [f64; 2]) {
        self.way = [0, 1].map(|part| self.way[part].max(way[part]));
        if !found.is_within() {
            self.outcome = Outcome::Differs;
        } else if matches!(self.outcome, Outcome::NotCompared) {
            self.outcome = Outcome::Agrees;
        }
        self.all.push(found);
    }

    /// Returns the greatest difference, as a part of what is taken for equal.
    pub fn greatest(&self) -> Option<&Difference> {
        let measure = |it: &&Difference| it.measure();
        self.all
            .iter()
            .max_by(|a, b| measure(a).total_cmp(&measure(b)))
    }

    /// Tells whether anything moved.
    pub fn has_motion(&self) -> bool {
        self.way[0] > STILL[0] || self.way[1] > STILL[1]
    }
}

impl Difference {
    /// Returns the difference to the nearer motion of DART \[m\] and \[rad\].
    pub fn nearest(&self) -> [f64; 2] {
        if self.part_of_tolerance(self.own) <= self.part_of_tolerance(self.same_step) {
            self.own
        } else {
            self.same_step
        }
    }

    /// Returns how great it is as a part of what is taken for equal.
    pub fn measure(&self) -> f64 {
        self.part_of_tolerance(self.nearest())
    }

    fn part_of_tolerance(&self, both: [f64; 2]) -> f64 {
        (both[0] / self.tolerance[0]).max(both[1] / self.tolerance[1])
    }

    /// Tells whether it is taken for equal.
    pub fn is_within(&self) -> bool {
        self.measure() <= 1.0
    }
}

/// Returns the greatest difference that is taken for equal \[m\] and \[rad\].
fn tolerance(touches: bool, moves: bool, way: [f64; 2], dart: [f64; 2]) -> [f64; 2] {
    if !touches {
        return FREE;
    }
    let of_way = if moves { PART_OF_WAY } else { 0.0 };
    [0, 1].map(|part| {
        let least = TOUCHING[part].max(of_way * way[part]);
        least.max(PART_OF_DART * dart[part])
    })
}

/// Moves a model, with all that is placed in the world frame.
fn shift(world: &mut World, model: usize, by: [f64; 3]) {
    let model = &mut world.models[model];
    let links = model.links.iter_mut().map(|link| &mut link.pose);
    let joints = model.joints.iter_mut().map(|joint| &mut joint.pose);
    let poses = links.chain(joints).chain([&mut model.pose]);
    for pose in poses {
        pose.position = add(pose.position, by);
    }
}

/// Steps a world here.
fn motion(world: &World, drives: &[Drive]) -> Motion {
    let mut simulation = Simulation::of(world.clone(), world.physics.max_step_size_s);
    let of_drive = |drive: &Drive| {
        let model = &world.models[drive.model];
        simulation.joint(&model.name, &model.joints[drive.joint].name)
    };
    let joints: Vec<_> = drives.iter().map(of_drive).collect();
    let mut motion = Vec::new();
    for time_s in TIMES_S {
        simulation.run_with(time_s - simulation.time_s(), |simulation| {
            let end_s = simulation.time_s() + simulation.step_s();
            for (drive, joint) in drives.iter().zip(&joints) {
                simulation.drive(*joint, drive.acceleration * end_s);
            }
        });
        motion.push(simulation.states());
    }
    motion
}

/// Returns a pose at a step of no length, from two whose errors are as their steps (Richardson).
fn extrapolated(coarse: &Pose, fine: &Pose) -> Pose {
    let part = 1.0 / (f64::from(DIVISION) - 1.0);
    let way = add(fine.position, coarse.position.map(|value| -value));
    let turn = turn_between(coarse, fine);
    let angle = length(turn);
    let [sine, cosine] = [(angle * part / 2.0).sin(), (angle * part / 2.0).cos()];
    let axis = turn.map(|value| {
        if angle > 0.0 {
            value / angle * sine
        } else {
            0.0
        }
    });
    let further = Pose {
        position: [0.0; 3],
        orientation_xyzw: [axis[0], axis[1], axis[2], cosine],
    };
    Pose {
        position: add(fine.position, way.map(|value| value * part)),
        orientation_xyzw: further
            .then(&Pose {
                position: [0.0; 3],
                ..*fine
            })
            .orientation_xyzw,
    }
}

/// Returns distance and angle between two poses \[m\] and \[rad\].
fn apart(first: &Pose, second: &Pose) -> [f64; 2] {
    let angle = length(turn_between(first, second));
    [distance(first.position, second.position), angle]
}

/// Returns the turn from one pose to another as a vector \[rad\], world frame.
fn turn_between(from: &Pose, to: &Pose) -> [f64; 3] {
    let turns = [from, to].map(|pose| Pose {
        position: [0.0; 3],
        ..*pose
    });
    let [x, y, z, w] = turns[1].then(&turns[0].inverse()).orientation_xyzw;
    let sine = length([x, y, z]);
    if sine == 0.0 {
        return [0.0; 3];
    }
    let angle = 2.0 * sine.atan2(w.abs()) * w.signum();
    [x, y, z].map(|value| value / sine * angle)
}
