//! Models that come into running worlds and leave them: how the plan follows.

use std::borrow::Borrow;

use protocol::{CellId, ModelId, PerformerId};
use sdf::World;

use super::{PerformerPlan, Plan, first_home};
use crate::bounds::Bounds;
use crate::levels::LevelIndex;

impl Plan {
    /// Takes up a model that came into a world, by their indices: as a performer, whose number is
    /// returned, or as a model that never moves and is in all cells.
    ///
    /// # Panics
    /// When there is no such model.
    pub fn spawn<W: Borrow<World>>(
        &mut self,
        worlds: &[W],
        world: usize,
        model: usize,
    ) -> Option<PerformerId> {
        let description = &worlds[world].borrow().models[model];
        if description.is_static {
            self.global_models[world].push(model);
            return None;
        }
        let reach = description.reach();
        let half_extents = [reach.radius; 3];
        let bounds = Bounds::around(description.pose.position, half_extents);
        let mut touched = Vec::new();
        let levels = LevelIndex::new(worlds.len(), &self.levels);
        levels.touching(&self.levels, world, &bounds, usize::MAX, &mut touched);
        let is_default = |cell: &super::CellPlan| cell.world == world && cell.level.is_none();
        let default_cell = self.cells.iter().position(is_default);
        let default_cell = default_cell.expect("every world has a default cell") as u32;
        let home = first_home(&self.levels, &touched, &bounds);
        let name = match worlds.len() {
            1 => description.name.clone(),
            _ => format!("{}::{}", worlds[world].borrow().name, description.name),
        };
        self.performers.push(PerformerPlan {
            world,
            model,
            name,
            half_extents,
            has_loose_links: reach.has_loose_links,
            is_level_bound: false,
            joined_to: Vec::new(),
            start: description.pose.position,
            home: home.unwrap_or(CellId(default_cell)),
        });
        Some(PerformerId(self.performers.len() as u32 - 1))
    }

    /// Forgets a model that left for good; the numbers of performers stay as they are.
    pub fn remove(&mut self, model: ModelId) {
        let (world, model) = (model.world as usize, model.model as usize);
        if let Some(models) = self.global_models.get_mut(world) {
            models.retain(|other| *other != model);
        }
        for level in self.levels.iter_mut().filter(|level| level.world == world) {
            level.static_models.retain(|other| *other != model);
        }
    }
}
