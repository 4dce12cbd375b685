//! [`SplitMeter`]: where the time of recent iterations went.
//!
//! It knows four moments of a round: the last answer of the round before, the step on its way, and
//! in between how long the driver had nothing to do, and why; then the last answer.

use std::collections::VecDeque;
use std::time::Duration;

use lockstep::PeerTiming;
use protocol::SessionTime;
use protocol::report::{Percentiles, Split};

/// The window of recent figures.
const WINDOW: Duration = Duration::from_secs(1);
/// Largest number of steps in the window, more than one message brings; in a faster run it is
/// shorter than a second.
const STEPS_MAX: usize = lockstep::limits::RUN_AHEAD_MAX as usize + 1000;

/// Reason why the driver has nothing to do between two steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdleReason {
    /// Programs that take part hold the run.
    Participants,
    /// Answers to the next step are being computed ahead.
    StepsAhead,
    /// The next step is not due.
    Pace,
}

/// Time in which the driver had nothing to do since the last step was complete.
#[derive(Clone, Copy, Debug, Default)]
struct Idle {
    participants: Duration,
    steps_ahead: Duration,
    pace: Duration,
}

/// Measures where time goes.
#[derive(Debug, Default)]
pub(super) struct SplitMeter {
    last_done: Option<SessionTime>,
    published: Option<SessionTime>,
    idle: Idle,
    /// Times of the paused rounds since the last iteration \[ns\].
    carried: [u64; Split::PARTS],
    steps: VecDeque<RecentStep>,
    /// Number of the last steps whose work was done while one before them was waited for.
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

    /// Takes note of time in which the driver had nothing to do.
    pub(super) fn on_idle(&mut self, idle: Duration, reason: IdleReason) {
        if self.published.is_some() {
            return;
        }
        *match reason {
            IdleReason::Participants => &mut self.idle.participants,
            IdleReason::StepsAhead => &mut self.idle.steps_ahead,
            IdleReason::Pace => &mut self.idle.pace,
        } += idle;
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
        let idle = std::mem::take(&mut self.idle);
        let Some(published) = self.published.take() else {
            if let (Some(peer), Some(step), Some(before)) = (last, step, before) {
                self.on_step_ahead(peer, step, arrived.since(before), idle, arrived);
            }
            return;
        };
        let gap = published.since(before.unwrap_or(published));
        let [primary, held, answers, pace] = gap_parts(gap, idle);
        let mut left = arrived.since(published);
        let mut part = |time: Duration| {
            let taken = time.min(left);
            left -= taken;
            taken
        };
        let work = last.map_or([Duration::ZERO; 4], |peer| work_of(peer).map(&mut part));
        let [physics, systems, sensors, cell] = work;
        let network = left + answers;
        let parts = [
            physics, systems, sensors, cell, network, primary, held, pace,
        ];
        for (sum, part) in self.carried.iter_mut().zip(parts) {
            *sum += part.as_nanos() as u64;
        }
        let Some(step) = step else { return };
        let parts = std::mem::take(&mut self.carried);
        self.ahead = 0;
        self.push(arrived, step, parts);
    }

    /// Takes a step that was done ahead. Its work was done while it was waited for, or one before
    /// it was.
    fn on_step_ahead(
        &mut self,
        peer: &PeerTiming,
        step: Duration,
        gap: Duration,
        idle: Idle,
        arrived: SessionTime,
    ) {
        let of_gap = gap_parts(gap, idle);
        let mut parts = [0; Split::PARTS];
        let places = [
            Split::PRIMARY,
            Split::PARTICIPANTS,
            Split::NETWORK,
            Split::PACE,
        ];
        for (place, part) in places.into_iter().zip(of_gap) {
            parts[place] = part.as_nanos() as u64;
        }
        self.ahead += 1;
        if parts[Split::NETWORK] > 0 {
            self.ahead = 0;
        }
        self.push(arrived, step, parts);
        let waited_for = self.steps.len().checked_sub(self.ahead + 1);
        if let Some(waited_for) = waited_for.and_then(|index| self.steps.get_mut(index)) {
            for (place, work) in work_of(peer).into_iter().enumerate() {
                let work = (work.as_nanos() as u64).min(waited_for.parts[Split::NETWORK]);
                waited_for.parts[Split::NETWORK] -= work;
                waited_for.parts[place] += work;
            }
        }
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

/// Divides the time between two rounds: into the primary's own work, and the time in which it had
/// nothing to do, by the reasons.
fn gap_parts(gap: Duration, idle: Idle) -> [Duration; 4] {
    let mut left = gap;
    let mut part = |time: Duration| {
        let taken = time.min(left);
        left -= taken;
        taken
    };
    let waits = [idle.participants, idle.steps_ahead, idle.pace];
    let [held, answers, pace] = waits.map(&mut part);
    [left, held, answers, pace]
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
            meter.on_idle(Duration::from_micros(400), IdleReason::Pace);
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
            meter.on_idle(Duration::from_micros(300), IdleReason::Participants);
            meter.on_idle(Duration::from_micros(100), IdleReason::Pace);
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

    #[test]
    fn work_on_a_part_that_is_waited_for_is_no_pace() {
        let mut split = SplitMeter::default();
        let at = |us: u64| SessionTime(us * US);
        split.on_published(at(100));
        let step = Some(Duration::from_micros(100));
        split.on_round(Some(&timing(50, 90)), step, at(200));
        split.on_idle(Duration::from_micros(200), IdleReason::StepsAhead);
        split.on_round(Some(&timing(50, 90)), step, at(410));
        split.on_round(Some(&timing(50, 90)), step, at(420));
        let (mean, _) = split.recent(at(420));
        assert_eq!(mean.physics_us, 50.0);
        assert!((mean.network_us - 10.0).abs() < 0.01, "{mean:?}");
        assert!((mean.primary_us - 20.0 / 3.0).abs() < 0.01, "{mean:?}");
        assert_eq!(mean.pace_us, 0.0);
    }
}
