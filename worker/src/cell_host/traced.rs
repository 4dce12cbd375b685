//! [`TracedStep`]: where the time of a step went, cell by cell, as the host measured it.

use std::time::{Duration, Instant};

use protocol::primary_to_secondary::Step;
use protocol::trace::CELL_PARTS;
use protocol::{CellId, Iteration, Sequence};

use super::hosted_cell::CellAnswer;

/// Where the time of a step went.
#[derive(Clone, Debug)]
pub struct TracedStep {
    /// The step.
    pub sequence: Sequence,
    /// The iteration that it led to.
    pub iteration: Iteration,
    /// When its work began.
    pub begun: Instant,
    /// When its answer was put together.
    pub done: Instant,
    /// The cells that did something, in order of their ids.
    pub cells: Vec<TracedCell>,
}

/// Where the time of a cell went.
#[derive(Clone, Debug)]
pub struct TracedCell {
    /// The cell.
    pub cell: CellId,
    /// 0 is the thread of the host, others are those of its pool.
    pub thread: u32,
    /// When it began.
    pub begun: Instant,
    /// How long it took.
    pub whole: Duration,
    /// How long each of [`CELL_PARTS`] took, one after the other.
    pub parts: [Duration; CELL_PARTS.len()],
}

/// When and where a cell was stepped.
#[derive(Clone, Copy)]
pub(super) struct Lap {
    begun: Instant,
    took: Duration,
    thread: u32,
}

impl Lap {
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
    pub(super) fn new(answer: &CellAnswer, lap: Lap) -> Self {
        Self {
            cell: answer.ack.cell,
            thread: lap.thread,
            begun: lap.begun,
            whole: lap.took,
            parts: answer.parts,
        }
    }
}
