//! A primary and its secondaries with real cells in one thread, on a seeded virtual network.
//!
//! Time is virtual: it jumps to the next event or deadline. Messages of one sender to one receiver
//! on one socket keep their order, as ZeroMQ keeps it; nothing else does. Checkers see every step.
//! Faults are in [`fault`], a whole run drawn from one seed in [`scenario`].

mod delivery;
pub mod fault;
mod fault_injection;
mod heartbeats;
mod journaling;
pub mod moves;
mod network;
mod output_files;
mod process;
mod publishing;
pub mod random;
mod resuming;
pub mod scenario;
pub mod script;
pub mod soak;
pub mod trace;
pub mod trial;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use lockstep::{PaceSettings, PeerSettings, Primary, PrimaryInput, SecondaryInput, Settings};
use protocol::primary_to_secondary::Step;
use protocol::{
    CellId, ClientToPrimary, Command, Digest, PeerName, PrimaryToClient, RequestId,
    ScheduledCommand, SecondaryToPrimary, Sequence, SessionId, SessionTime, StopReason,
};
use sdf::World;
use worker::identity;
use worker::secondary::SecondaryEngine;

use crate::checkers::{Answers, Barrier, Commits, Delivery, Publishers};
use crate::witness::Witness;
use delivery::Event;
use fault::TimedFault;
use journaling::Journal;
use moves::RandomMoves;
use network::{Network, Stream};
pub use network::{NetworkFaults, Ways};
use output_files::OutputFiles;
pub use output_files::{Outputs, RecordedIteration};
pub use process::Life;
use process::Process;
use random::Random;
use resuming::Past;
use trace::Trace;

/// Changes what is said, to show that checkers see it.
#[derive(Default)]
pub struct Tamper {
    /// Changes what a secondary says.
    pub secondary: Option<TamperWith<SecondaryToPrimary>>,
    /// Changes a step before it is published.
    pub step: Option<TamperWith<Step>>,
    /// Tells whether a command that was done is kept for the run that repeats it.
    pub stamped: Option<TamperWith<Option<ScheduledCommand>>>,
    /// True if clients are answered before what was done for them is written down.
    pub answers_at_once: bool,
}

/// Changes a thing.
pub type TamperWith<T> = Box<dyn FnMut(&mut T)>;

/// An answer that waits for the journal.
struct HeldReply {
    /// Number of entries that must be written first.
    entries: u64,
    /// Number of commands that were done when the primary gave it.
    commands: u64,
    message: PrimaryToClient,
}

/// A simulated cluster.
pub struct Cluster {
    /// The primary.
    pub primary: Primary,
    /// Checkers of what it does.
    pub checks: Checks,
    /// Time and reasons of its end.
    pub outcome: Outcome,
    /// Choices of a test.
    pub setup: Setup,
    /// Requests of clients, and what became of them.
    pub clients: Clients,
    settings: Settings,
    worlds: Vec<World>,
    processes: Vec<Process>,
    primary_process: PrimaryProcess,
    links: Links,
    saved: Saved,
    schedule: Schedule,
}

/// Checkers of everything that is said and done.
#[derive(Default)]
pub struct Checks {
    /// Sees every step, checks it, records or compares it.
    pub witness: Witness,
    /// Sees every complete iteration.
    pub commits: Commits,
    /// Sees every request and reply.
    pub answers: Answers,
    /// Checker of the steps that secondaries have done, ahead or not.
    pub barrier: Barrier,
    /// Checker of the messages of systems and sensors.
    pub publishers: Publishers,
    /// Messages that observers have of those that were published.
    pub delivery: Delivery,
}

/// The end of a run.
#[derive(Default)]
pub struct Outcome {
    /// Reason why the primary finished, once it has.
    pub finished: Option<StopReason>,
    /// Time when the primary finished.
    pub ended_at: Option<SessionTime>,
    /// Reason why each secondary finished, once it has.
    pub secondaries_finished: BTreeMap<usize, StopReason>,
}

/// Choices of a test.
pub struct Setup {
    /// A client that moves cells at random, if there is one.
    pub moves: Option<RandomMoves>,
    /// Time that the physics of each cell is said to take \[ns\]; measured times cannot be
    /// repeated.
    pub costs: fn(CellId) -> u64,
    /// Log of events.
    pub trace: Trace,
    /// Messages that are changed on purpose.
    pub tamper: Tamper,
    /// After how long a secondary that has ended is started anew, if at all.
    pub restart_after: Option<Duration>,
}

