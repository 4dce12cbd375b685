//! A whole run drawn from one seed: its world, its settings, what clients do and what goes wrong.

use std::fmt;
use std::time::Duration;

use lockstep::{
    CellSettings, OutputSettings, PeerLossPolicy, PeerSettings, RecoverySettings, Rules, Settings,
    SightRule,
};
use protocol::{PeerName, ScheduledCommand, SessionTime};
use sdf::World;

use super::fault::{Fault, TimedFault};
use super::random::Random;
use super::script::{self, TimedRequest};
use super::{NetworkFaults, Ways, settings};
use crate::worlds::{driven, lively, row, watch_within};

/// The most iterations that a scenario has.
pub const ITERATIONS_MAX: u64 = 240;
/// Time between beats of a heart.
const HEARTBEAT: Duration = Duration::from_millis(20);

/// A small world full of what could go wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// Balls on the floors of three levels.
    Row,
    /// Boxes slide into each other where levels meet.
    Borders,
    /// Joints of the world hold models together.
    Joined,
    /// A tower falls over the borders of levels.
    Piles,
    /// Balls hit each other in a bowl.
    Motion,
    /// Levels' own models only move while somebody is near.
    Suspended,
    /// A ball passes several levels in one step.
    Bullet,
    /// Robots are driven by what is said on topics.
    Driven,
}

impl Stage {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Row,
        Self::Borders,
        Self::Joined,
        Self::Piles,
        Self::Motion,
        Self::Suspended,
        Self::Bullet,
        Self::Driven,
    ];

    /// Makes the world.
    pub fn world(self) -> World {
        match self {
            Self::Row => row(3, 2),
            Self::Borders => lively::borders(),
            Self::Joined => lively::joined(),
            Self::Piles => lively::piles(),
            Self::Motion => lively::motion("motion", 6),
            Self::Suspended => lively::suspended(),
            Self::Bullet => lively::bullet(),
            Self::Driven => driven::world(),
        }
    }
}

/// A run with all that happens to it.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// Seed that it is drawn from.
    pub seed: u64,
    /// The world.
    pub stage: Stage,
    /// Range of the sensors of every second model that moves, if cells see by range \[m\].
    pub sight: Option<f64>,
    /// Number of performers above which levels are split, if they are.
    pub split_above: Option<u32>,
    /// Number of secondaries that the run begins with.
    pub secondaries: u32,
    /// Number of secondaries that may join besides.
    pub stand_bys: u32,
    /// Number of iterations that it has.
    pub iterations: u64,
    /// Policy for the loss of a secondary.
    pub policy: PeerLossPolicy,
    /// Iterations between checkpoints.
    pub checkpoint_every: u64,
    /// Silence after which a peer counts as lost.
    pub heartbeat_timeout: Duration,
    /// Time for which a step may go unacknowledged.
    pub step_timeout: Duration,
    /// Effects of the network on messages.
    pub network: NetworkFaults,
    /// After how long a secondary that has ended is started anew, if at all.
    pub restart_after: Option<Duration>,
    /// Time that it takes until something is written to the journal, if there is one.
    pub journal: Option<Duration>,
    /// Time for which each secondary works on a step \[us\], and how slow its clock is in parts of
    /// 1,000.
    pub paces: Vec<(u64, i64)>,
    /// Faults, each with its time.
    pub faults: Vec<TimedFault>,
    /// Commands of a file.
    pub schedule: Vec<ScheduledCommand>,
    /// Requests of clients.
    pub requests: Vec<TimedRequest>,
}

impl Scenario {
    /// Draws a scenario of a policy.
    pub fn draw(seed: u64, policy: PeerLossPolicy) -> Self {
        let mut random = Random::mixed(seed);
        let recovers = policy == PeerLossPolicy::Recover;
        let secondaries = random.between(1, 5) as u32;
        let heartbeat_timeout = Duration::from_millis(random.between(100, 400));
        let delay_us_max = random.one_of(&[1, 50, 200, 500, 2000]);
        let mut eyes = Random::mixed(!seed);
        let is_by_range = eyes.chance(400);
        let range = eyes.one_of(&[0.3, 1.0, 3.0, f64::INFINITY]);
        let split_above = eyes.one_of(&[None, None, Some(2), Some(4)]);
        let mut scenario = Self {
            seed,
            stage: random.one_of(&Stage::ALL),
            sight: is_by_range.then_some(range),
            split_above,
            secondaries,
            stand_bys: if recovers { random.below(3) as u32 } else { 0 },
            iterations: random.between(40, ITERATIONS_MAX),
            policy,
            checkpoint_every: random.one_of(&[5, 10, 20, 50, 100, 200]),
            heartbeat_timeout,
            step_timeout: Duration::from_secs(random.between(1, 4)),
            network: NetworkFaults {
                delay_us_max,
                lost_permille: random.one_of(&[0, 0, 5, 20]),
                doubled_permille: random.one_of(&[0, 0, 20, 100]),
            },
            restart_after: None,
            journal: None,
            paces: Vec::new(),
            faults: Vec::new(),
            schedule: Vec::new(),
            requests: Vec::new(),
        };
        for _ in 0..secondaries {
            let step_us = random.one_of(&[0, 20, 100, 500]);
            let skew_permille = random.between(0, 100).cast_signed() - 50;
            scenario.paces.push((step_us, skew_permille));
        }
        let is_restarted = recovers && random.chance(700);
        let restart_after = Duration::from_millis(random.between(5, 500));
        scenario.restart_after = is_restarted.then_some(restart_after);
        let is_journaled = is_restarted && random.chance(400);
        let delay = Duration::from_micros(random.one_of(&[0, 200, 2000, 20_000]));
        scenario.journal = is_journaled.then_some(delay);
        scenario.draw_faults(&mut random);
        scenario.schedule = script::draw_schedule(&scenario, &mut random);
        scenario.requests = script::draw(&scenario, &mut random);
        scenario
    }

