//! The primary's rules: who takes part, the barrier around each step, and what comes next.
//!
//! [`Primary`] is composed of components, each a state machine in a module of its own that takes
//! events and answers with verdicts. What is here routes: inputs to the component that they
//! concern, and verdicts to the others. [`Primary::advance`] is the life of an iteration. Requests
//! of clients are routed in `requests`, secondaries that come and go in `failover`; `queries` is
//! for reports.

mod barrier;
mod commands;
mod context;
mod failover;
mod io;
mod participants;
mod participation;
mod peers;
mod placement;
mod purpose;
mod queries;
mod recovery;
mod requests;
mod resume;
mod run_clock;
mod settings;
mod spawn_text;
mod texts_beside;
mod windows;
mod world;

use std::sync::Arc;
use std::time::Duration;

use protocol::client_to_primary::ResetKind;
use protocol::exit::Outcome;
use protocol::primary_to_observers::Severity;
use protocol::primary_to_secondary::{CellSnapshot, HandOff, PrimaryToSecondary, Step, Wanted};
use protocol::report::TopicReport;
use protocol::report::divergence::DivergenceReport;
use protocol::secondary_to_primary::{SecondaryToPrimary, StepAck};
use protocol::{Envelope, FailureCode, PeerName, RoutingId, SessionTime, StopReason};
use sdf::World;

use crate::checkpoint::Checkpoint;
use crate::library::Library;
use crate::partition::{Changes, Rules};
use crate::peer_numbers::PeerNumber;
use crate::registry::EntityRegistry;
use crate::saved_state_error::SavedStateError;
use crate::topology::Topology;

pub use barrier::speculation::{REPLAY_MAX, WINDOW_MAX};
pub use io::{
    Attempt, CellTiming, Forbidden, PeerTiming, PrimaryInput, PrimaryOutput, ProcessReport,
    StepReport,
};
pub use resume::replay::{Replay, RunTarget};
pub use resume::saved_state::ResumeError;
pub use settings::{
    CHECKPOINT_EVERY, CellSettings, OutputSettings, PaceSettings, ParticipantSettings,
    PeerLossPolicy, PeerSettings, RecoverySettings, Settings, StepTimeoutSettings,
};
pub use spawn_text::ReadText;

use barrier::Barrier;
use barrier::acks::{AckVerdict, Answer};
use barrier::round::{NewRound, Round};
use barrier::state_reader::AckError;
use commands::Commands;
use commands::batch::{self, AppliedCommand, Batch, Pending};
use commands::resolve::Scope;
use commands::services::Calls;
use context::{Context, Failure};
use peers::Peers;
use peers::handshake::DrainFailure;
use peers::startup::WelcomeTerms;
use placement::Placement;
use placement::host_map::HostMap;
use purpose::Purpose;
use recovery::Recovery;
use recovery::checkpoints::OwnPart;
use resume::Resume;
use resume::saved_state::{SavedParts, SavedSettings, SavedState};
use run_clock::{ClockMode, RunClock};
use world::WorldState;

/// A primary.
#[derive(Debug)]
pub struct Primary {
    settings: Settings,
    phase: Phase,
    clock: RunClock,
    peers: Peers,
    barrier: Barrier,
    commands: Commands,
    world: WorldState,
    placement: Placement,
    recovery: Recovery,
    resume: Resume,
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

impl Primary {
    /// Makes the primary of a run of some worlds.
    ///
    /// # Panics
    /// Panics when the settings ask for no secondaries.
    pub fn new(mut settings: Settings, worlds: &[World]) -> Self {
        assert!(
            settings.peers.secondaries > 0,
            "a primary without secondaries has nobody to run physics"
        );
        let topology = Topology::new(worlds);
        let registry = EntityRegistry::new(worlds);
        let schedule = std::mem::take(&mut settings.schedule);
        let awaited = std::mem::take(&mut settings.participants.awaited);
        let welcome = WelcomeTerms::new(sdf::encode_worlds(worlds), &settings);
        Self {
            phase: Phase::Gathering,
            clock: RunClock::new(settings.pace.start_paused, settings.pace.to_pace()),
            peers: Peers::new(welcome),
            barrier: Barrier::default(),
            commands: Commands::new(schedule, awaited),
            placement: Placement::new(&topology),
            world: WorldState::new(topology, registry, settings.cells.rules),
            recovery: Recovery::default(),
            resume: Resume::default(),
            settings,
        }
    }

