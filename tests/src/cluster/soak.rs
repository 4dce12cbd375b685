//! Many seeds, one after the other and several at a time.

use std::fmt;
use std::str::FromStr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use lockstep::PeerLossPolicy;
use protocol::exit::Outcome;

use super::scenario::Scenario;
use super::trace::Trace;
use super::trial::{self, Verdict};

/// Policies of the runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policies {
    /// The run stops when a peer is lost.
    Stop,
    /// It recovers.
    Recover,
    /// Seeds that are even stop, the others recover.
    Both,
}

impl Policies {
    /// Returns the policy of a seed.
    pub fn of(self, seed: u64) -> PeerLossPolicy {
        let stops = match self {
            Self::Stop => true,
            Self::Recover => false,
            Self::Both => seed.is_multiple_of(2),
        };
        if stops {
            PeerLossPolicy::Stop
        } else {
            PeerLossPolicy::Recover
        }
    }
}

impl FromStr for Policies {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "stop" => Ok(Self::Stop),
            "recover" => Ok(Self::Recover),
            "both" => Ok(Self::Both),
            _ => Err(format!("a policy is stop, recover or both, not {text:?}")),
        }
    }
}

impl fmt::Display for Policies {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Stop => "stop",
            Self::Recover => "recover",
            Self::Both => "both",
        })
    }
}

/// Seeds of the runs, and options.
#[derive(Clone, Debug)]
pub struct Soak {
    /// The first seed.
    pub first: u64,
    /// Number of seeds.
    pub seeds: u64,
    /// After how long no other is begun.
    pub duration: Option<Duration>,
    /// Their policies.
    pub policies: Policies,
    /// Number of runs at the same time.
    pub threads: usize,
    /// True if everything that happens is printed.
    pub is_traced: bool,
}

/// Results of many seeds.
#[derive(Debug, Default)]
pub struct Tally {
    /// Number of seeds that were run.
    pub runs: u64,
    /// Number of runs that completed.
    pub completed: u64,
    /// Number of runs that ended since a peer was lost.
    pub lost: u64,
    /// Number of iterations that were compared.
    pub iterations: u64,
    /// Number of times that a cell came to another host.
    pub migrations: u64,
    /// Number of times that a cell was restored since its host was lost.
    pub restored: u64,
    /// Number of times that a primary was killed and its run resumed.
    pub resumed: u64,
    /// Number of steps that were done ahead and counted.
    pub done_ahead: u64,
    /// Number of steps that were done ahead and rolled back.
    pub taken_back: u64,
    /// The seeds that failed, each with all that is to be said of it.
    pub failures: Vec<(u64, String)>,
    /// The longest that a seed took by the clock on the wall.
    pub longest: Duration,
}

impl Tally {
    fn add(&mut self, verdict: &Verdict) {
        self.completed += u64::from(verdict.outcome == Outcome::Completed);
        self.lost += u64::from(verdict.outcome == Outcome::PeerLost);
        self.iterations += verdict.iterations;
        self.migrations += verdict.migrations;
        self.restored += verdict.restored;
        self.resumed += u64::from(verdict.resumed);
        self.done_ahead += verdict.done_ahead;
        self.taken_back += verdict.taken_back;
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{} seeds: {} completed, {} ended by a loss, {} failed; {} iterations compared, {} \
             cells moved, {} restored, {} runs resumed, {} steps done ahead and {} taken back, \
             longest seed {:.2} s",
            self.runs,
            self.completed,
            self.lost,
            self.failures.len(),
            self.iterations,
            self.migrations,
            self.restored,
            self.resumed,
            self.done_ahead,
            self.taken_back,
            self.longest.as_secs_f64()
        )
    }
}

impl Soak {
    /// Runs the seeds, and prints those that fail.
    ///
    /// # Panics
    /// Only when a thread cannot be joined.
    pub fn run(&self) -> Tally {
        let next = AtomicU64::new(0);
        let begin = Instant::now();
        let tally = Mutex::new(Tally::default());
        thread::scope(|scope| {
            for _ in 0..self.threads {
                scope.spawn(|| {
                    loop {
                        let number = next.fetch_add(1, Ordering::Relaxed);
                        let is_late = self.duration.is_some_and(|most| begin.elapsed() > most);
                        if number >= self.seeds || is_late {
                            return;
                        }
                        self.run_seed(self.first + number, &tally);
                    }
                });
            }
        });
        tally.into_inner().expect("nobody panics with it")
    }

    fn run_seed(&self, seed: u64, tally: &Mutex<Tally>) {
        let policy = self.policies.of(seed);
        let scenario = Scenario::draw(seed, policy);
        let trace = if self.is_traced {
            eprint!("{scenario}");
            Trace::Printed
        } else {
            Trace::Off
        };
        let begin = Instant::now();
        let result = trial::run(&scenario, trace);
        let took = begin.elapsed();
        let mut tally = tally.lock().expect("nobody panics with it");
        tally.runs += 1;
        tally.longest = tally.longest.max(took);
        match result {
            Ok(verdict) => tally.add(&verdict),
            Err(message) => {
                let policy = match policy {
                    PeerLossPolicy::Stop => Policies::Stop,
                    PeerLossPolicy::Recover => Policies::Recover,
                };
                let text = format!(
                    "seed {seed} failed: {message}\n{scenario}  again: cargo run -p tests --bin \
                     cluster -- --policy {policy} --seed {seed} --trace\n"
                );
                eprint!("{text}");
                tally.failures.push((seed, text));
            }
        }
    }
}
