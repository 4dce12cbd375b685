//! [`Context`]: what every rule is given with an input: the time, and where to put what it wants
//! done.

use std::borrow::Cow;

use protocol::primary_to_client::{PrimaryToClient, Reply};
use protocol::primary_to_observers::{Announce, Event, PrimaryToObservers, Severity};
use protocol::primary_to_secondary::{PrimaryToSecondary, Refusal};
use protocol::{FailureCode, Iteration, RequestId, RoutingId, SessionTime};

use crate::primary::PrimaryOutput;
use protocol::error_chain::chain;

/// The longest text of an event \[bytes\]: what others named may be in it, and many are kept.
const EVENT_BYTES_MAX: usize = 2_000;

/// Context of rules while an input is handled.
#[derive(Debug)]
pub(crate) struct Context<'o> {
    /// Time when the input came.
    pub(crate) now: SessionTime,
    /// The last iteration that is complete.
    pub(crate) iteration: Iteration,
    outbox: &'o mut Vec<PrimaryOutput>,
}

impl<'o> Context<'o> {
    pub(crate) fn new(
        now: SessionTime,
        iteration: Iteration,
        outbox: &'o mut Vec<PrimaryOutput>,
    ) -> Self {
        Self {
            now,
            iteration,
            outbox,
        }
    }

    /// Puts out what is to be done, after all that was put out before.
    pub(crate) fn push(&mut self, output: PrimaryOutput) {
        self.outbox.push(output);
    }

    /// Takes back those outputs that are meant.
    pub(crate) fn extract(
        &mut self,
        is_meant: impl FnMut(&mut PrimaryOutput) -> bool,
    ) -> Vec<PrimaryOutput> {
        self.outbox.extract_if(.., is_meant).collect()
    }

    /// Has observers told of an event after the last iteration that is complete.
    pub(crate) fn event(&mut self, severity: Severity, kind: &str, mut text: String) {
        if text.len() > EVENT_BYTES_MAX {
            text.truncate(text.floor_char_boundary(EVENT_BYTES_MAX));
            text.push_str("...");
        }
        let event = Event {
            iteration: self.iteration,
            severity,
            kind: kind.to_owned(),
            text,
        };
        self.push(PrimaryOutput::Observe(PrimaryToObservers::Event(event)));
    }

    /// Has observers told who comes, leaves or stops.
    pub(crate) fn announce(&mut self, announce: Announce) {
        let announce = PrimaryToObservers::Announce(announce);
        self.push(PrimaryOutput::Observe(announce));
    }

    /// Refuses one who asks to join, with the reason.
    pub(crate) fn refuse(&mut self, to: RoutingId, reason: String) {
        let message = PrimaryToSecondary::Refused(Refusal { reason });
        self.push(PrimaryOutput::Send { to, message });
    }

    /// Answers a request of a client.
    pub(crate) fn reply(&mut self, to: RoutingId, request: RequestId, reply: Reply) {
        self.push(PrimaryOutput::Reply {
            to,
            message: PrimaryToClient { request, reply },
        });
    }

    /// Answers a request that is done and says nothing more.
    pub(crate) fn done(&mut self, to: RoutingId, request: RequestId) {
        let reply = Reply::Done {
            iteration: self.iteration,
            name: None,
            warnings: Vec::new(),
        };
        self.reply(to, request, reply);
    }

    /// Answers a request that cannot be granted, with the reason.
    pub(crate) fn fail(&mut self, to: RoutingId, request: RequestId, failure: impl Into<Failure>) {
        let Failure { code, reason } = failure.into();
        let reason = reason.into_owned();
        self.reply(to, request, Reply::Failed { code, reason });
    }
}

/// Reason why a request is not granted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    /// Its kind, for programs.
    pub(crate) code: FailureCode,
    /// Text for people.
    pub(crate) reason: Cow<'static, str>,
}

/// An error that a client hears of.
pub(crate) trait CodedError: std::error::Error {
    /// Returns its kind.
    fn code(&self) -> FailureCode;
}

impl Failure {
    pub(crate) fn new(code: FailureCode, reason: impl Into<Cow<'static, str>>) -> Self {
        let reason = reason.into();
        Self { code, reason }
    }
}

impl<E: CodedError> From<E> for Failure {
    fn from(error: E) -> Self {
        let reason = chain(&error);
        Self::new(error.code(), reason)
    }
}

impl From<(FailureCode, &str)> for Failure {
    fn from((code, reason): (FailureCode, &str)) -> Self {
        Self::new(code, reason.to_owned())
    }
}

impl From<&Failure> for Failure {
    fn from(failure: &Failure) -> Self {
        failure.clone()
    }
}
