//! A primary and its secondaries with real cells in one thread, on a seeded virtual network.
//!
//! Time is virtual: it jumps to the next delivery or deadline. Messages of one sender to one
//! receiver on one socket keep their order, as ZeroMQ keeps it; nothing else does. A [`Witness`]
//! sees every step.

pub mod moves;
pub mod random;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use lockstep::{
    LoadRule, PeerLossPolicy, Primary, PrimaryInput, PrimaryOutput, Rules, SecondaryInput,
    SecondarySettings, Settings, StepReport,
};
use protocol::report::RunState;
use protocol::{
    CellId, ClientToPrimary, Command, Digest, Envelope, PeerName, PrimaryToClient,
    PrimaryToSecondary, ProtocolVersion, RequestId, Role, RoutingId, SecondaryToPrimary, SessionId,
    SessionTime, StopReason,
};
use sdf::World;
use worker::identity;
use worker::secondary::SecondaryEngine;

use crate::checkers::Barrier;
use crate::witness::Witness;
use moves::RandomMoves;
use random::Random;

/// What the network does to messages.
#[derive(Clone, Copy, Debug)]
pub struct NetworkFaults {
    /// The longest that a message is under way \[us\]; the least is 1.
    pub delay_us_max: u64,
    /// How many of 1,000 published messages a secondary misses.
    pub lost_permille: u64,
    /// How many of 1,000 messages arrive twice.
    pub doubled_permille: u64,
}

impl NetworkFaults {
    /// Messages overtake each other, and none is lost.
    pub const SHUFFLED: Self = Self {
        delay_us_max: 500,
        lost_permille: 0,
        doubled_permille: 0,
    };
    /// Messages overtake each other, are missed and doubled.
    pub const HOSTILE: Self = Self {
        delay_us_max: 500,
        lost_permille: 20,
        doubled_permille: 50,
    };
}

enum Delivery {
    ToSecondary {
        index: usize,
        message: Envelope<PrimaryToSecondary>,
        lossy: bool,
    },
    ToPrimary {
        index: usize,
        message: Envelope<SecondaryToPrimary>,
    },
    Unsubscribed {
        index: usize,
    },
}

/// A simulated cluster.
pub struct Cluster {
    /// The primary.
    pub primary: Primary,
    /// Sees every step, checks it, records or compares it.
    pub witness: Witness,
    /// A client that moves cells at random, if there is one.
    pub moves: Option<RandomMoves>,
    /// What the physics of each cell is said to take \[ns\]; measured times cannot be repeated.
    pub costs: fn(CellId) -> u64,
    /// Why the primary finished, once it has.
    pub finished: Option<StopReason>,
    /// Why each secondary finished, once it has.
    pub secondaries_finished: BTreeMap<usize, StopReason>,
    /// Replies to clients, in order.
    pub replies: Vec<PrimaryToClient>,
    secondaries: Vec<SecondaryEngine>,
    crashed: BTreeSet<usize>,
    names: Vec<PeerName>,
    barrier: Barrier,
    faults: NetworkFaults,
    random: Random,
    now: SessionTime,
    queue: BTreeMap<(SessionTime, u64), Delivery>,
    sent: u64,
    /// Requests of the client that moves cells, to be made next.
    requests: VecDeque<(RequestId, Command)>,
    /// For each stream of messages, when its last one arrives.
    streams: BTreeMap<(bool, bool, usize), SessionTime>,
}

impl Cluster {
    /// Makes a cluster that runs `iterations` of `worlds` on `secondaries`.
    ///
    /// # Panics
    /// When there are no secondaries.
    pub fn new(
        worlds: &[World],
        secondaries: u32,
        iterations: u64,
        faults: NetworkFaults,
        seed: u64,
    ) -> Self {
        Self::with(worlds, settings(secondaries, iterations), faults, seed)
    }

    /// Makes a cluster with settings of its own.
    ///
    /// # Panics
    /// When there are no secondaries.
    pub fn with(worlds: &[World], settings: Settings, faults: NetworkFaults, seed: u64) -> Self {
        let names: Vec<PeerName> = (1..=settings.secondaries)
            .map(|number| format!("s{number}").parse().expect("it is a valid name"))
            .collect();
        let primary = Primary::new(settings, worlds);
        let engines = names.iter().map(|name| {
            SecondaryEngine::new(SecondarySettings {
                info: identity::peer_info(name.clone(), Role::Secondary),
                peer_timeout: Duration::from_secs(10),
            })
        });
        let mut cluster = Self {
            primary,
            witness: Witness::default(),
            moves: None,
            costs: |_| 50_000,
            finished: None,
            secondaries_finished: BTreeMap::new(),
            replies: Vec::new(),
            secondaries: engines.collect(),
            crashed: BTreeSet::new(),
            names,
            barrier: Barrier::default(),
            faults,
            random: Random::new(seed),
            now: SessionTime(1),
            queue: BTreeMap::new(),
            sent: 0,
            requests: VecDeque::new(),
            streams: BTreeMap::new(),
        };
        for index in 0..cluster.secondaries.len() {
            cluster.tell_primary(PrimaryInput::Subscribed(routing(index)));
            cluster.tell_secondary(index, SecondaryInput::Started);
        }
        cluster
    }

