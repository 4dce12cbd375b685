//! [`CommandQueue`]: commands of clients, systems and the schedule, queued when they come and done
//! between two iterations.
//!
//! Whatever changes models is done in a round in which time stands still, so that the partition
//! sees what came of it before anything moves on: the same whether time runs or is paused. What is
//! said on topics goes along with the next step.
//! **Invariant:** a command that cannot be granted changes nothing, not even the number of rounds
//! in which models change.

pub(crate) mod saved;

use crate::primary::run_clock::RunClock;
use std::collections::VecDeque;

use protocol::client_to_primary::ResetKind;
use protocol::primary_to_client::{PrimaryToClient, Reply};
use protocol::primary_to_observers::Severity;
use protocol::secondary_to_primary::SystemRequest;
use protocol::{
    Command, Iteration, PerformerId, Publisher, RequestId, RoutingId, ScheduledCommand,
    StampedAction, TopicMessage,
};

use crate::primary::commands::Commands;
use crate::primary::commands::batch::{self, AppliedCommand, Batch};
use crate::primary::commands::requests::WAITERS_MAX;
use crate::primary::context::Context;
use crate::primary::purpose::Purpose;
use crate::primary::{Phase, Primary, PrimaryOutput};

/// How many commands of systems may wait at once.
const REQUESTS_MAX: usize = 1 << 16;
/// How much of what clients ask for and say may wait at once \[bytes\].
const WAITING_BYTES_MAX: usize = 256 << 20;
/// How many different failures of systems' commands are told.
const TOLD_MAX: usize = 64;

/// Commands that are not done yet.
#[derive(Debug, Default)]
pub(crate) struct CommandQueue {
    /// By systems, in order of publishers; they come first.
    requested: VecDeque<PendingCommand>,
    /// By clients and the schedule, in the order in which they came.
    asked: VecDeque<PendingCommand>,
    /// What clients say on topics, in the order in which they came.
    said: Vec<(TopicMessage, Origin)>,
    /// What systems said on topics that systems listen to, for the next iteration.
    pub(crate) heard: Vec<TopicMessage>,
    schedule: VecDeque<ScheduledCommand>,
    /// True if what was said is to be heard while time stands still.
    is_round_due: bool,
    /// The number of the next action.
    next_number: u64,
    /// In how many rounds models have changed since this iteration.
    round: u32,
    /// Failures of systems' commands that were told.
    told: std::collections::BTreeSet<String>,
}

/// A command with its origin.
#[derive(Debug)]
struct PendingCommand {
    command: Command,
    origin: Origin,
}

/// Origin of a command.
#[derive(Clone, Debug)]
pub(crate) enum Origin {
    /// A client, which waits for its reply.
    Client { to: RoutingId, request: RequestId },
    /// A system.
    System(Publisher),
    /// The schedule.
    Schedule,
}

impl Origin {
    /// Tells who asks for something that it is not granted, and why.
    pub(crate) fn refuse(&self, reason: &str, cx: &mut Context<'_>) {
        match self {
            Self::Client { to, request } => cx.fail(to.clone(), *request, reason),
            Self::Schedule => {
                let text = format!("a scheduled command failed: {reason}");
                cx.event(Severity::Warning, "command", text);
            }
            Self::System(_) => {}
        }
    }
}

/// A command as the simulation takes it.
#[derive(Debug, Default)]
pub(crate) struct ResolvedCommand {
    pub(crate) actions: Vec<protocol::Action>,
    pub(crate) name: Option<String>,
    /// Warnings of the spawned model: parts that are ignored or missing.
    pub(crate) warnings: Vec<String>,
    pub(crate) joined: Option<[PerformerId; 2]>,
    pub(crate) spawned: Option<PerformerId>,
    pub(crate) removed: Option<PerformerId>,
    /// What its actions have that has no bound of its own \[bytes\].
    pub(crate) bytes: usize,
}

impl CommandQueue {
    pub(crate) fn new(schedule: Vec<ScheduledCommand>) -> Self {
        Self {
            schedule: schedule.into(),
            ..Self::default()
        }
    }

    /// Tells whether a round is due in which time stands still.
    pub(crate) fn are_due(&self) -> bool {
        !self.requested.is_empty() || !self.asked.is_empty() || self.is_round_due
    }

    /// Returns where the next command stands: those of systems come first.
    fn next_queue(&mut self) -> &mut VecDeque<PendingCommand> {
        if self.requested.is_empty() {
            &mut self.asked
        } else {
            &mut self.requested
        }
    }

    /// Returns the next command if it resets models, or else if it does not.
    fn take_next(&mut self, resets_models: bool) -> Option<PendingCommand> {
        let is_meant = |pending: &mut PendingCommand| pending.resets_models() == resets_models;
        self.next_queue().pop_front_if(is_meant)
    }

    /// Tells whether anything waits that a step of any kind can bring.
    pub(crate) fn has_said(&self) -> bool {
        !self.said.is_empty()
    }

