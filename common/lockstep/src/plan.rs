//! What the worlds consist of for lockstep: cells, levels and performers with their numbers.
//!
//! A plan is a pure function of the worlds, so every process computes the same one and the numbers
//! need no agreement. It never changes during a run.

use std::collections::{BTreeMap, BTreeSet};

use protocol::{CellId, LevelId, PerformerId};
use sdf::{JointEnd, World};

use crate::bounds::Bounds;

/// The name under which default cells are reported.
pub const DEFAULT_CELL_NAME: &str = "default";

/// The cells, levels and performers of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// All cells, indexed by [`CellId`]: for each world its default cell, then one per level.
    pub cells: Vec<CellPlan>,
    /// All levels, indexed by [`LevelId`].
    pub levels: Vec<LevelPlan>,
    /// All performers, indexed by [`PerformerId`].
    pub performers: Vec<PerformerPlan>,
    /// For each world, the indices of its static models that are in no level.
    pub global_models: Vec<Vec<usize>>,
}

/// One cell.
#[derive(Clone, Debug, PartialEq)]
pub struct CellPlan {
    /// Index of its world.
    pub world: usize,
    /// Its level; `None` for the world's default cell.
    pub level: Option<LevelId>,
    /// The level's name, or [`DEFAULT_CELL_NAME`].
    pub name: String,
}

/// One level.
#[derive(Clone, Debug, PartialEq)]
pub struct LevelPlan {
    /// Index of its world.
    pub world: usize,
    /// Its name; with several worlds `world::level`.
    pub name: String,
    /// The level itself.
    pub inner: Bounds,
    /// The level with its buffer.
    pub outer: Bounds,
    /// Width of the buffer \[m\].
    pub buffer: f64,
    /// Indices of the static models that it refers to, ascending.
    pub static_models: Vec<usize>,
    /// Its cell.
    pub cell: CellId,
}

/// One performer.
#[derive(Clone, Debug, PartialEq)]
pub struct PerformerPlan {
    /// Index of its world.
    pub world: usize,
    /// Index of its model.
    pub model: usize,
    /// The model's name; with several worlds `world::model`.
    pub name: String,
    /// Half the edge lengths of the box around it, centred on the model's origin \[m\].
    pub half_extents: [f64; 3],
    /// Position of the model's origin at the start, world frame \[m\].
    pub start: [f64; 3],
    /// The cell that owns it at the start.
    pub home: CellId,
}

impl PerformerPlan {
    /// Returns the box around the performer when its model is at `position` \[m\].
    pub fn bounds_at(&self, position: [f64; 3]) -> Bounds {
        Bounds::around(position, self.half_extents)
    }
}

impl Plan {
    /// Makes the plan of some worlds.
    pub fn new(worlds: &[World]) -> Self {
        let mut plan = Self {
            cells: Vec::new(),
            levels: Vec::new(),
            performers: Vec::new(),
            global_models: Vec::new(),
        };
        for (index, world) in worlds.iter().enumerate() {
            let prefix = if worlds.len() > 1 {
                format!("{}::", world.name)
            } else {
                String::new()
            };
            plan.add_world(index, world, &prefix);
        }
        plan
    }

    /// Returns performers' ids in order of their names, the order of digests and summaries.
    pub fn performers_by_name(&self) -> Vec<PerformerId> {
        let mut ids: Vec<_> = (0..self.performers.len() as u32).map(PerformerId).collect();
        ids.sort_by(|a, b| self.performer(*a).name.cmp(&self.performer(*b).name));
        ids
    }

    /// Returns a cell.
    ///
    /// # Panics
    /// When no cell has this id.
    pub fn cell(&self, id: CellId) -> &CellPlan {
        &self.cells[id.0 as usize]
    }

    /// Returns a level.
    ///
    /// # Panics
    /// When no level has this id.
    pub fn level(&self, id: LevelId) -> &LevelPlan {
        &self.levels[id.0 as usize]
    }

    /// Returns a performer.
    ///
    /// # Panics
    /// When no performer has this id.
    pub fn performer(&self, id: PerformerId) -> &PerformerPlan {
        &self.performers[id.0 as usize]
    }

