//! Inputs of a primary and its outputs.

use std::sync::Arc;
use std::time::Duration;

use protocol::primary_to_secondary::Step;
use protocol::report::RefusedCounts;
use protocol::report::divergence::DivergenceReport;
use protocol::topic_message::SubscriptionChange;
use protocol::{
    Access, CellId, ClientToPrimary, Command, Digest, Envelope, Iteration, PeerName,
    PrimaryToClient, PrimaryToObservers, PrimaryToSecondary, RequestId, RoutingId,
    ScheduledCommand, SecondaryToPrimary, Sequence, SessionId, StopReason,
};

use crate::checkpoint::Checkpoint;
use crate::primary::spawn_text::ReadText;

/// Findings of the driver about a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessReport {
    /// State of it, for people: `its process is stopped (T)`.
    pub state: String,
    /// True if it is stopped, by a signal or by a debugger.
    pub is_stopped: bool,
    /// Processor time that it has used so far \[us\], if that is known.
    pub cpu_time_us: Option<u64>,
}

/// Event for a primary.
#[derive(Clone, Debug)]
pub enum PrimaryInput {
    /// A message of a secondary.
    Secondary {
        /// Address that it came from.
        from: RoutingId,
        /// The message.
        envelope: Envelope<SecondaryToPrimary>,
        /// The primary's wall clock, for heartbeats' echoes \[us since 1970\].
        wall_clock_us: u64,
    },
    /// A request of a client.
    Client {
        /// Address that it came from.
        from: RoutingId,
        /// The session that it names.
        session: SessionId,
        /// The request.
        message: ClientToPrimary,
        /// Texts of models in it that were read already, in their order. Others are read when they
        /// are applied.
        texts: Vec<ReadText>,
    },
    /// Somebody tried what its role does not allow; [`crate::access::admit`] says so.
    Forbidden(Forbidden),
    /// The link has turned something away.
    Refused {
        /// Numbers of messages, by reason.
        counts: RefusedCounts,
        /// Senders and reasons, for people.
        details: String,
    },
    /// Observers begin or cease to listen to a topic.
    Observed(SubscriptionChange),
    /// The connection of this client is gone.
    ClientGone(RoutingId),
    /// Bytes that are no message.
    Malformed {
        /// Address that they came from.
        from: RoutingId,
        /// True if they came as an attempt to join.
        joining: bool,
        /// The error in them.
        error: String,
    },
    /// A process hears the `step` socket.
    Subscribed(RoutingId),
    /// A process no longer hears the `step` socket: it is gone.
    Unsubscribed(RoutingId),
    /// The same, since the relay is lost through which it took part.
    GoneWithRelay {
        /// Address of the secondary.
        secondary: RoutingId,
        /// Name of the relay.
        relay: String,
    },
    /// The driver has looked at the process of a secondary.
    Diagnosed {
        /// The secondary.
        peer: PeerName,
        /// The findings.
        process: ProcessReport,
    },
    /// A signal asks to end, named.
    Interrupted(String),
    /// The process cannot go on, and why.
    Failed(String),
    /// Storage has failed: what is done can no longer be written down, for this reason.
    StorageFailed(String),
    /// Storage works again.
    StorageWorks,
    /// The checkpoint of this step is safe.
    CheckpointStored(Sequence),
    /// The time given by [`Primary::deadline`](crate::primary::Primary::deadline) has come.
    DeadlinePassed {
        /// True if nothing waits to be read: only then silence is silence.
        inbox_is_empty: bool,
    },
}

impl PrimaryInput {
    /// Tells whether this can only move deadlines of secondaries later: the messages that come with
    /// every step and every heartbeat.
    pub(crate) fn only_puts_off(&self) -> bool {
        let Self::Secondary { envelope, .. } = self else {
            return false;
        };
        matches!(
            envelope.body,
            SecondaryToPrimary::Heartbeat(_)
                | SecondaryToPrimary::StepAck(_)
                | SecondaryToPrimary::StepsAhead(_)
                | SecondaryToPrimary::CellCheckpoint(_)
                | SecondaryToPrimary::SceneCheckpoint(_)
        )
    }
}