    /// Returns about how long it takes when nothing goes wrong.
    pub fn span(&self) -> Duration {
        let work = self.paces.iter().map(|(step_us, _)| step_us * 3 / 2).max();
        let step_us = work.unwrap_or_default() + 2 * self.network.delay_us_max;
        Duration::from_micros(self.iterations * step_us.max(20))
    }

    fn draw_faults(&mut self, random: &mut Random) {
        let count = random.one_of(&[0, 1, 1, 2, 3, 5]);
        let victims = self.victims();
        for _ in 0..count {
            let at = SessionTime(1 + random.below(1 + self.span().as_nanos() as u64));
            let is_of_primary = random.chance(120);
            if is_of_primary {
                let fault = self.draw_stall_of_primary(random);
                self.add(at, PeerName::primary(), fault);
            } else if victims > 0 {
                let peer = name_of(1 + random.below(u64::from(victims)));
                let fault = self.draw_fault(random);
                let is_crash = matches!(fault, Fault::Crash { .. });
                self.add(at, peer.clone(), fault);
                if is_crash {
                    self.draw_second_blow(at, peer, random);
                }
            }
        }
        for number in 0..self.stand_bys {
            let at = SessionTime(1 + random.below(1 + self.span().as_nanos() as u64));
            self.add(
                at,
                name_of(u64::from(self.secondaries + 1 + number)),
                Fault::Join,
            );
        }
        if self.journal.is_some() {
            self.draw_faults_of_primary(random);
        }
        self.faults.sort_by_key(|fault| fault.at);
    }

    /// The primary's process stalls, for longer than every time-out where secondaries come back,
    /// or its stepper does, which nobody else may count as silent for.
    fn draw_stall_of_primary(&self, random: &mut Random) -> Fault {
        let long = random.one_of(&[
            self.heartbeat_timeout * 3,
            self.heartbeat_timeout * 6,
            self.step_timeout + self.heartbeat_timeout,
        ]);
        match random.below(3) {
            0 => Fault::StallOfPrimary(self.harmless(random)),
            1 if self.restart_after.is_some() => Fault::StallOfPrimary(long),
            _ => Fault::StallOfStepper(long),
        }
    }

    /// Somebody is killed while what was lost before is being restored: the same one, once it is
    /// back, or another.
    fn draw_second_blow(&mut self, at: SessionTime, first: PeerName, random: &mut Random) {
        let victims = u64::from(self.victims());
        let Some(restart_after) = self.restart_after.filter(|_| random.chance(600)) else {
            return;
        };
        let is_same = random.chance(500);
        let peer = if is_same {
            first
        } else {
            name_of(1 + random.below(victims))
        };
        let wait = if is_same {
            restart_after
        } else {
            Duration::ZERO
        };
        let later = Duration::from_micros(random.below(120_000));
        let loses_messages = random.chance(500);
        self.add(at + wait + later, peer, Fault::Crash { loses_messages });
    }

    /// The primary is killed, and its disk may be full.
    fn draw_faults_of_primary(&mut self, random: &mut Random) {
        let mut moment = || SessionTime(1 + random.below(1 + self.span().as_nanos() as u64));
        let [crash, other, full] = [(); 3].map(|()| moment());
        let resumed_after = Duration::from_millis(random.between(1, 1000));
        let mut crashes = vec![crash];
        if random.chance(300) {
            crashes.push(other + resumed_after);
        }
        for at in crashes {
            let fault = if random.chance(300) {
                Fault::PowerLoss { resumed_after }
            } else {
                Fault::CrashOfPrimary {
                    resumed_after,
                    is_torn: random.chance(300),
                }
            };
            self.add(at, PeerName::primary(), fault);
        }
        if random.chance(300) {
            let duration = Duration::from_millis(random.between(1, 300));
            self.add(full, PeerName::primary(), Fault::FullDisk(duration));
        }
        if random.chance(300) {
            let at = SessionTime(1 + random.below(1 + self.span().as_nanos() as u64));
            let duration = Duration::from_millis(random.between(1, 3000));
            self.add(at, PeerName::primary(), Fault::HungDisk(duration));
        }
    }

