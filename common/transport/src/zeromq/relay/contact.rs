//! [`Contact`]: state of a relay's connection to its primary, and when it has something to do.

use std::time::{Duration, Instant};

/// Interval at which a primary is greeted until it answers.
const GREETING_INTERVAL: Duration = Duration::from_millis(50);

/// Interval at which a welcome relay says that it takes itself for one, also when nothing comes
/// from its secondaries.
const HERE_INTERVAL: Duration = Duration::from_millis(100);

/// Time for which the primary's last words may still be on their way when its connection closes:
/// they come by another one, and a busy machine may have others to serve between the two.
pub(super) const CLOSE_TIMEOUT: Duration = Duration::from_millis(500);

/// Number of times that a relay is as patient as the secondaries behind it, which know better.
const TIMEOUT_FACTOR: u32 = 2;

/// State of the connection to a primary.
#[derive(Debug, Default)]
pub(super) struct Contact {
    /// True while there is one.
    pub(super) is_connected: bool,
    /// Time of the last greeting.
    greeted_at: Option<Instant>,
    /// Time when the primary was heard last, once it has welcomed the relay.
    heard_at: Option<Instant>,
    /// Silence of the primary after which its secondaries give it up; zero for never.
    timeout: Duration,
    /// True once the primary has said on `step` that the run ends.
    has_last_words: bool,
    /// Time when the lower end closes, since the connection is lost.
    closes_at: Option<Instant>,
}

impl Contact {
    /// Takes in that the primary welcomed the relay.
    pub(super) fn on_welcome(&mut self, timeout: Duration, now: Instant) {
        self.timeout = timeout;
        self.heard_at = Some(now);
        self.greeted_at = Some(now);
    }

    /// Takes in that a connection was made.
    pub(super) fn on_connected(&mut self) {
        self.is_connected = true;
        self.greeted_at = None;
    }

    /// Takes in that the connection is lost.
    pub(super) fn on_lost(&mut self, now: Instant) {
        self.is_connected = false;
        let wait = if self.has_last_words || self.heard_at.is_none() {
            Duration::ZERO
        } else {
            CLOSE_TIMEOUT
        };
        self.closes_at.get_or_insert(now + wait);
    }

    /// Takes in that something of the primary came.
    pub(super) fn on_heard(&mut self, now: Instant) {
        if self.heard_at.is_some() {
            self.heard_at = Some(now);
        }
    }

    /// Takes in that the primary said that the run ends.
    pub(super) fn on_last_words(&mut self, now: Instant) {
        self.has_last_words = true;
        if self.closes_at.is_some() {
            self.closes_at = Some(now);
        }
    }

    /// Takes in that the lower end is closed.
    pub(super) fn on_closed(&mut self) {
        *self = Self {
            is_connected: self.is_connected,
            ..Self::default()
        };
    }

    /// Tells whether the connection is lost, and the lower end about to close.
    pub(super) fn is_closing(&self) -> bool {
        self.closes_at.is_some()
    }

    /// Tells whether the lower end is to be closed by now.
    pub(super) fn is_over(&self, now: Instant) -> bool {
        self.closes_at.is_some_and(|at| at <= now)
    }

    /// Returns how long the primary has been silent, if that is too long.
    pub(super) fn silence(&self, now: Instant) -> Option<Duration> {
        let is_silent = self.given_up_at().is_some_and(|at| at <= now);
        is_silent.then(|| now.saturating_duration_since(self.heard_at.unwrap_or(now)))
    }

    /// Tells whether it is time to greet the primary, and notes that this is done.
    pub(super) fn takes_greeting(&mut self, now: Instant) -> bool {
        let is_due = self.greets_at(now).is_some_and(|at| at <= now);
        if is_due {
            self.greeted_at = Some(now);
        }
        is_due
    }

    /// Returns when something is to be done by itself.
    pub(super) fn next_due(&self, now: Instant) -> Option<Instant> {
        let times = [self.closes_at, self.given_up_at(), self.greets_at(now)];
        times.into_iter().flatten().min()
    }

    fn greets_at(&self, now: Instant) -> Option<Instant> {
        let interval = if self.heard_at.is_some() {
            HERE_INTERVAL
        } else {
            GREETING_INTERVAL
        };
        let next = self.greeted_at.map_or(now, |at| at + interval);
        self.is_connected.then_some(next)
    }

    fn given_up_at(&self) -> Option<Instant> {
        let is_patient = self.timeout.is_zero();
        let heard_at = self.heard_at.filter(|_| !is_patient)?;
        heard_at.checked_add(self.timeout.saturating_mul(TIMEOUT_FACTOR))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMEOUT: Duration = Duration::from_secs(2);

    fn welcome(now: Instant) -> Contact {
        let mut contact = Contact::default();
        contact.on_connected();
        contact.on_welcome(TIMEOUT, now);
        contact
    }

    #[test]
    fn a_primary_is_given_up_after_twice_the_time_out_of_secondaries() {
        let start = Instant::now();
        let mut contact = welcome(start);
        assert_eq!(contact.silence(start + TIMEOUT), None);
        assert_eq!(contact.silence(start + 2 * TIMEOUT), Some(2 * TIMEOUT));
        contact.on_heard(start + TIMEOUT);
        assert_eq!(contact.silence(start + 2 * TIMEOUT), None);
        contact.on_closed();
        assert_eq!(contact.silence(start + 9 * TIMEOUT), None);
        contact.on_welcome(Duration::ZERO, start);
        assert_eq!(contact.silence(start + 9 * TIMEOUT), None);
    }

    #[test]
    fn last_words_are_waited_for_unless_they_were_said() {
        let start = Instant::now();
        let mut contact = welcome(start);
        contact.on_lost(start);
        assert!(contact.is_closing() && !contact.is_over(start));
        assert_eq!(contact.next_due(start), Some(start + CLOSE_TIMEOUT));
        assert!(contact.is_over(start + CLOSE_TIMEOUT));
        contact.on_last_words(start);
        assert!(contact.is_over(start));
        let mut contact = welcome(start);
        contact.on_last_words(start);
        assert!(!contact.is_closing());
        contact.on_lost(start);
        assert!(contact.is_over(start));
    }

    #[test]
    fn a_primary_is_greeted_often_until_it_answers_and_seldom_from_then_on() {
        let start = Instant::now();
        let mut contact = Contact::default();
        assert!(!contact.takes_greeting(start) && contact.next_due(start).is_none());
        contact.on_connected();
        assert!(contact.takes_greeting(start) && !contact.takes_greeting(start));
        assert_eq!(contact.next_due(start), Some(start + GREETING_INTERVAL));
        contact.on_welcome(Duration::ZERO, start);
        assert_eq!(contact.next_due(start), Some(start + HERE_INTERVAL));
        assert!(contact.takes_greeting(start + HERE_INTERVAL));
    }
}
