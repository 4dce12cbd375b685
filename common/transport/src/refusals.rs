//! [`Refusals`]: messages and connections that a primary's end refused, counted, and reported once
//! per second at most.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use protocol::report::RefusedCounts;

/// Time between two reports.
const TELLING_INTERVAL: Duration = Duration::from_secs(1);

/// Number of kinds of refusal that are told apart between two reports.
const KINDS_MAX: usize = 256;

/// Number of kinds of refusal that are named in one report.
const NAMED_MAX: usize = 4;

/// Messages and connections that were refused since the last report.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Refusals {
    /// Numbers of them, by reason.
    pub counts: RefusedCounts,
    /// Senders and reasons, for people.
    pub details: String,
}

/// Counter of refusals, filled by several threads; clones are the same one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally(Arc<Mutex<Noted>>);

#[derive(Debug, Default)]
struct Noted {
    counts: RefusedCounts,
    /// Number of times that each kind of refusal was noted.
    kinds: BTreeMap<String, u64>,
    told_at: Option<Instant>,
}

/// Reason why something was turned away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reason {
    Unauthenticated,
    Forbidden,
    Excess,
    Malformed,
}

impl Tally {
    /// Notes a refusal; the text says who and why, and is one of few.
    pub(crate) fn note(&self, reason: Reason, text: impl FnOnce() -> String) {
        let mut noted = self.noted();
        *match reason {
            Reason::Unauthenticated => &mut noted.counts.unauthenticated,
            Reason::Forbidden => &mut noted.counts.forbidden,
            Reason::Excess => &mut noted.counts.excess,
            Reason::Malformed => &mut noted.counts.malformed,
        } += 1;
        let text = text();
        if noted.kinds.len() < KINDS_MAX || noted.kinds.contains_key(&text) {
            *noted.kinds.entry(text).or_default() += 1;
        }
    }

    /// Returns what was noted since the last time, if there is anything and it is time to tell.
    pub(crate) fn take(&self, now: Instant, is_last: bool) -> Option<Refusals> {
        let mut noted = self.noted();
        let is_early = |at: Instant| now.saturating_duration_since(at) < TELLING_INTERVAL;
        if noted.counts.total() == 0 || (!is_last && noted.told_at.is_some_and(is_early)) {
            return None;
        }
        noted.told_at = Some(now);
        let counts = std::mem::take(&mut noted.counts);
        let details = details(std::mem::take(&mut noted.kinds));
        Some(Refusals { counts, details })
    }

    fn noted(&self) -> MutexGuard<'_, Noted> {
        self.0
            .lock()
            .expect("nobody panics while holding what is noted")
    }
}

/// Names the most frequent kinds.
fn details(kinds: BTreeMap<String, u64>) -> String {
    let mut kinds: Vec<(String, u64)> = kinds.into_iter().collect();
    kinds.sort_by(|(text, count), (other, more)| more.cmp(count).then(text.cmp(other)));
    let mut named = String::new();
    for (text, count) in kinds.iter().take(NAMED_MAX) {
        let separator = if named.is_empty() { "" } else { "; " };
        let _ = write!(named, "{separator}{text}");
        if *count > 1 {
            let _ = write!(named, " ({count} times)");
        }
    }
    if kinds.len() > NAMED_MAX {
        let _ = write!(named, "; and {} others", kinds.len() - NAMED_MAX);
    }
    named
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_are_reported_once_per_second_by_frequency() {
        let tally = Tally::default();
        let start = Instant::now();
        assert_eq!(tally.take(start, false), None);
        tally.note(Reason::Excess, || "b".to_owned());
        assert_eq!(tally.take(start, false).unwrap().details, "b");
        for text in ["a", "c", "c"] {
            tally.note(Reason::Unauthenticated, || text.to_owned());
        }
        let soon = start + TELLING_INTERVAL / 2;
        assert_eq!(tally.take(soon, false), None, "it is early");
        let refusals = tally.take(start + TELLING_INTERVAL, false).unwrap();
        assert_eq!(refusals.details, "c (2 times); a");
        assert_eq!(refusals.counts.unauthenticated, 3);
    }

    #[test]
    fn the_end_hears_the_rest() {
        let tally = Tally::default();
        let now = Instant::now();
        for _ in 0..2 {
            tally.note(Reason::Forbidden, String::new);
            assert!(tally.take(now, true).is_some());
        }
    }

    #[test]
    fn a_flood_of_different_refusals_is_counted_and_takes_no_more_room() {
        let tally = Tally::default();
        for number in 0..10 * KINDS_MAX {
            tally.note(Reason::Malformed, || number.to_string());
        }
        assert_eq!(tally.noted().kinds.len(), KINDS_MAX);
        let refusals = tally.take(Instant::now(), false).unwrap();
        assert_eq!(refusals.counts.malformed, 10 * KINDS_MAX as u64);
        assert!(refusals.details.len() < 100, "{}", refusals.details);
    }
}
