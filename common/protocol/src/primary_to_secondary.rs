//! What the primary says to its secondaries: on `step` to all, on `control` to one.

use serde::{Deserialize, Serialize};
use std::time::Duration;

use crate::digest::Digest;
use crate::exit::StopReason;
use crate::id::{CellId, Iteration, LevelId, PeerName, Sequence};
use crate::time::SimTime;
use crate::topic;

/// A message of the primary to secondaries.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum PrimaryToSecondary {
    /// You are in; this is everything there is to know. On `/session`.
    Welcome(Box<Welcome>),
    /// You are not in, and this is why. On `/session`.
    Refused(Refusal),
    /// Answer if you hear this on your subscription. On `/step`.
    Sync,
    /// Do one iteration. On `/step`, and again on `control` to a secondary that did not answer.
    Step(Step),
    /// Your heartbeat arrived. On `/heartbeat`.
    HeartbeatEcho(HeartbeatEcho),
    /// The run ends. On `/step` and `/session`.
    Stop(StopReason),
}

/// Everything that a secondary needs; nothing is configured at the secondary itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Welcome {
    /// The worlds, as the primary read them, in the encoding of `sdf::encode_worlds`.
    #[serde(with = "serde_bytes")]
    pub worlds: Vec<u8>,
    /// Fingerprint of those bytes.
    pub world_digest: Digest,
    /// Simulated time per iteration \[ns\].
    pub step_size_ns: u64,
    /// Seed of all random numbers.
    pub seed: u64,
    /// Time between heartbeats.
    pub heartbeat_interval: Duration,
    /// Silence after which a peer counts as lost.
    pub heartbeat_timeout: Duration,
}

/// Why a process may not join.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// The reason, for people.
    pub reason: String,
}

/// One iteration, or with `paused` a round in which time stands still.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// The number of this message.
    pub sequence: Sequence,
    /// The iteration that the cells are at once the step is done.
    pub iteration: Iteration,
    /// Simulated time at the end of the iteration.
    pub sim_time: SimTime,
    /// Simulated time that physics advances \[ns\]; 0 when paused.
    pub step_size_ns: u64,
    /// Whether time stands still.
    pub paused: bool,
    /// Cells that change host, in order of their ids.
    pub affinities: Vec<AffinityChange>,
    /// Levels that come or go in a cell, in cell order, then by level.
    pub level_changes: Vec<LevelChange>,
}

/// A cell gets a host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AffinityChange {
    /// The cell.
    pub cell: CellId,
    /// The secondary that hosts it from this step on.
    pub secondary: PeerName,
}

/// A level's static models come into a cell or leave it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct LevelChange {
    /// The cell.
    pub cell: CellId,
    /// The level.
    pub level: LevelId,
    /// Whether its models come (`true`) or leave.
    pub loaded: bool,
}

/// The answer to a heartbeat.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeartbeatEcho {
    /// The heartbeat's count.
    pub count: u64,
    /// The heartbeat's own time stamp \[us since 1970\].
    pub sent_at_us: u64,
    /// The primary's wall clock when it answered \[us since 1970\].
    pub answered_at_us: u64,
}

impl PrimaryToSecondary {
    /// Returns the topic that this message travels on.
    pub fn topic(&self) -> &'static str {
        match self {
            Self::Welcome(_) | Self::Refused(_) | Self::Stop(_) => topic::SESSION,
            Self::Sync | Self::Step(_) => topic::STEP,
            Self::HeartbeatEcho(_) => topic::HEARTBEAT,
        }
    }
}
