//! Shows that cells settle where they should and then stay, on secondaries whose steps take their
//! true costs and noise. Each run is seeded, and a failure prints its seed.

use super::*;

const MICROSECOND_NS: f64 = 1e3;

/// A run whose cells have known costs.
struct Run {
    seed: u64,
    random: u64,
    /// True cost of each cell \[us\].
    costs: Vec<f64>,
    /// By how much a step's cost differs from the true one at most, as a part of it.
    noise: f64,
    /// Factor by which each secondary takes longer for the same work.
    slowness: BTreeMap<PeerName, f64>,
    /// Way to each secondary and back \[us\].
    ways: BTreeMap<PeerName, f64>,
    secondaries: Vec<PeerName>,
    affinity: BTreeMap<CellId, PeerName>,
    balance: Balance,
    iteration: u64,
    moved: Vec<(u64, Move)>,
}

impl Run {
    /// Spreads cells over `secondaries` at random.
    fn new(seed: u64, costs: Vec<f64>, secondaries: usize, settings: BalanceSettings) -> Self {
        let secondaries: Vec<PeerName> = (1..=secondaries)
            .map(|number| format!("s{number}").parse().unwrap())
            .collect();
        let mut run = Self {
            seed,
            random: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1,
            costs,
            noise: 0.2,
            slowness: secondaries.iter().map(|name| (name.clone(), 1.0)).collect(),
            ways: BTreeMap::new(),
            secondaries,
            affinity: BTreeMap::new(),
            balance: Balance::new(settings),
            iteration: 0,
            moved: Vec::new(),
        };
        for cell in 0..run.costs.len() {
            let host = (run.random() * run.secondaries.len() as f64) as usize;
            let host = run.secondaries[host].clone();
            run.affinity.insert(CellId(cell as u32), host);
        }
        run
    }

    /// Returns a number from 0 to below 1.
    fn random(&mut self) -> f64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn advance(&mut self, iterations: u64) {
        for _ in 0..iterations {
            for cell in 0..self.costs.len() {
                let noise = 1.0 + self.noise * (2.0 * self.random() - 1.0);
                let id = CellId(cell as u32);
                let slowness = self.slowness[&self.affinity[&id]];
                let cost_ns = self.costs[cell] * slowness * noise * MICROSECOND_NS;
                let cost = Duration::from_nanos(cost_ns as u64);
                self.balance.note(id, cost, Duration::ZERO);
            }
            self.iteration += 1;
            let iteration = Iteration(self.iteration);
            if self.balance.samples_ways(iteration) {
                for secondary in self.secondaries.clone() {
                    // Scheduling holds up an answer now and then.
                    let held_up = if self.random() < 0.1 { 20.0 } else { 1.0 };
                    let near_us = 40.0 * (1.0 + self.random()) * held_up;
                    let way_us = self.ways.get(&secondary).copied().unwrap_or(0.0) + near_us;
                    let way = Duration::from_nanos((way_us * MICROSECOND_NS) as u64);
                    // Each is a host of its own.
                    let host = secondary.to_string();
                    self.balance.note_way(&secondary, &host, iteration, way);
                }
            }
            let moves = self
                .balance
                .moves(iteration, &self.affinity, &self.secondaries);
            for one in moves {
                let host = self.affinity.insert(one.cell, one.to.clone());
                assert_ne!(host.as_ref(), Some(&one.to), "seed {}", self.seed);
                self.balance.note_moved(one.cell, iteration);
                self.balance
                    .note_move(one.cell, 50_000, Duration::from_millis(5));
                self.moved.push((self.iteration, one));
            }
        }
    }

    /// Returns how many cells moved in so many iterations more.
    fn moves_within(&mut self, iterations: u64) -> usize {
        let before = self.moved.len();
        self.advance(iterations);
        self.moved.len() - before
    }