    fn add_world(&mut self, index: usize, world: &World, prefix: &str) {
        let first_level = self.levels.len();
        let default_cell = CellId(self.cells.len() as u32);
        self.cells.push(CellPlan {
            world: index,
            level: None,
            name: format!("{prefix}{DEFAULT_CELL_NAME}"),
        });
        let by_name: BTreeMap<&str, usize> = world
            .models
            .iter()
            .enumerate()
            .map(|(i, model)| (model.name.as_str(), i))
            .collect();
        let mut in_levels: BTreeSet<usize> = BTreeSet::new();
        for level in &world.levels {
            let static_models: BTreeSet<usize> = level
                .models
                .iter()
                .filter_map(|name| by_name.get(name.as_str()).copied())
                .filter(|model| world.models[*model].is_static)
                .collect();
            in_levels.extend(&static_models);
            self.add_level(index, level, prefix, static_models.into_iter().collect());
        }
        self.global_models.push(
            (0..world.models.len())
                .filter(|model| world.models[*model].is_static && !in_levels.contains(model))
                .collect(),
        );
        self.add_performers(index, world, prefix, first_level, default_cell);
    }

    fn add_level(
        &mut self,
        world: usize,
        level: &sdf::Level,
        prefix: &str,
        static_models: Vec<usize>,
    ) {
        let id = LevelId(self.levels.len() as u32);
        let cell = CellId(self.cells.len() as u32);
        let inner = Bounds::around(level.center, level.size.map(|edge| edge * 0.5));
        let name = format!("{prefix}{}", level.name);
        self.cells.push(CellPlan {
            world,
            level: Some(id),
            name: name.clone(),
        });
        self.levels.push(LevelPlan {
            world,
            name,
            inner,
            outer: inner.inflated(level.buffer),
            buffer: level.buffer,
            static_models,
            cell,
        });
    }

    fn add_performers(
        &mut self,
        index: usize,
        world: &World,
        prefix: &str,
        first_level: usize,
        default_cell: CellId,
    ) {
        let declared: BTreeMap<&str, [f64; 3]> = world
            .performers
            .iter()
            .map(|performer| (performer.model.as_str(), performer.size))
            .collect();
        for (model_index, model) in world.models.iter().enumerate() {
            if model.is_static {
                continue;
            }
            let half_extents = match declared.get(model.name.as_str()) {
                Some(size) => size.map(|edge| edge * 0.5),
                None => [model.reach(); 3],
            };
            let bounds = Bounds::around(model.pose.position, half_extents);
            let levels = &self.levels[first_level..];
            self.performers.push(PerformerPlan {
                world: index,
                model: model_index,
                name: format!("{prefix}{}", model.name),
                half_extents,
                start: model.pose.position,
                home: first_home(levels, &bounds).unwrap_or(default_cell),
            });
        }
        gather(world, index, &mut self.performers);
    }
}

/// Puts the performers of a world that its joints hold together into one cell each: the one that
/// owns most of them, and of several the first. Models that never move hold nothing together.
fn gather(world: &World, index: usize, performers: &mut [PerformerPlan]) {
    if world.joints.is_empty() {
        return;
    }
    let by_model: BTreeMap<usize, usize> = performers
        .iter()
        .enumerate()
        .filter(|(_, performer)| performer.world == index)
        .map(|(number, performer)| (performer.model, number))
        .collect();
    // To which other performer each is held, at last to itself.
    let mut held_to: BTreeMap<usize, usize> = by_model.values().map(|one| (*one, *one)).collect();
    for joint in &world.joints {
        let JointEnd::Link(parent) = joint.parent else {
            continue;
        };
        let ends = [parent.model, joint.child.model].map(|model| by_model.get(&model));
        if let [Some(parent), Some(child)] = ends {
            let [one, other] = [parent, child].map(|end| group_of(&mut held_to, *end));
            held_to.insert(one.max(other), one.min(other));
        }
    }
    let groups: Vec<(usize, usize)> = by_model
        .values()
        .map(|number| (*number, group_of(&mut held_to, *number)))
        .collect();
    let mut owned: BTreeMap<(usize, CellId), usize> = BTreeMap::new();
    for (number, group) in &groups {
        *owned.entry((*group, performers[*number].home)).or_insert(0) += 1;
    }
    let mut homes: BTreeMap<usize, (usize, CellId)> = BTreeMap::new();
    for ((group, cell), count) in owned {
        let best = homes.entry(group).or_insert((count, cell));
        if count > best.0 {
            *best = (count, cell);
        }
    }
    for (number, group) in groups {
        performers[number].home = homes[&group].1;
    }
}

