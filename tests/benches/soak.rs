//! Runs a fleet whose robots drive from level to level, with 2 secondaries and as fast as possible,
//! for as long as asked, and watches the memory of every process and the time of its steps.
//!
//! Prints one JSON line: medians of the four quarters, and the last over the first. Exits with 1
//! when the memory of a process grew by more than 5 % and 10 MiB, or the run did not hold, and with
//! 2 for arguments that mean nothing. Run it with `cargo bench -p tests --bench soak -- --minutes
//! 60`, after `cargo build --release -p worker -p orchestrator`.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::io::{self, Write};
use std::ops::RangeInclusive;
use std::process::ExitCode;
use std::str::FromStr;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tests::peers::drive::commands;
use tests::peers::scene::read;
use tests::processes::{Process, Scratch, is_running, wait_for};
use tests::soak::{Quarters, page_size, resident_bytes, twist, walled_fleet};

const MINUTES: f64 = 60.0;
const ROBOTS: u32 = 100;
const LEVELS: [u32; 2] = [4, 4];
const SECONDARIES: &str = "2";
/// From one sample to the next.
const INTERVAL: Duration = Duration::from_secs(2);
/// The fewest samples that have quarters worth comparing.
const SAMPLES_MIN: usize = 8;
/// Time that the run may take to end when it is told to.
const END_PATIENCE: Duration = Duration::from_mins(2);
const USAGE: &str = "cargo bench -p tests --bench soak -- [--minutes M] [--robots N] [--pace F]";

