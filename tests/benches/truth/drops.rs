//! Real robots dropped by 2 cm, and how many steps of that `PyBullet` does in the same time.

use std::time::{Duration, Instant};

use sdf::World;
use serde_json::json;
use tests::truth::drops::{self, ROBOTS, SOURCE};
use tests::truth::robots::{PeerCase, Peers};
use tests::truth::simulation::Simulation;
use tests::truth::{FINE, GRAVITY, Quantity};

/// Least part of Bullet's pace that passes.
const PACE: f64 = 1.0;

/// The longest time of one timing, and its steps.
const TIMED: Duration = Duration::from_secs(5);
const TIMED_STEPS: u64 = 1000;

/// Number of timings, of which the best counts.
const ROUNDS: usize = 5;

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
            let (world, _) = drops::above_ground(peers, file)?;
            Ok(drops::drop_one(world))
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

fn r2d2(peers: &Peers) -> Result<Vec<Quantity>, String> {
    peers.require_robots()?;
    let (file, duration_s) = ("bullet:r2d2.urdf", 5.0);
    let (world, height) = drops::above_ground(peers, file)?;
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

/// Times the two in turns, and compares the best pace of each: other work on the machine can only
/// make one slower.
fn cost(peers: &Peers, file: &str) -> Result<Vec<Quantity>, String> {
    peers.require_robots()?;
    let (world, height) = drops::above_ground(peers, file)?;
    let plan = plan(peers, file, height, [TIMED_STEPS; 2])?;
    let (mut pace, mut bullet_pace) = (0.0_f64, 0.0_f64);
    for _ in 0..ROUNDS {
        let bullet = peers.run("run_bullet.py", &plan)?;
        let timed = bullet["steps_per_s"].as_f64();
        bullet_pace = bullet_pace.max(timed.ok_or("PyBullet told no pace")?);
        pace = pace.max(steps_per_second(world.clone()));
    }
    let name = format!("{pace:.0} steps/s, Bullet {bullet_pace:.0}: ratio");
    let paces = [PACE, pace / bullet_pace];
    Ok(vec![Quantity::at_least(name, FINE, paces)])
}

/// Steps a world for a while; returns its pace \[1/s\].
fn steps_per_second(world: World) -> f64 {
    let mut simulation = Simulation::of(world, FINE);
    let begin = Instant::now();
    let mut steps = 0;
    while steps < TIMED_STEPS && begin.elapsed() < TIMED {
        simulation.step();
        steps += 1;
    }
    steps as f64 / begin.elapsed().as_secs_f64()
}
