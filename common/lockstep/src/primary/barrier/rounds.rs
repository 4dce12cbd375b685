//! The barrier: one step out to all, one ack back from each, then the next.

use crate::primary::peers::Peers;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use protocol::exit::Outcome;
use protocol::primary_to_observers::Severity;
use protocol::primary_to_secondary::{CellSnapshot, PrimaryToSecondary, Step};
use protocol::secondary_to_primary::SystemRequest;
use protocol::{PeerName, SessionTime, StopReason, TopicMessage};

use crate::placement::first_placement;
use crate::primary::barrier::step_timeout::StepTimeout;
use crate::primary::commands::batch::AppliedCommand;
use crate::primary::context::Context;
use crate::primary::purpose::Purpose;
use crate::primary::{CellTiming, ClockMode, PeerTiming, Phase, Primary, PrimaryOutput};
use crate::roster::Progress;

/// After how long an unacknowledged step is sent again, to the silent secondary alone; doubled
/// each time.
const FIRST_RESEND: Duration = Duration::from_millis(200);

/// For how long what is to be done about the silent is put off while others restore what is lost.
const POSTPONED_BY: Duration = Duration::from_secs(1);

/// A step that waits for its acks.
#[derive(Debug)]
pub(crate) struct Round {
    pub(crate) step: Arc<Step>,
    pub(crate) purpose: Purpose,
    /// True if it was answered before it was made.
    pub(crate) is_ahead: bool,
    /// The snapshots that the step needs, with their receivers.
    pub(crate) snapshots: Vec<(PeerName, CellSnapshot)>,
    pub(crate) published_at: SessionTime,
    /// Each secondary's ack, once it is there.
    pub(crate) acks: BTreeMap<PeerName, Option<PeerTiming>>,
    /// How many of them were there at least, so that few answers are asked who is missing.
    answered: usize,
    /// What each cell took, so far.
    pub(crate) cells: Vec<CellTiming>,
    /// The commands that the step brings.
    pub(crate) applied: Vec<AppliedCommand>,
    /// Reasons why actions of the step could not be done, by their numbers.
    pub(crate) failures: BTreeMap<u64, String>,
    /// What systems ask for and say so far.
    pub(crate) requests: Vec<SystemRequest>,
    pub(crate) messages: Vec<TopicMessage>,
    /// How many messages besides their own some have published, in the place of others.
    published_for_lost: BTreeMap<PeerName, u32>,
    resend_after: Duration,
    pub(crate) patience: StepTimeout,
}

impl Round {
    /// Returns when something is to be done about the silent ones.
    pub(crate) fn deadline(&self) -> SessionTime {
        self.published_at + self.resend_after.min(self.patience.next())
    }

    /// Puts off what is to be done about the silent ones.
    fn postpone(&mut self, waited: Duration) {
        let later = waited + POSTPONED_BY;
        self.resend_after = self.resend_after.max(later);
        self.patience.postpone(later);
    }

    /// Takes off the list who is lost and has been answered for.
    pub(crate) fn forgive(&mut self, name: &PeerName) {
        self.acks.remove(name);
    }

    /// Notes how many messages were published in the place of somebody who is lost.
    pub(crate) fn note_published(&mut self, lost: &PeerName, published: u32) {
        *self.published_for_lost.entry(lost.clone()).or_default() += published;
    }

    /// Notes who has answered, and tells whether nobody is missing any more.
    pub(crate) fn note_answer(&mut self, name: &PeerName, timing: PeerTiming) -> bool {
        self.acks.insert(name.clone(), Some(timing));
        self.answered += 1;
        self.answered >= self.acks.len() && self.missing().next().is_none()
    }

    /// Returns what each has taken, with all that it published.
    pub(crate) fn take_timings(&mut self) -> Vec<PeerTiming> {
        let timings = std::mem::take(&mut self.acks).into_values().flatten();
        let mut timings: Vec<PeerTiming> = timings.collect();
        for (name, published) in std::mem::take(&mut self.published_for_lost) {
            match timings.iter_mut().find(|timing| timing.name == name) {
                Some(timing) => timing.published += published,
                None => timings.push(PeerTiming {
                    name,
                    physics: Duration::ZERO,
                    systems: Duration::ZERO,
                    sensors: Duration::ZERO,
                    busy: Duration::ZERO,
                    published,
                    answered_after: Duration::ZERO,
                }),
            }
        }
        timings
    }

    /// Returns the secondaries whose ack is not there yet.
    pub(crate) fn missing(&self) -> impl Iterator<Item = &PeerName> {
        self.acks
            .iter()
            .filter(|(_, ack)| ack.is_none())
            .map(|(name, _)| name)
    }
}

