//! The end of a run: everyone is told why, leaves, and only then the primary goes.

use crate::primary::peers::Peers;
use std::collections::BTreeSet;
use std::time::Duration;

use protocol::exit::Outcome;
use protocol::primary_to_observers::{Announce, Severity};
use protocol::primary_to_secondary::PrimaryToSecondary;
use protocol::{PeerName, SessionTime, StopReason};

use crate::primary::context::Context;
use crate::primary::{LEAVE_GRACE, Phase, Primary, PrimaryOutput};
use crate::roster::Progress;

/// Time that the secondaries have to leave once they are told to.
const LEAVE_TIMEOUT: Duration = Duration::from_secs(1);

/// Later than any moment of a run.
const NEVER: SessionTime = SessionTime(u64::MAX);

/// A run that ends.
#[derive(Debug)]
pub(crate) struct Shutdown {
    reason: StopReason,
    /// Secondaries that have not left yet.
    staying: BTreeSet<PeerName>,
    /// Time when the primary goes without them.
    pub(crate) until: SessionTime,
}

impl Peers {
    /// Returns when the next peer whose connection closed counts as gone, [`NEVER`] without one.
    pub(crate) fn closed_deadline(&self) -> SessionTime {
        let closed = self
            .roster
            .members()
            .filter_map(|(_, member)| member.closed_at);
        closed.map(|at| at + LEAVE_GRACE).min().unwrap_or(NEVER)
    }

    /// Returns the time by which something is to be done about those who have not left.
    pub(crate) fn shutdown_deadline(&self) -> Option<SessionTime> {
        let shutdown = self.shutdown.as_ref()?;
        Some(self.closed_deadline().min(shutdown.until))
    }

    pub(crate) fn described(&self, name: &PeerName) -> String {
        match self.roster.get(name) {
            Some(member) => {
                format!("{name} (pid {} on {})", member.info.pid, member.info.host)
            }
            None => name.to_string(),
        }
    }
}

impl Primary {
    pub(crate) fn begin_stopping(&mut self, reason: StopReason, cx: &mut Context<'_>) {
        if self.phase.is_over() {
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
        cx.event(severity, "run", reason.to_string());
        let why = format!("the run ended: {reason}");
        self.commands.fail_waiters(&why, |_| true, cx);
        self.placement.drop_migrations(&why, cx);
        self.recovery.fail_checkpoints(&why, cx);
        self.peers.fail_drains(&why, cx);
        self.drop_commands(&why, cx);
        // By every way there is: a secondary may have lost its subscription.
        cx.push(PrimaryOutput::Publish(PrimaryToSecondary::Stop(
            reason.clone(),
        )));
        for (_, member) in self
            .peers
            .roster
            .members()
            .filter(|(_, member)| member.closed_at.is_none())
        {
            cx.push(PrimaryOutput::Send {
                to: member.routing.clone(),
                message: PrimaryToSecondary::Stop(reason.clone()),
            });
        }
        cx.announce(Announce::Stopping(reason.clone()));
        // Who is silent for so long that it is lost is told, and not waited for.
        let timeout = self.settings.heartbeat_timeout;
        let here = self.peers.roster.members().filter(|(_, member)| {
            let is_silent = timeout.is_some_and(|timeout| cx.now.since(member.heard_at) >= timeout);
            member.closed_at.is_none() && (!is_silent || member.watch.is_held())
        });
        let staying: BTreeSet<PeerName> = here.map(|(name, _)| name.clone()).collect();
        self.phase = Phase::Stopping;
        self.barrier.round = None;
        self.peers.shutdown = Some(Shutdown {
            reason,
            staying,
            until: cx.now + LEAVE_TIMEOUT,
        });
        self.finish_if_alone(cx);
    }

    pub(crate) fn on_leave(
        &mut self,
        sender: &PeerName,
        reason: &StopReason,
        cx: &mut Context<'_>,
    ) {
        if let Some(shutdown) = &mut self.peers.shutdown {
            shutdown.staying.remove(sender);
            let left = Announce::Left {
                name: sender.clone(),
                reason: reason.clone(),
            };
            cx.announce(left);
            return self.finish_if_alone(cx);
        }
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
            self.peers.described(sender),
            self.clock.iteration
        );
        let text = format!("{sender} left: {reason}");
        cx.event(Severity::Warning, "peer", text);
        if let Some(member) = self.peers.roster.get_mut(sender) {
            member.closed_at = Some(cx.now);
        }
        self.on_lost(sender, StopReason::new(outcome, cause), cx);
    }

