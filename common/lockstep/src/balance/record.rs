//! [`Record`]: findings about each cell beside its cost: its last move, former host and size.

use std::time::Duration;

use protocol::{Iteration, PeerName};

use super::cost::CellCost;

/// Number of times that the minimum stay of a cell that goes to and fro doubles.
const DOUBLINGS_MAX: u32 = 6;
/// After how many of its minimum stays on one host a cell counts as settled.
const SETTLED_STAYS: u64 = 8;
/// Weight of a new measurement of a move against those before it.
const WEIGHT_OF_NEW: f64 = 0.3;

/// Findings about one cell.
#[derive(Debug, Default)]
pub(super) struct Record {
    /// Measured cost.
    pub cost: CellCost,
    /// Number of performers that it was expected to have when it opened.
    pub expected_performers: Option<u32>,
    /// Size of its last snapshot that was sent.
    pub snapshot_bytes: Option<u64>,
    /// Time when it came to its host, unless it opened there.
    pub moved_at: Option<Iteration>,
    /// Former host, when it last moved for the sake of balance.
    came_from: Option<PeerName>,
    /// Number of times that it went back to where it came from.
    returns: u32,
}

impl Record {
    /// Tells whether the cell may move again.
    pub(super) fn has_stayed(&self, iteration: Iteration, minimum_stay: u64) -> bool {
        self.moved_at.is_none_or(|moved_at| {
            iteration.0.saturating_sub(moved_at.0) >= self.stay(minimum_stay)
        })
    }

    /// Takes that the cell moves for the sake of balance.
    pub(super) fn moves(
        &mut self,
        iteration: Iteration,
        from: PeerName,
        to: &PeerName,
        minimum_stay: u64,
    ) {
        let is_settled = self.moved_at.is_none_or(|moved_at| {
            let stayed = iteration.0.saturating_sub(moved_at.0);
            stayed >= self.stay(minimum_stay).saturating_mul(SETTLED_STAYS)
        });
        if is_settled {
            self.returns = 0;
        } else if self.came_from.as_ref() == Some(to) {
            self.returns = (self.returns + 1).min(DOUBLINGS_MAX);
        }
        self.came_from = Some(from);
        self.moved_at = Some(iteration);
        self.cost.runs_elsewhere();
    }

    fn stay(&self, minimum_stay: u64) -> u64 {
        minimum_stay.saturating_mul(1 << self.returns)
    }
}

/// Costs of moving cells, learnt from those that moved.
#[derive(Debug)]
pub(super) struct MoveCosts {
    took_ns: f64,
    /// Size of the snapshots that moved; `None` until one did.
    bytes: Option<f64>,
}

impl MoveCosts {
    /// Starts with an estimate.
    pub(super) fn new(estimate: Duration) -> Self {
        Self {
            took_ns: estimate.as_nanos() as f64,
            bytes: None,
        }
    }

    /// Takes a move that was made.
    pub(super) fn note(&mut self, bytes: u64, took: Duration) {
        let (bytes, took_ns) = (bytes as f64, took.as_nanos() as f64);
        if let Some(before) = self.bytes {
            self.bytes = Some(before + (bytes - before) * WEIGHT_OF_NEW);
            self.took_ns += (took_ns - self.took_ns) * WEIGHT_OF_NEW;
        } else {
            self.bytes = Some(bytes);
            self.took_ns = took_ns;
        }
    }

    /// Returns what moving a cell costs \[ns\]: what moves cost on the whole, and for a snapshot of
    /// known size more or less in proportion, down to a tenth.
    pub(super) fn of_ns(&self, snapshot_bytes: Option<u64>) -> f64 {
        let scale = match (snapshot_bytes, self.bytes) {
            (Some(bytes), Some(mean)) => (bytes as f64 / mean.max(1.0)).max(0.1),
            (None, _) | (_, None) => 1.0,
        };
        self.took_ns * scale
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each of the moves is an iteration and a host that the cell goes to, from `s0` at first;
    /// expects for how long it then stays.
    fn check(moves: &[(u64, &str)], expected: u64) {
        let mut record = Record::default();
        let mut from: PeerName = "s0".parse().unwrap();
        for (iteration, to) in moves {
            let to: PeerName = to.parse().unwrap();
            record.moves(Iteration(*iteration), from, &to, 100);
            from = to;
        }
        let moved_at = moves.last().map_or(0, |(iteration, _)| *iteration);
        let stayed = |stay: u64| record.has_stayed(Iteration(moved_at + stay), 100);
        assert!(stayed(expected), "{moves:?}");
        assert!(expected == 0 || !stayed(expected - 1), "{moves:?}");
    }

    #[test]
    fn a_cell_that_goes_back_stays_twice_as_long() {
        check(&[], 0);
        check(&[(50, "s1")], 100);
        check(&[(50, "s1"), (150, "s2")], 100);
        check(&[(50, "s1"), (150, "s0")], 200);
        check(&[(50, "s1"), (150, "s0"), (350, "s1")], 400);
    }

    #[test]
    fn a_cell_that_settled_goes_back_as_if_it_had_never_been_there() {
        check(&[(50, "s1"), (850, "s0")], 100);
        check(&[(50, "s1"), (849, "s0")], 200);
    }

    #[test]
    fn the_stay_of_a_restless_cell_is_bounded() {
        let hosts = ["s1", "s0"];
        let moves: Vec<_> = (0..40).map(|i| (i * 100, hosts[i as usize % 2])).collect();
        check(&moves, 6_400);
    }

    #[test]
    fn moves_cost_what_was_measured_in_proportion_to_what_is_sent() {
        let mut costs = MoveCosts::new(Duration::from_millis(20));
        assert_eq!(costs.of_ns(None), 20e6);
        assert_eq!(costs.of_ns(Some(1000)), 20e6);
        costs.note(1000, Duration::from_millis(4));
        assert_eq!(costs.of_ns(None), 4e6);
        assert_eq!(costs.of_ns(Some(3000)), 12e6);
        assert_eq!(costs.of_ns(Some(0)), 4e5);
        costs.note(2000, Duration::from_millis(14));
        assert_eq!(costs.of_ns(None), 7e6);
    }
}
