//! Commands of clients, systems and the schedule: queued, resolved and brought by a step.

pub(crate) mod batch;
pub(crate) mod queue;
pub(crate) mod requests;
pub(crate) mod resolve;
pub(crate) mod services;

use protocol::topic_message::SubscriptionChange;
use protocol::{Iteration, RequestId, RoutingId, ScheduledCommand};
use serde::{Deserialize, Serialize};

use crate::primary::world::step_builder::Pending;
use queue::CommandQueue;
use services::Calls;

/// Commands of a run.
#[derive(Debug)]
pub(crate) struct Commands {
    pub(crate) queue: CommandQueue,
    pub(crate) calls: Calls,
    pub(crate) waiters: Vec<Waiter>,
    /// Changes that wait for what they need.
    pub(crate) pending: Option<Pending>,
    /// Changes in who listens that the next step tells.
    pub(crate) subscriptions: Vec<SubscriptionChange>,
}

/// A client that waits for its command to be done.
#[derive(Debug)]
pub(crate) struct Waiter {
    pub(crate) to: RoutingId,
    pub(crate) request: RequestId,
    pub(crate) until: Until,
}

/// What a client waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Until {
    /// This iteration is complete.
    Iteration(Iteration),
    /// Time stands still.
    Paused,
}

impl Commands {
    /// Makes the commands of a run with a schedule.
    pub(crate) fn new(schedule: Vec<ScheduledCommand>) -> Self {
        Self {
            queue: CommandQueue::new(schedule),
            calls: Calls::default(),
            waiters: Vec::new(),
            pending: None,
            subscriptions: Vec::new(),
        }
    }
}
