//! The primary's rules: who takes part, the barrier around each step, and what comes next.
//!
//! A run goes through gathering (secondaries join and load), stepping, and stopping. Each has a
//! file of its own; this one holds the state they share and routes inputs to them.

mod barrier;
mod commands;
mod context;
mod io;
mod peers;
mod placement;
mod purpose;
mod queries;
mod recovery;
mod resume;
mod run_clock;
mod world;

use std::sync::Arc;
use std::time::Duration;

use protocol::exit::Outcome;
use protocol::primary_to_observers::{HeartbeatRelay, PrimaryToObservers};
use protocol::primary_to_secondary::{HeartbeatEcho, PrimaryToSecondary};
use protocol::report::{EventCounts, TopicReport};
use protocol::secondary_to_primary::{Heartbeat, SecondaryToPrimary};
use protocol::{Digest, Envelope, PeerName, RoutingId, SessionTime, StopReason};
use sdf::World;

use crate::library::Library;
use crate::pace::Pace;
use crate::registry::EntityRegistry;
use crate::topology::Topology;

pub use barrier::speculation::WINDOW_MAX;
pub use io::{
    Attempt, CHECKPOINT_EVERY, CellTiming, Forbidden, PeerLossPolicy, PeerTiming, PrimaryInput,
    PrimaryOutput, ProcessReport, Settings, StepReport, StepTimeoutSettings,
};
pub use resume::replay::{Replay, RunTarget};
pub use resume::saved_state::ResumeError;

use barrier::Barrier;
use commands::{Commands, Until, Waiter};
use context::Context;
use peers::Peers;
use placement::Placement;
use recovery::Recovery;
use resume::Resume;
use run_clock::{ClockMode, RunClock};
use world::{Files, WorldState};

/// Time for which the leave message of a peer whose connection closed may still be on its way.
const LEAVE_GRACE: Duration = Duration::from_millis(50);

/// A primary.
#[derive(Debug)]
pub struct Primary {
    settings: Settings,
    start: Start,
    clock: RunClock,
    peers: Peers,
    phase: Phase,
    barrier: Barrier,
    commands: Commands,
    world: WorldState,
    placement: Placement,
    recovery: Recovery,
    resume: Resume,
    events: EventCounts,
}

/// The worlds as the run began with them, and what the welcome says, whatever commands have set
/// since.
#[derive(Debug)]
struct Start {
    /// The worlds as they travel to secondaries, with their digest.
    worlds: Vec<u8>,
    world_digest: Digest,
    seed: u64,
    step_size: Duration,
    topology: Topology,
    registry: EntityRegistry,
}

/// Phase of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Secondaries join, load and are synced.
    Gathering,
    /// Steps are made, one after the other.
    Running,
    /// Everyone was told to stop.
    Stopping,
    /// It is over.
    Finished,
}

impl Phase {
    /// Tells whether no step will be made any more.
    fn is_over(self) -> bool {
        matches!(self, Self::Stopping | Self::Finished)
    }
}

impl Peers {
    pub(crate) fn on_unsubscribed(&mut self, routing: &RoutingId, now: SessionTime) {
        // Its leave message may be on its way; the deadline tells when it counts as lost.
        self.roster.note_unsubscribed(routing, now);
    }
}

impl Primary {
    /// Makes the primary of a run of some worlds.
    ///
    /// # Panics
    /// When the settings ask for no secondaries.
    pub fn new(mut settings: Settings, worlds: &[World]) -> Self {
        let topology = Topology::new(worlds);
        let registry = EntityRegistry::new(worlds);
        let worlds = sdf::encode_worlds(worlds);
        let schedule = std::mem::take(&mut settings.schedule);
        assert!(
            settings.secondaries > 0,
            "a primary without secondaries has nobody to run physics"
        );
        let is_paused = settings.start_paused;
        Self {
            start: Start {
                world_digest: Digest::of_bytes(&worlds),
                worlds,
                seed: settings.seed,
                step_size: settings.step_size,
                topology: topology.clone(),
                registry: registry.clone(),
            },
            clock: RunClock::new(
                is_paused,
                Pace::new(settings.step_size, settings.real_time_factor),
            ),
            peers: Peers::default(),
            phase: Phase::Gathering,
            barrier: Barrier::default(),
            commands: Commands::new(schedule),
            placement: Placement::new(&topology),
            world: WorldState::new(topology, registry, settings.rules),
            recovery: Recovery::default(),
            resume: Resume::default(),
            events: EventCounts::default(),
            settings,
        }
    }

