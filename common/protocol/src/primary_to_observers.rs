//! Messages that the primary publishes on `status` for any observer; a slow one loses messages.

use serde::{Deserialize, Serialize};

use crate::exit::StopReason;
use crate::id::{Iteration, PeerName};
use crate::peer::PeerInfo;
use crate::report::{LevelReport, PeerReport, PerformerReport, Stats};
use crate::time::SimTime;
use crate::topic;

/// A message to observers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum PrimaryToObservers {
    /// A peer joined, left or was lost. On `/announce`.
    Announce(Announce),
    /// A peer, the primary included, is alive. On `/heartbeat`.
    Heartbeat(HeartbeatRelay),
    /// Figures of the run and of every peer. On `/stats`.
    Stats {
        /// The run.
        stats: Box<Stats>,
        /// Its peers, the primary first, then by name.
        peers: Vec<PeerReport>,
    },
    /// Simulated time. On `/clock`.
    Clock(Clock),
    /// Secondaries that host the levels. On `/affinity`.
    Affinity(Vec<LevelReport>),
    /// Poses of the performers. On `/pose`.
    Poses(Vec<PerformerReport>),
    /// Something happened. On `/events`.
    Event(Event),
}

/// A change in who takes part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Announce {
    /// A peer is in.
    Joined(PeerInfo),
    /// A peer is out.
    Left {
        /// Its name.
        name: PeerName,
        /// Reason for which it left.
        reason: StopReason,
    },
    /// The run ends; observers and secondaries' heartbeat threads act on it.
    Stopping(StopReason),
}

/// A heartbeat as relayed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeartbeatRelay {
    /// Name of the peer that it is from.
    pub name: PeerName,
    /// The heartbeat's count.
    pub count: u64,
    /// True if the run has begun: all its secondaries were ready once.
    pub has_begun: bool,
}

/// Simulated time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Clock {
    /// The last completed iteration.
    pub iteration: Iteration,
    /// Simulated time after it.
    pub sim_time: SimTime,
    /// True if time is paused.
    pub paused: bool,
}

/// Severity of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing.
    Info,
    /// Something is not as it should be, and the run goes on.
    Warning,
    /// The run ends.
    Error,
}

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// The last completed iteration then.
    pub iteration: Iteration,
    /// Severity of it.
    pub severity: Severity,
    /// One word for the kind: `peer`, `level`, `command`, `step`, `run`, `recovery`, `divergence`;
    /// of who started the run `program`, `process`.
    pub kind: String,
    /// Description of the event, for people.
    pub text: String,
}

impl PrimaryToObservers {
    /// Returns the topic that this message travels on.
    pub fn topic(&self) -> &'static str {
        match self {
            Self::Announce(_) => topic::ANNOUNCE,
            Self::Heartbeat(_) => topic::HEARTBEAT,
            Self::Stats { .. } => topic::STATS,
            Self::Clock(_) => topic::CLOCK,
            Self::Affinity(_) => topic::AFFINITY,
            Self::Poses(_) => topic::POSE,
            Self::Event(_) => topic::EVENTS,
        }
    }
}
