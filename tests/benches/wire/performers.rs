//! What the rules of a primary take for a performer that did not change in a step. Four secondaries
//! host a level each, with a quarter of the performers, and answer without physics: their cells are
//! at rest, or step without a change, or a hundredth of their performers moves.

use std::collections::VecDeque;
use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use lockstep::{Primary, PrimaryInput, PrimaryOutput, Settings};
use protocol::primary_to_secondary::Step;
use protocol::secondary_to_primary::{CellAck, Loaded, StepAck};
use protocol::{
    Digest, DigestBuilder, Envelope, PeerName, PerformerState, PrimaryToSecondary, ProtocolVersion,
    Role, RoutingId, SecondaryToPrimary, SessionTime,
};
use sdf::{Level, Link, Model, Pose, World};
use serde_json::{Value, json};
use tests::cluster;
use worker::identity;

const SECONDARIES: u32 = 4;
const WARM_UP: u32 = 20;
const STEPS: usize = 100;
/// One of so many performers moves where some do.
const MOVING: u64 = 100;
/// Edge length of a level, and distance of performers in it \[m\].
const LEVEL_SIZE: f64 = 1_000.0;
const DISTANCE: f64 = 2.0;

/// What secondaries answer.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Answers {
    /// Their cells are at rest.
    Resting,
    /// Their cells have stepped, and nothing has changed.
    Unchanged,
    /// One of [`MOVING`] performers has changed.
    SomeMoving,
}

/// Measures the rules of a primary with so many performers \[ns per performer and step\].
pub(crate) fn measure(performers: u32) -> Value {
    let each = |answers| {
        let step_us = step_us(performers, answers);
        step_us * 1e3 / f64::from(performers)
    };
    json!({
        "ns_per_performer_at_rest": each(Answers::Resting),
        "ns_per_performer_unchanged": each(Answers::Unchanged),
        "ns_per_performer_of_which_a_hundredth_moves": each(Answers::SomeMoving),
    })
}

