//! [`Topology`]: the parts of the worlds for lockstep: cells, levels and performers with their
//! numbers.
//!
//! A topology is a pure function of the worlds, so every process computes the same one and the
//! numbers need no agreement. During a run it changes by [`Topology::spawn`] and
//! [`Topology::remove`] alone.

mod joined;
mod level_index;
pub(crate) mod saved;
mod spawn;

use std::collections::{BTreeMap, BTreeSet};

use protocol::{CellId, LevelId, PerformerId};
use sdf::{Sight, World};
use serde::{Deserialize, Serialize};

use crate::bounds::Bounds;
use crate::numbers::Numbers;

pub(crate) use level_index::LevelIndex;
pub use spawn::works_by_contact;

/// The name under which default cells are reported.
pub const DEFAULT_CELL_NAME: &str = "default";

/// The most parts that a level, or what is in none, is split into, each with a cell.
pub const PARTS_MAX: u32 = 8;

/// The cells, levels and performers of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Topology {
    /// All cells, indexed by [`CellId`]: for each world its default cell, then one per level; after
    /// those the cells of further parts of what may be split.
    pub cells: Vec<CellSpec>,
    /// All levels, indexed by [`LevelId`].
    pub levels: Vec<LevelSpec>,
    /// All performers, indexed by [`PerformerId`]; some are gone, and some numbers are free.
    pub performers: Vec<PerformerSpec>,
    /// Numbers of performers in use.
    numbers: Numbers,
    /// For each world, the indices of its static models that are in no level, ascending.
    pub global_models: Vec<Vec<usize>>,
    /// For each world, whether anything in it looks at others: without, nobody needs to know where
    /// ghosts are. What looked once may be gone.
    pub watched: Vec<bool>,
    /// The names of the worlds, by which names tell apart what is in them.
    pub worlds: Vec<String>,
}

/// One cell.
#[derive(Clone, Debug, PartialEq)]
pub struct CellSpec {
    /// Index of its world.
    pub world: usize,
    /// Its level; `None` for the world's default cell.
    pub level: Option<LevelId>,
    /// Which part of its level, or of what is in none, it is for: 0 is the first, the only one of
    /// what is whole.
    pub part: u32,
    /// The cell of the first part.
    pub whole: CellId,
    /// Rule for splitting it while it is crowded; `None` if it never is, and of further parts.
    pub split: Option<Split>,
    /// The level's name or [`DEFAULT_CELL_NAME`]; of a further part that with a number, as
    /// `north/2`.
    pub name: String,
    /// True if it needs a host even when nobody is in it: models that never move and are in no
    /// level have systems or sensors, which run in the default cell.
    pub is_permanent: bool,
    /// True if all performers of its world that keep levels active are ghosts in it, wherever they
    /// are: in a default cell, of which a model that never moves looks at others.
    pub sees_all: bool,
    /// Models that never move and look at others in it, by their indices: those of its level, or
    /// in a default cell those of no level.
    pub watchers: Vec<Watcher>,
    /// Those among the same models that work by what touches them, ascending: with any, it is kept
    /// whole.
    pub contact: Vec<usize>,
}

/// A way to split a cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Split {
    /// Number of performers above which it is split.
    pub above: u32,
    /// The cells of its further parts, [`PARTS_MAX`] with its own.
    pub further: Vec<CellId>,
}

impl CellSpec {
    /// Tells whether it is the default cell of its world, in which models that never move and are
    /// in no level have their systems and sensors.
    pub fn is_default(&self) -> bool {
        self.level.is_none() && self.part == 0
    }
}

/// A model that never moves and looks at others.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Watcher {
    /// Index of the model.
    pub model: usize,
    /// Box that holds all it sees, world frame \[m\].
    pub bounds: Bounds,
}

/// One level.
#[derive(Clone, Debug, PartialEq)]
pub struct LevelSpec {
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
    /// Its cell: that of its first part, in which its static models have their systems.
    pub cell: CellId,
}

/// One performer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PerformerSpec {
    /// Index of its world.
    pub world: usize,
    /// Index of its model.
    pub model: usize,
    /// The model's name; with several worlds `world::model`.
    pub name: String,
    /// Half the edge lengths of the box with which it touches levels, centred on the model's origin
    /// \[m\]: the declared one, else one that its collisions keep to whatever its joints do.
    pub half_extents: [f64; 3],
    /// True if that box cannot hold all of its collisions, since some are any distance away: then
    /// where it reaches counts too.
    pub has_loose_links: bool,
    /// True if the file declares it a performer.
    pub is_declared: bool,
    /// The levels that it lives with, ascending, if it keeps none active: they refer to its model,
    /// and of the world's performers, of which some are declared, it is none.
    pub bound_to: Vec<LevelId>,
    /// Performers that joints of the world hold together with it, ascending.
    pub joined_to: Vec<PerformerId>,
    /// Position of the model's origin at the start, world frame \[m\].
    pub start: [f64; 3],
    /// The cell that owns it at the start.
    pub home: CellId,
    /// Distances at which it sees others and others see it.
    pub sight: Sight,
    /// True if it was taken out of its world, or nobody has its number.
    pub is_removed: bool,
}

