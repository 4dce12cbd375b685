//! [`LevelLoads`]: a short history of the time that each level's cell takes per step.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use protocol::SessionTime;
use protocol::report::LevelReport;

use super::rows::cell_us;

/// Number of samples that a level's history has at most.
pub const SAMPLES_MAX: usize = 32;
/// The least time between two samples.
const SAMPLE_TIME: Duration = Duration::from_millis(900);

/// Recent loads of all levels.
#[derive(Clone, Debug, Default)]
pub struct LevelLoads {
    by_name: BTreeMap<String, VecDeque<f64>>,
    sampled: Option<SessionTime>,
    greatest: f64,
}

impl LevelLoads {
    /// Takes a report, unless the last sample was taken a moment ago.
    pub fn record(&mut self, levels: &[LevelReport], now: SessionTime) {
        if self
            .sampled
            .is_some_and(|sampled| now.since(sampled) < SAMPLE_TIME)
        {
            return;
        }
        self.sampled = Some(now);
        let mut before = std::mem::take(&mut self.by_name);
        for level in levels {
            let (name, mut samples) = before
                .remove_entry(&level.name)
                .unwrap_or_else(|| (level.name.clone(), VecDeque::new()));
            if samples.len() == SAMPLES_MAX {
                samples.pop_front();
            }
            samples.push_back(load(level));
            self.by_name.insert(name, samples);
        }
        let all = self.by_name.values().flatten().copied();
        self.greatest = all.fold(0.0, f64::max);
    }

    /// Returns a level's last samples, the oldest first, each as a part of the greatest one of
    /// all levels.
    pub fn parts(&self, name: &str, count: usize) -> impl Iterator<Item = f64> {
        let samples = self.by_name.get(name);
        let skipped = samples.map_or(0, |samples| samples.len().saturating_sub(count));
        let greatest = self.greatest.max(f64::MIN_POSITIVE);
        samples
            .into_iter()
            .flatten()
            .skip(skipped)
            .map(move |sample| sample / greatest)
    }
}

/// The time that a level's cell takes per step; none while it stands still \[us\].
fn load(level: &LevelReport) -> f64 {
    if level.suspended { 0.0 } else { cell_us(level) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::fixture::{self, NOW};

    fn taking(time_us: f64) -> Vec<LevelReport> {
        let mut levels = fixture::levels();
        for (level, part) in levels.iter_mut().zip([1.0, 0.25, 0.0, 1.0]) {
            (level.physics_us, level.systems_us) = (time_us * part, 0.0);
            level.sensors_us = 0.0;
        }
        levels
    }

    fn west(loads: &LevelLoads) -> Vec<f64> {
        loads.parts("west", 3).collect()
    }

    #[test]
    fn loads_are_parts_of_the_greatest_one() {
        let mut loads = LevelLoads::default();
        assert!(west(&loads).is_empty());
        for (second, time_us) in [1.0, 4.0, 8.0, 2.0].into_iter().enumerate() {
            let now = NOW + Duration::from_secs(second as u64);
            loads.record(&taking(time_us), now);
            loads.record(&taking(9.0), now + Duration::from_millis(50));
        }
        assert_eq!(west(&loads), [0.5, 1.0, 0.25]);
        assert_eq!(loads.parts("east", 1).next(), Some(0.0625));
        assert_eq!(loads.parts("yard", 1).next(), Some(0.0), "suspended");
    }

    #[test]
    fn a_history_is_bounded_and_ends_with_its_level() {
        let mut loads = LevelLoads::default();
        for second in 0..100 {
            loads.record(&taking(1.0), NOW + Duration::from_secs(second));
        }
        assert_eq!(loads.parts("west", usize::MAX).count(), SAMPLES_MAX);
        loads.record(&[], NOW + Duration::from_secs(200));
        assert!(loads.by_name.is_empty());
    }
}
