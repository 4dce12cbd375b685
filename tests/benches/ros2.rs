//! Measures what it costs that a run has nodes of ROS 2: the steps of 100 robots with 50 Hz
//! odometry and 10 Hz scans, with nodes and without, and the time from a command of a node to the
//! odometry that shows it, beside the time that the other node's engine takes for an echo. That is
//! measured at the pace of time, 1 ms per iteration, of which a command waits half on average, and
//! as fast as possible.
//!
//! Prints one JSON line, with the CPU time of the run's processes and of the node beside the steps:
//! on few cores, the node takes its time from the run. All kinds of runs are measured in turns, so
//! that their ratios hold on a machine that is shared. Sensors measure in all of them: with nodes
//! they do so whether or not anybody listens, so that the runs without have a file of messages that
//! is thrown away. A fourth kind has nothing at all. The node is on Fast DDS. Run it with `cargo
//! bench -p tests --bench ros2`, after `cargo build --release --features
//! worker/ros2,orchestrator/ros2 -p worker -p orchestrator`.

use std::io::{self, Write};
use std::process::Command;

use serde_json::{Value, json};
use tests::fast_dds::{self, FastPeer};
use tests::processes::{Scratch, wait_for};
use tests::repository;

const TURNS: usize = 3;
const ITERATIONS: &str = "3000";
const SECONDARIES: &str = "2";
const ROBOTS: usize = 100;
const ODOMETRY: &str = "nav_msgs/msg/Odometry";
const ODOMETRY_FORMAT: &str = "i1u1s2d7d36d6d36";
/// Place of the speed ahead among the values of odometry.
const SPEED: usize = 47;
const TWIST: &str = "geometry_msgs/msg/Twist";
const ROUND_TRIPS: usize = 300;
/// More iterations than are done, however fast, until commands are measured.
const ENDLESS: &str = "1000000000";
/// Units of times in /proc, the same on all systems of this kind.
const TICKS_PER_S: f64 = 100.0;
/// Part of the steps that nodes may cost.
const COST_MAX: f64 = 0.15;

/// Kinds of runs, with the flags for each; the first two are what nodes are compared with.
const KINDS: [(&str, &[&str]); 4] = [
    ("nothing", &[]),
    ("measured", &["--messages", "/dev/null"]),
    ("nodes", &["--ros2"]),
    ("heard", &["--ros2"]),
];

/// Results of all runs of a kind.
#[derive(Default)]
struct Measured {
    step_rates: Vec<f64>,
    /// CPU time of all processes of the run \[s\].
    run_cpu_s: Vec<f64>,
    /// CPU time of the node that listens \[s\].
    reader_cpu_s: Vec<f64>,
}

struct Bench {
    scratch: Scratch,
    program: Option<std::path::PathBuf>,
    domain: String,
}

fn main() {
    let scratch = Scratch::new();
    let robots = ROBOTS.to_string();
    let arguments = ["generate", "fleet", "--robots", &robots, "--levels", "4x4"];
    let (code, world, stderr) = scratch.phalanx_says(&arguments);
    assert_eq!(code, 0, "{stderr}");
    std::fs::write(scratch.path("fleet.sdf"), with_rates(&world)).expect("a file can be written");
    let program = fast_dds::build();
    if let Err(error) = &program {
        eprintln!("nobody listens without Fast DDS: {error}");
    }
    let bench = Bench {
        scratch,
        program: program.ok(),
        domain: (101 + std::process::id() % 100).to_string(),
    };
    let (measured, heard) = bench.steps();
    let of_all =
        |value: fn(&Measured) -> &Vec<f64>| measured.each_ref().map(|one| median(value(one)));
    let steps = of_all(|one| &one.step_rates);
    let cpu = of_all(|one| &one.run_cpu_s);
    let ratio = |one: usize, other: usize| steps[one] / steps[other];
    let named = |values: &[f64]| {
        let values = KINDS.iter().zip(values);
        values
            .map(|((name, _), value)| json!({ *name: value }))
            .collect::<Vec<_>>()
    };
    let line = json!({
        "bench": "ros2",
        "robots": ROBOTS,
        "secondaries": SECONDARIES,
        "steps_per_s": named(&steps),
        "run_cpu_s": named(&cpu),
        "reader_cpu_s": median(&measured[3].reader_cpu_s),
        "nodes_over_measured_cpu": cpu[2] / cpu[1],
        "heard_over_measured_cpu": cpu[3] / cpu[1],
        "nodes_over_measured": ratio(2, 1),
        "heard_over_measured": ratio(3, 1),
        "nodes_over_nothing": ratio(2, 0),
        "bound": 1.0 - COST_MAX,
        "odometry_heard": heard,
        "round_trip_us": bench.round_trip("1"),
        "round_trip_at_full_speed_us": bench.round_trip("0"),
        "echo_us": bench.echo(),
    });
    let _ = writeln!(io::stdout(), "{line}");
}

