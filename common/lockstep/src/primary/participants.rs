//! [`Participants`]: programs that take part in lockstep, and hold the run after their iterations
//! until they have answered.
//!
//! After each iteration that a participant's interval divides, it is told what it asked for, and no
//! further iteration begins until its answer is there. Answers are taken when the next iteration is
//! due, in the order of names: neither the speed of a program nor a pause changes what is done.
//! **Invariant:** no more than one request of each participant waits for its reply.
//! **Invariant:** all that is kept of a participant is bounded.

mod absence;
mod hearing;
pub(crate) mod join;
mod participant;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use protocol::participant::{ANSWER_BYTES_MAX, AnswerBarrier, Barrier, COMMANDS_MAX};
use protocol::primary_to_client::Reply;
use protocol::primary_to_observers::Severity;
use protocol::report::{ParticipantReport, ParticipantState};
use protocol::{
    Command, FailureCode, Iteration, PeerName, RequestId, RoutingId, SessionTime, SimTime,
    TopicMessage,
};

use crate::primary::PrimaryOutput;
use crate::primary::commands::batch;
use crate::primary::context::{CodedError, Context, Failure};
use crate::primary::world::WorldState;
use participant::{Participant, Stage};

/// Beginning of the addresses at which commands of participants are answered: no peer can have it.
const ADDRESS: &[u8] = b"\0participant ";

/// Most reasons for failed commands that are kept for a participant.
const FAILURES_MAX: usize = 16;

/// Programs that take part in lockstep.
#[derive(Debug, Default)]
pub(crate) struct Participants {
    all: BTreeMap<PeerName, Participant>,
    /// Programs that the run waits for before it begins, or goes on after a resume.
    awaited: BTreeSet<PeerName>,
    /// Time since when these hold up the run.
    awaited_since: Option<SessionTime>,
    /// True if the topics that they listen to are others than secondaries were told.
    has_new_topics: bool,
}

/// A command of a participant, with where its failure is noted.
#[derive(Debug)]
pub(crate) struct ParticipantCommand {
    pub(crate) to: RoutingId,
    pub(crate) request: RequestId,
    pub(crate) command: Command,
}

/// An answer that is refused.
#[derive(Debug, thiserror::Error)]
enum AnswerError {
    #[error("no participant is named {name}: join first")]
    Unknown { name: PeerName },
    #[error("{name} joined by another connection")]
    Other { name: PeerName },
    #[error("nothing waits for the answer of {name} to iteration {iteration}")]
    NotAsked {
        name: PeerName,
        iteration: Iteration,
    },
    #[error("{count} commands are more than the {COMMANDS_MAX} of an answer")]
    TooMany { count: usize },
    #[error("the commands have {bytes} bytes, more than the {ANSWER_BYTES_MAX} of an answer")]
    TooLarge { bytes: usize },
    #[error("{command} has no place in an answer: it does not change the worlds")]
    NotOfWorlds { command: String },
}

impl CodedError for AnswerError {
    fn code(&self) -> FailureCode {
        match self {
            Self::Unknown { .. } => FailureCode::NotFound,
            Self::Other { .. } => FailureCode::Forbidden,
            Self::NotAsked { .. } => FailureCode::WrongState,
            Self::TooMany { .. } | Self::TooLarge { .. } => FailureCode::TooMuch,
            Self::NotOfWorlds { .. } => FailureCode::Invalid,
        }
    }
}

impl Participants {
    /// Makes the participants of a run that waits for programs of these names before it begins.
    pub(crate) fn new(awaited: impl IntoIterator<Item = PeerName>) -> Self {
        Self {
            awaited: awaited.into_iter().collect(),
            ..Self::default()
        }
    }

    /// Has secondaries told anew what is listened to: a run that is resumed begins with nobody.
    pub(crate) fn begin_resumed(&mut self) {
        self.has_new_topics = true;
    }

    /// Takes the answer to a barrier; tells whether it is the one that is waited for.
    pub(crate) fn on_answer(
        &mut self,
        (from, request): (RoutingId, RequestId),
        answer: AnswerBarrier,
        cx: &mut Context<'_>,
    ) -> bool {
        let AnswerBarrier {
            name,
            iteration,
            commands,
        } = answer;
        let checked = self
            .of_client(&name, &from)
            .and_then(|()| check_commands(&commands));
        let participant = match (checked, self.all.get_mut(&name)) {
            (Ok(()), Some(participant)) => participant,
            (checked, _) => {
                let error = checked.err().unwrap_or(AnswerError::Unknown { name });
                cx.fail(from, request, error);
                return false;
            }
        };
        let is_taken = participant.take_answer(request, iteration, commands, cx.now);
        if !is_taken {
            cx.fail(from, request, AnswerError::NotAsked { name, iteration });
        }
        is_taken
    }

