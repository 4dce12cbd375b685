//! [`Schedule`]: when a sensor measures.

use crate::StepTime;

/// Distance from a whole number of measurements at which a step still counts as one, for rates such
/// as 0.1 Hz that have no exact number.
const TOLERANCE: f64 = 1e-9;

/// The highest rate \[Hz\]: a measurement per nanosecond.
const RATE_MAX: f64 = 1e9;

/// Schedule of a sensor: it measures in the first step, then at the multiples of its period, or at
/// the end of the first step after one. It has no state, and so never drifts.
pub(super) struct Schedule {
    /// Measurements per simulated second \[Hz\]; 0 is every step.
    rate: f64,
}

impl Schedule {
    /// Makes a schedule of a rate \[Hz\]; 0 is every step.
    pub(super) fn new(rate: f64) -> Self {
        Self {
            rate: if rate > 0.0 { rate.min(RATE_MAX) } else { 0.0 },
        }
    }

    /// Tells whether a step ends with a measurement.
    pub(super) fn is_due(&self, time: &StepTime) -> bool {
        let end = time.elapsed.0;
        let begin = end.saturating_sub((time.step_size_s * 1e9).round() as u64);
        self.rate == 0.0 || begin == 0 || self.periods(end) > self.periods(begin)
    }

    /// Returns how many periods have passed at a time \[ns\].
    fn periods(&self, time_ns: u64) -> f64 {
        (time_ns as f64 * self.rate / 1e9 + TOLERANCE).floor()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the steps, from 1, that measure within a second of steps of 1 ms.
    fn due(rate: f64, first: u64) -> Vec<u64> {
        let schedule = Schedule::new(rate);
        let steps = first..first + 1000;
        let is_due = |step: &u64| {
            schedule.is_due(&StepTime {
                elapsed: protocol::SimTime(step * 1_000_000),
                step_size_s: 0.001,
                ..StepTime::default()
            })
        };
        steps.filter(is_due).collect()
    }

    #[test]
    fn a_rate_measures_in_the_first_step_and_at_the_multiples_of_its_period() {
        let expected: Vec<u64> = [1].into_iter().chain((1..=10).map(|n| n * 100)).collect();
        assert_eq!(due(10.0, 1), expected);
        assert_eq!(due(0.1, 10_000), [10_000]);
        assert_eq!(due(0.0, 1).len(), 1000);
        assert_eq!(due(f64::MAX, 1).len(), 1000);
        assert_eq!(due(f64::INFINITY, 1).len(), 1000);
    }

    #[test]
    fn a_rate_that_is_no_divisor_of_the_step_keeps_its_count_forever() {
        for first in [2, 86_400_000_001, 1_000_000_000_001] {
            for rate in [3.0, 7.0, 30.0, 60.0, 333.0, 999.0] {
                let count = due(rate, first).len() as f64;
                assert!(
                    (count - rate).abs() <= 1.0,
                    "{count} in a second at {rate} Hz"
                );
            }
        }
    }
}