    /// Returns the load of the slowest secondary as a part of the mean.
    fn unevenness(&self) -> f64 {
        let mut loads: BTreeMap<&PeerName, f64> =
            self.secondaries.iter().map(|name| (name, 0.0)).collect();
        for (cell, host) in &self.affinity {
            let cost = self.costs[cell.0 as usize] * self.slowness[host];
            *loads.get_mut(host).unwrap() += cost;
        }
        let mean = loads.values().sum::<f64>() / loads.len() as f64;
        loads.values().copied().fold(0.0, f64::max) / mean
    }

    fn host(&self, cell: u32) -> &str {
        self.affinity[&CellId(cell)].as_str()
    }
}

fn names(text: &str) -> Vec<PeerName> {
    text.split_whitespace()
        .map(|name| name.parse().unwrap())
        .collect()
}

#[test]
fn random_costs_settle_within_15_percent_of_the_mean_and_then_nothing_moves() {
    for seed in 1..=8 {
        let secondaries = 2 + seed as usize % 5;
        let mut run = Run::new(seed, Vec::new(), secondaries, BalanceSettings::default());
        let costs: Vec<f64> = (0..secondaries * 8)
            .map(|_| 10.0 + 90.0 * run.random())
            .collect();
        let mut run = Run::new(seed, costs, secondaries, BalanceSettings::default());
        run.advance(10_000);
        let unevenness = run.unevenness();
        assert!(unevenness < 1.15, "seed {seed}: {unevenness}");
        assert_eq!(run.moves_within(10_000), 0, "seed {seed}");
        assert!(run.moved.len() <= run.costs.len(), "seed {seed}");
    }
}

#[test]
fn one_giant_cell_stays_alone_and_does_not_bounce() {
    for seed in 1..=5 {
        let mut costs = vec![10.0; 30];
        costs[7] = 2_000.0;
        let mut run = Run::new(seed, costs, 3, BalanceSettings::default());
        run.advance(20_000);
        let giant = run.moved.iter().filter(|(_, one)| one.cell == CellId(7));
        assert!(giant.count() <= 1, "seed {seed}");
        let alone = run.host(7).to_owned();
        assert!(
            run.affinity
                .values()
                .filter(|host| host.as_str() == alone)
                .count()
                == 1
        );
        assert_eq!(run.moves_within(10_000), 0, "seed {seed}");
    }
}

#[test]
fn two_equal_secondaries_never_swap() {
    for seed in 1..=5 {
        let mut run = Run::new(seed, vec![50.0; 4], 2, BalanceSettings::default());
        for cell in 0..4 {
            let host = run.secondaries[cell as usize % 2].clone();
            run.affinity.insert(CellId(cell), host);
        }
        assert_eq!(run.moves_within(20_000), 0, "seed {seed}");
    }
}

#[test]
fn an_odd_cell_is_not_passed_round() {
    let mut run = Run::new(3, vec![50.0; 3], 2, BalanceSettings::default());
    run.advance(10_000);
    assert_eq!(run.moves_within(20_000), 0);
}

#[test]
fn a_load_that_wanders_is_followed_with_few_moves() {
    let settings = BalanceSettings::default();
    let mut run = Run::new(11, vec![10.0; 24], 3, settings.clone());
    let rounds = 24;
    let mut uneven_rounds = 0;
    for round in 0..rounds {
        for cell in 0..24 {
            let is_hot = (cell + 24 - round) % 24 < 6;
            run.costs[cell] = if is_hot { 100.0 } else { 10.0 };
        }
        run.advance(5_000);
        uneven_rounds += usize::from(run.unevenness() > 1.3);
    }
    assert!(uneven_rounds <= 2, "{uneven_rounds} rounds ended uneven");
    let moved = run.moved.len();
    assert!(moved <= 3 * rounds, "{moved} moves in {rounds} rounds");
}