    /// Makes a primary that waits for secondaries, replays what was done since a checkpoint, and
    /// goes on. The schedule of the settings is not asked: the checkpoint has what is left of it.
    ///
    /// # Errors
    /// Fails when the checkpoint is none of these worlds.
    ///
    /// # Panics
    /// Panics when the settings ask for no secondaries.
    pub fn resume(
        settings: Settings,
        worlds: &[World],
        checkpoint: Checkpoint,
        replay: Replay,
    ) -> Result<Self, ResumeError> {
        let mut primary = Self::new(settings, worlds);
        primary.restore(&checkpoint.primary)?;
        let (sequence, iteration) = (primary.clock.sequence(), primary.clock.iteration());
        if sequence != checkpoint.sequence || iteration != checkpoint.iteration {
            return Err(ResumeError::Unfit(SavedStateError::OtherStep));
        }
        primary.begin_replay(replay);
        primary.resume.begin_from(checkpoint);
        primary.commands.participants_mut().begin_resumed();
        Ok(primary)
    }

    /// Returns the saved state of the rules, for [`Self::resume`]; to be asked at the end of a
    /// step.
    ///
    /// # Panics
    /// Panics when changes wait for states that were asked for: there is no end of a step then.
    pub fn save(&self) -> Vec<u8> {
        assert!(
            !self.commands.has_pending(),
            "a run is saved between steps, not while one is prepared"
        );
        let mode = self.resume.mode_asked_for(self.clock.mode());
        let calls = self.commands.calls().save(self.commands.waiters());
        let saved = SavedParts {
            clock: self.clock.save(mode),
            settings: SavedSettings::of(&self.settings),
            refused: self.peers.refused(),
            world: self.world.save(),
            host_map: self.placement.host_map().save(self.world.topology()),
            queue: self.commands.queue().save(self.clock.iteration()),
            calls,
        };
        SavedState::from(saved).encode()
    }

    fn restore(&mut self, bytes: &[u8]) -> Result<(), ResumeError> {
        let saved = SavedState::decode(bytes)?;
        self.restore_parts(saved.into()).map_err(ResumeError::Unfit)
    }

    fn restore_parts(&mut self, saved: SavedParts) -> Result<(), SavedStateError> {
        saved.settings.check()?;
        self.world.restore(saved.world, self.settings.cells.rules)?;
        let (topology, partition) = (self.world.topology(), self.world.partition());
        let host_map = HostMap::restore(topology, partition, saved.host_map)?;
        self.placement.restore(host_map);
        let (calls, waiters) = Calls::restore(saved.calls);
        self.commands.restore(saved.queue, calls, waiters);
        saved.settings.restore(&mut self.settings);
        self.clock = RunClock::restore(saved.clock, self.settings.pace.to_pace());
        self.peers.restore(saved.refused);
        Ok(())
    }

    /// Has a run that has not begun replay what was done, before anything new.
    pub fn begin_replay(&mut self, replay: Replay) {
        let target = replay.target.unwrap_or_else(|| self.run_target());
        if replay == Replay::default() {
            return;
        }
        let known = self.commands.queue().schedule_left();
        let schedule_left = replay.schedule_left.unwrap_or(known).min(known);
        let queue = self.commands.queue_mut();
        queue.repeat(replay.commands, schedule_left);
        // What systems called for is over, or would hold up what is done again.
        self.commands.forget_calls();
        self.clock.set_mode(ClockMode::Running);
        let after = self.clock.iteration();
        self.resume
            .begin_replay(replay.digests, after, schedule_left, target);
    }

    /// Sets the library with the files that spawned models refer to; without it, there are none.
    pub fn set_library(&mut self, library: Box<dyn Library>) {
        self.world.set_library(library);
    }

    /// Returns a library with the files that spawned models refer to, for texts that are read
    /// beside the run.
    pub fn library(&self) -> Arc<dyn Library> {
        self.world.library()
    }

    /// Replaces what is known of the topics of systems and sensors.
    pub fn set_topics(&mut self, topics: Vec<TopicReport>) {
        self.settings.outputs.topics = topics;
    }

    /// Advances the run by one input.
    pub fn handle(&mut self, input: PrimaryInput, now: SessionTime, out: &mut Vec<PrimaryOutput>) {
        let cx = &mut Context::new(now, self.clock.iteration(), out);
        if let Some(stall) = self.peers.look_up(cx) {
            self.recovery.postpone(stall);
            self.barrier.postpone(stall);
            self.commands.participants_mut().postpone(stall);
        }
        // A deadline that passes without any secondary's being due changes none of theirs.
        let is_deadline = matches!(input, PrimaryInput::DeadlinePassed { .. });
        let only_puts_off = input.only_puts_off() || is_deadline && !self.peers.is_any_due(now);
        let has_rested = self.barrier.speculation_mut().end_rest();
        self.on_input(input, cx);
        if has_rested {
            self.advance(cx);
        }
        self.do_waiting_commands(cx);
        self.continue_calls(cx);
        self.commands.participants_mut().take_failures(cx);
        self.commands.ros_inbox_mut().limit_refusals(cx);
        if !only_puts_off {
            let is_running = self.phase == Phase::Running;
            self.peers.renew_deadline(is_running, &self.settings.peers);
        }
        self.peers.rest(now, self.least_deadline().is_some());
    }