    /// Has files that spawned models refer to found in a library; without it, there are none.
    pub fn set_library(&mut self, library: Box<dyn Library>) {
        self.world.library = Files(library);
    }

    /// Replaces what is known of the topics of systems and sensors.
    pub fn set_topics(&mut self, topics: Vec<TopicReport>) {
        self.settings.topics = topics;
    }

    /// Advances the run by one input.
    pub fn handle(&mut self, input: PrimaryInput, now: SessionTime, out: &mut Vec<PrimaryOutput>) {
        let cx = &mut Context::new(now, self.clock.iteration, out);
        if let Some(stall) = self.peers.stalls.look(now) {
            self.on_own_stall(stall, cx);
        }
        let only_puts_off = input.only_puts_off();
        let has_rested = std::mem::take(&mut self.barrier.speculation.rests);
        match input {
            PrimaryInput::Secondary {
                from,
                envelope,
                wall_clock_us,
            } => {
                self.on_secondary(from, envelope, wall_clock_us, cx);
            }
            PrimaryInput::Client {
                from,
                session,
                message,
            } => {
                self.on_request(from, session, message, cx);
            }
            PrimaryInput::Malformed {
                from,
                joining,
                error,
            } => {
                self.peers.on_malformed(from, joining, &error, cx);
            }
            PrimaryInput::Forbidden(forbidden) => self.peers.on_forbidden(forbidden, cx),
            PrimaryInput::Refused { counts, details } => {
                self.peers.on_refused(counts, &details, cx);
            }
            PrimaryInput::Subscribed(routing) => self.on_subscribed(routing, cx),
            PrimaryInput::Unsubscribed(routing) => self.peers.on_unsubscribed(&routing, now),
            PrimaryInput::Observed(change) => self.commands.on_observed(change),
            PrimaryInput::Diagnosed { peer, process } => {
                self.on_diagnosed(&peer, &process, cx);
            }
            PrimaryInput::Interrupted(signal) => self.on_interrupted(&signal, cx),
            PrimaryInput::Failed(cause) => {
                self.begin_stopping(StopReason::new(Outcome::Failed, cause), cx);
            }
            PrimaryInput::StorageFailed(cause) => self.on_storage_failed(cause, cx),
            PrimaryInput::StorageWorks => self.on_storage_works(cx),
            PrimaryInput::CheckpointStored(sequence) => self.on_checkpoint_stored(sequence, cx),
            PrimaryInput::DeadlinePassed { inbox_is_empty } => {
                self.on_deadline_passed(inbox_is_empty, cx);
            }
        }
        if has_rested && self.is_idle() {
            self.continue_stepping(cx);
        }
        self.continue_calls(cx);
        if !only_puts_off {
            let peers = self.silence_deadline().into_iter();
            self.peers.next_deadline = peers.chain(self.sync_deadline()).min();
        }
        self.peers.stalls.rest(now, self.least_deadline().is_some());
    }

    /// Tells whether no step is under way in a run that has begun.
    fn is_idle(&self) -> bool {
        self.phase == Phase::Running && self.barrier.round.is_none()
    }

    /// Returns when [`PrimaryInput::DeadlinePassed`] is due, if ever.
    pub fn deadline(&self) -> Option<SessionTime> {
        let least = self.least_deadline()?;
        Some(
            self.peers
                .stalls
                .next()
                .map_or(least, |look| look.min(least)),
        )
    }

