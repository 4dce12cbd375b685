//! [`RunTrace`]: notes of a primary's driver for a trace of the run; none unless there is a trace.

use lockstep::{PrimaryInput, PrimaryOutput, StepReport};
use protocol::{PrimaryToSecondary, SessionTime};

use crate::clock::SessionClock;
use crate::trace::{StepMark, TraceFeed, Tracer};

/// The trace of a run, if there is one.
#[derive(Default)]
pub(super) struct RunTrace {
    tracer: Option<Tracer>,
}

/// Something that is traced and has begun.
pub(super) struct Begun(SessionTime);

impl RunTrace {
    /// Has the run traced; returns the handle for other threads.
    pub(super) fn start(&mut self, mut tracer: Tracer, clock: SessionClock) -> TraceFeed {
        tracer.begin_session(clock.started());
        let feed = tracer.feed();
        self.tracer = Some(tracer);
        feed
    }

    /// Returns the trace while anything is noted in it.
    fn on(&mut self) -> Option<&mut Tracer> {
        self.tracer.as_mut().filter(|tracer| tracer.is_on())
    }

    /// Notes an input that arrived and is handled from `now` on.
    pub(super) fn on_input(
        &mut self,
        input: &PrimaryInput,
        arrived_at: SessionTime,
        now: SessionTime,
    ) {
        if let Some(tracer) = self.on() {
            tracer.on_input(input, arrived_at, now);
        }
    }

    /// Notes that the rules have handled it, and what they put out.
    pub(super) fn on_handled(&mut self, outputs: &[PrimaryOutput], clock: SessionClock) {
        if let Some(tracer) = self.on() {
            tracer.on_handled(outputs, clock.now());
        }
    }

    /// Notes that something begins, if it is traced.
    pub(super) fn begin(&mut self, clock: SessionClock) -> Option<Begun> {
        self.on().map(|_| Begun(clock.now()))
    }

    /// Notes that a step is about to be published, if it is one.
    pub(super) fn begin_publishing(
        &mut self,
        message: &PrimaryToSecondary,
        clock: SessionClock,
    ) -> Option<(StepMark, Begun)> {
        let begun = self.begin(clock)?;
        Some((StepMark::of(message)?, begun))
    }

    /// Notes a step that was published.
    pub(super) fn on_published(
        &mut self,
        (step, Begun(begin)): (StepMark, Begun),
        clock: SessionClock,
    ) {
        if let Some(tracer) = self.on() {
            tracer.on_published(&step, begin, clock.now());
        }
    }

    /// Notes a step that is done, with what followed from that.
    pub(super) fn on_step_done(
        &mut self,
        report: &StepReport,
        Begun(begin): Begun,
        clock: SessionClock,
    ) {
        if let Some(tracer) = self.on() {
            tracer.on_step_done(report, begin, clock.now());
        }
    }

    /// Waits until all is written that there will be.
    pub(super) fn finish(&mut self) {
        if let Some(mut tracer) = self.tracer.take() {
            tracer.finish();
        }
    }
}
