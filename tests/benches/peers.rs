//! Measures steps per second of the same scenes in `MuJoCo`, in rapier alone, in Phalanx in one
//! process, and in Phalanx with 2 secondaries: 1,000 boxes that pile up, 1,000 spheres that roll,
//! 300 robots that drive; steps of 1 ms.
//!
//! Prints one JSON line. All engines take turns, so that their ratios hold on a machine that is
//! shared. Exits with 1 when bodies end elsewhere in one engine than in another, or digests of
//! Phalanx differ, and with 2 for arguments that mean nothing. Run it with `cargo bench -p tests
//! --bench peers`, after `cargo build --release -p worker -p orchestrator`; what is compared and
//! what is not is in `docs/performance.md`.

// The root of a bench looks for modules beside itself, where Cargo would take them for benches.
#[path = "peers/bare.rs"]
mod bare;
#[path = "peers/measured.rs"]
mod measured;
#[path = "peers/mujoco.rs"]
mod mujoco;
#[path = "peers/phalanx.rs"]
mod phalanx;

use std::io::{self, Write};
use std::process::ExitCode;

use sdf::World;
use serde_json::{Value, json};
use tests::peers::drive::{self, Motor, Twist};
use tests::peers::heights::{deciles, disagreement};
use tests::peers::scene::{Scene, read, scenes};
use tests::processes::Scratch;

use self::measured::{Measured, STEP_SIZE_S, moving};
use self::mujoco::Mujoco;

const TURNS: u64 = 3;
const SECONDARIES: u32 = 2;
const USAGE: &str = "cargo bench -p tests --bench peers -- [--scene piles|spheres|robots] \
                     [--turns N] [--iterations N]";

