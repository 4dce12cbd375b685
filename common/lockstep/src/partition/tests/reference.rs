//! The rules once more, as plainly as they can be said: every performer asks every level and every
//! other performer. In random worlds both always agree.

use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::Moved;
use crate::bounds::Bounds;
use crate::partition::ghosts::Reason;
use crate::random::Random;

const ITERATIONS: u64 = 200;

struct Reference {
    rules: Rules,
    cells: Vec<CellId>,
    homes: Vec<CellId>,
    entered: Vec<u64>,
    touched: Vec<Vec<LevelId>>,
    is_activating: Vec<bool>,
    seen_at: Vec<[f64; 3]>,
    /// Performers that a command has put elsewhere while their cell stood still.
    put_elsewhere: BTreeSet<usize>,
    suspended: BTreeSet<CellId>,
    /// The box in which each performer may move before it is looked at again.
    spots: Vec<Option<Bounds>>,
}

impl Reference {
    fn new(topology: &Topology, rules: Rules) -> Self {
        let homes: Vec<CellId> = topology.performers.iter().map(|one| one.home).collect();
        Self {
            rules,
            cells: homes.clone(),
            entered: vec![0; homes.len()],
            touched: vec![Vec::new(); homes.len()],
            is_activating: topology
                .performers
                .iter()
                .map(|one| !one.is_level_bound())
                .collect(),
            seen_at: topology.performers.iter().map(|one| one.start).collect(),
            put_elsewhere: BTreeSet::new(),
            suspended: BTreeSet::new(),
            spots: vec![None; homes.len()],
            homes,
        }
    }

    /// Moves the boxes of those who are not in theirs any more.
    fn place_spots(&mut self, states: &[PerformerState]) {
        for (state, spot) in states.iter().zip(&mut self.spots) {
            let way = state
                .linear_velocity
                .map(|speed| speed * self.rules.step_size_s);
            let next = std::array::from_fn(|axis| state.position[axis] + way[axis]);
            let [here, next] = [state.position, next].map(|at| Bounds::around(at, [0.0; 3]));
            let swept = here.joined(&next);
            if !spot.is_some_and(|spot| spot.holds(&swept)) {
                let speed = state.linear_velocity.map(f64::abs);
                let fastest = speed.into_iter().fold(0.0, f64::max);
                let wider = 256.0 * self.rules.step_size_s * fastest;
                *spot = Some(swept.inflated(wider.clamp(0.5, 16.0)));
            }
        }
    }

    /// Tells whether a cell sees a performer: something in it that does not stand still sees as far
    /// as the performer is.
    fn sees(&self, topology: &Topology, cell: CellId, performer: usize) -> bool {
        let spec = topology.cell(cell);
        let is_other = self.cells[performer] != cell;
        if !is_other || topology.performers[performer].world != spec.world {
            return false;
        }
        let here = (0..self.cells.len()).filter(|one| self.cells[*one] == cell);
        let here: Vec<usize> = here.collect();
        if self.suspended.contains(&cell) {
            return false;
        }
        let is_loaded = spec
            .level
            .is_none_or(|level| here.iter().any(|one| self.touched[*one].contains(&level)));
        let eyes = here.iter().filter_map(|one| {
            let range = topology.performers[*one].sight.range?;
            Some(self.spots[*one].unwrap().inflated(range))
        });
        let watchers = spec.watchers.iter().filter(|_| is_loaded);
        let mut eyes = eyes.chain(watchers.map(|watcher| watcher.bounds));
        let size = topology.performers[performer].sight.size;
        let half = topology.performers[performer].half_extents;
        let spot = self.spots[performer].unwrap();
        let seen = Bounds {
            min: std::array::from_fn(|axis| spot.min[axis] - half[axis].max(size)),
            max: std::array::from_fn(|axis| spot.max[axis] + half[axis].max(size)),
        };
        eyes.any(|eye| eye.touches(&seen))
    }

    fn update(&mut self, topology: &Topology, iteration: u64, states: &[PerformerState]) {
        self.put_elsewhere.clear();
        for (index, state) in states.iter().enumerate() {
            let is_left = self.is_left(self.cells[index]);
            if is_left && self.seen_at[index] != state.position {
                self.put_elsewhere.insert(index);
            }
            self.seen_at[index] = state.position;
            if !is_left || self.put_elsewhere.contains(&index) {
                self.locate(topology, index, state);
            }
        }
        let (mut woken, mut hand_offs) = (BTreeSet::new(), Vec::new());
        for group in self.groups(topology, states) {
            self.decide(topology, iteration, &group, &mut woken, &mut hand_offs);
        }
        for (one, target) in hand_offs {
            if self.cells[one] != target {
                self.cells[one] = target;
                self.entered[one] = iteration;
            }
        }
        self.place_spots(states);
        let cells = topology.levels.iter().map(|level| level.cell);
        self.suspended = cells
            .filter(|cell| self.cells.contains(cell) && !woken.contains(cell))
            .filter(|cell| self.has_no_activating(*cell) && !self.is_active(topology, *cell))
            .filter(|cell| !self.is_wanted(topology, *cell))
            .collect();
    }

