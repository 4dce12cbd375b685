//! [`Balance`]: hosts for cells that open, and migrations that are worth their cost.
//!
//! Its choices depend on load and timing, and never change results: they say where a cell runs and
//! not what is in it. Costs are measured in `balance/cost.rs`, the ways to secondaries in
//! `balance/ways.rs`, what is known of each cell is kept in `balance/record.rs`, and moves are
//! planned in `balance/planner.rs`.

mod cost;
mod planner;
mod record;
#[cfg(test)]
mod tests;
mod ways;

use std::collections::{BTreeMap, BinaryHeap, VecDeque};
use std::time::Duration;

use protocol::{CellId, Iteration, PeerName};

use planner::{Candidate, Goal, Host};
use record::{MoveCosts, Record};
use ways::Ways;

/// Weights and waiting times of balancing.
#[derive(Clone, Debug, PartialEq)]
pub struct BalanceSettings {
    /// Number of iterations that one measurement of all cells takes; at least 100 keep noise out.
    pub window: u64,
    /// Part of a window after which the measurement ends early, once the costliest cell has worked
    /// for `window_work`: where steps are slow, a window of iterations takes seconds, and noise is
    /// a small part of them. The minimum stay is shorter in proportion.
    pub least_window: f64,
    /// See `least_window`.
    pub window_work: Duration,
    /// For how many windows on end the load must be uneven before cells move.
    pub uneven_windows_needed: u32,
    /// For how many iterations a cell stays on its host before it moves again. It stays twice as
    /// long each time that it goes back to where it came from.
    pub minimum_stay: u64,
    /// For how many iterations a gain is expected to last.
    pub expected_stay: u64,
    /// Most cells that move in one iteration.
    pub moves_max: usize,
    /// By which part of the even load the slowest secondary may be above it.
    pub tolerance: f64,
    /// By how much the slowest secondary must be above the even load: less than that is lost in
    /// what a step costs anyway.
    pub minimum_gain: Duration,
    /// Assumed cost of moving a cell until a move was measured.
    pub move_cost: Duration,
    /// By how much the way to a host must be longer than to the nearest to count: less is the
    /// scheduling of machines, and not a network.
    pub least_way: Duration,
}

