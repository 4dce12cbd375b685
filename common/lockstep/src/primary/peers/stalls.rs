//! [`StallDetector`]: stalls of the primary's own. Time in which it did nothing is no silence of
//! others.
//!
//! A stepper that waits for a disk, or a process that was stopped, finds everybody silent for as
//! long when it goes on, although what they said waits to be read. So the primary looks up often,
//! and by how much it is late for that is added to every deadline of others.

use std::time::Duration;

use protocol::SessionTime;
use protocol::primary_to_observers::Severity;

use crate::primary::context::Context;
use crate::primary::peers::Peers;

/// Longest time between two looks of the primary.
const INTERVAL: Duration = Duration::from_millis(100);
/// A stall from which on it is told.
const TOLD_FROM: Duration = Duration::from_secs(1);

/// Time of the primary's last look, if anything is due at all.
#[derive(Clone, Debug, Default)]
pub(crate) struct StallDetector {
    looked_at: Option<SessionTime>,
}

impl StallDetector {
    /// Looks up, and returns for how long the primary was away if that was longer than intended.
    pub(crate) fn look(&self, now: SessionTime) -> Option<Duration> {
        let away = now.since(self.looked_at?).saturating_sub(INTERVAL);
        (away > INTERVAL).then_some(away)
    }

    /// Notes that the primary has handled an input, and whether anything is due later.
    pub(crate) fn rest(&mut self, now: SessionTime, is_anything_due: bool) {
        self.looked_at = is_anything_due.then_some(now);
    }

    /// Returns the time of the next look at the latest.
    pub(crate) fn next(&self) -> Option<SessionTime> {
        self.looked_at.map(|at| at + INTERVAL)
    }
}

impl Peers {
    /// Notes that an input comes, and returns for how long the primary did nothing before, if that
    /// was longer than intended. Deadlines of peers move by it.
    pub(crate) fn look_up(&mut self, cx: &mut Context<'_>) -> Option<Duration> {
        let stall = self.stalls.look(cx.now)?;
        if stall >= TOLD_FROM {
            let seconds = stall.as_secs_f64();
            let text = format!(
                "the primary itself stood still for {seconds:.1} s: \
                 what the others may have missed meanwhile does not count"
            );
            cx.event(Severity::Warning, "run", text);
        }
        for member in self.roster.members_mut() {
            member.postpone(stall);
        }
        self.startup.postpone(stall);
        if let Some(shutdown) = &mut self.shutdown {
            shutdown.postpone(stall);
        }
        Some(stall)
    }

    /// Notes that an input is handled, and whether anything is due later.
    pub(crate) fn rest(&mut self, now: SessionTime, is_anything_due: bool) {
        self.stalls.rest(now, is_anything_due);
    }

    /// Returns the time of the next look, if that is before a deadline.
    pub(crate) fn look_before(&self, deadline: SessionTime) -> SessionTime {
        let next = self.stalls.next();
        next.map_or(deadline, |look| look.min(deadline))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> SessionTime {
        SessionTime(ms * 1_000_000)
    }

    #[test]
    fn only_what_is_longer_than_the_interval_is_a_stall() {
        let mut stalls = StallDetector::default();
        assert_eq!(stalls.look(at(5_000)), None, "it begins late");
        stalls.rest(at(5_000), true);
        assert_eq!(stalls.next(), Some(at(5_100)));
        assert_eq!(stalls.look(at(5_200)), None, "timers are not exact");
        let away = Some(Duration::from_secs(3));
        assert_eq!(stalls.look(at(8_100)), away);
        stalls.rest(at(8_100), false);
        assert_eq!(stalls.next(), None);
        assert_eq!(stalls.look(at(20_000)), None, "nothing was due");
    }
}
