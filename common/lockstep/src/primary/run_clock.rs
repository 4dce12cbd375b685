//! [`RunClock`]: which iteration and time a run is at, and whether time runs.

use protocol::{Iteration, Sequence, SimTime};
use serde::{Deserialize, Serialize};

use crate::pace::Pace;

/// The clock of a run.
#[derive(Debug)]
pub(crate) struct RunClock {
    /// The last iteration that is complete.
    pub(crate) iteration: Iteration,
    pub(crate) sim_time: SimTime,
    /// Simulated time since the start or the last reset of models.
    pub(crate) elapsed: SimTime,
    /// The last step that was published.
    pub(crate) sequence: Sequence,
    pub(crate) mode: ClockMode,
    pub(crate) pace: Pace,
}

/// What the steps aim at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum ClockMode {
    /// Time stands still.
    Paused,
    /// A pause was asked for and is to be acknowledged by all secondaries.
    Pausing,
    /// Time runs.
    Running,
    /// Time runs until this iteration is done.
    Until(Iteration),
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
}
