//! [`Bucket`]: how often something may be done, at once and for long.

use std::time::Instant;

/// Limit of how often something may be done.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rate {
    /// For long \[1/s\].
    pub per_second: f64,
    /// At once, after some time without.
    pub at_once: f64,
}

/// Token bucket: the number of times that something may still be done at once.
#[derive(Clone, Copy, Debug)]
pub struct Bucket {
    tokens: f64,
    at: Instant,
}

impl Bucket {
    /// Makes one that nothing was taken from.
    pub fn full(rate: Rate, now: Instant) -> Self {
        Self {
            tokens: rate.at_once,
            at: now,
        }
    }

    /// Tells whether as much may be done at once as ever.
    pub fn is_full(&self, rate: Rate, now: Instant) -> bool {
        self.level(rate, now) >= rate.at_once
    }

    /// Tells whether it may be done once more, and counts that.
    pub fn take(&mut self, rate: Rate, now: Instant) -> bool {
        self.tokens = self.level(rate, now);
        self.at = now;
        let is_enough = self.tokens >= 1.0;
        if is_enough {
            self.tokens -= 1.0;
        }
        is_enough
    }

    /// Takes several more, as far as there are any.
    pub fn charge(&mut self, count: f64) {
        self.tokens = (self.tokens - count).max(0.0);
    }

    fn level(&self, rate: Rate, now: Instant) -> f64 {
        let gained = now.saturating_duration_since(self.at).as_secs_f64() * rate.per_second;
        (self.tokens + gained).min(rate.at_once)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn the_allowance_refills_with_time() {
        let rate = Rate {
            per_second: 10.0,
            at_once: 20.0,
        };
        let start = Instant::now();
        let mut bucket = Bucket::full(rate, start);
        let mut taken = |now| (0..100).filter(|_| bucket.take(rate, now)).count();
        assert_eq!(taken(start), 20);
        assert_eq!(taken(start + Duration::from_secs(1)), 10);
        assert_eq!(taken(start + Duration::from_mins(1)), 20);
    }
}
