//! [`Outbox`]: messages that wait until a client reads them.
//!
//! It is bounded in number and bytes. A client that reads too slowly loses messages of channels,
//! the oldest first; texts and answers are never lost, and a client that does not even read those
//! is cut off.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use tokio::sync::Notify;

use crate::protocol::SubscriptionId;
use crate::protocol::server_to_client::ChannelMessage;

/// The most messages of channels that wait.
const MESSAGES_MAX: usize = 512;
/// The most bytes of messages of channels that wait; one larger message may.
const MESSAGE_BYTES_MAX: usize = 32 << 20;
/// The most texts and answers that wait.
const ANSWERS_MAX: usize = 4096;
/// The most bytes of texts and answers that wait.
const ANSWER_BYTES_MAX: usize = 64 << 20;

/// A queue of messages to one client, shared by who fills it and who sends.
#[derive(Clone, Debug, Default)]
pub struct Outbox(Arc<Shared>);

/// Importance of a message on a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// The newest message says all: it takes the place of one that waits.
    Newest,
    /// Each message says something of its own.
    Each,
}

/// Something to be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outgoing {
    /// A text.
    Text(String),
    /// A binary message.
    Binary(Bytes),
    /// An asset, by its name: it is looked up when it is sent, since clients ask for all assets of
    /// a scene at once.
    Asset {
        /// The client's number for its request.
        request: u32,
        /// Its name, such as `0123abcd.glb`.
        name: String,
    },
    /// The end of the connection, with its reason.
    Close(String),
}

#[derive(Debug, Default)]
struct Shared {
    queue: Mutex<Queue>,
    filled: Notify,
}

#[derive(Debug, Default)]
struct Queue {
    answers: VecDeque<Outgoing>,
    answer_bytes: usize,
    messages: VecDeque<(SubscriptionId, ChannelMessage)>,
    message_bytes: usize,
    /// Number of messages that were dropped.
    dropped: u64,
    /// Reason why the connection ends once what waits is sent.
    closing: Option<String>,
    is_closed: bool,
}

impl Outbox {
    /// Adds a text.
    pub fn text(&self, text: String) {
        self.answer(Outgoing::Text(text));
    }

    /// Adds an answer.
    pub fn binary(&self, frame: Bytes) {
        self.answer(Outgoing::Binary(frame));
    }

    /// Adds an asset by its name, or the answer that there is none.
    pub fn asset(&self, request: u32, name: String) {
        self.answer(Outgoing::Asset { request, name });
    }

    fn answer(&self, outgoing: Outgoing) {
        let mut queue = self.lock();
        if queue.closing.is_some() {
            return;
        }
        queue.answer_bytes += outgoing.byte_count();
        queue.answers.push_back(outgoing);
        if queue.answers.len() > ANSWERS_MAX || queue.answer_bytes > ANSWER_BYTES_MAX {
            queue.answers.clear();
            queue.messages.clear();
            (queue.answer_bytes, queue.message_bytes) = (0, 0);
            queue.closing = Some("the client does not read its answers".to_owned());
        }
        drop(queue);
        self.0.filled.notify_one();
    }

    /// Adds a message on a channel; tells whether one of that subscription was lost for it.
    pub fn message(
        &self,
        subscription: SubscriptionId,
        message: &ChannelMessage,
        keep: Keep,
    ) -> bool {
        let mut queue = self.lock();
        if queue.closing.is_some() {
            return false;
        }
        queue.message_bytes += message.payload.len();
        let same = match keep {
            Keep::Newest => queue
                .messages
                .iter()
                .position(|(id, _)| *id == subscription),
            Keep::Each => None,
        };
        if let Some(place) = same {
            let before = std::mem::replace(&mut queue.messages[place].1, message.clone());
            queue.message_bytes -= before.payload.len();
            return true;
        }
        queue.messages.push_back((subscription, message.clone()));
        let mut is_lost = false;
        while queue.is_too_long() {
            let Some((lost, message)) = queue.messages.pop_front() else {
                break;
            };
            queue.message_bytes -= message.payload.len();
            queue.dropped += 1;
            is_lost |= lost == subscription;
        }
        drop(queue);
        self.0.filled.notify_one();
        is_lost
    }

    /// Tells whether a message of a subscription waits.
    pub fn has_waiting(&self, subscription: SubscriptionId) -> bool {
        let queue = self.lock();
        queue.messages.iter().any(|(id, _)| *id == subscription)
    }

    /// Drops what waits for a subscription that has ended.
    pub fn forget(&self, subscription: SubscriptionId) {
        let mut queue = self.lock();
        queue.messages.retain(|(id, _)| *id != subscription);
        let bytes = queue
            .messages
            .iter()
            .map(|(_, message)| message.payload.len());
        queue.message_bytes = bytes.sum();
    }