    fn on_input(&mut self, input: PrimaryInput, cx: &mut Context<'_>) {
        match input {
            PrimaryInput::Secondary {
                from,
                envelope,
                wall_clock_us,
            } => self.on_secondary(from, envelope, wall_clock_us, cx),
            PrimaryInput::Client {
                from,
                session,
                message,
                texts,
            } => self.on_request((from, session), message, texts, cx),
            PrimaryInput::Malformed {
                from,
                joining,
                error,
            } => self.peers.on_malformed(from, joining, &error, cx),
            PrimaryInput::Forbidden(forbidden) => self.peers.on_forbidden(forbidden, cx),
            PrimaryInput::Refused { counts, details } => {
                self.peers.on_refused(counts, &details, cx);
            }
            PrimaryInput::Subscribed(routing) => {
                let entry = self.entry();
                self.peers.on_subscribed(routing, entry, &self.settings, cx);
            }
            PrimaryInput::Unsubscribed(routing) => self.peers.on_unsubscribed(&routing, cx.now),
            PrimaryInput::GoneWithRelay { secondary, relay } => {
                self.peers.on_gone_with_relay(&secondary, relay, cx.now);
            }
            PrimaryInput::Observed(change) => self.commands.observed_mut().on_change(change),
            PrimaryInput::ClientGone(client) => self.on_client_gone(&client, cx),
            PrimaryInput::Diagnosed { peer, process } => self.on_diagnosed(&peer, &process, cx),
            PrimaryInput::Interrupted(signal) => {
                let cause = format!("the primary received {signal}");
                self.begin_stopping(StopReason::new(Outcome::Interrupted, cause), cx);
            }
            PrimaryInput::Failed(cause) => {
                self.begin_stopping(StopReason::new(Outcome::Failed, cause), cx);
            }
            PrimaryInput::StorageFailed(cause) => self.on_storage_failed(cause, cx),
            PrimaryInput::StorageWorks => self.on_storage_works(cx),
            PrimaryInput::CheckpointStored(sequence) => {
                self.recovery.on_checkpoint_stored(sequence, cx);
            }
            PrimaryInput::DeadlinePassed { inbox_is_empty } => {
                self.on_deadline_passed(inbox_is_empty, cx);
            }
        }
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
            let entry = self.entry();
            return self.peers.on_join(from, info, entry, &self.settings, cx);
        }
        let number = self.peers.sender(&sender, &from, &body);
        let Some(number) = number.filter(|_| session == self.settings.session) else {
            let is_of_run = session == self.settings.session;
            return self.peers.count_unknown(&sender, &from, is_of_run);
        };
        match body {
            SecondaryToPrimary::Join(_) => {}
            SecondaryToPrimary::Loaded(loaded) => self.on_loaded(&sender, &loaded, cx),
            SecondaryToPrimary::Synced => self.on_synced(&sender, cx),
            SecondaryToPrimary::Heartbeat(heartbeat) => {
                let has_begun = self.phase != Phase::Gathering;
                let from = (from, number);
                let work = self
                    .peers
                    .on_heartbeat(from, heartbeat, wall_clock_us, has_begun, cx);
                self.recovery
                    .jobs_mut()
                    .note_progress(&sender, work, cx.now);
            }
            SecondaryToPrimary::StepAck(ack) => {
                let mut ack = ack;
                self.on_step_ack((&sender, number), Arc::make_mut(&mut ack), cx);
            }
            SecondaryToPrimary::StepsAhead(part) => {
                let mut part = part;
                self.on_steps_ahead((&sender, number), Arc::make_mut(&mut part), cx);
            }
            SecondaryToPrimary::CellCheckpoint(cell) => {
                self.on_cell_checkpoint(&sender, cell, cx);
            }
            SecondaryToPrimary::SceneCheckpoint(scene) => {
                self.on_scene_checkpoint(&sender, scene, cx);
            }
            SecondaryToPrimary::CaughtUp(answer) => self.on_caught_up(&sender, *answer, cx),
            SecondaryToPrimary::Diverged(report) => self.on_diverged(&sender, *report, cx),
            SecondaryToPrimary::RosMessages(messages) => self.on_ros_messages(messages, cx),
            SecondaryToPrimary::Leave(reason) => self.on_leave(&sender, &reason, cx),
        }
    }

    /// Returns the time when [`PrimaryInput::DeadlinePassed`] is due, if ever.
    pub fn deadline(&self) -> Option<SessionTime> {
        let least = self.least_deadline()?;
        Some(self.peers.look_before(least))
    }