impl Default for BalanceSettings {
    fn default() -> Self {
        Self {
            window: 200,
            least_window: 0.2,
            window_work: Duration::from_millis(100),
            uneven_windows_needed: 3,
            minimum_stay: 2_000,
            expected_stay: 10_000,
            moves_max: 4,
            tolerance: 0.1,
            minimum_gain: Duration::from_micros(20),
            move_cost: Duration::from_millis(20),
            least_way: Duration::from_micros(200),
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

/// Costs of cells, and the hosts at which they run best.
#[derive(Debug)]
pub struct Balance {
    settings: BalanceSettings,
    /// Indexed by [`CellId`].
    records: Vec<Record>,
    move_costs: MoveCosts,
    ways: Ways,
    batch_length: u32,
    window_start: Iteration,
    /// Work of the costliest cell in this window \[ns\].
    window_work_ns: u64,
    /// Iterations of the window before.
    last_window: u64,
    ways_start: Iteration,
    latest: Iteration,
    uneven_windows: u32,
    /// Rest of the last plan.
    pending: VecDeque<Pending>,
}

#[derive(Debug)]
struct Pending {
    cell: CellId,
    from: PeerName,
    to: PeerName,
}

impl Balance {
    /// Starts without knowing any cell.
    pub fn new(settings: BalanceSettings) -> Self {
        let batch_length = settings.window / cost::BATCHES as u64;
        Self {
            records: Vec::new(),
            move_costs: MoveCosts::new(settings.move_cost),
            ways: Ways::new(settings.least_way),
            batch_length: u32::try_from(batch_length.max(1)).unwrap_or(u32::MAX),
            window_start: Iteration(0),
            window_work_ns: 0,
            last_window: settings.window,
            ways_start: Iteration(0),
            latest: Iteration(0),
            uneven_windows: 0,
            pending: VecDeque::new(),
            settings,
        }
    }

    /// Takes the time of a cell of the plan in a step that advanced time, without its sensors and
    /// of these.
    pub fn note(&mut self, cell: CellId, cost: Duration, sensors: Duration) {
        let batch_length = self.batch_length;
        let known = &mut self.record(cell).cost;
        known.note(cost, sensors, batch_length);
        let noted_ns = known.noted_ns();
        self.window_work_ns = self.window_work_ns.max(noted_ns);
    }

    /// Tells whether the ways of this iteration are to be noted: not all are, since a way is the
    /// same for a long time and there are many secondaries.
    pub fn samples_ways(&self, iteration: Iteration) -> bool {
        let interval = self.settings.window / ways::SAMPLES as u64;
        iteration.0.is_multiple_of(interval.max(1))
    }

    /// Takes the way to a secondary of a host and back in an iteration: the time until its answer
    /// was there, less its work.
    pub fn note_way(
        &mut self,
        secondary: &PeerName,
        host: &str,
        iteration: Iteration,
        way: Duration,
    ) {
        self.ways.note(secondary, host, iteration, way);
    }

    /// Forgets a cell that was given up.
    pub fn forget(&mut self, cell: CellId) {
        if let Some(record) = self.records.get_mut(cell.0 as usize) {
            *record = Record::default();
        }
    }

    /// Takes how large the snapshot of a cell that moved was, and for how long the move held up
    /// the run.
    pub fn note_move(&mut self, cell: CellId, bytes: u64, took: Duration) {
        self.record(cell).snapshot_bytes = Some(bytes);
        self.move_costs.note(bytes, took);
    }

    /// Takes that a cell moved, for whatever reason; its minimum stay begins.
    pub fn note_moved(&mut self, cell: CellId, iteration: Iteration) {
        let record = self.record(cell);
        record.moved_at = Some(iteration);
        record.cost.runs_elsewhere();
    }

    /// Returns the host of a cell that opens: the secondary with the least load and way together,
    /// and of several the one with the fewest cells, then the first by name.
    ///
    /// # Panics
    /// Panics when there is no secondary.
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

    /// Returns the hosts of cells that open together, given with the performers expected in each,
    /// in their order.
    ///
    /// # Panics
    /// Panics when there is no secondary.
    pub fn hosts_for(
        &mut self,
        opening: &[(CellId, u32)],
        affinity: &BTreeMap<CellId, PeerName>,
        secondaries: &[PeerName],
    ) -> Vec<PeerName> {
        for (cell, expected_performers) in opening {
            self.record(*cell).expected_performers = Some(*expected_performers);
        }
        let guess = self.guess(affinity);
        let mut loads: BTreeMap<&PeerName, (f64, usize)> = secondaries
            .iter()
            .map(|secondary| (secondary, (self.ways.of_ns(secondary), 0)))
            .collect();
        for (cell, host) in affinity {
            if let Some((load_ns, cells)) = loads.get_mut(host) {
                *load_ns += self.cost_ns(*cell, &guess);
                *cells += 1;
            }
        }
        let mut heap: BinaryHeap<Vacancy> = loads
            .into_iter()
            .map(|(secondary, (load_ns, cells))| Vacancy {
                load_ns,
                cells,
                secondary,
            })
            .collect();
        let host_of = |(cell, _): &(CellId, u32)| {
            let mut vacancy = heap.pop().expect("a run with cells has a secondary");
            let host = vacancy.secondary.clone();
            vacancy.load_ns += self.cost_ns(*cell, &guess);
            vacancy.cells += 1;
            heap.push(vacancy);
            host
        };
        opening.iter().map(host_of).collect()
    }

    /// Returns the cells that are to move before the next step. To be called in every iteration:
    /// it returns at once unless a measurement is complete.
    pub fn moves(
        &mut self,
        iteration: Iteration,
        affinity: &BTreeMap<CellId, PeerName>,
        secondaries: &[PeerName],
    ) -> Vec<Move> {
        if iteration < self.latest {
            self.turn_back(iteration);
        }
        self.latest = iteration;
        if self.pending.is_empty() {
            let noted = iteration.0 - self.window_start.0;
            if noted < self.iterations_of_window() {
                return Vec::new();
            }
            for record in &mut self.records {
                record.cost.end_window(noted);
            }
            self.last_window = noted.min(self.settings.window);
            self.begin_window(iteration);
            // Their samples are as many for each window of full length.
            if iteration.0 - self.ways_start.0 >= self.settings.window {
                self.ways.end_window();
                self.ways_start = iteration;
            }
            self.plan(iteration, affinity, secondaries);
        }
        self.next_moves(iteration, affinity, secondaries)
    }

    /// Returns after how many iterations this window ends, by the work that was noted so far.
    fn iterations_of_window(&self) -> u64 {
        let window = self.settings.window.max(1);
        if u128::from(self.window_work_ns) < self.settings.window_work.as_nanos() {
            return window;
        }
        let least = window as f64 * self.settings.least_window;
        (least.ceil() as u64).clamp(1, window)
    }

    /// Returns for how many iterations a cell stays on its host: for as many windows at any length
    /// of these.
    fn minimum_stay(&self) -> u64 {
        let stay = self.settings.minimum_stay as f64;
        let share = self.last_window as f64 / self.settings.window.max(1) as f64;
        (stay * share.min(1.0)).ceil() as u64
    }

    fn begin_window(&mut self, iteration: Iteration) {
        self.window_start = iteration;
        self.window_work_ns = 0;
    }

    /// Plans moves when the load was uneven for long enough.
    fn plan(
        &mut self,
        iteration: Iteration,
        affinity: &BTreeMap<CellId, PeerName>,
        secondaries: &[PeerName],
    ) {
        let (names, hosts) = self.hosts(iteration, affinity, secondaries);
        let goal = Goal {
            expected_stay: self.settings.expected_stay as f64,
            tolerance: self.settings.tolerance,
            minimum_gain_ns: self.settings.minimum_gain.as_nanos() as f64,
        };
        if !planner::is_uneven(&hosts, &goal) {
            self.uneven_windows = 0;
            return;
        }
        self.uneven_windows = self.uneven_windows.saturating_add(1);
        if self.uneven_windows < self.settings.uneven_windows_needed {
            return;
        }
        let planned = planner::plan(hosts, &goal);
        self.pending.extend(planned.into_iter().map(|one| Pending {
            cell: one.cell,
            from: names[one.from].clone(),
            to: names[one.to].clone(),
        }));
    }

    /// Takes the next moves of the plan that can still be made. After the last one measuring
    /// starts again, since moving disturbs it.
    fn next_moves(
        &mut self,
        iteration: Iteration,
        affinity: &BTreeMap<CellId, PeerName>,
        secondaries: &[PeerName],
    ) -> Vec<Move> {
        let mut moves = Vec::new();
        while moves.len() < self.settings.moves_max.max(1) {
            let Some(Pending { cell, from, to }) = self.pending.pop_front() else {
                break;
            };
            if affinity.get(&cell) == Some(&from) && secondaries.contains(&to) {
                let minimum_stay = self.minimum_stay();
                self.record(cell).moves(iteration, from, &to, minimum_stay);
                moves.push(Move { cell, to });
            }
        }
        if !moves.is_empty() && self.pending.is_empty() {
            self.start_measuring(iteration);
        }
        moves
    }

    fn start_measuring(&mut self, iteration: Iteration) {
        self.begin_window(iteration);
        self.ways_start = iteration;
        self.uneven_windows = 0;
        for record in &mut self.records {
            record.cost.drop_window();
        }
        self.ways.drop_window();
    }

    /// Time was set back: stays are counted from there.
    fn turn_back(&mut self, iteration: Iteration) {
        self.pending.clear();
        self.start_measuring(iteration);
        for record in &mut self.records {
            record.moved_at = record.moved_at.map(|moved_at| moved_at.min(iteration));
        }
    }

    /// Returns the secondaries by name, and the cells on each.
    fn hosts<'a>(
        &self,
        iteration: Iteration,
        affinity: &BTreeMap<CellId, PeerName>,
        secondaries: &'a [PeerName],
    ) -> (Vec<&'a PeerName>, Vec<Host>) {
        let mut names: Vec<&PeerName> = secondaries.iter().collect();
        names.sort();
        names.dedup();
        let host = |name: &&PeerName| Host {
            way_ns: self.ways.of_ns(name),
            cells: Vec::new(),
        };
        let mut hosts: Vec<Host> = names.iter().map(host).collect();
        let guess = self.guess(affinity);
        let minimum_stay = self.minimum_stay();
        for (cell, host) in affinity {
            let Ok(host) = names.binary_search(&host) else {
                continue;
            };
            let record = self.records.get(cell.0 as usize);
            let snapshot_bytes = record.and_then(|record| record.snapshot_bytes);
            let is_free = record.is_some_and(|record| {
                record.cost.per_iteration_ns().is_some()
                    && record.has_stayed(iteration, minimum_stay)
            });
            hosts[host].cells.push(Candidate {
                cell: *cell,
                cost_ns: self.cost_ns(*cell, &guess),
                move_cost_ns: self.move_costs.of_ns(snapshot_bytes),
                is_free,
            });
        }
        (names, hosts)
    }

    /// Returns what cells cost that were not measured yet, judged by those that were.
    fn guess(&self, affinity: &BTreeMap<CellId, PeerName>) -> Guess {
        let (mut cells, mut all_ns) = (0_u32, 0.0);
        let (mut performers, mut their_ns) = (0.0, 0.0);
        for cell in affinity.keys() {
            let Some(record) = self.records.get(cell.0 as usize) else {
                continue;
            };
            let Some(cost_ns) = record.cost.per_iteration_ns() else {
                continue;
            };
            cells += 1;
            all_ns += cost_ns;
            if let Some(expected) = record.expected_performers {
                performers += f64::from(expected.max(1));
                their_ns += cost_ns;
            }
        }
        let per_cell_ns = if cells > 0 {
            all_ns / f64::from(cells)
        } else {
            1.0
        };
        let per_performer_ns = if performers > 0.0 {
            their_ns / performers
        } else {
            per_cell_ns
        };
        Guess {
            per_cell_ns,
            per_performer_ns,
        }
    }

    /// Returns what a cell costs per iteration, guessed when it was not measured yet.
    fn cost_ns(&self, cell: CellId, guess: &Guess) -> f64 {
        let Some(record) = self.records.get(cell.0 as usize) else {
            return guess.per_cell_ns;
        };
        let guessed_ns = record
            .expected_performers
            .map_or(guess.per_cell_ns, |count| {
                f64::from(count.max(1)) * guess.per_performer_ns
            });
        record.cost.per_iteration_ns().unwrap_or(guessed_ns)
    }

    fn record(&mut self, cell: CellId) -> &mut Record {
        let index = cell.0 as usize;
        if index >= self.records.len() {
            self.records.resize_with(index + 1, Record::default);
        }
        &mut self.records[index]
    }
}

/// Assumed cost of a cell before it is measured.
struct Guess {
    per_cell_ns: f64,
    per_performer_ns: f64,
}

/// A secondary that a cell can open on; the greatest is the one to take.
#[derive(Debug)]
struct Vacancy<'a> {
    load_ns: f64,
    cells: usize,
    secondary: &'a PeerName,
}

impl Ord for Vacancy<'_> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        let by_load = other.load_ns.total_cmp(&self.load_ns);
        by_load
            .then_with(|| other.cells.cmp(&self.cells))
            .then_with(|| other.secondary.cmp(self.secondary))
    }
}

impl PartialOrd for Vacancy<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Vacancy<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Vacancy<'_> {}
