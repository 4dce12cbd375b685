//! Real robots dropped by 2 cm with nothing that drives them: no energy, no broken limits.

use std::time::{Duration, Instant};

use sdf::World;
use serde_json::json;
use tests::truth::simulation::{JointRef, Simulation};
use tests::truth::{Effort, FINE, GRAVITY, Quantity, scene};

use crate::robots::{PeerCase, Peers, axis_of, lift};

const HEIGHT: f64 = 0.02;
/// Least part of Bullet's pace that passes.
const PACE: f64 = 0.5;
/// How long one robot may take, and be timed.
const PATIENCE: Duration = Duration::from_secs(60);
const TIMED: Duration = Duration::from_secs(5);
const TIMED_STEPS: u64 = 1000;

const SOURCE: &str = "energy of what nothing drives never rises; SDF: no position beyond limits";

/// Robots that libsdformat accepts, most of them without meshes.
const ROBOTS: [(&str, &str); 24] = [
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
    ("bullet-a1", "bullet:a1/a1.urdf"),
    ("bullet-laikago", "bullet:laikago/laikago_toes_zup.urdf"),
    ("bullet-panda", "bullet:franka_panda/panda.urdf"),
    ("bullet-xarm6", "bullet:xarm/xarm6_robot.urdf"),
    ("go1", "erd:go1_description/urdf/go1.urdf"),
    ("go2", "erd:go2_description/urdf/go2.urdf"),
    ("hyq", "erd:hyq_description/robots/hyq_no_sensors.urdf"),
    ("icub", "erd:icub_description/robots/icub_reduced.urdf"),
    ("kinova", "erd:kinova_description/robots/kinova.urdf"),
    ("laikago", "erd:laikago_description/urdf/laikago.urdf"),
    ("mini-cheetah", "bullet:mini_cheetah/mini_cheetah.urdf"),
    ("panda", "erd:panda_description/urdf/panda.urdf"),
    ("r2d2", "bullet:r2d2.urdf"),
    ("racecar", "bullet:racecar/racecar.urdf"),
    (
        "simple-humanoid",
        "erd:simple_humanoid_description/urdf/simple_humanoid.urdf",
    ),
    ("so101", "erd:so_arm_description/urdf/so101.urdf"),
    ("solo12", "erd:solo_description/robots/solo12.urdf"),
    ("talos", "erd:talos_data/robots/talos_reduced.urdf"),
];

pub(crate) fn cases() -> Vec<PeerCase> {
    vec![
        PeerCase {
            name: "robot-drop",
            source: SOURCE,
            run: drop_all,
        },
        PeerCase {
            name: "robot-r2d2-stands",
            source: "PyBullet and MuJoCo agree on where it stands: 0.470 m",
            run: r2d2,
        },
        PeerCase {
            name: "robot-cost",
            source: "steps per second of PyBullet, the same drop in the same run",
            run: cost,
        },
    ]
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

fn drop_all(peers: &Peers, effort: Effort) -> Result<Vec<Quantity>, String> {
    peers.require_robots()?;
    let mut found = Vec::new();
    let count = if effort.long_s < Effort::FULL.long_s {
        6
    } else {
        ROBOTS.len()
    };
    for (name, file) in ROBOTS.into_iter().take(count) {
        match above_ground(peers, file) {
            Ok((world, _)) => found.extend(drop_one(name, world)),
            Err(error) => {
                let first = error.lines().next().unwrap_or_default();
                eprintln!("  {name} is left out: {first}");
            }
        }
    }
    Ok(found)
}

/// Joint with limits, and how far it went beyond them.
struct Limited {
    joint: JointRef,
    range: [f64; 2],
    /// Whether it was within its limits once; some robots begin outside.
    was_within: bool,
}

fn drop_one(name: &str, world: World) -> Vec<Quantity> {
    let mut simulation = Simulation::of(world, FINE);
    let model = simulation.world().models[0].clone();
    let mass: f64 = model.links.iter().map(|link| link.inertial.mass).sum();
    let scale = mass * GRAVITY * HEIGHT;
    let limits = model.joints.iter().filter_map(|joint| {
        let axis = axis_of(&joint.kind)?;
        Some(Limited {
            joint: simulation.joint(&model.name, &joint.name),
            range: [axis.lower, axis.upper],
            was_within: false,
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
        let beyond = greatest_passing(&simulation, &mut limits);
        moving = moving.max(beyond);
        if done > steps - 100 {
            resting = resting.max(beyond);
        }
    }
    let zero = |what: &str, value: f64| {
        let cut = if done < steps {
            format!(", cut after {done} steps")
        } else {
            String::new()
        };
        Quantity::absolute(format!("{name}: {what}{cut}"), FINE, [0.0, value])
    };
    let mut found = vec![zero("energy gained per drop", gained / scale).within(0.01, "1")];
    if !limits.is_empty() {
        found.push(zero("beyond a limit", moving).within(0.01, "rad"));
        found.push(zero("beyond a limit after 0.9 s", resting).within(0.001, "rad"));
    }
    found
}

fn greatest_passing(simulation: &Simulation, limits: &mut [Limited]) -> f64 {
    let mut greatest = 0.0_f64;
    for limited in limits {
        let position = simulation.joint_position(limited.joint);
        let [lower, upper] = limited.range;
        let beyond = (position - upper).max(lower - position);
        limited.was_within |= beyond <= 0.0;
        if limited.was_within {
            greatest = greatest.max(beyond);
        }
    }
    greatest
}

fn r2d2(peers: &Peers, _: Effort) -> Result<Vec<Quantity>, String> {
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

fn cost(peers: &Peers, _: Effort) -> Result<Vec<Quantity>, String> {
    peers.require_robots()?;
    let robots = [
        ("laikago", "erd:laikago_description/urdf/laikago.urdf"),
        ("solo12", "erd:solo_description/robots/solo12.urdf"),
        ("g1", "erd:g1_description/urdf/g1_29dof_rev_1_0.urdf"),
        ("go2", "erd:go2_description/urdf/go2.urdf"),
        ("iiwa", "bullet:kuka_iiwa/model_free_base.urdf"),
    ];
    let mut found = Vec::new();
    for (name, file) in robots {
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
        let name = format!("{name}: {pace:.0} steps/s, Bullet {bullet:.0}; ratio");
        found.push(Quantity::at_least(name, FINE, [PACE, pace / bullet]));
    }
    Ok(found)
}
