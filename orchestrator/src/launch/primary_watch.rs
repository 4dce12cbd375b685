//! [`PrimaryWatch`]: judges whether the process that keeps a run's time hangs.
//!
//! It is heard in two ways: its status thread beats, and its stepper gives it figures to publish.
//! A process that is stopped does neither; one whose stepper is stuck, as by a disk that hangs,
//! still beats. Silence is counted in the time in which this process itself ran, so that a stall
//! of its own, or of the whole machine, is not taken for one of the primary.

use std::time::Duration;

use tokio::time::Instant;

use super::process_state::ProcessState;

/// Time between two counts of silence.
pub const WATCH_PERIOD: Duration = Duration::from_millis(100);

/// The most that one look adds to a silence: what is longer was a stall of one's own.
const LOOK_MAX: Duration = Duration::from_millis(200);

/// Time between two tellings of a silence that lasts.
const REPEAT: Duration = Duration::from_secs(10);

/// Limits of a primary's silence.
#[derive(Clone, Copy, Debug)]
pub struct WatchLimits {
    /// Silence after which it is told.
    pub silent_after: Duration,
    /// Silence after which it is lost.
    pub lost_after: Duration,
    /// True if it is never lost as long as its process is stopped.
    pub waits_for_debugger: bool,
}

/// Something that was heard of a primary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// Its status thread lives.
    Beat,
    /// Its stepper lives.
    Figures,
    /// It has said that the run ends: it writes what is left, and need not be heard any more.
    Ending,
}

/// Step to take about a primary: what is told, or done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is silent.
    Silent(String),
    /// It was silent and is heard again.
    Back(String),
    /// It is lost.
    Lost(String),
}

/// Watches a primary.
#[derive(Debug)]
pub struct PrimaryWatch {
    name: String,
    limits: WatchLimits,
    beats_missing: Duration,
    figures_missing: Duration,
    /// True if its stepper was ever heard: until then it reads the world.
    has_begun: bool,
    is_ending: bool,
    /// Time when it is told next, in time of silence.
    tell_at: Duration,
    is_lost: bool,
    cpu_ticks: Option<u64>,
    looked_at: Instant,
}

impl PrimaryWatch {
    /// Begins to watch a primary that was started just now; `name` says which process it is.
    pub fn new(name: String, limits: WatchLimits, now: Instant) -> Self {
        Self {
            name,
            limits,
            beats_missing: Duration::ZERO,
            figures_missing: Duration::ZERO,
            has_begun: false,
            is_ending: false,
            tell_at: limits.silent_after,
            is_lost: false,
            cpu_ticks: None,
            looked_at: now,
        }
    }

    /// Notes that it was heard.
    pub fn on_sign(&mut self, sign: Sign) -> Option<Verdict> {
        match sign {
            Sign::Beat => {
                self.beats_missing = Duration::ZERO;
                return None;
            }
            Sign::Ending => self.is_ending = true,
            Sign::Figures => self.has_begun = true,
        }
        self.beats_missing = Duration::ZERO;
        let was_missing = std::mem::take(&mut self.figures_missing);
        let was_told = self.tell_at > self.limits.silent_after;
        self.tell_at = self.limits.silent_after;
        let seconds = was_missing.as_secs_f64();
        let text = format!("{} is heard again after {seconds:.1} s", self.name);
        (was_told && !self.is_lost).then_some(Verdict::Back(text))
    }

    /// Tells whether it would welcome a secondary that is started now.
    pub fn is_responsive(&self) -> bool {
        !self.has_begun || self.figures_missing < self.limits.silent_after / 2
    }

    /// Counts the time that has passed; `look` looks at the process.
    pub fn tick(&mut self, now: Instant, look: impl FnOnce() -> ProcessState) -> Option<Verdict> {
        let passed = now.saturating_duration_since(self.looked_at).min(LOOK_MAX);
        self.looked_at = now;
        self.beats_missing += passed;
        self.figures_missing += passed;
        // While it reads the world or writes what is left it says nothing, but works.
        let is_heard_normally = self.has_begun && !self.is_ending;
        let is_due = self.figures_missing >= self.tell_at.min(self.limits.lost_after);
        if self.is_lost || is_heard_normally && !is_due {
            return None;
        }
        let state = look();
        if !is_heard_normally && self.has_worked(state) {
            (self.beats_missing, self.figures_missing) = (Duration::ZERO, Duration::ZERO);
            self.tell_at = self.limits.silent_after;
            return None;
        }
        if !is_due {
            return None;
        }
        self.judge(state)
    }

    fn judge(&mut self, state: ProcessState) -> Option<Verdict> {
        let text = self.describe(state);
        let is_spared = state.waits_for_device
            || self.limits.waits_for_debugger && state.is_stopped
            || self.figures_missing < self.limits.lost_after;
        if !is_spared {
            self.is_lost = true;
            return Some(Verdict::Lost(text));
        }
        if self.figures_missing < self.tell_at {
            return None;
        }
        self.tell_at = self.figures_missing + REPEAT;
        Some(Verdict::Silent(text))
    }

    fn has_worked(&mut self, state: ProcessState) -> bool {
        let before = std::mem::replace(&mut self.cpu_ticks, state.cpu_ticks);
        before != state.cpu_ticks
    }

