//! Identifiers: newtypes of explicit width, ordered so that they can key a `BTreeMap`.

use std::fmt;
use std::str::FromStr;

use compact_str::CompactString;
use serde::{Deserialize, Serialize};

/// The longest name of a peer, in bytes.
pub const PEER_NAME_MAX: usize = 64;

macro_rules! number_id {
    ($(#[$doc:meta])* $name:ident($inner:ty)) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[derive(Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub $inner);

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(formatter)
            }
        }
    };
}

number_id!(
    /// One lockstep round; iteration 0 is the state before the first step.
    Iteration(u64)
);
number_id!(
    /// The number of a step message within its session; unlike [`Iteration`] it also grows with
    /// steps that do not advance time.
    Sequence(u64)
);
number_id!(
    /// A cell, counted over all worlds: each world's default cell, then its levels in order.
    CellId(u32)
);
number_id!(
    /// A level, counted over all worlds in file order.
    LevelId(u32)
);
number_id!(
    /// A performer, counted over all worlds in file order. One that comes later gets the lowest
    /// number that is free; those of the file are never given again.
    PerformerId(u32)
);
number_id!(
    /// A client's own number for a request, echoed in the reply.
    RequestId(u64)
);

/// A top-level model of a world: numbers are given in file order, then to each that comes the
/// lowest that is free. Those of the file are never given again.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct ModelId {
    /// The index of its world.
    pub world: u32,
    /// Its index among the world's models.
    pub model: u32,
}

impl Iteration {
    /// Returns the iteration after this one.
    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

impl Sequence {
    /// Returns the sequence number after this one.
    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

/// Suffix of the routing id from which a peer sends heartbeats.
const HEARTBEAT: &[u8] = b"~heartbeat";

/// One run of a primary; zero means "not yet known".
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct SessionId(pub u64);

impl SessionId {
    /// The session of a peer that has not been welcomed yet.
    pub const UNKNOWN: Self = Self(0);
}

impl fmt::Display for SessionId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:016x}", self.0)
    }
}

/// The name that a peer gave itself, unique among the secondaries of a run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "CompactString", into = "CompactString")]
pub struct PeerName(
    /// It is in every message and in every figure of a step: short ones take no allocation.
    CompactString,
);

/// A name that no peer may have.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
#[error(
    "a peer name is 1 to {PEER_NAME_MAX} letters, digits, '-', '_' or '.', and {given:?} is not"
)]
pub struct PeerNameError {
    /// Text that was given as a name.
    pub given: String,
}

impl PeerName {
    /// Returns the name of the primary.
    pub fn primary() -> Self {
        Self(CompactString::const_new("primary"))
    }

    /// Returns the name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for PeerName {
    type Err = PeerNameError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        if text.is_empty() || text.len() > PEER_NAME_MAX || !text.chars().all(allowed) {
            let given = text.chars().take(PEER_NAME_MAX).collect();
            return Err(PeerNameError { given });
        }
        Ok(Self(CompactString::new(text)))
    }
}

impl TryFrom<CompactString> for PeerName {
    type Error = PeerNameError;

    fn try_from(text: CompactString) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<PeerName> for CompactString {
    fn from(name: PeerName) -> Self {
        name.0
    }
}

impl fmt::Display for PeerName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

/// The address of one socket at the primary's `control` ROUTER, unique per process.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RoutingId(pub Vec<u8>);

impl RoutingId {
    /// Returns the address of the heartbeat of the secondary whose stepper is at this address.
    #[must_use]
    pub fn heartbeat(&self) -> Self {
        Self([self.0.as_slice(), HEARTBEAT].concat())
    }

    /// Tells whether this is the address of the heartbeat of the secondary whose stepper is there.
    pub fn is_heartbeat_of(&self, stepper: &Self) -> bool {
        self.0.strip_suffix(HEARTBEAT) == Some(&stepper.0)
    }

    /// Returns the address of the stepper whose heartbeat is at this address, if it is one.
    pub fn stepper(&self) -> Option<Self> {
        Some(Self(self.0.strip_suffix(HEARTBEAT)?.to_vec()))
    }
}

impl From<&str> for RoutingId {
    fn from(text: &str) -> Self {
        Self(text.as_bytes().to_vec())
    }
}

impl fmt::Display for RoutingId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for byte in &self.0 {
            if byte.is_ascii_graphic() {
                write!(formatter, "{}", char::from(*byte))?;
            } else {
                write!(formatter, "\\x{byte:02x}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, valid: bool) {
        assert_eq!(text.parse::<PeerName>().is_ok(), valid, "{text:?}");
    }

    #[test]
    fn peer_names_are_short_and_plain() {
        check("s1", true);
        check("robot-7_b.local", true);
        check("", false);
        check("a b", false);
        check("a/b", false);
        check(&"x".repeat(PEER_NAME_MAX), true);
        check(&"x".repeat(PEER_NAME_MAX + 1), false);
    }

    #[test]
    fn a_heartbeat_has_the_address_of_its_stepper_and_a_suffix() {
        let stepper = RoutingId::from("s1");
        let heartbeat = stepper.heartbeat();
        assert!(heartbeat.is_heartbeat_of(&stepper));
        assert!(!heartbeat.is_heartbeat_of(&RoutingId::from("s")));
        assert!(!stepper.is_heartbeat_of(&stepper));
        assert_eq!(heartbeat.stepper(), Some(stepper));
    }

    #[test]
    fn a_peer_name_from_the_wire_is_checked() {
        let bytes = msgpack::to_vec(&"no/slash").unwrap();
        assert!(msgpack::from_slice::<PeerName>(&bytes).is_err());
    }
}