#[test]
fn a_secondary_that_is_slow_now_and_then_causes_few_moves() {
    for seed in 1..=4 {
        let mut run = Run::new(seed, vec![50.0; 16], 2, BalanceSettings::default());
        run.advance(5_000);
        let before = run.moved.len();
        for _ in 0..100 {
            let which = usize::from(run.random() < 0.5);
            let slow = run.secondaries[which].clone();
            let pause = 50 + (run.random() * 350.0) as u64;
            run.slowness.insert(slow.clone(), 1.5);
            run.advance(50 + pause / 3);
            run.slowness.insert(slow, 1.0);
            run.advance(pause);
        }
        let moved = run.moved.len() - before;
        assert!(moved <= 4, "seed {seed}: {moved} moves");
    }
}

#[test]
fn secondaries_of_unequal_speed_share_by_speed_and_settle() {
    for seed in 1..=5 {
        let mut run = Run::new(seed, vec![50.0; 24], 2, BalanceSettings::default());
        run.slowness.insert(run.secondaries[1].clone(), 2.0);
        run.advance(30_000);
        let unevenness = run.unevenness();
        assert!(unevenness < 1.15, "seed {seed}: {unevenness}");
        assert_eq!(run.moves_within(10_000), 0, "seed {seed}");
    }
}

#[test]
fn a_secondary_that_is_far_has_less_work_and_its_cells_settle() {
    for seed in 1..=5 {
        let mut run = Run::new(seed, vec![50.0; 24], 2, BalanceSettings::default());
        let far = run.secondaries[1].clone();
        run.ways.insert(far.clone(), 600.0);
        run.advance(30_000);
        // 900 us of work here are as 300 us and 600 us of way there.
        let work = run.costs.len() - run.affinity.values().filter(|host| **host == far).count();
        assert!(
            (17..=19).contains(&work),
            "seed {seed}: {work} cells are near"
        );
        assert_eq!(run.moves_within(10_000), 0, "seed {seed}");
        run.ways.clear();
        run.advance(30_000);
        let unevenness = run.unevenness();
        assert!(unevenness < 1.15, "seed {seed}: {unevenness}");
    }
}

#[test]
fn a_secondary_that_is_further_than_all_work_takes_gives_its_cells_away() {
    for seed in 1..=5 {
        let mut run = Run::new(seed, vec![50.0; 12], 3, BalanceSettings::default());
        run.ways.insert(run.secondaries[2].clone(), 50_000.0);
        run.advance(30_000);
        assert!(
            run.affinity.values().all(|host| host.as_str() != "s3"),
            "seed {seed}"
        );
        assert_eq!(run.moves_within(10_000), 0, "seed {seed}");
    }
}

#[test]
fn a_secondary_that_joins_gets_its_share() {
    let mut run = Run::new(5, vec![50.0; 12], 2, BalanceSettings::default());
    run.advance(5_000);
    let name: PeerName = "s3".parse().unwrap();
    run.slowness.insert(name.clone(), 1.0);
    run.secondaries.push(name);
    run.advance(5_000);
    assert!(run.unevenness() < 1.01, "{}", run.unevenness());
}

#[test]
fn hundreds_of_small_cells_on_one_secondary_spread() {
    let mut run = Run::new(9, vec![2.0; 300], 2, BalanceSettings::default());
    let first = run.secondaries[0].clone();
    for host in run.affinity.values_mut() {
        host.clone_from(&first);
    }
    run.advance(6_000);
    assert!(run.unevenness() < 1.05, "{}", run.unevenness());
    assert_eq!(run.moves_within(5_000), 0);
}

#[test]
fn no_more_cells_move_in_an_iteration_than_the_settings_allow() {
    let settings = BalanceSettings {
        moves_max: 2,
        ..BalanceSettings::default()
    };
    let mut run = Run::new(1, vec![50.0; 20], 2, settings);
    let first = run.secondaries[0].clone();
    for host in run.affinity.values_mut() {
        host.clone_from(&first);
    }
    run.advance(5_000);
    assert!(run.unevenness() < 1.1, "{}", run.unevenness());
    for (iteration, _) in &run.moved {
        let together = run.moved.iter().filter(|(other, _)| other == iteration);
        assert!(together.count() <= 2);
    }
}

