//! What is the same for all cells of a process throughout a run.

use std::collections::BTreeSet;
use std::sync::Arc;

use lockstep::Plan;
use protocol::primary_to_secondary::Step;
use protocol::{CellId, LevelId, PerformerId, topic};
use sdf::World;

use super::HostSettings;
use super::world_crew::WorldCrew;
use crate::systems::registry::members_of_model;
use crate::systems::{Audience, Outbox, StepTime};

/// The worlds, and what follows from them alone.
pub(super) struct Scene {
    pub(super) plan: Plan,
    pub(super) worlds: Vec<Arc<World>>,
    /// The performers that start in each cell, ascending, by the cell's id.
    residents: Vec<Vec<PerformerId>>,
    /// Simulated time per iteration \[s\].
    pub(super) step_size_s: f64,
    /// Whether every step is done twice and compared.
    pub(super) verify: bool,
    /// The seed of random numbers.
    pub(super) seed: u64,
    pub(super) audience: Audience,
    pub(super) world_crews: Vec<WorldCrew>,
}

impl Scene {
    pub(super) fn new(worlds: Vec<World>, settings: HostSettings) -> Self {
        let plan = Plan::new(&worlds);
        let mut residents = vec![Vec::new(); plan.cells.len()];
        for (number, performer) in plan.performers.iter().enumerate() {
            residents[performer.home.0 as usize].push(PerformerId(number as u32));
        }
        let has_siblings = worlds.len() > 1;
        let numbered = worlds.iter().enumerate();
        let world_crews: Vec<WorldCrew> = numbered
            .map(|(index, world)| WorldCrew::new(index, world, has_siblings))
            .collect();
        let mut scene = Self {
            plan,
            worlds: worlds.into_iter().map(Arc::new).collect(),
            residents,
            step_size_s: settings.step_size_ns as f64 / 1e9,
            verify: settings.verify,
            seed: settings.seed,
            audience: Audience {
                publish_all: settings.publish_all,
                ..Audience::default()
            },
            world_crews,
        };
        scene.find_heard();
        scene
    }

    /// Finds the topics that systems listen to, wherever they are.
    pub(super) fn find_heard(&mut self) {
        let has_siblings = self.worlds.len() > 1;
        let of_worlds = self.world_crews.iter().flat_map(WorldCrew::heard);
        let mut heard: BTreeSet<String> = of_worlds.map(str::to_owned).collect();
        for world in &self.worlds {
            for model in 0..world.models.len() {
                let members = members_of_model(world, has_siblings, model, &mut Vec::new());
                let specs = members.into_iter().flat_map(|one| one.configured.hears);
                heard.extend(specs.map(|spec| spec.topic));
            }
        }
        self.audience.heard = heard;
    }

    /// Takes note of who listens, and lets the systems of worlds do what is done once per step.
    pub(super) fn begin_step(&mut self, step: &Step) -> Outbox {
        for change in &step.subscriptions {
            if change.topic == topic::EVERY_MESSAGE {
                self.audience.publish_all = change.wanted;
            } else if change.wanted {
                self.audience.observed.insert(change.topic.clone());
            } else {
                self.audience.observed.remove(&change.topic);
            }
        }
        let time = self.time_of(step);
        let mut outbox = Outbox::default();
        for (crew, world) in self.world_crews.iter_mut().zip(&self.worlds) {
            crew.begin_step(step, time, world, &self.audience, &mut outbox);
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
        performer.map(|performer| performer.world)
    }

    /// Returns the performers that start in a cell, ascending.
    pub(super) fn residents(&self, cell: CellId) -> &[PerformerId] {
        &self.residents[cell.0 as usize]
    }
}
