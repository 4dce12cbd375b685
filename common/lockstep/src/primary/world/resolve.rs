//! Commands with names made into actions with numbers, and their changes to the state of the
//! worlds.
//!
//! Everything is checked before anything is noted: a command that is refused has changed nothing.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use protocol::action::{ModelVelocity, Spawn};
use protocol::client_to_primary::{JointPosition, NamedPose, NamedState, SpawnRequest};
use protocol::primary_to_observers::Severity;
use protocol::{Action, FailureCode, LinkPose, PerformerId, SimTime};
use sdf::{ModelParcel, Pose, ReadModel, TopicNamespace, TopicNamespaceError};

use crate::limits::NUMBERS_MAX;
use crate::primary::context::{CodedError, Context};
use crate::primary::spawn_text::{
    NAME_BYTES_MAX, ReadText, ReadTextError, is_name_of_part, shown_name,
};
use crate::primary::world::WorldState;
use crate::publication::PublicationError;
use crate::registry::RegistryError;
use crate::services::ServiceError;
use protocol::error_chain::chain;

/// The largest model that may be spawned, with its meshes, beside what else is in its step
/// \[bytes\].
const MODEL_BYTES_MAX: usize = 128 << 20;

/// Farthest from the origin that a model may be put \[m\]: beyond, numbers are metres apart.
const POSITION_MAX: f64 = 1e15;
/// The greatest velocity that a model may get \[m/s, rad/s\].
const VELOCITY_MAX: f64 = 1e9;
/// The greatest force or torque that a command may ask for \[N, N m\].
const FORCE_MAX: f64 = 1e15;
/// The longest that a wrench may act \[s\].
const WRENCH_TIME_MAX_S: f64 = 1e9;
/// The edges of the box of a performer that no file declares and no size is given for, as in
/// Gazebo \[m\].
const PERFORMER_BOX: [f64; 3] = [2.0; 3];
/// The most names that are tried for a spawned model whose own is taken.
const RENAMES_MAX: u32 = 100_000;

/// A command that is refused.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CommandError {
    #[error(transparent)]
    Name(#[from] RegistryError),
    #[error(
        "{shown} is no name of a model: it must not be empty, hold \"::\" or control characters, \
         begin with \"__\", or have more than {NAME_BYTES_MAX} bytes"
    )]
    NewName { shown: String },
    #[error(transparent)]
    Namespace(#[from] TopicNamespaceError),
    #[error("the name {name:?} is taken by another model")]
    Taken { name: String },
    #[error("the pose of {model:?} is not finite")]
    FrameNotFinite { model: String },
    #[error("no model is named")]
    NoPoses,
    #[error("{model}: {error}")]
    PoseOf { model: String, error: PoseError },
    #[error("{model}: neither a pose nor a velocity is given")]
    NoState { model: String },
    #[error("{model}: a velocity is no number up to {VELOCITY_MAX:e}")]
    VelocityOf { model: String },
    #[error(transparent)]
    Pose(#[from] PoseError),
    #[error("no model that can move is named {name:?}")]
    NoMover { name: String },
    #[error("the edges of a performer's box must be more than 0 m")]
    PerformerBox,
    #[error("neither a position nor a velocity is given")]
    NoTarget,
    #[error("a position or velocity is no finite number")]
    TargetNotFinite,
    #[error("no joint is named")]
    NoJoints,
    #[error("{parent:?} and {child:?} are of one model")]
    OneModel { parent: String, child: String },
    #[error("{parent:?} and {child:?} are in different worlds")]
    OtherWorld { parent: String, child: String },
    #[error("{holder:?} holds {held:?} already")]
    HeldAlready { holder: String, held: String },
    #[error("{parent:?} does not hold {child:?}")]
    NotHeld { parent: String, child: String },
    #[error(transparent)]
    Text(Arc<ReadTextError>),
    #[error("{NUMBERS_MAX} models have come and are there: remove some before you spawn more")]
    Full,
    #[error("the model takes {bytes} bytes, more than {MODEL_BYTES_MAX}: simplify its meshes")]
    TooLarge { bytes: usize },
    #[error("a force or torque is no number up to {FORCE_MAX:e}")]
    Force,
    #[error("a force cannot act for {duration_s} s")]
    ForceTime { duration_s: f64 },
    #[error(
        "a step of {step_size_s} s is not from {} s to {} s",
        sdf::STEP_SIZE_MIN_S,
        sdf::STEP_SIZE_MAX_S
    )]
    StepSize { step_size_s: f64 },
    #[error("{}", chain(.0))]
    Publication(PublicationError),
    #[error("a system cannot ask for this")]
    NotForSystems,
}

