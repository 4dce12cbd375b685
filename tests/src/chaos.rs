//! Real runs of real processes that are disturbed in ways drawn from a seed, and what came of them.
//!
//! [`scenario`] draws what is run and what goes wrong when; [`drill`] does it to a run that
//! `phalanx` starts, [`cable`] to one on two hosts; [`journal_damage`] is what becomes of files.
//! Each run ends with the digests of one that nothing disturbed, or says honestly why not.

mod cable;
mod drill;
mod journal_damage;
mod leftovers;
mod run_log;
mod scenario;
mod small_disk;
mod tokens;

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};

pub use scenario::Scenario;

/// Folder in which shared memory is seen.
const SHARED_MEMORY: &str = "/dev/shm";

/// Fault of a disturbed run: something that it must not do.
#[derive(Clone, Debug)]
pub enum Failure {
    /// Its digests are not those of the undisturbed run, or a command that was done has no effect.
    Difference(String),
    /// It stood still.
    Hang(String),
    /// It left something behind.
    Leftover(String),
    /// It ended, or answered, otherwise than it must.
    Wrong(String),
}

/// Kinds of durations that are measured, with the values.
#[derive(Clone, Debug, Default)]
pub struct Times {
    /// From the SIGKILL of a secondary until the primary says how it ended.
    pub kill_detected: Vec<Duration>,
    /// From that until its cells are hosted elsewhere.
    pub kill_replaced: Vec<Duration>,
    /// From the SIGSTOP of a secondary until it is lost.
    pub stop_detected: Vec<Duration>,
    /// From that until its cells are hosted elsewhere.
    pub stop_replaced: Vec<Duration>,
    /// From the SIGKILL of the primary until the run is over.
    pub primary_ended: Vec<Duration>,
    /// From the SIGSTOP of the primary until the run is over.
    pub hung_ended: Vec<Duration>,
    /// From `phalanx resume` until time goes on.
    pub resumed: Vec<Duration>,
}

/// Outcome of one run, or of several.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Number of runs it is about.
    pub runs: usize,
    /// Number of faults.
    pub faults: usize,
    /// Number of commands that were done, and were looked for in the end.
    pub commands: usize,
    /// Number of runs that were refused with a reason when they were taken up.
    pub refusals: usize,
    /// Number of iterations compared.
    pub iterations: usize,
    /// Number of runs that could not be made on this machine.
    pub skipped: usize,
    /// Failures, with the seed and the folder that was kept.
    pub failures: Vec<(u64, Failure, PathBuf)>,
    /// Kinds of durations that are measured, with the values.
    pub times: Times,
    /// Course of one run: what was done to it, and what came of it.
    pub history: Vec<String>,
}

impl Outcome {
    /// Adds what came of other runs.
    pub fn add(&mut self, other: Self) {
        self.runs += other.runs;
        self.faults += other.faults;
        self.commands += other.commands;
        self.refusals += other.refusals;
        self.iterations += other.iterations;
        self.skipped += other.skipped;
        self.failures.extend(other.failures);
        let (times, others) = (self.times.all_mut(), other.times);
        for (all, more) in times.into_iter().zip(others.all()) {
            all.extend(more.1);
        }
    }

    /// Looks whether there is more in shared memory than these.
    pub fn look_for_shared_memory(&mut self, before: &[String]) {
        let mut names = names_in_shared_memory();
        names.retain(|name| !before.contains(name));
        if !names.is_empty() {
            let failure = Failure::Leftover(format!("in {SHARED_MEMORY}: {names:?}"));
            self.failures.push((0, failure, SHARED_MEMORY.into()));
        }
    }

    /// Returns it as one object.
    pub fn json(&self) -> Value {
        let count = |is_it: fn(&Failure) -> bool| {
            let failures = self.failures.iter();
            failures.filter(|(_, failure, _)| is_it(failure)).count()
        };
        let times = self.times.clone().all().into_iter();
        let times = times.map(|(name, times)| (name.to_owned(), figures(times)));
        json!({
            "bench": "chaos",
            "runs": self.runs,
            "skipped": self.skipped,
            "faults": self.faults,
            "commands": self.commands,
            "iterations": self.iterations,
            "refusals": self.refusals,
            "differences": count(|failure| matches!(failure, Failure::Difference(_))),
            "hangs": count(|failure| matches!(failure, Failure::Hang(_))),
            "leftovers": count(|failure| matches!(failure, Failure::Leftover(_))),
            "wrong": count(|failure| matches!(failure, Failure::Wrong(_))),
            "times_ms": times.collect::<serde_json::Map<_, _>>(),
        })
    }
}

impl Times {
    fn all(self) -> [(&'static str, Vec<Duration>); 7] {
        [
            ("kill_detected", self.kill_detected),
            ("kill_replaced", self.kill_replaced),
            ("stop_detected", self.stop_detected),
            ("stop_replaced", self.stop_replaced),
            ("primary_ended", self.primary_ended),
            ("hung_ended", self.hung_ended),
            ("resumed", self.resumed),
        ]
    }

    fn all_mut(&mut self) -> [&mut Vec<Duration>; 7] {
        [
            &mut self.kill_detected,
            &mut self.kill_replaced,
            &mut self.stop_detected,
            &mut self.stop_replaced,
            &mut self.primary_ended,
            &mut self.hung_ended,
            &mut self.resumed,
        ]
    }
}

fn figures(mut times: Vec<Duration>) -> Value {
    times.sort_unstable();
    let milliseconds =
        |time: Option<&Duration>| time.map(|time| (time.as_secs_f64() * 1e4).round() / 10.0);
    json!({
        "count": times.len(),
        "p50": milliseconds(times.get(times.len() / 2)),
        "max": milliseconds(times.last()),
    })
}

/// Returns what is in the memory that processes share.
pub fn names_in_shared_memory() -> Vec<String> {
    leftovers::names(Path::new(SHARED_MEMORY))
}

/// Does what a seed says, and compares; a run that fails leaves its folder.
pub fn run(seed: u64) -> Outcome {
    let scenario = Scenario::of_seed(seed);
    if scenario.is_on_two_hosts {
        return cable::run(&scenario);
    }
    drill::run(&scenario)
}