impl Bench {
    /// Returns what was measured of all kinds, and how many messages of odometry were heard in a
    /// run on average.
    fn steps(&self) -> ([Measured; KINDS.len()], usize) {
        let mut measured = KINDS.map(|_| Measured::default());
        let mut heard = 0;
        let mut digests = Vec::new();
        for _ in 0..TURNS {
            for (number, (name, flags)) in KINDS.iter().enumerate() {
                let mut peer = match (&self.program, *name) {
                    (None, "heard") => continue,
                    (Some(program), "heard") => Some(self.peer(program, &topics())),
                    _ => None,
                };
                let reader = || peer.as_ref().map_or(0.0, |peer| cpu_of(peer.id()));
                let before = (cpu_of_ended(), reader());
                let summary = self.run(flags);
                let measured = &mut measured[number];
                measured.run_cpu_s.push(cpu_of_ended() - before.0);
                measured.reader_cpu_s.push(reader() - before.1);
                let rate = summary["steps_per_s"].as_f64().expect("a summary has it");
                measured.step_rates.push(rate);
                digests.push(summary["digest"].clone());
                if let Some(peer) = &mut peer {
                    while peer.next(std::time::Duration::from_millis(200)).is_some() {
                        heard += 1;
                    }
                }
            }
        }
        assert!(
            digests.iter().all(|digest| *digest == digests[0]),
            "nodes change no bit: {digests:?}"
        );
        (measured, heard / TURNS)
    }

    fn run(&self, flags: &[&str]) -> Value {
        let mut arguments = self.arguments(ITERATIONS);
        arguments.extend(["--format".to_owned(), "json".to_owned()]);
        arguments.extend(["--real-time-factor".to_owned(), "0".to_owned()]);
        arguments.extend(flags.iter().map(|flag| (*flag).to_owned()));
        let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let (code, stdout, stderr) = self.scratch.phalanx_says(&words);
        assert_eq!(code, 0, "{stderr}");
        serde_json::from_str(&stdout).expect("the summary is JSON")
    }

    fn arguments(&self, iterations: &str) -> Vec<String> {
        let world = self.scratch.path("fleet.sdf");
        let world = world.to_str().expect("a path of a test is text");
        let words = ["run", world, "--headless", "--iterations", iterations];
        let nodes = ["--ros-domain", &self.domain, "--ros-localhost-only", "on"];
        let words = words.into_iter().chain(nodes);
        let words = words.chain(["--secondaries", SECONDARIES, "--journal", "off"]);
        words.map(str::to_owned).collect()
    }

    fn peer(&self, program: &std::path::Path, topics: &[String]) -> FastPeer {
        let mut arguments = vec![self.domain.as_str(), "--localhost-only"];
        arguments.extend(topics.iter().map(String::as_str));
        FastPeer::start(&mut Command::new(program), &arguments)
    }

