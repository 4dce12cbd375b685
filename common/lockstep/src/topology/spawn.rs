//! Models that come into worlds and leave them during a run.

use protocol::{CellId, ModelId, PerformerId};
use sdf::{Model, Sight, World};

use super::{PerformerSpec, Topology, Watcher, first_home};
use crate::bounds::Bounds;
use crate::topology::LevelIndex;

impl Topology {
    /// Adds a model to its world. One that moves is a performer, which gets the lowest number that
    /// is free, and starts in the level that it touches; one that does not is in all cells.
    ///
    /// # Panics
    /// Panics when there is no such world.
    pub fn spawn(&mut self, id: ModelId, model: &Model) -> Option<PerformerId> {
        let performer = (!model.is_static).then(|| PerformerId(self.numbers.upcoming(0)));
        self.place(id, performer, model);
        performer
    }

    /// Adds a model to its world, under a number that is free if it is a performer.
    ///
    /// # Panics
    /// Panics when there is no such world, or the number is in use.
    pub fn place(&mut self, id: ModelId, performer: Option<PerformerId>, model: &Model) {
        let world = id.world as usize;
        let default_cell = self.default_cell(world);
        self.watched[world] |= sees_others(model);
        let Some(performer) = performer else {
            let models = &mut self.global_models[world];
            let place = models.partition_point(|other| *other < id.model as usize);
            models.insert(place, id.model as usize);
            let cell = &mut self.cells[default_cell.0 as usize];
            cell.is_permanent |= does_something(model);
            cell.sees_all |= sees_others(model);
            if works_by_contact(model) {
                let place = cell.contact.partition_point(|one| *one < id.model as usize);
                cell.contact.insert(place, id.model as usize);
            }
            if let Some(watcher) = watcher(id.model as usize, model) {
                let place = cell
                    .watchers
                    .partition_point(|one| one.model < watcher.model);
                cell.watchers.insert(place, watcher);
            }
            return;
        };
        let reach = model.reach();
        let half_extents = [reach.radius; 3];
        let bounds = Bounds::around(model.pose.position, half_extents);
        let levels = LevelIndex::new(self.worlds.len(), &self.levels);
        let mut touched = Vec::new();
        levels.touching(&self.levels, world, &bounds, usize::MAX, &mut touched);
        let home = first_home(&self.levels, &touched, &bounds).unwrap_or(default_cell);
        self.seat(
            performer,
            PerformerSpec {
                world,
                model: id.model as usize,
                name: format!("{}{}", self.prefix(world), model.name),
                half_extents,
                has_loose_links: reach.has_loose_links,
                is_declared: false,
                bound_to: Vec::new(),
                joined_to: Vec::new(),
                start: model.pose.position,
                home,
                sight: model.sight(),
                is_removed: false,
            },
        );
    }

    /// Puts a performer under a number that is free.
    pub(super) fn seat(&mut self, performer: PerformerId, plan: PerformerSpec) {
        assert!(
            self.numbers.is_free(performer.0),
            "performer {performer} comes under a number that is free"
        );
        self.numbers.occupy(performer.0);
        let end = self.numbers.end();
        self.performers.resize_with(end, PerformerSpec::nobody);
        self.performers[performer.0 as usize] = plan;
    }

    /// Returns the number that a performer gets after `count` others have come.
    pub fn upcoming(&self, count: usize) -> PerformerId {
        PerformerId(self.numbers.upcoming(count))
    }

    /// Tells whether a performer may come under a number.
    pub fn is_free(&self, performer: PerformerId) -> bool {
        self.numbers.is_free(performer.0)
    }

    /// Tells whether numbers wait to be given back.
    pub fn has_leaving(&self) -> bool {
        self.numbers.has_leaving()
    }

    /// Lets the numbers of those who left be given again; comes between two steps.
    pub fn give_back(&mut self) {
        for number in self.numbers.give_back() {
            self.performers[number as usize] = PerformerSpec::nobody();
        }
        self.performers.truncate(self.numbers.end());
    }

    /// Takes a model out of its world; returns its number as a performer, if it is one that was
    /// there. After [`Self::give_back`] another may get it, unless it is of the start.
    pub fn remove(&mut self, id: ModelId) -> Option<PerformerId> {
        let (world, model) = (id.world as usize, id.model as usize);
        self.global_models[world].retain(|other| *other != model);
        for level in self.levels.iter_mut().filter(|level| level.world == world) {
            level.static_models.retain(|other| *other != model);
        }
        for cell in self.cells.iter_mut().filter(|cell| cell.world == world) {
            cell.watchers.retain(|other| other.model != model);
            cell.contact.retain(|other| *other != model);
        }
        let performer = self.performer_of(id)?;
        let plan = &mut self.performers[performer.0 as usize];
        plan.is_removed = true;
        self.numbers.give_up(performer.0);
        let joined = std::mem::take(&mut plan.joined_to);
        for other in joined {
            let joined_to = &mut self.performers[other.0 as usize].joined_to;
            joined_to.retain(|one| *one != performer);
        }
        Some(performer)
    }

