//! Requests of clients to a simulated run, drawn from its seed.

use std::fmt;
use std::time::Duration;

use lockstep::PeerLossPolicy;
use protocol::action::ModelVelocity;
use protocol::client_to_primary::{NamedPose, NamedState, ResetKind, SpawnRequest};
use protocol::{Command, Iteration, PeerName, ScheduledCommand, SessionTime};

use super::random::Random;
use super::scenario::{Scenario, Stage, name_of};
use crate::worlds::driven;

/// The most requests of a scenario.
const REQUESTS_MAX: u64 = 8;
/// The most commands of a file.
const SCHEDULE_MAX: u64 = 12;

/// A request with its time.
#[derive(Clone, Debug)]
pub struct TimedRequest {
    /// Time when it is made.
    pub at: SessionTime,
    /// Command that is requested.
    pub command: Command,
}

impl fmt::Display for TimedRequest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.command.text().unwrap_or_default();
        write!(formatter, "at {:.3} ms {text}", self.at.0 as f64 / 1e6)
    }
}

/// Draws the requests of a scenario; most have none, so that runs can share an undisturbed one.
pub(super) fn draw(scenario: &Scenario, random: &mut Random) -> Vec<TimedRequest> {
    let is_driven = scenario.stage == Stage::Driven;
    if !is_driven && random.chance(500) {
        return Vec::new();
    }
    let world = scenario.stage.world();
    let names = Names {
        models: world.models.iter().map(|one| one.name.clone()).collect(),
        levels: {
            let names = world.levels.iter().map(|one| one.name.clone());
            let parts = names.clone().map(|name| format!("{name}/2"));
            let parts = parts.filter(|_| scenario.split_above.is_some());
            names.chain(parts).collect()
        },
        peers: u64::from(scenario.secondaries + scenario.stand_bys),
        recovers: scenario.policy == PeerLossPolicy::Recover,
        victims: u64::from(scenario.victims()),
        is_driven,
    };
    let span = scenario.span().as_nanos() as u64;
    let mut requests: Vec<TimedRequest> = (0..random.between(1, REQUESTS_MAX))
        .map(|number| TimedRequest {
            at: moment(scenario, span, random),
            command: names.command(number, random),
        })
        .collect();
    requests.sort_by_key(|request| request.at);
    resume(&mut requests, random);
    requests
}

/// Draws commands of a file, none of which can be refused; most scenarios have none.
pub(super) fn draw_schedule(scenario: &Scenario, random: &mut Random) -> Vec<ScheduledCommand> {
    if random.chance(700) {
        return Vec::new();
    }
    let is_driven = scenario.stage == Stage::Driven;
    let mut schedule: Vec<ScheduledCommand> = (0..random.between(1, SCHEDULE_MAX))
        .map(|_| ScheduledCommand {
            iteration: Iteration(random.below(scenario.iterations)),
            paused_round: None,
            command: if is_driven {
                let speed = random.between(0, 1000) as f64 * 0.002;
                driven::drive(random.below(driven::ROBOTS), speed)
            } else {
                Command::SetSeed {
                    seed: random.draw(),
                }
            },
        })
        .collect();
    schedule.sort_by_key(|scheduled| scheduled.iteration);
    schedule
}

/// Returns when something is asked for: at any time, or while what a fault has done is being
/// mended.
fn moment(scenario: &Scenario, span: u64, random: &mut Random) -> SessionTime {
    if scenario.faults.is_empty() || random.chance(500) {
        return SessionTime(1 + random.below(1 + span));
    }
    let fault = random.below(scenario.faults.len() as u64) as usize;
    let later = Duration::from_micros(random.below(200_000));
    scenario.faults[fault].at + later
}