#[test]
fn a_cell_that_was_moved_by_hand_stays_for_its_time() {
    let mut run = Run::new(1, vec![50.0; 2], 2, BalanceSettings::default());
    let first = run.secondaries[0].clone();
    run.affinity = [(CellId(0), first.clone()), (CellId(1), first)].into();
    for cell in [0, 1] {
        run.balance.note_moved(CellId(cell), Iteration(0));
    }
    run.advance(1_999);
    assert_eq!(run.moved, []);
    run.advance(1_000);
    assert_eq!(run.moved.len(), 1);
    assert_ne!(run.host(0), run.host(1));
}

#[test]
fn cells_whose_sensors_take_long_are_spread() {
    // All have as much physics; the two on the first secondary have images of 20 ms now and then.
    let mut balance = Balance::new(BalanceSettings::default());
    let secondaries = names("s1 s2");
    let host = |cell: u32| secondaries[cell as usize / 2].clone();
    let mut affinity: BTreeMap<CellId, PeerName> =
        (0..4).map(|cell| (CellId(cell), host(cell))).collect();
    for iteration in 1..=2_000 {
        for cell in 0..4 {
            let is_due = cell < 2 && iteration % 100 == 0;
            let sensors = Duration::from_millis(if is_due { 20 } else { 0 });
            balance.note(CellId(cell), Duration::from_micros(50), sensors);
        }
        for one in balance.moves(Iteration(iteration), &affinity, &secondaries) {
            affinity.insert(one.cell, one.to);
            balance.note_moved(one.cell, Iteration(iteration));
        }
    }
    assert_ne!(affinity[&CellId(0)], affinity[&CellId(1)]);
}

#[test]
fn slow_steps_are_measured_in_fewer_of_them() {
    // Two cells of 5 ms on one of two secondaries: 40 iterations of each window are enough.
    let mut run = Run::new(1, vec![5_000.0; 2], 2, BalanceSettings::default());
    let first = run.secondaries[0].clone();
    run.affinity = [(CellId(0), first.clone()), (CellId(1), first)].into();
    assert_eq!(run.moves_within(119), 0);
    assert_eq!(run.moves_within(1), 1);
    assert_eq!(run.moves_within(5_000), 0);
}

#[test]
fn slow_steps_have_cells_stay_for_fewer_of_them() {
    let mut run = Run::new(
        1,
        vec![5_000.0, 5_000.0, 100.0],
        2,
        BalanceSettings::default(),
    );
    let first = run.secondaries[0].clone();
    run.affinity = [0, 1, 2].map(|cell| (CellId(cell), first.clone())).into();
    assert!(run.moves_within(120) > 0);
    // What moved comes together again by hand: it stays for ten windows of 40 iterations.
    let moved = run.moved[0].1.cell;
    run.moved.clear();
    run.affinity.insert(moved, first);
    run.balance.note_moved(moved, Iteration(120));
    for (cell, host) in &run.affinity {
        if *cell != moved && cell.0 < 2 {
            assert_eq!(*host, run.secondaries[0]);
            run.balance.note_moved(*cell, Iteration(120));
        }
    }
    run.advance(399);
    assert!(
        run.moved.iter().all(|(_, one)| one.cell.0 == 2),
        "{:?}",
        run.moved
    );
    run.advance(120);
    assert_ne!(run.host(0), run.host(1));
}

#[test]
fn time_that_is_set_back_starts_the_measurement_again() {
    let mut run = Run::new(1, vec![50.0; 2], 2, BalanceSettings::default());
    let first = run.secondaries[0].clone();
    run.affinity = [(CellId(0), first.clone()), (CellId(1), first)].into();
    run.advance(550);
    run.balance.note_moved(CellId(0), Iteration(550));
    run.iteration = 0;
    run.advance(599);
    assert_eq!(run.moved, []);
    run.advance(2_000);
    assert_eq!(run.moved.len(), 1);
}