    /// Ends the connection once what waits is sent.
    pub fn close(&self, reason: &str) {
        self.lock().closing.get_or_insert_with(|| reason.to_owned());
        self.0.filled.notify_one();
    }

    /// Returns the number of messages that were dropped so far.
    pub fn dropped(&self) -> u64 {
        self.lock().dropped
    }

    /// Waits for the next thing to be sent; `None` after the end of the connection.
    pub async fn next(&self) -> Option<Outgoing> {
        loop {
            {
                let mut queue = self.lock();
                if queue.is_closed {
                    return None;
                }
                if let Some(next) = queue.take() {
                    return Some(next);
                }
            }
            self.0.filled.notified().await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        // Nothing that holds the lock can panic half-way.
        self.0.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Queue {
    fn is_too_long(&self) -> bool {
        let is_many = self.messages.len() > MESSAGES_MAX;
        is_many || (self.message_bytes > MESSAGE_BYTES_MAX && self.messages.len() > 1)
    }

    fn take(&mut self) -> Option<Outgoing> {
        if let Some(answer) = self.answers.pop_front() {
            self.answer_bytes -= answer.byte_count();
            return Some(answer);
        }
        if let Some((subscription, message)) = self.messages.pop_front() {
            self.message_bytes -= message.payload.len();
            return Some(Outgoing::Binary(message.frame(subscription)));
        }
        let reason = self.closing.take()?;
        self.is_closed = true;
        Some(Outgoing::Close(reason))
    }
}

impl Outgoing {
    fn byte_count(&self) -> usize {
        match self {
            Self::Text(text) | Self::Close(text) => text.len(),
            Self::Binary(bytes) => bytes.len(),
            Self::Asset { name, .. } => name.len(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(bytes: usize) -> ChannelMessage {
        ChannelMessage {
            time_ns: 0,
            payload: vec![0; bytes].into(),
        }
    }

    fn waiting(outbox: &Outbox) -> (usize, usize) {
        let queue = outbox.lock();
        (queue.messages.len(), queue.message_bytes)
    }

    #[test]
    fn slow_client_loses_the_oldest_messages_and_takes_bounded_memory() {
        let outbox = Outbox::default();
        for _ in 0..10 * MESSAGES_MAX {
            outbox.message(SubscriptionId(1), &message(10), Keep::Each);
        }
        assert_eq!(waiting(&outbox), (MESSAGES_MAX, 10 * MESSAGES_MAX));
        assert_eq!(outbox.dropped(), 9 * MESSAGES_MAX as u64);
        for _ in 0..100 {
            outbox.message(SubscriptionId(2), &message(1 << 20), Keep::Each);
        }
        assert!(waiting(&outbox).1 <= MESSAGE_BYTES_MAX);
        outbox.message(
            SubscriptionId(3),
            &message(MESSAGE_BYTES_MAX + 1),
            Keep::Each,
        );
        assert_eq!(waiting(&outbox), (1, MESSAGE_BYTES_MAX + 1));
    }

    #[test]
    fn newest_state_takes_the_place_of_one_that_waits() {
        let outbox = Outbox::default();
        assert!(!outbox.message(SubscriptionId(1), &message(1), Keep::Newest));
        assert!(!outbox.message(SubscriptionId(2), &message(1), Keep::Newest));
        assert!(outbox.message(SubscriptionId(1), &message(5), Keep::Newest));
        assert_eq!(waiting(&outbox), (2, 6));
        outbox.forget(SubscriptionId(1));
        assert_eq!(waiting(&outbox), (1, 1));
        assert!(outbox.has_waiting(SubscriptionId(2)));
    }

    #[tokio::test]
    async fn answers_go_before_messages_and_the_end_goes_last() {
        let outbox = Outbox::default();
        outbox.message(SubscriptionId(1), &message(1), Keep::Each);
        outbox.close("over");
        outbox.text("late".to_owned());
        let first = outbox.next().await.unwrap();
        assert!(matches!(first, Outgoing::Binary(_)), "{first:?}");
        assert_eq!(
            outbox.next().await,
            Some(Outgoing::Close("over".to_owned()))
        );
        assert_eq!(outbox.next().await, None);
    }

    #[tokio::test]
    async fn client_that_reads_no_answers_is_cut_off() {
        let outbox = Outbox::default();
        for _ in 0..=ANSWERS_MAX {
            outbox.text("x".to_owned());
        }
        let first = outbox.next().await.unwrap();
        assert!(matches!(first, Outgoing::Close(_)), "{first:?}");
    }
}
