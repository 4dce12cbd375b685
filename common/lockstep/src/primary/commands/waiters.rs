//! [`Waiters`]: clients that wait for time to come so far.

use protocol::primary_to_client::Reply;
use protocol::{FailureCode, Iteration, RequestId, RoutingId};
use serde::{Deserialize, Serialize};

use crate::primary::commands::WAITERS_MAX;
use crate::primary::context::{Context, Failure};

/// Clients that wait for time to come so far.
#[derive(Debug, Default)]
pub(crate) struct Waiters(Vec<Waiter>);

/// A client that waits for its command to be done.
#[derive(Debug)]
struct Waiter {
    to: RoutingId,
    request: RequestId,
    until: Until,
}

/// Condition that a client waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Until {
    /// This iteration is complete.
    Iteration(Iteration),
    /// Time is paused.
    Paused,
}

impl Waiters {
    /// Goes on with clients at one address.
    pub(crate) fn restore(to: &RoutingId, waiting: Vec<(RequestId, Until)>) -> Self {
        let waiting = waiting.into_iter().map(|(request, until)| Waiter {
            to: to.clone(),
            request,
            until,
        });
        Self(waiting.collect())
    }

    /// Returns the requests of those that are meant, and what they wait for.
    pub(crate) fn save(
        &self,
        is_meant: impl Fn(&RoutingId, RequestId) -> bool,
    ) -> Vec<(RequestId, Until)> {
        let waiters = self.0.iter();
        waiters
            .filter(|waiter| is_meant(&waiter.to, waiter.request))
            .map(|waiter| (waiter.request, waiter.until))
            .collect()
    }

    /// Has the client wait for its reply; answers at once when too many wait already.
    pub(crate) fn wait(
        &mut self,
        to: RoutingId,
        request: RequestId,
        until: Until,
        cx: &mut Context<'_>,
    ) -> bool {
        if self.0.len() >= WAITERS_MAX {
            let reason = "too many commands are under way";
            cx.fail(to, request, (FailureCode::TooMuch, reason));
            return false;
        }
        self.0.push(Waiter { to, request, until });
        true
    }

    /// Answers those whose time has come.
    pub(crate) fn answer(&mut self, is_paused: bool, cx: &mut Context<'_>) {
        let iteration = cx.iteration;
        let is_done = |waiter: &mut Waiter| match waiter.until {
            Until::Iteration(last) => iteration >= last,
            Until::Paused => is_paused,
        };
        for waiter in self.0.extract_if(.., is_done) {
            let done = Reply::Done {
                iteration,
                name: None,
                warnings: Vec::new(),
            };
            cx.reply(waiter.to, waiter.request, done);
        }
    }

    /// Answers those who wait for an iteration that will not be done now.
    pub(crate) fn fail_iterations(&mut self, failure: &Failure, cx: &mut Context<'_>) {
        let is_void = |waiter: &mut Waiter| matches!(waiter.until, Until::Iteration(_));
        for waiter in self.0.extract_if(.., is_void) {
            cx.fail(waiter.to, waiter.request, failure);
        }
    }

    /// Answers all: nothing that they wait for will happen.
    pub(crate) fn fail_all(&mut self, failure: &Failure, cx: &mut Context<'_>) {
        for waiter in self.0.drain(..) {
            cx.fail(waiter.to, waiter.request, failure);
        }
    }
}
