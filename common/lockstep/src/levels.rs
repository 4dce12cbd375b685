//! [`ActiveLevels`]: levels that performers touch, active ones, and those loaded in each cell.
//!
//! This is bookkeeping alone: [`crate::partition`] decides who touches what.
//! **Invariant:** a level is loaded in a cell while a performer of that cell touches it or it is
//! pinned there, and active while an activating performer of any cell touches it.

use protocol::primary_to_secondary::LevelChange;
use protocol::{CellId, LevelId, PerformerId};

use crate::journal::Journal;
use crate::topology::{LevelIndex, Topology};

/// The levels that performers touch, keep active and have loaded.
#[derive(Debug)]
pub struct ActiveLevels {
    index: LevelIndex,
    /// The levels that each performer touches, ascending.
    touched: Vec<Vec<LevelId>>,
    /// For each cell, the levels loaded there, ascending, and how many of its performers touch
    /// each; one more where it is pinned.
    loaded: Vec<Vec<(LevelId, u32)>>,
    /// For each level, how many activating performers touch it.
    activating: Vec<u32>,
    /// Levels that were loaded in cells before.
    before: Journal<LevelId>,
}

impl ActiveLevels {
    /// Starts with no level active.
    pub fn new(topology: &Topology) -> Self {
        Self {
            index: LevelIndex::new(topology.global_models.len(), &topology.levels),
            touched: vec![Vec::new(); topology.performers.len()],
            loaded: vec![Vec::new(); topology.cells.len()],
            activating: vec![0; topology.levels.len()],
            before: Journal::new(),
        }
    }

    pub(crate) fn index(&self) -> &LevelIndex {
        &self.index
    }

    /// Makes room for one more performer.
    pub(crate) fn grow(&mut self) {
        self.touched.push(Vec::new());
    }

    /// Has no more performers than so many.
    pub(crate) fn truncate(&mut self, performers: usize) {
        self.touched.truncate(performers);
    }

    /// Has a performer of a cell touch these levels, ascending, and no others.
    pub(crate) fn touch(&mut self, performer: PerformerId, cell: CellId, levels: &[LevelId]) {
        let mut touched = std::mem::take(&mut self.touched[performer.0 as usize]);
        for level in levels
            .iter()
            .filter(|level| touched.binary_search(level).is_err())
        {
            self.load(cell, *level);
        }
        for level in touched
            .iter()
            .filter(|level| levels.binary_search(level).is_err())
        {
            self.unload(cell, *level);
        }
        touched.clear();
        touched.extend_from_slice(levels);
        self.touched[performer.0 as usize] = touched;
    }

    /// Has a performer change cell.
    pub(crate) fn pass(&mut self, performer: PerformerId, from: CellId, to: CellId) {
        let touched = std::mem::take(&mut self.touched[performer.0 as usize]);
        for level in &touched {
            self.load(to, *level);
            self.unload(from, *level);
        }
        self.touched[performer.0 as usize] = touched;
    }

    /// Has a level be loaded in a cell whoever touches it there, or not any longer.
    pub(crate) fn pin(&mut self, cell: CellId, level: LevelId, is_pinned: bool) {
        if is_pinned {
            self.load(cell, level);
        } else {
            self.unload(cell, level);
        }
    }

    /// Counts one activating performer more for a level, and tells whether it is the first.
    pub(crate) fn keep(&mut self, level: LevelId) -> bool {
        let activating = &mut self.activating[level.0 as usize];
        *activating += 1;
        *activating == 1
    }

    /// Counts one activating performer less for a level, and tells whether it was the last.
    pub(crate) fn release(&mut self, level: LevelId) -> bool {
        let activating = &mut self.activating[level.0 as usize];
        *activating -= 1;
        *activating == 0
    }

    /// Returns the levels that came and went since the last call, in order of cell, then level.
    pub(crate) fn take_changes(&mut self) -> Vec<LevelChange> {
        let mut changes = Vec::new();
        self.before.take(|cell, level, was_loaded| {
            let levels = &self.loaded[cell.0 as usize];
            let loaded = find(levels, level).is_ok();
            if loaded != was_loaded {
                changes.push(LevelChange {
                    cell,
                    level,
                    loaded,
                });
            }
        });
        changes
    }

    /// Returns the levels that a performer touches, ascending.
    pub fn of_performer(&self, performer: PerformerId) -> &[LevelId] {
        &self.touched[performer.0 as usize]
    }

    /// Tells whether a performer touches a level.
    pub(crate) fn touches(&self, performer: PerformerId, level: LevelId) -> bool {
        self.of_performer(performer).binary_search(&level).is_ok()
    }

    /// Returns the levels that a cell has loaded, ascending.
    pub fn of_cell(&self, cell: CellId) -> impl Iterator<Item = LevelId> + '_ {
        self.loaded[cell.0 as usize].iter().map(|(level, _)| *level)
    }

    /// Tells whether any activating performer touches this level.
    pub fn is_active(&self, level: LevelId) -> bool {
        self.activating[level.0 as usize] > 0
    }

    fn load(&mut self, cell: CellId, level: LevelId) {
        let loaded = &mut self.loaded[cell.0 as usize];
        match find(loaded, level) {
            Ok(place) => loaded[place].1 += 1,
            Err(place) => {
                loaded.insert(place, (level, 1));
                self.before.note(cell, level, false);
            }
        }
    }

    fn unload(&mut self, cell: CellId, level: LevelId) {
        let loaded = &mut self.loaded[cell.0 as usize];
        let place =
            find(loaded, level).expect("a level that a performer touches is loaded in its cell");
        loaded[place].1 -= 1;
        if loaded[place].1 == 0 {
            loaded.remove(place);
            self.before.note(cell, level, true);
        }
    }
}

/// Returns where a level is, or would be.
fn find(loaded: &[(LevelId, u32)], level: LevelId) -> Result<usize, usize> {
    loaded.binary_search_by_key(&level, |(level, _)| *level)
}

#[cfg(test)]
pub(crate) mod tests {
    use sdf::{
        Collision, Geometry, JointEnd, JointKind, Level, Link, LinkReference, Model, Physics, Pose,
        World, WorldJoint,
    };

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

    /// A joint of the world that holds one link to another.
    pub(crate) fn fixed_joint(parent: LinkReference, child: LinkReference) -> WorldJoint {
        WorldJoint {
            name: "joint".to_owned(),
            kind: JointKind::Fixed,
            parent: JointEnd::Link(parent),
            child,
            pose: Pose::IDENTITY,
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
}
