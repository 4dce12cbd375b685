//! [`Inlet`]: messages of nodes on their way from the secondary that speaks for the run to the
//! primary, which takes none while it is stopped or at work on something else.
//!
//! Nothing tells how much of that waits. But who hears of a step knows that the primary was at work
//! since the one before: so the bytes are bounded that go out between two steps. While a run is
//! paused the primary has a bound of its own for what it takes.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use protocol::RosMessage;

use crate::seldom::Seldom;

/// Number of bytes that go out between two steps: twice as many as are remembered, which whoever
/// comes to speak passes on at once \[bytes\].
const BYTES_MAX: usize = 256 << 20;

/// Size of a message besides its names and its body \[bytes\].
const MESSAGE_BYTES: usize = 96;

/// Way of messages of nodes to the primary.
#[derive(Debug, Default)]
pub(super) struct Inlet {
    /// Number of bytes that went out since the last step.
    bytes: AtomicUsize,
    /// Number of messages that were dropped.
    dropped: AtomicU64,
    warning: Mutex<Seldom>,
}

impl Inlet {
    /// Returns the messages that go out, in their order: all for which there is room. Others are
    /// counted, and a warning tells of them.
    pub(super) fn admit(&self, mut messages: Vec<RosMessage>) -> Vec<RosMessage> {
        let count = messages.len();
        messages.retain(|message| self.has_room(size(message)));
        let dropped = (count - messages.len()) as u64;
        if dropped > 0 {
            let all = self.dropped.fetch_add(dropped, Ordering::Relaxed) + dropped;
            let mut warning = self.warning.lock().unwrap_or_else(PoisonError::into_inner);
            warning.warn(&format!(
                "{all} messages of ROS 2 nodes were dropped so far: more than {} MiB came since \
                 the primary made a step",
                BYTES_MAX >> 20
            ));
        }
        messages
    }

    /// Takes note that the primary has made a step.
    pub(super) fn on_step(&self) {
        self.bytes.store(0, Ordering::Relaxed);
    }

    fn has_room(&self, bytes: usize) -> bool {
        let add = |before: usize| before.checked_add(bytes).filter(|all| *all <= BYTES_MAX);
        let (set, fetch) = (Ordering::Relaxed, Ordering::Relaxed);
        self.bytes.fetch_update(set, fetch, add).is_ok()
    }
}

/// Returns about how many bytes a message takes where it waits.
fn size(message: &RosMessage) -> usize {
    MESSAGE_BYTES + message.topic.len() + message.kind.len() + message.body.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(number: i64, bytes: usize) -> RosMessage {
        RosMessage {
            writer: [1; 16],
            number,
            topic: "/flood".to_owned(),
            kind: "gz.msgs.StringMsg".to_owned(),
            body: vec![0; bytes],
        }
    }

    #[test]
    fn a_flood_is_bounded_until_the_primary_makes_a_step() {
        let inlet = Inlet::default();
        let flood = || {
            let messages = (0..600).flat_map(|number| inlet.admit(vec![message(number, 1 << 20)]));
            let sizes = messages.map(|message| size(&message));
            sizes.fold((0, 0), |(count, all), bytes| (count + 1, all + bytes))
        };
        let (count, bytes) = flood();
        assert_eq!(count, 255, "one more has no room with its names");
        assert!(bytes <= BYTES_MAX);
        assert_eq!(inlet.dropped.load(Ordering::Relaxed), 345);
        assert_eq!(
            inlet.admit(vec![message(7, 10)]).len(),
            1,
            "a small one fits"
        );
        assert_eq!(flood().0, 0);
        inlet.on_step();
        assert_eq!(flood().0, 255);
        assert_eq!(inlet.dropped.load(Ordering::Relaxed), 345 + 600 + 345);
    }

    #[test]
    fn messages_keep_their_order() {
        let inlet = Inlet::default();
        let sizes = [1, BYTES_MAX, 2, usize::MAX >> 40];
        let messages = (0..)
            .zip(sizes)
            .map(|(number, bytes)| message(number, bytes));
        let admitted = inlet.admit(messages.collect());
        let numbers: Vec<i64> = admitted.iter().map(|one| one.number).collect();
        assert_eq!(numbers, [0, 2, 3]);
    }
}