/// Returns the median time of a step, without what the secondaries do \[us\].
fn step_us(performers: u32, answers: Answers) -> f64 {
    let settings = Settings {
        run_ahead_max: 1,
        checkpoint_every: 0,
        ..cluster::settings(SECONDARIES, u64::MAX)
    };
    let mut run = Run::new(&world(performers), settings, answers);
    (0..WARM_UP).for_each(|_| run.advance());
    let mut times: Vec<f64> = (0..STEPS)
        .map(|_| {
            run.ruled = Duration::ZERO;
            run.advance();
            run.ruled.as_secs_f64() * 1e6
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// A primary whose secondaries answer without physics.
struct Run {
    primary: Primary,
    names: Vec<PeerName>,
    answers: Answers,
    now: SessionTime,
    ruled: Duration,
    inputs: VecDeque<PrimaryInput>,
    is_done: bool,
}

impl Run {
    fn new(world: &World, settings: Settings, answers: Answers) -> Self {
        let names = (1..=settings.secondaries).map(|number| format!("s{number}"));
        let names: Vec<PeerName> = names
            .map(|name| name.parse().expect("it is a name"))
            .collect();
        let mut run = Self {
            primary: Primary::new(settings, std::slice::from_ref(world)),
            names: names.clone(),
            answers,
            now: SessionTime(1),
            ruled: Duration::ZERO,
            inputs: VecDeque::new(),
            is_done: false,
        };
        for name in names {
            let address = RoutingId::from(name.as_str());
            run.inputs.push_back(PrimaryInput::Subscribed(address));
            let info = identity::peer_info(name.clone(), Role::Secondary);
            run.say(&name, SecondaryToPrimary::Join(info));
        }
        run
    }

    fn say(&mut self, name: &PeerName, body: SecondaryToPrimary) {
        self.inputs.push_back(PrimaryInput::Secondary {
            from: RoutingId::from(name.as_str()),
            envelope: Envelope {
                version: ProtocolVersion::CURRENT,
                session: self.primary.settings().session,
                sender: name.clone(),
                body,
            },
            wall_clock_us: 0,
        });
    }

    /// Goes on until one more step is done.
    fn advance(&mut self) {
        self.is_done = false;
        while !self.is_done {
            let input = self.inputs.pop_front().unwrap_or_else(|| {
                let due = self.primary.deadline().expect("the run is not over");
                self.now = self.now.max(due);
                PrimaryInput::DeadlinePassed {
                    inbox_is_empty: true,
                }
            });
            let mut outputs = Vec::new();
            let begin = Instant::now();
            self.primary.handle(input, self.now, &mut outputs);
            black_box(self.primary.deadline());
            self.ruled += begin.elapsed();
            outputs.into_iter().for_each(|output| self.perform(output));
        }
    }

    fn perform(&mut self, output: PrimaryOutput) {
        match output {
            PrimaryOutput::Send { to, message } => {
                let names = self.names.clone().into_iter();
                for name in names.filter(|name| RoutingId::from(name.as_str()) == to) {
                    self.answer(&name, &message);
                }
            }
            PrimaryOutput::Publish(message) => {
                for name in self.names.clone() {
                    self.answer(&name, &message);
                }
            }
            PrimaryOutput::StepDone(_) => self.is_done = true,
            PrimaryOutput::Finished(reason) => panic!("the run is over: {reason}"),
            _ => {}
        }
    }

    fn answer(&mut self, name: &PeerName, message: &PrimaryToSecondary) {
        match message {
            PrimaryToSecondary::Welcome(welcome) => {
                let world_digest = welcome.world_digest;
                self.say(name, SecondaryToPrimary::Loaded(Loaded { world_digest }));
            }
            PrimaryToSecondary::Sync => self.say(name, SecondaryToPrimary::Synced),
            PrimaryToSecondary::Step(step) => {
                let ack = self.ack(name, step);
                self.say(name, SecondaryToPrimary::StepAck(Arc::new(ack)));
            }
            _ => {}
        }
    }

    /// Makes the ack of a secondary; its first ones hold all states.
    fn ack(&self, name: &PeerName, step: &Step) -> StepAck {
        let is_first = step.iteration.0 < 2;
        let mut ack = StepAck {
            sequence: step.sequence,
            iteration: step.iteration,
            ..StepAck::default()
        };
        for cell in self.primary.hosted(name) {
            if !is_first && self.answers == Answers::Resting {
                ack.at_rest.push(*cell);
                continue;
            }
            let mut digest = DigestBuilder::default();
            let mut count = 0;
            for id in self.primary.owned(*cell) {
                let known = *self.primary.performer(*id).1;
                let is_chosen = (u64::from(id.0) + step.iteration.0).is_multiple_of(MOVING);
                let moves = is_first || self.answers == Answers::SomeMoving && is_chosen;
                let state = if moves { moved(known, step) } else { known };
                digest.digest(state.digest);
                if moves {
                    ack.states.push(&state);
                    count += 1;
                }
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

/// Moves a performer by a little.
fn moved(known: PerformerState, step: &Step) -> PerformerState {
    let mut state = known;
    state.position[0] += 1e-6;
    let at = state.position.map(|coordinate| coordinate as f32);
    state.reach = [at.map(|one| one - 0.5), at.map(|one| one + 0.5)];
    state.digest = Digest(u128::from(step.sequence.0) << 64 | u128::from(known.performer.0));
    state
}

/// A row of levels with a share of the performers each.
fn world(performers: u32) -> World {
    let x = |level: u32| f64::from(level) * LEVEL_SIZE * 2.0;
    let levels = (0..SECONDARIES).map(|level| Level {
        name: format!("L{level}"),
        center: [x(level), 0.0, 0.0],
        size: [LEVEL_SIZE, LEVEL_SIZE, LEVEL_SIZE],
        buffer: 1.0,
        models: Vec::new(),
    });
    let columns = (LEVEL_SIZE / DISTANCE) as u32 - 20;
    let models = (0..performers).map(|number| {
        let place = number / SECONDARIES;
        let [column, line] = [place % columns, place / columns]
            .map(|one| f64::from(one) * DISTANCE - f64::from(columns) * DISTANCE / 2.0);
        let position = [x(number % SECONDARIES) + column, line, 0.0];
        let pose = Pose::from_xyz_rpy(position, [0.0; 3]);
        Model::new(
            &format!("p{number}"),
            vec![Link::new("link", pose)],
            Vec::new(),
        )
    });
    World {
        name: "crowd".to_owned(),
        levels: levels.collect(),
        models: models.collect(),
        ..World::default()
    }
}
