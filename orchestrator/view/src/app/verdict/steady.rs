//! [`SteadyVerdict`]: a verdict that does not flicker.
//!
//! If two things take about as much time, the larger one alternates: the verdict moves to another
//! one only after it was the larger for a while. The figures in the verdict are always the newest.

use std::time::Duration;

use protocol::SessionTime;

use super::{Culprit, Verdict};

/// For how long another one must be to blame until it is told.
const TIMEOUT: Duration = Duration::from_secs(3);

/// The verdict that is told.
#[derive(Clone, Debug, Default)]
pub struct SteadyVerdict {
    told: Option<Verdict>,
    other_since: Option<SessionTime>,
}

impl SteadyVerdict {
    /// Returns what is told, if anything was judged.
    pub fn told(&self) -> Option<&Verdict> {
        self.told.as_ref()
    }

    /// Takes a new judgement.
    pub fn note(&mut self, verdict: Verdict, now: SessionTime) {
        let is_told = self.told.as_ref().is_none_or(|told| {
            told.culprit == verdict.culprit || is_plain(&told.culprit) || is_plain(&verdict.culprit)
        });
        let since = *self.other_since.get_or_insert(now);
        if is_told || now.since(since) >= TIMEOUT {
            self.told = Some(verdict);
            self.other_since = None;
        }
    }
}

/// Tells whether something is known for certain: that time is paused, that no step ends, or that
/// a relay is silent.
fn is_plain(culprit: &Culprit) -> bool {
    matches!(culprit, Culprit::Nothing | Culprit::Relay(_))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(milliseconds: u64) -> SessionTime {
        SessionTime(milliseconds * 1_000_000)
    }

    fn about(culprit: Culprit, headline: &str) -> Verdict {
        Verdict::plain(culprit, headline.to_owned())
    }

    fn headline(steady: &SteadyVerdict) -> &str {
        &steady.told().unwrap().headline
    }

    #[test]
    fn another_one_is_blamed_only_after_a_while() {
        let mut steady = SteadyVerdict::default();
        steady.note(about(Culprit::Spread, "spread"), at(0));
        steady.note(about(Culprit::Part(4), "the network"), at(100));
        assert_eq!(headline(&steady), "spread");
        steady.note(about(Culprit::Spread, "still spread"), at(2_000));
        assert_eq!(headline(&steady), "still spread");
        steady.note(about(Culprit::Part(4), "the network"), at(3_500));
        steady.note(about(Culprit::Part(4), "the network"), at(6_400));
        assert_eq!(headline(&steady), "still spread");
        steady.note(about(Culprit::Part(4), "the network"), at(6_500));
        assert_eq!(headline(&steady), "the network");
    }

    #[test]
    fn a_pause_and_its_end_are_told_at_once() {
        let mut steady = SteadyVerdict::default();
        steady.note(about(Culprit::Pace, "the pace"), at(0));
        steady.note(about(Culprit::Nothing, "paused"), at(100));
        assert_eq!(headline(&steady), "paused");
        steady.note(about(Culprit::Spread, "spread"), at(200));
        assert_eq!(headline(&steady), "spread");
    }
}
