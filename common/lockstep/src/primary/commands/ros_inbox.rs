//! [`RosInbox`]: which messages of ROS nodes have come already.
//!
//! Every secondary hears them, and more than one may pass on the same, such as when another one
//! begins to speak for the run. Numbers of a writer grow, so that the last one says it all.

use std::collections::BTreeMap;

/// Number of writers that are remembered.
const WRITERS_MAX: usize = 4096;

/// Writers that were heard, with the number of their last message and when that came.
#[derive(Debug, Default)]
pub(crate) struct RosInbox {
    writers: BTreeMap<[u8; 16], (i64, u64)>,
    count: u64,
}

impl RosInbox {
    /// Notes a message of a writer; tells whether it is new.
    pub(crate) fn is_new(&mut self, writer: [u8; 16], number: i64) -> bool {
        self.count += 1;
        if let Some((last, heard_at)) = self.writers.get_mut(&writer) {
            let is_new = number > *last;
            *last = number.max(*last);
            *heard_at = self.count;
            return is_new;
        }
        if self.writers.len() >= WRITERS_MAX {
            let by_age = self
                .writers
                .iter()
                .min_by_key(|(_, (_, heard_at))| *heard_at);
            if let Some(oldest) = by_age.map(|(writer, _)| *writer) {
                self.writers.remove(&oldest);
            }
        }
        self.writers.insert(writer, (number, self.count));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_counts_once_whoever_passes_it_on() {
        let mut inbox = RosInbox::default();
        let (one, other) = ([1; 16], [2; 16]);
        assert!(inbox.is_new(one, 1));
        assert!(inbox.is_new(one, 2));
        assert!(!inbox.is_new(one, 1) && !inbox.is_new(one, 2));
        assert!(inbox.is_new(other, 1));
        assert!(inbox.is_new(one, 4), "what a reader missed is no reason");
        assert!(!inbox.is_new(one, 3));
    }

    #[test]
    fn the_writer_that_is_silent_longest_is_forgotten() {
        let mut inbox = RosInbox::default();
        let writer = |number: usize| (number as u128).to_be_bytes();
        for number in 0..WRITERS_MAX {
            assert!(inbox.is_new(writer(number), 7));
        }
        assert!(!inbox.is_new(writer(0), 7));
        assert!(inbox.is_new(writer(WRITERS_MAX), 1));
        assert!(!inbox.is_new(writer(0), 7), "it was heard since");
        assert!(inbox.is_new(writer(1), 7), "it is a stranger again");
    }
}
