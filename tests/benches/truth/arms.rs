//! Arms that fall with free joints, beside the articulated body algorithm of Pinocchio.

use serde_json::{Value, json};
use tests::truth::simulation::{JointRef, Simulation};
use tests::truth::{COARSE, FINE, GRAVITY, Quantity};

use tests::truth::robots::{PeerCase, Peers, axis_of, free_joints, hold_base};

const DURATION_S: f64 = 2.0;
/// Time between samples, a multiple of all step sizes \[s\].
const SAMPLE_S: f64 = 0.004;
/// Step of the reference \[s\].
const REFERENCE_S: f64 = 1e-4;
/// Offset of the reference's second run, in each joint \[rad or m\].
const OFFSET: f64 = 1e-8;
/// Least range of a joint that errors are a part of \[rad or m\].
const LEAST_RANGE: f64 = 0.01;
/// Growth of a small offset by itself beyond which motions are not compared any more.
const CHAOS: f64 = 1e3;

const SOURCE: &str = "Pinocchio: articulated body algorithm, Runge-Kutta of order 4 at 0.1 ms";

const ARMS: [(&str, &str); 9] = [
    ("ur5", "erd:ur_description/urdf/ur5_robot.urdf"),
    ("ur10", "erd:ur_description/urdf/ur10_robot.urdf"),
    ("panda", "erd:panda_description/urdf/panda.urdf"),
    ("kinova", "erd:kinova_description/robots/kinova.urdf"),
    ("xarm7", "erd:xarm_description/urdf/xarm7.urdf"),
    ("iiwa", "bullet:kuka_iiwa/model_free_base.urdf"),
    ("talos-arm", "erd:talos_data/robots/talos_left_arm.urdf"),
    (
        "double-pendulum",
        "erd:double_pendulum_description/urdf/double_pendulum.urdf",
    ),
    (
        "humanoid",
        "erd:simple_humanoid_description/urdf/simple_humanoid.urdf",
    ),
];

pub(crate) fn cases() -> Vec<PeerCase> {
    let of_arm = |(name, file): (&str, &'static str)| PeerCase {
        name: format!("arm-{name}"),
        source: SOURCE,
        run: Box::new(move |peers| measure(peers, file)),
    };
    ARMS.into_iter().map(of_arm).collect()
}

fn measure(peers: &Peers, file: &str) -> Result<Vec<Quantity>, String> {
    peers.require_robots()?;
    peers.require_pinocchio()?;
    let mut world = peers.read(file)?;
    let model = &mut world.models[0];
    hold_base(model);
    free_joints(model);
    let plan = json!({
        "urdf": peers.file(file)?,
        "gravity": GRAVITY,
        "duration_s": DURATION_S,
        "step_s": REFERENCE_S,
        "steps_per_sample": (SAMPLE_S / REFERENCE_S).round() as u64,
        "offset": OFFSET,
    });
    let reference = Reference::read(&peers.run("run_pinocchio.py", &plan)?)
        .ok_or("the reference printed something else")?;
    let mut found = Vec::new();
    for step_s in [FINE, COARSE] {
        let mut simulation = Simulation::of(world.clone(), step_s);
        let samples = sample(&mut simulation, &reference.joints)?;
        let horizon_s = reference.horizon_s();
        for until_s in [0.5, DURATION_S].map(|wanted: f64| wanted.min(horizon_s)) {
            let growth = reference.growth(until_s);
            let error = reference.error(&samples, until_s);
            let tolerance = if step_s > FINE { 1e-2 } else { 1e-3 };
            let name = format!("error until {until_s:.3} s per range (grows {growth:.0} times)");
            let quantity = Quantity::absolute(name, step_s, [0.0, error]);
            found.push(quantity.within(tolerance, "1"));
        }
    }
    Ok(found)
}

/// Positions of joints at samples.
struct Reference {
    joints: Vec<String>,
    samples: Vec<Vec<f64>>,
    beside: Vec<Vec<f64>>,
}

impl Reference {
    fn read(value: &Value) -> Option<Self> {
        let rows = |value: &Value| -> Option<Vec<Vec<f64>>> {
            let row = |row: &Value| row.as_array()?.iter().map(Value::as_f64).collect();
            value.as_array()?.iter().map(row).collect()
        };
        let names = value["joints"].as_array()?.iter();
        let names = names.map(|name| name.as_str().map(str::to_owned));
        Some(Self {
            joints: names.collect::<Option<_>>()?,
            samples: rows(&value["samples"])?,
            beside: rows(&value["beside"])?,
        })
    }

    /// Returns the greatest error of any joint as a part of its range over the whole motion.
    fn error(&self, samples: &[Vec<f64>], until_s: f64) -> f64 {
        let count = (until_s / SAMPLE_S).round() as usize + 1;
        let of_joint = |joint: usize| {
            let own = || self.samples.iter().map(|row| row[joint]);
            let greatest = own().fold(f64::NEG_INFINITY, f64::max);
            let range = greatest - own().fold(f64::INFINITY, f64::min);
            let pairs = own().zip(samples).take(count);
            let errors = pairs.map(|(own, row)| (row[joint] - own).abs());
            errors.fold(0.0, f64::max) / range.max(LEAST_RANGE)
        };
        (0..self.joints.len()).map(of_joint).fold(0.0, f64::max)
    }

    /// Returns the time until which motion can be told from chaos \[s\].
    fn horizon_s(&self) -> f64 {
        let times = (1..self.samples.len()).map(|index| index as f64 * SAMPLE_S);
        let calm = times.take_while(|time| self.growth(*time) <= CHAOS);
        calm.last().unwrap_or(SAMPLE_S)
    }

    /// Returns how many times a small offset has grown at most.
    fn growth(&self, until_s: f64) -> f64 {
        let count = (until_s / SAMPLE_S).round() as usize + 1;
        let rows = self.samples.iter().zip(&self.beside).take(count);
        let differences = rows.flat_map(|(a, b)| a.iter().zip(b).map(|(a, b)| (a - b).abs()));
        differences.fold(0.0, f64::max) / OFFSET
    }
}

/// Returns the positions of joints of these names while an arm falls.
fn sample(simulation: &mut Simulation, names: &[String]) -> Result<Vec<Vec<f64>>, String> {
    let model = &simulation.world().models[0];
    let model_name = model.name.clone();
    let movable = model
        .joints
        .iter()
        .filter(|joint| axis_of(&joint.kind).is_some());
    let movable: Vec<&str> = movable.map(|joint| joint.name.as_str()).collect();
    if let Some(missing) = names.iter().find(|name| !movable.contains(&name.as_str())) {
        return Err(format!(
            "joint {missing} is not in the robot as it was read"
        ));
    }
    let joints: Vec<JointRef> = names
        .iter()
        .map(|name| simulation.joint(&model_name, name))
        .collect();
    let mut angles = vec![0.0; joints.len()];
    let (mut samples, every) = (Vec::new(), (SAMPLE_S / simulation.step_s()).round() as u64);
    for step in 0..=(DURATION_S / simulation.step_s()).round() as u64 {
        for (angle, joint) in angles.iter_mut().zip(&joints) {
            // Turns are not counted for joints that nothing drives.
            let now = simulation.joint_position(*joint);
            let turn = std::f64::consts::TAU;
            *angle = now + ((*angle - now) / turn).round() * turn;
        }
        if step % every == 0 {
            samples.push(angles.clone());
        }
        simulation.step();
    }
    Ok(samples)
}
