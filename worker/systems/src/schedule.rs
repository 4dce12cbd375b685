//! [`Schedule`]: when something that has a frequency is due.
//!
//! It goes by the time that has passed, in whole multiples of its period, so that it neither drifts
//! nor has anything to remember.

use super::{Configuration, ConfigureError, StepTime};

/// Schedule of periodic work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Schedule {
    /// \[ns\]; 0 for each step.
    period_ns: u64,
}

impl Schedule {
    /// Reads a frequency \[Hz\]; none above 0 means each step.
    pub(super) fn read(
        configuration: &Configuration<'_>,
        name: &str,
        default: f64,
    ) -> Result<Self, ConfigureError> {
        configuration.number(name, default).map(Self::of_frequency)
    }

    /// Makes the schedule of a frequency \[Hz\]; none above 0 means each step.
    pub(super) fn of_frequency(frequency: f64) -> Self {
        let period_ns = if frequency > 0.0 {
            (1e9 / frequency).round() as u64
        } else {
            0
        };
        Self { period_ns }
    }

    /// Tells whether it is due at the end of a step.
    pub(super) fn is_due(self, time: &StepTime) -> bool {
        let end = time.elapsed.0;
        let begin = end.saturating_sub((time.step_size_s * 1e9).round() as u64);
        match end.checked_div(self.period_ns) {
            Some(count) => count > begin / self.period_ns,
            None => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use protocol::SimTime;

    use super::*;

    fn count(frequency: f64, steps: u64) -> usize {
        let schedule = Schedule::of_frequency(frequency);
        let time = |step: u64| StepTime {
            elapsed: SimTime((step + 1) * 1_000_000),
            step_size_s: 0.001,
            ..StepTime::default()
        };
        (0..steps)
            .filter(|step| schedule.is_due(&time(*step)))
            .count()
    }

    #[test]
    fn it_is_due_as_often_as_its_frequency_says() {
        assert_eq!(count(50.0, 1000), 50);
        assert_eq!(count(30.0, 100_000), 3000);
        assert_eq!(count(999.0, 1000), 999);
        assert_eq!(count(-1.0, 1000), 1000);
        assert_eq!(count(5000.0, 1000), 1000);
        assert_eq!(count(1e-300, 1000), 0);
    }
}
