//! What is turned away because of who says it, how large it is or how often it comes: it is
//! answered where somebody waits, counted, and told observers once per second.

use std::time::Duration;

use protocol::primary_to_observers::Severity;
use protocol::report::RefusedCounts;
use protocol::{RoutingId, SessionTime};

use super::{Primary, PrimaryOutput};
use crate::access::{Attempt, Forbidden};

/// Time between two events about what was forbidden.
const TELLING_INTERVAL: Duration = Duration::from_secs(1);

impl Primary {
    /// Answers who tried what its role does not allow.
    pub(super) fn on_forbidden(
        &mut self,
        forbidden: Forbidden,
        now: SessionTime,
        out: &mut Vec<PrimaryOutput>,
    ) {
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
                Self::fail(from, request, &reason, out);
                format!("a client with the role {access} tried to command")
            }
            Attempt::Join(name) => {
                let reason = format!(
                    "a key with the role {access} may not take part: that takes one with the role \
                     secondary"
                );
                Self::refuse(from, reason, out);
                format!("{name} tried to join with the role {access}")
            }
            Attempt::Simulate(name) => {
                format!("a client with the role {access} tried to speak as {name}")
            }
        };
        if self
            .forbidden_told
            .is_none_or(|at| now >= at + TELLING_INTERVAL)
        {
            self.forbidden_told = Some(now);
            self.event(Severity::Warning, "security", text, out);
        }
    }

    pub(super) fn on_malformed(
        &mut self,
        from: RoutingId,
        joining: bool,
        error: &str,
        out: &mut Vec<PrimaryOutput>,
    ) {
        self.refused.malformed += 1;
        if joining {
            Self::refuse(
                from,
                format!("the message to join was not understood: {error}"),
                out,
            );
        }
    }

    /// Counts what the link has turned away.
    pub(super) fn on_refused(
        &mut self,
        counts: RefusedCounts,
        details: &str,
        out: &mut Vec<PrimaryOutput>,
    ) {
        self.refused.add(counts);
        let text = format!("turned away {}: {details}", counts.total());
        self.event(Severity::Warning, "security", text, out);
    }
}
