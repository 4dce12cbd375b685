//! Effects of a step on models besides moving them: commands, with names resolved to numbers.

use serde::{Deserialize, Serialize};

use crate::id::{CellId, ModelId, PerformerId};
use crate::link_poses::LinkPose;
use crate::time::SimTime;

/// A command within a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StampedAction {
    /// Its number, by which its outcome is told.
    pub number: u64,
    /// Action to perform.
    pub action: Action,
}

/// Actions on models, in the cells that have them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Action {
    /// A model comes into a world, under the lowest index that is free: after those of the start,
    /// and not left by another in the same step.
    Spawn(Box<Spawn>),
    /// A model leaves its world.
    Remove {
        /// The model.
        model: ModelId,
    },
    /// A model is put elsewhere, with all its links and at rest, or moves as one from now on.
    SetState {
        /// The model, which is a performer.
        model: ModelId,
        /// Position and orientation of its origin, world frame.
        pose: Option<LinkPose>,
        /// Velocity that it gets, once it is there.
        velocity: Option<ModelVelocity>,
    },
    /// A force and a torque act on a link.
    Wrench {
        /// The link.
        link: LinkId,
        /// World frame, at the centre of mass \[N\].
        force: [f64; 3],
        /// World frame \[N m\].
        torque: [f64; 3],
        /// The elapsed time at which they end; they act in one step at least.
        until: SimTime,
    },
    /// An axis of a joint is set, with all links that hang on it.
    SetJoint {
        /// The model.
        model: ModelId,
        /// The index of the joint in it.
        joint: u32,
        /// Index of the axis in the joint.
        axis: u32,
        /// The position that it gets \[rad or m\].
        position: Option<f64>,
        /// The velocity that it gets \[rad/s or m/s\].
        velocity: Option<f64>,
    },
    /// Collisions are switched on or off.
    SetCollisions {
        /// The model.
        model: ModelId,
        /// The index of the link meant; all without it.
        link: Option<u32>,
        /// True if they touch anything.
        enabled: bool,
    },
    /// Two links are held together as they are now.
    Attach {
        /// The one that holds.
        parent: LinkId,
        /// The one that is held.
        child: LinkId,
    },
    /// Two attached links are let go.
    Detach {
        /// The one that holds.
        parent: LinkId,
        /// The one that is held.
        child: LinkId,
    },
    /// Random numbers have another seed from now on.
    SetSeed(u64),
    /// Steps have another size from now on \[ns\].
    SetStepSize(u64),
}

/// Velocity of a model that moves as one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ModelVelocity {
    /// Velocity of its origin, world frame \[m/s\].
    #[serde(default)]
    pub linear: [f64; 3],
    /// Angular velocity, world frame \[rad/s\].
    #[serde(default)]
    pub angular: [f64; 3],
}

impl ModelVelocity {
    /// Tells whether every number is at most so far from zero, and one at all.
    pub fn is_within(&self, limit: f64) -> bool {
        let mut numbers = self.linear.iter().chain(&self.angular);
        numbers.all(|number| number.abs() <= limit)
    }
}

/// Change that an action makes to which models there are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ModelChange<'a> {
    /// None: it acts on models that stay.
    None,
    /// A model comes.
    Comes(&'a Spawn),
    /// A model leaves.
    Leaves(ModelId),
}

impl Action {
    /// Returns the change to which models there are.
    pub fn model_change(&self) -> ModelChange<'_> {
        match self {
            Self::Spawn(spawn) => ModelChange::Comes(spawn),
            Self::Remove { model } => ModelChange::Leaves(*model),
            Self::SetState { .. }
            | Self::Wrench { .. }
            | Self::SetJoint { .. }
            | Self::SetCollisions { .. }
            | Self::Attach { .. }
            | Self::Detach { .. }
            | Self::SetSeed(_)
            | Self::SetStepSize(_) => ModelChange::None,
        }
    }
}

/// A model that comes into a world.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spawn {
    /// The model's number: the lowest that is free.
    pub model: ModelId,
    /// Its number as a performer, unless it is static.
    pub performer: Option<PerformerId>,
    /// The cell that a performer starts in.
    pub cell: Option<CellId>,
    /// The model with its data, in the encoding of `sdf::ModelParcel`.
    #[serde(with = "serde_bytes")]
    pub parcel: Vec<u8>,
}

/// A link of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct LinkId {
    /// The model.
    pub model: ModelId,
    /// Its index among the model's links.
    pub link: u32,
}

/// Failure of an action in the cell that has its model. An action without one succeeded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActionFailure {
    /// The action's number.
    pub number: u64,
    /// Reason why nothing was done, for people.
    pub reason: String,
}