/// Lets time run again after the last request that stops it.
fn resume(requests: &mut Vec<TimedRequest>, random: &mut Random) {
    let pauses = |one: &TimedRequest| matches!(one.command, Command::Pause | Command::Step { .. });
    let Some(last) = requests.iter().rev().find(|one| pauses(one)) else {
        return;
    };
    let later = Duration::from_micros(random.between(1, 50_000));
    let at = requests.last().map_or(last.at, |request| request.at) + later;
    // Once more, should a pause still be under way.
    for at in [at, at + Duration::from_secs(2)] {
        let command = Command::Play;
        requests.push(TimedRequest { at, command });
    }
}

/// Names that commands may use.
struct Names {
    models: Vec<String>,
    levels: Vec<String>,
    peers: u64,
    recovers: bool,
    /// Number of peers that may be drained.
    victims: u64,
    is_driven: bool,
}

impl Names {
    fn command(&self, number: u64, random: &mut Random) -> Command {
        if self.is_driven && random.chance(600) {
            return driven::drive(
                random.below(driven::ROBOTS),
                random.between(0, 20) as f64 * 0.1,
            );
        }
        match random.below(15) {
            0 => Command::Pause,
            1 => Command::Play,
            2 => Command::Step {
                count: random.between(1, 5),
            },
            3 => Command::Spawn(Box::new(SpawnRequest {
                sdf: ball(),
                name: Some(format!("spawned_{number}")),
                pose: Some(position(random)),
                ..SpawnRequest::default()
            })),
            4 => Command::Remove {
                model: self.model(random),
            },
            5 if number.is_multiple_of(2) => Command::SetStates {
                states: vec![NamedState {
                    model: self.model(random),
                    pose: Some(position(random)),
                    velocity: Some(ModelVelocity {
                        linear: [1.0, -0.5, 0.0],
                        angular: [0.0, 0.0, 1.0],
                    }),
                }],
            },
            5 => Command::SetPoses {
                poses: vec![NamedPose {
                    model: self.model(random),
                    pose: position(random),
                }],
            },
            6 => Command::SetPerformer {
                model: self.model(random),
                size: None,
            },
            7 => Command::Reset {
                what: ResetKind::Models,
            },
            8 if self.recovers && self.victims > 0 => Command::Drain {
                peer: name_of(1 + random.below(self.victims)),
            },
            9 if self.recovers => Command::Checkpoint,
            10 => Command::SetSeed {
                seed: random.draw(),
            },
            11 => Command::Attach {
                parent: self.model(random),
                child: self.model(random),
            },
            12 => Command::Detach {
                parent: self.model(random),
                child: self.model(random),
            },
            13 => Command::ApplyWrench {
                link: self.model(random),
                force: [0, 1, 2].map(|_| random.below(40) as f64 - 20.0),
                torque: [0.0; 3],
                duration_s: random.between(1, 20) as f64 * 0.01,
            },
            _ => Command::MoveCell {
                level: self.level(random),
                peer: self.peer(random),
            },
        }
    }

    fn model(&self, random: &mut Random) -> String {
        let index = random.below(self.models.len() as u64) as usize;
        self.models[index].clone()
    }

    fn level(&self, random: &mut Random) -> String {
        let index = random.below(self.levels.len() as u64 + 1) as usize;
        let level = self.levels.get(index);
        level.map_or_else(|| "default".to_owned(), Clone::clone)
    }

    fn peer(&self, random: &mut Random) -> PeerName {
        name_of(1 + random.below(self.peers))
    }
}

fn position(random: &mut Random) -> [f64; 7] {
    let [x, y] = [0, 1].map(|_| random.below(60) as f64 * 0.1 - 3.0);
    [x, y, 2.5, 0.0, 0.0, 0.0, 1.0]
}

fn ball() -> String {
    "<sdf version='1.10'><model name='ball'><link name='l'><inertial><mass>1</mass></inertial>\
     <collision name='c'><geometry><sphere><radius>0.1</radius></sphere></geometry></collision>\
     </link></model></sdf>"
        .to_owned()
}
