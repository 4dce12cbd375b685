//! [`CommandQueue`]: commands of clients, systems and the schedule, queued when they come and done
//! between two iterations.
//!
//! Commands that change models are done in a round in which time is paused, so that the
//! partition sees the outcome before anything moves on: the same whether time runs or is paused.
//! Messages on topics go along with the next step.
//! **Invariant:** a command that cannot be granted changes nothing, not even the number of rounds
//! in which models change.

pub(crate) mod saved;

use std::collections::{BTreeSet, VecDeque};

use protocol::client_to_primary::ResetKind;
use protocol::primary_to_observers::Severity;
use protocol::report::TopicReport;
use protocol::secondary_to_primary::SystemRequest;
use protocol::{
    Command, FailureCode, Iteration, Publisher, ScheduledCommand, StampedAction, TopicMessage,
};

use crate::primary::commands::batch::{self, AppliedCommand, Batch, Origin};
use crate::primary::commands::resolve::{self, Scope};
use crate::primary::commands::{WAITERS_MAX, WAITING_BYTES_MAX};
use crate::primary::context::{Context, Failure};
use crate::primary::participants::is_of_participant;
use crate::primary::purpose::Purpose;
use crate::primary::spawn_text::ReadText;
use crate::primary::world::WorldState;
use crate::primary::world::resolve::ResolvedCommand;

/// Most commands of systems that may wait at once.
const REQUESTS_MAX: usize = 1 << 16;
/// Number of different failures of systems' commands that are told.
const TOLD_MAX: usize = 64;

/// Commands that are not done yet.
#[derive(Debug, Default)]
pub(crate) struct CommandQueue {
    /// By systems, in order of publishers; they come first.
    requested: VecDeque<PendingCommand>,
    /// By clients and the schedule, in the order in which they came.
    asked: VecDeque<PendingCommand>,
    /// Messages of clients on topics, in the order in which they came.
    said: Vec<(TopicMessage, Origin)>,
    /// Size of these two \[bytes\].
    waiting_bytes: usize,
    /// Messages of systems on topics that systems listen to, for the next iteration.
    heard: Vec<TopicMessage>,
    schedule: VecDeque<ScheduledCommand>,
    /// True if what was said is to be heard while time is paused.
    is_round_due: bool,
    /// The number of the next action.
    next_number: u64,
    /// Number of rounds in which models have changed since this iteration.
    round: u32,
    /// Failures of systems' commands that were told.
    told: BTreeSet<String>,
}

/// A command with its origin.
#[derive(Debug)]
struct PendingCommand {
    command: Command,
    origin: Origin,
    /// The model that it brings, if its text was read already.
    text: Option<ReadText>,
}

impl CommandQueue {
    pub(crate) fn new(schedule: Vec<ScheduledCommand>) -> Self {
        Self {
            schedule: schedule.into(),
            ..Self::default()
        }
    }

    /// Tells whether commands are due, in a round in which time is paused.
    pub(crate) fn are_due(&self) -> bool {
        !self.requested.is_empty() || !self.asked.is_empty() || self.is_round_due
    }

    /// Tells whether the step after an iteration may bring commands.
    pub(crate) fn are_due_after(&self, iteration: Iteration) -> bool {
        self.are_due()
            || self
                .next_of_schedule()
                .is_some_and(|next| next <= iteration)
    }

    /// Returns the next command if it resets models, or else if it does not: those of systems come
    /// first.
    fn take_next(&mut self, resets_models: bool) -> Option<PendingCommand> {
        let is_meant = |pending: &mut PendingCommand| pending.resets_models() == resets_models;
        if !self.requested.is_empty() {
            return self.requested.pop_front_if(is_meant);
        }
        let taken = self.asked.pop_front_if(is_meant)?;
        self.waiting_bytes -= taken.bytes();
        Some(taken)
    }

    /// Tells whether anything waits that a step of any kind can bring.
    pub(crate) fn has_said(&self) -> bool {
        !self.said.is_empty()
    }

    /// Returns the iteration after which the schedule has something to be done.
    pub(crate) fn next_of_schedule(&self) -> Option<Iteration> {
        self.schedule.front().map(|next| next.iteration)
    }

    /// Takes the next entries of the schedule that are due after an iteration, one round's at a
    /// time; while a round is due anyway, only those that were a part of it. The last `rest`
    /// entries stay.
    pub(crate) fn take_from_schedule(
        &mut self,
        iteration: Iteration,
        rest: usize,
    ) -> Vec<ScheduledCommand> {
        let is_due = |one: &ScheduledCommand| one.iteration <= iteration;
        let round = match self.schedule.front() {
            Some(first) if is_due(first) && self.schedule.len() > rest => first.paused_round,
            _ => return Vec::new(),
        };
        if self.are_due() && round != Some(self.round) {
            return Vec::new();
        }
        self.is_round_due |= round.is_some();
        let mut due = Vec::new();
        while let Some(first) = self.schedule.front()
            && self.schedule.len() > rest
            && is_due(first)
            && first.paused_round == round
        {
            due.extend(self.schedule.pop_front());
        }
        due
    }

