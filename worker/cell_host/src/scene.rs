//! State that is the same for all cells of a process throughout a run.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use lockstep::{Numbers, Topology};
use protocol::action::{Action, Spawn};
use protocol::primary_to_secondary::Step;
use protocol::{CellId, LevelId, ModelId, PerformerId};
use sdf::{ModelParcel, World};
use systems::registry::{Member, members_of_model};
use systems::{GoneModel, Outbox, StepTime};

use super::HostSettings;
use super::exports::{ExportRule, RobotDescription};
use super::listeners::Listeners;
use super::stages::Stages;
use super::world_systems::WorldSystems;

/// The worlds, and what follows from them alone.
pub(super) struct Scene {
    pub(super) plan: Topology,
    pub(super) worlds: Vec<Arc<World>>,
    /// The performers that start in each cell, ascending, by the cell's id.
    residents: Vec<Vec<PerformerId>>,
    /// Simulated time per iteration \[s\].
    pub(super) step_size_s: f64,
    /// True if every step is done twice and compared.
    pub(super) verify: bool,
    /// The seed of random numbers.
    pub(super) seed: u64,
    pub(super) listeners: Listeners,
    pub(super) world_systems: Vec<WorldSystems>,
    /// The worlds as sensors draw them.
    pub(super) stages: Stages,
    /// Differences from the start.
    changes: Changes,
    /// The performers that models are.
    performers: BTreeMap<ModelId, PerformerId>,
    /// For each world, which numbers of models are in use.
    pub(super) numbers: Vec<Numbers>,
}

/// Differences of a scene from the start.
#[derive(Default)]
struct Changes {
    /// The plan of the start, once there is another one.
    plan: Option<Box<Topology>>,
    /// For each world, how many models, meshes, height grids and files of visuals it had.
    counts: Vec<[usize; 4]>,
    /// The links of models that never move whose collisions are switched off.
    untouchable: BTreeMap<ModelId, BTreeSet<u32>>,
    /// Models of the start that are gone.
    gone: BTreeSet<ModelId>,
    /// The models that came and are there.
    came: BTreeMap<ModelId, Spawn>,
    /// Models that have left with the last step and are still in their worlds.
    leaving: Vec<ModelId>,
}

impl Scene {
    pub(super) fn new(worlds: Vec<World>, settings: HostSettings) -> Self {
        let plan = Topology::new(&worlds);
        let mut residents = vec![Vec::new(); plan.cells.len()];
        for (number, performer) in plan.performers.iter().enumerate() {
            residents[performer.home.0 as usize].push(PerformerId(number as u32));
        }
        let count = |world: &World| {
            [
                world.models.len(),
                world.meshes.len(),
                world.height_grids.len(),
                world.visual_files.len(),
            ]
        };
        let mut scene = Self {
            changes: Changes {
                counts: worlds.iter().map(count).collect(),
                ..Changes::default()
            },
            plan,
            worlds: worlds.into_iter().map(Arc::new).collect(),
            residents,
            step_size_s: settings.step_size_ns as f64 / 1e9,
            verify: settings.verify,
            seed: settings.seed,
            listeners: Listeners::new(settings.publish_all),
            world_systems: Vec::new(),
            stages: Stages::default(),
            performers: BTreeMap::new(),
            numbers: Vec::new(),
        };
        scene.begin();
        scene
    }

    /// Makes what follows from the worlds and the plan.
    fn begin(&mut self) {
        let has_siblings = self.worlds.len() > 1;
        let numbered = self.worlds.iter().enumerate();
        self.world_systems = numbered
            .map(|(index, world)| WorldSystems::new(index, world, has_siblings))
            .collect();
        self.stages.begin(self.worlds.len());
        let performers = self.plan.performers.iter().zip(0..);
        self.performers = performers
            .map(|(performer, number)| {
                let model = model_id(performer.world, performer.model);
                (model, PerformerId(number))
            })
            .collect();
        let counts = self.changes.counts.iter();
        self.numbers = counts
            .map(|[models, ..]| Numbers::new(*models as u32))
            .collect();
        self.changes.leaving.clear();
        self.changes.untouchable.clear();
        self.changes.gone.clear();
        self.changes.came.clear();
        self.listen_to_all();
    }

    /// Has topics leave the run by a rule.
    pub(super) fn export(&mut self, rule: ExportRule) {
        self.listeners.export(rule);
        self.listen_to_all();
    }

    /// Takes note of the topics of all systems, of worlds and models.
    fn listen_to_all(&mut self) {
        self.listeners.clear_systems();
        let of_worlds = self.world_systems.iter().flat_map(WorldSystems::topics);
        for (subscriptions, publications) in of_worlds {
            self.listeners.add_all(subscriptions, publications);
        }
        for world in 0..self.worlds.len() {
            for model in 0..self.worlds[world].models.len() {
                self.listen(world, model, true);
            }
        }
    }