/// Somebody tried what its role does not allow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Forbidden {
    /// Address that it came from.
    pub from: RoutingId,
    /// Role of its sender.
    pub access: Access,
    /// The attempt itself.
    pub attempt: Attempt,
}

/// Attempt at something that the sender's role does not allow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Attempt {
    /// To become a secondary of the run.
    Join(PeerName),
    /// To speak as a secondary.
    Simulate(PeerName),
    /// To change the run.
    Command(RequestId),
}

/// Effect that a primary wants.
#[derive(Clone, Debug, PartialEq)]
pub enum PrimaryOutput {
    /// Publish to all secondaries.
    Publish(PrimaryToSecondary),
    /// A step begins that all have done already: keep what is kept of a step, and send nothing.
    Ahead(Arc<Step>),
    /// Send to one secondary.
    Send {
        /// Address at which it is reached.
        to: RoutingId,
        /// The message.
        message: PrimaryToSecondary,
    },
    /// Answer a client.
    Reply {
        /// Address at which it is reached.
        to: RoutingId,
        /// The answer.
        message: PrimaryToClient,
    },
    /// Answer a client with figures, which the driver keeps.
    Report {
        /// Address at which it is reached.
        to: RoutingId,
        /// Its request.
        request: RequestId,
        /// Request for them.
        command: Command,
    },
    /// Cut all connections of a key, keep it out, and answer the client.
    Disconnect {
        /// Address at which it is reached.
        to: RoutingId,
        /// Its request.
        request: RequestId,
        /// The name of the key.
        key: String,
    },
    /// A command is part of the step that was just published.
    Stamped(ScheduledCommand),
    /// Tell observers.
    Observe(PrimaryToObservers),
    /// A step is done.
    StepDone(StepReport),
    /// Find out what the process of a secondary does, if that can be known.
    Diagnose {
        /// The secondary.
        peer: PeerName,
        /// Its process.
        pid: u32,
        /// Its machine.
        host: String,
    },
    /// Two results of a step differ: write down where.
    Diverged(Box<DivergenceReport>),
    /// All that a run needs to go on from here is known.
    Checkpointed(Arc<Checkpoint>),
    /// All that was complete before is done again: what follows is new.
    Replayed,
    /// The run is over.
    Finished(StopReason),
}

/// Report of a step that is done.
#[derive(Clone, Debug, PartialEq)]
pub struct StepReport {
    /// The step.
    pub sequence: Sequence,
    /// The iteration that is complete now.
    pub iteration: Iteration,
    /// True if time stood still in it.
    pub paused: bool,
    /// Digest of all performers after it.
    pub digest: Digest,
    /// Number of commands of the schedule that are not done yet.
    pub schedule_left: u64,
    /// From publishing to the last ack; of a message that brought several steps, its share.
    pub duration: Duration,
    /// True if a cell changed host or a performer its cell.
    pub rearranged: bool,
    /// Each secondary's part, by name.
    pub peers: Vec<PeerTiming>,
    /// The part of each cell but those at rest, which took no time, in the order in which the
    /// answers came.
    pub cells: Vec<CellTiming>,
}

/// Time that a cell took in a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CellTiming {
    /// The cell.
    pub cell: CellId,
    /// Its physics \[ns\].
    pub physics_ns: u64,
    /// Its systems \[ns\].
    pub systems_ns: u64,
    /// Its sensors \[ns\].
    pub sensors_ns: u64,
}

/// A secondary's part in a step.
#[derive(Clone, Debug, PartialEq)]
pub struct PeerTiming {
    /// The secondary.
    pub name: PeerName,
    /// Its physics; on several threads, its share of the time that passed.
    pub physics: Duration,
    /// Its systems, likewise.
    pub systems: Duration,
    /// Its sensors, likewise.
    pub sensors: Duration,
    /// From receiving the step to answering it, by its own clock.
    pub busy: Duration,
    /// Number of messages that its data batch has.
    pub published: u32,
    /// From the step's publication to its ack; of a message that brought several steps, its share.
    pub answered_after: Duration,
}