    /// Takes over what systems ask for, in order of publishers, and what they say.
    pub(crate) fn take_from_systems(
        &mut self,
        requests: Vec<SystemRequest>,
        mut messages: Vec<TopicMessage>,
    ) {
        messages.sort_by_key(|message| message.publisher);
        let room = REQUESTS_MAX.saturating_sub(self.requested.len());
        let queue = requests
            .into_iter()
            .take(room)
            .map(|request| PendingCommand {
                command: request.command,
                origin: Origin::System(request.publisher),
                text: None,
            });
        self.requested.extend(queue);
        self.heard.extend(messages);
    }

    /// Notes that time has advanced.
    pub(crate) fn begin_iteration(&mut self) {
        self.round = 0;
    }

    /// Forgets requests and messages of systems, whose models are gone.
    pub(crate) fn forget_systems(&mut self) {
        self.requested.clear();
        self.heard.clear();
    }

    /// Notes a command of a client for the next step, unless too many wait already; tells whether
    /// it came so far.
    pub(crate) fn enqueue(
        &mut self,
        origin: Origin,
        command: (Command, Option<ReadText>),
        topics: &[TopicReport],
        cx: &mut Context<'_>,
    ) -> bool {
        let waiting = self.asked.len() + self.said.len();
        let is_too_much = waiting >= WAITERS_MAX || self.waiting_bytes > WAITING_BYTES_MAX;
        if matches!(origin, Origin::Client { .. } | Origin::Node) && is_too_much {
            let reason = "too many commands are under way";
            origin.refuse((FailureCode::TooMuch, reason), cx);
            return false;
        }
        self.note_pending(origin, command, topics, cx);
        true
    }

    fn note_pending(
        &mut self,
        origin: Origin,
        (command, text): (Command, Option<ReadText>),
        topics: &[TopicReport],
        cx: &mut Context<'_>,
    ) {
        let Command::Publish { topic, kind, body } = command else {
            let pending = PendingCommand {
                command,
                origin,
                text,
            };
            self.waiting_bytes += pending.bytes();
            self.asked.push_back(pending);
            return;
        };
        match resolve::message_of(topic, &kind, body, topics, cx) {
            Ok(message) => {
                self.waiting_bytes += message.body.len();
                self.said.push((message, origin));
            }
            Err(error) => origin.refuse(error, cx),
        }
    }

    /// Takes what is due from the schedule, but for its last `rest` entries.
    pub(crate) fn keep_schedule(
        &mut self,
        rest: usize,
        topics: &[TopicReport],
        cx: &mut Context<'_>,
    ) {
        for due in self.take_from_schedule(cx.iteration, rest) {
            self.note_pending(Origin::Schedule, (due.command, None), topics, cx);
        }
    }

    /// Takes into a step what it can bring.
    pub(crate) fn stamp(
        &mut self,
        purpose: Purpose,
        scope: &mut Scope<'_>,
        cx: &mut Context<'_>,
    ) -> Batch {
        let mut batch = Batch::default();
        match purpose {
            Purpose::Advance | Purpose::Rearrange => {}
            Purpose::Build | Purpose::Pause | Purpose::Fetch => return batch,
        }
        let round = (purpose == Purpose::Rearrange).then_some(self.round);
        if purpose == Purpose::Rearrange {
            self.stamp_pending(&mut batch, round, scope, cx);
        } else {
            batch.messages = std::mem::take(&mut self.heard);
        }
        let mut said = Vec::new();
        let mut waiting = std::mem::take(&mut self.said).into_iter();
        while !batch.is_full()
            && let Some((message, origin)) = waiting.next()
        {
            batch.bytes += message.body.len();
            self.waiting_bytes -= message.body.len();
            let message = TopicMessage {
                iteration: cx.iteration,
                sim_time: scope.clock.sim_time(),
                ..message
            };
            let command = Command::Publish {
                topic: message.topic.clone(),
                kind: message.kind.clone(),
                body: message.body.clone(),
            };
            origin.record(round, command, cx);
            said.push(message);
            let applied = AppliedCommand::plain(origin, self.next_number);
            batch.applied.push(applied);
        }
        self.said.extend(waiting);
        batch.is_needed |= std::mem::take(&mut self.is_round_due) || !said.is_empty();
        said.append(&mut batch.messages);
        batch.messages = said;
        if batch.is_needed && purpose == Purpose::Rearrange {
            self.round += 1;
        }
        batch
    }

