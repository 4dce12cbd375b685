//! What clients and systems wish for: noted when it comes, done between two iterations.
//!
//! Whatever changes models is done in a round in which time stands still, so that membership sees
//! what came of it before anything moves on: the same whether time runs or is paused. What is said
//! on topics goes along with the next step.
//! **Invariant:** a wish that cannot be granted changes nothing, not even the number of rounds in
//! which models change.

pub(crate) mod memory;

use std::collections::VecDeque;

use protocol::client_to_primary::ResetKind;
use protocol::primary_to_client::{PrimaryToClient, Reply};
use protocol::primary_to_observers::Severity;
use protocol::secondary_to_primary::SystemRequest;
use protocol::{
    Command, Iteration, PerformerId, Publisher, RequestId, RoutingId, ScheduledCommand,
    StampedAction, TopicMessage,
};

use crate::primary::barrier::rounds::Purpose;
use crate::primary::commands::batch::{self, Batch, Granted};
use crate::primary::commands::requests::WAITERS_MAX;
use crate::primary::context::Context;
use crate::primary::{Phase, Primary, PrimaryOutput};

/// How many wishes of systems may wait at once.
const REQUESTS_MAX: usize = 1 << 16;
/// How much of what clients ask for and say may wait at once \[bytes\].
const WAITING_BYTES_MAX: usize = 256 << 20;
/// How many different failures of systems' wishes are told.
const TOLD_MAX: usize = 64;

/// All that is wished for and not done yet.
#[derive(Debug, Default)]
pub(crate) struct Wishes {
    /// By systems, in order of publishers; they come first.
    requested: VecDeque<Wish>,
    /// By clients and the schedule, in the order in which they came.
    asked: VecDeque<Wish>,
    /// What clients say on topics, in the order in which they came.
    said: Vec<(TopicMessage, Asker)>,
    /// What systems said on topics that systems listen to, for the next iteration.
    pub(crate) heard: Vec<TopicMessage>,
    schedule: VecDeque<ScheduledCommand>,
    /// Whether what was said is to be heard while time stands still.
    is_round_due: bool,
    /// The number of the next action.
    next_number: u64,
    /// In how many rounds models have changed since this iteration.
    round: u32,
    /// Failures of systems' wishes that were told.
    told: std::collections::BTreeSet<String>,
}

/// Something wished for.
#[derive(Debug)]
struct Wish {
    command: Command,
    asker: Asker,
}

/// Who wishes for something.
#[derive(Clone, Debug)]
pub(crate) enum Asker {
    /// A client, which waits for its reply.
    Client { to: RoutingId, request: RequestId },
    /// A system.
    System(Publisher),
    /// The schedule.
    Schedule,
}

impl Asker {
    /// Tells who wishes for something that it is not granted, and why.
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

/// What granting a wish comes to.
#[derive(Debug, Default)]
pub(crate) struct Grant {
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

impl Wishes {
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

    /// Returns where the next wish stands: those of systems come first.
    fn next_queue(&mut self) -> &mut VecDeque<Wish> {
        if self.requested.is_empty() {
            &mut self.asked
        } else {
            &mut self.requested
        }
    }

    /// Returns the next wish if it resets models, or else if it does not.
    fn take_next(&mut self, resets_models: bool) -> Option<Wish> {
        let is_meant = |wish: &mut Wish| wish.resets_models() == resets_models;
        self.next_queue().pop_front_if(is_meant)
    }

    /// Tells whether anything waits that a step of any kind can bring.
    pub(crate) fn has_said(&self) -> bool {
        !self.said.is_empty()
    }

