//! [`Rate`]: leaves out messages beyond a number per second of simulated time.

use serde::{Deserialize, Serialize};

use crate::SimTime;

/// Limit of a topic's messages. Its times are those of the simulation, so that every host and every
/// repetition leaves out the same ones.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rate {
    /// `None` admits all \[Hz\].
    max_hz: Option<f64>,
    last: Option<SimTime>,
}

impl Rate {
    /// Makes a limit that has admitted nothing yet.
    pub const fn new(max_hz: Option<f64>) -> Self {
        Self { max_hz, last: None }
    }

    /// Makes a limit that admitted a message of this time last, if any.
    pub const fn after(max_hz: Option<f64>, last: Option<SimTime>) -> Self {
        Self { max_hz, last }
    }

    /// Tells whether a message of a simulated time is within the limit: the first one in each
    /// period, counted from 0. A time before that of the last one begins anew.
    pub fn admits(&mut self, now: SimTime) -> bool {
        let Some(max_hz) = self.max_hz else {
            return true;
        };
        // Rounding must not move the beginning of a period behind a time that is meant to be it.
        let period = |time: SimTime| ((time.0 as f64 + 0.5) * 1e-9 * max_hz).floor();
        let is_next = self
            .last
            .is_none_or(|last| now < last || period(now) > period(last));
        if is_next {
            self.last = Some(now);
        }
        is_next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admitted(max_hz: Option<f64>, times_ms: &[u64]) -> Vec<u64> {
        let mut rate = Rate::new(max_hz);
        let times = times_ms.iter().copied();
        times
            .filter(|ms| rate.admits(SimTime(ms * 1_000_000)))
            .collect()
    }

    #[test]
    fn the_first_message_of_each_period_is_admitted() {
        let all: Vec<u64> = (0..=300).collect();
        assert_eq!(admitted(Some(10.0), &all), [0, 100, 200, 300]);
        assert_eq!(admitted(Some(10.0), &[5, 99, 101, 350, 351]), [5, 101, 350]);
        assert_eq!(admitted(None, &[1, 1, 2]), [1, 1, 2]);
    }

    #[test]
    fn a_clock_that_is_set_back_begins_anew() {
        assert_eq!(
            admitted(Some(1.0), &[5000, 5001, 0, 1, 1000]),
            [5000, 0, 1000]
        );
    }

    #[test]
    fn a_host_that_knows_the_last_one_goes_on_with_the_period() {
        let mut rate = Rate::after(Some(10.0), Some(SimTime(105_000_000)));
        assert!(!rate.admits(SimTime(199_000_000)));
        assert!(rate.admits(SimTime(200_000_000)));
    }
}
