//! The barrier: one step out to all, one ack back from each, then the next.

use std::collections::BTreeMap;
use std::time::Duration;

use protocol::exit::Outcome;
use protocol::primary_to_client::Reply;
use protocol::primary_to_observers::{Clock, PrimaryToObservers, Severity};
use protocol::primary_to_secondary::{AffinityChange, PrimaryToSecondary, Step};
use protocol::secondary_to_primary::StepAck;
use protocol::{
    DigestBuilder, Iteration, PeerName, PerformerState, SessionTime, SimTime, StopReason,
};

use super::{Goal, PeerTiming, Phase, Primary, PrimaryOutput, StepReport};
use crate::placement::first_placement;

/// After how long an unacknowledged step is sent again, to the silent secondary alone; doubled
/// each time.
const FIRST_RESEND: Duration = Duration::from_millis(200);
/// After how long a step that waits is first reported; doubled each time.
const FIRST_WARNING: Duration = Duration::from_secs(1);

/// A step that waits for its acks.
#[derive(Debug)]
pub(super) struct Round {
    step: Step,
    pub(super) published_at: SessionTime,
    /// Each secondary's ack, once it is there.
    acks: BTreeMap<PeerName, Option<PeerTiming>>,
    resend_after: Duration,
    warn_after: Duration,
    give_up_after: Duration,
}

impl Round {
    /// Returns when something is to be done about the silent ones.
    pub(super) fn deadline(&self) -> SessionTime {
        self.published_at
            + self
                .resend_after
                .min(self.warn_after)
                .min(self.give_up_after)
    }

    /// Returns the secondaries whose ack is not there yet.
    pub(super) fn missing(&self) -> impl Iterator<Item = &PeerName> {
        self.acks
            .iter()
            .filter(|(_, ack)| ack.is_none())
            .map(|(name, _)| name)
    }
}

impl Primary {
    /// All secondaries are ready: places the cells and has everyone build them, in a step in which
    /// time stands still.
    pub(super) fn begin_stepping(&mut self, now: SessionTime, out: &mut Vec<PrimaryOutput>) {
        let names: Vec<PeerName> = self
            .roster
            .members()
            .map(|(name, _)| name.clone())
            .collect();
        let affinities = first_placement(&self.plan, &names);
        for AffinityChange {
            cell, secondary, ..
        } in &affinities
        {
            let Some(secondary) = secondary else {
                continue;
            };
            self.affinity.insert(*cell, secondary.clone());
            self.hosted
                .entry(secondary.clone())
                .or_default()
                .push(*cell);
        }
        let names = names
            .iter()
            .map(PeerName::as_str)
            .collect::<Vec<_>>()
            .join(", ");
        self.event(
            Severity::Info,
            "run",
            format!("all secondaries are ready: {names}"),
            out,
        );
        self.pace.restart(now);
        self.publish_step(true, affinities, now, out);
    }

    /// Returns when the next step is due, if one is.
    pub(super) fn next_step_due(&self) -> Option<SessionTime> {
        match self.goal {
            Goal::Paused => None,
            Goal::Pausing => Some(SessionTime(0)),
            Goal::Running | Goal::Until(_) => Some(self.pace.due()),
        }
    }

    pub(super) fn continue_stepping(&mut self, now: SessionTime, out: &mut Vec<PrimaryOutput>) {
        if self
            .settings
            .iterations
            .is_some_and(|limit| self.iteration.0 >= limit)
        {
            let cause = format!("all {} iterations are done", self.iteration);
            return self.begin_stopping(StopReason::new(Outcome::Completed, cause), now, out);
        }
        if self.next_step_due().is_some_and(|due| due <= now) {
            let paused = self.goal == Goal::Pausing;
            if !paused {
                self.pace.begin(now);
            }
            self.publish_step(paused, Vec::new(), now, out);
        }
    }

