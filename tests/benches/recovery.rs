//! Measures what it costs that nothing is lost: the median step of a fleet without anything kept,
//! with checkpoints and steps kept in memory, and with the journal on disk besides.
//!
//! Prints one JSON line. The runs are real processes, and all three kinds are measured in turns, so
//! that their ratios hold on a machine that is shared. Run it with
//! `cargo bench -p tests --bench recovery`, after `cargo build --release --workspace`.

use std::io::{self, Write};

use serde_json::{Value, json};
use tests::processes::Scratch;

const TURNS: usize = 5;
const ITERATIONS: &str = "5000";
const SECONDARIES: &str = "2";
/// The fleet world: robots that drive from level to level.
const ROBOTS: &str = "40";
const LEVELS: &str = "4x4";

/// Kinds of state that is kept, with the flags for each.
const KINDS: [(&str, &[&str]); 3] = [
    ("nothing", &["--on-peer-loss", "stop", "--journal", "off"]),
    ("memory", &["--on-peer-loss", "recover", "--journal", "off"]),
    ("journal", &["--on-peer-loss", "recover", "--journal", "on"]),
];

fn main() {
    let scratch = Scratch::new();
    let arguments = ["generate", "fleet", "--robots", ROBOTS, "--levels", LEVELS];
    let (code, world, stderr) = scratch.phalanx_says(&arguments);
    assert_eq!(code, 0, "{stderr}");
    std::fs::write(scratch.path("fleet.sdf"), world).expect("a file can be written");
    let mut medians = [f64::INFINITY; KINDS.len()];
    let mut means = [f64::INFINITY; KINDS.len()];
    let mut digests = Vec::new();
    for _ in 0..TURNS {
        for (number, (_, flags)) in KINDS.iter().enumerate() {
            let summary = run(&scratch, flags);
            let median = summary["step_us"]["p50"].as_f64();
            medians[number] = medians[number].min(median.expect("a summary has it"));
            let rate = summary["steps_per_s"].as_f64().expect("a summary has it");
            means[number] = means[number].min(1e6 / rate);
            digests.push(summary["digest"].clone());
        }
    }
    assert!(
        digests.iter().all(|digest| *digest == digests[0]),
        "what is kept changes no bit: {digests:?}"
    );
    let kinds: Vec<Value> = KINDS
        .iter()
        .zip(medians.iter().zip(&means))
        .map(|((name, _), (median, mean))| {
            json!({
                "kept": name,
                "step_us_p50": median,
                "over_nothing": median / medians[0],
                "mean_us": mean,
                "mean_over_nothing": mean / means[0],
            })
        })
        .collect();
    let line = json!({ "bench": "recovery", "robots": ROBOTS, "kinds": kinds });
    let _ = writeln!(io::stdout(), "{line}");
}

fn run(scratch: &Scratch, flags: &[&str]) -> Value {
    let world = scratch.path("fleet.sdf");
    let world = world.to_str().expect("a path of a test is text");
    let mut arguments = vec!["run", world, "--headless", "--format", "json"];
    arguments.extend(["--iterations", ITERATIONS, "--real-time-factor", "0"]);
    arguments.extend(["--secondaries", SECONDARIES]);
    arguments.extend(flags);
    let (code, stdout, stderr) = scratch.phalanx_says(&arguments);
    assert_eq!(code, 0, "{stderr}");
    serde_json::from_str(&stdout).expect("the summary is JSON")
}
