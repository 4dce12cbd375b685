//! What is done cannot be written down: time stands still until it can.
//!
//! A run that went on would have iterations that nobody could take up again.

use crate::primary::resume::Resume;
use protocol::Command;
use protocol::primary_to_observers::Severity;

use crate::commands_file::can_be_scheduled;
use crate::primary::context::Context;
use crate::primary::{ClockMode, Primary};

/// What is done cannot be written down.
#[derive(Debug)]
pub(crate) struct Failure {
    cause: String,
    /// What steps aimed at, and will again.
    mode: ClockMode,
}

impl Resume {
    /// Returns why a command cannot be done now: it lets time pass, or would be lost with this
    /// process though somebody was told that it is done.
    pub(crate) fn reason_to_stand_still(&self, command: &Command) -> Option<String> {
        let failure = self.storage_failure.as_ref()?;
        let lets_time_pass = matches!(
            command,
            Command::Play | Command::Step { .. } | Command::RunTo { .. }
        );
        let is_kept =
            can_be_scheduled(command) || matches!(command, Command::SetRealTimeFactor { .. });
        let what = if lets_time_pass {
            "time stands still"
        } else if is_kept {
            "nothing is changed"
        } else {
            return None;
        };
        Some(format!("{}: {what} until that is mended", failure.cause))
    }

    /// Notes that time is to stand still also when what is done can be written down again.
    pub(crate) fn stay_paused(&mut self) {
        if let Some(failure) = &mut self.storage_failure {
            failure.mode = ClockMode::Paused;
        }
    }
}

impl Primary {
    pub(crate) fn on_storage_failed(&mut self, cause: String, cx: &mut Context<'_>) {
        if self.resume.storage_failure.is_some() {
            return;
        }
        let mode = self.clock.mode;
        let text = match mode {
            ClockMode::Paused => format!("{cause}; time stands still until that is mended"),
            ClockMode::Pausing | ClockMode::Running | ClockMode::Until(_) => {
                format!("{cause}; the run is paused until that is mended")
            }
        };
        cx.event(Severity::Error, "storage", text);
        self.resume.storage_failure = Some(Failure { cause, mode });
        if mode != ClockMode::Paused {
            self.clock.mode = ClockMode::Pausing;
        }
        self.step_if_idle(cx);
    }

    pub(crate) fn on_storage_works(&mut self, cx: &mut Context<'_>) {
        let Some(failure) = self.resume.storage_failure.take() else {
            return;
        };
        self.clock.mode = match failure.mode {
            ClockMode::Pausing => ClockMode::Paused,
            ClockMode::Until(last) if self.clock.iteration >= last => ClockMode::Paused,
            mode @ (ClockMode::Paused | ClockMode::Running | ClockMode::Until(_)) => mode,
        };
        let text = match self.clock.mode {
            ClockMode::Paused | ClockMode::Pausing => "what is done is written down again",
            ClockMode::Running | ClockMode::Until(_) => {
                "what is done is written down again, and the run goes on"
            }
        };
        cx.event(Severity::Info, "storage", text.to_owned());
        self.clock.pace.restart(cx.now);
        self.observe_clock(cx);
        self.step_if_idle(cx);
    }

    /// Returns what steps aim at, or will once what is done can be written down again.
    pub(crate) fn mode_asked_for(&self) -> ClockMode {
        self.resume
            .storage_failure
            .as_ref()
            .map_or(self.clock.mode, |failure| failure.mode)
    }

    /// Sets what steps aim at, at once or when what is done can be written down again.
    pub(crate) fn set_mode(&mut self, mode: ClockMode) {
        match &mut self.resume.storage_failure {
            Some(failure) => {
                failure.mode = mode;
                self.clock.mode = ClockMode::Pausing;
            }
            None => self.clock.mode = mode,
        }
    }
}
