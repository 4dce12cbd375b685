//! [`RunClock`]: iteration and time of a run, its pace, and whether time runs.

use std::time::Duration;

use protocol::primary_to_observers::{Clock, PrimaryToObservers};
use protocol::primary_to_secondary::Step;
use protocol::{FailureCode, Iteration, Sequence, SessionTime, SimTime};
use serde::{Deserialize, Serialize};

use crate::pace::Pace;
use crate::primary::context::{CodedError, Context};
use crate::primary::io::PrimaryOutput;
use crate::primary::purpose::Purpose;

/// The clock of a run.
#[derive(Debug)]
pub(crate) struct RunClock {
    /// The last iteration that is complete.
    iteration: Iteration,
    sim_time: SimTime,
    /// Simulated time since the start or the last reset of models.
    elapsed: SimTime,
    /// The last step that was published.
    sequence: Sequence,
    mode: ClockMode,
    pace: Pace,
}

/// Mode of a clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum ClockMode {
    /// Time is paused.
    Paused,
    /// A pause was asked for and is to be acknowledged by all secondaries.
    Pausing,
    /// Time runs.
    Running,
    /// Time runs until this iteration is done.
    Until(Iteration),
}

/// Number and times of a step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StepTime {
    pub(crate) sequence: Sequence,
    pub(crate) iteration: Iteration,
    pub(crate) sim_time: SimTime,
    pub(crate) elapsed: SimTime,
    /// Simulated time that passes in it; zero in a paused step.
    pub(crate) passes: Duration,
}

/// Saved state of a clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SavedClock {
    pub(crate) iteration: Iteration,
    pub(crate) sim_time: SimTime,
    pub(crate) elapsed: SimTime,
    pub(crate) sequence: Sequence,
    pub(crate) mode: ClockMode,
}

/// A number of iterations that cannot be done.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub(crate) enum StepCountError {
    #[error("the secondaries are not ready yet")]
    NotReady,
    #[error("the number of iterations must be at least 1")]
    Zero,
    #[error("the simulation is running: pause it first")]
    IsRunning,
    #[error("the number of iterations is too large")]
    TooLarge,
    #[error("the run ends at iteration {limit}, before iteration {last}")]
    BeyondEnd { limit: u64, last: Iteration },
    #[error("{sim_time_s} s is not later than now, {now}")]
    Past { sim_time_s: f64, now: SimTime },
}

impl CodedError for StepCountError {
    fn code(&self) -> FailureCode {
        match self {
            Self::NotReady => FailureCode::NotReady,
            Self::IsRunning => FailureCode::WrongState,
            Self::Zero | Self::TooLarge | Self::BeyondEnd { .. } | Self::Past { .. } => {
                FailureCode::Invalid
            }
        }
    }
}

impl RunClock {
    /// Makes the clock of a run that begins, paused or not.
    pub(crate) fn new(is_paused: bool, pace: Pace) -> Self {
        Self {
            iteration: Iteration(0),
            sim_time: SimTime(0),
            elapsed: SimTime(0),
            sequence: Sequence(0),
            mode: if is_paused {
                ClockMode::Paused
            } else {
                ClockMode::Running
            },
            pace,
        }
    }

    /// Saves its state, with the mode that is wanted.
    pub(crate) fn save(&self, mode: ClockMode) -> SavedClock {
        SavedClock {
            iteration: self.iteration,
            sim_time: self.sim_time,
            elapsed: self.elapsed,
            sequence: self.sequence,
            mode,
        }
    }

    /// Makes the clock of a run that goes on.
    pub(crate) fn restore(saved: SavedClock, pace: Pace) -> Self {
        Self {
            iteration: saved.iteration,
            sim_time: saved.sim_time,
            elapsed: saved.elapsed,
            sequence: saved.sequence,
            mode: saved.mode,
            pace,
        }
    }

    /// Returns the last iteration that is complete.
    pub(crate) fn iteration(&self) -> Iteration {
        self.iteration
    }

    /// Returns simulated time after the last iteration that is complete.
    pub(crate) fn sim_time(&self) -> SimTime {
        self.sim_time
    }

    /// Returns simulated time since the start or the last reset of models.
    pub(crate) fn elapsed(&self) -> SimTime {
        self.elapsed
    }

    /// Returns the number of the last step that was published.
    pub(crate) fn sequence(&self) -> Sequence {
        self.sequence
    }

    pub(crate) fn mode(&self) -> ClockMode {
        self.mode
    }

    /// Tells whether time runs, with or without an end.
    pub(crate) fn is_running(&self) -> bool {
        matches!(self.mode, ClockMode::Running | ClockMode::Until(_))
    }

