//! [`Campaign`]: attacks on one run, one after the other, each measured.

use std::time::{Duration, Instant};

use protocol::report::{RefusedCounts, Stats};
use serde_json::{Value, json};

use super::attacker::Attacker;
use super::deed;
use super::table::Attack;
use super::victim::{Honest, Victim, Way, stats_of};
use super::witness::Witness;
use crate::processes::let_pass;

/// Longest time until the last refusals are in the figures, where there is no other sign.
const FIGURES: Duration = Duration::from_mins(1);

/// Cost of an attack.
#[derive(Clone, Debug)]
pub struct Damage {
    /// Name of the attack.
    pub attack: String,
    /// The family that it belongs to.
    pub family: &'static str,
    /// The way by which it came.
    pub way: Way,
    /// Number of signs that the attacker arrived, and of what the primary turned away.
    pub seen: u64,
    /// Number of refusals that the primary counted.
    pub refused: u64,
    /// Growth of the primary's memory \[MiB\].
    pub memory_mib: f64,
    /// Growth of its log \[MiB\].
    pub log_mib: f64,
    /// Simulated time over what it should have been, or over that of a twin of the run that nobody
    /// attacks meanwhile: what else the machine has to do slows both.
    pub pace: f64,
    /// The slowest answer to another client \[ms\].
    pub slowest_ping_ms: f64,
}

/// Bounds on the cost of an attack.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Memory \[MiB\].
    pub memory_mib: f64,
    /// Log \[MiB\].
    pub log_mib: f64,
    /// The least pace, where it is judged.
    pub pace: Option<f64>,
    /// The slowest answer \[ms\], where it is judged.
    pub ping_ms: Option<f64>,
}

impl Bounds {
    /// Bounds that hold on any machine.
    pub const ANYWHERE: Self = Self {
        memory_mib: 64.0,
        log_mib: 1.0,
        pace: None,
        ping_ms: None,
    };

    /// Bounds on a machine that has nothing else to do.
    pub const AT_REST: Self = Self {
        pace: Some(0.9),
        ping_ms: Some(100.0),
        ..Self::ANYWHERE
    };

    /// Says what an attack has cost more than it may.
    pub fn exceeded(&self, damage: &Damage) -> Vec<String> {
        let mut found = Vec::new();
        let arrived = damage.seen + damage.refused > 0;
        let checks = [
            (!arrived, "it never arrived".to_owned()),
            (
                damage.memory_mib >= self.memory_mib,
                format!("memory grew by {:.1} MiB", damage.memory_mib),
            ),
            (
                damage.log_mib >= self.log_mib,
                format!("the log grew by {:.2} MiB", damage.log_mib),
            ),
            (
                self.pace.is_some_and(|least| damage.pace <= least),
                format!("the pace was {:.2}", damage.pace),
            ),
            (
                self.ping_ms
                    .is_some_and(|most| damage.slowest_ping_ms >= most),
                format!("another waited {:.0} ms", damage.slowest_ping_ms),
            ),
        ];
        found.extend(
            checks
                .into_iter()
                .filter(|(is, _)| *is)
                .map(|(_, text)| text),
        );
        found
    }
}

impl Damage {
    /// Returns it as JSON.
    pub fn report(&self) -> Value {
        json!({
            "attack": self.attack,
            "family": self.family,
            "way": format!("{:?}", self.way),
            "seen": self.seen,
            "refused": self.refused,
            "memory_mib": self.memory_mib,
            "log_mib": self.log_mib,
            "pace": self.pace,
            "slowest_ping_ms": self.slowest_ping_ms,
        })
    }
}

/// A run beside the one that is attacked, by which the machine is judged.
struct Twin {
    _victim: Victim,
    client: Honest,
}

/// Attacks on one run.
pub struct Campaign {
    way: Way,
    victim: Victim,
    client: Honest,
    witness: Witness,
    twin: Option<Twin>,
    real_time_factor: f64,
    /// Memory and log at the beginning \[MiB\].
    before: (f64, f64),
}

impl Campaign {
    /// Starts a run that is reached in some way.
    ///
    /// # Panics
    /// Panics if it cannot be started.
    pub fn start(way: Way, real_time_factor: f64) -> Self {
        let victim = Victim::start(way, real_time_factor);
        let mut client = victim.client();
        let witness = victim.witness();
        while client.stats().is_none_or(|stats| stats.iteration == 0) {
            let_pass(Duration::from_millis(20));
        }
        // The first figures and pings have buffers to fill.
        let_pass(Duration::from_millis(300));
        witness.take_slowest_ms();
        let before = (victim.memory_mib(), victim.log_mib());
        Self {
            way,
            victim,
            client,
            witness,
            twin: None,
            real_time_factor,
            before,
        }
    }

