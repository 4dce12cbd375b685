//! Measures a run: how long steps take, who holds them up, how fast simulated time goes.

mod peer_meter;
mod split;
mod whole_run;

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use lockstep::StepReport;
use protocol::report::{Percentiles, Split, StepHistogram};
use protocol::secondary_to_primary::Heartbeat;
use protocol::{CellId, Iteration, PeerName, SessionTime};

use peer_meter::Race;
pub use split::IdleReason;
use split::SplitMeter;
use whole_run::WholeRun;

pub use peer_meter::PeerMeter;

/// The window of the current real-time factor.
const WINDOW: Duration = Duration::from_secs(1);
/// The least distance between samples of that window.
const SAMPLE_DISTANCE: Duration = Duration::from_millis(50);
/// The weight of the newest value in smoothed ones.
const SMOOTHING: f64 = 0.05;
/// A smoothed value that counts as 0 \[us\].
const NOTHING: f64 = 1e-12;

/// Measures a run.
pub struct Meter {
    whole_run: WholeRun,
    peers: BTreeMap<PeerName, PeerMeter>,
    /// Number of steps, also paused ones.
    steps: u64,
    /// By the numbers of cells, each with how many steps had advanced time when it was measured.
    cells: Vec<(CellMeter, u64)>,
    /// Number of steps that have advanced time.
    advanced: u64,
    split: SplitMeter,
    window: VecDeque<(SessionTime, Iteration)>,
    running_since: Option<SessionTime>,
    ran: Duration,
    step_size: Duration,
}

/// Costs of a cell per step, smoothed \[us\].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CellMeter {
    /// Its physics.
    pub physics_us: f64,
    /// Its systems.
    pub systems_us: f64,
    /// Its sensors.
    pub sensors_us: f64,
}

/// Speed of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Speed {
    /// Simulated over real time.
    pub real_time_factor: f64,
    /// Iterations per second of real time.
    pub steps_per_s: f64,
}

impl Meter {
    /// Starts to measure.
    pub fn new(step_size: Duration) -> Self {
        Self {
            whole_run: WholeRun::new(),
            peers: BTreeMap::new(),
            steps: 0,
            cells: Vec::new(),
            advanced: 0,
            split: SplitMeter::default(),
            window: VecDeque::new(),
            running_since: None,
            ran: Duration::ZERO,
            step_size,
        }
    }

    /// Counts with another simulated time per iteration from now on.
    pub fn set_step_size(&mut self, step_size: Duration) {
        self.step_size = step_size;
    }

    /// Takes a step that is done, whose last answer came at `arrived` and was taken in at `now`.
    pub fn on_step(&mut self, report: &StepReport, arrived: SessionTime, now: SessionTime) {
        let begin = SessionTime(now.0.saturating_sub(report.duration.as_nanos() as u64));
        let lag = self.split.published().unwrap_or(begin).since(begin);
        let race = Race::of(&report.peers, lag);
        self.steps += 1;
        for peer in &report.peers {
            if let Some(meter) = self.peers.get_mut(&peer.name) {
                meter.on_step(peer, race, self.steps);
            } else {
                let meter = self.peers.entry(peer.name.clone()).or_default();
                meter.on_step(peer, race, self.steps);
            }
        }
        let last = report.peers.iter().max_by_key(|peer| peer.answered_after);
        let step = (!report.paused).then_some(report.duration);
        self.split.on_round(last, step, arrived);
        if report.paused {
            return;
        }
        for timing in &report.cells {
            let cell = timing.cell.0 as usize;
            let mut meter = self.cell(timing.cell);
            let of = |time_ns: u64| time_ns as f64 / 1e3;
            smooth(&mut meter.physics_us, of(timing.physics_ns));
            smooth(&mut meter.systems_us, of(timing.systems_ns));
            smooth(&mut meter.sensors_us, of(timing.sensors_ns));
            if cell >= self.cells.len() {
                self.cells.resize(cell + 1, Default::default());
            }
            self.cells[cell] = (meter, self.advanced + 1);
        }
        self.advanced += 1;
        let physics = report
            .peers
            .iter()
            .map(|peer| peer.physics)
            .max()
            .unwrap_or_default();
        let work = report.peers.iter().map(|peer| peer.busy).sum();
        self.whole_run.on_step(report.duration, physics, work);
        let is_new = self
            .window
            .back()
            .is_none_or(|(at, _)| now.since(*at) >= SAMPLE_DISTANCE);
        if is_new {
            self.window.push_back((now, report.iteration));
        }
    }

