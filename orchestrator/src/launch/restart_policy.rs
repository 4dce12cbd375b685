//! [`RestartPolicy`]: when a process that has ended is started again, and when it is left.

use std::collections::VecDeque;
use std::process::ExitStatus;
use std::time::Duration;

use protocol::ExitCode;
use tokio::time::Instant;

/// Time for which the primary has to remove a process that has ended before it is started again.
const FIRST_DELAY: Duration = Duration::from_millis(300);

/// The longest wait between two attempts.
const DELAY_MAX: Duration = Duration::from_secs(5);

/// A process that refuses to work within this time did not find its place free yet.
const SOON: Duration = Duration::from_secs(5);

/// Number of times in a row that a process may fail so soon.
const REFUSALS_MAX: u32 = 10;

/// Period in which restarts are counted.
const WINDOW: Duration = Duration::from_mins(1);

/// Time that a process that the run has lost may take to end by itself.
pub(super) const REPLACE_GRACE: Duration = Duration::from_secs(1);

/// Reason why a process is not started again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum RestartError {
    /// It found its place taken, however long it waited.
    #[error("it was refused {REFUSALS_MAX} times in a row")]
    Refused,
    /// It ended too often.
    #[error("it was started again {limit} times within a minute")]
    TooOften {
        /// Number of restarts that it is given in a minute.
        limit: u32,
    },
}

/// Restart state of one process.
#[derive(Debug, Default)]
pub(super) struct RestartPolicy {
    /// True if its end was told.
    pub(super) is_ended: bool,
    /// Time when it is started again.
    pub(super) due: Option<Instant>,
    /// Time when it is killed if it lives on, since the run has lost it.
    pub(super) replace_at: Option<Instant>,
    /// True if it was killed for that.
    pub(super) was_replaced: bool,
    /// The exit code that it ended with, if it ended by itself.
    pub(super) code: Option<i32>,
    /// Reason why it is not started again.
    pub(super) refused: Option<RestartError>,
    /// True if the run does not count on it: it is new and has not joined, or it is to leave.
    pub(super) is_apart: bool,
    started: Option<Instant>,
    restarts: VecDeque<Instant>,
    refusals: u32,
}

impl RestartPolicy {
    /// Returns the state of a process that the run does not count on.
    pub(super) fn apart() -> Self {
        Self {
            is_apart: true,
            ..Self::default()
        }
    }

    /// Returns when something is to be done; nothing is started while restarts are held.
    pub(super) fn next(&self, holds_restarts: bool) -> Option<Instant> {
        let due = self.due.filter(|_| !holds_restarts);
        due.into_iter().chain(self.replace_at).min()
    }

    /// Tells whether the process lived when the run lost it; false once it is started again.
    pub(super) fn was_cut_off(&self) -> bool {
        let lost_primary = i32::from(ExitCode::PeerLost as u8);
        self.was_replaced || self.code == Some(lost_primary)
    }

    /// Notes that the process was started again.
    pub(super) fn on_started(&mut self, now: Instant) {
        self.is_ended = false;
        self.due = None;
        self.replace_at = None;
        self.was_replaced = false;
        self.code = None;
        self.started = Some(now);
    }

    /// Decides when a process that has ended is started again, unless it has used that up.
    pub(super) fn on_ended(
        &mut self,
        status: ExitStatus,
        limit: u32,
        now: Instant,
    ) -> Result<(), RestartError> {
        let refused = i32::from(ExitCode::Configuration as u8);
        let is_soon = self.started.is_none_or(|at| now < at + SOON);
        if limit == u32::MAX {
            // A host that cannot be reached is tried until it can.
            self.refusals = if is_soon { self.refusals + 1 } else { 0 };
        } else if is_soon && self.started.is_some() && status.code() == Some(refused) {
            self.refusals += 1;
            if self.refusals > REFUSALS_MAX {
                return Err(RestartError::Refused);
            }
        } else {
            self.refusals = 0;
            while self.restarts.front().is_some_and(|at| *at + WINDOW <= now) {
                self.restarts.pop_front();
            }
            if self.restarts.len() >= limit as usize {
                return Err(RestartError::TooOften { limit });
            }
            self.restarts.push_back(now);
        }
        let doubled = FIRST_DELAY.saturating_mul(1 << self.refusals.min(8));
        self.due = Some(now + doubled.min(DELAY_MAX));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;

    use super::*;

    const KILLED: i32 = 9;
    const REFUSED: i32 = 3 << 8;

    /// Ends a process at times in seconds after the first end, each time half a second after it was
    /// started again, and returns after how long it is started again each time \[ms\].
    fn delays(ends: &[(u64, i32)], limit: u32) -> Vec<Option<u128>> {
        let start = Instant::now();
        let mut restart = RestartPolicy::default();
        let delay = |(seconds, raw): &(u64, i32)| {
            let now = start + Duration::from_secs(*seconds);
            let status = ExitStatus::from_raw(*raw);
            restart.on_ended(status, limit, now).ok()?;
            let due = restart.due.expect("it is started again");
            restart.on_started(due);
            Some((due - now).as_millis())
        };
        ends.iter().map(delay).collect()
    }

    #[test]
    fn a_process_is_started_again_so_often_in_a_minute() {
        let ends = [(0, KILLED), (10, KILLED), (20, KILLED), (61, KILLED)];
        assert_eq!(delays(&ends, 2), [Some(300), Some(300), None, Some(300)]);
        assert_eq!(delays(&ends, 3), [Some(300); 4]);
    }

    #[test]
    fn a_place_that_is_not_free_yet_is_tried_again_after_longer_waits() {
        let ends = [
            (0, KILLED),
            (1, REFUSED),
            (2, REFUSED),
            (4, REFUSED),
            (90, KILLED),
        ];
        let expected = [Some(300), Some(600), Some(1200), Some(2400), Some(300)];
        assert_eq!(delays(&ends, 1), expected);
    }

    #[test]
    fn who_lost_the_primary_or_is_replaced_lived_and_who_crashed_did_not() {
        let is_cut_off = |code, was_replaced| {
            let mut restart = RestartPolicy {
                is_ended: true,
                code,
                was_replaced,
                ..RestartPolicy::default()
            };
            let was_cut_off = restart.was_cut_off();
            restart.on_started(Instant::now());
            assert!(!restart.was_cut_off(), "it is another one now");
            was_cut_off
        };
        assert!(is_cut_off(Some(4), false) && is_cut_off(None, true));
        assert!(!is_cut_off(None, false) && !is_cut_off(Some(1), false));
    }

    #[test]
    fn a_place_that_is_never_free_is_given_up() {
        let ends: Vec<_> = (0..13).map(|second| (second, REFUSED)).collect();
        let delays = delays(&ends, 5);
        assert_eq!(delays.iter().filter(|delay| delay.is_some()).count(), 11);
        assert_eq!(delays.last(), Some(&None));
    }
}