    /// Starts a twin of the run, and measures the pace by it from now on.
    ///
    /// # Panics
    /// When it cannot be started.
    pub fn start_twin(&mut self) {
        let victim = Victim::start(self.way, self.real_time_factor);
        let mut client = victim.client();
        while client.stats().is_none_or(|stats| stats.iteration == 0) {
            let_pass(Duration::from_millis(20));
        }
        self.twin = Some(Twin {
            _victim: victim,
            client,
        });
    }

    /// Carries out one attack for so long and measures what it costs.
    ///
    /// # Errors
    /// Fails if the run is over, or answers nobody any more, with the last words of its log.
    pub fn attack(&mut self, attack: &Attack, lasts: Duration) -> Result<Damage, String> {
        let gone = |victim: &Victim| format!("the run is gone: {}", victim.last_words());
        let (memory, log) = (self.victim.memory_mib(), self.victim.log_mib());
        self.witness.take_slowest_ms();
        let [Some(before), of_twin] = self.look() else {
            return Err(gone(&self.victim));
        };
        let begin = Instant::now();
        let known = (self.client.session, before.iteration);
        let mut attacker = Attacker::new(&self.victim.reaches, attack.role, known, lasts);
        deed::commit(&mut attacker, &attack.deed);
        let seen = attacker.seen();
        let most = self.victim.memory_mib();
        drop(attacker);
        let [Some(mut after), twin_after] = self.look() else {
            return Err(gone(&self.victim));
        };
        let took = begin.elapsed().as_secs_f64() * self.real_time_factor;
        let passed = after.sim_time_s - before.sim_time_s;
        let should = match (&of_twin, &twin_after) {
            (Some(before), Some(after)) => after.sim_time_s - before.sim_time_s,
            _ => took,
        };
        let refused = |now: &RefusedCounts| now.total() - before.refused.total();
        let end = Instant::now() + FIGURES;
        while seen == 0 && refused(&after.refused) == 0 && Instant::now() < end {
            let_pass(Duration::from_millis(100));
            after = self.client.stats().ok_or_else(|| gone(&self.victim))?;
        }
        if after.paused {
            return Err(format!("time is paused: {}", self.victim.last_words()));
        }
        if let Some(code) = self.victim.primary.ended() {
            return Err(format!(
                "the run ended with {code}: {}",
                self.victim.last_words()
            ));
        }
        Ok(Damage {
            attack: attack.name.clone(),
            family: attack.family,
            way: self.way,
            seen,
            refused: refused(&after.refused),
            memory_mib: (most.max(self.victim.memory_mib()) - memory).max(0.0),
            log_mib: self.victim.log_mib() - log,
            pace: passed / should,
            slowest_ping_ms: self.witness.take_slowest_ms(),
        })
    }

    /// Returns the figures of the run and of its twin at the same moment.
    fn look(&mut self) -> [Option<Stats>; 2] {
        let twin = self.twin.as_mut().map(|twin| &mut twin.client);
        stats_of(&mut self.client, twin).unwrap_or_default()
    }

    /// Ends the run as its owner may; returns the digests of its iterations, how many these are,
    /// and what all attacks together have cost.
    ///
    /// # Errors
    /// Fails if it does not end in order.
    pub fn finish(mut self) -> Result<(String, u64, Damage), String> {
        let whole = Damage {
            attack: "all".to_owned(),
            family: "all",
            way: self.way,
            seen: self.witness.answered(),
            refused: self.client.stats().map_or(0, |stats| stats.refused.total()),
            memory_mib: (self.victim.memory_mib() - self.before.0).max(0.0),
            log_mib: self.victim.log_mib() - self.before.1,
            pace: 1.0,
            slowest_ping_ms: 0.0,
        };
        match self.victim.stop(&mut self.client) {
            (Some(0), digests) => {
                let count = digests.lines().count() as u64;
                Ok((digests, count, whole))
            }
            (code, _) => Err(format!(
                "the run ended with {code:?}: {}",
                self.victim.last_words()
            )),
        }
    }
}