    fn has_no_activating(&self, cell: CellId) -> bool {
        !(0..self.cells.len()).any(|one| self.cells[one] == cell && self.is_activating[one])
    }

    fn is_left(&self, cell: CellId) -> bool {
        self.suspended.contains(&cell) && self.has_no_activating(cell)
    }

    /// Tells whether a level that a performer of a cell lives with is active.
    fn is_wanted(&self, topology: &Topology, cell: CellId) -> bool {
        let members = (0..self.cells.len()).filter(|one| self.cells[*one] == cell);
        let mut bound_to = members.flat_map(|one| &topology.performers[one].bound_to);
        bound_to.any(|level| self.is_active(topology, topology.level(*level).cell))
    }

    fn is_active(&self, topology: &Topology, cell: CellId) -> bool {
        let level = topology.cell(cell).level.unwrap();
        (0..self.cells.len())
            .any(|one| self.is_activating[one] && self.touched[one].contains(&level))
    }

    fn locate(&mut self, topology: &Topology, index: usize, state: &PerformerState) {
        let performer = &topology.performers[index];
        let now = performer.bounds_at(state.position);
        let next = std::array::from_fn(|axis| {
            state.position[axis] + state.linear_velocity[axis] * self.rules.step_size_s
        });
        let swept = now.joined(&performer.bounds_at(next));
        let levels = (0..topology.levels.len() as u32).map(LevelId);
        let own: Vec<LevelId> = levels
            .filter(|id| topology.level(*id).world == performer.world)
            .collect();
        let before = std::mem::take(&mut self.touched[index]);
        let is_touched = |id: &&LevelId| {
            let level = topology.level(**id);
            level.outer.touches(&swept)
                && (self.rules.load == LoadRule::Buffer
                    || level.inner.touches(&swept)
                    || before.contains(id))
        };
        self.touched[index] = own.iter().filter(is_touched).copied().collect();
        let inside: Vec<LevelId> = own
            .iter()
            .copied()
            .filter(|id| topology.level(*id).inner.touches(&now))
            .collect();
        let beside: Vec<LevelId> = own
            .iter()
            .copied()
            .filter(|id| topology.level(*id).outer.touches(&now))
            .collect();
        let home = topology.cell(self.homes[index]).level;
        let level = match home {
            Some(home) if inside.contains(&home) => Some(home),
            _ if !inside.is_empty() => Some(inside[0]),
            Some(home) if beside.contains(&home) => Some(home),
            Some(_) => beside.first().copied(),
            None => None,
        };
        let cells = topology.cells.iter();
        let default_cell = cells
            .clone()
            .position(|cell| cell.world == performer.world && cell.level.is_none())
            .unwrap();
        self.homes[index] = level.map_or(CellId(default_cell as u32), |id| topology.level(id).cell);
    }

    fn groups(&self, topology: &Topology, states: &[PerformerState]) -> Vec<Vec<usize>> {
        let count = states.len();
        let reach = |one: usize, is_wide: bool| {
            let is_away = self.cells[one] != self.homes[one];
            let times = if is_wide && is_away { 2.0 } else { 1.0 };
            Bounds::from(states[one].reach).inflated(times * self.rules.interaction_margin)
        };
        let meet = |one: usize, other: usize| {
            let is_wide = self.cells[one] == self.cells[other];
            reach(one, is_wide).touches(&reach(other, is_wide))
        };
        let mut group: Vec<usize> = (0..count).collect();
        for one in 0..count {
            for other in 0..one {
                let (first, second) = (&topology.performers[one], &topology.performers[other]);
                let meets = first.world == second.world && meet(one, other);
                if meets || first.joined_to.contains(&PerformerId(other as u32)) {
                    let (from, to) = (group[one], group[other]);
                    group
                        .iter_mut()
                        .filter(|id| **id == from)
                        .for_each(|id| *id = to);
                }
            }
        }
        let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (one, group) in group.into_iter().enumerate() {
            groups.entry(group).or_default().push(one);
        }
        groups.into_values().collect()
    }