impl Peers {
    /// Returns the names of the secondaries, for people.
    pub(crate) fn secondary_names(&self) -> String {
        let names: Vec<&str> = self.secondaries.iter().map(PeerName::as_str).collect();
        names.join(", ")
    }

    pub(crate) fn send_snapshot(
        &self,
        name: &PeerName,
        snapshot: &CellSnapshot,
        cx: &mut Context<'_>,
    ) {
        if let Some(member) = self.roster.get(name) {
            cx.push(PrimaryOutput::Send {
                to: member.routing.clone(),
                message: PrimaryToSecondary::CellSnapshot(snapshot.clone()),
            });
        }
    }
}

impl Primary {
    /// All secondaries are ready: places the cells and has everyone build them, in a step in which
    /// time stands still.
    pub(crate) fn begin_stepping(&mut self, cx: &mut Context<'_>) {
        let members = self.peers.roster.members();
        let ready = members.filter(|(_, member)| member.progress == Progress::Synced);
        self.peers.secondaries = ready.map(|(name, _)| name.clone()).collect();
        let text = format!(
            "all secondaries are ready: {}",
            self.peers.secondary_names()
        );
        cx.event(Severity::Info, "run", text);
        self.peers.startup.end();
        self.clock.pace.restart(cx.now);
        if let Some(checkpoint) = self.resume.checkpoint.take() {
            return self.begin_from(*checkpoint, cx);
        }
        let affinities = first_placement(&self.world.topology, &self.peers.secondaries);
        for change in &affinities {
            self.placement
                .host_map
                .place(change.cell, change.secondary.as_ref());
        }
        let step = Step {
            affinities,
            ..Step::default()
        };
        self.publish(Purpose::Build, step, Vec::new(), Vec::new(), cx);
    }

    /// Returns when the next step is due, if one is.
    pub(crate) fn next_step_due(&self) -> Option<SessionTime> {
        if self.recovery.is_held() {
            return None;
        }
        if self.commands.queue.are_due() || self.has_to_replay() {
            return Some(SessionTime(0));
        }
        match self.clock.mode {
            ClockMode::Paused => self.has_to_rearrange().then_some(SessionTime(0)),
            ClockMode::Pausing => Some(SessionTime(0)),
            ClockMode::Running | ClockMode::Until(_) => Some(self.clock.pace.due()),
        }
    }

    pub(crate) fn continue_stepping(&mut self, cx: &mut Context<'_>) {
        // Commands that are all refused leave nothing to step for.
        while self.is_idle() && !self.recovery.is_held() && !self.barrier.speculation.rests {
            self.take_restored();
            self.continue_draining(cx);
            let limit = self.settings.iterations;
            if limit.is_some_and(|limit| self.clock.iteration.0 >= limit) {
                let cause = format!("all {} iterations are done", self.clock.iteration);
                return self.begin_stopping(StopReason::new(Outcome::Completed, cause), cx);
            }
            self.end_replay_when_done(cx);
            self.keep_schedule(cx);
            if self.next_step_due().is_none_or(|due| due > cx.now) {
                return;
            }
            let purpose = match self.clock.mode {
                _ if self.commands.queue.are_due() => Purpose::Rearrange,
                ClockMode::Paused => Purpose::Rearrange,
                ClockMode::Pausing => Purpose::Pause,
                ClockMode::Running | ClockMode::Until(_) => {
                    self.clock.pace.begin(cx.now);
                    Purpose::Advance
                }
            };
            self.begin_step(purpose, cx);
        }
    }

