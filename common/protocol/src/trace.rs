//! Trace of a run: the request to secondaries, and the times that they send for it.
//!
//! Times are of the sender's own monotonic clock; whoever gathers them finds the difference of two
//! clocks.

use serde::{Deserialize, Serialize};

use crate::id::{CellId, Iteration, Sequence};

/// Iterations that are traced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceWindow {
    /// The first one.
    pub first: Iteration,
    /// Number of iterations.
    pub count: u64,
}

/// Times of a secondary in one step. On the data socket.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepTrace {
    /// The step.
    pub sequence: Sequence,
    /// The iteration that it led to.
    pub iteration: Iteration,
    /// Process that did it.
    pub process: TracedProcess,
    /// Time when it arrived \[ns, of the process's clock\].
    pub received_ns: u64,
    /// Time when it was read and its work began \[ns since it arrived\].
    pub begun_ns: u64,
    /// Time when its work was done \[ns since it arrived\].
    pub done_ns: u64,
    /// Time when the answer was sent \[ns since it arrived\].
    pub answered_ns: u64,
    /// The cells that did something, in order of their ids.
    pub cells: Vec<CellTrace>,
}

/// A process that a trace has a track for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct TracedProcess {
    /// Its number at its system.
    pub pid: u32,
    /// The name of its machine.
    pub host: String,
    /// Its clock: processes that name the same one measure with the same.
    pub clock: String,
}

/// Times of a cell in one step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CellTrace {
    /// The cell.
    pub cell: CellId,
    /// The thread that it was stepped on: 0 is the one that receives steps.
    pub thread: u32,
    /// Time when it began \[ns since the step arrived\].
    pub begun_ns: u64,
    /// Time that it took \[ns\].
    pub whole_ns: u64,
    /// Time that each of its parts took, in the order of [`CELL_PARTS`] \[ns\]; what is left of the
    /// whole is reading its states and putting the answer together.
    pub parts_ns: [u64; CELL_PARTS.len()],
}

/// Work on a cell in a step, in this order.
pub const CELL_PARTS: [&str; 5] = [
    "changes",
    "systems before",
    "physics",
    "systems after",
    "sensors",
];

impl TraceWindow {
    /// Tells whether an iteration is traced.
    pub fn has(self, iteration: Iteration) -> bool {
        let place = iteration.0.checked_sub(self.first.0);
        place.is_some_and(|place| place < self.count)
    }

    /// Tells whether no iteration after this one is traced.
    pub fn is_over_after(self, iteration: Iteration) -> bool {
        iteration.0.saturating_add(1) >= self.first.0.saturating_add(self.count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(first: u64, count: u64, iteration: u64, has: bool, is_over: bool) {
        let first = Iteration(first);
        let window = TraceWindow { first, count };
        let iteration = Iteration(iteration);
        let found = (window.has(iteration), window.is_over_after(iteration));
        assert_eq!(found, (has, is_over), "{window:?} {iteration}");
    }

    #[test]
    fn a_window_has_as_many_iterations_as_it_says() {
        check(1, 3, 0, false, false);
        check(1, 3, 1, true, false);
        check(1, 3, 3, true, true);
        check(1, 3, 4, false, true);
        check(u64::MAX, u64::MAX, u64::MAX, true, true);
    }
}
