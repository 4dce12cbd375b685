//! Absence of participants: time-outs, connections that are gone, and what their policies say.

use std::time::Duration;

use protocol::exit::Outcome;
use protocol::participant::AbsencePolicy;
use protocol::primary_to_observers::Severity;
use protocol::{PeerName, RoutingId, SessionTime, StopReason};

use super::Participants;
use super::participant::{Participant, Stage};
use crate::primary::context::Context;

impl Participants {
    /// Returns the time of the next time-out while time runs.
    pub(crate) fn deadline(&self, timeout: Duration) -> Option<SessionTime> {
        let all = self.all.values().filter_map(Participant::deadline);
        all.chain(self.awaited_since.map(|since| since + timeout))
            .min()
    }

    /// Applies the policies of those whose time-out is over, and gives up those that have not
    /// joined for so long; returns the reason if the run ends.
    pub(crate) fn continue_holding(
        &mut self,
        timeout: Duration,
        cx: &mut Context<'_>,
    ) -> Option<StopReason> {
        if let Some(since) = self.awaited_since
            && cx.now >= since + timeout
        {
            let names: Vec<&str> = self.awaited.iter().map(PeerName::as_str).collect();
            let cause = format!(
                "no program has joined the barrier as {} in {} s",
                names.join(", "),
                timeout.as_secs_f64()
            );
            return Some(StopReason::new(Outcome::TimedOut, cause));
        }
        let over = self.all.iter().filter(|(_, one)| {
            let deadline = one.deadline();
            deadline.is_some_and(|deadline| cx.now >= deadline)
        });
        let over: Vec<PeerName> = over.map(|(name, _)| name.clone()).collect();
        over.iter().find_map(|name| self.on_timeout(name, cx))
    }

    fn on_timeout(&mut self, name: &PeerName, cx: &mut Context<'_>) -> Option<StopReason> {
        let participant = self.all.get_mut(name)?;
        let since = participant.holding_since()?;
        let (iteration, waited) = (participant.next, cx.now.since(since).as_secs_f64());
        let owes = format!("{name} has not answered to iteration {iteration} in {waited:.3} s");
        match participant.terms.policy {
            AbsencePolicy::Wait => {
                if let Stage::Holding { timeouts, .. } = &mut participant.stage {
                    *timeouts += 1;
                }
                let text = format!("{owes}: the run waits for it");
                cx.event(Severity::Warning, "participant", text);
                None
            }
            AbsencePolicy::Continue => {
                participant.give_up();
                let text = format!("{owes}: the run goes on without");
                cx.event(Severity::Warning, "participant", text);
                None
            }
            AbsencePolicy::Stop => Some(StopReason::new(Outcome::TimedOut, owes)),
        }
    }

    /// Takes note that the connection of a client is gone; returns the reason if the run ends.
    pub(crate) fn on_gone(
        &mut self,
        client: &RoutingId,
        cx: &mut Context<'_>,
    ) -> Option<StopReason> {
        let mut all = self.all.iter();
        // An answer that is here counts, whatever became of its sender since.
        let is_meant = |stage: &Stage| !matches!(stage, Stage::Gone | Stage::Answered { .. });
        let found = all.find(|(_, one)| one.client == *client && is_meant(&one.stage));
        let name = found?.0.clone();
        let participant = self.all.get_mut(&name)?;
        match participant.terms.policy {
            AbsencePolicy::Wait => {
                participant.stage = Stage::Gone;
                let next = participant.next;
                let text = format!(
                    "{name} is gone: the run waits after iteration {next} for it to join again"
                );
                cx.event(Severity::Warning, "participant", text);
                None
            }
            AbsencePolicy::Continue => {
                self.remove(&name, "is gone", cx);
                let text = format!("{name} is gone: the run goes on without");
                cx.event(Severity::Warning, "participant", text);
                None
            }
            AbsencePolicy::Stop => {
                let cause = format!("{name}, which takes part in lockstep, is gone");
                Some(StopReason::new(Outcome::PeerLost, cause))
            }
        }
    }
}