    /// Returns how much waits of what clients ask for and say \[bytes\].
    fn bytes(&self) -> usize {
        let asked = self.asked.iter().map(|wish| batch::size(&wish.command));
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

    /// Takes over what systems wish for, in order of publishers, and what they say.
    pub(crate) fn take_from_systems(
        &mut self,
        requests: Vec<SystemRequest>,
        mut messages: Vec<TopicMessage>,
    ) {
        messages.sort_by_key(|message| message.publisher);
        let room = REQUESTS_MAX.saturating_sub(self.requested.len());
        let wishes = requests.into_iter().take(room).map(|request| Wish {
            command: request.command,
            asker: Asker::System(request.publisher),
        });
        self.requested.extend(wishes);
        self.heard.extend(messages);
    }

    /// Notes that time has advanced.
    pub(crate) fn begin_iteration(&mut self) {
        self.round = 0;
    }
}

impl Primary {
    /// Notes a command for the next step, or refuses it.
    pub(crate) fn on_wish(&mut self, asker: Asker, command: Command, cx: &mut Context<'_>) {
        if matches!(self.phase, Phase::Gathering { .. }) {
            return asker.refuse("the secondaries are not ready yet", cx);
        }
        let waiting = self.wishes.asked.len() + self.wishes.said.len();
        let is_too_much = waiting >= WAITERS_MAX || self.wishes.bytes() > WAITING_BYTES_MAX;
        if matches!(asker, Asker::Client { .. }) && is_too_much {
            return asker.refuse("too many commands are under way", cx);
        }
        self.note_wish(asker, command, cx);
        self.step_if_idle(cx);
    }

    fn note_wish(&mut self, asker: Asker, command: Command, cx: &mut Context<'_>) {
        if let Command::Publish { topic, kind, body } = command {
            return match self.message_of(topic, &kind, body) {
                Ok(message) => self.wishes.said.push((message, asker)),
                Err(reason) => asker.refuse(&reason, cx),
            };
        }
        self.wishes.asked.push_back(Wish { command, asker });
    }

    /// Takes what is due from the schedule. While iterations are replayed, only what was done then
    /// is: what follows is new, and must be written down.
    pub(crate) fn keep_schedule(&mut self, cx: &mut Context<'_>) {
        let rest = self.schedule_after_redo();
        for due in self.wishes.take_from_schedule(self.iteration, rest) {
            self.note_wish(Asker::Schedule, due.command, cx);
        }
    }

    /// Takes into a step what it can bring.
    pub(crate) fn stamp(&mut self, purpose: Purpose, cx: &mut Context<'_>) -> Batch {
        let mut batch = Batch::default();
        match purpose {
            Purpose::Advance | Purpose::Rearrange => {}
            Purpose::Build | Purpose::Pause | Purpose::Fetch => return batch,
        }
        let round = (purpose == Purpose::Rearrange).then_some(self.wishes.round);
        if purpose == Purpose::Rearrange {
            self.stamp_wishes(&mut batch, round, cx);
        } else {
            batch.messages = std::mem::take(&mut self.wishes.heard);
        }
        let mut said = Vec::new();
        let mut waiting = std::mem::take(&mut self.wishes.said).into_iter();
        while !batch.is_full()
            && let Some((message, asker)) = waiting.next()
        {
            batch.bytes += message.body.len();
            let message = TopicMessage {
                iteration: self.iteration,
                sim_time: self.sim_time,
                ..message
            };
            let command = Command::Publish {
                topic: message.topic.clone(),
                kind: message.kind.clone(),
                body: message.body.clone(),
            };
            self.record(&asker, round, command, cx);
            said.push(message);
            batch
                .granted
                .push(Granted::plain(asker, self.wishes.next_number));
        }
        self.wishes.said.extend(waiting);
        batch.is_needed |= std::mem::take(&mut self.wishes.is_round_due) || !said.is_empty();
        said.append(&mut batch.messages);
        batch.messages = said;
        if batch.is_needed && purpose == Purpose::Rearrange {
            self.wishes.round += 1;
        }
        batch
    }

    fn stamp_wishes(&mut self, batch: &mut Batch, round: Option<u32>, cx: &mut Context<'_>) {
        while !batch.is_full()
            && let Some(wish) = self.wishes.take_next(false)
        {
            let granted = match &wish.command {
                Command::Reset {
                    what: ResetKind::Time,
                } => {
                    self.sim_time = protocol::SimTime(0);
                    self.observe_clock(cx);
                    Ok(Grant::default())
                }
                command => self.grant(command, cx),
            };
            match granted {
                Ok(grant) => self.take_grant(batch, wish, grant, round, cx),
                Err(reason) => {
                    if let Asker::System(publisher) = wish.asker {
                        self.tell_of_system(publisher, &wish.command, &reason, cx);
                    }
                    wish.asker.refuse(&reason, cx);
                }
            }
        }
    }

