//! [`RateMeter`]: how often something is said, by the wall's clock and by the world's.

use std::time::Duration;

use protocol::{SimTime, counted};

/// Messages, counted over time.
#[derive(Debug, Default)]
pub(super) struct RateMeter {
    count: u64,
    first: Option<(Duration, SimTime)>,
    last: (Duration, SimTime),
}

impl RateMeter {
    /// Counts a message that came after `real` and was said at `sim`.
    pub(super) fn add(&mut self, real: Duration, sim: SimTime) {
        self.first.get_or_insert((real, sim));
        self.last = (real, sim);
        self.count += 1;
    }

    /// Returns how many messages came.
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// Returns one line for people.
    pub(super) fn describe(&self) -> String {
        let Some((real, sim)) = self.first else {
            return "no message yet\n".to_owned();
        };
        let rate = |seconds: f64| {
            if seconds > 0.0 {
                format!("{:.2} Hz", (self.count - 1) as f64 / seconds)
            } else {
                "-".to_owned()
            }
        };
        let real = rate(self.last.0.saturating_sub(real).as_secs_f64());
        let sim = rate(self.last.1.seconds() - sim.seconds());
        format!(
            "{sim} of simulated time, {real} of real time, {}\n",
            counted(self.count, "message")
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_intervals_over_time() {
        let mut meter = RateMeter::default();
        assert_eq!(meter.describe(), "no message yet\n");
        for index in 0..11 {
            meter.add(
                Duration::from_millis(index * 20),
                SimTime(index * 100_000_000),
            );
        }
        let expected = "10.00 Hz of simulated time, 50.00 Hz of real time, 11 messages\n";
        assert_eq!(meter.describe(), expected);
    }

    #[test]
    fn one_message_has_no_rate() {
        let mut meter = RateMeter::default();
        meter.add(Duration::from_secs(1), SimTime(5));
        assert!(
            meter
                .describe()
                .starts_with("- of simulated time, - of real")
        );
    }
}
