//! [`LinkFrame`]: where the links of performers are, for observers that draw them.
//!
//! Secondaries make frames of their own accord while anyone observes [`TOPIC`], some 30 times per
//! second of real time, beside their answers to steps: no step waits for one.

use serde::{Deserialize, Serialize};

use crate::id::PerformerId;
use crate::link_poses::LinkPoses;

/// The topic that frames are said on.
pub const TOPIC: &str = "/phalanx/links";
/// The kind of message that frames are.
pub const KIND: &str = "phalanx.LinkFrame";

/// Poses of the links of one secondary's performers after a step.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkFrame {
    /// Names of all of the secondary's performers, as reports have them, in a frame that has all of
    /// them; empty in one that has those alone whose links have moved since the one before.
    pub names: Vec<(PerformerId, String)>,
    /// Poses of links.
    pub models: Vec<LinkPoses>,
}

impl LinkFrame {
    /// Returns the body of the message.
    ///
    /// # Panics
    /// Never: it holds only what `MessagePack` can express.
    pub fn encode(&self) -> Vec<u8> {
        msgpack::to_vec(self).expect("numbers, texts and bytes are MessagePack")
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
    fn a_frame_comes_back_and_other_bytes_are_none() {
        let frame = LinkFrame {
            names: vec![(PerformerId(3), "rover".to_owned())],
            models: vec![LinkPoses::pack(PerformerId(3), [[1.0; 7], [2.0; 7]])],
        };
        let bytes = frame.encode();
        assert_eq!(LinkFrame::decode(&bytes), Some(frame));
        for end in 0..bytes.len() {
            assert_eq!(LinkFrame::decode(&bytes[..end]), None, "{end}");
        }
    }
}