    fn stamp_pending(
        &mut self,
        batch: &mut Batch,
        round: Option<u32>,
        scope: &mut Scope<'_>,
        cx: &mut Context<'_>,
    ) {
        while !batch.is_full()
            && let Some(mut pending) = self.take_next(false)
        {
            let resolved = match &pending.command {
                Command::Reset {
                    what: ResetKind::Time,
                } => {
                    scope.clock.reset_time();
                    scope.clock.observe(cx);
                    Ok(ResolvedCommand::default())
                }
                command => resolve::resolve(command, pending.text.take(), scope, cx),
            };
            match resolved {
                Ok(resolved) => self.take_resolved(batch, pending, resolved, round, cx),
                Err(error) => {
                    let failure = Failure::from(error);
                    if let Origin::System(publisher) = pending.origin {
                        let (command, reason) = (&pending.command, &failure.reason);
                        self.tell_of_system(publisher, command, reason, scope.world, cx);
                    }
                    pending.origin.refuse(&failure, cx);
                }
            }
        }
    }

    fn take_resolved(
        &mut self,
        batch: &mut Batch,
        pending: PendingCommand,
        resolved: ResolvedCommand,
        round: Option<u32>,
        cx: &mut Context<'_>,
    ) {
        let number = self.next_number;
        self.next_number += 1;
        batch.is_needed = true;
        batch.spawned.extend(resolved.spawned);
        batch.removed.extend(resolved.removed);
        batch.bytes += resolved.bytes;
        let actions = resolved.actions.into_iter();
        let stamped = actions.map(|action| StampedAction { number, action });
        batch.actions.extend(stamped);
        // Which models there are concerns all who look, whoever asked for them. What programs
        // command with each of many iterations would hide all else.
        let is_of_client = match &pending.origin {
            Origin::Client { to, .. } => !is_of_participant(to),
            Origin::Node | Origin::System(_) | Origin::Schedule => false,
        };
        let is_told =
            is_of_client || matches!(pending.command, Command::Spawn(_) | Command::Remove { .. });
        let spawned = resolved.name.as_ref().map(|name| format!("spawn {name}"));
        if is_told && let Some(text) = spawned.or_else(|| pending.command.text()) {
            cx.event(Severity::Info, "command", text);
        }
        pending.origin.record(round, pending.command, cx);
        batch.applied.push(AppliedCommand {
            origin: pending.origin,
            number,
            name: resolved.name,
            warnings: resolved.warnings,
            joined: resolved.joined,
        });
    }

    /// Takes a reset of models, which is a round of its own, when that comes next.
    pub(crate) fn take_reset(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Option<(ResetKind, AppliedCommand)> {
        let pending = self.take_next(true)?;
        let Command::Reset { what } = pending.command else {
            unreachable!("what resets models is a reset");
        };
        let text = pending.command.text().unwrap_or_default();
        cx.event(Severity::Info, "command", text);
        let round = Some(self.round);
        self.round += 1;
        pending.origin.record(round, pending.command, cx);
        let applied = AppliedCommand::plain(pending.origin, self.next_number);
        Some((what, applied))
    }

    /// Refuses all that waits.
    pub(crate) fn refuse_all(self, failure: &Failure, cx: &mut Context<'_>) {
        let asked = self.asked.into_iter().map(|pending| pending.origin);
        for origin in asked.chain(self.said.into_iter().map(|(_, origin)| origin)) {
            origin.refuse(failure, cx);
        }
    }

    /// Tells of a system's command that cannot be granted, once.
    pub(crate) fn tell_of_system(
        &mut self,
        publisher: Publisher,
        command: &Command,
        reason: &str,
        world: &WorldState,
        cx: &mut Context<'_>,
    ) {
        let what = command.text().unwrap_or_default();
        let whose = world.name_of(publisher);
        let whose = whose.unwrap_or_else(|| "nobody".to_owned());
        let text = format!("a system of {whose} asked for {what:?}, which failed: {reason}");
        if self.told.len() < TOLD_MAX && self.told.insert(text.clone()) {
            cx.event(Severity::Warning, "command", text);
        }
    }
}

impl PendingCommand {
    /// Returns its size, with that of the text that was read for it.
    fn bytes(&self) -> usize {
        let read = self.text.as_ref().map_or(0, |text| text.bytes);
        batch::size(&self.command) + read
    }

    fn resets_models(&self) -> bool {
        matches!(
            self.command,
            Command::Reset {
                what: ResetKind::All | ResetKind::Models
            }
        )
    }
}

#[cfg(test)]
mod tests;