fn main() -> ExitCode {
    let arguments = match Arguments::read(std::env::args().skip(1)) {
        Ok(arguments) => arguments,
        Err(error) => {
            eprintln!("error: {error}\nusage: {USAGE}");
            return ExitCode::from(2);
        }
    };
    let page_size = match page_size() {
        Ok(page_size) => page_size,
        Err(error) => {
            eprintln!("error: {error}");
            return ExitCode::FAILURE;
        }
    };
    let soak = Soak::start(&arguments, page_size);
    match soak.run(Duration::from_secs_f64(arguments.minutes * 60.0)) {
        Ok((line, grown)) => {
            let _ = writeln!(io::stdout(), "{line}");
            for name in &grown {
                eprintln!("error: the memory of {name} grew by more than 5 % and 10 MiB");
            }
            ExitCode::from(u8::from(!grown.is_empty()))
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Length, size and pace of the run.
struct Arguments {
    minutes: f64,
    robots: u32,
    /// Simulated time over that of the wall; 0 is as fast as possible.
    pace: f64,
}

impl Arguments {
    fn read(mut words: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut read = Self {
            minutes: MINUTES,
            robots: ROBOTS,
            pace: 0.0,
        };
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or(format!("{word} needs a value"));
            match word.as_str() {
                // Cargo says it to every bench.
                "--bench" => {}
                "--minutes" => read.minutes = within(&word, &value()?, 0.5..=1e5)?,
                "--robots" => read.robots = within(&word, &value()?, 1..=10_000)?,
                "--pace" => read.pace = within(&word, &value()?, 0.0..=1e3)?,
                _ => return Err(format!("{word:?} means nothing here")),
            }
        }
        Ok(read)
    }
}

fn within<T>(name: &str, text: &str, range: RangeInclusive<T>) -> Result<T, String>
where
    T: FromStr + PartialOrd + Display,
{
    let number = text.parse().ok().filter(|number| range.contains(number));
    let (least, most) = (range.start(), range.end());
    number.ok_or_else(|| format!("{name} {text:?} is not within {least} and {most}"))
}

/// Samples of one process.
#[derive(Default)]
struct Watched {
    pid: u32,
    memory: Vec<f64>,
    step_us: Vec<f64>,
}

struct Soak {
    scratch: Scratch,
    run: Process,
    page_size: u64,
    robots: u32,
    watched: BTreeMap<String, Watched>,
}

impl Soak {
    fn start(arguments: &Arguments, page_size: u64) -> Self {
        let (robots, pace) = (arguments.robots, arguments.pace.to_string());
        let scratch = Scratch::new();
        let text = walled_fleet(robots, LEVELS);
        let world = read("fleet.sdf", &text);
        std::fs::write(scratch.path("fleet.sdf"), text).expect("a file can be written");
        let script = scratch.path("drive.jsonl");
        std::fs::write(&script, commands(&world, twist)).expect("a file can be written");
        let mut command = scratch.phalanx();
        command.args(["run", "--name", "soak", "--headless", "--format", "json"]);
        command.args(["--real-time-factor", &pace, "--secondaries", SECONDARIES]);
        command.arg("--commands").arg(script);
        command.arg(scratch.path("fleet.sdf"));
        let run = scratch.start("run", &mut command);
        let soak = Self {
            scratch,
            run,
            page_size,
            robots,
            watched: BTreeMap::new(),
        };
        wait_for("the run goes on", || {
            let stats = soak.show("stats");
            stats.is_ok_and(|stats| stats["iteration"].as_u64() > Some(0))
        });
        soak
    }

    fn run(mut self, time: Duration) -> Result<(Value, Vec<String>), String> {
        let begin = Instant::now();
        let mut next = begin;
        while begin.elapsed() < time || self.samples() < SAMPLES_MIN {
            self.sample()?;
            next += INTERVAL;
            std::thread::sleep(next.saturating_duration_since(Instant::now()));
        }
        let measured = begin.elapsed();
        let end = ["ctl", "soak", "stop"];
        let (code, _, stderr) = self.scratch.phalanx_says(&end);
        if code != 0 {
            return Err(format!("the run does not stop: {stderr}"));
        }
        let code = self.run.wait_for_long(END_PATIENCE);
        if code != 0 {
            return Err(format!("the run ended with {code}: {}", self.run.stderr()));
        }
        let summary: Value =
            serde_json::from_str(&self.run.stdout()).map_err(|error| error.to_string())?;
        Ok(self.report(measured, &summary))
    }

    fn samples(&self) -> usize {
        self.watched
            .values()
            .map(|one| one.memory.len())
            .min()
            .unwrap_or(0)
    }

    fn sample(&mut self) -> Result<(), String> {
        let daemon = self.run.pid();
        if !is_running(daemon) {
            return Err(format!("the run ended early: {}", self.run.stderr()));
        }
        let stats = self.show("stats")?;
        let peers = self.show("peers")?;
        self.note("phalanx", daemon, None)?;
        for peer in peers.as_array().ok_or("peers are a list")? {
            let name = peer["name"].as_str().ok_or("a peer has a name")?;
            let pid = peer["pid"].as_u64().ok_or("a peer has a process")?;
            let step_us = if peer["role"] == "primary" {
                &stats["recent_step_us"]["p50"]
            } else {
                &peer["busy_us"]
            };
            self.note(name, pid as u32, step_us.as_f64())?;
        }
        Ok(())
    }

    fn note(&mut self, name: &str, pid: u32, step_us: Option<f64>) -> Result<(), String> {
        let bytes = resident_bytes(pid, self.page_size);
        let bytes = bytes.ok_or_else(|| format!("{name} (pid {pid}) is gone"))?;
        let watched = self.watched.entry(name.to_owned()).or_default();
        if watched.pid != 0 && watched.pid != pid {
            return Err(format!("{name} was lost and started again"));
        }
        watched.pid = pid;
        watched.memory.push(bytes);
        watched.step_us.extend(step_us);
        Ok(())
    }

    fn show(&self, panel: &str) -> Result<Value, String> {
        let arguments = ["show", "soak", panel, "--format", "json"];
        let (code, stdout, stderr) = self.scratch.phalanx_says(&arguments);
        if code != 0 {
            return Err(format!("phalanx show {panel} ended with {code}: {stderr}"));
        }
        serde_json::from_str(&stdout).map_err(|error| error.to_string())
    }

    /// Returns the result, and whose memory grew.
    fn report(&self, measured: Duration, summary: &Value) -> (Value, Vec<String>) {
        let mut grown = Vec::new();
        let mut processes = Vec::new();
        for (name, watched) in &self.watched {
            let memory = Quarters::of(&watched.memory);
            if memory.has_grown() {
                grown.push(name.clone());
            }
            let has_steps = !watched.step_us.is_empty();
            let steps = has_steps.then(|| Quarters::of(&watched.step_us).report());
            processes.push(json!({
                "name": name,
                "memory_bytes": memory.report(),
                "has_grown": memory.has_grown(),
                "step_us": steps,
            }));
        }
        let line = json!({
            "bench": "soak",
            "minutes": measured.as_secs_f64() / 60.0,
            "robots": self.robots,
            "secondaries": SECONDARIES,
            "samples": self.samples(),
            "iterations": summary["iterations"],
            "hand_offs": summary["events"]["hand_offs"],
            "processes": processes,
        });
        (line, grown)
    }
}
