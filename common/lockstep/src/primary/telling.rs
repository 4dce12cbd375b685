//! What the primary says: events and announcements to observers, replies to clients.

use protocol::primary_to_client::{PrimaryToClient, Reply};
use protocol::primary_to_observers::{Announce, Event, PrimaryToObservers, Severity};
use protocol::{RequestId, RoutingId};

use super::{Primary, PrimaryOutput};

impl Primary {
    pub(super) fn event(
        &self,
        severity: Severity,
        kind: &str,
        text: String,
        out: &mut Vec<PrimaryOutput>,
    ) {
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