    /// Measures commands to a robot of a run at a pace, whose odometry comes with each iteration.
    fn round_trip(&self, real_time_factor: &str) -> Value {
        let Some(program) = &self.program else {
            return Value::Null;
        };
        // Two robots without limits of acceleration, so that odometry shows a command at once.
        let world = repository::root().join("tests/tests/ros2_run/two_levels.sdf");
        let world = std::fs::read_to_string(world).expect("it is there");
        let (from, to) = ("frequency>100<", "frequency>1000<");
        assert!(world.contains(from), "robots tell their odometry");
        let world = world.replace(from, to);
        std::fs::write(self.scratch.path("fleet.sdf"), world).expect("a file can be written");
        let mut command = self.scratch.phalanx();
        command.args(self.arguments(ENDLESS)).arg("--ros2");
        command.args(["--real-time-factor", real_time_factor]);
        let mut run = self.scratch.start("run", &mut command);
        wait_for("a run", || {
            let (code, said, _) = self.scratch.phalanx_says(&["show", "stats"]);
            code == 0 && said.contains("running")
        });
        let mut peer = self.peer(program, &[]);
        let robot = "/model/r0";
        peer.tell(&format!(
            "round_trip {robot}/cmd_vel {TWIST} 2 {robot}/odometry {ODOMETRY} {ODOMETRY_FORMAT} \
             {SPEED} {ROUND_TRIPS}"
        ));
        let times = percentiles(&mut peer);
        run.signal("INT");
        run.wait();
        times
    }

    /// Measures an echo by two nodes on Fast DDS.
    fn echo(&self) -> Value {
        let Some(program) = &self.program else {
            return Value::Null;
        };
        let mut echo = self.peer(program, &[]);
        echo.tell(&format!("echo /ping {TWIST} /pong"));
        let mut peer = self.peer(program, &[]);
        peer.tell(&format!(
            "round_trip /ping {TWIST} 1 /pong {TWIST} d6 0 {ROUND_TRIPS}"
        ));
        percentiles(&mut peer)
    }
}

/// Has each robot publish its odometry 50 times per second; scans come 10 times already.
fn with_rates(world: &str) -> String {
    let text = world.replace("<odom_publish_frequency>10<", "<odom_publish_frequency>50<");
    assert!(text.contains("frequency>50<"), "robots drive");
    assert!(text.contains("<update_rate>10</update_rate>"), "robots see");
    text
}

fn topics() -> Vec<String> {
    (1..=ROBOTS)
        .map(|robot| format!("/model/robot_{robot:04}/odometry={ODOMETRY}={ODOMETRY_FORMAT}"))
        .collect()
}

fn percentiles(peer: &mut FastPeer) -> Value {
    let line = peer.hear("times", |line| line.get("round_trip_us").is_some());
    let times = line["round_trip_us"].as_array();
    let mut times: Vec<f64> = times
        .into_iter()
        .flatten()
        .filter_map(Value::as_f64)
        // Before the first one, caches are cold and robots fall to the ground.
        .skip(ROUND_TRIPS / 10)
        .collect();
    if times.is_empty() {
        return json!({ "failed": line["round_trip_us"] });
    }
    times.sort_by(f64::total_cmp);
    let at = |part: f64| times[(part * (times.len() - 1) as f64) as usize];
    json!({ "p50": at(0.5), "p99": at(0.99) })
}

/// Returns the CPU time of a process \[s\].
fn cpu_of(pid: u32) -> f64 {
    cpu(&pid.to_string(), 11)
}

/// Returns the CPU time of all processes that have ended, with those that they had started \[s\].
fn cpu_of_ended() -> f64 {
    cpu("self", 13)
}

/// Returns the sum of two times in the file about a process, from a place after its name on \[s\].
fn cpu(process: &str, place: usize) -> f64 {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).expect("it lives");
    // The name of the program may have spaces and brackets.
    let (_, numbers) = stat.rsplit_once(')').expect("there is a name");
    let times = numbers.split_whitespace().skip(place).take(2);
    let ticks: f64 = times.filter_map(|ticks| ticks.parse::<f64>().ok()).sum();
    ticks / TICKS_PER_S
}

fn median(values: &[f64]) -> f64 {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