    fn least_deadline(&self) -> Option<SessionTime> {
        let phase = match self.phase {
            Phase::Gathering => Some(self.peers.startup_deadline(self.settings.peer_timeout)),
            Phase::Running => match &self.barrier.round {
                Some(round) => Some(round.deadline()),
                None if self.barrier.speculation.rests => Some(SessionTime(0)),
                None => self.next_step_due(),
            },
            Phase::Stopping => return self.peers.shutdown_deadline(),
            Phase::Finished => return None,
        };
        let alone = self.recovery.losses.alone_since;
        phase
            .into_iter()
            .chain(self.peers.next_deadline)
            .chain(self.recovery.jobs.deadline())
            .chain(alone.map(|since| since + self.settings.peer_timeout))
            .min()
    }

    fn on_secondary(
        &mut self,
        from: RoutingId,
        envelope: Envelope<SecondaryToPrimary>,
        wall_clock_us: u64,
        cx: &mut Context<'_>,
    ) {
        let Envelope {
            session,
            sender,
            body,
            ..
        } = envelope;
        if let SecondaryToPrimary::Join(info) = body {
            return self.on_join(from, info, cx);
        }
        if session != self.settings.session || !self.peers.is_from(&sender, &from, &body) {
            self.peers.refused.foreign += 1;
            return;
        }
        match body {
            SecondaryToPrimary::Join(_) => {}
            SecondaryToPrimary::Loaded(loaded) => self.on_loaded(&sender, &loaded, cx),
            SecondaryToPrimary::Synced => self.on_synced(&sender, cx),
            SecondaryToPrimary::Heartbeat(heartbeat) => {
                self.on_heartbeat(from, &sender, heartbeat, wall_clock_us, cx);
            }
            SecondaryToPrimary::StepAck(ack) => {
                self.on_step_ack(&sender, Arc::unwrap_or_clone(ack), cx);
            }
            SecondaryToPrimary::CellCheckpoint(cell) => {
                self.on_cell_checkpoint(&sender, cell, cx);
            }
            SecondaryToPrimary::SceneCheckpoint(scene) => {
                self.on_scene_checkpoint(&sender, scene, cx);
            }
            SecondaryToPrimary::CaughtUp(answer) => {
                self.on_caught_up(&sender, *answer, cx);
            }
            SecondaryToPrimary::Diverged(report) => self.on_diverged(&sender, *report, cx),
            SecondaryToPrimary::Leave(reason) => self.on_leave(&sender, &reason, cx),
        }
    }

    fn on_heartbeat(
        &mut self,
        from: RoutingId,
        sender: &PeerName,
        heartbeat: Heartbeat,
        wall_clock_us: u64,
        cx: &mut Context<'_>,
    ) {
        let member = self
            .peers
            .roster
            .get_mut(sender)
            .expect("senders are checked to be members");
        let count = heartbeat.count;
        cx.push(PrimaryOutput::Send {
            to: from,
            message: PrimaryToSecondary::HeartbeatEcho(HeartbeatEcho {
                count,
                sent_at_us: heartbeat.sent_at_us,
                answered_at_us: wall_clock_us,
            }),
        });
        member.heard_at = cx.now;
        self.recovery
            .jobs
            .note_progress(sender, heartbeat.work, cx.now);
        member.heartbeat = heartbeat;
        let relay = HeartbeatRelay {
            name: sender.clone(),
            count,
            has_begun: self.phase != Phase::Gathering,
        };
        cx.push(PrimaryOutput::Observe(PrimaryToObservers::Heartbeat(relay)));
    }

    fn on_deadline_passed(&mut self, inbox_is_empty: bool, cx: &mut Context<'_>) {
        // While messages wait to be read, a heartbeat may be among them.
        if inbox_is_empty && !self.phase.is_over() {
            self.look_at_silent(cx);
        }
        while !self.phase.is_over()
            && let Some((name, reason)) = self.lost_peer(inbox_is_empty, cx.now)
        {
            self.on_lost(&name, reason, cx);
        }
        if self.phase == Phase::Running {
            self.continue_jobs(cx);
            self.continue_waiting(cx);
        }
        match self.phase {
            Phase::Gathering => self.continue_gathering(cx),
            Phase::Running if self.barrier.round.is_none() => self.continue_stepping(cx),
            Phase::Running => self.continue_round(cx),
            Phase::Stopping => self.continue_stopping(cx),
            Phase::Finished => {}
        }
    }
}