/// Returns the performer that stands for all that one is held together with, and shortens the way
/// there.
fn group_of(held_to: &mut BTreeMap<usize, usize>, performer: usize) -> usize {
    let mut group = performer;
    while held_to[&group] != group {
        group = held_to[&group];
    }
    held_to.insert(performer, group);
    group
}

/// Returns the cell that owns a performer at the start: that of the first level that it touches,
/// else of the first whose buffer it touches, so that work is spread from the first iteration.
fn first_home(levels: &[LevelPlan], bounds: &Bounds) -> Option<CellId> {
    let inside = levels.iter().find(|level| level.inner.touches(bounds));
    let near = || levels.iter().find(|level| level.outer.touches(bounds));
    inside.or_else(near).map(|level| level.cell)
}

#[cfg(test)]
mod tests {
    use sdf::{JointKind, LinkReference, Pose, WorldJoint};

    use super::*;
    use crate::levels::tests::{performer, platform, world};

    #[test]
    fn a_performer_starts_in_its_level_else_in_its_buffer_else_in_the_default_cell() {
        let mut world = world("w", &["L1", "L2"]);
        world.models.push(performer("inside", [0.0, 0.0, 0.0]));
        world.models.push(performer("between", [6.1, 0.0, 0.0]));
        world.models.push(performer("in_buffer", [-6.5, 0.0, 0.0]));
        world.models.push(performer("outside", [0.0, 50.0, 0.0]));
        let plan = Plan::new(&[world]);
        let homes: Vec<u32> = plan.performers.iter().map(|p| p.home.0).collect();
        assert_eq!(homes, [1, 2, 1, 0]);
    }

    #[test]
    fn static_models_in_no_level_are_global() {
        let mut world = world("w", &["L1"]);
        world.models.push(platform("ground"));
        let plan = Plan::new(&[world]);
        assert_eq!(plan.level(LevelId(0)).static_models, [0]);
        assert_eq!(plan.global_models, [[1]]);
    }

    /// `joints` are pairs of performers by their place among the models after the two floors;
    /// 0 is a floor.
    fn check_joined(positions: &[f64], joints: &[[usize; 2]], expected: &[u32]) {
        let mut world = world("w", &["L1", "L2"]);
        for x in positions {
            world
                .models
                .push(performer(&format!("at {x}"), [*x, 0.0, 0.0]));
        }
        let reference = |place: usize| LinkReference {
            model: if place == 0 { 0 } else { place + 1 },
            link: 0,
        };
        world.joints = joints
            .iter()
            .map(|&[parent, child]| WorldJoint {
                name: "joint".to_owned(),
                kind: JointKind::Fixed,
                parent: JointEnd::Link(reference(parent)),
                child: reference(child),
                pose: Pose::IDENTITY,
            })
            .collect();
        let plan = Plan::new(&[world]);
        let homes: Vec<u32> = plan.performers.iter().map(|p| p.home.0).collect();
        assert_eq!(homes, expected, "{positions:?} {joints:?}");
    }

    #[test]
    fn performers_that_joints_hold_together_start_in_one_cell() {
        check_joined(&[0.0, 10.0, 10.0], &[], &[1, 2, 2]);
        check_joined(&[0.0, 10.0, 10.0], &[[1, 2], [2, 3]], &[2, 2, 2]);
        check_joined(&[0.0, 10.0, 10.0], &[[3, 2], [2, 1]], &[2, 2, 2]);
        check_joined(&[0.0, 10.0], &[[2, 1]], &[1, 1]);
        check_joined(&[50.0, 10.0], &[[1, 2]], &[0, 0]);
    }

    #[test]
    fn a_joint_to_what_never_moves_leaves_a_performer_in_its_cell() {
        check_joined(&[10.0, 0.0], &[[0, 1], [0, 2]], &[2, 1]);
    }

    #[test]
    fn numbers_run_on_over_several_worlds_and_names_tell_them_apart() {
        let mut first = world("a", &["L1"]);
        first.models.push(performer("robot", [0.0; 3]));
        let mut second = world("b", &["L1"]);
        second.models.push(performer("robot", [0.0; 3]));
        let plan = Plan::new(&[first, second]);
        assert_eq!(plan.cells.len(), 4);
        assert_eq!(plan.cell(CellId(3)).name, "b::L1");
        assert_eq!(plan.performer(PerformerId(1)).name, "b::robot");
        assert_eq!(plan.performer(PerformerId(1)).home, CellId(3));
    }
}