    /// Returns how much waits of what clients ask for and say \[bytes\].
    fn bytes(&self) -> usize {
        let asked = self
            .asked
            .iter()
            .map(|pending| batch::size(&pending.command));
        let said = self.said.iter().map(|(message, _)| message.body.len());
        asked.chain(said).sum()
    }

    /// Returns after which iteration the schedule has something to be done.
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
            });
        self.requested.extend(queue);
        self.heard.extend(messages);
    }

    /// Notes that time has advanced.
    pub(crate) fn begin_iteration(&mut self) {
        self.round = 0;
    }
}

impl Commands {
    /// Forgets what systems of models that are gone asked for and said.
    pub(crate) fn forget_systems(&mut self) {
        self.queue.requested.clear();
        self.queue.heard.clear();
    }
}

impl RunClock {
    /// Puts out what a run must be given to be repeated.
    pub(crate) fn record(
        &self,
        origin: &Origin,
        paused_round: Option<u32>,
        command: Command,
        cx: &mut Context<'_>,
    ) {
        if !matches!(origin, Origin::System(_)) {
            cx.push(PrimaryOutput::Stamped(ScheduledCommand {
                iteration: self.iteration,
                paused_round,
                command,
            }));
        }
    }
}

impl Primary {
    /// Notes a command for the next step, or refuses it.
    pub(crate) fn enqueue(&mut self, origin: Origin, command: Command, cx: &mut Context<'_>) {
        if self.phase == Phase::Gathering {
            return origin.refuse("the secondaries are not ready yet", cx);
        }
        let waiting = self.commands.queue.asked.len() + self.commands.queue.said.len();
        let is_too_much = waiting >= WAITERS_MAX || self.commands.queue.bytes() > WAITING_BYTES_MAX;
        if matches!(origin, Origin::Client { .. }) && is_too_much {
            return origin.refuse("too many commands are under way", cx);
        }
        self.note_pending(origin, command, cx);
        self.step_if_idle(cx);
    }

    fn note_pending(&mut self, origin: Origin, command: Command, cx: &mut Context<'_>) {
        if let Command::Publish { topic, kind, body } = command {
            return match self.message_of(topic, &kind, body) {
                Ok(message) => self.commands.queue.said.push((message, origin)),
                Err(reason) => origin.refuse(&reason, cx),
            };
        }
        self.commands
            .queue
            .asked
            .push_back(PendingCommand { command, origin });
    }

    /// Takes what is due from the schedule. While iterations are replayed, only what was done then
    /// is: what follows is new, and must be written down.
    pub(crate) fn keep_schedule(&mut self, cx: &mut Context<'_>) {
        let rest = self.resume.schedule_after_replay();
        for due in self
            .commands
            .queue
            .take_from_schedule(self.clock.iteration, rest)
        {
            self.note_pending(Origin::Schedule, due.command, cx);
        }
    }

    /// Takes into a step what it can bring.
    pub(crate) fn stamp(&mut self, purpose: Purpose, cx: &mut Context<'_>) -> Batch {
        let mut batch = Batch::default();
        match purpose {
            Purpose::Advance | Purpose::Rearrange => {}
            Purpose::Build | Purpose::Pause | Purpose::Fetch => return batch,
        }
        let round = (purpose == Purpose::Rearrange).then_some(self.commands.queue.round);
        if purpose == Purpose::Rearrange {
            self.stamp_pending(&mut batch, round, cx);
        } else {
            batch.messages = std::mem::take(&mut self.commands.queue.heard);
        }
        let mut said = Vec::new();
        let mut waiting = std::mem::take(&mut self.commands.queue.said).into_iter();
        while !batch.is_full()
            && let Some((message, origin)) = waiting.next()
        {
            batch.bytes += message.body.len();
            let message = TopicMessage {
                iteration: self.clock.iteration,
                sim_time: self.clock.sim_time,
                ..message
            };
            let command = Command::Publish {
                topic: message.topic.clone(),
                kind: message.kind.clone(),
                body: message.body.clone(),
            };
            self.clock.record(&origin, round, command, cx);
            said.push(message);
            batch.applied.push(AppliedCommand::plain(
                origin,
                self.commands.queue.next_number,
            ));
        }
        self.commands.queue.said.extend(waiting);
        batch.is_needed |=
            std::mem::take(&mut self.commands.queue.is_round_due) || !said.is_empty();
        said.append(&mut batch.messages);
        batch.messages = said;
        if batch.is_needed && purpose == Purpose::Rearrange {
            self.commands.queue.round += 1;
        }
        batch
    }

    fn stamp_pending(&mut self, batch: &mut Batch, round: Option<u32>, cx: &mut Context<'_>) {
        while !batch.is_full()
            && let Some(pending) = self.commands.queue.take_next(false)
        {
            let applied = match &pending.command {
                Command::Reset {
                    what: ResetKind::Time,
                } => {
                    self.clock.sim_time = protocol::SimTime(0);
                    self.observe_clock(cx);
                    Ok(ResolvedCommand::default())
                }
                command => self.grant(command, cx),
            };
            match applied {
                Ok(grant) => self.take_resolved(batch, pending, grant, round, cx),
                Err(reason) => {
                    if let Origin::System(publisher) = pending.origin {
                        self.tell_of_system(publisher, &pending.command, &reason, cx);
                    }
                    pending.origin.refuse(&reason, cx);
                }
            }
        }
    }