    /// Lets a participant go: the run goes on without it, whatever its policy.
    pub(crate) fn on_leave(
        &mut self,
        (from, request): (RoutingId, RequestId),
        name: &PeerName,
        cx: &mut Context<'_>,
    ) {
        if let Err(error) = self.of_client(name, &from) {
            return cx.fail(from, request, error);
        }
        self.remove(name, "left", cx);
        let text = format!("{name} takes part no more: it has left");
        cx.event(Severity::Info, "participant", text);
        cx.done(from, request);
    }

    /// Tells those whose iteration is complete what they asked for.
    pub(crate) fn tell(&mut self, sim_time: SimTime, world: &WorldState, cx: &mut Context<'_>) {
        self.take_failures(cx);
        if !self.awaited.is_empty() && self.awaited_since.is_none() {
            self.awaited_since = Some(cx.now);
        }
        let iteration = cx.iteration;
        for participant in self.all.values_mut() {
            let Some(request) = participant.begin_holding(iteration, cx.now) else {
                continue;
            };
            let models = participant.terms.models.iter();
            let barrier = Barrier {
                iteration,
                sim_time,
                digest: world.digest(),
                messages: participant.heard.messages(),
                left_out: participant.heard.left_out(),
                models: models.filter_map(|name| world.model_state(name)).collect(),
                failures: std::mem::take(&mut participant.failures),
            };
            let reply = Reply::Barrier(Box::new(barrier));
            cx.reply(participant.client.clone(), request, reply);
        }
    }

    /// Tells whether the iteration after this one has to wait.
    pub(crate) fn hold(&self, iteration: Iteration) -> bool {
        !self.awaited.is_empty() || self.all.values().any(|one| one.holds(iteration))
    }

    /// Takes the answers to an iteration, in the order of names, and returns their commands;
    /// `None` when nobody was asked after it.
    pub(crate) fn take_commands(
        &mut self,
        iteration: Iteration,
    ) -> Option<Vec<ParticipantCommand>> {
        let mut all = None;
        for (name, participant) in &mut self.all {
            let Some(commands) = participant.end_barrier(iteration) else {
                continue;
            };
            let to = RoutingId([ADDRESS, name.as_str().as_bytes()].concat());
            let numbered = (0..).zip(commands);
            all.get_or_insert_with(Vec::new)
                .extend(numbered.map(|(number, command)| ParticipantCommand {
                    to: to.clone(),
                    request: RequestId(number),
                    command,
                }));
        }
        all
    }

    /// Takes the replies to commands of participants out of what goes out, and notes what failed.
    pub(crate) fn take_failures(&mut self, cx: &mut Context<'_>) {
        let is_meant = |output: &mut PrimaryOutput| match output {
            PrimaryOutput::Reply { to, .. } => is_of_participant(to),
            _ => false,
        };
        for output in cx.extract(is_meant) {
            let PrimaryOutput::Reply { to, message } = output else {
                continue;
            };
            let Reply::Failed { reason, .. } = message.reply else {
                continue;
            };
            let Some(name) = name_of(&to) else {
                continue;
            };
            let text = format!("a command of {name} failed: {reason}");
            cx.event(Severity::Warning, "participant", text);
            if let Some(participant) = self.all.get_mut(&name) {
                participant.note_failure(reason);
            }
        }
    }

    /// Takes over what was published in a step, for those who listen: first by clients, then by
    /// systems and sensors in the order of publishers.
    pub(crate) fn hear(&mut self, of_clients: Vec<TopicMessage>, mut published: Vec<TopicMessage>) {
        published.sort_by_key(|message| message.publisher);
        for message in of_clients.into_iter().chain(published) {
            for participant in self.all.values_mut() {
                participant.hear(&message);
            }
        }
    }

    /// Takes the topics that they listen to, if secondaries have to be told.
    pub(crate) fn take_topics(&mut self) -> Option<Vec<String>> {
        if !std::mem::take(&mut self.has_new_topics) {
            return None;
        }
        let topics = self.all.values().flat_map(|one| &one.terms.topics);
        let topics: BTreeSet<&String> = topics.collect();
        Some(topics.into_iter().cloned().collect())
    }

    /// Returns the next iteration after which somebody is asked.
    pub(crate) fn next_barrier(&self) -> Option<Iteration> {
        self.all.values().map(|one| one.next).min()
    }

