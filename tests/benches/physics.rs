//! Measures what a cell costs beside bare rapier: a whole host with systems, sensors, states and
//! digests, and the rapier world that is in its cell, taken out and stepped by itself.
//!
//! Prints one JSON line. Both do the same steps of the same scene in turns in the same run and on
//! one thread, so that their ratio holds on a machine that is shared. Run it with `cargo bench -p
//! tests --bench physics`; `-- --scene 300 --turns 1` has scenes whose names begin so, and few
//! turns, such as a profiler has time for.

use std::io::Write;
use std::time::{Duration, Instant};

use protocol::{Command, Iteration, ScheduledCommand};
use rapier3d_f64::pipeline::PhysicsWorld;
use sdf::Solver;
use serde_json::{Value, json};
use tests::cluster;
use tests::direct::Direct;

/// Number of steps that the scene comes to rest in.
const SETTLING: u32 = 300;
const STEPS: u32 = 40;
const TURNS: usize = 25;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let after = |name: &str| {
        let place = arguments.iter().position(|argument| argument == name)?;
        arguments.get(place + 1)
    };
    let prefix = after("--scene").map_or("", String::as_str);
    let turns = after("--turns").and_then(|turns| turns.parse().ok());
    let turns = turns.unwrap_or(TURNS);
    let boxes = sdf::generate_piles(300, [1, 1]);
    let robots = |count| sdf::generate_fleet(count, [1, 1]);
    let (exact, fast) = (Solver::Exact, Solver::Fast);
    let scenes = [
        ("300 boxes in a pile", boxes.clone(), exact, 0),
        ("300 boxes in a pile, fast", boxes, fast, 0),
        ("100 robots that drive", robots(100), exact, 100),
        ("100 robots that drive, fast", robots(100), fast, 100),
        ("10 robots that drive", robots(10), exact, 10),
        ("10 robots that drive, fast", robots(10), fast, 10),
        ("100 towers of three drums", drums(100), exact, 0),
    ];
    let chosen = scenes
        .into_iter()
        .filter(|(name, ..)| name.starts_with(prefix));
    let scenes = chosen
        .map(|(name, text, solver, robots)| measure(name, &text, solver, robots, turns))
        .collect::<Vec<Value>>();
    let line = json!({ "bench": "physics", "steps": STEPS, "turns": turns, "scenes": scenes });
    let _ = writeln!(std::io::stdout(), "{line}");
}

/// One kind of step in one turn.
#[derive(Clone, Copy, Default)]
struct Turn {
    /// All of it.
    whole: Duration,
    /// Part of it that physics took, as the host says.
    physics: Duration,
}

fn measure(name: &str, text: &str, solver: Solver, robots: u32, turns: usize) -> Value {
    let read = sdf::read_worlds(text, "scene.sdf", &sdf::NoFiles);
    let mut worlds = read.expect("a generated world is valid").worlds;
    worlds[0].physics.solver = solver;
    let mut settings = cluster::settings(1, u64::MAX);
    settings.schedule = (1..=robots).map(drive).collect();
    let mut direct = Direct::new(&worlds, settings);
    for _ in 0..SETTLING {
        direct.advance();
    }
    let (mut ours, mut bare) = (Vec::new(), Vec::new());
    for _ in 0..turns {
        let mut rapier = rapier_of(&direct);
        let mut turn = Turn::default();
        for _ in 0..STEPS {
            let report = direct.advance();
            let peer = report.peers.first().expect("there is one secondary");
            turn.whole += peer.busy;
            turn.physics += peer.physics;
        }
        ours.push(turn);
        let begin = Instant::now();
        for _ in 0..STEPS {
            rapier.step();
        }
        bare.push(begin.elapsed());
    }
    let physics = rapier_of(&direct);
    let ratio = |figure: fn(&Turn) -> Duration| {
        let pairs = ours.iter().zip(&bare);
        let ratios = pairs.map(|(ours, bare)| figure(ours).as_secs_f64() / bare.as_secs_f64());
        median(ratios.collect())
    };
    let per_step = |times: Vec<f64>| median(times) * 1e6 / f64::from(STEPS);
    json!({
        "scene": name,
        "bodies": physics.bodies.len(),
        "contacts": physics.narrow_phase.contact_pairs().count(),
        "bare_us": per_step(bare.iter().map(Duration::as_secs_f64).collect()),
        "host_us": per_step(ours.iter().map(|turn| turn.whole.as_secs_f64()).collect()),
        "host_over_bare": ratio(|turn| turn.whole),
        "physics_over_bare": ratio(|turn| turn.physics),
    })
}

/// Returns a copy of the rapier world of the only cell that has bodies that move.
fn rapier_of(direct: &Direct) -> PhysicsWorld {
    let cells = direct.host().cells();
    let cell = cells.max_by_key(|cell| cell.performers().count());
    let cell = cell.expect("a host has cells");
    let bytes = postcard::to_allocvec(cell.physics().rapier()).expect("a world can be written");
    postcard::from_bytes(&bytes).expect("what was written can be read")
}

/// Returns a world of towers of cylinders that stand on each other, of which each face lies flat on
/// eight or more corners of its rim.
fn drums(towers: u32) -> String {
    let drum = |number: u32| {
        let (tower, floor) = (number / 3, number % 3);
        let (x, y) = (tower % 10, tower / 10);
        let height = 0.2 + 0.4 * f64::from(floor);
        format!(
            "<model name='drum_{number}'><allow_auto_disable>false</allow_auto_disable>\
             <pose>{x} {y} {height} 0 0 0</pose><link name='link'>\
             <inertial><mass>10</mass><inertia><ixx>0.36</ixx><iyy>0.36</iyy><izz>0.45</izz>\
             </inertia></inertial><collision name='collision'><geometry>\
             <cylinder><radius>0.3</radius><length>0.4</length></cylinder></geometry>\
             </collision></link></model>"
        )
    };
    let models: Vec<String> = (0..3 * towers).map(drum).collect();
    let models = models.concat();
    format!(
        "<sdf version='1.10'><world name='drums'><model name='ground'><static>true</static>\
         <link name='link'><collision name='collision'><geometry><plane><normal>0 0 1</normal>\
         </plane></geometry></collision></link></model>{models}</world></sdf>"
    )
}

/// Has a robot drive in a bend of its own.
fn drive(robot: u32) -> ScheduledCommand {
    let kind = messages::find("gz.msgs.Twist").expect("twists are known");
    let turn = 0.2 * (f64::from(robot % 3) - 1.0);
    let message = json!({ "linear": { "x": 0.5 }, "angular": { "z": turn } });
    ScheduledCommand {
        iteration: Iteration(0),
        paused_round: None,
        command: Command::Publish {
            topic: format!("/model/robot_{robot:04}/cmd_vel"),
            kind: "gz.msgs.Twist".to_owned(),
            body: kind.from_json(message).expect("it is a twist"),
        },
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