    fn least_deadline(&self) -> Option<SessionTime> {
        let phase = match self.phase {
            Phase::Gathering => Some(self.peers.startup_deadline(&self.settings)),
            Phase::Running => match self.barrier.round() {
                Some(round) => Some(round.deadline()),
                None if self.barrier.speculation().rests() => Some(SessionTime(0)),
                None => self.next_step_due(),
            },
            Phase::Stopping => return self.peers.shutdown_deadline(),
            Phase::Finished => return None,
        };
        let others = [
            self.peers.next_deadline(),
            self.recovery.deadline(&self.settings.peers),
            self.participants_deadline(),
            self.barrier.standby_deadline(),
        ];
        phase.into_iter().chain(others.into_iter().flatten()).min()
    }

    fn on_deadline_passed(&mut self, inbox_is_empty: bool, cx: &mut Context<'_>) {
        let is_any_due = self.peers.is_any_due(cx.now);
        // While messages wait to be read, a heartbeat may be among them.
        if is_any_due && inbox_is_empty && !self.phase.is_over() {
            self.peers.look_at_silent(&self.settings.peers, cx);
        }
        if is_any_due && !self.phase.is_over() {
            self.peers.tell_lost_relays(cx);
        }
        while is_any_due
            && !self.phase.is_over()
            && let Some((name, reason)) = self.peers.lost_peer(
                inbox_is_empty,
                self.phase == Phase::Running,
                &self.settings.peers,
                cx,
            )
        {
            self.on_lost(&name, reason, cx);
        }
        if self.phase == Phase::Running {
            self.continue_jobs(cx);
            self.continue_waiting(cx);
            self.continue_participants(cx);
        }
        match self.phase {
            Phase::Gathering => {
                if let Some(reason) = self.peers.continue_gathering(&self.settings, cx) {
                    self.begin_stopping(reason, cx);
                }
            }
            Phase::Running if self.barrier.is_free() => self.advance(cx),
            Phase::Running => self.continue_round(cx),
            Phase::Stopping => {
                self.peers.continue_shutdown(cx);
                self.finish_if_alone(cx);
            }
            Phase::Finished => {}
        }
    }

    /// Tells whether no step is under way in a run that has begun.
    fn is_idle(&self) -> bool {
        self.phase == Phase::Running && self.barrier.is_free()
    }

    /// Begins the run: all secondaries are ready. Places the cells and has everyone build them, in
    /// a step in which time is paused.
    fn begin_stepping(&mut self, cx: &mut Context<'_>) {
        self.peers.begin_run(cx);
        self.clock.restart_pace(cx.now);
        self.phase = Phase::Running;
        if let Some(checkpoint) = self.resume.take_checkpoint() {
            return self.begin_from(checkpoint, cx);
        }
        let (secondaries, known) = (self.peers.secondaries(), self.peers.numbers());
        let affinities = self
            .placement
            .place_first(self.world.topology(), secondaries, known);
        let step = Step {
            affinities,
            ..Step::default()
        };
        self.publish(Purpose::Build, step, Vec::new(), Vec::new(), cx);
    }

    /// Returns the time of the next step, if one is due.
    fn next_step_due(&self) -> Option<SessionTime> {
        if self.recovery.is_held() {
            return None;
        }
        if self.commands.queue().are_due() || self.has_to_replay() {
            return Some(SessionTime(0));
        }
        if self.is_held_by_participants() {
            return (self.has_to_rearrange() || self.owes_word()).then_some(SessionTime(0));
        }
        let shows_rest = self.commands.observed().has_links_to_show();
        let has_changes = self.has_to_rearrange() || shows_rest || self.owes_word();
        let due = self.clock.next_due(has_changes);
        if self.clock.is_running() && !self.has_to_rearrange() {
            self.due_with_answers(due)
        } else {
            due
        }
    }

    /// Tells whether something waits for a step although time is paused.
    fn has_to_rearrange(&self) -> bool {
        self.placement.has_migrations()
            || self.commands.queue().has_said()
            || self.recovery.is_checkpoint_wanted()
    }

    /// Tells whether the next step is one that is replayed.
    fn has_to_replay(&self) -> bool {
        self.resume.is_replaying() && self.clock.mode() == ClockMode::Running
    }