    fn describe(&self, state: ProcessState) -> String {
        let seconds = self.figures_missing.as_secs_f64();
        let name = &self.name;
        let what = if self.is_ending {
            "was to end the run and has done nothing"
        } else if !self.has_begun {
            "was to read the world and has done nothing"
        } else if self.beats_missing < self.limits.silent_after / 2 {
            "does no step, though its heart beats,"
        } else {
            "has published nothing"
        };
        format!("{name} {what} for {seconds:.1} s: {}", state.describe())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: WatchLimits = WatchLimits {
        silent_after: Duration::from_secs(2),
        lost_after: Duration::from_secs(32),
        waits_for_debugger: false,
    };

    struct Rig {
        watch: PrimaryWatch,
        now: Instant,
        state: ProcessState,
    }

    impl Rig {
        fn new(limits: WatchLimits) -> Self {
            let now = Instant::now();
            Self {
                watch: PrimaryWatch::new("primary (pid 7)".to_owned(), limits, now),
                now,
                state: ProcessState {
                    cpu_ticks: Some(1),
                    ..ProcessState::default()
                },
            }
        }

        fn begun(limits: WatchLimits) -> Self {
            let mut rig = Self::new(limits);
            assert_eq!(rig.watch.on_sign(Sign::Figures), None);
            rig
        }

        /// Lets seconds pass, with these signs in each tenth of one; returns what is said when.
        fn pass(&mut self, seconds: u32, signs: &[Sign]) -> Vec<(u32, Verdict)> {
            let mut said = Vec::new();
            for tenth in 1..=seconds * 10 {
                self.now += WATCH_PERIOD;
                let state = self.state;
                said.extend(self.watch.tick(self.now, || state).map(|it| (tenth, it)));
                for sign in signs {
                    said.extend(self.watch.on_sign(*sign).map(|it| (tenth, it)));
                }
            }
            said
        }
    }

    #[track_caller]
    fn check(said: &[(u32, Verdict)], expected: &[(u32, &str)]) {
        let said: Vec<(u32, String)> = said
            .iter()
            .map(|(tenth, verdict)| {
                let (kind, text) = match verdict {
                    Verdict::Silent(text) => ("silent", text),
                    Verdict::Back(text) => ("back", text),
                    Verdict::Lost(text) => ("lost", text),
                };
                (*tenth, format!("{kind}: {text}"))
            })
            .collect();
        assert_eq!(said.len(), expected.len(), "{said:#?}");
        for ((tenth, text), (at, part)) in said.iter().zip(expected) {
            assert!(tenth == at && text.contains(part), "{at} {part}: {said:#?}");
        }
    }

    #[test]
    fn a_process_that_publishes_nothing_is_told_and_then_lost() {
        let mut rig = Rig::begun(LIMITS);
        rig.state.is_stopped = true;
        let expected = [
            (
                20,
                "silent: primary (pid 7) has published nothing for 2.0 s",
            ),
            (120, "for 12.0 s: its process is stopped"),
            (220, "silent"),
            (
                320,
                "lost: primary (pid 7) has published nothing for 32.0 s",
            ),
        ];
        check(&rig.pass(60, &[]), &expected);
    }

    #[test]
    fn a_process_that_is_heard_again_in_time_is_not_lost() {
        let mut rig = Rig::begun(LIMITS);
        check(&rig.pass(31, &[]), &[(20, ""), (120, ""), (220, "")]);
        assert!(!rig.watch.is_responsive());
        let said = rig.watch.on_sign(Sign::Figures).map(|said| (0, said));
        check(
            said.as_slice(),
            &[(0, "back: primary (pid 7) is heard again")],
        );
        assert!(rig.watch.is_responsive());
        check(&rig.pass(10, &[Sign::Figures]), &[]);
        check(&rig.pass(3, &[]), &[(20, "silent")]);
    }

    #[test]
    fn a_stepper_that_is_stuck_is_told_apart_from_a_process_that_is() {
        let mut rig = Rig::begun(LIMITS);
        let said = rig.pass(3, &[Sign::Beat]);
        check(
            &said,
            &[(20, "does no step, though its heart beats, for 2.0 s")],
        );
    }

    #[test]
    fn a_process_that_waits_for_a_device_is_not_lost() {
        let mut rig = Rig::begun(LIMITS);
        rig.state.waits_for_device = true;
        let said = rig.pass(60, &[Sign::Beat]);
        assert_eq!(said.len(), 6, "{said:?}");
        assert!(said.iter().all(|(_, it)| matches!(it, Verdict::Silent(_))));
        rig.state.waits_for_device = false;
        check(&rig.pass(1, &[Sign::Beat]), &[(1, "lost")]);
    }

    #[test]
    fn a_process_in_a_debugger_is_waited_for_if_that_is_wanted() {
        let mut rig = Rig::begun(WatchLimits {
            waits_for_debugger: true,
            ..LIMITS
        });
        rig.state.is_stopped = true;
        let said = rig.pass(60, &[]);
        assert!(said.iter().all(|(_, it)| matches!(it, Verdict::Silent(_))));
    }

    #[test]
    fn a_stall_of_ones_own_is_no_silence_of_the_primary() {
        let mut rig = Rig::begun(LIMITS);
        rig.now += Duration::from_hours(1);
        check(&rig.pass(1, &[]), &[]);
        assert_eq!(rig.watch.on_sign(Sign::Figures), None);
    }

    #[test]
    fn while_it_reads_the_world_or_writes_what_is_left_only_idleness_counts() {
        for is_ending in [false, true] {
            let mut rig = Rig::new(LIMITS);
            if is_ending {
                rig.watch.on_sign(Sign::Figures);
                rig.watch.on_sign(Sign::Ending);
            }
            for _ in 0..100 {
                check(&rig.pass(1, &[]), &[]);
                rig.state.cpu_ticks = rig.state.cpu_ticks.map(|ticks| ticks + 1);
            }
            let said = rig.pass(40, &[]);
            assert!(
                matches!(said.last(), Some((_, Verdict::Lost(_)))),
                "{said:?}"
            );
        }
    }
}
