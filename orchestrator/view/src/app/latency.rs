//! [`LatencyHistory`]: where the time of iterations went in the last minutes, second by second.

use std::collections::VecDeque;

use protocol::SessionTime;
use protocol::report::{HistorySample, Percentiles, SAMPLES_MAX, Split, Stats};

/// Time between two samples of the view's own \[s\].
const INTERVAL_S: f64 = 1.0;
/// Tolerance for samples that come before the interval is over \[s\]; statistics come ten times a
/// second.
const SLACK_S: f64 = 0.05;

/// The figures of one second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// Time when it ended, since the view began; negative before that \[s\].
    pub at_s: f64,
    /// Time of its steps \[us\].
    pub step_us: Percentiles,
    /// Shares of the time of its iterations.
    pub split: Split,
    /// Simulated over real time.
    pub real_time_factor: f64,
}

/// Samples of the last minutes, oldest first.
#[derive(Clone, Debug, Default)]
pub struct LatencyHistory {
    samples: VecDeque<Sample>,
    iteration: u64,
}

impl LatencyHistory {
    /// Takes a sample when one is due, unless time stood still since the last one.
    pub fn record(&mut self, stats: &Stats, now: SessionTime) {
        let at_s = seconds(now);
        let is_due = self
            .samples
            .back()
            .is_none_or(|last| at_s - last.at_s >= INTERVAL_S - SLACK_S);
        if !is_due || stats.iteration == self.iteration {
            return;
        }
        self.iteration = stats.iteration;
        if stats.split.period_us() > 0.0 {
            self.push(Sample {
                at_s,
                step_us: stats.recent_step_us,
                split: stats.split,
                real_time_factor: stats.real_time_factor,
            });
        }
    }

    /// Puts what the run remembers in the place of what was recorded until then.
    pub fn recall(&mut self, past: &[HistorySample], now: SessionTime) {
        let own = std::mem::take(&mut self.samples);
        let past = &past[past.len().saturating_sub(SAMPLES_MAX)..];
        let mut last_s = f64::NEG_INFINITY;
        for sample in past {
            let at_s = seconds(now) - sample.age_s;
            if at_s.is_finite() && at_s > last_s {
                last_s = at_s;
                self.push(Sample {
                    at_s,
                    step_us: sample.step_us,
                    split: sample.split,
                    real_time_factor: sample.real_time_factor,
                });
            }
        }
        for sample in own.into_iter().filter(|own| own.at_s > last_s + SLACK_S) {
            self.push(sample);
        }
    }

    /// Returns the samples, oldest first.
    pub fn samples(&self) -> impl ExactSizeIterator<Item = &Sample> + DoubleEndedIterator {
        self.samples.iter()
    }

    fn push(&mut self, sample: Sample) {
        if self.samples.len() == SAMPLES_MAX {
            self.samples.pop_front();
        }
        self.samples.push_back(sample);
    }
}

fn seconds(time: SessionTime) -> f64 {
    time.0 as f64 / 1e9
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::fixture;

    const SECOND: u64 = 1_000_000_000;

    fn record(history: &mut LatencyHistory, iteration: u64, at_ms: u64) {
        let stats = Stats {
            iteration,
            ..fixture::stats()
        };
        history.record(&stats, SessionTime(at_ms * 1_000_000));
    }

    fn past(ages_s: &[f64]) -> Vec<HistorySample> {
        let one = |age_s: &f64| HistorySample {
            age_s: *age_s,
            ..HistorySample::default()
        };
        ages_s.iter().map(one).collect()
    }

    fn times(history: &LatencyHistory) -> Vec<f64> {
        history.samples().map(|sample| sample.at_s).collect()
    }

    #[test]
    fn there_is_a_sample_per_second_and_none_while_time_stands_still() {
        let mut history = LatencyHistory::default();
        for tenth in 0..30 {
            record(&mut history, tenth + 1, tenth * 100);
        }
        record(&mut history, 21, 9_000);
        assert_eq!(times(&history), [0.0, 1.0, 2.0]);
    }

    #[test]
    fn the_past_of_a_run_comes_before_what_the_view_saw() {
        let mut history = LatencyHistory::default();
        record(&mut history, 1, 4_000);
        record(&mut history, 2, 6_000);
        history.recall(&past(&[8.0, 1.0]), SessionTime(5 * SECOND));
        assert_eq!(times(&history), [-3.0, 4.0, 6.0]);
    }

    #[test]
    fn a_past_without_order_or_end_is_bounded() {
        let mut history = LatencyHistory::default();
        history.recall(&past(&[f64::NAN, 3.0, 5.0, f64::INFINITY]), SessionTime(0));
        assert_eq!(times(&history), [-3.0]);
        let many: Vec<f64> = (0..5_000).rev().map(f64::from).collect();
        history.recall(&past(&many), SessionTime(0));
        assert_eq!(history.samples().len(), SAMPLES_MAX);
    }
}
