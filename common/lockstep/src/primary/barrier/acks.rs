//! What secondaries answer: checked against what they host and own, taken over, and with the last
//! one the iteration is complete.

use std::sync::Arc;
use std::time::Duration;

use protocol::exit::Outcome;
use protocol::primary_to_client::Reply;
use protocol::primary_to_observers::{Clock, PrimaryToObservers, Severity};
use protocol::primary_to_secondary::{Step, Wanted};
use protocol::secondary_to_primary::{CellAck, StepAck};
use protocol::{CellId, Digest, DigestBuilder, PeerName, PerformerId, PerformerState, StopReason};

use crate::primary::barrier::rounds::Round;
use crate::primary::barrier::speculation::take_answers;
use crate::primary::context::Context;
use crate::primary::placement::host_map::HostMap;
use crate::primary::purpose::Purpose;
use crate::primary::{
    CellTiming, ClockMode, PeerTiming, Primary, PrimaryOutput, StepReport, Until,
};

/// What answers are read into; its memory is used again.
#[derive(Debug, Default)]
pub(crate) struct StateReader {
    states: Vec<PerformerState>,
    digest: DigestBuilder,
}

impl Primary {
    pub(crate) fn on_step_ack(
        &mut self,
        sender: &PeerName,
        mut ack: StepAck,
        cx: &mut Context<'_>,
    ) {
        let Some(round) = &self.barrier.round else {
            self.peers.refused.stale += 1;
            return;
        };
        let is_asked = round.acks.contains_key(sender) && !self.recovery.losses.owes(sender);
        if ack.sequence < round.step.sequence || !is_asked {
            self.peers.refused.stale += 1;
            return;
        }
        let is_repeated = round.acks.get(sender).is_some_and(Option::is_some);
        if is_repeated && ack.sequence == round.step.sequence {
            self.peers.refused.duplicate += 1;
            return;
        }
        let agrees = ack.sequence == round.step.sequence && ack.iteration == round.step.iteration;
        let mut reading = std::mem::take(&mut self.barrier.reader);
        let read = if agrees {
            self.read_states(self.hosted(sender), &ack, &mut reading)
        } else {
            Err(disagreement(&ack))
        };
        let ahead = read.and_then(|()| {
            let shortfall = shortfall(&round.step.wanted, &ack, &self.placement.host_map);
            let ahead = shortfall.map_or_else(|| take_answers(&round.step, &mut ack), Err);
            ahead.map_err(str::to_owned)
        });
        match ahead {
            Ok(ahead) => {
                self.barrier.keep_ahead(sender, ahead);
                self.accept(sender, ack, reading, cx);
            }
            Err(violation) => {
                if self.is_host(sender)
                    && let Some(report) = self.divergence_in(sender, &ack)
                {
                    return self.diverge(report, cx);
                }
                self.peers.refused.malformed += 1;
                let cause = format!("{sender} broke the protocol: {violation}");
                let reason = StopReason::new(Outcome::PeerLost, cause);
                if self.can_recover() {
                    // Its states are dropped, so that nothing of the run is in doubt.
                    self.on_lost(sender, reason, cx);
                } else {
                    self.begin_stopping(reason, cx);
                }
            }
        }
    }

    /// Reads the states in an ack, once they are of the cells that it must be about, and give the
    /// digests of those with the states that are known.
    pub(crate) fn read_states(
        &self,
        cells: &[CellId],
        ack: &StepAck,
        reading: &mut StateReader,
    ) -> Result<(), String> {
        let StateReader { states, digest } = reading;
        states.clear();
        states.extend(ack.states.states().map_err(|error| error.to_string())?);
        if !cells.iter().copied().eq(ack.hosted()) {
            return Err("its ack is not about the cells that it hosts".to_owned());
        }
        let is_unknown = |cell: &CellId| self.world.latest.cell_digest(*cell).is_none();
        if let Some(cell) = ack.at_rest.iter().find(is_unknown) {
            return Err(format!(
                "cell {cell} cannot be at rest before its first answer"
            ));
        }
        let mut rest = states.as_slice();
        for cell in &ack.cells {
            let Some((own, others)) = rest.split_at_checked(cell.state_count as usize) else {
                return Err("its ack holds fewer states than it says".to_owned());
            };
            rest = others;
            digest.clear();
            for state in self.with_known(cell.cell, own)? {
                digest.digest(state.digest);
            }
            if digest.finish() != cell.digest {
                return Err(format!(
                    "the digest of cell {} does not fit its states",
                    cell.cell
                ));
            }
        }
        if rest.is_empty() {
            Ok(())
        } else {
            Err("its ack holds too many states".to_owned())
        }
    }

