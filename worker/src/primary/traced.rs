//! Notes of a primary's driver for a trace of the run; none unless there is a trace.

use lockstep::{PrimaryInput, PrimaryOutput, StepReport};
use protocol::SessionTime;
use transport::Link;

use super::PrimaryDriver;
use crate::trace::{StepMark, Tracer};

impl<L: Link> PrimaryDriver<L> {
    /// Has the run traced.
    pub fn keep_trace(&mut self, mut tracer: Tracer) {
        tracer.begin_session(self.clock.started());
        self.status.trace(tracer.feed());
        self.tracer = Some(tracer);
    }

    /// Returns the trace while anything is noted in it.
    fn tracer_on(&mut self) -> Option<&mut Tracer> {
        self.tracer.as_mut().filter(|tracer| tracer.is_on())
    }

    /// Notes an input that is handled from `now` on.
    pub(super) fn trace_input(&mut self, input: &PrimaryInput, now: SessionTime) {
        let arrived = self.arrived_at;
        if let Some(tracer) = self.tracer_on() {
            tracer.on_input(input, arrived, now);
        }
    }

    /// Notes that the rules have handled it, and what they put out.
    pub(super) fn trace_handled(&mut self, outputs: &[PrimaryOutput]) {
        if let Some(now) = self.trace_time()
            && let Some(tracer) = self.tracer_on()
        {
            tracer.on_handled(outputs, now);
        }
    }

    /// Returns the time, if it is noted.
    pub(super) fn trace_time(&mut self) -> Option<SessionTime> {
        self.tracer_on()?;
        Some(self.clock.now())
    }

    /// Notes a step whose publication began at `begin`.
    pub(super) fn trace_published(&mut self, step: StepMark, begin: SessionTime) {
        let now = self.clock.now();
        if let Some(tracer) = self.tracer_on() {
            tracer.on_published(&step, begin, now);
        }
    }

    /// Notes a step that is done; what follows from that began at `begin`.
    pub(super) fn trace_step_done(&mut self, report: &StepReport, begin: SessionTime) {
        let now = self.clock.now();
        if let Some(tracer) = self.tracer_on() {
            tracer.on_step_done(report, begin, now);
        }
    }
}
