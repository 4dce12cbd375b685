//! A primary whose secondaries answer at once, without physics. Their messages are encoded, and
//! decoded just before the primary handles them, as by its driver; what is timed is the rules
//! alone, with the deadline that the driver asks for twice with each input.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use lockstep::{Primary, PrimaryInput, PrimaryOutput, Settings};
use protocol::primary_to_secondary::Step;
use protocol::secondary_to_primary::{CellAck, Heartbeat, Loaded, StepAck};
use protocol::{
    CellId, Digest, DigestBuilder, Envelope, PeerName, PerformerState, PrimaryToSecondary,
    ProtocolVersion, Role, RoutingId, SecondaryToPrimary, SessionTime, decode, encode,
};
use sdf::{Level, Link, Model, Pose, World};
use worker::identity;

/// Edge length of a level \[m\].
pub(crate) const LEVEL_SIZE: f64 = 1_000.0;

/// Answers of secondaries.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answers {
    /// Their cells are at rest.
    Resting,
    /// Their cells have stepped, and nothing has changed.
    Unchanged,
    /// One of so many performers has changed, another one in each step.
    Moving { every: u64 },
}

/// A primary and its secondaries.
pub(crate) struct Scripted {
    primary: Primary,
    names: Vec<PeerName>,
    /// The states as secondaries have them, by cells.
    cells: BTreeMap<PeerName, Vec<(CellId, Vec<PerformerState>)>>,
    answers: Answers,
    synced: BTreeSet<PeerName>,
    now: SessionTime,
    ruled: Duration,
    inputs: VecDeque<Said>,
    is_done: bool,
}

/// An input that is to come.
enum Said {
    Subscribed(RoutingId),
    Message(RoutingId, Vec<u8>),
}

impl Scripted {
    pub(crate) fn new(world: &World, settings: Settings, answers: Answers) -> Self {
        let names = (1..=settings.peers.secondaries).map(|number| format!("s{number}"));
        let names = names.map(|name| name.parse().expect("it is a name"));
        let mut run = Self {
            primary: Primary::new(settings, std::slice::from_ref(world)),
            names: names.collect(),
            cells: BTreeMap::new(),
            answers,
            synced: BTreeSet::new(),
            now: SessionTime(1),
            ruled: Duration::ZERO,
            inputs: VecDeque::new(),
            is_done: false,
        };
        for name in run.names.clone() {
            let address = RoutingId::from(name.as_str());
            run.inputs.push_back(Said::Subscribed(address));
            let info = identity::peer_info(name.clone(), Role::Secondary);
            run.say(&name, SecondaryToPrimary::Join(info));
        }
        run
    }

    /// Goes on until one more step is done.
    pub(crate) fn advance(&mut self) {
        self.is_done = false;
        while !self.is_done {
            let input = if let Some(said) = self.inputs.pop_front() {
                input_of(said)
            } else {
                let due = self.primary.deadline().expect("the run is not over");
                self.now = self.now.max(due);
                PrimaryInput::DeadlinePassed {
                    inbox_is_empty: true,
                }
            };
            for output in self.handle(input) {
                self.perform(output);
            }
        }
    }

    /// Has the primary handle a heartbeat of each secondary.
    pub(crate) fn beat(&mut self) {
        for name in self.names.clone() {
            let beat = SecondaryToPrimary::Heartbeat(Heartbeat::default());
            let bytes = self.message(&name, beat);
            let from = RoutingId::from(name.as_str()).heartbeat();
            drop(self.handle(input_of(Said::Message(from, bytes))));
        }
    }

    /// Returns the time that the rules have taken since the last call.
    pub(crate) fn take_ruled(&mut self) -> Duration {
        std::mem::take(&mut self.ruled)
    }

    fn handle(&mut self, input: PrimaryInput) -> Vec<PrimaryOutput> {
        let mut outputs = Vec::with_capacity(8);
        let begin = Instant::now();
        self.primary.handle(input, self.now, &mut outputs);
        for _ in 0..2 {
            black_box(self.primary.deadline());
        }
        self.ruled += begin.elapsed();
        outputs
    }

    fn perform(&mut self, output: PrimaryOutput) {
        match output {
            PrimaryOutput::Send { to, message } => {
                let mut names = self.names.iter();
                let found = names.find(|name| to.0 == name.as_str().as_bytes());
                if let Some(name) = found.cloned() {
                    self.hear(&name, &message);
                }
            }
            PrimaryOutput::Publish(message) => {
                for name in self.names.clone() {
                    self.hear(&name, &message);
                }
            }
            PrimaryOutput::StepDone(_) => self.is_done = true,
            PrimaryOutput::Finished(reason) => panic!("the run is over: {reason}"),
            _ => {}
        }
    }