impl PerformerSpec {
    /// Returns the box around the performer when its model is at `position` \[m\].
    pub fn bounds_at(&self, position: [f64; 3]) -> Bounds {
        Bounds::around(position, self.half_extents)
    }

    /// Tells whether it lives with levels and keeps none active.
    pub fn is_level_bound(&self) -> bool {
        !self.bound_to.is_empty()
    }
}

impl Topology {
    /// Makes the topology of some worlds.
    pub fn new(worlds: &[World]) -> Self {
        let mut plan = Self {
            cells: Vec::new(),
            levels: Vec::new(),
            performers: Vec::new(),
            numbers: Numbers::default(),
            global_models: Vec::new(),
            watched: Vec::new(),
            worlds: worlds.iter().map(|world| world.name.clone()).collect(),
        };
        let prefixes: Vec<String> = (0..worlds.len()).map(|world| plan.prefix(world)).collect();
        let mut default_cells = Vec::new();
        for (index, world) in worlds.iter().enumerate() {
            default_cells.push(plan.add_world(index, world, &prefixes[index]));
        }
        plan.add_cells_of_parts(worlds);
        let levels = LevelIndex::new(worlds.len(), &plan.levels);
        for (index, world) in worlds.iter().enumerate() {
            let prefix = &prefixes[index];
            plan.add_performers(index, world, prefix, default_cells[index], &levels);
        }
        plan.numbers = Numbers::new(plan.performers.len() as u32);
        plan
    }

    /// Returns with what names of a world begin in reports: nothing, or with several worlds
    /// `world::`.
    pub fn prefix(&self, world: usize) -> String {
        match self.worlds.len() {
            0 | 1 => String::new(),
            _ => format!("{}::", self.worlds[world]),
        }
    }

    /// Returns performers' ids in order of their names, the order of digests and summaries, without
    /// those that were removed.
    pub fn performers_by_name(&self) -> Vec<PerformerId> {
        let mut ids: Vec<_> = self.present().collect();
        ids.sort_by(|a, b| self.performer(*a).name.cmp(&self.performer(*b).name));
        ids
    }