    /// Makes the next step once it is due: the life of an iteration begins here. It goes on in
    /// [`Self::begin_step`], [`Self::publish`], [`Self::on_step_ack`] and [`Self::complete_step`],
    /// which comes back here.
    fn advance(&mut self, cx: &mut Context<'_>) {
        // Commands that are all refused leave nothing to step for.
        while self.is_idle() && !self.recovery.is_held() && !self.barrier.speculation().rests() {
            self.take_restored();
            self.continue_draining(cx);
            let iteration = self.clock.iteration();
            let limit = self.settings.pace.iterations;
            if limit.is_some_and(|limit| iteration.0 >= limit) {
                let cause = format!("all {iteration} iterations are done");
                return self.begin_stopping(StopReason::new(Outcome::Completed, cause), cx);
            }
            self.end_replay_when_done(cx);
            let rest = self.resume.schedule_after_replay();
            let queue = self.commands.queue_mut();
            queue.keep_schedule(rest, &self.settings.outputs.topics, cx);
            self.tell_participants(cx);
            if self.next_step_due().is_none_or(|due| due > cx.now) {
                return;
            }
            let is_held = self.is_held_by_participants();
            let are_commands_due = self.commands.queue().are_due();
            if !is_held && !are_commands_due && self.take_answers(cx) {
                continue;
            }
            let stands_still = is_held || self.clock.is_paused();
            let purpose = if stands_still && self.owes_word() && !are_commands_due {
                Purpose::Pause
            } else {
                self.clock.next_purpose(are_commands_due || is_held, cx.now)
            };
            self.begin_step(purpose, cx);
        }
    }

    /// Begins a step for a purpose: commands, then changes of the partition, then of hosts. What
    /// changes need and is not here is fetched first, in a step in which time is paused.
    ///
    /// A pause changes nothing: it is no part of what commands did, and a run that repeats these
    /// has none.
    fn begin_step(&mut self, purpose: Purpose, cx: &mut Context<'_>) {
        if purpose == Purpose::Pause {
            return self.publish(purpose, Step::default(), Vec::new(), Vec::new(), cx);
        }
        let is_fresh = self.world.is_fresh();
        if purpose == Purpose::Rearrange
            && !is_fresh
            && let Some((what, applied)) = self.commands.queue_mut().take_reset(cx)
        {
            return self.reset(what, applied, cx);
        }
        if self.world.give_back_numbers() {
            self.placement.give_back(self.world.topology());
        }
        let watched = self.world.watched_worlds();
        let mut batch = if is_fresh {
            Batch::default()
        } else {
            self.stamp(purpose, cx)
        };
        let is_numbered = purpose != Purpose::Rearrange || batch.is_needed || is_fresh;
        let shows_rest = self.commands.observed().has_links_to_show();
        if !is_numbered && !self.has_to_rearrange() && !shows_rest {
            return;
        }
        let changes = if is_numbered {
            let has_actions = batch.changes_models();
            self.world.repartition(self.clock.iteration(), has_actions)
        } else {
            // A round for a migration or a checkpoint alone is none that a repeated run has.
            self.world.note_states();
            Changes::default()
        };
        if batch.changes_models() {
            batch.refuse_distant_attachments(&mut self.world, cx);
        }
        let open = self.placement.host_map().affinity().keys().copied();
        let shows_ghosts = self.world.watched_worlds() > watched;
        let Some(wanted) = self.world.missing(&changes, open, shows_ghosts) else {
            return self.publish_changes(purpose, changes, batch, cx);
        };
        self.commands.hold(Pending {
            purpose,
            changes,
            batch,
        });
        let step = Step {
            wanted,
            ..Step::default()
        };
        self.publish(Purpose::Fetch, step, Vec::new(), Vec::new(), cx);
    }

    /// Takes into a step what commands can bring.
    fn stamp(&mut self, purpose: Purpose, cx: &mut Context<'_>) -> Batch {
        let scope = &mut Scope {
            world: &mut self.world,
            clock: &mut self.clock,
            settings: &mut self.settings,
        };
        self.commands.queue_mut().stamp(purpose, scope, cx)
    }

    /// Publishes changes, once all that they need is here.
    fn publish_changes(
        &mut self,
        purpose: Purpose,
        changes: Changes,
        batch: Batch,
        cx: &mut Context<'_>,
    ) {
        self.world.count_levels(&changes.levels);
        self.placement.insert(self.world.topology(), &batch.spawned);
        let peers = &self.peers;
        let mut affinities = self
            .placement
            .open_and_close(&changes, &self.world, peers, cx);
        let ready = self.placement.take_ready(&mut self.world, cx);
        for host in &ready.hosts_of_too_large {
            self.peers.fail_drain(host, DrainFailure::TooLarge, cx);
        }
        let world = (&mut self.world, self.peers.numbers());
        let snapshots = self.placement.migrate(ready, &mut affinities, world, cx);
        self.world.tell_parts(&changes.parts, cx);
        let hand_offs = changes.hand_offs;
        self.placement.tell_hand_offs(&hand_offs, &self.world, cx);
        let hand_offs = hand_offs.into_iter().map(|hand_off| {
            self.placement.hand_over(hand_off);
            self.world.hand_off(hand_off)
        });
        let hand_offs: Vec<HandOff> = hand_offs.collect();
        self.placement.end_changes(&affinities, &batch.removed);
        self.world.end_changes(&batch.spawned, &batch.removed);
        let open = self.placement.host_map().affinity().keys().copied();
        let ghost_poses = self.world.take_ghost_poses(open);
        let snapshots_wanted = self.placement.ask_for_snapshots(cx);
        let step = Step {
            affinities,
            actions: batch.actions,
            messages: batch.messages,
            hand_offs,
            level_changes: changes.levels,
            ghost_changes: changes.ghosts,
            ghost_poses,
            suspensions: changes.suspensions,
            wanted: self.world.wanted(snapshots_wanted),
            ..Step::default()
        };
        self.publish(purpose, step, snapshots, batch.applied, cx);
    }