fn main() -> ExitCode {
    let arguments = match Arguments::read(std::env::args().skip(1)) {
        Ok(arguments) => arguments,
        Err(error) => {
            eprintln!("error: {error}\nusage: {USAGE}");
            return ExitCode::from(2);
        }
    };
    match measure(&arguments) {
        Ok((line, disagreements)) => {
            let _ = writeln!(io::stdout(), "{line}");
            for disagreement in &disagreements {
                eprintln!("error: {disagreement}");
            }
            ExitCode::from(u8::from(!disagreements.is_empty()))
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Scene, turns and iterations to measure.
struct Arguments {
    scene: Option<String>,
    turns: u64,
    iterations: Option<u64>,
}

impl Arguments {
    fn read(mut words: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut read = Self {
            scene: None,
            turns: TURNS,
            iterations: None,
        };
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or(format!("{word} needs a value"));
            match word.as_str() {
                // Cargo says it to every bench.
                "--bench" => {}
                "--scene" => read.scene = Some(value()?),
                "--turns" => read.turns = number(&word, &value()?)?,
                "--iterations" => read.iterations = Some(number(&word, &value()?)?),
                _ => return Err(format!("{word:?} means nothing here")),
            }
        }
        let names = scenes().map(|scene| scene.name);
        match &read.scene {
            Some(name) if !names.contains(&name.as_str()) => {
                Err(format!("there is no scene {name:?}, but {names:?}"))
            }
            _ => Ok(read),
        }
    }
}

fn number(name: &str, text: &str) -> Result<u64, String> {
    let number = text.parse().ok().filter(|number| *number > 0);
    number.ok_or_else(|| format!("{name} {text:?} is no number of at least 1"))
}

/// Returns the result, and where engines disagree about what happens.
fn measure(arguments: &Arguments) -> Result<(Value, Vec<String>), String> {
    let scratch = Scratch::new();
    let mujoco = match Mujoco::install(&scratch) {
        Ok(mujoco) => Some(mujoco),
        Err(error) => {
            eprintln!("MuJoCo is left out: {error}");
            None
        }
    };
    let is_asked = |scene: &Scene| {
        let asked = arguments.scene.as_deref();
        asked.is_none_or(|name| name == scene.name)
    };
    let (mut results, mut disagreements) = (Vec::new(), Vec::new());
    for scene in scenes().into_iter().filter(is_asked) {
        let iterations = arguments.iterations.unwrap_or(scene.iterations);
        let setting = Setting::new(&scratch, &scene, iterations)?;
        let engines = setting.run_all(mujoco.as_ref(), arguments.turns)?;
        results.push(setting.report(&engines));
        disagreements.extend(setting.disagreements(&engines));
    }
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let line = json!({
        "bench": "peers",
        "cores": cores,
        "step_size_s": STEP_SIZE_S,
        "turns": arguments.turns,
        "scenes": results,
    });
    Ok((line, disagreements))
}

/// The name of an engine, and what it made of a scene in each turn.
type Engine = (&'static str, Vec<Measured>);

/// A scene, ready for all engines.
struct Setting<'a> {
    scratch: &'a Scratch,
    scene: &'a Scene,
    world: World,
    motors: Vec<Motor>,
    iterations: u64,
}

impl<'a> Setting<'a> {
    fn new(scratch: &'a Scratch, scene: &'a Scene, iterations: u64) -> Result<Self, String> {
        let world = read(scene.name, &scene.sdf);
        let still = Twist {
            ahead: 0.0,
            turning: 0.0,
        };
        let twist = |_| scene.twist.unwrap_or(still);
        let motors = drive::motors(&world, twist).map_err(|error| error.to_string())?;
        let write = |name: &str, text: &str| {
            std::fs::write(scratch.path(name), text).map_err(|error| error.to_string())
        };
        write("scene.sdf", &scene.sdf)?;
        write("drive.jsonl", &drive::commands(&world, twist))?;
        Ok(Self {
            scratch,
            scene,
            world,
            motors,
            iterations,
        })
    }

    /// Runs all engines in turns; rapier alone is the first of them.
    fn run_all(&self, mujoco: Option<&Mujoco>, turns: u64) -> Result<Vec<Engine>, String> {
        let names = ["rapier", "phalanx standalone", "phalanx 2 secondaries"];
        let mut engines = Vec::from(names.map(|name| (name, Vec::new())));
        if mujoco.is_some() {
            engines.push(("mujoco", Vec::new()));
        }
        for _ in 0..turns {
            for (engine, (_, runs)) in engines.iter_mut().enumerate() {
                runs.push(self.run(engine, mujoco)?);
            }
        }
        Ok(engines)
    }

    fn report(&self, engines: &[Engine]) -> Value {
        let least: Vec<f64> = engines
            .iter()
            .map(|(_, runs)| least_seconds(runs))
            .collect();
        let report = engines.iter().zip(&least).map(|((name, runs), seconds)| {
            let threads = if *name == "phalanx 2 secondaries" {
                "1 in each secondary"
            } else {
                "1"
            };
            let steps = self.iterations as f64;
            json!({
                "engine": name,
                "threads": threads,
                "steps_per_s": steps / seconds,
                "steps_per_s_median": steps / median_seconds(runs),
                "time_over_rapier": seconds / least[0],
                "heights_m": deciles(&runs[0].heights()),
                "way_m_median": runs[0].way(&self.world),
                "details": runs[0].details,
            })
        });
        let report: Vec<Value> = report.collect();
        let moving = moving(&self.world);
        json!({
            "scene": self.scene.name,
            "models": moving.clone().count(),
            "bodies": moving.map(|model| model.links.len()).sum::<usize>(),
            "iterations": self.iterations,
            "height_tolerance_m": self.scene.tolerance,
            "way_tolerance": self.scene.way_tolerance,
            "engines": report,
        })
    }

    fn run(&self, engine: usize, mujoco: Option<&Mujoco>) -> Result<Measured, String> {
        let Self {
            scratch,
            world,
            motors,
            iterations,
            ..
        } = self;
        match (engine, mujoco) {
            (0, _) => bare::run(world, motors, *iterations).map_err(|error| error.to_string()),
            (1, _) => phalanx::run(scratch, world, 0, *iterations),
            (3, Some(mujoco)) => mujoco.run(scratch, world, motors, *iterations),
            _ => phalanx::run(scratch, world, SECONDARIES, *iterations),
        }
    }

    /// Returns in which engines something else happened than in the first.
    fn disagreements(&self, engines: &[Engine]) -> Vec<String> {
        let (reference, first) = (engines[0].0, &engines[0].1[0]);
        let mut disagreements = Vec::new();
        let mut digest = None;
        for (name, runs) in engines {
            for run in runs {
                if let Err(difference) = self.compare_ends(run, first) {
                    let scene = self.scene.name;
                    disagreements.push(format!("{scene}: {name} and {reference}: {difference}"));
                }
                if let Some(own) = &run.digest
                    && *digest.get_or_insert(own) != own
                {
                    disagreements.push(format!("{}: digests of {name} differ", self.scene.name));
                }
            }
        }
        disagreements
    }

    /// Compares where models are in the end.
    fn compare_ends(&self, run: &Measured, first: &Measured) -> Result<(), String> {
        let [heights, first_heights] = [run, first].map(Measured::heights);
        if heights.len() != first_heights.len() {
            let counts = [heights.len(), first_heights.len()];
            return Err(format!("{counts:?} models"));
        }
        let difference = disagreement(&heights, &first_heights);
        let tolerance = self.scene.tolerance;
        if difference > tolerance {
            let deciles = [deciles(&heights), deciles(&first_heights)];
            return Err(format!(
                "heights differ by {difference:.3} m, more than {tolerance} m: {deciles:.3?}"
            ));
        }
        let ways = [run, first].map(|run| run.way(&self.world));
        let Some(part) = self.scene.way_tolerance else {
            return Ok(());
        };
        if (ways[0] - ways[1]).abs() > part * ways[1] {
            return Err(format!("models go {ways:.4?} m, more than {part} apart"));
        }
        Ok(())
    }
}

fn least_seconds(runs: &[Measured]) -> f64 {
    let seconds = runs.iter().map(|run| run.seconds);
    seconds.fold(f64::INFINITY, f64::min)
}

fn median_seconds(runs: &[Measured]) -> f64 {
    let mut seconds: Vec<f64> = runs.iter().map(|run| run.seconds).collect();
    seconds.sort_by(f64::total_cmp);
    seconds[seconds.len() / 2]
}
