//! The end of a run: everyone is told why, leaves, and only then the primary goes.

use std::collections::BTreeSet;
use std::time::Duration;

use protocol::exit::Outcome;
use protocol::primary_to_observers::{Announce, Severity};
use protocol::primary_to_secondary::PrimaryToSecondary;
use protocol::{PeerName, SessionTime, StopReason};

use super::{LEAVE_GRACE, Phase, Primary, PrimaryOutput};

/// How long the secondaries have to leave once they are told to.
const LEAVE_TIMEOUT: Duration = Duration::from_secs(1);

/// A run that ends.
#[derive(Debug)]
pub(super) struct Stopping {
    reason: StopReason,
    /// Secondaries that have not left yet.
    staying: BTreeSet<PeerName>,
    /// When the primary goes without them.
    pub(super) until: SessionTime,
}

impl Primary {
    pub(super) fn begin_stopping(
        &mut self,
        reason: StopReason,
        now: SessionTime,
        out: &mut Vec<PrimaryOutput>,
    ) {
        if matches!(self.phase, Phase::Stopping(_) | Phase::Finished) {
            return;
        }
        let severity = match reason.outcome {
            Outcome::Completed | Outcome::Interrupted => Severity::Info,
            Outcome::ConfigurationError
            | Outcome::PeerLost
            | Outcome::DigestMismatch
            | Outcome::TimedOut
            | Outcome::Failed => Severity::Error,
        };
        self.event(severity, "run", reason.to_string(), out);
        self.fail_waiters(&format!("the run ended: {reason}"), |_| true, out);
        // By every way there is: a secondary may have lost its subscription.
        out.push(PrimaryOutput::Publish(PrimaryToSecondary::Stop(
            reason.clone(),
        )));
        for (_, member) in self
            .roster
            .members()
            .filter(|(_, member)| member.closed_at.is_none())
        {
            out.push(PrimaryOutput::Send {
                to: member.routing.clone(),
                message: PrimaryToSecondary::Stop(reason.clone()),
            });
        }
        Self::announce(Announce::Stopping(reason.clone()), out);
        let here = self
            .roster
            .members()
            .filter(|(_, member)| member.closed_at.is_none());
        let staying: BTreeSet<PeerName> = here.map(|(name, _)| name.clone()).collect();
        self.phase = Phase::Stopping(Stopping {
            reason,
            staying,
            until: now + LEAVE_TIMEOUT,
        });
        self.finish_if_alone(out);
    }

    pub(super) fn on_leave(
        &mut self,
        sender: &PeerName,
        reason: &StopReason,
        now: SessionTime,
        out: &mut Vec<PrimaryOutput>,
    ) {
        Self::announce(
            Announce::Left {
                name: sender.clone(),
                reason: reason.clone(),
            },
            out,
        );
        if let Phase::Stopping(stopping) = &mut self.phase {
            stopping.staying.remove(sender);
            return self.finish_if_alone(out);
        }
        self.event(
            Severity::Warning,
            "peer",
            format!("{sender} left: {reason}"),
            out,
        );
        let outcome = match reason.outcome {
            Outcome::ConfigurationError => Outcome::ConfigurationError,
            Outcome::DigestMismatch => Outcome::DigestMismatch,
            Outcome::Completed
            | Outcome::PeerLost
            | Outcome::TimedOut
            | Outcome::Interrupted
            | Outcome::Failed => Outcome::PeerLost,
        };
        let cause = format!(
            "{} left at iteration {}: {reason}",
            self.described(sender),
            self.iteration
        );
        self.roster.remove(sender);
        self.begin_stopping(StopReason::new(outcome, cause), now, out);
    }

    pub(super) fn on_interrupted(
        &mut self,
        signal: &str,
        now: SessionTime,
        out: &mut Vec<PrimaryOutput>,
    ) {
        let cause = format!("the primary received {signal}");
        self.begin_stopping(StopReason::new(Outcome::Interrupted, cause), now, out);
    }

    pub(super) fn continue_stopping(&mut self, now: SessionTime, out: &mut Vec<PrimaryOutput>) {
        let Phase::Stopping(stopping) = &mut self.phase else {
            return;
        };
        if now < stopping.until {
            return;
        }
        let staying: Vec<&str> = stopping.staying.iter().map(PeerName::as_str).collect();
        let text = format!("{} did not leave in time", staying.join(", "));
        stopping.staying.clear();
        self.event(Severity::Warning, "peer", text, out);
        self.finish_if_alone(out);
    }

    fn finish_if_alone(&mut self, out: &mut Vec<PrimaryOutput>) {
        if let Phase::Stopping(stopping) = &self.phase
            && stopping.staying.is_empty()
        {
            out.push(PrimaryOutput::Finished(stopping.reason.clone()));
            self.phase = Phase::Finished;
        }
    }

    /// Returns when the next silent or closed peer counts as lost.
    pub(super) fn silence_deadline(&self) -> Option<SessionTime> {
        let deadlines = self.roster.members().flat_map(|(_, member)| {
            let closed = member.closed_at.map(|at| at + LEAVE_GRACE);
            let silent = self
                .settings
                .heartbeat_timeout
                .map(|after| member.heard_at + after);
            closed.into_iter().chain(silent)
        });
        deadlines.min()
    }

    /// Returns why to stop when a peer is lost by now.
    pub(super) fn silent_peer(&self, now: SessionTime) -> Option<StopReason> {
        self.roster.members().find_map(|(name, member)| {
            if member.closed_at.is_some_and(|at| now >= at + LEAVE_GRACE) {
                let (who, iteration) = (self.described(name), self.iteration);
                let cause = format!("{who} is gone at iteration {iteration}: connection closed");
                return Some(StopReason::new(Outcome::PeerLost, cause));
            }
            let timeout = self.settings.heartbeat_timeout?;
            let silence = now.since(member.heard_at);
            (silence >= timeout).then(|| {
                let seconds = silence.as_secs_f64();
                let (who, iteration) = (self.described(name), self.iteration);
                let cause = format!(
                    "{who} fell silent at iteration {iteration}: no heartbeat for {seconds:.1} s"
                );
                StopReason::new(Outcome::PeerLost, cause)
            })
        })
    }

    fn described(&self, name: &PeerName) -> String {
        match self.roster.get(name) {
            Some(member) => {
                format!("{name} (pid {} on {})", member.info.pid, member.info.host)
            }
            None => name.to_string(),
        }
    }
}