    pub(crate) fn is_paused(&self) -> bool {
        self.mode == ClockMode::Paused
    }

    /// Returns the iteration after which time is paused, if one is set.
    pub(crate) fn last(&self) -> Option<Iteration> {
        match self.mode {
            ClockMode::Until(last) => Some(last),
            ClockMode::Paused | ClockMode::Pausing | ClockMode::Running => None,
        }
    }

    /// Returns the time of the next step of its own accord; a paused clock makes none, unless
    /// `has_changes` asks for one.
    pub(crate) fn next_due(&self, has_changes: bool) -> Option<SessionTime> {
        match self.mode {
            ClockMode::Paused => has_changes.then_some(SessionTime(0)),
            ClockMode::Pausing => Some(SessionTime(0)),
            ClockMode::Running | ClockMode::Until(_) => Some(self.pace.due()),
        }
    }

    /// Returns the time from one iteration to the next that the pace asks for; 0 is as fast as
    /// possible.
    pub(crate) fn period(&self) -> Duration {
        self.pace.period()
    }

    /// Tells whether the next iteration is due already, so that nothing but time is wanting.
    pub(crate) fn is_late(&self, now: SessionTime) -> bool {
        self.pace.is_late(now)
    }

    /// Returns the purpose of the step that is due, and takes an iteration out of the pace.
    pub(crate) fn next_purpose(&mut self, are_commands_due: bool, now: SessionTime) -> Purpose {
        match self.mode {
            _ if are_commands_due => Purpose::Rearrange,
            ClockMode::Paused => Purpose::Rearrange,
            ClockMode::Pausing => Purpose::Pause,
            ClockMode::Running | ClockMode::Until(_) => {
                self.pace.begin(now);
                Purpose::Advance
            }
        }
    }

    /// Gives the next step its number and its times.
    pub(crate) fn begin_step(&mut self, purpose: Purpose, step_size: Duration) -> StepTime {
        let (iteration, passes) = if purpose == Purpose::Advance {
            (self.iteration.next(), step_size)
        } else {
            (self.iteration, Duration::ZERO)
        };
        self.sequence = self.sequence.next();
        StepTime {
            sequence: self.sequence,
            iteration,
            sim_time: self.sim_time + passes,
            elapsed: self.elapsed + passes,
            passes,
        }
    }

    /// Notes that a step is complete.
    pub(crate) fn complete(&mut self, step: &Step) {
        self.iteration = step.iteration;
        self.sim_time = step.sim_time;
        self.elapsed = step.elapsed;
    }

    /// Stops after a step that was to be the last, and once a pause is acknowledged.
    pub(crate) fn stop_after(&mut self, purpose: Purpose) {
        if purpose == Purpose::Pause && self.mode == ClockMode::Pausing {
            self.mode = ClockMode::Paused;
        }
        if self.last().is_some_and(|last| self.iteration >= last) {
            self.mode = ClockMode::Paused;
        }
    }

    /// Lets time run; tells whether that is new.
    pub(crate) fn play(&mut self, now: SessionTime) -> bool {
        let is_new = self.mode != ClockMode::Running;
        if is_new {
            self.mode = ClockMode::Running;
            self.pace.restart(now);
        }
        is_new
    }

    /// Asks for a pause; tells whether that is new.
    pub(crate) fn pause(&mut self) -> bool {
        let is_new = self.mode != ClockMode::Pausing;
        self.mode = ClockMode::Pausing;
        is_new
    }

    /// Returns the last of so many iterations more.
    ///
    /// # Errors
    /// Fails when time runs, or the run ends before.
    pub(crate) fn last_of(
        &self,
        count: u64,
        limit: Option<u64>,
    ) -> Result<Iteration, StepCountError> {
        if count == 0 {
            return Err(StepCountError::Zero);
        }
        let begins = match self.mode {
            ClockMode::Paused => self.iteration,
            ClockMode::Until(last) => last,
            ClockMode::Running | ClockMode::Pausing => return Err(StepCountError::IsRunning),
        };
        let last = begins
            .0
            .checked_add(count)
            .ok_or(StepCountError::TooLarge)?;
        match limit.filter(|limit| last > *limit) {
            Some(limit) => Err(StepCountError::BeyondEnd {
                limit,
                last: Iteration(last),
            }),
            None => Ok(Iteration(last)),
        }
    }