impl CodedError for CommandError {
    fn code(&self) -> FailureCode {
        match self {
            Self::Name(error) => match error {
                RegistryError::Static { .. } | RegistryError::WorldNotNamed { .. } => {
                    FailureCode::Invalid
                }
                _ => FailureCode::NotFound,
            },
            Self::NoMover { .. } => FailureCode::NotFound,
            Self::Taken { .. } => FailureCode::NameTaken,
            Self::HeldAlready { .. } => FailureCode::Already,
            Self::NotHeld { .. } | Self::FrameNotFinite { .. } => FailureCode::WrongState,
            Self::Full | Self::TooLarge { .. } => FailureCode::TooMuch,
            Self::NewName { .. } => FailureCode::NameInvalid,
            Self::Namespace(_)
            | Self::NoPoses
            | Self::PoseOf { .. }
            | Self::NoState { .. }
            | Self::VelocityOf { .. }
            | Self::Pose(_)
            | Self::PerformerBox
            | Self::NoTarget
            | Self::TargetNotFinite
            | Self::NoJoints
            | Self::OneModel { .. }
            | Self::OtherWorld { .. }
            | Self::Text(_)
            | Self::Force
            | Self::ForceTime { .. }
            | Self::StepSize { .. }
            | Self::Publication(_)
            | Self::NotForSystems => FailureCode::Invalid,
        }
    }
}

impl CodedError for ServiceError {
    fn code(&self) -> FailureCode {
        match self {
            Self::Unknown { .. } => FailureCode::NotFound,
            Self::Kind { .. } | Self::Malformed { .. } | Self::Refused { .. } => {
                FailureCode::Invalid
            }
        }
    }
}

/// A pose that nothing can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum PoseError {
    #[error("a pose needs finite numbers and an orientation that is not zero")]
    NotFinite,
    #[error("a position is farther than {POSITION_MAX:e} m from the origin")]
    TooFar,
}

/// A command as the cells take it.
#[derive(Debug, Default)]
pub(crate) struct ResolvedCommand {
    pub(crate) actions: Vec<Action>,
    pub(crate) name: Option<String>,
    /// Warnings of the spawned model: parts that are ignored or missing.
    pub(crate) warnings: Vec<String>,
    pub(crate) joined: Option<[PerformerId; 2]>,
    pub(crate) spawned: Option<PerformerId>,
    pub(crate) removed: Option<PerformerId>,
    /// Size of that in its actions that has no bound of its own \[bytes\].
    pub(crate) bytes: usize,
}

impl WorldState {
    /// Returns a name that no model of a world has.
    fn free_name(&self, world: usize, wanted: &str, renames: bool) -> Result<String, CommandError> {
        let is_valid = !wanted.is_empty() && !wanted.contains("::") && !wanted.starts_with("__");
        if !is_valid || !is_name_of_part(wanted) {
            let shown = shown_name(wanted);
            return Err(CommandError::NewName { shown });
        }
        if !self.registry.is_taken(world, wanted) {
            return Ok(wanted.to_owned());
        }
        let mut others = (1..RENAMES_MAX).map(|number| format!("{wanted}_{number}"));
        let free = others.find(|name| renames && !self.registry.is_taken(world, name));
        free.ok_or_else(|| CommandError::Taken {
            name: wanted.to_owned(),
        })
    }