    /// Returns a model's number as a performer, if it is one that is there.
    pub fn performer_of(&self, id: ModelId) -> Option<PerformerId> {
        let is_it = |one: &PerformerSpec| {
            one.world == id.world as usize && one.model == id.model as usize && !one.is_removed
        };
        let number = self.performers.iter().position(is_it)?;
        Some(PerformerId(number as u32))
    }

    /// Returns the default cell of a world.
    ///
    /// # Panics
    /// Panics when there is no such world.
    pub fn default_cell(&self, world: usize) -> CellId {
        let is_it = |cell: &super::CellSpec| cell.world == world && cell.level.is_none();
        let number = self.cells.iter().position(is_it);
        CellId(number.expect("every world has a default cell") as u32)
    }

    /// Notes that two performers are held together from now on, or are not any longer.
    pub(crate) fn set_joined(&mut self, ends: [PerformerId; 2], joined: bool) {
        for (one, other) in [(ends[0], ends[1]), (ends[1], ends[0])] {
            let list = &mut self.performers[one.0 as usize].joined_to;
            match (list.binary_search(&other), joined) {
                (Err(place), true) => list.insert(place, other),
                (Ok(place), false) => {
                    list.remove(place);
                }
                (Ok(_), true) | (Err(_), false) => {}
            }
        }
    }
}

impl PerformerSpec {
    /// Returns the placeholder at a number that nobody has.
    fn nobody() -> Self {
        Self {
            world: 0,
            model: usize::MAX,
            name: String::new(),
            half_extents: [0.0; 3],
            has_loose_links: false,
            is_declared: false,
            bound_to: Vec::new(),
            joined_to: Vec::new(),
            start: [0.0; 3],
            home: CellId(0),
            sight: Sight::default(),
            is_removed: true,
        }
    }
}

/// Ending of the names of systems that look for other models.
const WATCHING_SYSTEM: &str = "PerformerDetector";

/// Tells whether something in a model looks at others, also at those that other cells own.
pub(super) fn sees_others(model: &Model) -> bool {
    let sensors = model.links.iter().flat_map(|link| &link.sensors);
    let nested = model.nested.iter().flat_map(|nested| &nested.plugins);
    let mut plugins = model.plugins.iter().chain(nested);
    let mut kinds = sensors.map(|sensor| sensor.kind.as_str());
    // A kind that is not known is given what it may want to see.
    kinds.any(|kind| sdf::find_sensor(kind).is_none_or(|kind| kind.sees_others))
        || plugins.any(|plugin| plugin.name.ends_with(WATCHING_SYSTEM))
}

/// Endings of the names of systems that move what touches their model, or tell of it.
const CONTACT_SYSTEMS: [&str; 2] = ["TouchPlugin", "TrackController"];

/// Tells whether something in a model works by what touches it, and so in one cell alone.
pub fn works_by_contact(model: &Model) -> bool {
    let mut sensors = model.links.iter().flat_map(|link| &link.sensors);
    let nested = model.nested.iter().flat_map(|nested| &nested.plugins);
    let mut plugins = model.plugins.iter().chain(nested);
    let touches = |name: &str| CONTACT_SYSTEMS.iter().any(|system| name.ends_with(system));
    sensors.any(|sensor| sensor.kind == "contact") || plugins.any(|plugin| touches(&plugin.name))
}

/// Returns those that look at others among models of a world that never move.
pub(super) fn watchers(world: &World, models: &[usize]) -> Vec<Watcher> {
    let models = models.iter();
    models
        .filter_map(|model| watcher(*model, &world.models[*model]))
        .collect()
}

/// Returns those that work by what touches them among models of a world that never move.
pub(super) fn contact(world: &World, models: &[usize]) -> Vec<usize> {
    let models = models.iter().copied();
    models
        .filter(|model| works_by_contact(&world.models[*model]))
        .collect()
}

fn watcher(index: usize, model: &Model) -> Option<Watcher> {
    let range = model.sight().range?;
    Some(Watcher {
        model: index,
        bounds: Bounds::around(model.pose.position, [range; 3]),
    })
}

/// Tells whether a model has systems or sensors, which run where it is.
pub(super) fn does_something(model: &Model) -> bool {
    let nested = model.nested.iter().any(|nested| !nested.plugins.is_empty());
    let senses = model.links.iter().any(|link| !link.sensors.is_empty());
    nested || senses || !model.plugins.is_empty()
}