    /// Returns the number of iterations until a simulated time \[s\].
    ///
    /// # Errors
    /// Fails when that is over.
    pub(crate) fn count_until(
        &self,
        sim_time_s: f64,
        step_size: Duration,
    ) -> Result<u64, StepCountError> {
        let way_ns = (sim_time_s * 1e9).round() - self.sim_time.0 as f64;
        if !sim_time_s.is_finite() || way_ns <= 0.0 {
            let now = self.sim_time;
            return Err(StepCountError::Past { sim_time_s, now });
        }
        Ok((way_ns / step_size.as_nanos() as f64).ceil() as u64)
    }

    /// Lets time run until an iteration is done.
    pub(crate) fn run_until(&mut self, last: Iteration, now: SessionTime) {
        if self.is_paused() {
            self.pace.restart(now);
        }
        self.mode = ClockMode::Until(last);
    }

    pub(crate) fn set_mode(&mut self, mode: ClockMode) {
        self.mode = mode;
    }

    /// Sets the pace: the next iteration is due now.
    pub(crate) fn set_pace(&mut self, step_size: Duration, factor: f64, now: SessionTime) {
        self.pace = Pace::new(step_size, factor);
        self.pace.restart(now);
    }

    /// Sets the step size: the next iteration is due when it was.
    pub(crate) fn set_step_size(&mut self, step_size: Duration, factor: f64) {
        self.set_pace(step_size, factor, self.pace.due());
    }

    /// Starts the pace anew: the next iteration is due now.
    pub(crate) fn restart_pace(&mut self, now: SessionTime) {
        self.pace.restart(now);
    }

    /// Sets simulated time back to zero; iterations go on.
    pub(crate) fn reset_time(&mut self) {
        self.sim_time = SimTime(0);
    }

    /// Sets the time since the last reset of models to zero.
    pub(crate) fn reset_elapsed(&mut self) {
        self.elapsed = SimTime(0);
    }

    /// Has observers told of the time, and whether it runs.
    pub(crate) fn observe(&self, cx: &mut Context<'_>) {
        cx.push(PrimaryOutput::Observe(PrimaryToObservers::Clock(Clock {
            iteration: self.iteration,
            sim_time: self.sim_time,
            paused: self.is_paused(),
        })));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STEP: Duration = Duration::from_millis(1);

    fn clock(is_paused: bool) -> RunClock {
        RunClock::new(is_paused, Pace::new(STEP, 0.0))
    }

    #[test]
    fn steps_are_counted_from_where_time_stops() {
        let mut clock = clock(true);
        assert_eq!(clock.last_of(3, None), Ok(Iteration(3)));
        clock.run_until(Iteration(3), SessionTime(0));
        assert_eq!(clock.last_of(2, Some(5)), Ok(Iteration(5)), "they add up");
        let (limit, last) = (4, Iteration(5));
        let beyond = StepCountError::BeyondEnd { limit, last };
        assert_eq!(clock.last_of(2, Some(4)), Err(beyond));
        assert_eq!(clock.last_of(0, None), Err(StepCountError::Zero));
        assert_eq!(clock.last_of(u64::MAX, None), Err(StepCountError::TooLarge));
        assert!(clock.play(SessionTime(0)));
        assert_eq!(clock.last_of(1, None), Err(StepCountError::IsRunning));
    }

    #[test]
    fn a_pause_holds_once_it_is_acknowledged() {
        let mut clock = clock(false);
        assert!(clock.pause() && !clock.pause(), "the second is not new");
        clock.stop_after(Purpose::Advance);
        assert_eq!(clock.mode(), ClockMode::Pausing);
        assert_eq!(clock.next_purpose(false, SessionTime(0)), Purpose::Pause);
        clock.stop_after(Purpose::Pause);
        assert!(clock.is_paused());
        assert_eq!(clock.next_due(false), None);
    }

    #[test]
    fn only_an_iteration_takes_time() {
        let mut clock = clock(false);
        let paused = clock.begin_step(Purpose::Rearrange, STEP);
        assert_eq!(
            (paused.iteration, paused.sim_time),
            (Iteration(0), SimTime(0))
        );
        let step = clock.begin_step(Purpose::Advance, STEP);
        assert_eq!((step.sequence, step.iteration), (Sequence(2), Iteration(1)));
        assert_eq!(step.sim_time, SimTime(1_000_000));
    }

    #[test]
    fn a_time_that_is_over_is_refused() {
        let clock = clock(true);
        assert_eq!(clock.count_until(0.0025, STEP), Ok(3));
        for past in [0.0, -1.0] {
            let refused = clock.count_until(past, STEP);
            assert!(matches!(refused, Err(StepCountError::Past { .. })));
        }
        assert!(clock.count_until(f64::NAN, STEP).is_err());
    }
}