    fn publish_step(
        &mut self,
        paused: bool,
        affinities: Vec<AffinityChange>,
        now: SessionTime,
        out: &mut Vec<PrimaryOutput>,
    ) {
        let iteration = if paused {
            self.iteration
        } else {
            self.iteration.next()
        };
        self.sequence = self.sequence.next();
        let step = Step {
            sequence: self.sequence,
            iteration,
            sim_time: self.sim_time_at(iteration),
            step_size_ns: if paused {
                0
            } else {
                self.settings.step_size.as_nanos() as u64
            },
            paused,
            affinities,
            level_changes: self.level_changes(),
            ..Step::default()
        };
        out.push(PrimaryOutput::Publish(PrimaryToSecondary::Step(
            step.clone(),
        )));
        self.phase = Phase::Stepping(Round {
            step,
            published_at: now,
            acks: self
                .roster
                .members()
                .map(|(name, _)| (name.clone(), None))
                .collect(),
            resend_after: FIRST_RESEND,
            warn_after: FIRST_WARNING,
            give_up_after: self.settings.step_timeout,
        });
    }

    fn level_changes(&mut self) -> Vec<protocol::primary_to_secondary::LevelChange> {
        let positions = self
            .performers
            .iter()
            .map(|record| (record.state.performer, record.cell, record.state.position));
        let changes = self.levels.update(&self.plan, positions);
        let loaded = changes.iter().filter(|change| change.loaded).count() as u64;
        self.events.levels_loaded += loaded;
        self.events.levels_unloaded += changes.len() as u64 - loaded;
        changes
    }

    pub(super) fn on_step_ack(
        &mut self,
        sender: &PeerName,
        ack: &StepAck,
        now: SessionTime,
        out: &mut Vec<PrimaryOutput>,
    ) {
        let Phase::Stepping(round) = &self.phase else {
            self.refused.stale += 1;
            return;
        };
        if ack.sequence < round.step.sequence {
            self.refused.stale += 1;
            return;
        }
        let is_repeated = round.acks.get(sender).is_some_and(Option::is_some);
        if is_repeated && ack.sequence == round.step.sequence {
            self.refused.duplicate += 1;
            return;
        }
        let agrees = ack.sequence == round.step.sequence && ack.iteration == round.step.iteration;
        let states = if agrees {
            self.states_of(sender, ack)
        } else {
            Err(disagreement(ack))
        };
        match states {
            Ok(states) => self.accept(sender, ack, states, now, out),
            Err(violation) => {
                self.refused.malformed += 1;
                let cause = format!("{sender} broke the protocol: {violation}");
                self.begin_stopping(StopReason::new(Outcome::PeerLost, cause), now, out);
            }
        }
    }

    /// Returns the states in an ack once they are exactly those of the sender's cells.
    fn states_of(&self, sender: &PeerName, ack: &StepAck) -> Result<Vec<PerformerState>, String> {
        let states: Vec<PerformerState> = ack
            .states
            .states()
            .map_err(|error| error.to_string())?
            .collect();
        let acked = ack.cells.iter().map(|cell| cell.cell);
        if !self.hosted(sender).iter().copied().eq(acked) {
            return Err("its ack is not about the cells that it hosts".to_owned());
        }
        let mut rest = states.as_slice();
        let mut builder = DigestBuilder::default();
        for cell in &ack.cells {
            let Some((own, others)) = rest.split_at_checked(cell.performer_count as usize) else {
                return Err("its ack holds fewer states than it says".to_owned());
            };
            rest = others;
            let expected = &self.owned[cell.cell.0 as usize];
            if !expected
                .iter()
                .copied()
                .eq(own.iter().map(|state| state.performer))
            {
                return Err(format!(
                    "cell {} holds other performers than it owns",
                    cell.cell
                ));
            }
            builder.clear();
            for state in own {
                builder.digest(state.digest);
            }
            if builder.finish() != cell.digest {
                return Err(format!(
                    "the digest of cell {} does not fit its states",
                    cell.cell
                ));
            }
        }
        if rest.is_empty() {
            Ok(states)
        } else {
            Err("its ack holds too many states".to_owned())
        }
    }

    fn accept(
        &mut self,
        sender: &PeerName,
        ack: &StepAck,
        states: Vec<PerformerState>,
        now: SessionTime,
        out: &mut Vec<PrimaryOutput>,
    ) {
        for state in states {
            let record = &mut self.performers[state.performer.0 as usize];
            record.state = state;
            if !state.is_finite() && !record.reported {
                record.reported = true;
                let name = &self.plan.performer(state.performer).name;
                let text = format!("the state of {name} is not finite after {}", ack.iteration);
                self.event(Severity::Warning, "step", text, out);
            }
        }
        let Phase::Stepping(round) = &mut self.phase else {
            unreachable!("acks are accepted only while a step waits for them");
        };
        let physics_ns = ack.cells.iter().map(|cell| cell.physics_ns).sum();
        let timing = PeerTiming {
            name: sender.clone(),
            physics: Duration::from_nanos(physics_ns),
            answered_after: now.since(round.published_at),
        };
        round.acks.insert(sender.clone(), Some(timing));
        if round.missing().next().is_none() {
            self.complete_round(now, out);
        }
    }

