//! A hosted cell, or a performer of it, as bytes from which another host goes on bit for bit.
//!
//! Layout of a cell: the snapshot of the physics, then what the host itself keeps of the cell in
//! postcard (the rest follows from the plan), the length of that as `u32`, and the digest of both,
//! all little-endian. Layout of a performer, as a hand-off carries it: postcard of its physics and
//! of its saved systems. Both come from the wire, so that nothing in them is believed.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use physics::{Arrival, Cell, CellCopy, ModelRef, RestoreError};
use protocol::{CellId, Digest, LevelId, PerformerId};
use serde::{Deserialize, Serialize};

use super::cell_work::CellWork;
use super::hosted_cell::HostedCell;
use super::scene::Scene;
use super::step_error::StepError;

/// Bytes that are no snapshot of the cell.
#[derive(Debug, thiserror::Error)]
pub enum RestoreCellError {
    /// Cut short or altered on the way.
    #[error("the snapshot is damaged at its end")]
    Damaged,
    /// Written by another build.
    #[error("the snapshot was made by another build")]
    Malformed(#[source] postcard::Error),
    /// Of another cell.
    #[error("the snapshot is of cell {0}")]
    OtherCell(CellId),
    /// It holds what the plan does not have in this cell's world.
    #[error("the snapshot has {0} which do not fit its world and its levels")]
    Contents(&'static str),
    /// The physics in it is none.
    #[error("the physics of the snapshot is unusable")]
    Physics(#[source] RestoreError),
}

/// State that the host keeps of a cell beside its physics.
#[derive(Clone, Serialize, Deserialize)]
struct Attachment {
    cell: CellId,
    is_suspended: bool,
    idle_steps: u8,
    /// The levels that are loaded, ascending.
    levels: Vec<LevelId>,
    /// Saved states of the systems of each model, by its index.
    systems: BTreeMap<usize, Vec<Vec<u8>>>,
}

/// Everything of a performer that changes from step to step.
#[derive(Serialize, Deserialize)]
struct WholeState<'a> {
    /// As [`physics::Cell::transfer`] gives it.
    #[serde(with = "serde_bytes")]
    physics: &'a [u8],
    /// Saved state of each of its systems.
    systems: Vec<Vec<u8>>,
}

/// A hosted cell at a moment, in memory.
pub(super) struct HostedCopy {
    physics: CellCopy,
    attachment: Attachment,
}

impl HostedCell {
    /// Returns everything that the cell needs to go on from here once more.
    pub(super) fn copy(&mut self) -> HostedCopy {
        HostedCopy {
            physics: self.physics.copy(),
            attachment: self.attachment(),
        }
    }

    /// Returns the cell of a copy.
    pub(super) fn from_copy(
        id: CellId,
        copy: &HostedCopy,
        scene: &Scene,
    ) -> Result<Self, RestoreCellError> {
        let world = Arc::clone(&scene.worlds[scene.plan.cell(id).world]);
        let physics = Cell::from_copy(world, &copy.physics);
        Self::around_physics(id, physics, copy.attachment.clone(), scene)
    }

    fn attachment(&self) -> Attachment {
        Attachment {
            cell: self.id,
            is_suspended: self.is_suspended,
            idle_steps: self.rest.idle_steps,
            levels: self.levels.iter().copied().collect(),
            systems: self.systems.save_all(),
        }
    }

    /// Returns everything that the cell needs to go on elsewhere.
    pub(super) fn snapshot(&mut self) -> Vec<u8> {
        let mut bytes = self.physics.snapshot();
        let physics_length = bytes.len();
        bytes = postcard::to_extend(&self.attachment(), bytes)
            .expect("numbers and lists are what postcard can express");
        let length = (bytes.len() - physics_length) as u32;
        bytes.extend_from_slice(&length.to_le_bytes());
        let digest = Digest::of_bytes(&bytes[physics_length..]);
        bytes.extend_from_slice(&digest.0.to_le_bytes());
        bytes
    }

    /// Returns the cell of a snapshot.
    pub(super) fn restore(
        id: CellId,
        bytes: &[u8],
        scene: &Scene,
    ) -> Result<Self, RestoreCellError> {
        let (physics, attachment) = split(bytes).ok_or(RestoreCellError::Damaged)?;
        let attachment: Attachment =
            postcard::from_bytes(attachment).map_err(RestoreCellError::Malformed)?;
        if attachment.cell != id {
            return Err(RestoreCellError::OtherCell(attachment.cell));
        }
        let world = scene.plan.cell(id).world;
        let fits = |level: &LevelId| scene.world_of_level(*level) == Some(world);
        if !attachment.levels.iter().all(fits) {
            return Err(RestoreCellError::Contents("levels"));
        }
        let physics = Cell::restore(Arc::clone(&scene.worlds[world]), physics)
            .map_err(RestoreCellError::Physics)?;
        Self::around_physics(id, physics, attachment, scene)
    }

    /// Returns everything that a hand-off of a performer carries.
    pub(super) fn hand_off_state(&self, performer: PerformerId) -> Vec<u8> {
        let physics = self.physics.transfer(performer);
        let model = self.physics.model_of(performer);
        let state = WholeState {
            physics: &physics,
            systems: self.systems.save(model),
        };
        postcard::to_stdvec(&state).expect("bytes and lists are what postcard can express")
    }

    /// Lets performers enter with their systems.
    pub(super) fn adopt(&mut self, work: &CellWork<'_>, scene: &Scene) -> Result<(), StepError> {
        if work.arrivals.is_empty() {
            return Ok(());
        }
        let cell = self.id;
        let mut arrivals = Vec::with_capacity(work.arrivals.len());
        let mut saved = Vec::with_capacity(work.arrivals.len());
        for arrival in &work.arrivals {
            let performer = arrival.performer;
            if !self.performers.insert(performer) {
                return Err(StepError::InCell { performer, cell });
            }
            let state: WholeState<'_> = postcard::from_bytes(arrival.state)
                .map_err(|_| StepError::HandOff { performer, cell })?;
            arrivals.push(Arrival {
                state: state.physics,
                ..*arrival
            });
            saved.push((performer, arrival.model, state.systems));
        }
        let adopted = self.physics.adopt(&arrivals);
        adopted.map_err(|source| StepError::Adopt { cell, source })?;
        for (performer, model, saved) in saved {
            let joins = ModelRef::moving(performer, model);
            self.systems.join(scene, self.world, joins);
            let restored = self.systems.restore(model, &saved);
            restored.ok_or(StepError::HandOff { performer, cell })?;
        }
        Ok(())
    }

    /// Makes a cell of its physics and what is kept beside it.
    fn around_physics(
        id: CellId,
        physics: Cell,
        attachment: Attachment,
        scene: &Scene,
    ) -> Result<Self, RestoreCellError> {
        let world = scene.plan.cell(id).world;
        let mut cell = Self::around(id, world, physics);
        cell.is_suspended = attachment.is_suspended;
        cell.rest.idle_steps = attachment.idle_steps;
        cell.levels = attachment.levels.into_iter().collect();
        cell.references = cell.references_to_models(scene);
        cell.check_contents(scene)?;
        cell.make_systems(scene);
        let mut systems = attachment.systems;
        let mut models: BTreeSet<usize> = cell.systems.models().collect();
        models.extend(systems.keys());
        for model in models {
            let saved = systems.remove(&model).unwrap_or_default();
            let restored = cell.systems.restore(model, &saved);
            restored.ok_or(RestoreCellError::Contents("systems"))?;
        }
        Ok(cell)
    }

    /// Makes the systems of all models that it owns.
    fn make_systems(&mut self, scene: &Scene) {
        let world = self.world;
        let cell = scene.plan.cell(self.id);
        let fixed: Vec<usize> = match cell.level {
            _ if cell.part > 0 => Vec::new(),
            None => scene.plan.global_models[world].clone(),
            Some(level) if self.levels.contains(&level) => {
                scene.plan.level(level).static_models.clone()
            }
            Some(_) => Vec::new(),
        };
        for model in fixed {
            self.systems.join(scene, world, ModelRef::fixed(model));
        }
        let performers: Vec<_> = self.physics.performer_models().collect();
        for (performer, model) in performers {
            let model = ModelRef::moving(performer, model);
            self.systems.join(scene, world, model);
        }
    }

    fn references_to_models(&self, scene: &Scene) -> BTreeMap<usize, u32> {
        let mut references = BTreeMap::new();
        for level in &self.levels {
            for model in &scene.plan.level(*level).static_models {
                *references.entry(*model).or_insert(0) += 1;
            }
        }
        references
    }

    /// Tells whether the physics holds what the plan and the levels say, and nothing else.
    fn check_contents(&self, scene: &Scene) -> Result<(), RestoreCellError> {
        let global_models = scene.plan.global_models[self.world].iter();
        let expected: BTreeSet<usize> = self
            .references
            .keys()
            .chain(global_models)
            .copied()
            .collect();
        if !self.physics.statics().eq(expected) {
            return Err(RestoreCellError::Contents("static models"));
        }
        let mut models = self.physics.performer_models();
        let performer_fits = |(performer, model)| {
            let found = scene.plan.performers.get(performer as usize);
            found.is_some_and(|found| found.world == self.world && found.model == model)
        };
        if !models.all(|(performer, model)| performer_fits((performer.0, model))) {
            return Err(RestoreCellError::Contents("performers"));
        }
        let mut ghosts = self.ghosts.iter();
        let ghost_fits = |ghost| scene.world_of_performer(ghost) == Some(self.world);
        if !ghosts.all(|ghost| ghost_fits(*ghost) && !self.performers.contains(ghost)) {
            return Err(RestoreCellError::Contents("ghosts"));
        }
        Ok(())
    }
}

/// Returns the physics and the attachment.
fn split(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (rest, digest) = bytes.split_last_chunk()?;
    let (before, length) = rest.split_last_chunk()?;
    let length = u32::from_le_bytes(*length) as usize;
    let physics_length = before.len().checked_sub(length)?;
    let attached = &rest[physics_length..];
    let is_whole = Digest::of_bytes(attached).0 == u128::from_le_bytes(*digest);
    is_whole.then(|| before.split_at(physics_length))
}
