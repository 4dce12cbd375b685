//! [`LinkOffsets`]: where the links of a performer are as seen from its model, for a recording.
//!
//! Cells say them like messages of systems, so that none is lost, doubled or of a step that was
//! rolled back; but they go to the recorder alone, and to no observer and no file of messages.

use serde::{Deserialize, Serialize};

use crate::link_poses::LinkPose;
use crate::time::SimTime;

/// The topic that they are said on, which nobody can listen to.
pub const TOPIC: &str = "/phalanx/link_offsets";
/// The kind of message that they are.
pub const KIND: &str = "phalanx.LinkOffsets";

/// Poses of the links of one performer that move against its model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LinkOffsets {
    /// The performer's name, as reports have it.
    pub performer: String,
    /// Names of links with their poses, model frame.
    pub links: Vec<(String, LinkPose)>,
}

impl LinkOffsets {
    /// Returns the body of the message.
    ///
    /// # Panics
    /// Never: it holds only what `MessagePack` can express.
    pub fn encode(&self) -> Vec<u8> {
        msgpack::to_vec(self).expect("numbers and texts are MessagePack")
    }

    /// Reads the body of a message; `None` if it is none.
    pub fn decode(body: &[u8]) -> Option<Self> {
        msgpack::from_slice(body).ok()
    }
}

/// Returns when the first frame after a simulated time is due, at so many frames per second of
/// simulated time; 0 is one per iteration.
pub fn next_frame(time: SimTime, rate_hz: f64) -> SimTime {
    if rate_hz == 0.0 {
        return time;
    }
    let period_ns = 1e9 / rate_hz;
    let count = ((time.0 as f64 + 0.5) / period_ns).floor() + 1.0;
    SimTime((count * period_ns).round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_come_back_and_other_bytes_are_none() {
        let offsets = LinkOffsets {
            performer: "rover".to_owned(),
            links: vec![("wheel".to_owned(), [1.0, -0.0, 0.5, 0.0, 0.6, 0.0, 0.8])],
        };
        let bytes = offsets.encode();
        assert_eq!(LinkOffsets::decode(&bytes), Some(offsets));
        for end in 0..bytes.len() {
            assert_eq!(LinkOffsets::decode(&bytes[..end]), None, "{end}");
        }
    }

    #[test]
    fn frames_are_due_at_multiples_of_the_period() {
        let ms = |time: u64| SimTime(time * 1_000_000);
        assert_eq!(next_frame(ms(0), 10.0), ms(100));
        assert_eq!(next_frame(ms(99), 10.0), ms(100));
        assert_eq!(next_frame(ms(100), 10.0), ms(200));
        assert_eq!(next_frame(ms(100), 0.0), ms(100));
    }
}
