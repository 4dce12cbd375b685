//! [`StepTracer`]: what a secondary notes of its steps when the run is traced.

use std::time::Instant;

use cell_host::TracedStep;
use protocol::StepTrace;
use protocol::trace::{CellTrace, TracedProcess};

use super::clock::{TraceClock, clock_name};
use crate::identity;

/// Notes when steps arrive and answers leave; nothing unless it is on.
#[derive(Debug, Default)]
pub(crate) struct StepTracer {
    on: Option<(TraceClock, TracedProcess)>,
    received: Option<Instant>,
}

impl StepTracer {
    /// Tells whether it notes anything.
    pub(crate) fn is_on(&self) -> bool {
        self.on.is_some()
    }

    /// Has it note something from now on, or nothing.
    pub(crate) fn set_on(&mut self, is_on: bool) {
        if is_on == self.is_on() {
            return;
        }
        self.on = is_on.then(|| (TraceClock::of_process(), own_process()));
    }

    /// Notes that a message has arrived.
    pub(crate) fn on_arrival(&mut self) {
        if self.is_on() {
            self.received = Some(Instant::now());
        }
    }

    /// Returns what is told of a step whose answer has just been sent.
    pub(crate) fn on_answered(&mut self, step: &TracedStep) -> StepTrace {
        let answered = Instant::now();
        let (clock, process) = self
            .on
            .get_or_insert_with(|| (TraceClock::of_process(), own_process()));
        let received = self.received.take().unwrap_or(step.begun);
        let received = received.min(step.begun);
        let since = |moment: Instant| moment.duration_since(received).as_nanos() as u64;
        let cells = step.cells.iter().map(|cell| CellTrace {
            cell: cell.cell,
            thread: cell.thread,
            begun_ns: since(cell.begun),
            whole_ns: cell.whole.as_nanos() as u64,
            parts_ns: cell.parts.map(|part| part.as_nanos() as u64),
        });
        StepTrace {
            sequence: step.sequence,
            iteration: step.iteration,
            process: process.clone(),
            received_ns: clock.at(received),
            begun_ns: since(step.begun),
            done_ns: since(step.done),
            answered_ns: since(answered),
            cells: cells.collect(),
        }
    }
}

/// Returns what a trace knows of this process.
pub(super) fn own_process() -> TracedProcess {
    TracedProcess {
        pid: std::process::id(),
        host: identity::host(),
        clock: clock_name(),
    }
}