    /// Has everyone build the cells of the start; what was spawned is gone, what was removed back.
    /// Iterations go on: they number what is done, and never go back.
    fn reset(&mut self, what: ResetKind, applied: AppliedCommand, cx: &mut Context<'_>) {
        let reason = "all models were reset before the cell could move";
        let failure = Failure::new(FailureCode::Superseded, reason);
        self.placement.drop_migrations(&failure, cx);
        self.commands.queue_mut().forget_systems();
        let rules = Rules {
            step_size_s: self.settings.pace.step_size.as_secs_f64(),
            ..self.settings.cells.rules
        };
        self.world.reset(self.clock.iteration(), rules);
        self.clock.reset_elapsed();
        if what == ResetKind::All {
            self.clock.reset_time();
        }
        let known = self.peers.numbers();
        let hosts = self.peers.hosts_for_lost_cells();
        let step = Step {
            reset: true,
            affinities: self.placement.reset(self.world.topology(), &hosts, known),
            ..Step::default()
        };
        self.publish(Purpose::Build, step, Vec::new(), vec![applied], cx);
    }

    /// Publishes a step, unless all have done it already; it gets its number and its time here.
    fn publish(
        &mut self,
        purpose: Purpose,
        step: Step,
        mut snapshots: Vec<(PeerName, CellSnapshot)>,
        applied: Vec<AppliedCommand>,
        cx: &mut Context<'_>,
    ) {
        let time = self.clock.begin_step(purpose, self.settings.pace.step_size);
        self.world.begin_step(purpose);
        let number = (time.sequence, time.iteration);
        // It is filled in where it stays: a step is large, and there may be 200,000 in a second.
        let mut shared = Arc::new(step);
        let step = Arc::get_mut(&mut shared).expect("a new step is shared with nobody");
        step.repeats = self.resume.repeats(time.iteration, step);
        step.sequence = time.sequence;
        step.iteration = time.iteration;
        step.sim_time = time.sim_time;
        step.elapsed = time.elapsed;
        let observed = self.commands.observed_mut();
        step.subscriptions = observed.take(purpose != Purpose::Advance);
        step.participant_topics = self.commands.participants_mut().take_topics();
        step.world_publisher = self.placement.world_publisher(self.peers.seats()).cloned();
        step.step_size_ns = time.passes.as_nanos() as u64;
        step.paused = purpose != Purpose::Advance;
        let recovery = &mut self.recovery;
        step.checkpoint = recovery.asks_for_checkpoint(purpose, number, &self.settings.recovery);
        recovery.losses_mut().announce_restored(step);
        let (affinity, publisher) = (self.placement.host_map().affinity(), &step.world_publisher);
        self.recovery
            .note_cells_of_checkpoint(time.sequence, affinity, publisher.as_ref());
        let is_plain = purpose == Purpose::Advance && snapshots.is_empty() && applied.is_empty();
        let is_ahead = self.has_done(step, is_plain, cx.now);
        if !is_ahead {
            self.choose_awaited(purpose, step);
        }
        for (name, snapshot) in &mut snapshots {
            snapshot.sequence = time.sequence;
            self.peers.send_snapshot(name, snapshot, cx);
        }
        cx.push(if is_ahead {
            PrimaryOutput::Ahead(Arc::clone(&shared))
        } else {
            PrimaryOutput::Publish(PrimaryToSecondary::Step(Arc::clone(&shared)))
        });
        let round = NewRound {
            step: shared,
            purpose,
            is_ahead,
            snapshots,
            applied,
            cell_count: self.placement.host_map().affinity().len(),
        };
        self.barrier.begin(round, &self.settings.peers, cx.now);
        if is_ahead {
            let mut answers = self.barrier.take_answers_ahead();
            for (number, ack) in &mut answers {
                let name = self.peers.numbers().name(*number).clone();
                self.on_step_ack((&name, *number), ack, cx);
            }
            self.barrier.recycle_answers_ahead(answers);
        }
    }

