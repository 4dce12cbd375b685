//! What is done cannot be written down: time stands still until it can.
//!
//! A run that went on would have iterations that nobody could take up again.

use protocol::Command;
use protocol::primary_to_observers::Severity;

use crate::commands_file::can_be_scheduled;
use crate::primary::context::Context;
use crate::primary::{Goal, Primary};

/// What is done cannot be written down.
#[derive(Debug)]
pub(crate) struct Failure {
    cause: String,
    /// What steps aimed at, and will again.
    goal: Goal,
}

impl Primary {
    pub(crate) fn on_storage_failed(&mut self, cause: String, cx: &mut Context<'_>) {
        if self.storage_failure.is_some() {
            return;
        }
        let goal = self.goal;
        let text = match goal {
            Goal::Paused => format!("{cause}; time stands still until that is mended"),
            Goal::Pausing | Goal::Running | Goal::Until(_) => {
                format!("{cause}; the run is paused until that is mended")
            }
        };
        cx.event(Severity::Error, "storage", text);
        self.storage_failure = Some(Failure { cause, goal });
        if goal != Goal::Paused {
            self.goal = Goal::Pausing;
        }
        self.step_if_idle(cx);
    }

    pub(crate) fn on_storage_works(&mut self, cx: &mut Context<'_>) {
        let Some(failure) = self.storage_failure.take() else {
            return;
        };
        self.goal = match failure.goal {
            Goal::Pausing => Goal::Paused,
            Goal::Until(last) if self.iteration >= last => Goal::Paused,
            goal @ (Goal::Paused | Goal::Running | Goal::Until(_)) => goal,
        };
        let text = match self.goal {
            Goal::Paused | Goal::Pausing => "what is done is written down again",
            Goal::Running | Goal::Until(_) => {
                "what is done is written down again, and the run goes on"
            }
        };
        cx.event(Severity::Info, "storage", text.to_owned());
        self.pace.restart(cx.now);
        self.observe_clock(cx);
        self.step_if_idle(cx);
    }

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

    /// Returns what steps aim at, or will once what is done can be written down again.
    pub(crate) fn goal_asked_for(&self) -> Goal {
        self.storage_failure
            .as_ref()
            .map_or(self.goal, |failure| failure.goal)
    }

    /// Sets what steps aim at, at once or when what is done can be written down again.
    pub(crate) fn aim_at(&mut self, goal: Goal) {
        match &mut self.storage_failure {
            Some(failure) => {
                failure.goal = goal;
                self.goal = Goal::Pausing;
            }
            None => self.goal = goal,
        }
    }

    /// Notes that time is to stand still also when what is done can be written down again.
    pub(crate) fn stay_paused(&mut self) {
        if let Some(failure) = &mut self.storage_failure {
            failure.goal = Goal::Paused;
        }
    }
}