    pub(crate) fn on_interrupted(&mut self, signal: &str, cx: &mut Context<'_>) {
        let cause = format!("the primary received {signal}");
        self.begin_stopping(StopReason::new(Outcome::Interrupted, cause), cx);
    }

    pub(crate) fn continue_stopping(&mut self, cx: &mut Context<'_>) {
        let Some(stopping) = &mut self.peers.shutdown else {
            return;
        };
        let closed = self.peers.roster.members().filter(|(_, member)| {
            member
                .closed_at
                .is_some_and(|at| cx.now >= at + LEAVE_GRACE)
        });
        let gone: Vec<PeerName> = closed.map(|(name, _)| name.clone()).collect();
        for name in gone {
            stopping.staying.remove(&name);
            self.peers.roster.remove(&name);
        }
        if stopping.staying.is_empty() {
            return self.finish_if_alone(cx);
        }
        if cx.now < stopping.until {
            return;
        }
        let staying: Vec<&str> = stopping.staying.iter().map(PeerName::as_str).collect();
        let text = format!("{} did not leave in time", staying.join(", "));
        stopping.staying.clear();
        cx.event(Severity::Warning, "peer", text);
        self.finish_if_alone(cx);
    }

    fn finish_if_alone(&mut self, cx: &mut Context<'_>) {
        let is_alone = |shutdown: &mut Shutdown| shutdown.staying.is_empty();
        if let Some(shutdown) = self.peers.shutdown.take_if(is_alone) {
            cx.push(PrimaryOutput::Finished(shutdown.reason));
            self.phase = Phase::Finished;
        }
    }

    /// Returns when the next silent or closed peer counts as lost.
    pub(crate) fn silence_deadline(&self) -> Option<SessionTime> {
        let timeout = self.settings.heartbeat_timeout;
        let silent = self
            .peers
            .roster
            .members()
            .filter(|(_, member)| !member.watch.is_held())
            .filter_map(|(_, member)| Some(member.heard_at + timeout?));
        let closed = Some(self.peers.closed_deadline()).filter(|at| *at < NEVER);
        let is_running = self.phase == Phase::Running;
        let members = self.peers.roster.members().filter(|_| is_running);
        let unready = members
            .filter(|(_, member)| member.progress != Progress::Synced && !member.watch.is_held())
            .map(|(_, member)| member.welcomed_at + self.settings.peer_timeout);
        let looks = self.look_deadline().into_iter();
        silent.chain(closed).chain(looks).chain(unready).min()
    }

    /// Returns a peer that is lost by now, and why to stop. While messages wait to be read, a
    /// heartbeat may be among them, so that silence must be twice as long.
    pub(crate) fn lost_peer(
        &self,
        inbox_is_empty: bool,
        now: SessionTime,
    ) -> Option<(PeerName, StopReason)> {
        let patience = if inbox_is_empty { 1 } else { 2 };
        let is_running = self.phase == Phase::Running;
        self.peers.roster.members().find_map(|(name, member)| {
            let silence = now.since(member.heard_at);
            let how = if member.closed_at.is_some_and(|at| now >= at + LEAVE_GRACE) {
                Self::how_it_went(member)
            } else if member.watch.is_held() {
                return None;
            } else if is_running
                && member.progress != Progress::Synced
                && now >= member.welcomed_at + self.settings.peer_timeout
            {
                let seconds = self.settings.peer_timeout.as_secs_f64();
                format!("joined and was not ready after {seconds} s")
            } else if silence >= self.settings.heartbeat_timeout? * patience {
                Self::how_it_fell_silent(member, silence)
            } else {
                return None;
            };
            let cause = format!(
                "{} {how}, at iteration {}",
                self.peers.described(name),
                self.clock.iteration
            );
            Some((name.clone(), StopReason::new(Outcome::PeerLost, cause)))
        })
    }
}