    /// Returns the states of all performers of a cell: those that an ack holds, and as they are
    /// known those that it leaves out since they did not change.
    pub(crate) fn with_known<'a>(
        &'a self,
        cell: CellId,
        changed: &'a [PerformerState],
    ) -> Result<impl Iterator<Item = &'a PerformerState>, String> {
        let owned = self.placement.host_map.owned(cell);
        let mut left = changed.iter().peekable();
        for performer in owned {
            left.next_if(|state| state.performer == *performer);
        }
        if left.next().is_some() {
            return Err(format!("cell {cell} holds other performers than it owns"));
        }
        let mut left = changed.iter().peekable();
        Ok(owned.iter().map(move |performer| {
            let new = left.next_if(|state| state.performer == *performer);
            new.unwrap_or_else(|| &self.world.latest.states[performer.0 as usize])
        }))
    }

    fn accept(
        &mut self,
        sender: &PeerName,
        ack: StepAck,
        reading: StateReader,
        cx: &mut Context<'_>,
    ) {
        let Some(round) = &mut self.barrier.round else {
            unreachable!("acks are accepted only while a step waits for them");
        };
        let answered_after = cx.now.since(round.published_at);
        let timing = timing_of(sender, &ack, answered_after);
        let is_complete = round.note_answer(sender, timing);
        self.take_over(ack, reading, cx);
        self.recovery.jobs.note_free(sender, cx.now);
        if is_complete && !self.recovery.is_held() {
            self.complete_round(cx);
        }
    }

    /// Takes over what an answer holds, whoever gave it.
    pub(crate) fn take_over(
        &mut self,
        mut ack: StepAck,
        reading: StateReader,
        cx: &mut Context<'_>,
    ) {
        for state in &reading.states {
            if self.world.latest.update(*state) {
                let name = &self.world.topology.performer(state.performer).name;
                let text = format!("the state of {name} is not finite after {}", ack.iteration);
                cx.event(Severity::Warning, "step", text);
            }
        }
        self.barrier.reader = reading;
        let Some(round) = &mut self.barrier.round else {
            unreachable!("answers are taken over only while a step waits for them");
        };
        let moving = ack.cells.iter().map(|cell| CellTiming {
            cell: cell.cell,
            physics_ns: cell.physics_ns,
            systems_ns: cell.systems_ns,
            sensors_ns: cell.sensors_ns,
        });
        round.cells.extend(moving);
        if round.purpose == Purpose::Advance {
            for one in &ack.cells {
                let cost = Duration::from_nanos(one.physics_ns);
                self.placement.balance.note(one.cell, cost);
            }
            for cell in ack.at_rest.iter() {
                self.placement.balance.note(cell, Duration::ZERO);
            }
        }
        round.requests.extend(std::mem::take(&mut ack.requests));
        round.messages.extend(std::mem::take(&mut ack.messages));
        for failure in std::mem::take(&mut ack.failures) {
            round.failures.insert(failure.number, failure.reason);
        }
        self.world.latest.take(ack);
    }

    pub(crate) fn complete_round(&mut self, cx: &mut Context<'_>) {
        let Some(mut round) = self.barrier.round.take() else {
            unreachable!("only a step under way can be completed");
        };
        let purpose = round.purpose;
        self.take_restored();
        self.clock.iteration = round.step.iteration;
        cx.iteration = self.clock.iteration;
        self.clock.sim_time = round.step.sim_time;
        self.clock.elapsed = round.step.elapsed;
        if purpose == Purpose::Advance {
            self.commands.queue.begin_iteration();
        }
        let mut timings = round.take_timings();
        let took = cx.now.since(round.published_at);
        let duration = self.spread_time(round.is_ahead, &mut timings, took);
        self.placement.note_cost_of_migrations(&round, duration);
        let paused = round.step.paused;
        if matches!(purpose, Purpose::Build | Purpose::Advance) {
            // What changes while time stands still belongs to the next iteration.
            self.world.digest = self.digest_of_all();
        }
        cx.push(PrimaryOutput::StepDone(StepReport {
            sequence: round.step.sequence,
            iteration: self.clock.iteration,
            paused,
            digest: self.world.digest,
            schedule_left: self.commands.schedule_left(),
            duration,
            rearranged: !round.step.affinities.is_empty() || !round.step.hand_offs.is_empty(),
            peers: timings,
            cells: std::mem::take(&mut round.cells),
        }));
        self.complete_commands(&mut round, cx);
        self.keep(round.step, duration);
        if purpose == Purpose::Advance && !self.check_replayed(cx) {
            return;
        }
        match purpose {
            // Levels, ghosts and groups follow from what the cells of the start hold: in a round of
            // their own, before commands and whether time runs or not, so that a run in which the
            // same commands come at other moments has the same rounds.
            Purpose::Build => return self.begin_step(Purpose::Rearrange, cx),
            Purpose::Fetch => return self.resume_step(cx),
            Purpose::Advance => self.balance_cells(),
            Purpose::Pause => {
                if self.clock.mode == ClockMode::Pausing {
                    self.clock.mode = ClockMode::Paused;
                }
            }
            Purpose::Rearrange => {}
        }
        if let ClockMode::Until(last) = self.clock.mode
            && self.clock.iteration >= last
        {
            self.clock.mode = ClockMode::Paused;
        }
        if self.clock.mode == ClockMode::Paused {
            self.observe_clock(cx);
        }
        self.placement.complete_migrations(cx);
        self.answer_waiters(cx);
        self.save_for_checkpoint(cx);
        self.begin_calls_of_systems(cx);
        if !self.rests_before_next(round.is_ahead, cx.now) {
            self.continue_stepping(cx);
        }
    }

    /// Takes over what systems ask for and say, and answers whose commands the step has brought.
    fn complete_commands(&mut self, round: &mut Round, cx: &mut Context<'_>) {
        let requests = self.resolve_calls(std::mem::take(&mut round.requests), cx);
        let messages = std::mem::take(&mut round.messages);
        self.commands.queue.take_from_systems(requests, messages);
        let applied = std::mem::take(&mut round.applied);
        self.answer_applied(applied, &round.step.actions, &round.failures, cx);
    }

    /// Keeps a step that is done, for those who have to do it again.
    fn keep(&mut self, step: Arc<Step>, took: Duration) {
        if !self.keeps_past() {
            return;
        }
        let mut step = Arc::unwrap_or_clone(step);
        step.wanted = Wanted::default();
        let hosted = self.placement.host_map.affinity().keys();
        let digests =
            hosted.filter_map(|cell| Some((*cell, self.world.latest.cell_digest(*cell)?)));
        let digests = digests.collect();
        self.recovery.step_log.push(step, digests, took);
    }

    fn digest_of_all(&mut self) -> Digest {
        let builder = &mut self.barrier.reader.digest;
        builder.clear();
        for id in &self.world.by_name {
            builder.digest(self.world.latest.states[id.0 as usize].digest);
        }
        builder.finish()
    }

    pub(crate) fn observe_clock(&self, cx: &mut Context<'_>) {
        cx.push(PrimaryOutput::Observe(PrimaryToObservers::Clock(Clock {
            iteration: self.clock.iteration,
            sim_time: self.sim_time(),
            paused: self.clock.mode == ClockMode::Paused,
        })));
    }

    fn answer_waiters(&mut self, cx: &mut Context<'_>) {
        let (iteration, paused) = (self.clock.iteration, self.clock.mode == ClockMode::Paused);
        let is_done = |until: Until| match until {
            Until::Iteration(last) => iteration >= last,
            Until::Paused => paused,
        };
        for waiter in self
            .commands
            .waiters
            .extract_if(.., |waiter| is_done(waiter.until))
        {
            let done = Reply::Done {
                iteration,
                name: None,
                warnings: Vec::new(),
            };
            cx.reply(waiter.to, waiter.request, done);
        }
    }
}