    /// Returns the performers that are there, ascending.
    pub fn present(&self) -> impl Iterator<Item = PerformerId> + '_ {
        let ids = (0..self.performers.len() as u32).map(PerformerId);
        ids.filter(|id| !self.performer(*id).is_removed)
    }

    /// Returns the names of performers by their ids: empty for those that are not there, none after
    /// the last that is.
    pub fn performer_names(&self) -> Vec<String> {
        let mut names = Vec::new();
        for id in self.present() {
            names.resize(id.0 as usize, String::new());
            names.push(self.performer(id).name.clone());
        }
        names
    }

    /// Returns a cell.
    ///
    /// # Panics
    /// Panics when no cell has this id.
    pub fn cell(&self, id: CellId) -> &CellSpec {
        &self.cells[id.0 as usize]
    }

    /// Returns the cell of a part of what a cell is the first part of.
    ///
    /// # Panics
    /// Panics when it cannot have such a part.
    pub fn cell_of_part(&self, whole: CellId, part: u32) -> CellId {
        match (part.checked_sub(1), &self.cell(whole).split) {
            (None, _) => whole,
            (Some(further), Some(split)) => split.further[further as usize],
            (Some(_), None) => panic!("cell {whole} is never split"),
        }
    }

    /// Returns a level.
    ///
    /// # Panics
    /// Panics when no level has this id.
    pub fn level(&self, id: LevelId) -> &LevelSpec {
        &self.levels[id.0 as usize]
    }

    /// Returns a performer.
    ///
    /// # Panics
    /// Panics when no performer has this id.
    pub fn performer(&self, id: PerformerId) -> &PerformerSpec {
        &self.performers[id.0 as usize]
    }

    /// Adds cells, levels and global models of a world and returns its default cell.
    fn add_world(&mut self, index: usize, world: &World, prefix: &str) -> CellId {
        let default_cell = CellId(self.cells.len() as u32);
        self.cells.push(CellSpec {
            world: index,
            level: None,
            part: 0,
            whole: default_cell,
            split: None,
            name: format!("{prefix}{DEFAULT_CELL_NAME}"),
            is_permanent: false,
            sees_all: false,
            watchers: Vec::new(),
            contact: Vec::new(),
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
            let static_models: Vec<usize> = static_models.into_iter().collect();
            let watchers = spawn::watchers(world, &static_models);
            let contact = spawn::contact(world, &static_models);
            self.add_level(index, level, prefix, static_models);
            let cell = self.cells.last_mut().expect("the level has a cell");
            cell.watchers = watchers;
            cell.contact = contact;
        }
        let global: Vec<usize> = (0..world.models.len())
            .filter(|model| world.models[*model].is_static && !in_levels.contains(model))
            .collect();
        let models = || global.iter().map(|model| &world.models[*model]);
        let cell = &mut self.cells[default_cell.0 as usize];
        cell.is_permanent = models().any(spawn::does_something);
        cell.sees_all = models().any(spawn::sees_others);
        cell.watchers = spawn::watchers(world, &global);
        cell.contact = spawn::contact(world, &global);
        self.global_models.push(global);
        self.watched
            .push(world.models.iter().any(spawn::sees_others));
        default_cell
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
        self.cells.push(CellSpec {
            world,
            level: Some(id),
            part: 0,
            whole: cell,
            split: None,
            name: name.clone(),
            is_permanent: false,
            sees_all: false,
            watchers: Vec::new(),
            contact: Vec::new(),
        });
        self.levels.push(LevelSpec {
            world,
            name,
            inner,
            outer: inner.inflated(level.buffer),
            buffer: level.buffer,
            static_models,
            cell,
        });
    }

    /// Adds the cells of further parts, after all others, whose numbers so are those of worlds that
    /// are not split.
    fn add_cells_of_parts(&mut self, worlds: &[World]) {
        let names: BTreeSet<String> = self.cells.iter().map(|cell| cell.name.clone()).collect();
        for number in 0..self.cells.len() {
            let whole = self.cells[number].clone();
            let Some(above) = worlds[whole.world].split_above else {
                continue;
            };
            let mut further = Vec::new();
            for part in 1..PARTS_MAX {
                further.push(CellId(self.cells.len() as u32));
                self.cells.push(CellSpec {
                    part,
                    split: None,
                    name: name_of_part(&names, &whole.name, part),
                    is_permanent: false,
                    sees_all: false,
                    watchers: Vec::new(),
                    contact: Vec::new(),
                    ..whole
                });
            }
            self.cells[number].split = Some(Split { above, further });
        }
    }

    fn add_performers(
        &mut self,
        index: usize,
        world: &World,
        prefix: &str,
        default_cell: CellId,
        index_of_levels: &LevelIndex,
    ) {
        let declared: BTreeMap<&str, [f64; 3]> = world
            .performers
            .iter()
            .map(|performer| (performer.model.as_str(), performer.size))
            .collect();
        let bound = self.bound_models(index, world);
        let mut touched = Vec::new();
        for (model_index, model) in world.models.iter().enumerate() {
            if model.is_static {
                continue;
            }
            let declared = declared.get(model.name.as_str());
            let reach = model.reach();
            let half_extents = match declared {
                Some(size) => size.map(|edge| edge * 0.5),
                None => [reach.radius; 3],
            };
            let bounds = Bounds::around(model.pose.position, half_extents);
            index_of_levels.touching(&self.levels, index, &bounds, usize::MAX, &mut touched);
            let home = first_home(&self.levels, &touched, &bounds);
            self.performers.push(PerformerSpec {
                world: index,
                model: model_index,
                name: format!("{prefix}{}", model.name),
                half_extents,
                has_loose_links: declared.is_none() && reach.has_loose_links,
                is_declared: declared.is_some(),
                bound_to: match declared {
                    Some(_) => Vec::new(),
                    None => bound.get(model.name.as_str()).cloned().unwrap_or_default(),
                },
                joined_to: Vec::new(),
                start: model.pose.position,
                home: home.unwrap_or(default_cell),
                sight: model.sight(),
                is_removed: false,
            });
        }
        joined::join(world, index, default_cell, &mut self.performers);
    }

    /// Returns the models that levels of a world refer to, with those levels, if the world declares
    /// performers.
    fn bound_models<'w>(&self, index: usize, world: &'w World) -> BTreeMap<&'w str, Vec<LevelId>> {
        let mut bound: BTreeMap<&str, Vec<LevelId>> = BTreeMap::new();
        if world.performers.is_empty() {
            return bound;
        }
        let numbers = (0..self.levels.len() as u32).map(LevelId);
        let own = numbers.filter(|id| self.level(*id).world == index);
        for (level, id) in world.levels.iter().zip(own) {
            for model in &level.models {
                bound.entry(model).or_default().push(id);
            }
        }
        bound
    }
}

