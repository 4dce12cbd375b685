//! [`HeldReplies`]: answers to clients that say that a command is done go out when the journal has
//! it.
//!
//! The journal is written by a thread of its own, mostly within microseconds. On a disk that takes
//! nothing, who asked hears nothing until it does: a run that is killed then has not done what
//! somebody was told that it had.

use std::collections::VecDeque;

use protocol::Chain;
use protocol::FailureCode;
use protocol::RoutingId;
use protocol::primary_to_client::{PrimaryToClient, Reply};

use crate::journaling::{JournalError, Journaling};

/// Answers that wait, in order: each with how many records must be written first.
#[derive(Debug, Default)]
pub(super) struct HeldReplies {
    waiting: VecDeque<(u64, RoutingId, PrimaryToClient)>,
}

/// An answer, with where it goes.
pub(super) type Addressed = (RoutingId, PrimaryToClient);

impl HeldReplies {
    /// Returns an answer if it can go out now, else has it wait until what was done for it is
    /// written down.
    pub(super) fn admit(
        &mut self,
        (to, message): Addressed,
        journal: Option<&Journaling>,
    ) -> Option<Addressed> {
        let is_done = matches!(message.reply, Reply::Done { .. });
        if is_done && let Some(journal) = journal {
            let records = journal.safe_from();
            if !self.waiting.is_empty() || !journal.is_written(records) {
                self.waiting.push_back((records, to, message));
                return None;
            }
        }
        Some((to, message))
    }

    /// Returns the next answer that need not wait any more.
    pub(super) fn next(&mut self, journal: Option<&Journaling>) -> Option<Addressed> {
        let (records, ..) = self.waiting.front()?;
        let (_, to, message) = journal
            .is_some_and(|journal| journal.is_written(*records))
            .then(|| self.waiting.pop_front())??;
        Some((to, message))
    }

    /// Returns the answers that wait when the run has ended, with the failure of its journal, if
    /// that is not whole.
    pub(super) fn end(&mut self, lost: Option<&JournalError>) -> Vec<Addressed> {
        let waiting = std::mem::take(&mut self.waiting).into_iter();
        let answers = waiting.map(|(_, to, mut message)| {
            if let Some(cause) = lost {
                let cause = Chain(cause);
                message.reply = Reply::Failed {
                    code: FailureCode::Storage,
                    reason: format!("it was done, and {cause}: a run that is resumed lacks it"),
                };
            }
            (to, message)
        });
        answers.collect()
    }
}