/// Requests of clients, and what became of them.
#[derive(Default)]
pub struct Clients {
    /// Replies, in order.
    pub replies: Vec<PrimaryToClient>,
    /// Commands that were done, as a run that repeats this one needs them.
    pub stamped: Vec<ScheduledCommand>,
    /// Requests, by number.
    asked: BTreeMap<RequestId, Command>,
    /// Answers that wait for the journal.
    held_replies: VecDeque<HeldReply>,
    /// Number of commands done in steps that are complete; and the number when the last
    /// "done" was heard.
    complete_commands: u64,
    done_commands: u64,
    /// Requests of the client that moves cells, to be made next.
    requests: VecDeque<(RequestId, Command)>,
}

/// The process of the primary.
struct PrimaryProcess {
    life: Life,
    /// Number of its stalls that are not over, and of its stepper alone.
    stalls: u32,
    stepper_stalls: u32,
    inbox: VecDeque<PrimaryInput>,
}

/// Connections between the processes, and what goes wrong.
struct Links {
    network: Network,
    faults: Vec<TimedFault>,
    /// Processes whose connection is broken.
    broken: BTreeSet<usize>,
    /// Data that was under way to observers when a connection broke, by its sender and the step.
    cut_data: BTreeSet<(PeerName, Sequence)>,
    /// Messages that cannot be delivered until a link is mended.
    held: BTreeMap<usize, Vec<(Stream, Event)>>,
}

/// Things that outlive the primary.
#[derive(Default)]
struct Saved {
    journal: Option<Journal>,
    outputs: Option<OutputFiles>,
    past: Past,
    /// Number of primaries before this one.
    primaries: u32,
}

/// Events to come, and the time.
struct Schedule {
    now: SessionTime,
    queue: BTreeMap<(SessionTime, u64), Event>,
    /// Number of events so far, which orders those of the same time.
    sent: u64,
    random: Random,
}

impl Cluster {
    /// Makes a cluster that runs `iterations` of `worlds` on `secondaries`.
    ///
    /// # Panics
    /// Panics if there are no secondaries.
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
    /// Panics if there are no secondaries.
    pub fn with(worlds: &[World], settings: Settings, faults: NetworkFaults, seed: u64) -> Self {
        let secondaries = settings.peers.secondaries;
        let beats = settings.peers.heartbeat_timeout.is_some();
        let mut cluster = Self {
            primary: Primary::new(settings.clone(), worlds),
            checks: Checks::default(),
            outcome: Outcome::default(),
            setup: Setup {
                moves: None,
                costs: |_| 50_000,
                trace: Trace::Off,
                tamper: Tamper::default(),
                restart_after: None,
            },
            clients: Clients::default(),
            settings,
            worlds: worlds.to_vec(),
            processes: Vec::new(),
            primary_process: PrimaryProcess {
                life: Life::Running,
                stalls: 0,
                stepper_stalls: 0,
                inbox: VecDeque::new(),
            },
            links: Links {
                network: Network::new(faults),
                faults: Vec::new(),
                broken: BTreeSet::new(),
                cut_data: BTreeSet::new(),
                held: BTreeMap::new(),
            },
            saved: Saved::default(),
            schedule: Schedule {
                now: SessionTime(1),
                queue: BTreeMap::new(),
                sent: 0,
                random: Random::new(seed),
            },
        };
        if beats {
            cluster.push(cluster.schedule.now, Event::PrimaryBeats);
        }
        for number in 1..=secondaries {
            cluster.start(format!("s{number}").parse().expect("it is a valid name"));
        }
        cluster
    }

    /// Starts a process that joins under a name, and returns its number.
    pub fn start(&mut self, name: PeerName) -> usize {
        let index = self.processes.len();
        self.setup.trace.note(self.schedule.now, || {
            format!("{name} starts as process {index}")
        });
        self.processes
            .push(Process::new(index, name, self.saved.primaries));
        self.send_presence(index, true);
        self.tell_secondary(index, SecondaryInput::Started);
        index
    }

    /// Has something go wrong when its time comes.
    pub fn plan(&mut self, fault: TimedFault) {
        self.push(fault.at, Event::Fault(self.links.faults.len()));
        self.links.faults.push(fault);
    }

    /// Has a client ask for something at a time.
    pub fn plan_request(&mut self, at: SessionTime, request: u64, command: Command) {
        self.push(at, Event::Request(RequestId(request), Box::new(command)));
    }

    /// Sets how long a process works on a step at least \[us\], and its clock.
    pub fn set_pace(&mut self, index: usize, step_us: u64, skew_permille: i64) {
        self.processes[index].step_us = step_us;
        self.processes[index].skew_permille = skew_permille;
    }

