//! [`Groups`]: performers that may touch in the next step, or that joints hold together, of which
//! each group is in one cell.
//!
//! The primary finds them for observers alone, and only while any listens to [`TOPIC`].

use serde::{Deserialize, Serialize};

/// The topic that they are said on.
pub const TOPIC: &str = "/phalanx/groups";
/// The kind of message that they are.
pub const KIND: &str = "phalanx.Groups";

/// The groups of two performers and more in worlds with levels, at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Groups {
    /// The names of each group's members, as reports have them, in order.
    pub groups: Vec<Vec<String>>,
}

impl Groups {
    /// Returns the body of the message.
    ///
    /// # Panics
    /// Never: texts are what `MessagePack` can express.
    pub fn encode(&self) -> Vec<u8> {
        msgpack::to_vec(self).expect("texts are MessagePack")
    }

    /// Reads the body of a message; `None` if it is none.
    pub fn decode(body: &[u8]) -> Option<Self> {
        msgpack::from_slice(body).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_come_back_and_other_bytes_are_none() {
        let groups = Groups {
            groups: vec![vec!["a".to_owned(), "b".to_owned()], Vec::new()],
        };
        let bytes = groups.encode();
        assert_eq!(Groups::decode(&bytes), Some(groups));
        for end in 0..bytes.len() {
            assert_eq!(Groups::decode(&bytes[..end]), None, "{end}");
        }
    }
}
