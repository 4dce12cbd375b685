//! Which levels each cell has loaded: those whose buffer one of the cell's performers touches.
//!
//! A function of performers' positions alone, never of load, timing or host.

use std::collections::BTreeMap;

use protocol::primary_to_secondary::LevelChange;
use protocol::{CellId, LevelId, PerformerId};

use crate::bounds::Bounds;
use crate::plan::Plan;

/// Finds the levels that a box touches without asking all of them.
#[derive(Debug)]
struct LevelIndex {
    /// Per world, levels in order of the least x of their outer box.
    by_least_x: Vec<Vec<(f64, LevelId)>>,
    /// Per world, the greatest extent along x of any outer box \[m\].
    widest: Vec<f64>,
}

impl LevelIndex {
    fn new(plan: &Plan) -> Self {
        let worlds = plan.global_models.len();
        let mut index = Self {
            by_least_x: vec![Vec::new(); worlds],
            widest: vec![0.0; worlds],
        };
        for (number, level) in plan.levels.iter().enumerate() {
            let outer = &level.outer;
            index.by_least_x[level.world].push((outer.min[0], LevelId(number as u32)));
            index.widest[level.world] = index.widest[level.world].max(outer.max[0] - outer.min[0]);
        }
        for levels in &mut index.by_least_x {
            levels.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        }
        index
    }

    /// Fills `found` with the levels of a world whose outer box touches `bounds`, ascending.
    fn touching(&self, plan: &Plan, world: usize, bounds: &Bounds, found: &mut Vec<LevelId>) {
        found.clear();
        let levels = &self.by_least_x[world];
        let reach = bounds.min[0] - self.widest[world];
        // Rounding in `reach` must not hide a level that touches at a face.
        let reach = reach - reach.abs() * 1e-12;
        let first = levels.partition_point(|(least, _)| *least < reach);
        for (least, level) in &levels[first..] {
            if *least > bounds.max[0] {
                break;
            }
            if plan.level(*level).outer.touches(bounds) {
                found.push(*level);
            }
        }
        found.sort_unstable();
    }
}

/// The levels that performers keep active and that cells have loaded.
#[derive(Debug)]
pub struct ActiveLevels {
    index: LevelIndex,
    by_performer: Vec<Vec<LevelId>>,
    keepers: BTreeMap<(CellId, LevelId), u32>,
    /// For each level, how many performers keep it active.
    kept: Vec<u32>,
    found: Vec<LevelId>,
}

impl ActiveLevels {
    /// Starts with no level active.
    pub fn new(plan: &Plan) -> Self {
        Self {
            index: LevelIndex::new(plan),
            by_performer: vec![Vec::new(); plan.performers.len()],
            keepers: BTreeMap::new(),
            kept: vec![0; plan.levels.len()],
            found: Vec::new(),
        }
    }

    /// Takes performers' positions, given in any order with the cells that own them, and returns
    /// the levels that come and go, in order of cell, then level.
    ///
    /// # Panics
    /// When a performer is not one of the plan's.
    pub fn update(
        &mut self,
        plan: &Plan,
        positions: impl Iterator<Item = (PerformerId, CellId, [f64; 3])>,
    ) -> Vec<LevelChange> {
        let mut touched: BTreeMap<(CellId, LevelId), bool> = BTreeMap::new();
        for (id, cell, position) in positions {
            let performer = plan.performer(id);
            let bounds = performer.bounds_at(position);
            self.index
                .touching(plan, performer.world, &bounds, &mut self.found);
            let before = &mut self.by_performer[id.0 as usize];
            if *before == self.found {
                continue;
            }
            for level in self.found.iter().filter(|level| !before.contains(level)) {
                let keepers = self.keepers.entry((cell, *level)).or_insert(0);
                touched.entry((cell, *level)).or_insert(*keepers > 0);
                *keepers += 1;
                self.kept[level.0 as usize] += 1;
            }
            for level in before.iter().filter(|level| !self.found.contains(level)) {
                let keepers = self
                    .keepers
                    .get_mut(&(cell, *level))
                    .expect("a level that a performer keeps has a keeper");
                touched.entry((cell, *level)).or_insert(true);
                *keepers -= 1;
                self.kept[level.0 as usize] -= 1;
            }
            before.clone_from(&self.found);
        }
        self.changes(&touched)
    }

    /// Returns the levels that a performer keeps active, ascending.
    pub fn of_performer(&self, performer: PerformerId) -> &[LevelId] {
        &self.by_performer[performer.0 as usize]
    }

