//! [`Commands`]: commands of clients, systems and the schedule, from their arrival to their answer.

pub(crate) mod batch;
pub(crate) mod observed;
pub(crate) mod queue;
pub(crate) mod resolve;
pub(crate) mod ros_inbox;
pub(crate) mod services;
pub(crate) mod waiters;

use protocol::primary_to_secondary::Step;
use protocol::secondary_to_primary::SystemRequest;
use protocol::{PeerName, Publisher, ScheduledCommand, TopicMessage};

use crate::primary::context::{Context, Failure};
use crate::primary::participants::Participants;
use crate::primary::world::WorldState;
use batch::{AppliedCommand, Pending};
use observed::Observed;
use queue::CommandQueue;
use queue::saved::SavedQueue;
use ros_inbox::RosInbox;
use services::Calls;
use waiters::Waiters;

/// Number of clients that may wait for their commands at once.
pub(crate) const WAITERS_MAX: usize = 1024;
/// Most bytes of clients' commands and messages that may wait at once.
pub(crate) const WAITING_BYTES_MAX: usize = 256 << 20;

/// Commands of a run.
#[derive(Debug)]
pub(crate) struct Commands {
    queue: CommandQueue,
    calls: Calls,
    waiters: Waiters,
    participants: Participants,
    /// Changes that wait for states that a step fetches.
    pending: Option<Pending>,
    /// Subscriptions that came and went, for the next step.
    observed: Observed,
    ros_inbox: RosInbox,
}

impl Commands {
    /// Makes the commands of a run with a schedule, and with programs that it waits for.
    pub(crate) fn new(schedule: Vec<ScheduledCommand>, awaited: Vec<PeerName>) -> Self {
        Self {
            queue: CommandQueue::new(schedule),
            calls: Calls::default(),
            waiters: Waiters::default(),
            participants: Participants::new(awaited),
            pending: None,
            observed: Observed::default(),
            ros_inbox: RosInbox::default(),
        }
    }

    pub(crate) fn queue(&self) -> &CommandQueue {
        &self.queue
    }

    pub(crate) fn queue_mut(&mut self) -> &mut CommandQueue {
        &mut self.queue
    }

    pub(crate) fn calls(&self) -> &Calls {
        &self.calls
    }

    pub(crate) fn calls_mut(&mut self) -> &mut Calls {
        &mut self.calls
    }

    pub(crate) fn waiters(&self) -> &Waiters {
        &self.waiters
    }

    pub(crate) fn waiters_mut(&mut self) -> &mut Waiters {
        &mut self.waiters
    }

    pub(crate) fn ros_inbox_mut(&mut self) -> &mut RosInbox {
        &mut self.ros_inbox
    }

    pub(crate) fn participants(&self) -> &Participants {
        &self.participants
    }

    pub(crate) fn participants_mut(&mut self) -> &mut Participants {
        &mut self.participants
    }

    /// Has participants hear what was published in a step, and what clients said with it.
    pub(crate) fn hear(&mut self, step: &Step, published: Vec<TopicMessage>) {
        let of_client = |message: &&TopicMessage| message.publisher == Publisher::Client;
        let of_clients = step.messages.iter().filter(of_client).cloned();
        self.participants.hear(of_clients.collect(), published);
    }

    pub(crate) fn observed(&self) -> &Observed {
        &self.observed
    }

    pub(crate) fn observed_mut(&mut self) -> &mut Observed {
        &mut self.observed
    }

    /// Keeps changes until the states that they need are fetched.
    pub(crate) fn hold(&mut self, pending: Pending) {
        self.pending = Some(pending);
    }

    /// Takes the changes whose states are fetched now.
    ///
    /// # Panics
    /// Panics when no changes wait.
    pub(crate) fn take_pending(&mut self) -> Pending {
        let pending = self.pending.take();
        pending.expect("states are fetched for changes that wait")
    }

    pub(crate) fn has_pending(&self) -> bool {
        self.pending.is_some()
    }

    /// Returns how many entries of the schedule are not done yet: those of an iteration that waits
    /// for states are not, though they were taken into it.
    pub(crate) fn schedule_left(&self) -> u64 {
        let waiting = self.pending.as_ref().map_or(0, Pending::scheduled_for_time);
        self.queue.schedule_left() + waiting
    }

    /// Forgets calls and waiting clients: a run that replays does not need them.
    pub(crate) fn forget_calls(&mut self) {
        self.calls = Calls::default();
        self.waiters = Waiters::default();
    }

    /// Goes on with saved commands.
    pub(crate) fn restore(&mut self, queue: SavedQueue, calls: Calls, waiters: Waiters) {
        self.queue = CommandQueue::restore(queue);
        self.calls = calls;
        self.waiters = waiters;
    }

    /// Replaces the calls among the requests of systems by what they mean.
    pub(crate) fn resolve_calls(
        &mut self,
        requests: Vec<SystemRequest>,
        world: &WorldState,
        cx: &mut Context<'_>,
    ) -> Vec<SystemRequest> {
        self.calls.resolve(requests, &mut self.queue, world, cx)
    }

    /// Refuses all that waits, since the run ends, with the commands of the step under way.
    pub(crate) fn drop_all(
        &mut self,
        failure: &Failure,
        under_way: Vec<AppliedCommand>,
        cx: &mut Context<'_>,
    ) {
        self.participants.end(failure, cx);
        std::mem::take(&mut self.queue).refuse_all(failure, cx);
        let pending = self.pending.take().map(Pending::into_applied);
        for one in pending.unwrap_or_default().into_iter().chain(under_way) {
            one.origin.refuse(failure, cx);
        }
    }
}