    /// Moves all deadlines by a time in which the primary itself did nothing.
    pub(crate) fn postpone(&mut self, by: Duration) {
        self.awaited_since = self.awaited_since.map(|since| since + by);
        for participant in self.all.values_mut() {
            participant.postpone(by);
        }
    }

    /// Begins all time-outs anew, since time runs again.
    pub(crate) fn restart_timeouts(&mut self, now: SessionTime) {
        self.awaited_since = self.awaited_since.map(|_| now);
        for participant in self.all.values_mut() {
            participant.restart_timeout(now);
        }
    }

    /// Returns the addresses of those who are connected, as far as is known.
    pub(crate) fn clients(&self) -> impl Iterator<Item = &RoutingId> {
        let here = self.all.values().filter(|one| one.stage != Stage::Gone);
        here.map(|one| &one.client)
    }

    /// Returns the names of those that the run waits for after an iteration, with the time since
    /// when.
    pub(crate) fn holding(&self) -> impl Iterator<Item = (&PeerName, SessionTime)> {
        let holding = self.all.iter();
        let holding = holding.filter_map(|(name, one)| Some((name, one.holding_since()?)));
        let since = self.awaited_since.unwrap_or_default();
        holding.chain(self.awaited.iter().map(move |name| (name, since)))
    }

    /// Returns reports of all, by name.
    pub(crate) fn reports(&self, now: SessionTime) -> Vec<ParticipantReport> {
        let all = self.all.iter().map(|(name, one)| one.report(name, now));
        let awaited = self.awaited.iter().map(|name| ParticipantReport {
            name: name.clone(),
            state: ParticipantState::Awaited,
            every: None,
            next: None,
            policy: None,
            timeout_s: None,
            holds_us: self.awaited_since.map(|since| micros(now.since(since))),
            wait_p50_us: 0.0,
            wait_max_us: 0.0,
            answers: 0,
            missed: 0,
        });
        let mut reports: Vec<_> = all.chain(awaited).collect();
        reports.sort_by(|a, b| a.name.cmp(&b.name));
        reports
    }

    /// Answers all who wait: the run ends.
    pub(crate) fn end(&mut self, failure: &Failure, cx: &mut Context<'_>) {
        self.take_failures(cx);
        self.awaited.clear();
        for participant in std::mem::take(&mut self.all).into_values() {
            if let Some(request) = participant.stage.request() {
                cx.fail(participant.client, request, failure);
            }
        }
    }

    /// Checks that a participant joined by this connection.
    fn of_client(&self, name: &PeerName, from: &RoutingId) -> Result<(), AnswerError> {
        let known = self.all.get(name);
        let known = known.ok_or_else(|| AnswerError::Unknown { name: name.clone() })?;
        if known.client != *from || known.stage == Stage::Gone {
            return Err(AnswerError::Other { name: name.clone() });
        }
        Ok(())
    }

    /// Takes a participant out; a request of it that waits is answered with the reason.
    fn remove(&mut self, name: &PeerName, reason: &str, cx: &mut Context<'_>) {
        let Some(participant) = self.all.remove(name) else {
            return;
        };
        self.has_new_topics |= !participant.terms.topics.is_empty();
        if let Some(request) = participant.stage.request() {
            let reason = format!("{name} {reason}");
            let failure = Failure::new(FailureCode::Superseded, reason);
            cx.fail(participant.client, request, failure);
        }
    }
}

/// Checks the commands of an answer.
fn check_commands(commands: &[Command]) -> Result<(), AnswerError> {
    if commands.len() > COMMANDS_MAX {
        let count = commands.len();
        return Err(AnswerError::TooMany { count });
    }
    if let Some(other) = commands.iter().find(|command| !command.is_of_worlds()) {
        let command = other.text().unwrap_or_else(|| "a question".to_owned());
        return Err(AnswerError::NotOfWorlds { command });
    }
    let bytes = commands.iter().map(batch::size).sum();
    if bytes > ANSWER_BYTES_MAX {
        return Err(AnswerError::TooLarge { bytes });
    }
    Ok(())
}

/// Tells whether commands of participants are answered at an address.
pub(crate) fn is_of_participant(address: &RoutingId) -> bool {
    address.0.starts_with(ADDRESS)
}

/// Returns the participant whose commands are answered at an address.
fn name_of(address: &RoutingId) -> Option<PeerName> {
    let name = address.0.strip_prefix(ADDRESS)?;
    std::str::from_utf8(name).ok()?.parse().ok()
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}
