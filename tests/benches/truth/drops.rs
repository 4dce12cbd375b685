//! Real robots dropped by 2 cm with nothing that drives them: no energy, no broken limits.

use std::f64::consts::TAU;
use std::time::{Duration, Instant};

use sdf::World;
use serde_json::json;
use tests::truth::simulation::{JointRef, Simulation};
use tests::truth::{FINE, GRAVITY, Quantity, scene};

use crate::robots::{PeerCase, Peers, axis_of, lift};

const HEIGHT: f64 = 0.02;
/// Least part of Bullet's pace that passes.
const PACE: f64 = 0.5;
/// The longest times of one robot, and of its timing.
const PATIENCE: Duration = Duration::from_secs(20);
const TIMED: Duration = Duration::from_secs(5);
const TIMED_STEPS: u64 = 1000;

const SOURCE: &str = "energy of what nothing drives never rises; SDF: no position beyond limits";

/// Robots that libsdformat accepts, most of them without meshes.
const ROBOTS: [(&str, &str); 21] = [
    ("a1", "erd:a1_description/urdf/a1.urdf"),
    (
        "allegro",
        "erd:allegro_hand_description/urdf/allegro_right_hand.urdf",
    ),
    (
        "anymal-b",
        "erd:anymal_b_simple_description/robots/anymal.urdf",
    ),
    ("b1", "erd:b1_description/urdf/b1.urdf"),
    ("baxter", "erd:baxter_description/urdf/baxter.urdf"),
    ("bolt", "erd:bolt_description/robots/bolt.urdf"),
    ("aliengo", "bullet:aliengo/aliengo.urdf"),
    ("bullet-a1", "bullet:a1/a1.urdf"),
    ("bullet-laikago", "bullet:laikago/laikago_toes_zup.urdf"),
    ("bullet-panda", "bullet:franka_panda/panda.urdf"),
    ("go1", "erd:go1_description/urdf/go1.urdf"),
    ("go2", "erd:go2_description/urdf/go2.urdf"),
    ("hyq", "erd:hyq_description/robots/hyq_no_sensors.urdf"),
    ("kinova", "erd:kinova_description/robots/kinova.urdf"),
    ("laikago", "erd:laikago_description/urdf/laikago.urdf"),
    ("panda", "erd:panda_description/urdf/panda.urdf"),
    ("r2d2", "bullet:r2d2.urdf"),
    ("racecar", "bullet:racecar/racecar.urdf"),
    (
        "simple-humanoid",
        "erd:simple_humanoid_description/urdf/simple_humanoid.urdf",
    ),
    ("so101", "erd:so_arm_description/urdf/so101.urdf"),
    ("solo12", "erd:solo_description/robots/solo12.urdf"),
];

/// Robots whose pace is compared, most of them with meshes.
const COSTS: [(&str, &str); 5] = [
    ("laikago", "bullet:laikago/laikago_toes_zup.urdf"),
    ("solo12", "erd:solo_description/robots/solo12.urdf"),
    ("g1", "erd:g1_description/urdf/g1_29dof_rev_1_0.urdf"),
    ("go2", "erd:go2_description/urdf/go2.urdf"),
    ("iiwa", "bullet:kuka_iiwa/model_free_base.urdf"),
];

pub(crate) fn cases() -> Vec<PeerCase> {
    let of_robot = |(name, file): (&str, &'static str)| PeerCase {
        name: format!("robot-drop-{name}"),
        source: SOURCE,
        run: Box::new(move |peers| {
            peers.require_robots()?;
            let (world, _) = above_ground(peers, file)?;
            Ok(drop_one(world))
        }),
    };
    let mut cases: Vec<PeerCase> = ROBOTS.into_iter().map(of_robot).collect();
    cases.push(PeerCase {
        name: "robot-r2d2-stands".to_owned(),
        source: "PyBullet, the same drop in the same run",
        run: Box::new(r2d2),
    });
    let costs = COSTS.into_iter().map(|(name, file)| PeerCase {
        name: format!("robot-cost-{name}"),
        source: "steps per second of PyBullet, the same drop in the same run",
        run: Box::new(move |peers| cost(peers, file)),
    });
    cases.extend(costs);
    cases
}

/// Reads a robot above a plane.
fn above_ground(peers: &Peers, file: &str) -> Result<(World, f64), String> {
    let mut world = peers.read(file)?;
    let height = lift(&mut world, HEIGHT);
    let ground = sdf::read_worlds(&scene::world(&[scene::ground()]), "ground", &sdf::NoFiles);
    let mut ground = ground.map_err(|error| error.to_string())?.worlds;
    world.models.append(&mut ground[0].models);
    Ok((world, height))
}