/// Returns what an answer says of the time that it took.
fn timing_of(sender: &PeerName, ack: &StepAck, answered_after: Duration) -> PeerTiming {
    let sum = |of: fn(&CellAck) -> u64| ack.cells.iter().map(of).fold(0, u64::saturating_add);
    let parts = [
        sum(|cell| cell.physics_ns),
        sum(|cell| cell.systems_ns),
        sum(|cell| cell.sensors_ns),
    ];
    // On several threads the cells' times add up to more than passed.
    let all = parts
        .iter()
        .fold(0, |all: u64, part| all.saturating_add(*part));
    let scale = if all > ack.busy_ns {
        ack.busy_ns as f64 / all as f64
    } else {
        1.0
    };
    let [physics, systems, sensors] =
        parts.map(|part| Duration::from_nanos((part as f64 * scale) as u64));
    PeerTiming {
        name: sender.clone(),
        physics,
        systems,
        sensors,
        busy: Duration::from_nanos(ack.busy_ns),
        published: ack.published,
        answered_after,
    }
}

fn disagreement(ack: &StepAck) -> String {
    format!(
        "it acknowledged iteration {} that nobody asked for",
        ack.iteration
    )
}

/// Tells how an ack does not bring what was asked of its sender, besides the states.
pub(crate) fn shortfall(
    wanted: &Wanted,
    ack: &StepAck,
    host_map: &HostMap,
) -> Option<&'static str> {
    let of_cells = |performers: &[PerformerId]| {
        let mut own: Vec<(CellId, PerformerId)> = performers
            .iter()
            .map(|performer| (host_map.cell(*performer), *performer))
            .filter(|(cell, _)| ack.is_about(*cell))
            .collect();
        own.sort_unstable();
        own.into_iter().map(|(_, performer)| performer)
    };
    let poses = ack.poses.iter().map(|poses| poses.performer);
    let transfers = ack.transfers.iter().map(|transfer| transfer.performer);
    let mut snapshots = ack.snapshots.iter();
    let cells = wanted.snapshots.iter().copied();
    let hosted = cells.filter(|cell| ack.is_about(*cell));
    if !of_cells(&wanted.poses).eq(poses) {
        Some("its ack does not hold the poses that were asked for")
    } else if !of_cells(&wanted.states).eq(transfers) {
        Some("its ack does not hold the whole states that were asked for")
    } else if snapshots.any(|snapshot| snapshot.sequence != ack.sequence)
        || !hosted.eq(ack.snapshots.iter().map(|snapshot| snapshot.cell))
    {
        Some("its ack does not hold the snapshots that were asked for")
    } else {
        None
    }
}