#[test]
fn planned_moves_to_a_secondary_that_is_lost_are_dropped() {
    let settings = BalanceSettings {
        moves_max: 1,
        ..BalanceSettings::default()
    };
    let mut run = Run::new(1, vec![50.0; 9], 3, settings);
    let first = run.secondaries[0].clone();
    for host in run.affinity.values_mut() {
        host.clone_from(&first);
    }
    while run.moved.is_empty() {
        run.advance(1);
    }
    run.secondaries.truncate(1);
    run.moved.clear();
    assert_eq!(run.moves_within(5_000), 0);
    run.secondaries.clear();
    assert_eq!(run.moves_within(5_000), 0);
}

/// `affinity` gives for each cell its host and its cost \[us\], 0 where it was not measured.
fn check_hosts(affinity: &[(&str, u64)], opening: &[u32], secondaries: &str, expected: &str) {
    let mut balance = Balance::new(BalanceSettings::default());
    let mut hosts = BTreeMap::new();
    for (cell, (host, cost_us)) in affinity.iter().enumerate() {
        let cell = CellId(cell as u32);
        hosts.insert(cell, host.parse().unwrap());
        for _ in 0..200 {
            if *cost_us > 0 {
                balance.note(cell, Duration::from_micros(*cost_us), Duration::ZERO);
            }
        }
    }
    let secondaries = names(secondaries);
    balance.moves(Iteration(200), &hosts, &secondaries);
    let opening: Vec<(CellId, u32)> = opening
        .iter()
        .zip(100..)
        .map(|(performers, cell)| (CellId(cell), *performers))
        .collect();
    let chosen = balance.hosts_for(&opening, &hosts, &secondaries);
    assert_eq!(chosen, names(expected), "{affinity:?} {opening:?}");
}

#[test]
fn cells_open_on_stand_bys_first_then_where_the_least_load_is() {
    check_hosts(&[], &[1], "s2 s1", "s1");
    check_hosts(&[("s1", 5)], &[1, 1], "s1 s2 s3", "s2 s3");
    check_hosts(&[("s1", 50), ("s2", 10), ("s2", 10)], &[1], "s1 s2", "s2");
    check_hosts(&[("s1", 0), ("s2", 0), ("s2", 0)], &[1], "s1 s2", "s1");
}

#[test]
fn cells_that_open_together_spread_by_their_performers() {
    check_hosts(&[], &[9, 1, 1, 1], "s1 s2", "s1 s2 s2 s2");
    check_hosts(&[("s1", 30), ("s2", 30)], &[0, 0, 0], "s1 s2", "s1 s2 s1");
}

#[test]
fn hosts_that_are_not_among_the_secondaries_do_not_count() {
    check_hosts(&[("lost", 5), ("s2", 5)], &[1], "s1 s2", "s1");
}

#[test]
fn a_forgotten_cell_is_guessed_again() {
    let mut balance = Balance::new(BalanceSettings::default());
    let secondaries = names("s1 s2");
    let affinity: BTreeMap<CellId, PeerName> = [
        (CellId(0), secondaries[0].clone()),
        (CellId(1), secondaries[1].clone()),
        (CellId(2), secondaries[1].clone()),
    ]
    .into();
    for (cell, cost_us) in [(0, 100), (1, 10), (2, 10)] {
        for _ in 0..200 {
            balance.note(CellId(cell), Duration::from_micros(cost_us), Duration::ZERO);
        }
    }
    balance.moves(Iteration(200), &affinity, &secondaries);
    let host = balance.host_for(CellId(9), 1, &affinity, &secondaries);
    assert_eq!(host, secondaries[1]);
    balance.forget(CellId(0));
    let host = balance.host_for(CellId(9), 1, &affinity, &secondaries);
    assert_eq!(host, secondaries[0]);
}
