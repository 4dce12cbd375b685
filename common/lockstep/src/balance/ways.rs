//! [`Ways`]: time that messages are on their way to the secondaries of each host and back.
//!
//! The time of a way is the rest of the time until a secondary has answered, without its own work.
//! Of several steps in one message each has its share of the way. The nearest secondary of a host
//! tells its way: with the others, something else has taken longer. A time that is the same to all
//! hosts does not count, since no cell can be nearer.

use std::collections::BTreeMap;
use std::time::Duration;

use protocol::{Iteration, PeerName};

/// Number of samples in a window; their median is the window's way.
pub(super) const SAMPLES: usize = 16;
/// Weight of a new window against those before it.
const WEIGHT_OF_NEW: f64 = 0.4;

/// Ways to all secondaries.
#[derive(Debug)]
pub(super) struct Ways {
    least_ns: f64,
    /// By the names of hosts.
    to: BTreeMap<String, Way>,
    /// The host of each secondary.
    hosts: BTreeMap<PeerName, String>,
    nearest_ns: f64,
}

#[derive(Debug, Default)]
struct Way {
    /// Samples of this window \[ns\]; of more than fit, the last ones.
    samples_ns: [f64; SAMPLES],
    taken: usize,
    /// The iteration of the last one.
    latest: Option<Iteration>,
    smoothed_ns: Option<f64>,
}

impl Ways {
    /// Starts without knowing any; ways that are longer than the nearest by less than this do not
    /// count.
    pub(super) fn new(least: Duration) -> Self {
        Self {
            least_ns: least.as_nanos() as f64,
            to: BTreeMap::new(),
            hosts: BTreeMap::new(),
            nearest_ns: 0.0,
        }
    }

    /// Takes the way to a secondary of a host in an iteration.
    pub(super) fn note(
        &mut self,
        secondary: &PeerName,
        host: &str,
        iteration: Iteration,
        way: Duration,
    ) {
        if self.hosts.get(secondary).is_none_or(|known| known != host) {
            self.hosts.insert(secondary.clone(), host.to_owned());
        }
        if !self.to.contains_key(host) {
            self.to.insert(host.to_owned(), Way::default());
        }
        if let Some(known) = self.to.get_mut(host) {
            known.note(iteration, way.as_nanos() as f64);
        }
    }

    /// Ends a window. A host with samples of less than half a window waits for the next; one
    /// without any is forgotten.
    pub(super) fn end_window(&mut self) {
        self.to.retain(|_, way| way.taken > 0);
        self.hosts.retain(|_, host| self.to.contains_key(host));
        for way in self.to.values_mut() {
            way.end_window();
        }
        let known_ns = self.to.values().filter_map(|way| way.smoothed_ns);
        self.nearest_ns = known_ns.fold(f64::INFINITY, f64::min);
    }

    /// Forgets the samples of this window.
    pub(super) fn drop_window(&mut self) {
        for way in self.to.values_mut() {
            way.taken = 0;
        }
    }

    /// Returns by how much the way to a secondary and back is longer than the nearest, per
    /// iteration \[ns\]; 0 where that does not count.
    pub(super) fn of_ns(&self, secondary: &PeerName) -> f64 {
        let host = self.hosts.get(secondary);
        let way = host.and_then(|host| self.to.get(host));
        let further_ns = way.and_then(|way| Some(way.smoothed_ns? - self.nearest_ns));
        further_ns
            .filter(|further_ns| *further_ns >= self.least_ns)
            .unwrap_or(0.0)
    }
}

impl Way {
    /// Takes a sample; the shortest of an iteration counts.
    fn note(&mut self, iteration: Iteration, way_ns: f64) {
        if self.taken > 0 && self.latest == Some(iteration) {
            let last = &mut self.samples_ns[(self.taken - 1) % SAMPLES];
            *last = last.min(way_ns);
            return;
        }
        self.latest = Some(iteration);
        self.samples_ns[self.taken % SAMPLES] = way_ns;
        self.taken += 1;
    }

    fn end_window(&mut self) {
        let filled = self.taken.min(SAMPLES);
        self.taken = 0;
        if filled * 2 < SAMPLES {
            return;
        }
        let samples_ns = &mut self.samples_ns[..filled];
        samples_ns.sort_by(f64::total_cmp);
        let window_ns = samples_ns[filled / 2];
        self.smoothed_ns = Some(self.smoothed_ns.map_or(window_ns, |before_ns| {
            before_ns + (window_ns - before_ns) * WEIGHT_OF_NEW
        }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Notes windows of samples of a far host \[us\], beside a near one with 50 us, and expects a
    /// way \[us\].
    fn check(windows_us: &[&[u64]], expected_us: f64) {
        let mut ways = Ways::new(Duration::from_micros(200));
        let [near, far]: [PeerName; 2] = ["s1", "s2"].map(|name| name.parse().unwrap());
        let mut iterations = (0..).map(Iteration);
        for samples_us in windows_us {
            for us in *samples_us {
                let iteration = iterations.next().unwrap();
                ways.note(&near, "here", iteration, Duration::from_micros(50));
                ways.note(&far, "there", iteration, Duration::from_micros(*us));
            }
            ways.end_window();
        }
        assert_eq!(ways.of_ns(&far) / 1e3, expected_us, "{windows_us:?}");
        assert_eq!(ways.of_ns(&near), 0.0, "{windows_us:?}");
    }

    #[test]
    fn single_samples_do_not_count() {
        let mut samples = [1_050; SAMPLES];
        samples[3] = 90_000;
        samples[9] = 0;
        check(&[&samples], 1_000.0);
    }

    #[test]
    fn a_way_that_is_little_longer_does_not_count() {
        check(&[&[240; SAMPLES]], 0.0);
        check(&[&[250; SAMPLES]], 200.0);
        check(&[], 0.0);
    }

    #[test]
    fn half_a_window_is_needed() {
        check(&[&[1_050; SAMPLES / 2 - 1]], 0.0);
        check(&[&[1_050; SAMPLES / 2]], 1_000.0);
        check(&[&[1_050; SAMPLES * 3]], 1_000.0);
    }

    #[test]
    fn windows_are_smoothed() {
        check(&[&[1_050; SAMPLES], &[2_050; SAMPLES]], 1_400.0);
    }

    #[test]
    fn secondaries_of_one_host_are_equally_far_however_long_each_waits() {
        let mut ways = Ways::new(Duration::from_micros(200));
        let names: [PeerName; 2] = ["s1", "s2"].map(|name| name.parse().unwrap());
        for iteration in (0..SAMPLES as u64).map(Iteration) {
            for (name, ms) in names.iter().zip([1, 30]) {
                ways.note(name, "busy", iteration, Duration::from_millis(ms));
            }
        }
        ways.end_window();
        assert_eq!(names.map(|name| ways.of_ns(&name)), [0.0, 0.0]);
    }
}
