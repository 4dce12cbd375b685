//! [`SplitMeter`]: where the time of recent iterations went.
//!
//! It knows four moments of a round: the last answer of the round before, the step on its way, and
//! in between how long the driver had nothing to do; then the last answer.

use std::collections::VecDeque;
use std::time::Duration;

use lockstep::PeerTiming;
use protocol::SessionTime;
use protocol::report::{Percentiles, Split};

/// The window of recent figures.
const WINDOW: Duration = Duration::from_secs(1);
/// Largest number of steps in the window; in a faster run it is shorter than a second.
const STEPS_MAX: usize = 1000;

/// Measures where time goes.
#[derive(Debug, Default)]
pub(super) struct SplitMeter {
    last_done: Option<SessionTime>,
    published: Option<SessionTime>,
    idle: Duration,
    /// Time in which programs that take part held the run.
    held: Duration,
    /// Times of the paused rounds since the last iteration \[ns\].
    carried: [u64; Split::PARTS],
    steps: VecDeque<RecentStep>,
    /// Number of the last steps that came with the message of the one before them.
    ahead: usize,
}

/// A step of the window.
#[derive(Debug)]
struct RecentStep {
    at: SessionTime,
    step_ns: u64,
    /// In the order of [`Split::parts`] \[ns\].
    parts: [u64; Split::PARTS],
}

impl SplitMeter {
    /// Takes note that a step is handed to the link.
    pub(super) fn on_published(&mut self, now: SessionTime) {
        self.published.get_or_insert(now);
    }

    /// Takes note of time in which the driver had nothing to do, held by programs or not.
    pub(super) fn on_idle(&mut self, idle: Duration, is_held: bool) {
        if self.published.is_some() {
            return;
        }
        if is_held {
            self.held += idle;
        } else {
            self.idle += idle;
        }
    }

    /// Takes note that time is paused from now on, or goes on.
    pub(super) fn interrupt(&mut self) {
        *self = Self::default();
    }

    /// Returns when the step under way was handed to the link.
    pub(super) fn published(&self) -> Option<SessionTime> {
        self.published
    }

    /// Takes a round whose last answer, that of `last`, came at `arrived`; `step` is its length,
    /// if time advanced in it.
    pub(super) fn on_round(
        &mut self,
        last: Option<&PeerTiming>,
        step: Option<Duration>,
        arrived: SessionTime,
    ) {
        let before = self.last_done.replace(arrived);
        let waited = [&mut self.held, &mut self.idle].map(std::mem::take);
        let Some(published) = self.published.take() else {
            if let (Some(peer), Some(step), Some(before)) = (last, step, before) {
                self.on_step_ahead(peer, step, [before, arrived], waited);
            }
            return;
        };
        let gap = published.since(before.unwrap_or(published));
        let [primary, held, pace] = gap_parts(gap, waited);
        let mut left = arrived.since(published);
        let mut part = |time: Duration| {
            let taken = time.min(left);
            left -= taken;
            taken
        };
        let work = last.map_or([Duration::ZERO; 4], |peer| work_of(peer).map(&mut part));
        let [physics, systems, sensors, cell] = work;
        let parts = [physics, systems, sensors, cell, left, primary, held, pace];
        for (sum, part) in self.carried.iter_mut().zip(parts) {
            *sum += part.as_nanos() as u64;
        }
        let Some(step) = step else { return };
        let parts = std::mem::take(&mut self.carried);
        self.ahead = 0;
        self.push(arrived, step, parts);
    }

    /// Takes a step that a message of before brought: its work was done while that was under way.
    fn on_step_ahead(
        &mut self,
        peer: &PeerTiming,
        step: Duration,
        [before, arrived]: [SessionTime; 2],
        waited: [Duration; 2],
    ) {
        let of_gap = gap_parts(arrived.since(before), waited);
        let mut parts = [0; Split::PARTS];
        let places = [Split::PRIMARY, Split::PARTICIPANTS, Split::PACE];
        for (place, part) in places.into_iter().zip(of_gap) {
            parts[place] = part.as_nanos() as u64;
        }
        let first = self.steps.len().checked_sub(self.ahead + 1);
        if let Some(first) = first.and_then(|first| self.steps.get_mut(first)) {
            for (place, work) in work_of(peer).into_iter().enumerate() {
                let work = (work.as_nanos() as u64).min(first.parts[Split::NETWORK]);
                first.parts[Split::NETWORK] -= work;
                first.parts[place] += work;
            }
        }
        self.ahead += 1;
        self.push(arrived, step, parts);
    }

    fn push(&mut self, at: SessionTime, step: Duration, parts: [u64; Split::PARTS]) {
        if self.steps.len() == STEPS_MAX {
            self.steps.pop_front();
        }
        self.steps.push_back(RecentStep {
            at,
            step_ns: step.as_nanos() as u64,
            parts,
        });
    }

    /// Returns the split over the last second, and percentiles of its steps.
    pub(super) fn recent(&mut self, now: SessionTime) -> (Split, Percentiles) {
        let is_old = |step: &RecentStep| now.since(step.at) > WINDOW;
        while self.steps.front().is_some_and(is_old) {
            self.steps.pop_front();
        }
        let count = self.steps.len();
        if count == 0 {
            return (Split::default(), Percentiles::default());
        }
        let mut sums = [0.0; Split::PARTS];
        for step in &self.steps {
            for (sum, part) in sums.iter_mut().zip(step.parts) {
                *sum += part as f64;
            }
        }
        let split = Split::of_parts(sums.map(|sum| sum / count as f64 / 1e3));
        let mut times: Vec<u64> = self.steps.iter().map(|step| step.step_ns).collect();
        times.sort_unstable();
        let at = |quantile: f64| {
            let rank = ((count as f64 * quantile).ceil() as usize).clamp(1, count);
            times[rank - 1] as f64 / 1e3
        };
        let percentiles = Percentiles {
            p50: at(0.5),
            p90: at(0.9),
            p99: at(0.99),
            max: at(1.0),
        };
        (split, percentiles)
    }
}

