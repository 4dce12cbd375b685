//! [`Participant`]: one program that takes part in lockstep, and its stage.

use std::time::Duration;

use protocol::participant::JoinBarrier;
use protocol::report::{ParticipantReport, ParticipantState};
use protocol::{Command, Iteration, PeerName, RequestId, RoutingId, SessionTime, TopicMessage};

use super::FAILURES_MAX;
use super::hearing::Heard;
use super::micros;

/// Number of answers whose times are kept, for their median.
const TIMES_MAX: usize = 1_000;

/// A program that takes part in lockstep.
#[derive(Debug)]
pub(super) struct Participant {
    pub(super) terms: JoinBarrier,
    /// Address of its client.
    pub(super) client: RoutingId,
    /// Iteration of its next barrier, or of the one that it holds.
    pub(super) next: Iteration,
    pub(super) stage: Stage,
    /// Messages since its last barrier, on its topics.
    pub(super) heard: Heard,
    /// Reasons why commands of its last answer failed.
    pub(super) failures: Vec<String>,
    times: AnswerTimes,
}

/// Stage of a participant.
#[derive(Debug, PartialEq)]
pub(super) enum Stage {
    /// Its request waits for its next barrier.
    Ready(RequestId),
    /// The run waits for its answer.
    Holding {
        since: SessionTime,
        /// The time-out began then; at its end, the policy applies.
        waits_since: SessionTime,
        /// Number of time-outs that are over.
        timeouts: u32,
    },
    /// Its answer waits for the next iteration to be due.
    Answered {
        request: RequestId,
        commands: Vec<Command>,
    },
    /// The run went on without the answer that it owes.
    Late,
    /// Its connection is gone, and the run waits for it to join again.
    Gone,
}

/// Times that answers took.
#[derive(Debug, Default)]
struct AnswerTimes {
    /// The last ones, of which the oldest is replaced.
    last: Vec<Duration>,
    max: Duration,
    answers: u64,
    missed: u64,
}

impl Stage {
    /// Returns the request that waits for a reply.
    pub(super) fn request(&self) -> Option<RequestId> {
        match self {
            Self::Ready(request) | Self::Answered { request, .. } => Some(*request),
            Self::Holding { .. } | Self::Late | Self::Gone => None,
        }
    }
}

impl Participant {
    /// Makes a participant whose request waits for its first barrier.
    pub(super) fn new(
        terms: JoinBarrier,
        (client, request): (RoutingId, RequestId),
        first: Iteration,
    ) -> Self {
        Self {
            terms,
            client,
            next: first,
            stage: Stage::Ready(request),
            heard: Heard::default(),
            failures: Vec::new(),
            times: AnswerTimes::default(),
        }
    }

    /// Takes the program back that was gone; what it has not answered, it is asked again.
    pub(super) fn take_back(
        &mut self,
        terms: JoinBarrier,
        (client, request): (RoutingId, RequestId),
    ) {
        (self.terms, self.client) = (terms, client);
        self.stage = Stage::Ready(request);
    }

    /// Begins to wait for its answer to an iteration, if that is its barrier; returns the request
    /// that is to be answered.
    pub(super) fn begin_holding(
        &mut self,
        iteration: Iteration,
        now: SessionTime,
    ) -> Option<RequestId> {
        let Stage::Ready(request) = self.stage else {
            return None;
        };
        if self.next != iteration {
            return None;
        }
        self.stage = Stage::Holding {
            since: now,
            waits_since: now,
            timeouts: 0,
        };
        Some(request)
    }

    /// Tells whether the iteration after this one waits for it.
    pub(super) fn holds(&self, iteration: Iteration) -> bool {
        let is_due = self.next <= iteration;
        is_due && matches!(self.stage, Stage::Holding { .. } | Stage::Gone)
    }

    /// Returns the time since when the run waits for its answer.
    pub(super) fn holding_since(&self) -> Option<SessionTime> {
        match self.stage {
            Stage::Holding { since, .. } => Some(since),
            Stage::Ready(_) | Stage::Answered { .. } | Stage::Late | Stage::Gone => None,
        }
    }

