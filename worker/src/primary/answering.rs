//! Answers to clients: one that says that a command is done goes out when the journal has it.
//!
//! The journal is written by a thread of its own, mostly within microseconds. On a disk that takes
//! nothing, who asked hears nothing until it does: a run that is killed then has not done what
//! somebody was told that it had.

use std::collections::VecDeque;

use protocol::FailureCode;
use protocol::RoutingId;
use protocol::primary_to_client::{PrimaryToClient, Reply};
use protocol::topic;
use transport::{Destination, Link};

use super::PrimaryDriver;

/// Answers that wait, in order: each with how many records must be written first.
#[derive(Debug, Default)]
pub(super) struct HeldReplies {
    waiting: VecDeque<(u64, RoutingId, PrimaryToClient)>,
}

impl<L: Link> PrimaryDriver<L> {
    /// Answers a client, once what was done for it is written down.
    pub(super) fn reply(&mut self, to: RoutingId, message: PrimaryToClient) {
        let is_done = matches!(message.reply, Reply::Done { .. });
        if is_done && let Some(journal) = &self.journal {
            let records = journal.safe_from();
            let waiting = &mut self.held.waiting;
            if !waiting.is_empty() || !journal.is_written(records) {
                return waiting.push_back((records, to, message));
            }
        }
        self.send(Destination::Peer(&to), topic::REQUEST, message);
    }

    /// Sends the answers that need not wait any more.
    pub(super) fn answer_held(&mut self) {
        while let Some((records, ..)) = self.held.waiting.front()
            && let Some(journal) = &self.journal
            && journal.is_written(*records)
            && let Some((_, to, message)) = self.held.waiting.pop_front()
        {
            self.send(Destination::Peer(&to), topic::REQUEST, message);
        }
    }

    /// Sends the answers that wait when the run has ended, with what became of its journal.
    pub(super) fn answer_held_at_the_end(&mut self, journal: Option<&Result<(), String>>) {
        for (_, to, mut message) in std::mem::take(&mut self.held.waiting) {
            if let Some(Err(cause)) = journal {
                message.reply = Reply::Failed {
                    code: FailureCode::Storage,
                    reason: format!("it was done, and {cause}: a run that is resumed lacks it"),
                };
            }
            self.send(Destination::Peer(&to), topic::REQUEST, message);
        }
    }
}