/// Divides the time between two rounds, in which programs held the run and then nothing was to do:
/// into the primary's own work, and these two.
fn gap_parts(gap: Duration, [held, idle]: [Duration; 2]) -> [Duration; 3] {
    let held = held.min(gap);
    let rest = gap.saturating_sub(held);
    let pace = idle.min(rest);
    [rest.saturating_sub(pace), held, pace]
}

/// Returns the parts of a peer's work: physics, systems, sensors, and all else.
fn work_of(peer: &PeerTiming) -> [Duration; 4] {
    let inner = peer.physics + peer.systems + peer.sensors;
    let cell = peer.busy.saturating_sub(inner);
    [peer.physics, peer.systems, peer.sensors, cell]
}

#[cfg(test)]
mod tests {
    use super::*;

    const US: u64 = 1_000;

    fn timing(physics: u64, busy: u64) -> PeerTiming {
        PeerTiming {
            name: "s1".parse().unwrap(),
            physics: Duration::from_micros(physics),
            systems: Duration::from_micros(20),
            sensors: Duration::from_micros(10),
            busy: Duration::from_micros(busy),
            published: 0,
            answered_after: Duration::ZERO,
        }
    }

    /// Runs rounds of 1 ms: 100 us primary, 400 us idle, 500 us until the answer.
    fn measured(rounds: u64, peer: &PeerTiming) -> SplitMeter {
        let mut meter = SplitMeter::default();
        for round in 0..rounds {
            let begin = round * 1_000 * US;
            meter.on_idle(Duration::from_micros(400), false);
            meter.on_published(SessionTime(begin + 500 * US));
            let step = Some(Duration::from_micros(500 + round % 2 * 100));
            meter.on_round(Some(peer), step, SessionTime(begin + 1_000 * US));
        }
        meter
    }

    #[test]
    fn the_parts_add_up_to_the_period() {
        let mut meter = measured(1_000, &timing(300, 380));
        // The first round has none before it, from which its period could be told.
        let (split, step) = meter.recent(SessionTime(1_000_000 * US));
        let expected = [300.0, 20.0, 10.0, 50.0, 120.0, 100.0, 0.0, 400.0];
        for (part, expected) in split.parts().into_iter().zip(expected) {
            assert!((part - expected).abs() < 1.0, "{split:?}");
        }
        assert!((split.period_us() - 1_000.0).abs() < 1.0);
        assert_eq!((step.p50, step.max), (500.0, 600.0));
    }

    #[test]
    fn a_wait_for_programs_is_neither_the_primarys_work_nor_the_pace() {
        let mut meter = SplitMeter::default();
        for round in 0..10 {
            let begin = round * 1_000 * US;
            meter.on_idle(Duration::from_micros(300), true);
            meter.on_idle(Duration::from_micros(100), false);
            meter.on_published(SessionTime(begin + 500 * US));
            let step = Some(Duration::from_micros(500));
            meter.on_round(
                Some(&timing(300, 380)),
                step,
                SessionTime(begin + 1_000 * US),
            );
        }
        let (split, _) = meter.recent(SessionTime(10_000 * US));
        let parts = [split.primary_us, split.participants_us, split.pace_us];
        // The first round has none before it.
        assert_eq!(parts, [90.0, 270.0, 90.0]);
    }

    #[test]
    fn a_peer_that_claims_more_than_passed_gets_what_passed() {
        let mut meter = measured(500, &timing(9_000, 9_030));
        let (split, _) = meter.recent(SessionTime(500_000 * US));
        assert_eq!((split.physics_us, split.systems_us), (500.0, 0.0));
        assert!((split.period_us() - 1_000.0).abs() < 3.0, "{split:?}");
    }

    #[test]
    fn steps_of_more_than_a_second_ago_do_not_count() {
        let mut meter = measured(10, &timing(300, 380));
        let last = SessionTime(9_000_000 * US);
        meter.on_published(SessionTime(8_999_000 * US));
        meter.on_round(None, Some(Duration::from_micros(777)), last);
        assert_eq!(meter.recent(last).1.p50, 777.0);
    }

    #[test]
    fn a_second_without_a_step_leaves_no_figures() {
        let mut meter = measured(10, &timing(300, 380));
        let last = SessionTime(10_000 * US);
        assert!(meter.recent(last + WINDOW).0.period_us() > 0.0);
        let later = last + WINDOW + Duration::from_nanos(1);
        let none = (Split::default(), Percentiles::default());
        assert_eq!(meter.recent(later), none);
    }

    #[test]
    fn without_steps_there_are_no_figures() {
        let mut meter = SplitMeter::default();
        let none = (Split::default(), Percentiles::default());
        assert_eq!(meter.recent(SessionTime(0)), none);
    }

    #[test]
    fn steps_that_one_message_brings_share_its_time() {
        let mut split = SplitMeter::default();
        let at = |us: u64| SessionTime(us * US);
        split.on_published(at(100));
        let step = Some(Duration::from_micros(100));
        split.on_round(Some(&timing(50, 90)), step, at(400));
        split.on_round(Some(&timing(50, 90)), step, at(410));
        split.on_round(Some(&timing(50, 90)), step, at(420));
        let (mean, _) = split.recent(at(420));
        assert_eq!(mean.physics_us, 50.0);
        assert_eq!(mean.network_us, 10.0);
        assert!((mean.period_us() - 320.0 / 3.0).abs() < 0.01, "{mean:?}");
    }
}