    /// Returns the pose of the origin of a model, or of the world without one, world frame.
    fn frame(&self, name: Option<&str>) -> Result<Pose, CommandError> {
        let Some(name) = name.filter(|name| !name.is_empty() && *name != "world") else {
            return Ok(Pose::IDENTITY);
        };
        let model = self.registry.model(name)?;
        let Some(performer) = self.topology.performer_of(model) else {
            return Ok(self.registry.entry(model).pose);
        };
        let state = self.latest.state(performer);
        if !state.is_finite() {
            let model = name.to_owned();
            return Err(CommandError::FrameNotFinite { model });
        }
        Ok(Pose {
            position: state.position,
            orientation_xyzw: state.orientation_xyzw,
        })
    }

    /// Takes a model out of its world.
    pub(crate) fn resolve_remove(&mut self, name: &str) -> Result<ResolvedCommand, CommandError> {
        let model = self.registry.model(name)?;
        self.registry.remove(model);
        let joined = match self.topology.performer_of(model) {
            Some(performer) => self.topology.performer(performer).joined_to.clone(),
            None => Vec::new(),
        };
        let performer = self.topology.remove(model);
        if let Some(performer) = performer {
            self.partition.remove(performer);
            self.attachments
                .retain(|(parent, child)| parent.model != model && child.model != model);
            self.partition.hold(&joined);
            for other in joined {
                self.partition.note_joined(&self.topology, other);
            }
        }
        Ok(ResolvedCommand {
            removed: performer,
            ..ResolvedCommand::of(Action::Remove { model })
        })
    }

    /// Puts models elsewhere.
    pub(crate) fn resolve_poses(
        &mut self,
        poses: &[NamedPose],
    ) -> Result<ResolvedCommand, CommandError> {
        if poses.is_empty() {
            return Err(CommandError::NoPoses);
        }
        let states = poses.iter().map(|one| (&*one.model, Some(&one.pose), None));
        self.set_states(states)
    }

    /// Puts models elsewhere or gives them velocities.
    pub(crate) fn resolve_states(
        &mut self,
        states: &[NamedState],
    ) -> Result<ResolvedCommand, CommandError> {
        if states.is_empty() {
            return Err(CommandError::NoPoses);
        }
        let states = states
            .iter()
            .map(|one| (&*one.model, one.pose.as_ref(), one.velocity));
        self.set_states(states)
    }

