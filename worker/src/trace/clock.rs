//! [`TraceClock`]: the monotonic clock of the machine, and the name by which processes see that
//! they share it.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use nix::time::{ClockId, clock_gettime};

/// Number of times that the clock is read at the start; the closest reading counts.
const READINGS: u32 = 16;

/// The clock of the machine, as times of this process.
#[derive(Clone, Copy, Debug)]
pub(super) struct TraceClock {
    instant: Instant,
    at_ns: u64,
}

impl TraceClock {
    /// Returns the one of this process.
    pub(super) fn of_process() -> Self {
        static OF_PROCESS: OnceLock<TraceClock> = OnceLock::new();
        *OF_PROCESS.get_or_init(Self::start)
    }

    /// Reads both clocks at once, as far as that is possible.
    fn start() -> Self {
        let read = |_| {
            let before = Instant::now();
            let at_ns = machine_ns();
            let took = before.elapsed();
            let instant = before + took / 2;
            (took, Self { instant, at_ns })
        };
        let readings = (0..READINGS).map(read);
        let closest = readings.min_by_key(|(took, _)| *took);
        closest.expect("there is more than one reading").1
    }

    /// Returns a moment on the machine's clock \[ns\].
    pub(super) fn at(&self, moment: Instant) -> u64 {
        match moment.checked_duration_since(self.instant) {
            Some(after) => self.at_ns.saturating_add(nanoseconds(after)),
            None => self
                .at_ns
                .saturating_sub(nanoseconds(self.instant.duration_since(moment))),
        }
    }
}

/// Returns the name of the machine's clock: until it is started again, and for all processes that
/// see the same one.
pub(super) fn clock_name() -> String {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id");
    let space = std::fs::read_link("/proc/self/ns/time");
    match (boot, space) {
        (Ok(boot), Ok(space)) => format!("{} {}", boot.trim(), space.display()),
        // Nothing tells that another process has the same clock, so none has.
        _ => format!("process {}", crate::identity::new_address()),
    }
}

fn machine_ns() -> u64 {
    clock_gettime(ClockId::CLOCK_MONOTONIC).map_or(0, |time| nanoseconds(Duration::from(time)))
}

fn nanoseconds(duration: Duration) -> u64 {
    duration.as_nanos().try_into().unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_clocks_of_one_machine_agree_and_have_one_name() {
        let difference = |_| {
            let (one, other) = (TraceClock::start(), TraceClock::start());
            let now = Instant::now();
            let moment = now.checked_sub(Duration::from_secs(1)).unwrap_or(now);
            one.at(moment).abs_diff(other.at(moment))
        };
        // A busy machine may come between the readings of both clocks.
        let least = (0..100).map(difference).min().expect("a hundred pairs");
        assert!(least < 1_000_000, "{least} ns");
        assert_eq!(clock_name(), clock_name());
    }
}