    fn decide(
        &self,
        topology: &Topology,
        iteration: u64,
        group: &[usize],
        woken: &mut BTreeSet<CellId>,
        hand_offs: &mut Vec<(usize, CellId)>,
    ) {
        let has_activating = group.iter().any(|one| self.is_activating[*one]);
        let is_still = |one: &usize| {
            let cell = self.cells[*one];
            self.is_left(cell)
                && !self.is_active(topology, cell)
                && !self.is_wanted(topology, cell)
                && !self.put_elsewhere.contains(one)
        };
        let still: Vec<usize> = group.iter().copied().filter(is_still).collect();
        if !has_activating && !still.is_empty() {
            let target = most(topology, still.iter().map(|one| self.cells[*one]));
            let others = group.iter().filter(|one| !still.contains(one));
            hand_offs.extend(others.map(|one| (*one, target)));
            return;
        }
        woken.extend(still.iter().map(|one| self.cells[*one]));
        let owner = self.cells[group[0]];
        if !group.iter().all(|one| self.cells[*one] == owner) {
            let mut here: Vec<usize> = group.to_vec();
            here.retain(|one| !self.put_elsewhere.contains(one));
            let voters = if here.is_empty() { group } else { &here };
            let target = most(topology, voters.iter().map(|one| self.cells[*one]));
            hand_offs.extend(group.iter().map(|one| (*one, target)));
            return;
        }
        let target = most(topology, group.iter().map(|one| self.homes[*one]));
        let belong = |cell| group.iter().filter(|one| self.homes[**one] == cell).count();
        let has_stayed = |one: &usize| iteration - self.entered[*one] >= self.rules.minimum_stay;
        let may_go = group.iter().all(has_stayed)
            || group.iter().any(|one| self.put_elsewhere.contains(one));
        if may_go && 2 * belong(target) > 3 * belong(owner) {
            hand_offs.extend(group.iter().map(|one| (*one, target)));
        }
    }
}

fn most(topology: &Topology, cells: impl Iterator<Item = CellId>) -> CellId {
    let mut counts: BTreeMap<CellId, usize> = BTreeMap::new();
    cells.for_each(|cell| *counts.entry(cell).or_insert(0) += 1);
    let most = *counts.values().max().unwrap();
    let mut best: Vec<CellId> = counts.keys().copied().collect();
    best.retain(|cell| counts[cell] == most);
    best.sort_by_key(|cell| (topology.cell(*cell).level.is_none(), *cell));
    best[0]
}

/// A flat world of 30 m with levels that overlap, touch and leave gaps, on a raster of 1 m, so that
/// faces meet, and as many declared performers as given.
fn random_world(random: &mut Random, name: &str, performers: usize, activating: usize) -> World {
    let mut world = balls(name, 0, &[]);
    for number in 0..=random.below(8) {
        let mut raster = |least: usize, most: usize| (least + random.below(most - least)) as f64;
        world.levels.push(sdf::Level {
            name: format!("L{number}"),
            center: [raster(0, 30), raster(0, 30), 0.0],
            size: [raster(2, 14), raster(2, 14), 10.0],
            buffer: raster(0, 4),
            models: Vec::new(),
        });
    }
    for number in 0..performers {
        let at = [random.below(30) as f64, random.below(30) as f64, 0.0];
        let model = format!("p{number}");
        world.models.push(performer(&model, at));
        if number < activating {
            world.performers.push(sdf::Performer {
                name: model.clone(),
                model,
                size: [1.0, 1.0, 2.0],
            });
        } else {
            world.levels[0].models.push(model);
        }
    }
    if random.below(2) == 0 {
        join(&mut world, 0, &[[0, performers - 1]]);
    }
    world
}

/// Gives some performers of a world lidars of several ranges, and models that never move, of a
/// level and of none.
fn open_eyes(random: &mut Random, world: &mut World) {
    let ranges = [0.0, 2.0, 9.0, 25.0, f64::INFINITY];
    for model in &mut world.models {
        if random.below(4) == 0 {
            super::sight::give_lidar(model, ranges[random.below(ranges.len())]);
        }
    }
    for (number, level) in world.levels.iter_mut().enumerate() {
        if random.below(2) == 0 {
            let mut tower = platform(&format!("tower{number}"));
            tower.pose.position = level.center;
            super::sight::give_lidar(&mut tower, ranges[1 + random.below(2)]);
            level.models.push(tower.name.clone());
            world.models.push(tower);
        }
    }
    if random.below(2) == 0 {
        let mut mast = platform("mast");
        mast.pose.position = [15.0, 15.0, 0.0];
        super::sight::give_lidar(&mut mast, 9.0);
        world.models.push(mast);
    }
}

