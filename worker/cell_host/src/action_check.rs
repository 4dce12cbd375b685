//! The commands of a step, checked: what they name exists, and every number is one.
//!
//! Rules that depend on the contents of a cell (for instance that a link is attached) are checked
//! by the cell, and reported as a failure of that command alone.

use std::collections::{BTreeMap, BTreeSet};

use protocol::action::{Action, LinkId, Spawn};
use protocol::primary_to_secondary::Step;
use protocol::{LinkPose, ModelId};
use sdf::{Model, ModelParcel, STEP_SIZE_MAX_S, STEP_SIZE_MIN_S};

use super::scene::Scene;
use super::step_error::StepError;

/// Largest difference from 1 of the square of an orientation's length.
const NORM_TOLERANCE: f64 = 1e-3;

/// A reason why an action cannot be meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ActionError {
    /// The world does not exist.
    #[error("there is no such world")]
    NoSuchWorld,
    /// The model does not exist.
    #[error("there is no such model")]
    NoSuchModel,
    /// The model has no such joint.
    #[error("there is no such joint")]
    NoSuchJoint,
    /// The model has no such link.
    #[error("there is no such link")]
    NoSuchLink,
    /// Links of different worlds cannot be attached.
    #[error("the links are of two worlds")]
    TwoWorlds,
    /// The step size is out of range.
    #[error("steps of that size are too short or too long")]
    StepSize,
    /// A new model has another number than the lowest that is free.
    #[error("its number as a model is not the next one that is free")]
    ModelNumber,
    /// The bytes of a new model cannot be read.
    #[error("its model is damaged")]
    DamagedModel,
    /// A new model that moves has no link.
    #[error("a model without links cannot move")]
    NoLinks,
    /// A new performer has another number than the lowest that is free.
    #[error("its number as a performer is not the next one that is free")]
    PerformerNumber,
    /// A new performer has no cell of its world, or a static model has one.
    #[error("a model that moves starts in a cell of its world, and no other does")]
    Cell,
    /// The model is static.
    #[error("the model never moves")]
    Static,
    /// An orientation is no unit quaternion.
    #[error("an orientation is no unit quaternion")]
    Orientation,
    /// A number is infinite or none.
    #[error("a number is not finite")]
    NotFinite,
}

/// Checks the actions of a step and returns the models that come with it, in their order.
pub(super) fn check(step: &Step, scene: &Scene) -> Result<Vec<ModelParcel>, StepError> {
    check_all(step, scene, false)
}

/// Does the same with actions of before: of models that came, some may be gone.
pub(super) fn check_past(step: &Step, scene: &Scene) -> Result<Vec<ModelParcel>, StepError> {
    check_all(step, scene, true)
}

fn check_all(step: &Step, scene: &Scene, is_past: bool) -> Result<Vec<ModelParcel>, StepError> {
    let mut parcels = Vec::new();
    let mut gone = BTreeSet::new();
    let mut spawned = BTreeMap::new();
    for stamped in &step.actions {
        let census = Census {
            scene,
            parcels: &parcels,
            spawned: &spawned,
            gone: &gone,
            is_past,
        };
        let parcel = census.check(&stamped.action);
        let parcel = parcel.map_err(|reason| StepError::Action {
            number: stamped.number,
            reason,
        })?;
        if let (Some(parcel), Action::Spawn(spawn)) = (parcel, &stamped.action) {
            spawned.insert(spawn.model, parcels.len());
            parcels.push(parcel);
        }
        if let Action::Remove { model } = stamped.action {
            gone.insert(model);
        }
    }
    Ok(parcels)
}

/// The models there are, amid the actions of a step.
struct Census<'a> {
    scene: &'a Scene,
    parcels: &'a [ModelParcel],
    /// Indices of the parcels of models that the step has brought so far.
    spawned: &'a BTreeMap<ModelId, usize>,
    /// Models that the step has taken so far.
    gone: &'a BTreeSet<ModelId>,
    /// True if models have the numbers that they had, instead of the lowest that are free.
    is_past: bool,
}

