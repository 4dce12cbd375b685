//! Storage that fails: what is done cannot be written down, and time is paused until it can.
//!
//! A run that went on would have iterations that nobody could take up again.

use protocol::primary_to_observers::Severity;
use protocol::{Command, FailureCode, Iteration};

use crate::primary::context::{Context, Failure};
use crate::primary::resume::Resume;
use crate::primary::run_clock::ClockMode;

/// A failure of the storage.
#[derive(Debug)]
pub(crate) struct StorageFailure {
    cause: String,
    /// Mode of the clock before, and again afterwards.
    mode: ClockMode,
}

impl Resume {
    /// Returns the reason why a command cannot be done now: it lets time pass, or would be lost
    /// with this process though somebody was told that it is done.
    pub(crate) fn reason_to_stand_still(&self, command: &Command) -> Option<Failure> {
        let failure = self.storage_failure.as_ref()?;
        let lets_time_pass = matches!(
            command,
            Command::Play | Command::Step { .. } | Command::RunTo { .. }
        );
        let is_kept =
            command.is_of_worlds() || matches!(command, Command::SetRealTimeFactor { .. });
        let what = if lets_time_pass {
            "time is paused"
        } else if is_kept {
            "nothing is changed"
        } else {
            return None;
        };
        let reason = format!("{}: {what} until that is mended", failure.cause);
        Some(Failure::new(FailureCode::Storage, reason))
    }

    /// Notes that time is to stand still also when what is done can be written down again.
    pub(crate) fn stay_paused(&mut self) {
        if let Some(failure) = &mut self.storage_failure {
            failure.mode = ClockMode::Paused;
        }
    }

    /// Notes that what is done can no longer be written down; tells whether that is new.
    pub(crate) fn on_storage_failed(
        &mut self,
        cause: String,
        mode: ClockMode,
        cx: &mut Context<'_>,
    ) -> bool {
        if self.storage_failure.is_some() {
            return false;
        }
        let text = match mode {
            ClockMode::Paused => format!("{cause}; time is paused until that is mended"),
            ClockMode::Pausing | ClockMode::Running | ClockMode::Until(_) => {
                format!("{cause}; the run is paused until that is mended")
            }
        };
        cx.event(Severity::Error, "storage", text);
        self.storage_failure = Some(StorageFailure { cause, mode });
        true
    }

    /// Notes that what is done can be written down again, and returns the mode in which the clock
    /// goes on, if it was held up.
    pub(crate) fn on_storage_works(
        &mut self,
        iteration: Iteration,
        cx: &mut Context<'_>,
    ) -> Option<ClockMode> {
        let failure = self.storage_failure.take()?;
        let mode = match failure.mode {
            ClockMode::Pausing => ClockMode::Paused,
            ClockMode::Until(last) if iteration >= last => ClockMode::Paused,
            mode @ (ClockMode::Paused | ClockMode::Running | ClockMode::Until(_)) => mode,
        };
        let text = match mode {
            ClockMode::Paused | ClockMode::Pausing => "what is done is written down again",
            ClockMode::Running | ClockMode::Until(_) => {
                "what is done is written down again, and the run goes on"
            }
        };
        cx.event(Severity::Info, "storage", text.to_owned());
        Some(mode)
    }

    /// Returns the mode of the clock, or the one that it will have once what is done can be written
    /// down again.
    pub(crate) fn mode_asked_for(&self, mode: ClockMode) -> ClockMode {
        let failure = self.storage_failure.as_ref();
        failure.map_or(mode, |failure| failure.mode)
    }

    /// Returns the mode for the clock in place of one that is wanted: while nothing can be written
    /// down, it waits.
    pub(crate) fn admit_mode(&mut self, wanted: ClockMode) -> ClockMode {
        match &mut self.storage_failure {
            Some(failure) => {
                failure.mode = wanted;
                ClockMode::Pausing
            }
            None => wanted,
        }
    }
}