    fn on_step_ack(
        &mut self,
        (sender, number): (&PeerName, PeerNumber),
        ack: &mut StepAck,
        cx: &mut Context<'_>,
    ) {
        let is_lost = self.recovery.losses().owes(sender);
        // What was said in a step that was done ahead is kept back until the next message.
        let is_ahead = self.barrier.round().is_some_and(Round::is_ahead);
        let sequence = (!is_ahead).then_some(ack.sequence);
        let known = (&self.world, self.placement.host_map());
        let verdict = self
            .barrier
            .on_ack((sender, number), ack, is_lost, known, cx.now);
        match verdict {
            AckVerdict::Stale => self.peers.count_stale(),
            AckVerdict::Duplicate => self.peers.count_duplicate(),
            AckVerdict::Due => {}
            AckVerdict::OfStandby(answer) => self.note_standby(number, answer, cx.now),
            AckVerdict::Waiting(answer) => {
                self.recovery.note_answered(number, sequence);
                self.take_over(answer, ack, cx);
                self.recovery.jobs_mut().note_free(sender, cx.now);
            }
            AckVerdict::Complete(answer) => {
                self.recovery.note_answered(number, sequence);
                self.take_over(answer, ack, cx);
                self.recovery.jobs_mut().note_free(sender, cx.now);
                if !self.recovery.is_held() {
                    self.complete_step(cx);
                }
            }
            AckVerdict::Violation { error, divergence } => {
                self.on_violation(sender, &error, divergence, cx);
            }
        }
    }

    /// Takes note that a secondary broke the protocol: it is lost, or the run is.
    fn on_violation(
        &mut self,
        sender: &PeerName,
        error: &AckError,
        divergence: Option<Box<DivergenceReport>>,
        cx: &mut Context<'_>,
    ) {
        if let Some(report) = divergence.filter(|_| self.is_host(sender)) {
            return self.diverge(*report, cx);
        }
        self.peers.count_malformed();
        let cause = format!("{sender} broke the protocol: {error}");
        let reason = StopReason::new(Outcome::PeerLost, cause);
        if self.can_recover() {
            // Its states are dropped, so that nothing of the run is in doubt.
            self.on_lost(sender, reason, cx);
        } else {
            self.begin_stopping(reason, cx);
        }
    }

    /// Takes over what an answer holds, whoever gave it.
    fn take_over(&mut self, answer: Answer, ack: &mut StepAck, cx: &mut Context<'_>) {
        if answer.purpose == Purpose::Advance {
            self.placement.note_costs(ack);
        }
        self.world.take(&answer.states, ack, cx);
        self.barrier.recycle(answer.states);
    }

    /// Completes the step under way: all have answered it.
    ///
    /// The order matters. The clock comes first, since all that follows is told as of the new
    /// iteration. The driver is told of the step before the clients whose commands it brought. The
    /// log gets it before a replay is compared, since a difference ends the run. Clients that wait
    /// for time, and checkpoints, come last: they see the run as the next step will find it.
    fn complete_step(&mut self, cx: &mut Context<'_>) {
        let mut round = self.barrier.complete();
        let purpose = round.purpose();
        self.take_restored();
        self.clock.complete(round.step());
        cx.iteration = self.clock.iteration();
        if purpose == Purpose::Advance {
            self.commands.queue_mut().begin_iteration();
        }
        if matches!(purpose, Purpose::Build | Purpose::Advance) {
            // What changes while time is paused belongs to the next iteration.
            self.world.digest_all();
        }
        let is_ahead = round.is_ahead();
        let duration = self.report_step(&mut round, cx);
        self.complete_commands(&mut round, cx);
        self.keep(round.into_step(), duration);
        if purpose == Purpose::Advance && !self.check_replayed(cx) {
            return;
        }
        match purpose {
            // Levels, ghosts and groups follow from what the cells of the start hold: in a round of
            // their own, before commands and whether time runs or not, so that a run in which the
            // same commands come at other moments has the same rounds.
            Purpose::Build => return self.begin_step(Purpose::Rearrange, cx),
            Purpose::Fetch => {
                let Pending {
                    purpose,
                    changes,
                    batch,
                } = self.commands.take_pending();
                return self.publish_changes(purpose, changes, batch, cx);
            }
            Purpose::Advance if self.settings.cells.balance => {
                let hosts = self.peers.hosts();
                self.placement.balance_cells(cx.iteration, &hosts);
            }
            Purpose::Advance | Purpose::Pause | Purpose::Rearrange => {}
        }
        self.clock.stop_after(purpose);
        if self.clock.is_paused() {
            self.clock.observe(cx);
        }
        self.placement.complete_migrations(cx);
        let is_paused = self.clock.is_paused();
        self.commands.waiters_mut().answer(is_paused, cx);
        self.save_for_checkpoint(cx);
        self.begin_calls_of_systems(cx);
        // What a recording has of the step is what the next one finds.
        let is_recorded = self.settings.outputs.link_record_hz.is_some();
        let are_due = is_recorded && self.commands.queue().are_due_after(cx.iteration);
        if !self.barrier.rest_after(is_ahead, are_due, cx.now) {
            self.advance(cx);
        }
    }

