//! Measures how a run grows: what a second secondary and a second thread bring to a heavy fleet,
//! what threads, and its being split, bring to one crowded level, what distribution costs a light
//! fleet and the demo worlds, what a body costs in a large world and in a small one, what a
//! secondary costs the primary with 4 of them and with 64, and whether 100 lidars keep up.
//!
//! Prints one JSON line. The runs are real processes, and what is compared is measured in turns, so
//! that ratios hold on a machine that is shared. Run it with `cargo bench -p tests --bench scale`,
//! after `cargo build --release --workspace`; parts of it by their names:
//! `cargo bench -p tests --bench scale -- threads light`.

use std::io::{self, Write};
use std::process::Command;
use std::time::Duration;

use serde_json::{Map, Value, json};
use tests::peers::drive::commands;
use tests::peers::scene::read;
use tests::processes::{Scratch, let_pass, wait_for};
use tests::repository;
use tests::soak::twist;

const TURNS: usize = 3;
/// Simulated time of a step in all worlds \[s\].
const STEP_S: f64 = 0.001;
/// Time for which a listener is given until its subscription is known.
const SETTLING: Duration = Duration::from_millis(500);
/// Time that a run may take.
const RUN_PATIENCE: Duration = Duration::from_mins(5);

/// A kind of run.
struct Kind {
    name: &'static str,
    world: &'static str,
    secondaries: u32,
    threads: u32,
    iterations: u32,
    /// Number of performers above which levels are split.
    split_above: Option<u32>,
}

/// Kinds of run that are compared, by name.
const PARTS: [(&str, &[Kind]); 12] = [
    (
        "secondaries",
        &[
            Kind::of("one", "fleet", 1, 1, 600),
            Kind::of("two", "fleet", 2, 1, 600),
        ],
    ),
    (
        "threads",
        &[
            Kind::of("one", "fleet", 0, 1, 600),
            Kind::of("two", "fleet", 0, 2, 600),
        ],
    ),
    (
        "crowded",
        &[
            Kind::of("one", "crowd", 0, 1, 600),
            Kind::of("two", "crowd", 0, 2, 600),
            Kind::of("four", "crowd", 0, 4, 600),
            Kind::of("eight", "crowd", 0, 8, 600),
        ],
    ),
    (
        "split",
        &[
            Kind::of("standalone", DRIVEN_CROWD, 0, 1, 1500),
            Kind::of("whole", DRIVEN_CROWD, 2, 1, 1500),
            Kind::of("split", DRIVEN_CROWD, 2, 1, 1500).split(160),
        ],
    ),
    ("ramp", &demo("ramp.sdf")),
    ("crossing", &demo("crossing.sdf")),
    ("four_levels", &demo("four_levels.sdf")),
    ("warehouse", &demo("warehouse.sdf")),
    (
        "light",
        &[
            Kind::of("standalone", "light", 0, 1, 20_000),
            Kind::of("two", "light", 2, 1, 20_000),
        ],
    ),
    (
        "bodies",
        &[
            Kind::of("thousand", "small", 2, 1, 600),
            Kind::of("ten_thousand", "large", 2, 1, 100),
        ],
    ),
    (
        "processes",
        &[
            Kind::of("4", "many", 4, 1, 1000),
            Kind::of("16", "many", 16, 1, 500),
            Kind::of("64", "many", 64, 1, 200),
        ],
    ),
    (
        "lidars",
        &[
            Kind::of("threads", LIDARS, 0, 2, 3000),
            Kind::of("secondaries", LIDARS, 2, 1, 3000),
            Kind::of("driving_threads", DRIVING, 0, 2, 3000),
            Kind::of("driving_secondaries", DRIVING, 2, 1, 3000),
        ],
    ),
];

/// The world of robots whose lidars look around with 360 rays, 10 times a second, listened to.
const LIDARS: &str = "lidars";
/// The same, where all robots drive in circles.
const DRIVING: &str = "driving";
/// Replacements in the world of all robots: lidars have 360 rays, and all publish on one topic.
const LOOKING: [[&str; 2]; 2] = [
    ["<samples>90</samples>", "<samples>360</samples>"],
    [
        "type=\"gpu_lidar\">",
        "type=\"gpu_lidar\"><topic>/scan</topic>",
    ],
];
/// The name of a run that somebody listens to.
const HEARD: &str = "heard";

/// The world of a crowd that drives.
const DRIVEN_CROWD: &str = "driven_crowd";

/// The worlds, with how each is generated.
const WORLDS: [(&str, [&str; 5]); 9] = [
    ("fleet", ["fleet", "--robots", "1000", "--levels", "8x8"]),
    ("crowd", ["fleet", "--robots", "300", "--levels", "1x1"]),
    (
        DRIVEN_CROWD,
        ["fleet", "--robots", "300", "--levels", "1x1"],
    ),
    ("light", ["fleet", "--robots", "4", "--levels", "2x1"]),
    ("small", ["fleet", "--robots", "334", "--levels", "10x1"]),
    ("large", ["fleet", "--robots", "3334", "--levels", "10x10"]),
    ("many", ["fleet", "--robots", "64", "--levels", "8x8"]),
    (LIDARS, ["fleet", "--robots", "100", "--levels", "4x4"]),
    (DRIVING, ["fleet", "--robots", "100", "--levels", "4x4"]),
];

impl Kind {
    const fn of(
        name: &'static str,
        world: &'static str,
        secondaries: u32,
        threads: u32,
        iterations: u32,
    ) -> Self {
        Self {
            name,
            world,
            secondaries,
            threads,
            iterations,
            split_above: None,
        }
    }