    fn set_states<'a>(
        &mut self,
        states: impl Iterator<Item = (&'a str, Option<&'a LinkPose>, Option<ModelVelocity>)>,
    ) -> Result<ResolvedCommand, CommandError> {
        let mut actions = Vec::with_capacity(states.size_hint().0);
        for (name, pose, velocity) in states {
            let model = self.registry.mover(name)?;
            if pose.is_none() && velocity.is_none() {
                let model = name.to_owned();
                return Err(CommandError::NoState { model });
            }
            let pose = pose.map(|pose| packed_pose(name, pose)).transpose()?;
            if velocity.is_some_and(|velocity| !velocity.is_within(VELOCITY_MAX)) {
                let model = name.to_owned();
                return Err(CommandError::VelocityOf { model });
            }
            actions.push(Action::SetState {
                model,
                pose,
                velocity,
            });
        }
        Ok(ResolvedCommand {
            actions,
            ..ResolvedCommand::default()
        })
    }

    /// Makes a model that moves a declared performer, with a box of this size \[m\].
    pub(crate) fn resolve_performer(
        &mut self,
        name: &str,
        size: Option<[f64; 3]>,
    ) -> Result<ResolvedCommand, CommandError> {
        let Ok(model) = self.registry.mover(name) else {
            let name = name.to_owned();
            return Err(CommandError::NoMover { name });
        };
        if size.is_some_and(|size| size.iter().any(|edge| !(edge.is_finite() && *edge > 0.0))) {
            return Err(CommandError::PerformerBox);
        }
        let performer = self.topology.performer_of(model);
        let performer = performer.expect("a model that moves is a performer");
        let is_declared = self.topology.performer(performer).is_declared;
        let size = size.or((!is_declared).then_some(PERFORMER_BOX));
        self.partition.set_performer(performer, size);
        Ok(ResolvedCommand::default())
    }

    /// Sets the position and the velocity of an axis of a joint.
    pub(crate) fn resolve_joint(
        &self,
        joint: &str,
        axis: u32,
        position: Option<f64>,
        velocity: Option<f64>,
    ) -> Result<ResolvedCommand, CommandError> {
        let (model, index) = self.registry.axis(joint, axis)?;
        if position.is_none() && velocity.is_none() {
            return Err(CommandError::NoTarget);
        }
        let mut numbers = position.iter().chain(&velocity);
        if !numbers.all(|number| number.is_finite()) {
            return Err(CommandError::TargetNotFinite);
        }
        Ok(ResolvedCommand::of(Action::SetJoint {
            model,
            joint: index,
            axis,
            position,
            velocity,
        }))
    }

    fn resolve_model(
        &mut self,
        request: &SpawnRequest,
        read: ReadModel,
        cx: &mut Context<'_>,
    ) -> Result<ResolvedCommand, CommandError> {
        let world = self.registry.world(request.world.as_deref())?;
        let parcel = read.parcel;
        let wanted = request.name.as_deref().unwrap_or(&parcel.model.name);
        let name = self.free_name(world, wanted, request.allow_renaming)?;
        let namespace = request.namespace.as_deref().map(TopicNamespace::new);
        let namespace = namespace.transpose()?;
        if self.registry.is_full(world) || !self.topology.is_free(self.topology.upcoming(0)) {
            return Err(CommandError::Full);
        }
        let base = self.frame(request.relative_to.as_deref())?;
        let pose = request.pose.as_ref().map(sound_pose).transpose()?;
        let pose = pose.map(|pose| base.then(&pose));
        let mut parcel: ModelParcel = parcel.placed(Some(name), pose);
        parcel.model.namespace = namespace;
        let encoded = parcel.encode();
        let bytes = encoded.len();
        if bytes > MODEL_BYTES_MAX {
            return Err(CommandError::TooLarge { bytes });
        }
        let warnings: Vec<String> = read.warnings.iter().map(ToString::to_string).collect();
        for warning in &warnings {
            cx.event(Severity::Warning, "command", warning.clone());
        }
        let model = self.registry.add(world, &parcel.model);
        let performer = self.topology.spawn(model, &parcel.model);
        if let Some(performer) = performer {
            self.latest.insert(performer, &parcel.model);
            self.partition.insert(&self.topology, performer);
        }
        Ok(ResolvedCommand {
            name: Some(self.registry.name(model)),
            warnings,
            spawned: performer,
            bytes,
            ..ResolvedCommand::of(Action::Spawn(Box::new(Spawn {
                model,
                performer,
                cell: performer.map(|performer| self.topology.performer(performer).home),
                parcel: encoded,
            })))
        })
    }

    /// Sets the positions of joints of a model.
    pub(crate) fn resolve_joints(
        &self,
        model: &str,
        positions: &[JointPosition],
    ) -> Result<ResolvedCommand, CommandError> {
        if positions.is_empty() {
            return Err(CommandError::NoJoints);
        }
        let mut actions = Vec::with_capacity(positions.len());
        for JointPosition { joint, position } in positions {
            let joint = format!("{model}::{joint}");
            let grant = self.resolve_joint(&joint, 0, Some(*position), None);
            actions.extend(grant?.actions);
        }
        Ok(ResolvedCommand {
            actions,
            ..ResolvedCommand::default()
        })
    }

    /// Has a force and a torque \[N, N m\] act on a link for some time, at least for a step.
    pub(crate) fn resolve_wrench(
        &self,
        link: &str,
        [force, torque]: [[f64; 3]; 2],
        duration_s: f64,
        next: (SimTime, Duration),
    ) -> Result<ResolvedCommand, CommandError> {
        let link = self.registry.link(link)?;
        let mut numbers = force.iter().chain(&torque);
        if !numbers.all(|number| number.abs() <= FORCE_MAX) {
            return Err(CommandError::Force);
        }
        if !(0.0..=WRENCH_TIME_MAX_S).contains(&duration_s) {
            return Err(CommandError::ForceTime { duration_s });
        }
        let (elapsed, step_size) = next;
        let duration = Duration::from_secs_f64(duration_s);
        Ok(ResolvedCommand::of(Action::Wrench {
            link,
            force,
            torque,
            until: elapsed + duration.max(step_size),
        }))
    }

    /// Switches the collisions of a model or a link.
    pub(crate) fn resolve_collisions(
        &self,
        entity: &str,
        enabled: bool,
    ) -> Result<ResolvedCommand, CommandError> {
        let (model, link) = self.registry.model_or_link(entity)?;
        Ok(ResolvedCommand::of(Action::SetCollisions {
            model,
            link,
            enabled,
        }))
    }

    /// Sets the step size that the partition reckons with.
    ///
    /// # Errors
    /// Fails when it is not from [`sdf::STEP_SIZE_MIN_S`] to [`sdf::STEP_SIZE_MAX_S`].
    pub(crate) fn set_step_size(&mut self, step_size_s: f64) -> Result<Duration, CommandError> {
        if !(sdf::STEP_SIZE_MIN_S..=sdf::STEP_SIZE_MAX_S).contains(&step_size_s) {
            return Err(CommandError::StepSize { step_size_s });
        }
        self.partition.set_step_size(step_size_s);
        Ok(Duration::from_secs_f64(step_size_s))
    }

    /// Brings a model into a world, and has the library keep what it rests on; its text may have
    /// been read before.
    pub(crate) fn resolve_spawn(
        &mut self,
        request: &SpawnRequest,
        text: Option<ReadText>,
        cx: &mut Context<'_>,
    ) -> Result<ResolvedCommand, CommandError> {
        let text = text.unwrap_or_else(|| ReadText::of(request, Arc::clone(&self.library.0)));
        let ReadText { read, library, .. } = text;
        let resolved = read.map_err(CommandError::Text).and_then(|mut read| {
            let files = std::mem::take(&mut read.files);
            Ok((self.resolve_model(request, read, cx)?, files))
        });
        let none = BTreeSet::new();
        library.keep(resolved.as_ref().map_or(&none, |(_, files)| files));
        resolved.map(|(resolved, _)| resolved)
    }
}

