//! Secondaries of a real run that are killed or stopped at random, one after the other, or its
//! primary: how soon that is seen, how soon the run goes on, and whether a bit of it has changed.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::cluster::random::Random;
use crate::processes::{Process, Scratch, binary, send_signal, wait_for};
use crate::worlds;

/// Number of secondaries that a run has.
const SECONDARIES: u64 = 3;
/// Time that the run without disturbance may take on a busy machine.
const REFERENCE_PATIENCE: Duration = Duration::from_mins(10);

/// Fault that strikes a secondary or the primary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blow {
    /// It is killed.
    Kill,
    /// It is stopped, and goes on once it is replaced.
    Stop,
    /// It is left alone: the primary is killed, and the run is taken up again.
    Primary,
}

/// Faults that strike a run, one after the other.
#[derive(Clone, Copy, Debug)]
pub struct Kills {
    /// Number of faults.
    pub times: u32,
    /// The fault.
    pub blow: Blow,
    /// Seed that victims and moments are drawn from.
    pub seed: u64,
    /// Number of robots that the fleet has.
    pub robots: u32,
    /// Silence after which a peer counts as lost.
    pub heartbeat_timeout: Duration,
}

/// Figures of a run that was struck.
#[derive(Clone, Debug, Default)]
pub struct Figures {
    /// From each blow until the primary says that its victim is lost, sorted.
    pub detected: Vec<Duration>,
    /// From each blow until all cells of the victim are hosted elsewhere and time goes on, sorted.
    pub resumed: Vec<Duration>,
    /// Number of iterations that were compared.
    pub iterations: usize,
    /// The first iteration that differs from that of a run that nothing disturbed, if one does.
    pub differs_at: Option<usize>,
    /// Number of messages on topics that were compared: none when the primary is killed, whose file
    /// of messages does not go on.
    pub messages: usize,
    /// The first of them that differs, if one does.
    pub message_differs_at: Option<usize>,
}

impl Figures {
    /// Returns them as one object.
    pub fn json(&self) -> Value {
        json!({
            "blows": self.detected.len(),
            "iterations": self.iterations,
            "digests_equal": self.differs_at.is_none(),
            "messages": self.messages,
            "messages_equal": self.message_differs_at.is_none(),
            "differs_at": self.differs_at,
            "detected_ms": { "p50": middle(&self.detected), "max": greatest(&self.detected) },
            "resumed_ms": { "p50": middle(&self.resumed), "max": greatest(&self.resumed) },
        })
    }
}

fn milliseconds(duration: Duration) -> f64 {
    (duration.as_secs_f64() * 1e4).round() / 10.0
}

fn middle(sorted: &[Duration]) -> Option<f64> {
    sorted.get(sorted.len() / 2).copied().map(milliseconds)
}

fn greatest(sorted: &[Duration]) -> Option<f64> {
    sorted.last().copied().map(milliseconds)
}

/// A run with its processes.
struct Going {
    scratch: Scratch,
    primary: Process,
    secondaries: Vec<Process>,
    /// Part of the primary's standard error that has been read \[bytes\].
    read: usize,
    started: u32,
}

impl Kills {
    /// Does it.
    ///
    /// # Panics
    /// Panics if the run ends otherwise than it must.
    pub fn run(&self) -> Figures {
        let mut going = self.start();
        let mut random = Random::mixed(self.seed);
        let mut figures = Figures::default();
        for _ in 0..self.times {
            let pause = Duration::from_millis(random.between(100, 1000));
            let until = Instant::now() + pause;
            wait_for("the moment has come", || Instant::now() >= until);
            let victim = random.below(SECONDARIES) as usize;
            let (detected, resumed) = match self.blow {
                Blow::Primary => self.strike_primary(&mut going),
                Blow::Kill | Blow::Stop => self.strike(&mut going, victim),
            };
            figures.detected.push(detected);
            figures.resumed.push(resumed);
        }
        figures.detected.sort_unstable();
        figures.resumed.sort_unstable();
        going.primary.signal("TERM");
        assert_eq!(going.primary.wait(), 130, "{}", going.primary.stderr());
        self.compare(&going.scratch, &mut figures);
        figures
    }

    fn start(&self) -> Going {
        let scratch = Scratch::new();
        let world = sdf::generate_fleet(self.robots, [3, 2]);
        std::fs::write(scratch.path("fleet.sdf"), world).expect("the world is written");
        let script = worlds::drive_in_bends(self.robots);
        std::fs::write(scratch.path("script.jsonl"), script).expect("so is the script");
        let mut command = self.worker(&scratch, "blows");
        command.args(["--real-time-factor", "1"]);
        command.arg("--journal").arg(scratch.path("journal"));
        self.make_primary(&scratch, &mut command);
        let primary = scratch.start("primary", &mut command);
        let mut going = Going {
            scratch,
            primary,
            secondaries: Vec::new(),
            read: 0,
            started: 0,
        };
        going.start_secondaries();
        going.wait_for("all secondaries are ready");
        going
    }