/// Returns a name for a part that no level has.
fn name_of_part(levels: &BTreeSet<String>, whole: &str, part: u32) -> String {
    let mut name = format!("{whole}/{}", part + 1);
    while levels.contains(&name) {
        name.insert(whole.len(), '/');
    }
    name
}

/// Returns the cell that owns a performer at the start: that of the first level that it touches,
/// else of the first whose buffer it touches, so that work is spread from the first iteration.
fn first_home(levels: &[LevelSpec], touched: &[LevelId], bounds: &Bounds) -> Option<CellId> {
    let touched = || touched.iter().map(|level| &levels[level.0 as usize]);
    let inside = touched().find(|level| level.inner.touches(bounds));
    inside.or_else(|| touched().next()).map(|level| level.cell)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::levels::tests::{performer, platform, world};

    #[test]
    fn a_performer_starts_in_its_level_else_in_its_buffer_else_in_the_default_cell() {
        let mut world = world("w", &["L1", "L2"]);
        world.models.push(performer("inside", [0.0, 0.0, 0.0]));
        world.models.push(performer("between", [6.1, 0.0, 0.0]));
        world.models.push(performer("in_buffer", [-6.5, 0.0, 0.0]));
        world.models.push(performer("outside", [0.0, 50.0, 0.0]));
        let plan = Topology::new(&[world]);
        let homes: Vec<u32> = plan.performers.iter().map(|p| p.home.0).collect();
        assert_eq!(homes, [1, 2, 1, 0]);
    }

    #[test]
    fn static_models_in_no_level_are_global() {
        let mut world = world("w", &["L1"]);
        world.models.push(platform("ground"));
        let plan = Topology::new(&[world]);
        assert_eq!(plan.level(LevelId(0)).static_models, [0]);
        assert_eq!(plan.global_models, [[1]]);
    }

    #[test]
    fn numbers_run_on_over_several_worlds_and_names_tell_them_apart() {
        let mut first = world("a", &["L1"]);
        first.models.push(performer("robot", [0.0; 3]));
        let mut second = world("b", &["L1"]);
        second.models.push(performer("robot", [0.0; 3]));
        let plan = Topology::new(&[first, second]);
        assert_eq!(plan.cells.len(), 4);
        assert_eq!(plan.cell(CellId(3)).name, "b::L1");
        assert_eq!(plan.performer(PerformerId(1)).name, "b::robot");
        assert_eq!(plan.performer(PerformerId(1)).home, CellId(3));
    }

    #[test]
    fn in_a_world_with_declared_performers_other_models_of_levels_are_bound_to_them() {
        let mut world = world("w", &["L1"]);
        for name in ["robot", "crate", "stray"] {
            world.models.push(performer(name, [0.0; 3]));
        }
        world.levels[0]
            .models
            .extend(["robot", "crate"].map(str::to_owned));
        let bound = |world: &World| {
            let plan = Topology::new(std::slice::from_ref(world));
            let bound = plan.performers.iter().map(PerformerSpec::is_level_bound);
            bound.collect::<Vec<_>>()
        };
        assert_eq!(bound(&world), [false; 3]);
        world.performers.push(sdf::Performer {
            name: "p".to_owned(),
            model: "robot".to_owned(),
            size: [2.0; 3],
        });
        assert_eq!(bound(&world), [false, true, false]);
        let plan = Topology::new(&[world]);
        assert_eq!(plan.performers[0].half_extents, [1.0; 3]);
        assert_eq!(plan.performers[1].half_extents, [0.5; 3]);
    }

    #[test]
    fn links_that_nothing_holds_are_noted_unless_a_box_is_declared() {
        let mut world = world("w", &["L1"]);
        let mut loose = performer("loose", [0.0; 3]);
        loose.links.push(loose.links[0].clone());
        world.models.push(loose);
        assert!(Topology::new(std::slice::from_ref(&world)).performers[0].has_loose_links);
        world.performers.push(sdf::Performer {
            name: "p".to_owned(),
            model: "loose".to_owned(),
            size: [2.0; 3],
        });
        assert!(!Topology::new(&[world]).performers[0].has_loose_links);
    }
}
