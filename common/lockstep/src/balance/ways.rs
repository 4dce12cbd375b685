//! [`Ways`]: time that messages are on their way to each secondary and back.
//!
//! What a way takes is what is left of the time until a secondary has answered when its own work is
//! taken off. Where several steps go in one message, each has its share of the way.

use std::collections::BTreeMap;
use std::time::Duration;

use protocol::PeerName;

/// Number of samples in a window; their median is the window's way.
pub(super) const SAMPLES: usize = 16;
/// Weight of a new window against those before it.
const WEIGHT_OF_NEW: f64 = 0.4;

/// Ways to all secondaries.
#[derive(Debug)]
pub(super) struct Ways {
    least_ns: f64,
    of: BTreeMap<PeerName, Way>,
}

#[derive(Debug, Default)]
struct Way {
    /// Samples of this window \[ns\]; of more than fit, the last ones.
    samples_ns: [f64; SAMPLES],
    taken: usize,
    smoothed_ns: Option<f64>,
}

impl Ways {
    /// Starts without knowing any; ways of less than this do not count.
    pub(super) fn new(least: Duration) -> Self {
        Self {
            least_ns: least.as_nanos() as f64,
            of: BTreeMap::new(),
        }
    }

    /// Takes a sample.
    pub(super) fn note(&mut self, secondary: &PeerName, way: Duration) {
        if !self.of.contains_key(secondary) {
            self.of.insert(secondary.clone(), Way::default());
        }
        if let Some(known) = self.of.get_mut(secondary) {
            known.samples_ns[known.taken % SAMPLES] = way.as_nanos() as f64;
            known.taken += 1;
        }
    }

    /// Ends a window. A secondary with fewer samples than half a window waits for the next.
    pub(super) fn end_window(&mut self) {
        for way in self.of.values_mut() {
            let filled = way.taken.min(SAMPLES);
            if filled * 2 < SAMPLES {
                way.taken = 0;
                continue;
            }
            let samples_ns = &mut way.samples_ns[..filled];
            samples_ns.sort_by(f64::total_cmp);
            let window_ns = samples_ns[filled / 2];
            way.smoothed_ns = Some(way.smoothed_ns.map_or(window_ns, |before_ns| {
                before_ns + (window_ns - before_ns) * WEIGHT_OF_NEW
            }));
            way.taken = 0;
        }
    }

    /// Forgets the samples of this window.
    pub(super) fn drop_window(&mut self) {
        for way in self.of.values_mut() {
            way.taken = 0;
        }
    }

    /// Returns the way to a secondary and back per iteration \[ns\]; 0 where it does not count.
    pub(super) fn of_ns(&self, secondary: &PeerName) -> f64 {
        let known_ns = self.of.get(secondary).and_then(|way| way.smoothed_ns);
        known_ns
            .filter(|way_ns| *way_ns >= self.least_ns)
            .unwrap_or(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Notes windows of samples \[us\] and expects a way \[us\].
    fn check(windows_us: &[&[u64]], expected_us: f64) {
        let mut ways = Ways::new(Duration::from_micros(200));
        let name: PeerName = "s1".parse().unwrap();
        for samples_us in windows_us {
            for us in *samples_us {
                ways.note(&name, Duration::from_micros(*us));
            }
            ways.end_window();
        }
        assert_eq!(ways.of_ns(&name) / 1e3, expected_us, "{windows_us:?}");
    }

    #[test]
    fn single_samples_do_not_count() {
        let mut samples = [1_000; SAMPLES];
        samples[3] = 90_000;
        samples[9] = 0;
        check(&[&samples], 1_000.0);
    }

    #[test]
    fn a_way_on_one_machine_does_not_count() {
        check(&[&[150; SAMPLES]], 0.0);
        check(&[], 0.0);
    }

    #[test]
    fn half_a_window_is_needed() {
        check(&[&[1_000; SAMPLES / 2 - 1]], 0.0);
        check(&[&[1_000; SAMPLES / 2]], 1_000.0);
        check(&[&[1_000; SAMPLES * 3]], 1_000.0);
    }

    #[test]
    fn windows_are_smoothed() {
        check(&[&[1_000; SAMPLES], &[2_000; SAMPLES]], 1_400.0);
    }
}