    fn take_resolved(
        &mut self,
        batch: &mut Batch,
        pending: PendingCommand,
        grant: ResolvedCommand,
        round: Option<u32>,
        cx: &mut Context<'_>,
    ) {
        let number = self.commands.queue.next_number;
        self.commands.queue.next_number += 1;
        batch.is_needed = true;
        batch.spawned.extend(grant.spawned);
        batch.removed.extend(grant.removed);
        batch.bytes += grant.bytes;
        let actions = grant.actions.into_iter();
        let stamped = actions.map(|action| StampedAction { number, action });
        batch.actions.extend(stamped);
        // Which models there are concerns all who look, whoever asked for them.
        let is_told = matches!(pending.origin, Origin::Client { .. })
            || matches!(pending.command, Command::Spawn(_) | Command::Remove { .. });
        let spawned = grant.name.as_ref().map(|name| format!("spawn {name}"));
        if is_told && let Some(text) = spawned.or_else(|| pending.command.text()) {
            cx.event(Severity::Info, "command", text);
        }
        self.clock
            .record(&pending.origin, round, pending.command, cx);
        batch.applied.push(AppliedCommand {
            origin: pending.origin,
            number,
            name: grant.name,
            warnings: grant.warnings,
            joined: grant.joined,
        });
    }

    /// Returns who asks for a reset of models, which is a round of its own, when that comes next.
    pub(crate) fn take_reset(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Option<(ResetKind, AppliedCommand)> {
        let pending = self.commands.queue.take_next(true)?;
        let Command::Reset { what } = pending.command else {
            unreachable!("what resets models is a reset");
        };
        let text = pending.command.text().unwrap_or_default();
        cx.event(Severity::Info, "command", text);
        let round = Some(self.commands.queue.round);
        self.commands.queue.round += 1;
        self.clock
            .record(&pending.origin, round, pending.command, cx);
        Some((
            what,
            AppliedCommand::plain(pending.origin, self.commands.queue.next_number),
        ))
    }

    /// Answers those whose commands a completed step has brought.
    pub(crate) fn answer_applied(
        &mut self,
        applied: Vec<AppliedCommand>,
        actions: &[StampedAction],
        failures: &std::collections::BTreeMap<u64, String>,
        cx: &mut Context<'_>,
    ) {
        for one in applied {
            match (failures.get(&one.number), &one.origin) {
                (Some(reason), origin) => {
                    if let Some(ends) = one.joined {
                        self.forget_attachment(actions, one.number, ends);
                    }
                    origin.refuse(reason, cx);
                }
                (None, Origin::Client { to, request }) => {
                    let reply = Reply::Done {
                        iteration: self.clock.iteration,
                        name: one.name,
                        warnings: one.warnings,
                    };
                    cx.push(PrimaryOutput::Reply {
                        to: to.clone(),
                        message: PrimaryToClient {
                            request: *request,
                            reply,
                        },
                    });
                }
                (None, Origin::System(_) | Origin::Schedule) => {}
            }
        }
    }

    /// Refuses all that waits, since the run ends.
    pub(crate) fn drop_commands(&mut self, reason: &str, cx: &mut Context<'_>) {
        let queue = std::mem::take(&mut self.commands.queue);
        let asked = queue.asked.into_iter().map(|pending| pending.origin);
        for origin in asked.chain(queue.said.into_iter().map(|(_, origin)| origin)) {
            origin.refuse(reason, cx);
        }
        let mut applied = match self.commands.pending.take() {
            Some(pending) => pending.batch.applied,
            None => Vec::new(),
        };
        if let Some(round) = &mut self.barrier.round {
            applied.append(&mut round.applied);
        }
        for one in applied {
            one.origin.refuse(reason, cx);
        }
    }

    /// Tells of a system's command that cannot be granted, once.
    pub(crate) fn tell_of_system(
        &mut self,
        publisher: Publisher,
        command: &Command,
        reason: &str,
        cx: &mut Context<'_>,
    ) {
        let what = command.text().unwrap_or_default();
        let whose = match publisher {
            Publisher::Client => None,
            Publisher::World { world, .. } => {
                self.world.topology.worlds.get(world as usize).cloned()
            }
            Publisher::Model { model, .. } => self.world.registry.find(model),
        };
        let whose = whose.unwrap_or_else(|| "nobody".to_owned());
        let text = format!("a system of {whose} asked for {what:?}, which failed: {reason}");
        if self.commands.queue.told.len() < TOLD_MAX
            && self.commands.queue.told.insert(text.clone())
        {
            cx.event(Severity::Warning, "command", text);
        }
    }
}

impl PendingCommand {
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