    /// Returns the levels that a cell has loaded, ascending.
    pub fn of_cell(&self, cell: CellId) -> impl Iterator<Item = LevelId> + '_ {
        let range = (cell, LevelId(0))..=(cell, LevelId(u32::MAX));
        self.keepers.range(range).map(|((_, level), _)| *level)
    }

    /// Tells whether any performer keeps this level active.
    pub fn is_active(&self, level: LevelId) -> bool {
        self.kept[level.0 as usize] > 0
    }

    fn changes(&mut self, touched: &BTreeMap<(CellId, LevelId), bool>) -> Vec<LevelChange> {
        let mut changes = Vec::new();
        for ((cell, level), was_loaded) in touched {
            let loaded = self.keepers[&(*cell, *level)] > 0;
            if !loaded {
                self.keepers.remove(&(*cell, *level));
            }
            if loaded != *was_loaded {
                changes.push(LevelChange {
                    cell: *cell,
                    level: *level,
                    loaded,
                });
            }
        }
        changes
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use sdf::{Collision, Geometry, Level, Link, Model, Physics, Pose, World};

    /// A world with levels of 10 m side by side along x, 2 m of buffer, one static model each.
    pub(crate) fn world(name: &str, levels: &[&str]) -> World {
        World {
            name: name.to_owned(),
            physics: Physics {
                real_time_factor: 0.0,
                ..Physics::default()
            },
            gravity: [0.0, 0.0, -9.8],
            models: levels
                .iter()
                .map(|level| platform(&format!("{level}_floor")))
                .collect(),
            levels: levels
                .iter()
                .enumerate()
                .map(|(index, level)| Level {
                    name: (*level).to_owned(),
                    center: [index as f64 * 10.0, 0.0, 0.0],
                    size: [10.0; 3],
                    buffer: 2.0,
                    models: vec![format!("{level}_floor")],
                })
                .collect(),
            ..World::default()
        }
    }

    pub(crate) fn platform(name: &str) -> Model {
        Model {
            is_static: true,
            ..performer(name, [0.0; 3])
        }
    }

    /// A ball of radius 0.5 m.
    pub(crate) fn performer(name: &str, position: [f64; 3]) -> Model {
        let pose = Pose {
            position,
            ..Pose::IDENTITY
        };
        let ball = Geometry::Sphere { radius: 0.5 };
        let link = Link {
            collisions: vec![Collision::new("collision", Pose::IDENTITY, ball)],
            ..Link::new("link", pose)
        };
        Model::new(name, vec![link], Vec::new())
    }

    struct Fixture {
        plan: Plan,
        levels: ActiveLevels,
    }

    impl Fixture {
        fn new(performers: usize) -> Self {
            let mut world = world("w", &["L1", "L2", "L3"]);
            for index in 0..performers {
                world.models.push(performer(&format!("p{index}"), [0.0; 3]));
            }
            let plan = Plan::new(&[world]);
            let levels = ActiveLevels::new(&plan);
            Self { plan, levels }
        }

        /// Moves all performers, which all live in L1's cell, to these x and returns the changes.
        fn at(&mut self, xs: &[f64]) -> String {
            let positions = xs
                .iter()
                .enumerate()
                .map(|(id, x)| (PerformerId(id as u32), CellId(1), [*x, 0.0, 0.0]));
            let changes = self.levels.update(&self.plan, positions);
            changes
                .iter()
                .map(|change| {
                    let sign = if change.loaded { '+' } else { '-' };
                    format!("{sign}{}", self.plan.level(change.level).name)
                })
                .collect::<Vec<_>>()
                .join(" ")
        }
    }

    #[test]
    fn a_level_is_loaded_from_the_outer_face_of_its_buffer_inclusive() {
        let mut fixture = Fixture::new(1);
        assert_eq!(fixture.at(&[0.0]), "+L1");
        assert_eq!(fixture.at(&[2.49]), "");
        assert_eq!(fixture.at(&[2.5]), "+L2");
        assert_eq!(fixture.at(&[7.5]), "");
        assert_eq!(fixture.at(&[7.6]), "-L1");
        assert_eq!(fixture.at(&[100.0]), "-L2");
        assert_eq!(fixture.at(&[f64::NAN]), "");
    }

    #[test]
    fn a_level_stays_while_one_performer_of_the_cell_keeps_it() {
        let mut fixture = Fixture::new(2);
        assert_eq!(fixture.at(&[0.0, 0.0]), "+L1");
        assert_eq!(fixture.at(&[0.0, 10.0]), "+L2");
        assert_eq!(fixture.at(&[10.0, 0.0]), "");
        assert_eq!(fixture.at(&[10.0, 10.0]), "-L1");
        assert!(fixture.levels.is_active(LevelId(1)) && !fixture.levels.is_active(LevelId(0)));
        assert_eq!(
            fixture.levels.of_cell(CellId(1)).collect::<Vec<_>>(),
            [LevelId(1)]
        );
    }

    #[test]
    fn the_index_finds_what_asking_every_level_finds() {
        let mut world = world("w", &[]);
        let mut seed = 7_u64;
        let mut random = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) as f64 / f64::from(1_u32 << 31)
        };
        for index in 0..200 {
            world.levels.push(Level {
                name: format!("L{index}"),
                center: std::array::from_fn(|_| random() * 100.0),
                size: std::array::from_fn(|_| 1.0 + random() * 30.0),
                buffer: random() * 3.0,
                models: Vec::new(),
            });
        }
        let plan = Plan::new(&[world]);
        let index = LevelIndex::new(&plan);
        let mut found = Vec::new();
        for _ in 0..1000 {
            let center = std::array::from_fn(|_| random() * 120.0 - 10.0);
            let bounds = Bounds::around(center, [random() * 2.0; 3]);
            index.touching(&plan, 0, &bounds, &mut found);
            let expected: Vec<_> = (0..200)
                .map(LevelId)
                .filter(|level| plan.level(*level).outer.touches(&bounds))
                .collect();
            assert_eq!(found, expected);
        }
    }
}
