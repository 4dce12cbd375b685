//! [`PeerClock`]: how far a process's clock is from the primary's, by the steps that it answers.
//!
//! A step arrives after it was published, and its answer after its work was done; so every step
//! bounds the difference from both sides. It is like a heartbeat's echo, on the path that counts
//! and once per step. The closest bounds count, less so with their age: clocks drift.

/// By how much two clocks may part \[s/s\], as a fraction of a million.
const DRIFT_PER_MILLION: u64 = 100;

/// Error of the clock offset between two processes that share a clock \[ns\].
const SHARED_ERROR_NS: u64 = 1_000;

/// The difference of two clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Offset {
    /// The primary's clock minus the other \[ns\].
    pub(super) offset_ns: i64,
    /// By how much that may be wrong \[ns\].
    pub(super) error_ns: u64,
}

/// The moments of a step, each by the clock of who saw it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Exchange {
    /// Time when the primary published it \[ns\].
    pub(super) published: u64,
    /// Time when it arrived \[ns\].
    pub(super) received: u64,
    /// Time when its work was done \[ns\].
    pub(super) done: u64,
    /// Time when the answer arrived at the primary \[ns\].
    pub(super) answered: u64,
}

/// The clock of a process.
#[derive(Debug)]
pub(super) enum PeerClock {
    /// It is the primary's.
    Shared,
    /// It is another one.
    Other(Option<Sample>),
}

/// A difference that was measured, and when.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    offset: Offset,
    at_ns: u64,
}

impl PeerClock {
    /// Takes a step into account and returns the difference that is known then; `None` when the
    /// moments cannot be.
    pub(super) fn note(&mut self, exchange: Exchange) -> Option<Offset> {
        let Self::Other(best) = self else {
            return Some(Offset {
                offset_ns: 0,
                error_ns: SHARED_ERROR_NS,
            });
        };
        let now = exchange.answered;
        let known = best.map(|sample| sample.aged(now));
        if let Some(offset) = exchange.offset()
            && known.is_none_or(|known| offset.error_ns <= known.error_ns)
        {
            *best = Some(Sample { offset, at_ns: now });
            return Some(offset);
        }
        known
    }
}

impl Exchange {
    /// Returns the difference by this step alone.
    fn offset(&self) -> Option<Offset> {
        let difference = |ours: u64, theirs: u64| i128::from(ours) - i128::from(theirs);
        let least = difference(self.published, self.received);
        let most = difference(self.answered, self.done);
        let error_ns = u64::try_from(most - least).ok()?.div_ceil(2);
        let offset_ns = i64::try_from(i128::midpoint(least, most)).ok()?;
        Some(Offset {
            offset_ns,
            error_ns,
        })
    }
}

impl Sample {
    fn aged(&self, now_ns: u64) -> Offset {
        let age = now_ns.saturating_sub(self.at_ns);
        let drift = age.div_ceil(1_000_000).saturating_mul(DRIFT_PER_MILLION);
        Offset {
            error_ns: self.offset.error_ns.saturating_add(drift),
            ..self.offset
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a step whose ways took so long, seen by a clock that is behind by this much.
    fn exchange(at_ns: u64, behind_ns: i64, ways_ns: [u64; 2]) -> Exchange {
        let theirs = |ours: u64| ours.checked_add_signed(-behind_ns).unwrap();
        Exchange {
            published: at_ns,
            received: theirs(at_ns + ways_ns[0]),
            done: theirs(at_ns + ways_ns[0] + 500),
            answered: at_ns + ways_ns[0] + 500 + ways_ns[1],
        }
    }

    #[track_caller]
    fn check(clock: &mut PeerClock, exchange: Exchange, behind_ns: i64) -> Offset {
        let offset = clock.note(exchange).unwrap();
        let wrong = offset.offset_ns.abs_diff(behind_ns);
        assert!(wrong <= offset.error_ns, "{offset:?} of {behind_ns}");
        offset
    }

    #[test]
    fn the_difference_is_known_to_within_what_is_said() {
        for behind in [0, 7_000_000_000, -3_000] {
            let mut clock = PeerClock::Other(None);
            for (step, ways) in [[900, 100], [40, 60], [10, 3_000]].into_iter().enumerate() {
                let at = 1_000_000_000_000 + step as u64 * 1_000_000;
                check(&mut clock, exchange(at, behind, ways), behind);
            }
        }
    }

    #[test]
    fn a_slow_step_does_not_replace_a_quick_one_until_clocks_may_have_drifted() {
        let mut clock = PeerClock::Other(None);
        let quick = check(&mut clock, exchange(1_000_000, 9, [50, 50]), 9);
        let soon = check(&mut clock, exchange(2_000_000, 9, [5_000, 5_000]), 9);
        assert_eq!((quick.error_ns, soon.error_ns), (50, 250));
        let later = check(&mut clock, exchange(2_000_000_000, 9, [5_000, 5_000]), 9);
        assert_eq!(later.error_ns, 5_000);
    }

    #[test]
    fn moments_that_cannot_be_tell_nothing() {
        let mut clock = PeerClock::Other(None);
        let impossible = Exchange {
            published: 1_000,
            received: 0,
            done: u64::MAX,
            answered: 2_000,
        };
        assert_eq!(clock.note(impossible), None);
    }
}
