//! [`WholeRun`]: how long the steps of the whole run took.
//!
//! Percentiles are a walk over all that was counted, so while steps go on they are made once a
//! second at most.

use std::time::Duration;

use hdrhistogram::Histogram;
use protocol::SessionTime;
use protocol::report::{Percentiles, StepHistogram};

/// The longest time that is told apart \[ns\]: an hour.
const LONGEST_NS: u64 = 3_600_000_000_000;
/// Largest age of percentiles while steps go on.
const AGE_MAX: Duration = Duration::from_secs(1);

/// Counts the steps of a run by how long they took.
pub(super) struct WholeRun {
    step: Histogram<u64>,
    physics: Histogram<u64>,
    overhead: Histogram<u64>,
    work: Duration,
    /// Number of steps per bar of [`StepHistogram`], by the time that they took.
    bars: [u64; StepHistogram::BARS],
    told: Option<CachedPercentiles>,
}

/// Percentiles that were made before.
struct CachedPercentiles {
    at: SessionTime,
    steps: u64,
    percentiles: [Percentiles; 3],
}

impl WholeRun {
    /// Begins without a step.
    ///
    /// # Panics
    /// Never: the bounds of the histograms are valid.
    pub(super) fn new() -> Self {
        let histogram = || {
            Histogram::new_with_bounds(1, LONGEST_NS, 3).expect("1 ns to an hour is a valid range")
        };
        Self {
            step: histogram(),
            physics: histogram(),
            overhead: histogram(),
            work: Duration::ZERO,
            bars: [0; StepHistogram::BARS],
            told: None,
        }
    }

    /// Takes a step, the longest physics in it, and the work of all secondaries.
    pub(super) fn on_step(&mut self, step: Duration, physics: Duration, work: Duration) {
        self.work += work;
        let step_ns = step.as_nanos() as u64;
        self.step.saturating_record(step_ns);
        self.bars[StepHistogram::bar_of(step_ns)] += 1;
        self.physics.saturating_record(physics.as_nanos() as u64);
        let overhead = step.saturating_sub(physics);
        self.overhead.saturating_record(overhead.as_nanos() as u64);
    }

    /// Returns the work of all secondaries in a step, on average \[us\].
    pub(super) fn work_us(&self) -> f64 {
        self.work.as_secs_f64() * 1e6 / self.step.len().max(1) as f64
    }

    /// Returns how many steps took how long.
    pub(super) fn steps(&self) -> StepHistogram {
        StepHistogram::of_bars(&self.bars)
    }

    /// Returns percentiles of steps, physics and overhead, in this order.
    pub(super) fn percentiles(&self) -> [Percentiles; 3] {
        [&self.step, &self.physics, &self.overhead].map(percentiles_of)
    }

    /// Returns the same; while `running`, without the steps of the last second.
    pub(super) fn told(&mut self, running: bool, now: SessionTime) -> [Percentiles; 3] {
        let steps = self.step.len();
        let is_fresh = |told: &&CachedPercentiles| {
            told.steps == steps || running && told.steps > 0 && now.since(told.at) < AGE_MAX
        };
        if let Some(told) = self.told.as_ref().filter(is_fresh) {
            return told.percentiles;
        }
        let percentiles = self.percentiles();
        self.told = Some(CachedPercentiles {
            at: now,
            steps,
            percentiles,
        });
        percentiles
    }
}

/// Returns the percentiles of a histogram of nanoseconds in one walk over it.
fn percentiles_of(histogram: &Histogram<u64>) -> Percentiles {
    let count = histogram.len() as f64;
    let ranks = [0.5, 0.9, 0.99].map(|quantile: f64| (quantile * count).ceil().max(1.0) as u64);
    let micros = |time_ns: u64| time_ns as f64 / 1e3;
    let mut found = [0.0; 3];
    let (mut known, mut passed) = (0, 0);
    for bar in histogram.iter_recorded() {
        passed += bar.count_since_last_iteration();
        while known < ranks.len() && passed >= ranks[known] {
            found[known] = micros(bar.value_iterated_to());
            known += 1;
        }
        if known == ranks.len() {
            break;
        }
    }
    let [p50, p90, p99] = found;
    let max = micros(histogram.max());
    Percentiles { p50, p90, p99, max }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn check(times_ns: impl IntoIterator<Item = u64>) {
        let mut run = WholeRun::new();
        for time_ns in times_ns {
            run.on_step(
                Duration::from_nanos(time_ns),
                Duration::ZERO,
                Duration::ZERO,
            );
        }
        let at = |quantile| run.step.value_at_quantile(quantile) as f64 / 1e3;
        let expected = [at(0.5), at(0.9), at(0.99), run.step.max() as f64 / 1e3];
        let Percentiles { p50, p90, p99, max } = run.percentiles()[0];
        assert_eq!([p50, p90, p99, max], expected);
    }

    #[test]
    fn one_walk_finds_what_a_walk_per_percentile_finds() {
        check([]);
        check([700]);
        check([5, 5, 5, 5]);
        check((1..=1_000).map(|step| step * step * 37));
        check([1, 2, LONGEST_NS, LONGEST_NS * 2]);
    }

    #[test]
    fn percentiles_of_a_run_that_goes_on_are_made_once_a_second() {
        let mut run = WholeRun::new();
        let step = |run: &mut WholeRun, us| {
            let took = Duration::from_micros(us);
            run.on_step(took, Duration::ZERO, took);
        };
        let max = |run: &mut WholeRun, running, at| run.told(running, SessionTime(at))[0].max;
        assert_eq!(max(&mut run, true, 0), 0.0);
        step(&mut run, 10);
        let first = max(&mut run, true, 1);
        assert!(first > 9.0, "the first step is told at once: {first}");
        step(&mut run, 1_000);
        assert_eq!(max(&mut run, true, SECOND), first);
        assert!(max(&mut run, true, SECOND + 1) > 999.0);
        step(&mut run, 5_000);
        assert!(
            max(&mut run, false, SECOND + 2) > 4_999.0,
            "it stands still"
        );
    }
}