    /// Runs until the primary has finished, or until `done` says so.
    ///
    /// # Panics
    /// Panics if nothing can happen any more, or an invariant breaks.
    pub fn run_until(&mut self, mut done: impl FnMut(&Self) -> bool) {
        while self.outcome.finished.is_none() && !done(self) {
            self.advance();
        }
    }

    /// Lets the next thing happen.
    ///
    /// # Panics
    /// Panics if nothing can happen any more, or an invariant breaks.
    pub fn advance(&mut self) {
        if let Some((request, command)) = self.clients.requests.pop_front() {
            return self.request(request.0, command);
        }
        let event = self
            .schedule
            .queue
            .first_key_value()
            .map(|((at, _), _)| *at);
        let is_awake = self.is_primary_awake();
        let written = self.saved.journal.as_ref().and_then(Journal::deadline);
        if let Some(at) = written.filter(|at| is_awake && event.is_none_or(|event| *at <= event)) {
            self.schedule.now = self.schedule.now.max(at);
            return self.write_journal();
        }
        let deadline = is_awake.then(|| self.primary.deadline()).flatten();
        let processes = self.processes.iter().enumerate();
        let woken = processes
            .filter_map(|(index, process)| Some((process.deadline()?, index)))
            .min();
        let earliest = event.into_iter().chain(deadline);
        let due = earliest
            .chain(woken.map(|(at, _)| at))
            .min()
            .expect("something happens next");
        self.schedule.now = self.schedule.now.max(due);
        if event.is_some_and(|at| at <= self.schedule.now) {
            let (_, event) = self
                .schedule
                .queue
                .pop_first()
                .expect("it was just looked at");
            self.happen(event);
        } else if let Some((_, index)) = woken.filter(|(at, _)| *at <= self.schedule.now) {
            self.tell_secondary(index, SecondaryInput::DeadlinePassed);
        } else {
            self.tell_primary(PrimaryInput::DeadlinePassed {
                inbox_is_empty: true,
            });
        }
    }

    /// Tells whether the primary's stepper does anything.
    pub(crate) fn is_primary_awake(&self) -> bool {
        self.primary_process.life == Life::Running && self.primary_process.stepper_stalls == 0
    }

    /// Has a client ask for something now.
    pub fn request(&mut self, request: u64, command: Command) {
        if self.primary_process.life == Life::Gone {
            if self.outcome.finished.is_none() {
                // A client tries again until there is a run.
                self.ask_later(request, command);
            }
            return;
        }
        self.setup.trace.note(self.schedule.now, || {
            format!("request {request}: {command:?}")
        });
        self.clients
            .asked
            .insert(RequestId(request), command.clone());
        self.checks.answers.on_request(RequestId(request));
        let message = ClientToPrimary {
            request: RequestId(request),
            command,
        };
        self.give_primary(PrimaryInput::Client {
            from: "client".into(),
            session: self.primary.settings().session,
            message,
            texts: Vec::new(),
        });
    }

    /// Returns the time.
    pub fn now(&self) -> SessionTime {
        self.schedule.now
    }

    /// Returns the digests after each iteration, from 0 on.
    pub fn digests(&self) -> &[Digest] {
        self.checks.witness.recording.digests()
    }

    /// Returns the secondaries' rules and cells, by number.
    pub fn secondaries(&self) -> impl Iterator<Item = &SecondaryEngine> {
        self.processes.iter().map(|process| &process.engine)
    }

    /// Returns the secondaries' processes that are not gone, by number.
    pub fn living(&self) -> impl Iterator<Item = (usize, &PeerName, Life)> {
        let processes = self.processes.iter().enumerate();
        let all = processes.map(|(index, process)| (index, &process.name, process.life));
        all.filter(|(_, _, life)| *life != Life::Gone)
    }

    fn push(&mut self, at: SessionTime, event: Event) {
        self.schedule.sent += 1;
        self.schedule.queue.insert((at, self.schedule.sent), event);
    }
}

/// Returns settings for tests: as fast as possible, nobody can fall silent.
pub fn settings(secondaries: u32, iterations: u64) -> Settings {
    let wait = Duration::from_secs(10);
    Settings {
        pace: PaceSettings {
            iterations: Some(iterations),
            real_time_factor: 0.0,
            ..PaceSettings::default()
        },
        peers: PeerSettings {
            secondaries,
            peer_timeout: wait,
            step_timeout: wait,
            ..PeerSettings::default()
        },
        ..Settings::new(SessionId(0xf00d), identity::build())
    }
}
