//! Planner: moves that make the slowest secondary faster, for their cost.
//!
//! A step takes the way to a secondary and the work of its cells, so a secondary that is far has
//! less time for work: with 1 ms of way to one and none to the other, 3 ms of work are even as 1 ms
//! there and 2 ms here. That time, here 2 ms, is the even load.
//!
//! The slowest secondary holds up all others, so each change takes load off it: one of its cells
//! moves to one of the least loaded, or they swap two. Of the changes found one after the other,
//! as many are taken as gain most over the time that the gain is expected to last.

use protocol::CellId;

/// Number of changes that one plan has at most.
const CHANGES_MAX: usize = 64;
/// Number of the least loaded secondaries that are tried for each change.
const TARGETS_MAX: usize = 8;
/// The part of the tolerance to which a plan goes on, so that it does not stop where the next
/// measurement begins another.
const DEPTH: f64 = 0.25;
/// The part of a moved cell's cost that must be gained when that alone is within the noise.
const LEAST_USE: f64 = 0.5;

/// A cell on its host.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Candidate {
    /// The cell.
    pub cell: CellId,
    /// Cost per iteration \[ns\].
    pub cost_ns: f64,
    /// Cost of moving it \[ns\].
    pub move_cost_ns: f64,
    /// True if it may move now.
    pub is_free: bool,
}

/// A secondary with its cells.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Host {
    /// Way to it and back per iteration \[ns\].
    pub way_ns: f64,
    /// Its cells.
    pub cells: Vec<Candidate>,
}

/// Conditions of a good plan.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Goal {
    /// For how many iterations a gain is expected to last.
    pub expected_stay: f64,
    /// By which part of the even load the slowest secondary may be above it.
    pub tolerance: f64,
    /// Least load above the even one for a change to be worth it at all.
    pub minimum_gain_ns: f64,
}

/// A cell that is to move; hosts by their index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Planned {
    /// The cell.
    pub cell: CellId,
    /// The host that it leaves.
    pub from: usize,
    /// Its new host.
    pub to: usize,
}

/// Tells whether the slowest host is further above the even load than the goal allows.
pub(super) fn is_uneven(hosts: &[Host], goal: &Goal) -> bool {
    let loads = loads_ns(hosts);
    let even_ns = even_load_ns(hosts);
    slowest_of(&loads).is_some_and(|host| {
        let above_ns = loads[host] - even_ns;
        above_ns > even_ns * goal.tolerance && above_ns >= goal.minimum_gain_ns
    })
}

/// Returns the moves that are worth it, each cell at most once.
pub(super) fn plan(hosts: Vec<Host>, goal: &Goal) -> Vec<Planned> {
    let mut planner = Planner::new(hosts, *goal);
    let Some(slowest) = slowest_of(&planner.loads_ns) else {
        return Vec::new();
    };
    let before_ns = planner.loads_ns[slowest];
    let mut moves = Vec::new();
    let mut spent_ns = 0.0;
    let (mut best_ns, mut best_length) = (0.0, 0);
    for _ in 0..CHANGES_MAX {
        let Some(change) = planner.best_change() else {
            break;
        };
        spent_ns += planner.apply(&change, &mut moves);
        let after_ns = planner.loads_ns.iter().copied().fold(0.0, f64::max);
        let gain_ns = before_ns - after_ns;
        let worth_ns = gain_ns * goal.expected_stay - spent_ns;
        if gain_ns >= planner.least_gain_ns() && worth_ns > best_ns {
            (best_ns, best_length) = (worth_ns, moves.len());
        }
    }
    moves.truncate(best_length);
    moves
}

/// One cell moves from the slowest host, and perhaps another one back.
#[derive(Clone, Copy, Debug)]
struct Change {
    from: usize,
    to: usize,
    moved: Candidate,
    swapped: Option<Candidate>,
    worth_ns: f64,
}

struct Planner {
    /// For each host its cells in ascending order of their costs.
    hosts: Vec<Vec<Candidate>>,
    loads_ns: Vec<f64>,
    even_ns: f64,
    goal: Goal,
}