    /// Goes back to the start: what was spawned is gone, and what was removed is back. Seed and
    /// step size stay as they were set. No cell may hold on to a world.
    pub(super) fn begin_anew(&mut self) {
        let counts = &self.changes.counts;
        for (world, [models, meshes, grids, files]) in self.worlds.iter_mut().zip(counts) {
            if world.models.len() > *models {
                let world = Arc::make_mut(world);
                world.models.truncate(*models);
                world.meshes.truncate(*meshes);
                world.height_grids.truncate(*grids);
                world.visual_files.truncate(*files);
            }
        }
        if let Some(plan) = self.changes.plan.take() {
            self.plan = *plan;
        }
        self.begin();
    }

    /// Adds the models that the actions of a step bring, and takes note of what they set. No cell
    /// may hold on to a world that grows.
    pub(super) fn prepare(&mut self, step: &Step, parcels: Vec<ModelParcel>) {
        let mut parcels = parcels.into_iter();
        for stamped in &step.actions {
            match &stamped.action {
                Action::Spawn(spawn) => {
                    let parcel = parcels.next().expect("each spawned model has its parcel");
                    let ModelId { world, model } = spawn.model;
                    self.numbers[world as usize].occupy(model);
                    let (world, model) = (world as usize, model as usize);
                    Arc::make_mut(&mut self.worlds[world]).place(model, parcel);
                    self.stages.of_mut(world).renew();
                    if let Some(performer) = spawn.performer {
                        self.performers.insert(spawn.model, performer);
                    }
                    self.listen(world, model, true);
                }
                Action::SetSeed(seed) => self.seed = *seed,
                Action::SetStepSize(step_size_ns) => {
                    self.step_size_s = *step_size_ns as f64 / 1e9;
                }
                _ => {}
            }
        }
    }

    /// Takes note, once cells have done the actions of a step, of what came and left.
    pub(super) fn conclude(&mut self, step: &Step) {
        for stamped in &step.actions {
            match &stamped.action {
                Action::Spawn(spawn) => {
                    self.keep_plan();
                    let ModelId { world, model } = spawn.model;
                    let (world, model) = (world as usize, model as usize);
                    let description = &self.worlds[world].models[model];
                    self.plan.place(spawn.model, spawn.performer, description);
                    self.changes.came.insert(spawn.model, (**spawn).clone());
                }
                Action::Remove { model } => self.remove(*model),
                Action::SetCollisions {
                    model,
                    link,
                    enabled,
                } if self.performer_of(*model).is_none() => {
                    let meant = self.links_meant(*model, *link);
                    let links = self.changes.untouchable.entry(*model).or_default();
                    for link in meant {
                        if *enabled {
                            links.remove(&link);
                        } else {
                            links.insert(link);
                        }
                    }
                }
                _ => {}
            }
        }
    }

    /// Takes note that a model has left.
    fn remove(&mut self, id: ModelId) {
        self.keep_plan();
        let (world, model) = (id.world as usize, id.model as usize);
        let gone = GoneModel {
            model,
            performer: self.performers.remove(&id),
            name: &self.worlds[world].models[model].name,
        };
        self.world_systems[world].forget(&gone);
        self.plan.remove(id);
        self.listen(world, model, false);
        self.changes.untouchable.remove(&id);
        if self.changes.came.remove(&id).is_none() {
            self.changes.gone.insert(id);
            self.stages.of_mut(world).remove(model);
        } else {
            self.numbers[world].give_up(id.model);
            self.changes.leaving.push(id);
        }
    }

    /// Tells whether models are in worlds that they have left.
    pub(super) fn has_leaving(&self) -> bool {
        !self.changes.leaving.is_empty()
    }

    /// Takes the models that have left out of their worlds: others may get their numbers from the
    /// next step on. No cell may hold on to a world.
    pub(super) fn give_back(&mut self) {
        for id in std::mem::take(&mut self.changes.leaving) {
            let world = id.world as usize;
            let at_start = self.changes.counts[world];
            Arc::make_mut(&mut self.worlds[world]).vacate(id.model as usize, at_start);
            self.stages.of_mut(world).renew();
        }
        for numbers in &mut self.numbers {
            numbers.give_back();
        }
        self.plan.give_back();
    }

    /// Tells whether a model of the start is gone.
    pub(super) fn is_gone(&self, model: ModelId) -> bool {
        self.changes.gone.contains(&model)
    }

    /// Returns the descriptions of all robots that are there, in the order of worlds and models.
    pub(super) fn robot_descriptions(&self) -> Vec<RobotDescription> {
        let has_siblings = self.worlds.len() > 1;
        let worlds = self.worlds.iter().zip(0..);
        let robots = worlds.flat_map(|(world, number)| {
            let models = world.models.iter().zip(0..);
            models.filter_map(move |(model, index)| {
                let urdf = model.urdf.clone()?;
                let id = model_id(number, index);
                let is_here = !self.is_gone(id) && !self.changes.leaving.contains(&id);
                let prefix = if has_siblings {
                    format!("/world/{}", world.name)
                } else {
                    String::new()
                };
                let place = match &model.namespace {
                    Some(namespace) => namespace.to_string(),
                    None => format!("{prefix}/model/{}", model.name),
                };
                is_here.then(|| RobotDescription {
                    model: model.name.clone(),
                    topic: format!("{place}/robot_description"),
                    urdf,
                })
            })
        });
        robots.collect()
    }