    /// Takes its answer to an iteration; tells whether that was waited for, or is late.
    pub(super) fn take_answer(
        &mut self,
        request: RequestId,
        iteration: Iteration,
        commands: Vec<Command>,
        now: SessionTime,
    ) -> bool {
        match self.stage {
            Stage::Holding { since, .. } if iteration == self.next => {
                self.times.note(now.since(since));
                self.stage = Stage::Answered { request, commands };
                true
            }
            Stage::Late if iteration < self.next => {
                if !commands.is_empty() {
                    self.note_failure(format!(
                        "the answer to iteration {iteration} came too late: nothing of it was done"
                    ));
                }
                self.stage = Stage::Ready(request);
                true
            }
            Stage::Ready(_)
            | Stage::Holding { .. }
            | Stage::Answered { .. }
            | Stage::Late
            | Stage::Gone => false,
        }
    }

    /// Ends its barrier after an iteration that is over now, and returns its commands; `None` if
    /// it has none then.
    pub(super) fn end_barrier(&mut self, iteration: Iteration) -> Option<Vec<Command>> {
        if self.next > iteration {
            return None;
        }
        let commands = match &mut self.stage {
            Stage::Answered { request, commands } => {
                let (request, commands) = (*request, std::mem::take(commands));
                self.stage = Stage::Ready(request);
                commands
            }
            Stage::Ready(_) | Stage::Holding { .. } | Stage::Late | Stage::Gone => {
                self.times.missed += 1;
                Vec::new()
            }
        };
        self.next = after(iteration, self.terms.every);
        self.heard.clear();
        Some(commands)
    }

    /// Has the run go on without the answer that it owes.
    pub(super) fn give_up(&mut self) {
        self.stage = Stage::Late;
    }

    /// Takes over a message, if it is on one of its topics.
    pub(super) fn hear(&mut self, message: &TopicMessage) {
        if self.terms.topics.contains(&message.topic) {
            self.heard.push(message.clone());
        }
    }

    /// Notes why a command of it failed.
    pub(super) fn note_failure(&mut self, reason: String) {
        if self.failures.len() < FAILURES_MAX {
            self.failures.push(reason);
        }
    }

    /// Returns the time of its next time-out.
    pub(super) fn deadline(&self) -> Option<SessionTime> {
        let Stage::Holding {
            waits_since,
            timeouts,
            ..
        } = self.stage
        else {
            return None;
        };
        // Who is waited for without end is told of more and more seldom.
        let times = 1_u32 << timeouts.min(10);
        let timeout = Duration::try_from_secs_f64(self.terms.timeout_s);
        Some(waits_since + timeout.unwrap_or(Duration::MAX).saturating_mul(times))
    }

    /// Moves its time-out.
    pub(super) fn postpone(&mut self, by: Duration) {
        if let Stage::Holding { waits_since, .. } = &mut self.stage {
            *waits_since = *waits_since + by;
        }
    }

    /// Begins its time-out anew.
    pub(super) fn restart_timeout(&mut self, now: SessionTime) {
        if let Stage::Holding { waits_since, .. } = &mut self.stage {
            *waits_since = now;
        }
    }

    /// Returns its report.
    pub(super) fn report(&self, name: &PeerName, now: SessionTime) -> ParticipantReport {
        let state = match self.stage {
            Stage::Ready(_) | Stage::Answered { .. } => ParticipantState::Ready,
            Stage::Holding { .. } => ParticipantState::Holding,
            Stage::Late => ParticipantState::Late,
            Stage::Gone => ParticipantState::Awaited,
        };
        ParticipantReport {
            name: name.clone(),
            state,
            every: Some(self.terms.every),
            next: Some(self.next.0),
            policy: Some(self.terms.policy),
            timeout_s: Some(self.terms.timeout_s),
            holds_us: self.holding_since().map(|since| micros(now.since(since))),
            wait_p50_us: micros(self.times.median()),
            wait_max_us: micros(self.times.max),
            answers: self.times.answers,
            missed: self.times.missed,
        }
    }
}

impl AnswerTimes {
    fn note(&mut self, took: Duration) {
        self.max = self.max.max(took);
        let place = (self.answers % TIMES_MAX as u64) as usize;
        match self.last.get_mut(place) {
            Some(oldest) => *oldest = took,
            None => self.last.push(took),
        }
        self.answers += 1;
    }

    fn median(&self) -> Duration {
        let mut sorted = self.last.clone();
        sorted.sort_unstable();
        sorted.get(sorted.len() / 2).copied().unwrap_or_default()
    }
}

/// Returns the first iteration after this one that an interval divides.
fn after(iteration: Iteration, every: u64) -> Iteration {
    first_from(Iteration(iteration.0.saturating_add(1)), every)
}

/// Returns the first iteration from this one on that an interval divides.
pub(super) fn first_from(iteration: Iteration, every: u64) -> Iteration {
    Iteration(iteration.0.div_ceil(every).saturating_mul(every))
}