impl Planner {
    fn new(hosts: Vec<Host>, goal: Goal) -> Self {
        let loads_ns = loads_ns(&hosts);
        let even_ns = even_load_ns(&hosts);
        let mut hosts: Vec<Vec<Candidate>> = hosts.into_iter().map(|host| host.cells).collect();
        for cells in &mut hosts {
            cells.sort_by(|a, b| a.cost_ns.total_cmp(&b.cost_ns).then(a.cell.cmp(&b.cell)));
        }
        Self {
            hosts,
            loads_ns,
            even_ns,
            goal,
        }
    }

    /// Returns by how much the slowest host must become faster for a change to be more than noise.
    fn least_gain_ns(&self) -> f64 {
        self.even_ns * self.goal.tolerance * DEPTH
    }

    fn best_change(&self) -> Option<Change> {
        let from = slowest_of(&self.loads_ns)?;
        if self.loads_ns[from] <= self.even_ns + self.least_gain_ns() {
            return None;
        }
        let mut targets: Vec<usize> = (0..self.hosts.len()).filter(|to| *to != from).collect();
        targets.sort_by(|a, b| self.loads_ns[*a].total_cmp(&self.loads_ns[*b]));
        let movable: Vec<Candidate> = free(&self.hosts[from]);
        let mut best: Option<Change> = None;
        for to in targets.into_iter().take(TARGETS_MAX) {
            let moves = movable.iter().map(|cell| (*cell, None));
            let swaps = self.swaps(&movable, from, to);
            for (moved, swapped) in moves.chain(swaps) {
                let change = self.change(from, to, moved, swapped);
                let least_ns = best.map_or(0.0, |best| best.worth_ns);
                if change.worth_ns > least_ns {
                    best = Some(change);
                }
            }
        }
        best
    }

    /// Returns for each movable cell its best partners on another host: the two between which the
    /// loads would be equal.
    fn swaps(
        &self,
        movable: &[Candidate],
        from: usize,
        to: usize,
    ) -> Vec<(Candidate, Option<Candidate>)> {
        let partners = free(&self.hosts[to]);
        let half_gap_ns = (self.loads_ns[from] - self.loads_ns[to]) * 0.5;
        let mut swaps = Vec::new();
        let mut next = 0;
        for cell in movable {
            let wanted_ns = cell.cost_ns - half_gap_ns;
            while partners
                .get(next)
                .is_some_and(|partner| partner.cost_ns < wanted_ns)
            {
                next += 1;
            }
            let around = partners[next.saturating_sub(1)..].iter().take(2);
            swaps.extend(around.map(|partner| (*cell, Some(*partner))));
        }
        swaps
    }

    fn change(
        &self,
        from: usize,
        to: usize,
        moved: Candidate,
        swapped: Option<Candidate>,
    ) -> Change {
        let back_ns = swapped.map_or(0.0, |cell| cell.cost_ns);
        let off_ns = moved.cost_ns - back_ns;
        let slower_ns = (self.loads_ns[from] - off_ns).max(self.loads_ns[to] + off_ns);
        let gain_ns = self.loads_ns[from] - slower_ns;
        let cost_ns = moved.move_cost_ns + swapped.map_or(0.0, |cell| cell.move_cost_ns);
        let is_more_than_noise =
            gain_ns >= self.least_gain_ns() || gain_ns > moved.cost_ns * LEAST_USE;
        let worth_ns = if is_more_than_noise {
            gain_ns * self.goal.expected_stay - cost_ns
        } else {
            0.0
        };
        Change {
            from,
            to,
            moved,
            swapped,
            worth_ns,
        }
    }

