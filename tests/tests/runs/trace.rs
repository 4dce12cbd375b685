//! Shows that a trace has every iteration that was asked for in every process, on one clock, and
//! that tracing changes no digest. Real runs are traced, and the files read as a trace viewer does.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::Value;
use tests::processes::Scratch;

const ITERATIONS: u64 = 200;
/// The parts of the demo's world: three levels, and what is outside.
const WORLD: &str = "worlds/ramp.sdf";
/// Error that rounding leaves in numbers of a file \[us\].
const ROUNDING_US: f64 = 0.002;

/// Something that took time in a thread of a process.
#[derive(Clone, Debug)]
struct Slice {
    name: String,
    /// The numbers of its process and its thread.
    place: (u64, u64),
    begin: f64,
    end: f64,
    args: Value,
}

impl Slice {
    fn sequence(&self) -> u64 {
        self.args["sequence"]
            .as_u64()
            .expect("a slice has its step")
    }

    fn iteration(&self) -> u64 {
        let iteration = self.args["iteration"].as_u64();
        iteration.expect("a slice has its iteration")
    }
}

/// A trace as it was read.
struct Trace {
    slices: Vec<Slice>,
    /// Processes by their numbers.
    processes: BTreeMap<u64, String>,
    /// Number of times that the begins and the ends of arrows are there, by their ids.
    arrows: BTreeMap<String, [usize; 2]>,
}

impl Trace {
    fn read(path: &Path) -> Self {
        let text = std::fs::read_to_string(path).expect("the run wrote its trace");
        let events: Vec<Value> = serde_json::from_str(&text).expect("a trace is JSON");
        assert_eq!(text.lines().count(), events.len() + 2, "an event per line");
        let number = |event: &Value, key: &str| event[key].as_f64().expect("it has its numbers");
        let (mut slices, mut processes) = (Vec::new(), BTreeMap::new());
        let mut arrows: BTreeMap<String, [usize; 2]> = BTreeMap::new();
        for event in &events {
            let name = event["name"].as_str().expect("it has a name").to_owned();
            let place = (number(event, "pid") as u64, number(event, "tid") as u64);
            let id = || event["id"].as_str().expect("an arrow has an id").to_owned();
            match event["ph"].as_str().expect("an event is of some kind") {
                "X" => {
                    let begin = number(event, "ts");
                    slices.push(Slice {
                        name,
                        place,
                        begin,
                        end: begin + number(event, "dur"),
                        args: event["args"].clone(),
                    });
                }
                "s" => arrows.entry(id()).or_default()[0] += 1,
                "f" => arrows.entry(id()).or_default()[1] += 1,
                "M" if name == "process_name" => {
                    let name = event["args"]["name"].as_str().expect("it has a name");
                    processes.insert(place.0, name.to_owned());
                }
                "M" => {}
                other => panic!("an event of kind {other}"),
            }
        }
        Self {
            slices,
            processes,
            arrows,
        }
    }

    fn named<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Slice> {
        self.slices.iter().filter(move |slice| slice.name == name)
    }

    /// Holds that a process has a slice of this name for each of these iterations.
    #[track_caller]
    fn has_each(&self, name: &str, process: u64, iterations: impl Iterator<Item = u64>) {
        let of_process = self.named(name).filter(|slice| slice.place.0 == process);
        let found: BTreeSet<u64> = of_process.map(Slice::iteration).collect();
        let expected: BTreeSet<u64> = iterations.collect();
        assert_eq!(found, expected, "{name} of {}", self.processes[&process]);
    }

    /// Holds that slices of one thread lie within each other or apart.
    #[track_caller]
    fn is_nested(&self) {
        let mut threads: BTreeMap<(u64, u64), Vec<&Slice>> = BTreeMap::new();
        for slice in &self.slices {
            threads.entry(slice.place).or_default().push(slice);
        }
        for slices in threads.values_mut() {
            slices.sort_by(|a, b| a.begin.total_cmp(&b.begin).then(b.end.total_cmp(&a.end)));
            let mut open: Vec<&Slice> = Vec::new();
            for slice in slices {
                open.retain(|outer| outer.end > slice.begin + ROUNDING_US);
                let outer = open.last();
                let fits = outer.is_none_or(|outer| slice.end <= outer.end + ROUNDING_US);
                assert!(fits, "{slice:?} ends after {outer:?}");
                open.push(slice);
            }
        }
    }