    /// Returns actions that bring about what is not as at the start: nothing of what came and went.
    pub(super) fn changes(&self) -> Vec<Action> {
        let Changes {
            untouchable,
            gone,
            came,
            ..
        } = &self.changes;
        let gone = gone.iter().map(|model| Action::Remove { model: *model });
        let came = came.values().cloned();
        let came = came.map(|spawn| Action::Spawn(Box::new(spawn)));
        let links = untouchable.iter();
        let links = links.flat_map(|(model, links)| links.iter().map(|link| (*model, *link)));
        let switched = links.map(|(model, link)| Action::SetCollisions {
            model,
            link: Some(link),
            enabled: false,
        });
        gone.chain(came).chain(switched).collect()
    }

    fn keep_plan(&mut self) {
        let plan = &self.plan;
        self.changes
            .plan
            .get_or_insert_with(|| Box::new(plan.clone()));
    }

    /// Has the topics that systems of a model listen to be heard, or no longer.
    fn listen(&mut self, world: usize, model: usize, begins: bool) {
        let has_siblings = self.worlds.len() > 1;
        if self.worlds[world].models[model].urdf.is_some() {
            self.listeners.note_robot();
        }
        let members = members_of_model(&self.worlds[world], has_siblings, model, &mut Vec::new());
        for Member { configured, .. } in members {
            let (subscriptions, publications) = (configured.subscriptions, configured.publications);
            if begins {
                self.listeners.add_all(&subscriptions, &publications);
            } else {
                self.listeners.remove_all(&subscriptions, &publications);
            }
        }
    }

    /// Returns the performer that a model is, if it moves.
    pub(super) fn performer_of(&self, model: ModelId) -> Option<PerformerId> {
        self.performers.get(&model).copied()
    }

    /// Returns the links of a model that never moves whose collisions are switched off.
    pub(super) fn untouchable_links(
        &self,
        world: usize,
        model: usize,
    ) -> impl Iterator<Item = u32> {
        let links = self.changes.untouchable.get(&model_id(world, model));
        links.into_iter().flatten().copied()
    }

    /// Returns the links that an action means: one, or all of a model.
    pub(super) fn links_meant(&self, model: ModelId, link: Option<u32>) -> Range<u32> {
        if let Some(link) = link {
            return link..link + 1;
        }
        let models = &self.worlds[model.world as usize].models;
        0..models[model.model as usize].links.len() as u32
    }

    /// Takes note of who listens, and lets the systems of worlds do what is done once per step.
    pub(super) fn begin_step(&mut self, step: &Step) -> Outbox {
        for change in &step.subscriptions {
            self.listeners.on_change(change);
        }
        if let Some(topics) = &step.participant_topics {
            self.listeners
                .set_participants(topics.iter().cloned().collect());
        }
        let time = self.time_of(step);
        let mut outbox = Outbox::default();
        let audience = self.listeners.audience();
        for (systems, world) in self.world_systems.iter_mut().zip(&self.worlds) {
            systems.begin_step(step, time, world, audience, &mut outbox);
        }
        outbox
    }

    /// Returns when a step is.
    pub(super) fn time_of(&self, step: &Step) -> StepTime {
        StepTime {
            iteration: step.iteration,
            sim_time: step.sim_time,
            elapsed: step.elapsed,
            step_size_s: self.step_size_s,
            seed: self.seed,
        }
    }

    /// Returns the index of a cell's world, if there is such a cell.
    pub(super) fn world_of_cell(&self, cell: CellId) -> Option<usize> {
        self.plan.cells.get(cell.0 as usize).map(|cell| cell.world)
    }

    /// Returns the index of a level's world, if there is such a level.
    pub(super) fn world_of_level(&self, level: LevelId) -> Option<usize> {
        let level = self.plan.levels.get(level.0 as usize);
        level.map(|level| level.world)
    }

    /// Returns the index of a performer's world, if there is such a performer.
    pub(super) fn world_of_performer(&self, performer: PerformerId) -> Option<usize> {
        let performer = self.plan.performers.get(performer.0 as usize);
        let performer = performer.filter(|performer| !performer.is_removed);
        performer.map(|performer| performer.world)
    }

    /// Returns the performers that start in a cell, ascending.
    pub(super) fn residents(&self, cell: CellId) -> &[PerformerId] {
        &self.residents[cell.0 as usize]
    }
}

pub(super) fn model_id(world: usize, model: usize) -> ModelId {
    ModelId {
        world: world as u32,
        model: model as u32,
    }
}
