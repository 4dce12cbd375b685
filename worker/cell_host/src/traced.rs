//! [`TracedStep`]: where the time of a step went, cell by cell, as the host measured it.

use std::time::{Duration, Instant};

use protocol::primary_to_secondary::Step;
use protocol::trace::CELL_PARTS;
use protocol::{CellId, Iteration, Sequence};

use super::hosted_cell::CellAnswer;

/// Times of the parts of a step.
#[derive(Clone, Debug)]
pub struct TracedStep {
    /// The step.
    pub sequence: Sequence,
    /// The iteration that it led to.
    pub iteration: Iteration,
    /// Time at which its work began.
    pub begun: Instant,
    /// Time at which its answer was put together.
    pub done: Instant,
    /// The cells that did something, in order of their ids.
    pub cells: Vec<TracedCell>,
}

/// Times of the parts of a cell's step.
#[derive(Clone, Debug)]
pub struct TracedCell {
    /// The cell.
    pub cell: CellId,
    /// 0 is the thread of the host, others are those of its pool.
    pub thread: u32,
    /// Time at which it began.
    pub begun: Instant,
    /// Time that it took.
    pub whole: Duration,
    /// Time that each of [`CELL_PARTS`] took, one after the other.
    pub parts: [Duration; CELL_PARTS.len()],
}

/// Time and thread of a cell's step.
#[derive(Clone, Copy)]
pub(super) struct Timing {
    begun: Instant,
    took: Duration,
    thread: u32,
}

impl Timing {
    /// Notes what this thread has just done.
    pub(super) fn new(begun: Instant, took: Duration) -> Self {
        let thread = rayon::current_thread_index().map_or(0, |index| index as u32 + 1);
        Self {
            begun,
            took,
            thread,
        }
    }
}

impl TracedStep {
    pub(super) fn new(step: &Step, begun: Instant) -> Self {
        Self {
            sequence: step.sequence,
            iteration: step.iteration,
            begun,
            done: begun,
            cells: Vec::new(),
        }
    }
}

impl TracedCell {
    pub(super) fn new(answer: &CellAnswer, timing: Timing) -> Self {
        Self {
            cell: answer.ack.cell,
            thread: timing.thread,
            begun: timing.begun,
            whole: timing.took,
            parts: answer.parts,
        }
    }
}