impl Census<'_> {
    /// Returns the model that an action brings, if it brings one.
    fn check(&self, action: &Action) -> Result<Option<ModelParcel>, ActionError> {
        match action {
            Action::Spawn(spawn) => return self.check_spawn(spawn).map(Some),
            Action::Remove { model } => {
                self.model(*model)?;
            }
            Action::SetState {
                model,
                pose,
                velocity,
            } => {
                self.performer(*model)?;
                if let Some(pose) = pose {
                    check_pose(pose)?;
                }
                let numbers = velocity
                    .iter()
                    .flat_map(|it| it.linear.iter().chain(&it.angular));
                check_finite(numbers)?;
            }
            Action::Wrench {
                link,
                force,
                torque,
                ..
            } => {
                self.link(*link)?;
                self.performer(link.model)?;
                check_finite(force.iter().chain(torque))?;
            }
            Action::SetJoint {
                model,
                joint,
                position,
                velocity,
                ..
            } => {
                let joints = &self.performer(*model)?.joints;
                joints
                    .get(*joint as usize)
                    .ok_or(ActionError::NoSuchJoint)?;
                check_finite(position.iter().chain(velocity))?;
            }
            Action::SetCollisions { model, link, .. } => {
                let links = &self.model(*model)?.links;
                if link.is_some_and(|link| link as usize >= links.len()) {
                    return Err(ActionError::NoSuchLink);
                }
            }
            Action::Attach { parent, child } | Action::Detach { parent, child } => {
                self.link(*parent)?;
                self.link(*child)?;
                if parent.model.world != child.model.world {
                    return Err(ActionError::TwoWorlds);
                }
            }
            Action::SetSeed(_) => {}
            Action::SetStepSize(step_size_ns) => {
                let seconds = *step_size_ns as f64 / 1e9;
                if !(STEP_SIZE_MIN_S..=STEP_SIZE_MAX_S).contains(&seconds) {
                    return Err(ActionError::StepSize);
                }
            }
        }
        Ok(None)
    }

    fn check_spawn(&self, spawn: &Spawn) -> Result<ModelParcel, ActionError> {
        let ModelId { world, model } = spawn.model;
        let worlds = &self.scene.worlds;
        worlds.get(world as usize).ok_or(ActionError::NoSuchWorld)?;
        let numbers = &self.scene.numbers[world as usize];
        let comes_before = self.spawned.keys().filter(|id| id.world == world);
        let is_its = if self.is_past {
            numbers.is_free(model)
        } else {
            model == numbers.upcoming(comes_before.count())
        };
        if !is_its {
            return Err(ActionError::ModelNumber);
        }
        let parcel = ModelParcel::decode(&spawn.parcel).map_err(|_| ActionError::DamagedModel)?;
        let moves = !parcel.model.is_static;
        if moves && parcel.model.canonical_link >= parcel.model.links.len() {
            return Err(ActionError::NoLinks);
        }
        let poses = parcel.model.links.iter().map(|link| &link.pose);
        for pose in poses.chain([&parcel.model.pose]) {
            check_numbers(&pose.position, &pose.orientation_xyzw)?;
        }
        let comers = self.parcels.iter().filter(|other| !other.model.is_static);
        let plan = &self.scene.plan;
        let is_its = match spawn.performer {
            None => !moves,
            Some(id) if self.is_past => moves && plan.is_free(id),
            Some(id) => moves && id == plan.upcoming(comers.count()),
        };
        if !is_its {
            return Err(ActionError::PerformerNumber);
        }
        let place = spawn.cell.map(|cell| self.scene.world_of_cell(cell));
        let fits = match place {
            None => !moves,
            Some(found) => moves && found == Some(world as usize),
        };
        if fits {
            Ok(parcel)
        } else {
            Err(ActionError::Cell)
        }
    }

    fn model(&self, id: ModelId) -> Result<&Model, ActionError> {
        let missing = ActionError::NoSuchModel;
        if self.gone.contains(&id) || self.scene.is_gone(id) {
            return Err(missing);
        }
        if let Some(parcel) = self.spawned.get(&id) {
            return Ok(&self.parcels[*parcel].model);
        }
        let world = self.scene.worlds.get(id.world as usize);
        let model = world.and_then(|world| world.models.get(id.model as usize));
        model.filter(|model| !model.is_vacant()).ok_or(missing)
    }

    fn performer(&self, id: ModelId) -> Result<&Model, ActionError> {
        let model = self.model(id)?;
        if model.is_static {
            return Err(ActionError::Static);
        }
        Ok(model)
    }

    fn link(&self, id: LinkId) -> Result<(), ActionError> {
        let links = &self.model(id.model)?.links;
        links.get(id.link as usize).ok_or(ActionError::NoSuchLink)?;
        Ok(())
    }
}

fn check_pose(pose: &LinkPose) -> Result<(), ActionError> {
    check_numbers(&pose[..3], &pose[3..])
}

fn check_numbers(position: &[f64], orientation: &[f64]) -> Result<(), ActionError> {
    check_finite(position.iter().chain(orientation))?;
    let square: f64 = orientation.iter().map(|part| part * part).sum();
    if (square - 1.0).abs() > NORM_TOLERANCE {
        return Err(ActionError::Orientation);
    }
    Ok(())
}

fn check_finite<'a>(mut numbers: impl Iterator<Item = &'a f64>) -> Result<(), ActionError> {
    if numbers.all(|number| number.is_finite()) {
        Ok(())
    } else {
        Err(ActionError::NotFinite)
    }
}
