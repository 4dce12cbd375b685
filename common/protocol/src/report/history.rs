//! Time of iterations by its parts, now and before: [`Split`], [`StepHistogram`] and [`History`],
//! which a client that comes late asks for.

use serde::{Deserialize, Serialize};

use super::Percentiles;
use crate::primary_to_observers::Event;

/// Number of events that the primary remembers.
pub const EVENTS_MAX: usize = 1000;
/// Number of samples that the primary remembers, at one per second.
pub const SAMPLES_MAX: usize = 600;

/// Mean time per iteration over the last second, by where it went; the parts add up to the period.
/// Of more than 1,000 steps in that second, it is over the last 1,000. The work is that of the
/// secondary that answered last \[us\].
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Split {
    /// Its physics.
    pub physics_us: f64,
    /// Its systems.
    pub systems_us: f64,
    /// Its sensors.
    pub sensors_us: f64,
    /// Other work on its cells: what enters, leaves and is read.
    pub cell_us: f64,
    /// On the way there and back, and in queues.
    pub network_us: f64,
    /// The primary's own work from the last answer to the next step.
    pub primary_us: f64,
    /// Waiting for programs that take part in lockstep.
    #[serde(default)]
    pub participants_us: f64,
    /// Waiting, to keep the real-time factor that was asked for.
    pub pace_us: f64,
}

impl Split {
    /// The names of the parts, in the order of [`Split::parts`].
    pub const NAMES: [&'static str; Self::PARTS] = [
        "physics", "systems", "sensors", "cell", "network", "primary", "programs", "pace",
    ];
    /// Number of parts.
    pub const PARTS: usize = 8;
    /// The place of the network among the parts.
    pub const NETWORK: usize = 4;
    /// The place of the primary among the parts.
    pub const PRIMARY: usize = 5;
    /// The place of programs that take part in lockstep among the parts.
    pub const PARTICIPANTS: usize = 6;
    /// The place of the pace among the parts: time in which nothing is done.
    pub const PACE: usize = 7;

    /// Returns the parts in order \[us\].
    pub fn parts(&self) -> [f64; Self::PARTS] {
        [
            self.physics_us,
            self.systems_us,
            self.sensors_us,
            self.cell_us,
            self.network_us,
            self.primary_us,
            self.participants_us,
            self.pace_us,
        ]
    }

    /// Returns the split with these parts \[us\].
    pub fn of_parts(parts: [f64; Self::PARTS]) -> Self {
        let [
            physics_us,
            systems_us,
            sensors_us,
            cell_us,
            network_us,
            primary_us,
            participants_us,
            pace_us,
        ] = parts;
        Self {
            physics_us,
            systems_us,
            sensors_us,
            cell_us,
            network_us,
            primary_us,
            participants_us,
            pace_us,
        }
    }

    /// Returns the time per iteration \[us\].
    pub fn period_us(&self) -> f64 {
        self.parts().iter().sum()
    }

    /// Returns the time per iteration in which something is done or waited for \[us\].
    pub fn work_us(&self) -> f64 {
        self.period_us() - self.pace_us
    }
}

/// Numbers of steps by the time that they took, in bars whose bounds grow by the fourth root of
/// two.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepHistogram {
    /// The number of the first bar in `counts`.
    pub first: u32,
    /// Number of steps, bar by bar.
    pub counts: Vec<u64>,
}

impl StepHistogram {
    /// Number of bars that there can be; the last one holds all that is longer.
    pub const BARS: usize = 128;

    /// Returns the number of the bar for a time \[ns\].
    pub fn bar_of(time_ns: u64) -> usize {
        let micros = time_ns as f64 / 1e3;
        if micros < 1.0 {
            return 0;
        }
        ((micros.log2() * 4.0) as usize).min(Self::BARS - 1)
    }

    /// Returns the least time of a bar \[us\].
    pub fn from_us(bar: usize) -> f64 {
        f64::powf(2.0, bar as f64 / 4.0)
    }

    /// Returns the histogram of all bars, without those at the ends that are empty.
    pub fn of_bars(bars: &[u64]) -> Self {
        let Some(first) = bars.iter().position(|count| *count > 0) else {
            return Self::default();
        };
        let last = bars.iter().rposition(|count| *count > 0).unwrap_or(first);
        Self {
            first: first as u32,
            counts: bars[first..=last].to_vec(),
        }
    }

    /// Returns the bars: the least time of each \[us\], and how many steps.
    pub fn bars(&self) -> impl ExactSizeIterator<Item = (f64, u64)> + '_ {
        let first = (self.first as usize).min(Self::BARS);
        let counts = self.counts.iter().take(Self::BARS - first).enumerate();
        counts.map(move |(index, count)| (Self::from_us(first + index), *count))
    }
}

/// The run's figures at one moment of the past.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HistorySample {
    /// Age \[s\].
    pub age_s: f64,
    /// The last completed iteration.
    pub iteration: u64,
    /// Simulated over real time, over the second before.
    pub real_time_factor: f64,
    /// Time of a step, over the second before \[us\].
    pub step_us: Percentiles,
    /// Parts of the time of an iteration, over the second before.
    pub split: Split,
}

/// Past of a run, as far as the primary remembers it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct History {
    /// The last [`EVENTS_MAX`] events, oldest first.
    pub events: Vec<Event>,
    /// The last [`SAMPLES_MAX`] samples in which time ran, oldest first.
    pub samples: Vec<HistorySample>,
    /// Time that the steps of the whole run took.
    pub steps: StepHistogram,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_in_the_bar_that_begins_below_it() {
        for time_ns in [1_000, 1_500, 412_000, 1_203_000, 50_000_000] {
            let bar = StepHistogram::bar_of(time_ns);
            let micros = time_ns as f64 / 1e3;
            let (from, to) = (StepHistogram::from_us(bar), StepHistogram::from_us(bar + 1));
            assert!(
                from <= micros * 1.0001 && micros < to,
                "{from} {micros} {to}"
            );
        }
        assert_eq!(StepHistogram::bar_of(0), 0);
        assert_eq!(StepHistogram::bar_of(u64::MAX), StepHistogram::BARS - 1);
    }

    #[test]
    fn empty_bars_at_the_ends_are_left_out() {
        let mut bars = [0; StepHistogram::BARS];
        assert_eq!(StepHistogram::of_bars(&bars), StepHistogram::default());
        (bars[4], bars[6]) = (3, 1);
        let histogram = StepHistogram::of_bars(&bars);
        assert_eq!(histogram.counts, [3, 0, 1]);
        assert_eq!(histogram.bars().next(), Some((2.0, 3)));
    }

    #[test]
    fn a_histogram_from_elsewhere_has_no_more_bars_than_there_are() {
        let first = u32::MAX;
        let counts = vec![1; 1_000];
        assert_eq!(StepHistogram { first, counts }.bars().len(), 0);
    }
}