    /// Has a secondary answer a message.
    fn hear(&mut self, name: &PeerName, message: &PrimaryToSecondary) {
        match message {
            PrimaryToSecondary::Welcome(welcome) => {
                let world_digest = welcome.world_digest;
                self.say(
                    name,
                    SecondaryToPrimary::Loaded(Loaded {
                        world_digest,
                        gpu: None,
                    }),
                );
            }
            // Every sync is published to all, and one answer is enough.
            PrimaryToSecondary::Sync if self.synced.insert(name.clone()) => {
                self.say(name, SecondaryToPrimary::Synced);
            }
            PrimaryToSecondary::Step(step) => {
                if step.paused || !self.cells.contains_key(name) {
                    self.read_cells(name);
                }
                let mut ack = self.ack(name, step);
                ack.ahead = (1..=step.ahead)
                    .map(|count| self.ack(name, &step.quiet_after(count)))
                    .collect();
                self.say(name, SecondaryToPrimary::StepAck(Arc::new(ack)));
            }
            _ => {}
        }
    }

    fn say(&mut self, name: &PeerName, body: SecondaryToPrimary) {
        let bytes = self.message(name, body);
        let from = RoutingId::from(name.as_str());
        self.inputs.push_back(Said::Message(from, bytes));
    }

    fn message(&self, name: &PeerName, body: SecondaryToPrimary) -> Vec<u8> {
        encode(&Envelope {
            version: ProtocolVersion::CURRENT,
            session: self.primary.settings().session,
            sender: name.clone(),
            body,
        })
    }

    /// Takes over which cells a secondary hosts, and their states.
    fn read_cells(&mut self, name: &PeerName) {
        let cells = self.primary.hosted(name).iter().map(|cell| {
            let owned = self.primary.owned(*cell).iter();
            let states = owned.map(|id| *self.primary.performer(*id).1);
            (*cell, states.collect())
        });
        let cells = cells.collect();
        self.cells.insert(name.clone(), cells);
    }

    /// Makes the ack of a secondary; its first ones hold all states.
    fn ack(&mut self, name: &PeerName, step: &Step) -> StepAck {
        let is_first = step.paused;
        let mut ack = StepAck {
            sequence: step.sequence,
            iteration: step.iteration,
            busy_ns: 10_000,
            ..StepAck::default()
        };
        let cells = self.cells.get_mut(name).expect("they were read");
        for (cell, states) in cells {
            if !is_first && self.answers == Answers::Resting {
                ack.at_rest.push(*cell);
                continue;
            }
            let mut digest = DigestBuilder::default();
            let mut count = 0;
            for state in states {
                let number = u64::from(state.performer.0) + step.iteration.0;
                let moves = match self.answers {
                    Answers::Resting | Answers::Unchanged => false,
                    Answers::Moving { every } => number.is_multiple_of(every),
                };
                if is_first || moves {
                    move_by_a_little(state, step);
                    ack.states.push(state);
                    count += 1;
                }
                digest.digest(state.digest);
            }
            ack.cells.push(CellAck {
                cell: *cell,
                digest: digest.finish(),
                physics_ns: 1_000,
                systems_ns: 0,
                sensors_ns: 0,
                state_count: count,
            });
        }
        ack
    }
}

fn input_of(said: Said) -> PrimaryInput {
    match said {
        Said::Subscribed(address) => PrimaryInput::Subscribed(address),
        Said::Message(from, bytes) => PrimaryInput::Secondary {
            from,
            envelope: decode(&bytes).expect("it was encoded"),
            wall_clock_us: 0,
        },
    }
}

fn move_by_a_little(state: &mut PerformerState, step: &Step) {
    state.position[0] += 1e-6;
    let at = state.position.map(|coordinate| coordinate as f32);
    state.reach = [at.map(|one| one - 0.5), at.map(|one| one + 0.5)];
    state.digest = Digest(u128::from(step.sequence.0) << 64 | u128::from(state.performer.0));
}

/// A row of levels, with performers in some of them, each at a place from its level's middle.
pub(crate) fn row(levels: u32, performers: impl Iterator<Item = (u32, [f64; 2])>) -> World {
    let x = |level: u32| f64::from(level) * LEVEL_SIZE * 2.0;
    let levels = (0..levels).map(|level| Level {
        name: format!("L{level}"),
        center: [x(level), 0.0, 0.0],
        size: [LEVEL_SIZE; 3],
        buffer: 1.0,
        models: Vec::new(),
    });
    let models = (0..)
        .zip(performers)
        .map(|(number, (level, [east, north]))| {
            let pose = Pose::from_xyz_rpy([x(level) + east, north, 0.0], [0.0; 3]);
            let links = vec![Link::new("link", pose)];
            Model::new(&format!("p{number}"), links, Vec::new())
        });
    World {
        name: "row".to_owned(),
        levels: levels.collect(),
        models: models.collect(),
        ..World::default()
    }
}

pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