    /// Carries out a change and returns what it costs \[ns\].
    fn apply(&mut self, change: &Change, moves: &mut Vec<Planned>) -> f64 {
        let (from, to) = (change.from, change.to);
        let back = change.swapped.map(|cell| (cell, to, from));
        let mut cost_ns = 0.0;
        for (cell, from, to) in [(change.moved, from, to)].into_iter().chain(back) {
            self.hosts[from].retain(|other| other.cell != cell.cell);
            let place = self.hosts[to].partition_point(|other| other.cost_ns < cell.cost_ns);
            let settled = Candidate {
                is_free: false,
                ..cell
            };
            self.hosts[to].insert(place, settled);
            self.loads_ns[from] -= cell.cost_ns;
            self.loads_ns[to] += cell.cost_ns;
            cost_ns += cell.move_cost_ns;
            moves.push(Planned {
                cell: cell.cell,
                from,
                to,
            });
        }
        cost_ns
    }
}

fn free(cells: &[Candidate]) -> Vec<Candidate> {
    cells.iter().filter(|cell| cell.is_free).copied().collect()
}

/// Returns for each host its way and the work of its cells.
fn loads_ns(hosts: &[Host]) -> Vec<f64> {
    let load = |host: &Host| host.way_ns + work_ns(host);
    hosts.iter().map(load).collect()
}

fn work_ns(host: &Host) -> f64 {
    host.cells.iter().map(|cell| cell.cost_ns).sum()
}

/// Returns the load that all hosts would have if work could be divided at will, but for those whose
/// way alone takes longer.
fn even_load_ns(hosts: &[Host]) -> f64 {
    let mut ways_ns: Vec<f64> = hosts.iter().map(|host| host.way_ns).collect();
    ways_ns.sort_by(f64::total_cmp);
    let mut filled_ns: f64 = hosts.iter().map(work_ns).sum();
    let mut even_ns = 0.0;
    // The nearest hosts fill up to the way of the next one, as long as there is work.
    for (count, way_ns) in ways_ns.into_iter().enumerate() {
        if count > 0 && even_ns <= way_ns {
            break;
        }
        filled_ns += way_ns;
        even_ns = filled_ns / (count + 1) as f64;
    }
    even_ns
}

