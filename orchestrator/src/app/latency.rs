//! [`LatencyHistory`]: recent figures of the time that steps take.

use std::collections::VecDeque;

use protocol::report::Stats;

/// The largest number of samples that are kept; ten minutes at one per second.
pub const SAMPLES_MAX: usize = 600;

/// The largest number of bars in a histogram.
pub const BARS_MAX: usize = 12;

/// One sample of the run's figures; times in \[us\].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// Median of a step, over the run until then.
    pub step_p50: f64,
    /// 99th percentile of a step, over the run until then.
    pub step_p99: f64,
    /// Real time per iteration, over the second before.
    pub period: f64,
}

/// Recent samples, oldest first.
#[derive(Clone, Debug, Default)]
pub struct LatencyHistory {
    samples: VecDeque<Sample>,
    iteration: u64,
}

/// One bar of a histogram.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bar {
    /// Least value that counts here \[us\].
    pub from: f64,
    /// How many samples.
    pub count: usize,
}

impl LatencyHistory {
    /// Takes a sample, unless time stood still since the last one.
    pub fn record(&mut self, stats: &Stats) {
        let advanced = stats.iteration != std::mem::replace(&mut self.iteration, stats.iteration);
        if !advanced || stats.steps_per_s.is_nan() || stats.steps_per_s <= 0.0 {
            return;
        }
        if self.samples.len() == SAMPLES_MAX {
            self.samples.pop_front();
        }
        self.samples.push_back(Sample {
            step_p50: stats.step_us.p50,
            step_p99: stats.step_us.p99,
            period: 1e6 / stats.steps_per_s,
        });
    }

    /// Returns the samples, oldest first.
    pub fn samples(&self) -> impl ExactSizeIterator<Item = &Sample> {
        self.samples.iter()
    }

    /// Returns how often iterations took how long \[us per iteration\], in bars of equal width
    /// from the shortest to the longest.
    pub fn histogram(&self, bars: usize) -> Vec<Bar> {
        let bars = bars.min(BARS_MAX);
        let periods = || self.samples.iter().map(|sample| sample.period);
        let least = periods().fold(f64::INFINITY, f64::min);
        let most = periods().fold(f64::NEG_INFINITY, f64::max);
        if bars == 0 || !least.is_finite() || !most.is_finite() {
            return Vec::new();
        }
        let width = ((most - least) / bars as f64).max(1.0);
        let mut histogram: Vec<Bar> = (0..bars)
            .map(|index| Bar {
                from: least + width * index as f64,
                count: 0,
            })
            .collect();
        for period in periods() {
            let index = ((period - least) / width) as usize;
            histogram[index.min(bars - 1)].count += 1;
        }
        while histogram.len() > 1 && histogram.last().is_some_and(|bar| bar.count == 0) {
            histogram.pop();
        }
        histogram
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::fixture;

    fn history(rates: &[f64]) -> LatencyHistory {
        let mut history = LatencyHistory::default();
        for (index, rate) in rates.iter().enumerate() {
            let stats = Stats {
                iteration: index as u64 + 1,
                steps_per_s: *rate,
                ..fixture::stats()
            };
            history.record(&stats);
        }
        history
    }

    #[test]
    fn samples_while_time_stands_still_are_not_taken() {
        let mut history = history(&[1000.0]);
        history.record(&Stats {
            iteration: 1,
            ..fixture::stats()
        });
        assert_eq!(history.samples().len(), 1);
    }

    #[test]
    fn every_sample_is_in_one_bar() {
        let histogram = history(&[1000.0, 1000.0, 500.0, 250.0]).histogram(3);
        let counts: Vec<usize> = histogram.iter().map(|bar| bar.count).collect();
        assert_eq!(counts, [2, 1, 1]);
        assert_eq!(histogram[0].from, 1000.0);
    }

    #[test]
    fn no_samples_make_no_bars() {
        assert_eq!(history(&[]).histogram(5), []);
    }
}