    /// Holds that what secondaries did in a step lies within the primary's slice of it.
    #[track_caller]
    fn is_on_one_clock(&self) {
        let steps = self.named("step").map(|step| (step.sequence(), step));
        let steps: BTreeMap<u64, &Slice> = steps.collect();
        let mut count = 0;
        let mut errors = BTreeMap::new();
        for work in self.named("work") {
            let error = work.args["clock_error_us"].as_f64();
            errors.insert((work.place.0, work.sequence()), error.expect("it says so"));
        }
        for physics in self.named("physics") {
            let step = steps[&physics.sequence()];
            let error = errors[&(physics.place.0, physics.sequence())] + ROUNDING_US;
            let is_within = physics.begin + error >= step.begin && physics.end - error <= step.end;
            assert!(is_within, "{physics:?} is not within {step:?}");
            count += 1;
        }
        assert!(count > 0, "cells were stepped");
    }
}

/// Runs the demo's world by so many secondaries, with these flags; returns its digests.
fn run(scratch: &Scratch, secondaries: u32, flags: &[&str]) -> String {
    let digests = scratch.path(&format!("{secondaries}-{}.txt", flags.len()));
    let digests = digests.to_str().expect("a path is text").to_owned();
    let (count, secondaries) = (ITERATIONS.to_string(), secondaries.to_string());
    let mut arguments = vec!["run", WORLD, "--headless", "--iterations", &count];
    arguments.extend(["--real-time-factor", "0", "--secondaries", &secondaries]);
    arguments.extend(["--digests", &digests]);
    arguments.extend(flags);
    let (code, _, stderr) = scratch.phalanx_says(&arguments);
    assert_eq!(code, 0, "{stderr}");
    std::fs::read_to_string(&digests).expect("the run wrote its digests")
}

/// Runs the same with a trace, holds that digests are equal, and returns the trace.
fn traced(secondaries: u32, flags: &[&str]) -> Trace {
    let scratch = Scratch::new();
    let path = scratch.path("trace.json");
    let mut all = vec!["--trace", path.to_str().expect("a path is text")];
    all.extend(flags);
    let digests = run(&scratch, secondaries, &all);
    let trace = Trace::read(&path);
    assert_eq!(digests, run(&scratch, secondaries, &[]));
    assert_eq!(digests.lines().count() as u64, ITERATIONS);
    trace
}

#[test]
fn a_standalone_run_shows_its_cells_in_its_own_thread() {
    let trace = traced(0, &[]);
    let names: Vec<&String> = trace.processes.values().collect();
    assert_eq!(names.len(), 1, "{names:?}");
    assert!(names[0].starts_with("standalone (pid "), "{names:?}");
    trace.has_each("step", 1, 1..=ITERATIONS);
    trace.has_each("work", 1, 1..=ITERATIONS);
    trace.has_each("physics", 1, 1..=ITERATIONS);
    trace.is_nested();
    trace.is_on_one_clock();
}

#[test]
fn a_run_of_two_secondaries_shows_all_processes_on_one_clock() {
    let flags = [
        "--trace-from",
        "20",
        "--trace-iterations",
        "150",
        "--threads",
        "2",
    ];
    let trace = traced(2, &flags);
    let names: Vec<&String> = trace.processes.values().collect();
    assert_eq!(names.len(), 3, "{names:?}");
    for (process, name) in &trace.processes {
        let slice = if name.starts_with("primary ") {
            "step"
        } else {
            "work"
        };
        trace.has_each(slice, *process, 20..170);
    }
    trace.is_nested();
    trace.is_on_one_clock();
    for wait in trace.named("wait") {
        let waited_for = wait.args["for"].as_str();
        assert!(matches!(waited_for, Some("s1" | "s2")), "{wait:?}");
    }
    let pairs = trace.arrows.values();
    assert!(
        pairs.clone().all(|ends| *ends == [1, 1]),
        "{:?}",
        trace.arrows
    );
    assert!(pairs.count() >= 4 * 150, "each step goes to two, and back");
    let is_shared = |slice: &Slice| slice.args["clock"] == "shared";
    assert!(trace.named("work").all(is_shared), "one machine, one clock");
}

#[test]
fn a_trace_that_cannot_be_written_is_an_error_before_the_run() {
    let scratch = Scratch::new();
    for (path, said) in [
        (
            "/nowhere/trace.json",
            "cannot write /nowhere/trace.json (--trace)",
        ),
        ("/dev/full", "cannot write a trace to /dev/full"),
    ] {
        let (code, stdout, stderr) =
            scratch.phalanx_says(&["run", WORLD, "--headless", "--trace", path]);
        assert_eq!(code, 3, "{stderr}");
        assert!((stdout + &stderr).contains(said), "{path}: {stderr}");
    }
}