impl ResolvedCommand {
    pub(crate) fn of(action: Action) -> Self {
        Self {
            actions: vec![action],
            ..Self::default()
        }
    }
}

/// Returns a pose of a model as an action has it.
fn packed_pose(model: &str, pose: &LinkPose) -> Result<LinkPose, CommandError> {
    let pose = sound_pose(pose).map_err(|error| CommandError::PoseOf {
        model: model.to_owned(),
        error,
    })?;
    let mut packed = [0.0; 7];
    packed[..3].copy_from_slice(&pose.position);
    packed[3..].copy_from_slice(&pose.orientation_xyzw);
    Ok(packed)
}

/// Returns a pose with an orientation of length 1.
fn sound_pose(pose: &LinkPose) -> Result<Pose, PoseError> {
    let norm = pose[3..].iter().map(|part| part * part).sum::<f64>().sqrt();
    if !pose.iter().all(|number| number.is_finite()) || !norm.is_finite() || norm < 1e-6 {
        return Err(PoseError::NotFinite);
    }
    if pose[..3].iter().any(|number| number.abs() > POSITION_MAX) {
        return Err(PoseError::TooFar);
    }
    Ok(Pose {
        position: std::array::from_fn(|axis| pose[axis]),
        orientation_xyzw: std::array::from_fn(|part| pose[3 + part] / norm),
    })
}