    /// Runs until the primary has finished, or until `done` says so.
    ///
    /// # Panics
    /// When nothing can happen any more, or an invariant breaks.
    pub fn run_until(&mut self, mut done: impl FnMut(&Self) -> bool) {
        while self.finished.is_none() && !done(self) {
            self.advance();
        }
    }

    /// Lets the next thing happen.
    ///
    /// # Panics
    /// When nothing can happen any more, or an invariant breaks.
    pub fn advance(&mut self) {
        if let Some((request, command)) = self.requests.pop_front() {
            return self.request(request.0, command);
        }
        let delivery = self.queue.first_key_value().map(|((at, _), _)| *at);
        let deadline = self.primary.deadline();
        let due = delivery
            .into_iter()
            .chain(deadline)
            .min()
            .expect("something happens next");
        self.now = self.now.max(due);
        if delivery.is_some_and(|at| at <= self.now) {
            let (_, delivery) = self.queue.pop_first().expect("it was just looked at");
            self.deliver(delivery);
        } else {
            self.tell_primary(PrimaryInput::DeadlinePassed {
                inbox_is_empty: true,
            });
        }
    }

    /// Has a client ask for something now.
    pub fn request(&mut self, request: u64, command: Command) {
        let message = ClientToPrimary {
            request: RequestId(request),
            command,
        };
        self.tell_primary(PrimaryInput::Client {
            from: "client".into(),
            session: self.primary.settings().session,
            message,
        });
    }

    /// Stops a secondary dead, as `kill -9` does.
    pub fn crash(&mut self, index: usize) {
        self.crashed.insert(index);
        self.barrier.forget(&self.names[index]);
        let at = self.now + Duration::from_micros(50);
        self.push(at, Delivery::Unsubscribed { index });
    }

    fn deliver(&mut self, delivery: Delivery) {
        match delivery {
            Delivery::ToSecondary {
                index,
                message,
                lossy,
            } => {
                if lossy && self.chance(self.faults.lost_permille) {
                    return;
                }
                self.tell_secondary(index, SecondaryInput::Primary(message));
            }
            Delivery::ToPrimary { index, message } => {
                let from = routing(index);
                self.tell_primary(PrimaryInput::Secondary {
                    from,
                    envelope: message,
                    wall_clock_us: 0,
                });
            }
            Delivery::Unsubscribed { index } => {
                self.tell_primary(PrimaryInput::Unsubscribed(routing(index)));
            }
        }
    }

    fn tell_primary(&mut self, input: PrimaryInput) {
        let mut outputs = Vec::new();
        self.primary.handle(input, self.now, &mut outputs);
        for output in outputs {
            match output {
                PrimaryOutput::Publish(message) => {
                    if let PrimaryToSecondary::Step(step) = &message {
                        self.witness.on_published(&self.primary, step);
                    }
                    for index in 0..self.secondaries.len() {
                        self.send_to_secondary(index, message.clone(), true);
                    }
                }
                PrimaryOutput::Send { to, message } => {
                    let index = (0..self.secondaries.len()).find(|index| routing(*index) == to);
                    if let Some(index) = index {
                        self.send_to_secondary(index, message, false);
                    }
                }
                PrimaryOutput::Reply { message, .. } => self.on_reply(message),
                PrimaryOutput::StepDone(report) => self.on_done(&report),
                PrimaryOutput::Finished(reason) => self.finished = Some(reason),
                PrimaryOutput::Observe(_)
                | PrimaryOutput::Checkpointed(_)
                | PrimaryOutput::Report { .. }
                | PrimaryOutput::Stamped(_) => {}
            }
        }
    }

    fn on_done(&mut self, report: &StepReport) {
        let engines = self.names.iter().zip(&self.secondaries).enumerate();
        let engines = engines.filter(|(index, _)| !self.crashed.contains(index));
        let engines = engines.map(|(_, engine)| engine);
        let hosts = engines.filter_map(|(name, engine)| Some((name, engine.host()?)));
        self.witness.on_done(&self.primary, report, hosts);
        let cells = self.open_cells();
        if let Some(moves) = &mut self.moves {
            let asked = moves.on_done(report.iteration.0, &cells, &self.names);
            self.requests.extend(asked);
        }
    }

