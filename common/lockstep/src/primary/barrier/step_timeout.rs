//! [`StepTimeout`]: the escalating time-out of a step: its blockers are named, then examined, then
//! lost. Warnings and diagnoses come again, each after twice the time.

use std::time::Duration;

use crate::primary::settings::StepTimeoutSettings;

/// Time-out of a step, in three stages; times count from the step's publication.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StepTimeout {
    /// Time of the next report of it.
    warning: Duration,
    /// Time of the next look at its blockers' processes.
    diagnosis: Duration,
    /// Time when they are lost.
    loss: Duration,
    /// That time at first.
    first_loss: Duration,
}

impl StepTimeout {
    pub(crate) fn new(settings: StepTimeoutSettings, give_up_after: Duration) -> Self {
        Self {
            warning: settings.warn_after,
            diagnosis: settings.diagnose_after,
            loss: give_up_after,
            first_loss: give_up_after,
        }
    }

    /// Puts off whatever is due before then.
    pub(crate) fn postpone(&mut self, later: Duration) {
        for after in [&mut self.warning, &mut self.diagnosis, &mut self.loss] {
            *after = (*after).max(later);
        }
    }

    /// Waits longer in every stage.
    pub(crate) fn extend(&mut self, by: Duration) {
        for after in [&mut self.warning, &mut self.diagnosis, &mut self.loss] {
            *after += by;
        }
    }

    /// Puts off until then that somebody is given up.
    pub(crate) fn postpone_loss(&mut self, later: Duration) {
        self.loss = self.loss.max(later);
    }

    /// Returns the time of a warning that is due by now, and doubles it for the next.
    pub(crate) fn take_warning(&mut self, waited: Duration) -> Option<Duration> {
        let due = (waited >= self.warning).then_some(self.warning)?;
        self.warning *= 2;
        Some(due)
    }

    /// Tells whether blockers are to be examined by now, and doubles the time for the next look.
    pub(crate) fn take_diagnosis(&mut self, waited: Duration) -> bool {
        let is_due = waited >= self.diagnosis;
        if is_due {
            self.diagnosis *= 2;
        }
        is_due
    }

    /// Tells whether blockers are lost by now; those who are kept all the same have their whole
    /// time again.
    pub(crate) fn take_loss(&mut self, waited: Duration, step_timeout: Duration) -> bool {
        let is_due = waited >= self.loss;
        if is_due {
            self.restart(waited, step_timeout);
        }
        is_due
    }

    /// Gives the blockers their whole time from now on.
    pub(crate) fn restart(&mut self, waited: Duration, step_timeout: Duration) {
        self.loss = waited + step_timeout;
    }

    /// Returns by how much the loss was put off.
    pub(crate) fn kept(&self) -> Duration {
        self.loss.saturating_sub(self.first_loss)
    }

    /// Returns the time when something is due.
    pub(crate) fn next(&self) -> Duration {
        let stages = self.warning.min(self.diagnosis);
        stages.min(self.loss)
    }
}