    /// Tells whether simulated time runs.
    pub fn is_running(&self) -> bool {
        self.running_since.is_some()
    }

    /// Notes whether simulated time runs.
    pub fn note_running(&mut self, running: bool, now: SessionTime) {
        match (running, self.running_since) {
            (true, None) => {
                self.running_since = Some(now);
                self.window.clear();
                self.split.interrupt();
            }
            (false, Some(since)) => {
                self.running_since = None;
                self.ran += now.since(since);
                self.window.clear();
            }
            (true, Some(_)) | (false, None) => {}
        }
    }

    /// Takes a secondary's heartbeat.
    pub fn on_heartbeat(&mut self, name: &PeerName, beat: &Heartbeat) {
        let meter = self.peers.entry(name.clone()).or_default();
        meter.on_heartbeat(beat);
    }

    /// Takes note that a step is handed to the link.
    pub fn on_published(&mut self, now: SessionTime) {
        self.split.on_published(now);
    }

    /// Takes note of time in which the primary had nothing to do.
    pub fn on_idle(&mut self, idle: Duration, reason: IdleReason) {
        self.split.on_idle(idle, reason);
    }

    /// Returns where the time of iterations went over the last second, and percentiles of the
    /// steps of that time: of at most the last 1,000.
    pub fn recent(&mut self, now: SessionTime) -> (Split, Percentiles) {
        self.split.recent(now)
    }

    /// Returns how long the steps of the run took.
    pub fn steps(&self) -> StepHistogram {
        self.whole_run.steps()
    }

    /// Returns what was measured of a cell: a step in which it was at rest took no time.
    pub fn cell(&self, cell: CellId) -> CellMeter {
        let Some((measured, at)) = self.cells.get(cell.0 as usize) else {
            return CellMeter::default();
        };
        let rested = self.advanced.saturating_sub(*at);
        let left = (1.0 - SMOOTHING).powi(i32::try_from(rested).unwrap_or(i32::MAX));
        CellMeter {
            physics_us: measured.physics_us * left,
            systems_us: measured.systems_us * left,
            sensors_us: measured.sensors_us * left,
        }
    }

    /// Returns what was measured of a secondary.
    pub fn peer(&self, name: &PeerName) -> PeerMeter {
        let meter = self.peers.get(name);
        meter.map_or_else(PeerMeter::default, |meter| meter.with_step(self.steps))
    }

    /// Returns the speed over the last second.
    pub fn current_speed(&mut self, iteration: Iteration, now: SessionTime) -> Speed {
        while self.window.len() > 1
            && self
                .window
                .front()
                .is_some_and(|(at, _)| now.since(*at) > WINDOW)
        {
            self.window.pop_front();
        }
        let Some((at, begin)) = self.window.front() else {
            return Speed::default();
        };
        self.speed(iteration.0.saturating_sub(begin.0), now.since(*at))
    }

    /// Returns the speed over the time in which simulated time ran.
    pub fn overall_speed(&self, iteration: Iteration, now: SessionTime) -> Speed {
        let current = self
            .running_since
            .map_or(Duration::ZERO, |since| now.since(since));
        self.speed(iteration.0, self.ran + current)
    }

    /// Returns what all secondaries together worked for an iteration, on average \[us\].
    pub fn work_us(&self) -> f64 {
        self.whole_run.work_us()
    }

    /// Returns percentiles of steps, physics and overhead, in this order.
    pub fn percentiles(&self) -> [Percentiles; 3] {
        self.whole_run.percentiles()
    }