/// Joint with limits, and how far it went beyond them.
struct Limited {
    joint: JointRef,
    range: [f64; 2],
    /// Its position, with turns counted.
    position: f64,
    /// Whether it begins within its limits; in files of real robots some do not.
    begins_within: bool,
}

impl Limited {
    /// Takes a new position and returns how far it is beyond a limit.
    fn beyond(&mut self, simulation: &Simulation) -> f64 {
        let now = simulation.joint_position(self.joint);
        self.position = now + ((self.position - now) / TAU).round() * TAU;
        let [lower, upper] = self.range;
        (self.position - upper).max(lower - self.position).max(0.0)
    }
}

fn drop_one(world: World) -> Vec<Quantity> {
    let mut simulation = Simulation::of(world, FINE);
    let model = simulation.world().models[0].clone();
    let mass: f64 = model.links.iter().map(|link| link.inertial.mass).sum();
    let scale = mass * GRAVITY * HEIGHT;
    let limits = model.joints.iter().filter_map(|joint| {
        let axis = axis_of(&joint.kind)?;
        Some(Limited {
            joint: simulation.joint(&model.name, &joint.name),
            range: [axis.lower, axis.upper],
            position: 0.0,
            begins_within: axis.lower <= 0.0 && axis.upper >= 0.0,
        })
    });
    let mut limits: Vec<Limited> = limits.collect();
    let begin = simulation.energy();
    let (mut gained, mut moving, mut resting) = (0.0_f64, 0.0_f64, 0.0_f64);
    let clock = Instant::now();
    let steps = 1000;
    let mut done = 0;
    while done < steps && clock.elapsed() < PATIENCE {
        simulation.step();
        done += 1;
        gained = gained.max(simulation.energy() - begin);
        for limited in &mut limits {
            let beyond = limited.beyond(&simulation);
            if limited.begins_within {
                moving = moving.max(beyond);
            }
            if done > steps - 100 {
                resting = resting.max(beyond);
            }
        }
    }
    let zero = |what: &str, value: f64| {
        let cut = if done < steps {
            format!(", cut after {done} steps")
        } else {
            String::new()
        };
        Quantity::absolute(format!("{what}{cut}"), FINE, [0.0, value])
    };
    let mut found = vec![zero("energy gained per drop", gained / scale).within(0.01, "1")];
    if !limits.is_empty() {
        found.push(zero("beyond a limit", moving).within(0.01, "rad"));
        found.push(zero("beyond a limit after 0.9 s", resting).within(0.001, "rad"));
    }
    found
}

fn r2d2(peers: &Peers) -> Result<Vec<Quantity>, String> {
    peers.require_robots()?;
    let (file, duration_s) = ("bullet:r2d2.urdf", 5.0);
    let (world, height) = above_ground(peers, file)?;
    let mut simulation = Simulation::of(world, FINE);
    let mut highest = 0.0_f64;
    let [link] = [simulation.links()[0]];
    simulation.run_with(duration_s, |simulation| {
        highest = highest.max(simulation.position(link)[2]);
    });
    let at = simulation.position(link)[2];
    let plan = plan(peers, file, height, [1, (duration_s / FINE) as u64])?;
    let bullet = peers.run("run_bullet.py", &plan)?;
    let bullet = bullet["origin"][2].as_f64().unwrap_or(f64::NAN);
    Ok(vec![
        Quantity::absolute("height after 5 s", FINE, [bullet, at]).within(0.005, "m"),
        Quantity::absolute("highest above the begin", FINE, [0.0, highest - height])
            .within(0.001, "m"),
    ])
}

fn plan(
    peers: &Peers,
    file: &str,
    height: f64,
    [timed, steps]: [u64; 2],
) -> Result<serde_json::Value, String> {
    Ok(json!({
        "urdf": peers.file(file)?,
        "height": height,
        "gravity": GRAVITY,
        "step_s": FINE,
        "timed_steps": timed,
        "steps": steps,
        "folders": [peers.example_folder()],
    }))
}

fn cost(peers: &Peers, file: &str) -> Result<Vec<Quantity>, String> {
    peers.require_robots()?;
    let (world, height) = above_ground(peers, file)?;
    let bullet = peers.run(
        "run_bullet.py",
        &plan(peers, file, height, [TIMED_STEPS; 2])?,
    )?;
    let bullet = bullet["steps_per_s"].as_f64().unwrap_or(f64::NAN);
    let mut simulation = Simulation::of(world, FINE);
    let begin = Instant::now();
    let mut steps = 0;
    while steps < TIMED_STEPS && begin.elapsed() < TIMED {
        simulation.step();
        steps += 1;
    }
    let pace = steps as f64 / begin.elapsed().as_secs_f64();
    let name = format!("{pace:.0} steps/s, Bullet {bullet:.0}: ratio");
    Ok(vec![Quantity::at_least(name, FINE, [PACE, pace / bullet])])
}