    /// Returns how many secondaries may fall or be drained, from the first on: the last one is
    /// spared where nobody comes back, so that somebody is left.
    pub(super) fn victims(&self) -> u32 {
        if self.restart_after.is_some() || self.policy == PeerLossPolicy::Stop {
            self.secondaries
        } else {
            self.secondaries - 1
        }
    }

    fn add(&mut self, at: SessionTime, peer: PeerName, fault: Fault) {
        self.faults.push(TimedFault { at, peer, fault });
    }

    fn draw_fault(&self, random: &mut Random) -> Fault {
        let duration = if random.chance(500) {
            self.harmless(random)
        } else {
            self.heartbeat_timeout * random.between(3, 6) as u32
        };
        match random.below(7) {
            0 | 1 => Fault::Crash {
                loses_messages: random.chance(500),
            },
            2 => Fault::Stall(duration),
            3 | 4 => Fault::Cut {
                ways: random.one_of(&[
                    Ways {
                        to_primary: true,
                        to_secondary: true,
                    },
                    Ways {
                        to_primary: true,
                        to_secondary: false,
                    },
                    Ways {
                        to_primary: false,
                        to_secondary: true,
                    },
                ]),
                duration: random.chance(700).then_some(duration),
            },
            5 => Fault::Reset(Duration::from_millis(random.between(1, 300))),
            _ => Fault::Slow {
                factor: random.between(2, 20),
                duration,
            },
        }
    }

    /// Draws a time so short that nobody may count as lost for it, with several of them.
    fn harmless(&self, random: &mut Random) -> Duration {
        let limit = self.heartbeat_timeout.saturating_sub(HEARTBEAT * 2) / 8;
        Duration::from_micros(random.between(1, limit.as_micros() as u64))
    }

    /// Makes the world, in which some see, and of which levels may be split.
    pub fn world(&self) -> World {
        let mut world = self.stage.world();
        world.split_above = self.split_above;
        if let Some(range) = self.sight {
            watch_within(&mut world, range);
        }
        world
    }

    /// Returns the settings of the primary.
    pub fn settings(&self) -> Settings {
        let calm = settings(self.secondaries, self.iterations);
        let sight = match self.sight {
            Some(_) => SightRule::Range,
            None => SightRule::Buffer,
        };
        Settings {
            schedule: self.schedule.clone(),
            peers: PeerSettings {
                heartbeat_interval: HEARTBEAT,
                heartbeat_timeout: Some(self.heartbeat_timeout),
                step_timeout: self.step_timeout,
                ..calm.peers
            },
            recovery: RecoverySettings {
                on_peer_loss: self.policy,
                stand_bys: self.stand_bys,
                checkpoint_every: self.checkpoint_every,
                is_journaled: self.journal.is_some(),
            },
            cells: CellSettings {
                rules: Rules {
                    sight,
                    ..calm.cells.rules
                },
                ..calm.cells
            },
            outputs: OutputSettings {
                publish_all: self.stage == Stage::Driven,
                ..calm.outputs
            },
            ..calm
        }
    }
}

/// Returns the name of a secondary.
pub(super) fn name_of(number: u64) -> PeerName {
    format!("s{number}").parse().expect("it is a valid name")
}

impl fmt::Display for Scenario {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            formatter,
            "seed {}: {:?}, sight {:?} m, split above {:?}, {} iterations, \
             {} secondaries and {} stand-bys, \
             on peer loss {:?}",
            self.seed,
            self.stage,
            self.sight,
            self.split_above,
            self.iterations,
            self.secondaries,
            self.stand_bys,
            self.policy
        )?;
        writeln!(
            formatter,
            "  checkpoint every {}, heartbeat time-out {:?}, step time-out {:?}, \
             restart after {:?}, \
             journal {:?}",
            self.checkpoint_every,
            self.heartbeat_timeout,
            self.step_timeout,
            self.restart_after,
            self.journal
        )?;
        writeln!(
            formatter,
            "  {:?}, step [us] and clock [permille] {:?}",
            self.network, self.paces
        )?;
        for fault in &self.faults {
            writeln!(formatter, "  {fault}")?;
        }
        for scheduled in &self.schedule {
            let text = scheduled.command.text().unwrap_or_default();
            writeln!(
                formatter,
                "  after iteration {} {text}",
                scheduled.iteration
            )?;
        }
        for request in &self.requests {
            writeln!(formatter, "  {request}")?;
        }
        Ok(())
    }
}