    fn make_primary(&self, scratch: &Scratch, command: &mut Command) {
        command
            .args(["--network-role=primary", "--bind", &scratch.endpoint()])
            .arg(format!("--network-secondaries={SECONDARIES}"))
            .args(["--on-peer-loss", "recover", "--checkpoint-every", "200"])
            .arg("--heartbeat-timeout-ms")
            .arg(self.heartbeat_timeout.as_millis().to_string());
    }

    /// Returns how long it took until all secondaries had seen it, and until the run went on.
    fn strike_primary(&self, going: &mut Going) -> (Duration, Duration) {
        let began = Instant::now();
        going.primary.signal("KILL");
        for mut secondary in std::mem::take(&mut going.secondaries) {
            assert_eq!(secondary.wait(), 4, "{}", secondary.stderr());
        }
        let detected = began.elapsed();
        let mut command = Command::new(binary("worker"));
        command.arg("--resume").arg(going.scratch.path("journal"));
        command
            .arg("--digests")
            .arg(going.scratch.path("blows.digests"));
        self.make_primary(&going.scratch, &mut command);
        going.started += 1;
        let name = format!("primary{}", going.started);
        going.primary = going.scratch.start(&name, &mut command);
        going.read = 0;
        going.start_secondaries();
        let resumed = going.wait_for("the run goes on after iteration");
        (detected, resumed - began)
    }

    fn worker(&self, scratch: &Scratch, name: &str) -> Command {
        let mut command = Command::new(binary("worker"));
        command
            .arg(scratch.path("fleet.sdf"))
            .arg("--commands")
            .arg(scratch.path("script.jsonl"))
            .args(["--seed", &(self.seed % 1000).to_string()])
            .arg("--digests")
            .arg(scratch.path(&format!("{name}.digests")));
        if self.blow != Blow::Primary {
            let messages = scratch.path(&format!("{name}.messages"));
            command.arg("--messages").arg(messages);
        }
        command
    }

    fn strike(&self, going: &mut Going, victim: usize) -> (Duration, Duration) {
        let name = format!("s{}", victim + 1);
        let pid = going.secondaries[victim].pid();
        let began = Instant::now();
        let signal = match self.blow {
            Blow::Kill => "KILL",
            Blow::Stop | Blow::Primary => "STOP",
        };
        send_signal(pid, signal);
        let detected = going.wait_for(&format!("{name} (pid {pid}"));
        let resumed = going.wait_for(&format!("{name} is replaced after"));
        if self.blow == Blow::Stop {
            // It hears that the run has gone on without it, and goes.
            going.secondaries[victim].signal("CONT");
            let code = going.secondaries[victim].wait();
            assert_eq!(code, 4, "{}", going.secondaries[victim].stderr());
        }
        let next = going.start_secondary(victim);
        going.secondaries[victim] = next;
        going.wait_for(&format!("{name} takes part"));
        (detected - began, resumed - began)
    }

    fn compare(&self, scratch: &Scratch, figures: &mut Figures) {
        let found = read(&scratch.path("blows.digests"));
        figures.iterations = found.lines().count();
        let mut command = self.worker(scratch, "peace");
        command
            .args(["--real-time-factor", "0"])
            .args(["--iterations", &figures.iterations.to_string()]);
        let mut peace = scratch.start("peace", &mut command);
        let code = peace.wait_for_long(REFERENCE_PATIENCE);
        assert_eq!(code, 0, "{}", peace.stderr());
        let expected = read(&scratch.path("peace.digests"));
        figures.differs_at = first_difference(&found, &expected);
        assert_eq!(
            expected.lines().count(),
            figures.iterations,
            "both runs are as long"
        );
        if self.blow != Blow::Primary {
            let found = read(&scratch.path("blows.messages"));
            let expected = read(&scratch.path("peace.messages"));
            figures.messages = found.lines().count();
            figures.message_differs_at = first_difference(&found, &expected);
        }
    }
}

impl Going {
    fn start_secondaries(&mut self) {
        for number in 0..SECONDARIES as usize {
            let secondary = self.start_secondary(number);
            self.secondaries.push(secondary);
        }
    }

    fn start_secondary(&mut self, number: usize) -> Process {
        self.started += 1;
        let mut command = Command::new(binary("worker"));
        command
            .args([
                "--network-role=secondary",
                "--connect",
                &self.scratch.endpoint(),
            ])
            .args(["--name", &format!("s{}", number + 1)]);
        let name = format!("secondary{}", self.started);
        self.scratch.start(&name, &mut command)
    }

    /// Waits until the primary says something, and returns when it did.
    fn wait_for(&mut self, text: &str) -> Instant {
        let (_, end, at) = self.primary.watch_stderr(self.read, text);
        self.read = end;
        at
    }
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).expect("it is text")
}

/// Returns the number of the first line that is not the same, or is only in one of two texts.
fn first_difference(found: &str, expected: &str) -> Option<usize> {
    let (mut found, mut expected) = (found.lines(), expected.lines());
    for number in 1.. {
        let pair = (found.next(), expected.next());
        if pair.0 != pair.1 {
            return Some(number);
        }
        if pair.0.is_none() {
            break;
        }
    }
    None
}