    fn complete_round(&mut self, now: SessionTime, out: &mut Vec<PrimaryOutput>) {
        let Phase::Stepping(round) = std::mem::replace(&mut self.phase, Phase::Idle) else {
            unreachable!("only a step under way can be completed");
        };
        let paused = round.step.paused;
        self.iteration = round.step.iteration;
        self.digest = self.digest_of_all();
        out.push(PrimaryOutput::StepDone(StepReport {
            iteration: self.iteration,
            paused,
            digest: self.digest,
            duration: now.since(round.published_at),
            peers: round.acks.into_values().flatten().collect(),
        }));
        match self.goal {
            Goal::Pausing if paused => self.goal = Goal::Paused,
            Goal::Until(last) if self.iteration >= last => self.goal = Goal::Paused,
            Goal::Paused | Goal::Pausing | Goal::Running | Goal::Until(_) => {}
        }
        if self.goal == Goal::Paused {
            self.observe_clock(out);
        }
        self.answer_waiters(out);
        self.continue_stepping(now, out);
    }

    fn digest_of_all(&self) -> protocol::Digest {
        let mut builder = DigestBuilder::default();
        for id in &self.by_name {
            builder.digest(self.performers[id.0 as usize].state.digest);
        }
        builder.finish()
    }

    pub(super) fn observe_clock(&self, out: &mut Vec<PrimaryOutput>) {
        out.push(PrimaryOutput::Observe(PrimaryToObservers::Clock(Clock {
            iteration: self.iteration,
            sim_time: self.sim_time(),
            paused: self.goal == Goal::Paused,
        })));
    }

    fn answer_waiters(&mut self, out: &mut Vec<PrimaryOutput>) {
        let (iteration, paused) = (self.iteration, self.goal == Goal::Paused);
        let is_done = |until: Option<Iteration>| match until {
            Some(last) => iteration >= last,
            None => paused,
        };
        for waiter in self.waiters.extract_if(.., |waiter| is_done(waiter.until)) {
            Self::reply(waiter.to, waiter.request, Reply::Done { iteration }, out);
        }
    }

    /// A step waits: it is sent again, reported, and given up in the end.
    pub(super) fn continue_round(&mut self, now: SessionTime, out: &mut Vec<PrimaryOutput>) {
        let Phase::Stepping(round) = &mut self.phase else {
            return;
        };
        let waited = now.since(round.published_at);
        let missing: Vec<PeerName> = round.missing().cloned().collect();
        let names = missing
            .iter()
            .map(PeerName::as_str)
            .collect::<Vec<_>>()
            .join(", ");
        let iteration = round.step.iteration;
        if waited >= round.give_up_after {
            let seconds = round.give_up_after.as_secs_f64();
            let cause = format!("{names} did not acknowledge iteration {iteration} in {seconds} s");
            return self.begin_stopping(StopReason::new(Outcome::PeerLost, cause), now, out);
        }
        if waited >= round.resend_after {
            round.resend_after *= 2;
            for name in &missing {
                let member = self
                    .roster
                    .get(name)
                    .expect("who is waited for is a member");
                out.push(PrimaryOutput::Send {
                    to: member.routing.clone(),
                    message: PrimaryToSecondary::Step(round.step.clone()),
                });
            }
        }
        if waited >= round.warn_after {
            let seconds = round.warn_after.as_secs_f64();
            round.warn_after *= 2;
            let text = format!("iteration {iteration} has waited {seconds} s for {names}");
            self.event(Severity::Warning, "step", text, out);
        }
    }

    pub(super) fn sim_time_at(&self, iteration: Iteration) -> SimTime {
        SimTime(
            iteration
                .0
                .saturating_mul(self.settings.step_size.as_nanos() as u64),
        )
    }
}

fn disagreement(ack: &StepAck) -> String {
    format!(
        "it acknowledged iteration {} that nobody asked for",
        ack.iteration
    )
}