/// Moves a ball: it rests, goes on, jumps, or stands on the raster again.
fn move_ball(random: &mut Random, state: &mut PerformerState, step_size_s: f64) {
    let id = state.performer;
    let position: [f64; 3] = match random.below(20) {
        0 => std::array::from_fn(|axis| {
            if axis == 2 {
                0.0
            } else {
                random.within(0.0, 30.0)
            }
        }),
        1 => state.position.map(f64::round),
        2..6 => state.position,
        _ => std::array::from_fn(|axis| {
            state.position[axis] + state.linear_velocity[axis] * step_size_s
        }),
    };
    let mut velocity = state.linear_velocity;
    if random.below(30) == 0 {
        let speed = [0.0, 5.0, 50.0, 2000.0][random.below(4)];
        velocity = [
            random.within(-speed, speed),
            random.within(-speed, speed),
            0.0,
        ];
    }
    let is_outside = position.iter().any(|at| !(-5.0..35.0).contains(at));
    *state = ball(
        id,
        if is_outside {
            [15.0, 15.0, 0.0]
        } else {
            position
        },
    );
    state.linear_velocity = velocity;
}

fn check(seed: u64, performers: usize, activating: usize) {
    let mut random = Random::new(seed);
    let rules = Rules {
        load: [LoadRule::Buffer, LoadRule::Volume][random.below(2)],
        sight: [SightRule::Buffer, SightRule::Range][(seed % 2) as usize],
        minimum_stay: random.below(20) as u64,
        ..RULES
    };
    let mut worlds = ["a", "b"].map(|name| random_world(&mut random, name, performers, activating));
    if rules.sight == SightRule::Range {
        for world in &mut worlds {
            open_eyes(&mut random, world);
        }
    }
    let mut fixture = Fixture::of(&worlds, rules);
    let mut reference = Reference::new(&fixture.topology, rules);
    for iteration in 0..ITERATIONS {
        let before = fixture.states.clone();
        // All move, or one in a few, or nobody.
        let every = [1, 1, 8, 0][random.below(4)];
        for state in &mut fixture.states {
            let is_left = reference.is_left(reference.cells[state.performer.0 as usize]);
            let moves = every > 0 && random.below(every) == 0;
            if moves && (!is_left || random.below(50) == 0) {
                move_ball(&mut random, state, rules.step_size_s);
            }
        }
        if iteration == ITERATIONS / 2 {
            let performer = PerformerId(random.below(fixture.states.len()) as u32);
            fixture.partition.set_performer(performer, None);
            reference.is_activating[performer.0 as usize] = true;
        }
        reference.update(&fixture.topology, iteration, &fixture.states);
        let count = before.len();
        let mut moved = Moved::default();
        for (state, before) in fixture.states.iter().zip(&before) {
            if state != before {
                moved.note(state.performer, count);
            }
        }
        fixture.partition.note_moved(&mut moved);
        fixture.update();
        let partition = &fixture.partition;
        for (index, cell) in reference.cells.iter().enumerate() {
            let id = PerformerId(index as u32);
            let context = format!("seed {seed}, iteration {iteration}, performer {index}");
            assert_eq!(partition.cell(id), *cell, "{context}");
            assert_eq!(
                partition.places[index].home, reference.homes[index],
                "{context}"
            );
            let touched = partition.levels.of_performer(id);
            assert_eq!(touched, reference.touched[index], "{context}");
        }
        for number in 0..fixture.topology.cells.len() {
            let cell = CellId(number as u32);
            let is_suspended = reference.suspended.contains(&cell);
            let context = format!("seed {seed}, iteration {iteration}, cell {cell}");
            assert_eq!(partition.is_suspended(cell), is_suspended, "{context}");
            if rules.sight == SightRule::Range {
                let all = 0..reference.cells.len();
                let expected = all.filter(|one| reference.sees(&fixture.topology, cell, *one));
                let expected: Vec<PerformerId> =
                    expected.map(|one| PerformerId(one as u32)).collect();
                let found = partition.ghosts.for_reason(cell, Reason::Seen);
                assert_eq!(found.collect::<Vec<_>>(), expected, "{context}");
            }
        }
    }
}

#[test]
fn glances_and_floods_find_what_asking_everyone_finds() {
    for seed in 0..8 {
        check(seed, 20, 20);
    }
}

#[test]
fn with_models_that_live_with_levels_too() {
    for seed in 100..108 {
        check(seed, 20, 3);
    }
}
