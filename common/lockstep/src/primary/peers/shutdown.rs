//! [`Shutdown`]: the end of a run. Everyone is told why, leaves, and only then the primary goes.

use std::collections::BTreeSet;
use std::time::Duration;

use protocol::exit::Outcome;
use protocol::primary_to_observers::{Announce, Severity};
use protocol::primary_to_secondary::PrimaryToSecondary;
use protocol::{PeerName, SessionTime, StopReason};

use crate::primary::context::Context;
use crate::primary::io::PrimaryOutput;
use crate::primary::peers::{LEAVE_GRACE, Peers};
use crate::primary::settings::PeerSettings;

/// Time that the secondaries have to leave once they are told to.
const LEAVE_TIMEOUT: Duration = Duration::from_secs(1);

/// A run that ends.
#[derive(Clone, Debug)]
pub(crate) struct Shutdown {
    reason: StopReason,
    /// Secondaries that have not left yet.
    staying: BTreeSet<PeerName>,
    /// Time when the primary goes without them.
    until: SessionTime,
}

impl Shutdown {
    /// Moves its end by a time in which the primary itself did nothing.
    pub(crate) fn postpone(&mut self, by: Duration) {
        self.until = self.until + by;
    }
}

impl Peers {
    /// Tells all to stop, and waits for those who are heard of.
    pub(crate) fn begin_shutdown(
        &mut self,
        reason: StopReason,
        settings: &PeerSettings,
        cx: &mut Context<'_>,
    ) {
        // By every way there is: a secondary may have lost its subscription.
        cx.push(PrimaryOutput::Publish(PrimaryToSecondary::Stop(
            reason.clone(),
        )));
        let members = self.roster.members();
        for (_, member) in members.filter(|(_, member)| member.closed_at.is_none()) {
            cx.push(PrimaryOutput::Send {
                to: member.routing.clone(),
                message: PrimaryToSecondary::Stop(reason.clone()),
            });
        }
        cx.announce(Announce::Stopping(reason.clone()));
        // Who is silent for so long that it is lost is told, and not waited for.
        let timeout = settings.heartbeat_timeout;
        let here = self.roster.members().filter(|(_, member)| {
            let is_silent = timeout.is_some_and(|timeout| cx.now.since(member.heard_at) >= timeout);
            member.closed_at.is_none() && (!is_silent || member.watch.is_held())
        });
        self.shutdown = Some(Shutdown {
            staying: here.map(|(name, _)| name.clone()).collect(),
            reason,
            until: cx.now + LEAVE_TIMEOUT,
        });
    }

    /// Returns the time by which something is to be done about those who have not left.
    pub(crate) fn shutdown_deadline(&self) -> Option<SessionTime> {
        let shutdown = self.shutdown.as_ref()?;
        let closed = self.closed_deadline();
        Some(closed.map_or(shutdown.until, |at| at.min(shutdown.until)))
    }

    /// Lets those go who are gone, and all when their time is over.
    pub(crate) fn continue_shutdown(&mut self, cx: &mut Context<'_>) {
        let Some(shutdown) = &mut self.shutdown else {
            return;
        };
        let closed = self.roster.members().filter(|(_, member)| {
            let closed_at = member.closed_at;
            closed_at.is_some_and(|at| cx.now >= at + LEAVE_GRACE)
        });
        let gone: Vec<PeerName> = closed.map(|(name, _)| name.clone()).collect();
        for name in gone {
            shutdown.staying.remove(&name);
            self.roster.remove(&name);
        }
        if shutdown.staying.is_empty() || cx.now < shutdown.until {
            return;
        }
        let staying: Vec<&str> = shutdown.staying.iter().map(PeerName::as_str).collect();
        let text = format!("{} did not leave in time", staying.join(", "));
        shutdown.staying.clear();
        cx.event(Severity::Warning, "peer", text);
    }

    /// Ends the run once all have left; tells whether it is over.
    pub(crate) fn finish_if_alone(&mut self, cx: &mut Context<'_>) -> bool {
        let is_alone = |shutdown: &mut Shutdown| shutdown.staying.is_empty();
        let Some(shutdown) = self.shutdown.take_if(is_alone) else {
            return false;
        };
        cx.push(PrimaryOutput::Finished(shutdown.reason));
        true
    }

    /// Takes note that a secondary leaves: as it was told to, or of its own accord, which is a
    /// loss for the reason that is returned.
    pub(crate) fn on_leave(
        &mut self,
        sender: &PeerName,
        reason: &StopReason,
        cx: &mut Context<'_>,
    ) -> Option<StopReason> {
        if let Some(shutdown) = &mut self.shutdown {
            shutdown.staying.remove(sender);
            cx.announce(Announce::Left {
                name: sender.clone(),
                reason: reason.clone(),
            });
            return None;
        }
        let outcome = match reason.outcome {
            Outcome::ConfigurationError => Outcome::ConfigurationError,
            Outcome::DigestMismatch => Outcome::DigestMismatch,
            Outcome::TimedOut => Outcome::TimedOut,
            Outcome::Completed | Outcome::PeerLost | Outcome::Interrupted | Outcome::Failed => {
                Outcome::PeerLost
            }
        };
        let name = self.described(sender);
        let cause = format!("{name} left at iteration {}: {reason}", cx.iteration);
        let text = format!("{sender} left: {reason}");
        cx.event(Severity::Warning, "peer", text);
        if let Some(member) = self.roster.get_mut(sender) {
            member.closed_at = Some(cx.now);
        }
        Some(StopReason::new(outcome, cause))
    }
}