    /// Publishes a step, unless all have done it already; it gets its number and its time here.
    pub(crate) fn publish(
        &mut self,
        purpose: Purpose,
        step: Step,
        mut snapshots: Vec<(PeerName, CellSnapshot)>,
        applied: Vec<AppliedCommand>,
        cx: &mut Context<'_>,
    ) {
        let advances = purpose == Purpose::Advance;
        let iteration = if advances {
            self.clock.iteration.next()
        } else {
            self.clock.iteration
        };
        let passes = if advances {
            self.settings.step_size
        } else {
            Duration::ZERO
        };
        self.clock.sequence = self.clock.sequence.next();
        self.world.latest.begin_step(purpose);
        let mut step = Step {
            sequence: self.clock.sequence,
            iteration,
            sim_time: self.clock.sim_time + passes,
            elapsed: self.clock.elapsed + passes,
            subscriptions: std::mem::take(&mut self.commands.subscriptions),
            speaker: self.speaker().cloned(),
            step_size_ns: passes.as_nanos() as u64,
            paused: !advances,
            checkpoint: self.asks_for_checkpoint(purpose, iteration),
            ..step
        };
        self.recovery.announce_restored(&mut step);
        self.note_cells_of_checkpoint(step.speaker.as_ref());
        let is_plain = snapshots.is_empty() && applied.is_empty();
        let is_ahead = self.has_done_ahead(purpose, &mut step, is_plain, cx.now);
        for (name, snapshot) in &mut snapshots {
            snapshot.sequence = self.clock.sequence;
            self.peers.send_snapshot(name, snapshot, cx);
        }
        let step = Arc::new(step);
        cx.push(if is_ahead {
            PrimaryOutput::Ahead(Arc::clone(&step))
        } else {
            PrimaryOutput::Publish(PrimaryToSecondary::Step(Arc::clone(&step)))
        });
        let secondaries = self.peers.secondaries.iter();
        self.phase = Phase::Running;
        self.barrier.round = Some(Box::new(Round {
            step,
            purpose,
            is_ahead,
            snapshots,
            published_at: cx.now,
            acks: secondaries.map(|name| (name.clone(), None)).collect(),
            answered: 0,
            cells: Vec::with_capacity(self.placement.host_map.affinity().len()),
            applied,
            failures: BTreeMap::new(),
            requests: Vec::new(),
            messages: Vec::new(),
            published_for_lost: BTreeMap::new(),
            resend_after: FIRST_RESEND,
            patience: StepTimeout::new(self.settings.patience, self.settings.step_timeout),
        }));
        if is_ahead {
            for (name, ack) in self.barrier.answers_ahead() {
                self.on_step_ack(&name, ack, cx);
            }
        }
    }

    /// Returns who says what systems of worlds say, and what the scene is: one whose cells are part
    /// of the run, if there is any.
    fn speaker(&self) -> Option<&PeerName> {
        let mut names = self.peers.secondaries.iter();
        let host = names.find(|name| !self.placement.host_map.hosted(name).is_empty());
        host.or(self.peers.secondaries.first())
    }

    /// A step waits: it is sent again, reported, and given up in the end.
    pub(crate) fn continue_round(&mut self, cx: &mut Context<'_>) {
        let Some(round) = &mut self.barrier.round else {
            return;
        };
        let waited = cx.now.since(round.published_at);
        let missing = round.missing().filter(|name| {
            let is_here = self.peers.secondaries.contains(name) && !self.recovery.losses.owes(name);
            is_here && !self.recovery.jobs.is_at_work(name)
        });
        let missing: Vec<PeerName> = missing.cloned().collect();
        if missing.is_empty() {
            // Those who restore what is lost have deadlines of their own.
            round.postpone(waited);
            return;
        }
        let iteration = round.step.iteration;
        let resends = waited >= round.resend_after;
        if resends {
            round.resend_after *= 2;
        }
        if let Some(name) = self.idle_without_answer(&missing, cx.now) {
            return self.drop_idle(&name, cx);
        }
        let given_up = self.expired(&missing, cx.now);
        if !given_up.is_empty() {
            let seconds = self.settings.step_timeout.as_secs_f64();
            for name in given_up {
                let cause = format!(
                    "{} did not acknowledge iteration {iteration} in {seconds} s",
                    self.peers.described(&name)
                );
                self.on_lost(&name, StopReason::new(Outcome::PeerLost, cause), cx);
            }
            return;
        }
        if resends {
            self.send_again(&missing, cx);
        }
        self.escalate(&missing, cx);
    }

    /// Gives somebody who was kept from the step under way by a job its whole time for it.
    pub(crate) fn wait_anew_for(&mut self, name: &PeerName, now: SessionTime) {
        if let Some(round) = &mut self.barrier.round
            && round.missing().any(|missing| missing == name)
        {
            let waited = now.since(round.published_at);
            round
                .patience
                .postpone_loss(waited + self.settings.step_timeout);
        }
    }

    /// Sends the step under way, with its snapshots, to those who have not answered and do not say
    /// that they are at work on it.
    fn send_again(&self, missing: &[PeerName], cx: &mut Context<'_>) {
        let Some(round) = &self.barrier.round else {
            return;
        };
        for name in missing {
            let member = self.peers.roster.get(name);
            let member = member.expect("who is waited for is a member");
            let work = member.heartbeat.work;
            if work.step >= round.step.sequence && work.answered < round.step.sequence {
                // It works on it and reads nothing meanwhile.
                continue;
            }
            for (_, snapshot) in round.snapshots.iter().filter(|(to, _)| to == name) {
                self.peers.send_snapshot(name, snapshot, cx);
            }
            cx.push(PrimaryOutput::Send {
                to: member.routing.clone(),
                message: PrimaryToSecondary::Step(Arc::clone(&round.step)),
            });
        }
    }
}
