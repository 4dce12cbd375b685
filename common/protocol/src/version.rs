//! Versions of the protocol, one documented variant each.

use serde::{Deserialize, Serialize};

/// A version of the messages in this crate; both ends of a handshake must name the same one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "u16", into = "u16")]
pub enum ProtocolVersion {
    /// Announce, welcome, sync, step, step ack, heartbeat, stop; play, pause, step and stop
    /// commands; status topics.
    V1,
    /// Hand-offs, ghosts, suspended cells, snapshots of cells, reach of performers; move cell and
    /// set performer commands.
    V2,
    /// Commands to models, spawning, topics, systems of worlds, resets.
    V3,
    /// Time by its parts: split, figures of cells and of the past.
    V4,
    /// Nothing is lost: checkpoints, catching up, secondaries that join and leave during a run.
    V5,
    /// Heartbeats tell the progress of work, and whether the run has begun; cells at rest.
    V6,
}

impl ProtocolVersion {
    /// The version that this build speaks.
    pub const CURRENT: Self = Self::V6;
}

impl From<ProtocolVersion> for u16 {
    fn from(version: ProtocolVersion) -> Self {
        match version {
            ProtocolVersion::V1 => 1,
            ProtocolVersion::V2 => 2,
            ProtocolVersion::V3 => 3,
            ProtocolVersion::V4 => 4,
            ProtocolVersion::V5 => 5,
            ProtocolVersion::V6 => 6,
        }
    }
}

/// A version number that this build does not know.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("protocol version {number} is not known here (this build speaks {known})")]
pub struct UnknownVersion {
    /// The number given.
    pub number: u16,
    /// The newest that is known.
    pub known: u16,
}

impl TryFrom<u16> for ProtocolVersion {
    type Error = UnknownVersion;

    fn try_from(number: u16) -> Result<Self, Self::Error> {
        match number {
            1 => Ok(Self::V1),
            2 => Ok(Self::V2),
            3 => Ok(Self::V3),
            4 => Ok(Self::V4),
            5 => Ok(Self::V5),
            6 => Ok(Self::V6),
            number => Err(UnknownVersion {
                number,
                known: Self::CURRENT.into(),
            }),
        }
    }
}
