//! What the primary says: events and announcements to observers, replies to clients.

use protocol::primary_to_client::{PrimaryToClient, Reply};
use protocol::primary_to_observers::{Announce, Event, PrimaryToObservers, Severity};
use protocol::{RequestId, RoutingId};

use super::{Primary, PrimaryOutput};

/// The longest text of an event \[bytes\]: what others named may be in it, and many are kept.
const EVENT_BYTES_MAX: usize = 2_000;

impl Primary {
    pub(super) fn event(
        &self,
        severity: Severity,
        kind: &str,
        mut text: String,
        out: &mut Vec<PrimaryOutput>,
    ) {
        if text.len() > EVENT_BYTES_MAX {
            text.truncate(text.floor_char_boundary(EVENT_BYTES_MAX));
            text.push_str("...");
        }
        let event = Event {
            iteration: self.iteration,
            severity,
            kind: kind.to_owned(),
            text,
        };
        out.push(PrimaryOutput::Observe(PrimaryToObservers::Event(event)));
    }

    pub(super) fn announce(announce: Announce, out: &mut Vec<PrimaryOutput>) {
        out.push(PrimaryOutput::Observe(PrimaryToObservers::Announce(
            announce,
        )));
    }

    pub(super) fn reply(
        to: RoutingId,
        request: RequestId,
        reply: Reply,
        out: &mut Vec<PrimaryOutput>,
    ) {
        out.push(PrimaryOutput::Reply {
            to,
            message: PrimaryToClient { request, reply },
        });
    }
}
