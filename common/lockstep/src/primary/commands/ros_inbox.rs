//! [`RosInbox`]: which messages of ROS nodes have come already.
//!
//! Every secondary hears them, and more than one may pass on the same, such as when another one
//! begins to speak for the run. Numbers of a writer grow, so that the last one says it all.

use std::collections::BTreeMap;
use std::time::Duration;

use protocol::primary_to_observers::Severity;
use protocol::{PrimaryToObservers, SessionTime};

use crate::primary::PrimaryOutput;
use crate::primary::context::Context;

/// Number of writers that are remembered.
const WRITERS_MAX: usize = 4096;

/// Kind of events about refused messages.
pub(crate) const REFUSED: &str = "ros2";

/// Time between two events about refused messages, of which a node may send any number.
const TELL_INTERVAL: Duration = Duration::from_secs(1);

/// Writers that were heard, with the number of their last message and when that came.
#[derive(Debug, Default)]
pub(crate) struct RosInbox {
    writers: BTreeMap<[u8; 16], (i64, u64)>,
    count: u64,
    /// Time of the last event about a refused message, and how many were refused since.
    told_at: Option<SessionTime>,
    untold: u64,
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

    /// Leaves one event per second of those about refused messages, which says how many there were.
    pub(crate) fn limit_refusals(&mut self, cx: &mut Context<'_>) {
        let is_meant = |output: &mut PrimaryOutput| match output {
            PrimaryOutput::Observe(PrimaryToObservers::Event(event)) => event.kind == REFUSED,
            _ => false,
        };
        let refusals = cx.extract(is_meant);
        let count = refusals.len() as u64;
        let Some(PrimaryOutput::Observe(PrimaryToObservers::Event(first))) =
            refusals.into_iter().next()
        else {
            return;
        };
        if self
            .told_at
            .is_some_and(|at| cx.now.since(at) < TELL_INTERVAL)
        {
            self.untold += count;
            return;
        }
        self.told_at = Some(cx.now);
        let more = std::mem::take(&mut self.untold) + count - 1;
        let text = match more {
            0 => first.text,
            more => format!("{} (and {more} more)", first.text),
        };
        cx.event(Severity::Warning, REFUSED, text);
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
    fn refused_messages_are_told_once_per_second_and_counted() {
        let mut inbox = RosInbox::default();
        let mut told = |now_ms: u64, refused: usize| {
            let mut out = Vec::new();
            let now = SessionTime(now_ms * 1_000_000);
            let mut cx = Context::new(now, protocol::Iteration(7), &mut out);
            for number in 0..refused {
                cx.event(Severity::Warning, REFUSED, format!("no {number}"));
            }
            cx.event(Severity::Info, "other", "stays".to_owned());
            inbox.limit_refusals(&mut cx);
            let texts = out.into_iter().map(|output| match output {
                PrimaryOutput::Observe(PrimaryToObservers::Event(event)) => event.text,
                other => panic!("{other:?}"),
            });
            texts.collect::<Vec<_>>()
        };
        assert_eq!(told(0, 1), ["stays", "no 0"]);
        assert_eq!(told(10, 3), ["stays"]);
        assert_eq!(told(999, 0), ["stays"]);
        assert_eq!(told(1000, 2), ["stays", "no 0 (and 4 more)"]);
        assert_eq!(told(2500, 1), ["stays", "no 0"]);
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
