//! Refusals: messages turned away because of their sender, size or number are answered where
//! somebody waits, counted, and told observers once per second.

use std::time::Duration;

use protocol::primary_to_observers::Severity;
use protocol::report::RefusedCounts;
use protocol::{FailureCode, PeerName, RoutingId, SecondaryToPrimary, topic};

use crate::peer_numbers::PeerNumber;
use crate::primary::context::{Context, Failure};
use crate::primary::io::{Attempt, Forbidden};
use crate::primary::peers::Peers;

/// Time between two events about what was forbidden.
const TELLING_INTERVAL: Duration = Duration::from_secs(1);

impl Peers {
    /// Returns the number of refused messages so far.
    pub(crate) fn refused(&self) -> RefusedCounts {
        self.refused
    }

    /// Goes on with saved counts.
    pub(crate) fn restore(&mut self, refused: RefusedCounts) {
        self.refused = refused;
    }

    /// Counts messages of others than they say, or of another run.
    pub(crate) fn count_foreign(&mut self) {
        self.refused.foreign += 1;
    }

    /// Counts answers to earlier steps.
    pub(crate) fn count_stale(&mut self) {
        self.refused.stale += 1;
    }

    /// Counts messages that came twice.
    pub(crate) fn count_duplicate(&mut self) {
        self.refused.duplicate += 1;
    }

    /// Counts messages that break the protocol.
    pub(crate) fn count_malformed(&mut self) {
        self.refused.malformed += 1;
    }

    /// Refuses an attempt that the sender's role does not allow.
    pub(crate) fn on_forbidden(&mut self, forbidden: Forbidden, cx: &mut Context<'_>) {
        self.refused.forbidden += 1;
        let Forbidden {
            from,
            access,
            attempt,
        } = forbidden;
        let text = match attempt {
            Attempt::Command(request) => {
                let reason = format!(
                    "a key with the role {access} may not command: that takes one with the role \
                     controller"
                );
                cx.fail(from, request, Failure::new(FailureCode::Forbidden, reason));
                format!("a client with the role {access} tried to command")
            }
            Attempt::Join(name) => {
                let reason = format!(
                    "a key with the role {access} may not take part: that takes one with the role \
                     secondary"
                );
                cx.refuse(from, reason);
                format!("{name} tried to join with the role {access}")
            }
            Attempt::Simulate(name) => {
                format!("a client with the role {access} tried to speak as {name}")
            }
        };
        if self
            .forbidden_told
            .is_none_or(|at| cx.now >= at + TELLING_INTERVAL)
        {
            self.forbidden_told = Some(cx.now);
            cx.event(Severity::Warning, "security", text);
        }
    }

    /// Refuses a message that could not be read.
    pub(crate) fn on_malformed(
        &mut self,
        from: RoutingId,
        joining: bool,
        error: &str,
        cx: &mut Context<'_>,
    ) {
        self.refused.malformed += 1;
        if joining {
            cx.refuse(
                from,
                format!("the message to join was not understood: {error}"),
            );
        }
    }

    /// Returns the number of the member that a message names, if it came from the connection of
    /// that one.
    pub(crate) fn sender(
        &self,
        name: &PeerName,
        from: &RoutingId,
        body: &SecondaryToPrimary,
    ) -> Option<PeerNumber> {
        let (number, member) = self.roster.find(name)?;
        let is_from_it = if body.topic() == topic::HEARTBEAT {
            from.is_heartbeat_of(&member.routing)
        } else {
            member.routing == *from
        };
        is_from_it.then_some(number)
    }

    /// Counts messages that the link has turned away.
    pub(crate) fn on_refused(
        &mut self,
        counts: RefusedCounts,
        details: &str,
        cx: &mut Context<'_>,
    ) {
        self.refused.add(counts);
        let text = format!("turned away {}: {details}", counts.total());
        cx.event(Severity::Warning, "security", text);
    }
}