    /// Has the driver told of a step that is complete; returns its duration.
    fn report_step(&mut self, round: &mut Round, cx: &mut Context<'_>) -> Duration {
        let (peers, duration) = self.barrier.share_time(round, cx.now);
        self.placement
            .note_duration(round.purpose(), round.snapshots(), duration);
        let has_way = self.barrier.speculation().has_way();
        if self.settings.cells.balance && has_way && round.purpose() == Purpose::Advance {
            let iteration = round.step().iteration;
            self.placement.note_ways(iteration, &peers, &self.peers);
        }
        let step = round.step();
        cx.push(PrimaryOutput::StepDone(StepReport {
            sequence: step.sequence,
            iteration: step.iteration,
            paused: step.paused,
            digest: self.world.digest(),
            schedule_left: self.commands.schedule_left(),
            duration,
            rearranged: !step.affinities.is_empty() || !step.hand_offs.is_empty(),
            peers,
            cells: round.take_cells(),
        }));
        duration
    }

    /// Takes over what systems ask for and say, and answers those whose commands the step has
    /// brought.
    fn complete_commands(&mut self, round: &mut Round, cx: &mut Context<'_>) {
        let gathered = round.take_gathered();
        let requests = self
            .commands
            .resolve_calls(gathered.requests, &self.world, cx);
        self.commands.hear(round.step(), gathered.for_participants);
        let queue = self.commands.queue_mut();
        queue.take_from_systems(requests, gathered.messages);
        let applied = round.take_applied();
        let (actions, failures) = (&round.step().actions, &gathered.failures);
        batch::answer_applied(applied, actions, failures, &mut self.world, cx);
    }

    /// Keeps a step that is done, for those who have to do it again.
    fn keep(&mut self, mut step: Arc<Step>, took: Duration) {
        if !self.recovery.keeps_past(&self.settings.recovery) {
            return;
        }
        if step.wanted != Wanted::default() {
            Arc::make_mut(&mut step).wanted = Wanted::default();
        }
        let hosted = self.placement.host_map().affinity().keys();
        let digests = hosted.filter_map(|cell| Some((*cell, self.world.cell_digest(*cell)?)));
        let digests = digests.collect();
        self.recovery.step_log_mut().push(step, digests, took);
    }

    /// Compares the digest of an iteration with that of before, if it is replayed; ends the run
    /// where they differ.
    fn check_replayed(&mut self, cx: &mut Context<'_>) -> bool {
        let number = (self.clock.iteration(), self.clock.sequence());
        let report = self.resume.check_replayed(number, &self.world);
        let agrees = report.is_none();
        if let Some(report) = report {
            self.diverge(report, cx);
        }
        agrees
    }

    /// Goes on with what is new once all is replayed.
    fn end_replay_when_done(&mut self, cx: &mut Context<'_>) {
        let queue = self.commands.queue();
        if !self.resume.is_replaying() || queue.are_due() {
            return;
        }
        let iteration = self.clock.iteration();
        let left = queue.schedule_left();
        let Some((mode, factor)) = self.resume.end_replay_when_done(iteration, left) else {
            return;
        };
        self.clock.set_mode(self.resume.admit_mode(mode));
        self.settings.pace.real_time_factor = factor;
        self.clock
            .set_pace(self.settings.pace.step_size, factor, cx.now);
        let text = format!("the run goes on after iteration {iteration}");
        cx.event(Severity::Info, "recovery", text);
        self.clock.observe(cx);
        cx.push(PrimaryOutput::Replayed);
    }

    /// Notes the primary's part of a checkpoint when the step that asked for it is done, with all
    /// that follows from it before the next.
    fn save_for_checkpoint(&mut self, cx: &mut Context<'_>) {
        if !self.recovery.lacks_own_part(self.clock.sequence()) {
            return;
        }
        let is_journaled = self.settings.recovery.is_journaled;
        let saved = is_journaled.then(|| self.save());
        self.recovery.take_own_part(OwnPart {
            iteration: self.clock.iteration(),
            digest: self.world.digest(),
            saved: saved.unwrap_or_default(),
        });
        self.recovery.complete_checkpoint(is_journaled, cx);
    }
}