    /// Has levels be split above so many performers.
    const fn split(self, above: u32) -> Self {
        Self {
            split_above: Some(above),
            ..self
        }
    }
}

/// Returns runs of a demo world in one process and on two secondaries.
const fn demo(world: &'static str) -> [Kind; 2] {
    [
        Kind::of("standalone", world, 0, 1, 20_000),
        Kind::of("two", world, 2, 1, 20_000),
    ]
}

fn main() {
    let scratch = Scratch::new();
    for (name, arguments) in WORLDS {
        let arguments: Vec<&str> = std::iter::once("generate").chain(arguments).collect();
        let (code, mut world, stderr) = scratch.phalanx_says(&arguments);
        assert_eq!(code, 0, "{stderr}");
        if is_heard(name) {
            for [old, new] in LOOKING {
                assert!(world.contains(old), "robots have lidars: {old}");
                world = world.replace(old, new);
            }
        }
        if is_driven(name) {
            let script = commands(&read(name, &world), twist);
            let path = scratch.path(&format!("{name}.jsonl"));
            std::fs::write(path, script).expect("a file can be written");
        }
        let path = scratch.path(&format!("{name}.sdf"));
        std::fs::write(path, world).expect("a file can be written");
    }
    let asked: Vec<String> = std::env::args().skip(1).collect();
    let mut parts = Map::new();
    for (name, kinds) in PARTS {
        let is_asked = |word: &String| word == name;
        let has_names = asked.iter().any(|word| !word.starts_with('-'));
        if !has_names || asked.iter().any(is_asked) {
            parts.insert(name.to_owned(), measure(&scratch, kinds));
        }
    }
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let line = json!({ "bench": "scale", "cores": cores, "turns": TURNS, "parts": parts });
    let _ = writeln!(io::stdout(), "{line}");
}

/// Runs all kinds in turns, and compares each with the first one, turn by turn.
fn measure(scratch: &Scratch, kinds: &[Kind]) -> Value {
    let mut rates: Vec<Vec<f64>> = vec![Vec::new(); kinds.len()];
    let mut figures = vec![Value::Null; kinds.len()];
    for _ in 0..TURNS {
        for (number, kind) in kinds.iter().enumerate() {
            let summary = run(scratch, kind);
            rates[number].push(number_of(&summary, "steps_per_s"));
            figures[number] = summary;
        }
    }
    let first = rates[0].clone();
    let entries = kinds
        .iter()
        .zip(rates)
        .zip(figures)
        .map(|((kind, rates), last)| {
            let over_first = rates.iter().zip(&first).map(|(rate, first)| rate / first);
            let performers = last["performers"].as_array().map_or(0, Vec::len);
            let rate = median(rates.clone());
            let entry = json!({
                "steps_per_s": rates,
                "real_time_factor": rate * STEP_S,
                "rate_over_first": median(over_first.collect()),
                "performers": performers,
                "us_per_performer_and_step": 1e6 / rate / performers.max(1) as f64,
                "us_per_secondary_and_step": 1e6 / rate / f64::from(kind.secondaries.max(1)),
                "step_us": last["step_us"],
                "physics_us": last["physics_us"],
                "overhead_us": last["overhead_us"],
            });
            (kind.name.to_owned(), entry)
        });
    Value::Object(entries.collect())
}

fn run(scratch: &Scratch, kind: &Kind) -> Value {
    let world = match kind.world.strip_suffix(".sdf") {
        Some(_) => repository::root().join("worlds").join(kind.world),
        None => scratch.path(&format!("{}.sdf", kind.world)),
    };
    let mut command = scratch.phalanx();
    command
        .args(["run", "--headless", "--format", "json"])
        .arg(world);
    command.args(["--real-time-factor", "0", "--journal", "off"]);
    command.args(["--secondaries", &kind.secondaries.to_string()]);
    command.args(["--threads", &kind.threads.to_string()]);
    command.args(["--iterations", &kind.iterations.to_string()]);
    if let Some(above) = kind.split_above {
        command.args(["--split-above", &above.to_string()]);
    }
    if is_driven(kind.world) {
        let script = scratch.path(&format!("{}.jsonl", kind.world));
        command.arg("--commands").arg(script);
    }
    if is_heard(kind.world) {
        return run_heard(scratch, &mut command);
    }
    let output = command.output().expect("phalanx starts");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    serde_json::from_slice(&output.stdout).expect("the summary is JSON")
}

fn is_heard(world: &str) -> bool {
    [LIDARS, DRIVING].contains(&world)
}

fn is_driven(world: &str) -> bool {
    [DRIVING, DRIVEN_CROWD].contains(&world)
}

/// The same where somebody listens to all lidars from the first step on.
fn run_heard(scratch: &Scratch, command: &mut Command) -> Value {
    command.args(["--name", HEARD, "--paused"]);
    let mut run = scratch.start("run", command);
    wait_for("the run is there", || {
        let (code, _, _) = scratch.phalanx_says(&["show", HEARD, "stats", "--format", "json"]);
        code == 0
    });
    let listener = scratch.start(
        "hz",
        scratch.phalanx().args(["topic", "hz", HEARD, "/scan"]),
    );
    let_pass(SETTLING);
    let (code, _, stderr) = scratch.phalanx_says(&["ctl", HEARD, "play"]);
    assert_eq!(code, 0, "{stderr}");
    assert_eq!(run.wait_for_long(RUN_PATIENCE), 0, "{}", run.stderr());
    assert!(!listener.stdout().is_empty(), "the lidars were heard");
    serde_json::from_str(&run.stdout()).expect("the summary is JSON")
}

fn number_of(summary: &Value, key: &str) -> f64 {
    summary[key].as_f64().expect("a summary has it")
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
