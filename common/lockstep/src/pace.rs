//! [`Pace`]: the times at which iterations are due, so that simulated time keeps to the real-time
//! factor asked for.

use std::time::Duration;

use protocol::SessionTime;

/// Lag behind the pace that a run may still catch up; beyond it, the lost time is forgiven.
const CATCH_UP_MAX: Duration = Duration::from_millis(50);

/// The pace of a run.
#[derive(Clone, Debug)]
pub struct Pace {
    period: Duration,
    due: SessionTime,
}

impl Pace {
    /// Makes the pace for steps of `step_size`; a `real_time_factor` of 0 is as fast as possible.
    pub fn new(step_size: Duration, real_time_factor: f64) -> Self {
        let period = if real_time_factor > 0.0 {
            Duration::try_from_secs_f64(step_size.as_secs_f64() / real_time_factor)
                .unwrap_or(Duration::MAX)
        } else {
            Duration::ZERO
        };
        Self {
            period,
            due: SessionTime::default(),
        }
    }

    /// Starts anew: the next iteration is due now.
    pub fn restart(&mut self, now: SessionTime) {
        self.due = now;
    }

    /// Notes that an iteration begins.
    pub fn begin(&mut self, now: SessionTime) {
        let earliest = now - CATCH_UP_MAX;
        self.due = (self.due + self.period).max(earliest + self.period.min(CATCH_UP_MAX));
    }

    /// Returns the time from one iteration to the next; 0 is as fast as possible.
    pub fn period(&self) -> Duration {
        self.period
    }

    /// Tells whether the next iteration is due already, so that nothing but time is wanting.
    pub fn is_late(&self, now: SessionTime) -> bool {
        self.due <= now
    }

    /// Returns when the next iteration is due.
    pub fn due(&self) -> SessionTime {
        self.due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn pace(real_time_factor: f64) -> Pace {
        let mut pace = Pace::new(Duration::from_millis(1), real_time_factor);
        pace.restart(SessionTime(1000 * MS));
        pace
    }

    #[test]
    fn iterations_keep_their_distance_on_average() {
        let mut pace = pace(1.0);
        pace.begin(SessionTime(1000 * MS));
        assert_eq!(pace.due(), SessionTime(1001 * MS));
        pace.begin(SessionTime(1003 * MS));
        assert_eq!(pace.due(), SessionTime(1002 * MS));
    }

    #[test]
    fn a_factor_of_a_half_takes_twice_as_long() {
        let mut pace = pace(0.5);
        pace.begin(SessionTime(1000 * MS));
        assert_eq!(pace.due(), SessionTime(1002 * MS));
    }

    #[test]
    fn zero_is_as_fast_as_possible() {
        let mut pace = pace(0.0);
        pace.begin(SessionTime(1000 * MS));
        assert!(pace.due() <= SessionTime(1000 * MS));
    }

    #[test]
    fn a_long_stall_is_forgiven() {
        let mut pace = pace(1.0);
        pace.begin(SessionTime(9000 * MS));
        assert_eq!(pace.due(), SessionTime(8951 * MS));
    }
}
