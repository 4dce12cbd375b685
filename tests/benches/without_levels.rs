//! Measures what levels cost a whole run: worlds with their levels and without them, in turns.
//!
//! Prints one JSON line with, for each world, the time that the iterations took \[ms\]. Run it
//! with `cargo bench -p tests --bench without_levels -- [--rounds N] [--iterations N]
//! [--secondaries N] [WORLD.sdf]...`, after `cargo build --release -p worker -p orchestrator`;
//! without a file it takes the project's worlds that have levels.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde_json::{Value, json};
use tests::processes::Scratch;
use tests::repository;

const USAGE: &str = "cargo bench -p tests --bench without_levels -- \
                     [--rounds N] [--iterations N] [--secondaries N] [WORLD.sdf]...";
const OWN_WORLDS: [&str; 3] = ["crossing.sdf", "four_levels.sdf", "ramp.sdf"];

/// Runs to make.
struct Arguments {
    rounds: u32,
    iterations: u32,
    secondaries: u32,
    worlds: Vec<PathBuf>,
}

impl Arguments {
    fn read(mut words: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut read = Self {
            rounds: 15,
            iterations: 5000,
            secondaries: 0,
            worlds: Vec::new(),
        };
        while let Some(word) = words.next() {
            let field = match word.as_str() {
                // Cargo says it to every bench.
                "--bench" => continue,
                "--rounds" => &mut read.rounds,
                "--iterations" => &mut read.iterations,
                "--secondaries" => &mut read.secondaries,
                flag if flag.starts_with("--") => return Err(format!("there is no {flag}")),
                file => {
                    read.worlds.push(PathBuf::from(file));
                    continue;
                }
            };
            let value = words.next().ok_or(format!("{word} needs a value"))?;
            let number = value.parse();
            *field = number.map_err(|_| format!("{word} {value:?} is no number"))?;
        }
        if read.rounds == 0 || read.iterations == 0 {
            return Err("nothing is measured in no rounds or iterations".to_owned());
        }
        if read.worlds.is_empty() {
            let folder = repository::root().join("worlds");
            read.worlds = OWN_WORLDS.map(|name| folder.join(name)).to_vec();
        }
        Ok(read)
    }
}

fn main() -> ExitCode {
    let measured = Arguments::read(std::env::args().skip(1)).and_then(|arguments| {
        let scratch = Scratch::new();
        let worlds = arguments.worlds.iter();
        let rows = worlds.map(|world| measure(&scratch, world, &arguments));
        rows.collect::<Result<Vec<Value>, String>>()
            .map(|rows| json!({ "bench": "without_levels", "worlds": rows }))
    });
    match measured {
        Ok(line) => {
            let _ = writeln!(std::io::stdout(), "{line}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}\nusage: {USAGE}");
            ExitCode::from(2)
        }
    }
}

/// Runs a world with and without its levels in turns.
fn measure(scratch: &Scratch, world: &Path, arguments: &Arguments) -> Result<Value, String> {
    let read = std::fs::read_to_string(world);
    let text = read.map_err(|error| format!("{}: {error}", world.display()))?;
    let without = without_levels(&text);
    if without == text {
        return Err(format!("{}: it has no levels", world.display()));
    }
    let stripped = scratch.path("without_levels.sdf");
    std::fs::write(&stripped, without).map_err(|error| error.to_string())?;
    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..arguments.rounds {
        for (times, file) in times.iter_mut().zip([world, &stripped]) {
            times.push(run(scratch, file, arguments)?);
        }
    }
    let [with, without] = times.map(|mut times| {
        times.sort_by(f64::total_cmp);
        [times[0], times[times.len() / 2]]
    });
    Ok(json!({
        "world": world.file_name().map(|name| name.to_string_lossy()),
        "iterations": arguments.iterations,
        "rounds": arguments.rounds,
        "secondaries": arguments.secondaries,
        "with_levels_ms": { "best": with[0], "median": with[1] },
        "without_levels_ms": { "best": without[0], "median": without[1] },
        "with_over_without": { "best": with[0] / without[0], "median": with[1] / without[1] },
    }))
}

/// Returns a world's text without its levels and performers.
fn without_levels(text: &str) -> String {
    let mut text = text.to_owned();
    for element in ["level", "performer"] {
        let (begin, end) = (format!("<{element} "), format!("</{element}>"));
        while let Some(first) = text.find(&begin) {
            let Some(length) = text[first..].find(&end) else {
                break;
            };
            text.replace_range(first..first + length + end.len(), "");
        }
    }
    text
}

/// Runs a world as fast as it can; returns how long its iterations took \[ms\].
fn run(scratch: &Scratch, world: &Path, arguments: &Arguments) -> Result<f64, String> {
    let numbers = [arguments.iterations, arguments.secondaries].map(|number| number.to_string());
    let world = world.to_string_lossy();
    let (code, summary, errors) = scratch.phalanx_says(&[
        "run",
        &world,
        "--headless",
        "--format=json",
        "--real-time-factor=0",
        "--iterations",
        &numbers[0],
        "--secondaries",
        &numbers[1],
    ]);
    let summary: Option<Value> = serde_json::from_str(&summary).ok();
    let steps_per_s = summary.and_then(|summary| summary["steps_per_s"].as_f64());
    match steps_per_s.filter(|_| code == 0) {
        Some(steps_per_s) => Ok(f64::from(arguments.iterations) / steps_per_s * 1e3),
        None => Err(format!("{world} ended with {code}:\n{errors}")),
    }
}
