//! [`LevelIndex`]: finds the levels that a box touches without asking all of them.

use std::ops::ControlFlow;

use protocol::LevelId;

use crate::bounds::Bounds;
use crate::box_tree::BoxTree;
use crate::topology::LevelSpec;

/// The levels of all worlds by where they are, with their buffers.
#[derive(Debug)]
pub(crate) struct LevelIndex {
    /// One tree per world.
    trees: Vec<BoxTree>,
}

impl LevelIndex {
    /// Indexes levels; there may be worlds without any.
    pub(crate) fn new(worlds: usize, levels: &[LevelSpec]) -> Self {
        let mut trees: Vec<BoxTree> = (0..worlds).map(|_| BoxTree::new()).collect();
        for (number, level) in levels.iter().enumerate() {
            trees[level.world].insert(number as u32, &level.outer, 0);
        }
        Self { trees }
    }

    /// Fills `found` with the levels of a world whose outer box touches `bounds`, ascending. With
    /// more than `most` of them it gives up and returns `false`.
    pub(crate) fn touching(
        &self,
        levels: &[LevelSpec],
        world: usize,
        bounds: &Bounds,
        most: usize,
        found: &mut Vec<LevelId>,
    ) -> bool {
        found.clear();
        self.trees[world].visit(
            bounds,
            |_| true,
            |_, level| {
                if levels[level as usize].outer.touches(bounds) {
                    found.push(LevelId(level));
                }
                if found.len() > most {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                }
            },
        );
        found.sort_unstable();
        found.len() <= most
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::levels::tests::world;
    use crate::random::Random;
    use crate::topology::Topology;
    use sdf::Level;

    #[test]
    fn the_index_finds_what_asking_every_level_finds() {
        let mut world = world("w", &[]);
        let mut random = Random::new(7);
        for index in 0..200 {
            world.levels.push(Level {
                name: format!("L{index}"),
                center: std::array::from_fn(|_| random.within(0.0, 100.0)),
                size: std::array::from_fn(|_| random.within(1.0, 31.0)),
                buffer: random.within(0.0, 3.0),
                models: Vec::new(),
            });
        }
        let levels = Topology::new(&[world]).levels;
        let index = LevelIndex::new(1, &levels);
        let mut found = Vec::new();
        for _ in 0..1000 {
            let center = std::array::from_fn(|_| random.within(-10.0, 110.0));
            let bounds = Bounds::around(center, [random.within(0.0, 2.0); 3]);
            assert!(index.touching(&levels, 0, &bounds, usize::MAX, &mut found));
            let touches = |level: &LevelId| levels[level.0 as usize].outer.touches(&bounds);
            let expected: Vec<_> = (0..200).map(LevelId).filter(touches).collect();
            assert_eq!(found, expected);
            let most = found.len();
            assert!(index.touching(&levels, 0, &bounds, most, &mut found));
            assert!(most == 0 || !index.touching(&levels, 0, &bounds, most - 1, &mut found));
        }
    }
}