/// Returns the first of the hosts with the greatest load.
fn slowest_of(loads_ns: &[f64]) -> Option<usize> {
    let hosts = 0..loads_ns.len();
    hosts.max_by(|a, b| loads_ns[*a].total_cmp(&loads_ns[*b]).then(b.cmp(a)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOAL: Goal = Goal {
        expected_stay: 100.0,
        tolerance: 0.1,
        minimum_gain_ns: 0.0,
    };

    /// `hosts` gives the costs of cells by host; cells are numbered through. A cell with a
    /// negative cost has the amount as its cost and must stay.
    fn check(hosts: &[&[f64]], move_cost_ns: f64, expected: &str) {
        check_far(hosts, &vec![0.0; hosts.len()], move_cost_ns, expected);
    }

    /// As [`check`], with the ways to the hosts.
    fn check_far(hosts: &[&[f64]], ways_ns: &[f64], move_cost_ns: f64, expected: &str) {
        let mut number = 0;
        let mut candidate = |cost: &f64| {
            number += 1;
            Candidate {
                cell: CellId(number - 1),
                cost_ns: cost.abs(),
                move_cost_ns,
                is_free: *cost >= 0.0,
            }
        };
        let candidates = hosts.iter().zip(ways_ns).map(|(cells, way_ns)| Host {
            way_ns: *way_ns,
            cells: cells.iter().map(&mut candidate).collect(),
        });
        let candidates = candidates.collect();
        let moves: Vec<String> = plan(candidates, &GOAL)
            .iter()
            .map(|one| format!("{}:{}>{}", one.cell, one.from, one.to))
            .collect();
        assert_eq!(moves.join(" "), expected, "{hosts:?} {ways_ns:?}");
    }

    #[test]
    fn a_cell_goes_from_the_slowest_to_the_least_loaded() {
        check(&[&[4.0, 4.0], &[4.0], &[]], 1.0, "0:0>2");
        check(&[&[1.0, 2.0, 3.0], &[]], 1.0, "2:0>1");
    }

    #[test]
    fn two_cells_are_swapped_when_that_is_better() {
        check(&[&[5.0, 7.0], &[3.0, 5.0]], 1.0, "0:0>1 2:1>0");
    }

    #[test]
    fn many_small_cells_go_one_after_the_other() {
        let small = [1.0; 100];
        let candidates = [&small[..], &[]].map(|cells| {
            let candidate = |(number, cost_ns): (usize, &f64)| Candidate {
                cell: CellId(number as u32),
                cost_ns: *cost_ns,
                move_cost_ns: 1.0,
                is_free: true,
            };
            Host {
                way_ns: 0.0,
                cells: cells.iter().enumerate().map(candidate).collect(),
            }
        });
        assert_eq!(plan(candidates.into(), &GOAL).len(), 49);
    }

    #[test]
    fn several_slowest_hosts_are_all_relieved() {
        check(&[&[4.0, 4.0], &[4.0, 4.0], &[], &[]], 1.0, "0:0>2 2:1>3");
    }

    #[test]
    fn migrations_that_cost_more_than_they_gain_are_not_made() {
        check(&[&[1.0, 2.0, 3.0], &[]], 301.0, "");
        check(&[&[4.0, 4.0], &[4.0, 4.0], &[], &[]], 201.0, "");
    }

    #[test]
    fn nothing_moves_where_nothing_improves() {
        check(&[&[10.0], &[1.0], &[1.0]], 0.0, "");
        check(&[&[4.0], &[4.0]], 0.0, "");
        check(&[&[4.0, 4.0], &[4.0], &[4.0]], 0.0, "");
        check(&[&[4.0, 4.0]], 0.0, "");
        check(&[&[], &[]], 0.0, "");
        check(&[], 0.0, "");
    }

    #[test]
    fn a_cell_that_must_stay_stays() {
        check(&[&[-1.0, 2.0, -3.0], &[]], 1.0, "1:0>1");
        check(&[&[-5.0, 7.0], &[3.0, 5.0]], 1.0, "1:0>1 3:1>0");
    }
    #[test]
    fn a_host_that_is_far_has_less_work() {
        let even = [1.0; 3];
        check_far(&[&even, &even], &[0.0, 2.0], 1.0, "3:1>0");
        // The way alone takes longer than all work: whatever is there comes nearer.
        check_far(&[&[1.0], &[1.0, 1.0]], &[0.0, 9.0], 0.0, "1:1>0 2:1>0");
        check_far(&[&[1.0, 1.0, 1.0], &[]], &[0.0, 9.0], 0.0, "");
        // As far as each other, they are as if they were near.
        check_far(&[&[1.0, 2.0, 3.0], &[]], &[5.0, 5.0], 1.0, "2:0>1");
    }

    /// Ways and work of hosts, and the even load that is expected.
    fn check_even_load(hosts: &[(f64, f64)], expected_ns: f64) {
        let hosts: Vec<Host> = hosts
            .iter()
            .map(|(way_ns, cost_ns)| Host {
                way_ns: *way_ns,
                cells: vec![Candidate {
                    cell: CellId(0),
                    cost_ns: *cost_ns,
                    move_cost_ns: 0.0,
                    is_free: true,
                }],
            })
            .collect();
        assert_eq!(even_load_ns(&hosts), expected_ns, "{hosts:?}");
    }

    #[test]
    fn the_even_load_fills_the_nearest_hosts_first() {
        check_even_load(&[], 0.0);
        check_even_load(&[(0.0, 4.0), (0.0, 2.0)], 3.0);
        check_even_load(&[(1.0, 0.0), (0.0, 3.0)], 2.0);
        check_even_load(&[(9.0, 1.0), (0.0, 3.0)], 4.0);
        check_even_load(&[(9.0, 0.0), (1.0, 3.0), (2.0, 0.0)], 3.0);
        check_even_load(&[(5.0, 1.0), (5.0, 1.0)], 6.0);
    }
}
