//! Real robots dropped by 2 cm with nothing that drives them: no energy, no broken limits.

use std::f64::consts::TAU;
use std::time::{Duration, Instant};

use sdf::World;

use super::robots::{Peers, axis_of, lift};
use super::simulation::{JointRef, Simulation};
use super::{FINE, GRAVITY, Quantity, scene};

/// The height of the drop \[m\].
pub const HEIGHT: f64 = 0.02;

/// Steps of a drop, and the longest time for them.
const STEPS: u32 = 1000;
const TIMEOUT: Duration = Duration::from_secs(20);

/// Source of the expected values.
pub const SOURCE: &str =
    "energy of what nothing drives never rises; SDF: no position beyond limits";

/// Robots that libsdformat accepts, most of them without meshes.
pub const ROBOTS: [(&str, &str); 26] = [
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
    ("quadruped", "erd:quadruped_description/urdf/quadruped.urdf"),
    ("solo", "erd:solo_description/robots/solo.urdf"),
    ("talos-arm", "erd:talos_data/robots/talos_left_arm.urdf"),
    ("tiago", "erd:tiago_description/robots/tiago_no_hand.urdf"),
    ("xarm7", "erd:xarm_description/urdf/xarm7.urdf"),
];

/// Reads a robot above a plane; returns it with how far it was lifted \[m\].
///
/// # Errors
/// Fails if the file is refused.
pub fn above_ground(peers: &Peers, file: &str) -> Result<(World, f64), String> {
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
    /// Distance beyond its limits at the begin, in files of some real robots, and the greatest
    /// speed at which it may come back.
    beyond_at_begin: f64,
    speed: f64,
}

impl Limited {
    /// Takes a new position and returns how far it is beyond a limit.
    fn beyond(&mut self, simulation: &Simulation) -> f64 {
        let now = simulation.joint_position(self.joint);
        self.position = now + ((self.position - now) / TAU).round() * TAU;
        let [lower, upper] = self.range;
        (self.position - upper).max(lower - self.position).max(0.0)
    }

    /// Returns how far beyond its limits its greatest speed leaves it after a time \[s\].
    fn owed(&self, elapsed_s: f64) -> f64 {
        (self.beyond_at_begin - self.speed * elapsed_s).max(0.0)
    }
}

/// Drops a robot for a second.
pub fn drop_one(world: World) -> Vec<Quantity> {
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
            beyond_at_begin: axis.lower.max(-axis.upper).max(0.0),
            speed: if axis.velocity > 0.0 {
                axis.velocity
            } else {
                f64::INFINITY
            },
        })
    });
    let mut limits: Vec<Limited> = limits.collect();
    let begin = simulation.energy();
    let (mut gained, mut moving, mut resting) = (0.0_f64, 0.0_f64, 0.0_f64);
    let clock = Instant::now();
    let steps = STEPS;
    let mut done = 0;
    while done < steps && clock.elapsed() < TIMEOUT {
        simulation.step();
        done += 1;
        gained = gained.max(simulation.energy() - begin);
        for limited in &mut limits {
            let beyond = limited.beyond(&simulation) - limited.owed(f64::from(done) * FINE);
            if limited.beyond_at_begin == 0.0 {
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
