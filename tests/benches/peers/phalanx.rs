//! The scene in Phalanx: real processes, as a user starts them, with nothing kept on disk.

use std::collections::BTreeMap;

use sdf::World;
use serde_json::{Value, json};
use tests::processes::Scratch;

use crate::measured::{Measured, moving};

/// Arguments besides the scene: as fast as possible, one thread in each process, and nothing kept
/// for the case of a loss, since no other engine does so either.
const FLAGS: [&str; 12] = [
    "--headless",
    "--format",
    "json",
    "--real-time-factor",
    "0",
    "--threads",
    "1",
    "--on-peer-loss",
    "stop",
    "--journal",
    "off",
    "--name",
];

/// Measures the steps of the scene in `scene.sdf`, with the commands in `drive.jsonl`.
///
/// # Errors
/// Fails if the run fails, or its summary has no figures.
pub(crate) fn run(
    scratch: &Scratch,
    world: &World,
    secondaries: u32,
    iterations: u64,
) -> Result<Measured, String> {
    let name = format!("peers{secondaries}");
    let commands = scratch.path("drive.jsonl");
    let mut command = scratch.phalanx();
    command
        .arg("run")
        .arg(scratch.path("scene.sdf"))
        .args(FLAGS)
        .arg(name);
    command.arg("--commands").arg(commands);
    command.args(["--secondaries", &secondaries.to_string()]);
    command.args(["--iterations", &iterations.to_string()]);
    let output = command.output().map_err(|error| error.to_string())?;
    if !output.status.success() {
        let stderr = String::from_utf8_lossy(&output.stderr);
        return Err(format!("phalanx ended with {}: {stderr}", output.status));
    }
    let summary: Value =
        serde_json::from_slice(&output.stdout).map_err(|error| error.to_string())?;
    read(world, &summary, iterations).ok_or_else(|| format!("a summary without figures: {summary}"))
}

fn read(world: &World, summary: &Value, iterations: u64) -> Option<Measured> {
    let position = |performer: &Value| -> Option<(String, [f64; 3])> {
        let name = performer["name"].as_str()?.to_owned();
        let numbers = performer["position"].as_array()?.iter().map(Value::as_f64);
        let numbers: Option<Vec<f64>> = numbers.collect();
        Some((name, numbers?.try_into().ok()?))
    };
    let performers = summary["performers"].as_array()?.iter();
    let by_name: Option<BTreeMap<String, [f64; 3]>> = performers.map(position).collect();
    let by_name = by_name?;
    let positions: Option<Vec<[f64; 3]>> = moving(world)
        .map(|model| by_name.get(&model.name).copied())
        .collect();
    Some(Measured {
        seconds: iterations as f64 / summary["steps_per_s"].as_f64()?,
        positions: positions?,
        details: json!({
            "step_us_p50": summary["step_us"]["p50"],
            "physics_us_p50": summary["physics_us"]["p50"],
            "hand_offs": summary["events"]["hand_offs"],
        }),
        digest: Some(summary["digest"].as_str()?.to_owned()),
    })
}