    fn take_grant(
        &mut self,
        batch: &mut Batch,
        wish: Wish,
        grant: Grant,
        round: Option<u32>,
        cx: &mut Context<'_>,
    ) {
        let number = self.wishes.next_number;
        self.wishes.next_number += 1;
        batch.is_needed = true;
        batch.spawned.extend(grant.spawned);
        batch.removed.extend(grant.removed);
        batch.bytes += grant.bytes;
        let actions = grant.actions.into_iter();
        let stamped = actions.map(|action| StampedAction { number, action });
        batch.actions.extend(stamped);
        // Which models there are concerns all who look, whoever wished for them.
        let is_told = matches!(wish.asker, Asker::Client { .. })
            || matches!(wish.command, Command::Spawn(_) | Command::Remove { .. });
        let spawned = grant.name.as_ref().map(|name| format!("spawn {name}"));
        if is_told && let Some(text) = spawned.or_else(|| wish.command.text()) {
            cx.event(Severity::Info, "command", text);
        }
        self.record(&wish.asker, round, wish.command, cx);
        batch.granted.push(Granted {
            asker: wish.asker,
            number,
            name: grant.name,
            warnings: grant.warnings,
            joined: grant.joined,
        });
    }

    /// Returns who wishes for a reset of models, which is a round of its own, when that comes next.
    pub(crate) fn take_reset(&mut self, cx: &mut Context<'_>) -> Option<(ResetKind, Granted)> {
        let wish = self.wishes.take_next(true)?;
        let Command::Reset { what } = wish.command else {
            unreachable!("what resets models is a reset");
        };
        let text = wish.command.text().unwrap_or_default();
        cx.event(Severity::Info, "command", text);
        let round = Some(self.wishes.round);
        self.wishes.round += 1;
        self.record(&wish.asker, round, wish.command, cx);
        Some((what, Granted::plain(wish.asker, self.wishes.next_number)))
    }

    /// Forgets what systems of models that are gone wished for and said.
    pub(crate) fn forget_systems(&mut self) {
        self.wishes.requested.clear();
        self.wishes.heard.clear();
    }

    /// Puts out what a run must be given to be repeated.
    fn record(
        &self,
        asker: &Asker,
        paused_round: Option<u32>,
        command: Command,
        cx: &mut Context<'_>,
    ) {
        if !matches!(asker, Asker::System(_)) {
            cx.push(PrimaryOutput::Stamped(ScheduledCommand {
                iteration: self.iteration,
                paused_round,
                command,
            }));
        }
    }

    /// Answers those whose wishes a completed step has brought.
    pub(crate) fn answer_granted(
        &mut self,
        granted: Vec<Granted>,
        actions: &[StampedAction],
        failures: &std::collections::BTreeMap<u64, String>,
        cx: &mut Context<'_>,
    ) {
        for one in granted {
            match (failures.get(&one.number), &one.asker) {
                (Some(reason), asker) => {
                    if let Some(ends) = one.joined {
                        self.forget_attachment(actions, one.number, ends);
                    }
                    asker.refuse(reason, cx);
                }
                (None, Asker::Client { to, request }) => {
                    let reply = Reply::Done {
                        iteration: self.iteration,
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
                (None, Asker::System(_) | Asker::Schedule) => {}
            }
        }
    }

    /// Refuses all that waits, since the run ends.
    pub(crate) fn drop_wishes(&mut self, reason: &str, cx: &mut Context<'_>) {
        let wishes = std::mem::take(&mut self.wishes);
        let asked = wishes.asked.into_iter().map(|wish| wish.asker);
        for asker in asked.chain(wishes.said.into_iter().map(|(_, asker)| asker)) {
            asker.refuse(reason, cx);
        }
        let mut granted = match self.pending.take() {
            Some(pending) => pending.batch.granted,
            None => Vec::new(),
        };
        if let Phase::Stepping(round) = &mut self.phase {
            granted.append(&mut round.granted);
        }
        for one in granted {
            one.asker.refuse(reason, cx);
        }
    }

    /// Tells of a system's wish that cannot be granted, once.
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
            Publisher::World { world, .. } => self.plan.worlds.get(world as usize).cloned(),
            Publisher::Model { model, .. } => self.register.find(model),
        };
        let whose = whose.unwrap_or_else(|| "nobody".to_owned());
        let text = format!("a system of {whose} asked for {what:?}, which failed: {reason}");
        if self.wishes.told.len() < TOLD_MAX && self.wishes.told.insert(text.clone()) {
            cx.event(Severity::Warning, "command", text);
        }
    }
}

impl Wish {
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