    fn on_reply(&mut self, message: PrimaryToClient) {
        let cells = self.open_cells();
        let run_ends = self.primary.run_state() == RunState::Stopping;
        if let Some(moves) = &mut self.moves {
            let asked = moves.on_reply(&message, run_ends, &cells, &self.names);
            self.requests.extend(asked);
        }
        self.replies.push(message);
    }

    fn open_cells(&self) -> Vec<(CellId, String)> {
        if self.moves.is_none() {
            return Vec::new();
        }
        let plan = self.primary.plan();
        let hosted = self.witness.whereabouts.hosted();
        hosted
            .map(|(cell, _)| (cell, plan.cell(cell).name.clone()))
            .collect()
    }

    /// Returns the digests after each iteration, from 0 on.
    pub fn digests(&self) -> &[Digest] {
        self.witness.recording.digests()
    }

    /// Returns the secondaries' rules and cells, by number.
    pub fn secondaries(&self) -> &[SecondaryEngine] {
        &self.secondaries
    }

    fn tell_secondary(&mut self, index: usize, input: SecondaryInput) {
        if self.crashed.contains(&index) {
            return;
        }
        let effects = self.secondaries[index].handle(input, self.now, &mut |_, _| {});
        let checkpoint = self.secondaries[index].take_checkpoint();
        for mut message in effects.messages.into_iter().chain(checkpoint) {
            let engine = &self.secondaries[index];
            if let SecondaryToPrimary::StepAck(ack) = &mut message {
                for cell in &mut ack.cells {
                    cell.physics_ns = (self.costs)(cell.cell);
                }
                self.barrier.on_ack(engine.secondary().name(), ack);
            }
            let envelope = Envelope {
                version: ProtocolVersion::CURRENT,
                session: engine.secondary().session(),
                sender: engine.secondary().name().clone(),
                body: message,
            };
            let copies = 1 + u32::from(self.chance(self.faults.doubled_permille));
            for _ in 0..copies {
                let at = self.arrival((true, false, index));
                self.push(
                    at,
                    Delivery::ToPrimary {
                        index,
                        message: envelope.clone(),
                    },
                );
            }
        }
        if let Some(reason) = effects.finished {
            self.secondaries_finished.insert(index, reason);
        }
    }

    fn send_to_secondary(&mut self, index: usize, body: PrimaryToSecondary, published: bool) {
        // Only steps and syncs are published without being sent or repeated in another way.
        let envelope = Envelope {
            version: ProtocolVersion::CURRENT,
            session: self.primary.settings().session,
            sender: PeerName::primary(),
            body,
        };
        let copies = 1 + u32::from(self.chance(self.faults.doubled_permille));
        for _ in 0..copies {
            let at = self.arrival((false, published, index));
            let message = envelope.clone();
            self.push(
                at,
                Delivery::ToSecondary {
                    index,
                    message,
                    lossy: published,
                },
            );
        }
    }

    /// Draws when a message arrives, after all earlier ones of its stream.
    fn arrival(&mut self, stream: (bool, bool, usize)) -> SessionTime {
        let delay = 1 + self.random.draw() % self.faults.delay_us_max.max(1);
        let earliest = self.streams.get(&stream).copied().unwrap_or_default();
        let at = (self.now + Duration::from_micros(delay)).max(earliest);
        self.streams.insert(stream, at);
        at
    }

    fn push(&mut self, at: SessionTime, delivery: Delivery) {
        self.sent += 1;
        self.queue.insert((at, self.sent), delivery);
    }

    fn chance(&mut self, permille: u64) -> bool {
        permille > 0 && self.random.draw() % 1000 < permille
    }
}

/// Returns settings for tests: as fast as possible, nobody can fall silent.
pub fn settings(secondaries: u32, iterations: u64) -> Settings {
    Settings {
        publish_all: false,
        topics: Vec::new(),
        schedule: Vec::new(),
        session: SessionId(0xf00d),
        secondaries,
        iterations: Some(iterations),
        real_time_factor: 0.0,
        start_paused: false,
        step_size: Duration::from_millis(1),
        seed: 0,
        heartbeat_interval: Duration::from_millis(100),
        heartbeat_timeout: None,
        peer_timeout: Duration::from_secs(10),
        step_timeout: Duration::from_secs(10),
        rules: Rules {
            load: LoadRule::Buffer,
            interaction_margin: 0.02,
            minimum_stay: 50,
            step_size_s: 0.001,
        },
        balance: true,
        threads: 1,
        verify: false,
        on_peer_loss: PeerLossPolicy::Stop,
        checkpoint_every: lockstep::CHECKPOINT_EVERY,
        stand_bys: 0,
        is_journaled: false,
        build: identity::build(),
    }
}

fn routing(index: usize) -> RoutingId {
    RoutingId::from(format!("r{}", index + 1).as_str())
}