    /// Returns the same for those who look often: while simulated time runs, of a second ago at
    /// the earliest.
    pub fn recent_percentiles(&mut self, now: SessionTime) -> [Percentiles; 3] {
        self.whole_run.told(self.running_since.is_some(), now)
    }

    fn speed(&self, iterations: u64, elapsed: Duration) -> Speed {
        let seconds = elapsed.as_secs_f64();
        if seconds <= 0.0 {
            return Speed::default();
        }
        let steps_per_s = iterations as f64 / seconds;
        Speed {
            real_time_factor: steps_per_s * self.step_size.as_secs_f64(),
            steps_per_s,
        }
    }
}

fn smooth(value: &mut f64, newest: f64) {
    *value += SMOOTHING * (newest - *value);
    // What is 0 from now on would come to subnormal numbers, with which processors are slow.
    if value.abs() < NOTHING {
        *value = 0.0;
    }
}

fn micros(duration: Duration) -> f64 {
    duration.as_nanos() as u64 as f64 / 1e3
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockstep::{CellTiming, PeerTiming};
    use protocol::Digest;

    const MS: u64 = 1_000_000;

    fn report(iteration: u64, answered_after_us: [u64; 2]) -> StepReport {
        let peer = |name: &str, after| PeerTiming {
            published: 0,
            name: name.parse().unwrap(),
            physics: Duration::from_micros(after / 2),
            systems: Duration::ZERO,
            sensors: Duration::ZERO,
            busy: Duration::from_micros(after * 3 / 4),
            answered_after: Duration::from_micros(after),
        };
        StepReport {
            sequence: protocol::Sequence(iteration),
            schedule_left: 0,
            iteration: Iteration(iteration),
            paused: false,
            digest: Digest::default(),
            rearranged: false,
            duration: Duration::from_micros(answered_after_us.into_iter().max().unwrap()),
            peers: vec![
                peer("s1", answered_after_us[0]),
                peer("s2", answered_after_us[1]),
            ],
            cells: vec![CellTiming {
                cell: CellId(3),
                physics_ns: 70_000,
                systems_ns: 8_000,
                sensors_ns: 0,
            }],
        }
    }

    #[test]
    fn the_slower_secondary_is_the_last_and_the_other_waits() {
        let mut meter = Meter::new(Duration::from_millis(1));
        for iteration in 1..500 {
            let now = SessionTime(iteration * MS);
            meter.on_step(&report(iteration, [100, 400]), now, now);
        }
        let (s1, s2) = (
            meter.peer(&"s1".parse().unwrap()),
            meter.peer(&"s2".parse().unwrap()),
        );
        assert!(
            s1.last_share < 0.001 && s2.last_share > 0.999,
            "{s1:?} {s2:?}"
        );
        assert!(
            (s1.wait_us - 300.0).abs() < 1.0 && s2.wait_us < 1.0,
            "{s1:?} {s2:?}"
        );
        assert!(
            s1.blocked_us < 1.0 && (s2.blocked_us - 300.0).abs() < 1.0,
            "{s1:?} {s2:?}"
        );
        assert!((s2.network_us - 100.0).abs() < 1.0, "{s2:?}");
        assert!((meter.cell(CellId(3)).physics_us - 70.0).abs() < 1.0);
        let [step, physics, overhead] = meter.percentiles();
        assert!((step.p50 - 400.0).abs() < 1.0, "{step:?}");
        assert!((physics.p50 - 200.0).abs() < 1.0, "{physics:?}");
        assert!((overhead.p99 - 200.0).abs() < 1.0, "{overhead:?}");
    }

    #[test]
    fn one_that_no_step_waits_for_takes_less_with_every_step() {
        let mut meter = Meter::new(Duration::from_millis(1));
        let name: PeerName = "s2".parse().unwrap();
        let mut iteration = 0;
        let mut step = |takes_part: bool| {
            iteration += 1;
            let mut report = report(iteration, [100, 400]);
            if !takes_part {
                report.peers.pop();
            }
            let now = SessionTime(iteration * MS);
            meter.on_step(&report, now, now);
            meter.peer(&name)
        };
        let once = step(true);
        let mut without = once.clone();
        for _ in 0..3 {
            without = step(false);
        }
        let left = (1.0 - SMOOTHING).powi(3);
        assert!(once.busy_us > 0.0 && (without.busy_us - once.busy_us * left).abs() < 1e-9);
        assert!(without.blocked_us < once.blocked_us && without.last_share < once.last_share);
        assert_eq!(without.network_us, once.network_us, "its way is as long");
        let again = step(true);
        let expected = without.busy_us + SMOOTHING * (300.0 - without.busy_us);
        assert!((again.busy_us - expected).abs() < 1e-9);
    }

    #[test]
    fn a_cell_at_rest_takes_less_with_every_step_of_the_others() {
        let mut meter = Meter::new(Duration::from_millis(1));
        let mut step = |iteration, is_at_rest| {
            let mut report = report(iteration, [100, 400]);
            if is_at_rest {
                report.cells.clear();
            }
            let now = SessionTime(iteration * MS);
            meter.on_step(&report, now, now);
            meter.cell(CellId(3)).physics_us
        };
        let once = step(1, false);
        assert!((once - 70.0 * SMOOTHING).abs() < 1e-9);
        let rested = [2, 3, 4].map(|iteration| step(iteration, true));
        assert!((rested[2] - once * (1.0 - SMOOTHING).powi(3)).abs() < 1e-9);
        let again = step(5, false);
        assert!((again - (rested[2] + SMOOTHING * (70.0 - rested[2]))).abs() < 1e-9);
    }

    #[test]
    fn what_takes_no_time_any_more_ends_at_0() {
        let mut value = 5.0;
        for _ in 0..1_000 {
            smooth(&mut value, 0.0);
        }
        assert_eq!(value, 0.0);
        smooth(&mut value, 1e-3);
        assert!(value > 0.0, "a nanosecond counts");
    }

    #[test]
    fn a_step_that_hangs_leaves_no_figures_of_the_steps_before() {
        let mut meter = Meter::new(Duration::from_millis(1));
        meter.note_running(true, SessionTime(0));
        for iteration in 1..=10 {
            let now = SessionTime(iteration * MS);
            meter.on_published(SessionTime(now.0 - MS / 2));
            meter.on_step(&report(iteration, [100, 400]), now, now);
        }
        meter.on_published(SessionTime(11 * MS));
        assert!(meter.recent(SessionTime(900 * MS)).0.period_us() > 0.0);
        let (split, steps) = meter.recent(SessionTime(1_100 * MS));
        assert_eq!((split.period_us(), steps), (0.0, Percentiles::default()));
        let now = SessionTime(1_200 * MS);
        meter.on_step(&report(11, [100, 400]), now, now);
        assert!(meter.recent(now).0.period_us() > 0.0);
    }

    #[test]
    fn time_that_stands_still_does_not_count() {
        let mut meter = Meter::new(Duration::from_millis(1));
        meter.note_running(true, SessionTime(0));
        meter.note_running(false, SessionTime(1000 * MS));
        meter.note_running(true, SessionTime(9000 * MS));
        let speed = meter.overall_speed(Iteration(4000), SessionTime(10_000 * MS));
        assert!((speed.real_time_factor - 2.0).abs() < 1e-9, "{speed:?}");
        assert!((speed.steps_per_s - 2000.0).abs() < 1e-6, "{speed:?}");
    }

    #[test]
    fn the_current_speed_is_that_of_the_last_second() {
        let mut meter = Meter::new(Duration::from_millis(1));
        meter.note_running(true, SessionTime(0));
        for ms in 0..5000 {
            let iteration = if ms < 3000 {
                ms
            } else {
                3000 + (ms - 3000) * 2
            };
            let now = SessionTime(ms * MS);
            meter.on_step(&report(iteration, [1, 1]), now, now);
        }
        let speed = meter.current_speed(Iteration(7000), SessionTime(5000 * MS));
        assert!((speed.real_time_factor - 2.0).abs() < 0.02, "{speed:?}");
    }
}
