//! [`Heard`]: messages that wait for the next barrier of a participant.

use std::collections::VecDeque;

use protocol::TopicMessage;

/// Most that waits for one participant \[bytes\]; the oldest messages are left out beyond. What is
/// left out follows from the messages alone, and so is the same in each run.
const BYTES_MAX: usize = 32 << 20;

/// Size of a message besides its names and its body \[bytes\].
const MESSAGE_BYTES: usize = 96;

/// Messages that wait for a participant, in order.
#[derive(Debug, Default)]
pub(super) struct Heard {
    messages: VecDeque<TopicMessage>,
    bytes: usize,
    left_out: u64,
}

impl Heard {
    /// Takes a message; the last one always fits.
    pub(super) fn push(&mut self, message: TopicMessage) {
        self.bytes += size(&message);
        self.messages.push_back(message);
        while self.bytes > BYTES_MAX && self.messages.len() > 1 {
            let oldest = self.messages.pop_front();
            self.bytes -= oldest.as_ref().map_or(0, size);
            self.left_out += 1;
        }
    }

    /// Returns the messages; they are kept until the barrier is over.
    pub(super) fn messages(&self) -> Vec<TopicMessage> {
        self.messages.iter().cloned().collect()
    }

    /// Returns how many were left out.
    pub(super) fn left_out(&self) -> u64 {
        self.left_out
    }

    /// Begins anew.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}

fn size(message: &TopicMessage) -> usize {
    MESSAGE_BYTES + message.topic.len() + message.kind.len() + message.body.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::{Iteration, Publisher, SimTime};

    fn message(number: u64, bytes: usize) -> TopicMessage {
        TopicMessage {
            topic: "/t".to_owned(),
            kind: "gz.msgs.Image".to_owned(),
            publisher: Publisher::Client,
            iteration: Iteration(number),
            sim_time: SimTime(0),
            body: vec![0; bytes],
        }
    }

    #[test]
    fn the_oldest_are_left_out_and_counted() {
        let mut heard = Heard::default();
        for number in 0..5 {
            heard.push(message(number, 10 << 20));
        }
        let kept = heard.messages().into_iter().map(|one| one.iteration.0);
        assert_eq!(kept.collect::<Vec<_>>(), [2, 3, 4]);
        assert_eq!(heard.left_out(), 2);
        heard.push(message(5, 100 << 20));
        assert_eq!(heard.messages().len(), 1, "one message always fits");
        heard.clear();
        assert_eq!((heard.messages().len(), heard.left_out()), (0, 0));
        heard.push(message(6, 1));
        assert_eq!(heard.left_out(), 0, "the size is that of what is here");
    }
}
