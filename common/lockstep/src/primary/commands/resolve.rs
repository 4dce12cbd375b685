//! From a command with names to actions with numbers, and what the primary itself notes of it.
//!
//! Everything is checked before anything is noted: a command that is refused has changed nothing.

use crate::primary::world::WorldState;
use std::collections::BTreeSet;
use std::time::Duration;

use protocol::action::Spawn;
use protocol::client_to_primary::{JointPosition, NamedPose, SpawnRequest};
use protocol::plain_text::{escaped_line, is_harmful};
use protocol::primary_to_observers::Severity;
use protocol::{
    Action, Command, LinkId, LinkPose, PerformerId, Publisher, SimTime, StampedAction, TopicMessage,
};
use sdf::{Model, ModelParcel, Pose, UsedFile};

use crate::limits::{NUMBERS_MAX, SPAWNED_COLLISIONS_MAX, SPAWNED_OVERLAPS_MAX, SPAWNED_PARTS_MAX};
use crate::pace::Pace;
use crate::primary::Primary;
use crate::primary::commands::batch::MODEL_BYTES_MAX;
use crate::primary::commands::queue::ResolvedCommand;
use crate::primary::context::Context;
use crate::publication;

/// The longest name of a model, or of a part of one, that comes into a run \[bytes\].
const NAME_BYTES_MAX: usize = 255;

/// How far from the origin a model may be put \[m\]: beyond, numbers are metres apart.
const POSITION_MAX: f64 = 1e15;
/// The greatest force or torque that a command may ask for \[N, N m\].
const FORCE_MAX: f64 = 1e15;
/// The longest that a wrench may act \[s\].
const WRENCH_TIME_MAX_S: f64 = 1e9;
/// The edges of the box of a performer that no file declares and no size is given for, as in
/// Gazebo \[m\].
const PERFORMER_BOX: [f64; 3] = [2.0; 3];
/// The most names that are tried for a spawned model whose own is taken.
const RENAMES_MAX: u32 = 100_000;
/// The most characters of a name that is refused that are shown.
const NAME_SHOWN_MAX: usize = 100;

impl WorldState {
    /// Returns a name that no model of a world has.
    pub(crate) fn free_name(
        &self,
        world: usize,
        wanted: &str,
        renames: bool,
    ) -> Result<String, String> {
        let is_valid = !wanted.is_empty() && !wanted.contains("::") && !wanted.starts_with("__");
        if !is_valid || !is_name_of_part(wanted) {
            return Err(format!(
                "{} is no name of a model: it must not be empty, hold \"::\" or control \
                 characters, begin with \"__\", or have more than {NAME_BYTES_MAX} bytes",
                shown_name(wanted)
            ));
        }
        if !self.registry.is_taken(world, wanted) {
            return Ok(wanted.to_owned());
        }
        let mut others = (1..RENAMES_MAX).map(|number| format!("{wanted}_{number}"));
        let free = others.find(|name| renames && !self.registry.is_taken(world, name));
        free.ok_or_else(|| format!("the name {wanted:?} is taken by another model"))
    }

    /// Returns the pose of the origin of a model, or of the world without one, world frame.
    pub(crate) fn frame(&self, name: Option<&str>) -> Result<Pose, String> {
        let Some(name) = name.filter(|name| !name.is_empty() && *name != "world") else {
            return Ok(Pose::IDENTITY);
        };
        let model = self.registry.model(name)?;
        let Some(performer) = self.topology.performer_of(model) else {
            return Ok(self.registry.entry(model).pose);
        };
        let state = &self.latest.states[performer.0 as usize];
        if !state.is_finite() {
            return Err(format!("the pose of {name:?} is not finite"));
        }
        Ok(Pose {
            position: state.position,
            orientation_xyzw: state.orientation_xyzw,
        })
    }

    pub(crate) fn grant_remove(&mut self, name: &str) -> Result<ResolvedCommand, String> {
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

    pub(crate) fn grant_poses(&mut self, poses: &[NamedPose]) -> Result<ResolvedCommand, String> {
        if poses.is_empty() {
            return Err("no model is named".to_owned());
        }
        let mut actions = Vec::with_capacity(poses.len());
        for NamedPose { model: name, pose } in poses {
            let model = self.registry.mover(name)?;
            let pose = sound_pose(pose).map_err(|reason| format!("{name}: {reason}"))?;
            let mut packed = [0.0; 7];
            packed[..3].copy_from_slice(&pose.position);
            packed[3..].copy_from_slice(&pose.orientation_xyzw);
            actions.push(Action::SetPose {
                model,
                pose: packed,
            });
        }
        Ok(ResolvedCommand {
            actions,
            ..ResolvedCommand::default()
        })
    }

    pub(crate) fn grant_performer(
        &mut self,
        name: &str,
        size: Option<[f64; 3]>,
    ) -> Result<ResolvedCommand, String> {
        let Ok(model) = self.registry.mover(name) else {
            return Err(format!("no model that can move is named {name:?}"));
        };
        if size.is_some_and(|size| size.iter().any(|edge| !(edge.is_finite() && *edge > 0.0))) {
            return Err("the edges of a performer's box must be more than 0 m".to_owned());
        }
        let performer = self.topology.performer_of(model);
        let performer = performer.expect("a model that moves is a performer");
        let is_declared = self.topology.performer(performer).is_declared;
        let size = size.or((!is_declared).then_some(PERFORMER_BOX));
        self.partition.set_performer(performer, size);
        Ok(ResolvedCommand::default())
    }

    pub(crate) fn grant_joint(
        &self,
        joint: &str,
        axis: u32,
        position: Option<f64>,
        velocity: Option<f64>,
    ) -> Result<ResolvedCommand, String> {
        let (model, index) = self.registry.axis(joint, axis)?;
        if position.is_none() && velocity.is_none() {
            return Err("neither a position nor a velocity is given".to_owned());
        }
        let mut numbers = position.iter().chain(&velocity);
        if !numbers.all(|number| number.is_finite()) {
            return Err("a position or velocity is no finite number".to_owned());
        }
        Ok(ResolvedCommand::of(Action::SetJoint {
            model,
            joint: index,
            axis,
            position,
            velocity,
        }))
    }

    /// Returns the performers at the ends of an attachment, with their links.
    pub(crate) fn ends(
        &self,
        parent: &str,
        child: &str,
    ) -> Result<[(PerformerId, LinkId); 2], String> {
        let ends = [self.registry.link(parent)?, self.registry.link(child)?];
        if ends[0].model == ends[1].model {
            return Err(format!("{parent:?} and {child:?} are of one model"));
        }
        if ends[0].model.world != ends[1].model.world {
            return Err(format!("{parent:?} and {child:?} are in different worlds"));
        }
        Ok(ends.map(|link| {
            let performer = self.topology.performer_of(link.model);
            (performer.expect("a model that moves is a performer"), link)
        }))
    }

    pub(crate) fn grant_model(
        &mut self,
        request: &SpawnRequest,
        files: &mut BTreeSet<UsedFile>,
        cx: &mut Context<'_>,
    ) -> Result<ResolvedCommand, String> {
        let world = self.registry.world(request.world.as_deref())?;
        let file = request.file.as_deref().unwrap_or("the text to spawn");
        let read = sdf::read_model(&request.sdf, file, &*self.library.0);
        let mut read = read.map_err(|error| error.to_string())?;
        *files = std::mem::take(&mut read.files);
        check_parts(&read.parcel.model)?;
        for JointPosition { joint, position } in &request.joints {
            let started = read.start_joint(joint, *position);
            started.map_err(|error| error.to_string())?;
        }
        let parcel = read.parcel;
        let wanted = request.name.as_deref().unwrap_or(&parcel.model.name);
        let name = self.free_name(world, wanted, request.allow_renaming)?;
        if self.registry.is_full(world) || !self.topology.is_free(self.topology.upcoming(0)) {
            return Err(format!(
                "{NUMBERS_MAX} models have come and are there: remove some before you spawn more"
            ));
        }
        let base = self.frame(request.relative_to.as_deref())?;
        let pose = request.pose.as_ref().map(sound_pose).transpose()?;
        let pose = pose.map(|pose| base.then(&pose));
        let parcel: ModelParcel = parcel.placed(Some(name), pose);
        let encoded = parcel.encode();
        let bytes = encoded.len();
        if bytes > MODEL_BYTES_MAX {
            return Err(format!(
                "the model takes {bytes} bytes, more than {MODEL_BYTES_MAX}: simplify its meshes"
            ));
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

    pub(crate) fn grant_joints(
        &self,
        model: &str,
        positions: &[JointPosition],
    ) -> Result<ResolvedCommand, String> {
        if positions.is_empty() {
            return Err("no joint is named".to_owned());
        }
        let mut actions = Vec::with_capacity(positions.len());
        for JointPosition { joint, position } in positions {
            let joint = format!("{model}::{joint}");
            let grant = self.grant_joint(&joint, 0, Some(*position), None);
            actions.extend(grant?.actions);
        }
        Ok(ResolvedCommand {
            actions,
            ..ResolvedCommand::default()
        })
    }

    /// Brings a model into a world, and has the library keep what it rests on.
    pub(crate) fn grant_spawn(
        &mut self,
        request: &SpawnRequest,
        cx: &mut Context<'_>,
    ) -> Result<ResolvedCommand, String> {
        let mut files = BTreeSet::new();
        let applied = self.grant_model(request, &mut files, cx);
        if applied.is_err() {
            files.clear();
        }
        self.library.0.keep(&files);
        applied
    }
}

impl Primary {
    /// Notes what a command changes here, and returns what it changes in cells.
    pub(crate) fn grant(
        &mut self,
        command: &Command,
        cx: &mut Context<'_>,
    ) -> Result<ResolvedCommand, String> {
        match command {
            Command::Spawn(request) => self.world.grant_spawn(request, cx),
            Command::Remove { model } => self.world.grant_remove(model),
            Command::SetPoses { poses } => self.world.grant_poses(poses),
            Command::SetPerformer { model, size } => self.world.grant_performer(model, *size),
            Command::ApplyWrench {
                link,
                force,
                torque,
                duration_s,
            } => self.grant_wrench(link, *force, *torque, *duration_s),
            Command::SetJoint {
                joint,
                axis,
                position,
                velocity,
            } => self.world.grant_joint(joint, *axis, *position, *velocity),
            Command::SetJoints { model, positions } => self.world.grant_joints(model, positions),
            Command::SetCollisions { entity, enabled } => {
                let (model, link) = self.world.registry.model_or_link(entity)?;
                Ok(ResolvedCommand::of(Action::SetCollisions {
                    model,
                    link,
                    enabled: *enabled,
                }))
            }
            Command::Attach { parent, child } => self.grant_attach(parent, child),
            Command::Detach { parent, child } => self.grant_detach(parent, child),
            Command::SetSeed { seed } => {
                self.settings.seed = *seed;
                Ok(ResolvedCommand::of(Action::SetSeed(*seed)))
            }
            Command::SetStepSize { step_size_s } => self.grant_step_size(*step_size_s),
            Command::Play
            | Command::Pause
            | Command::Step { .. }
            | Command::RunTo { .. }
            | Command::MoveCell { .. }
            | Command::Drain { .. }
            | Command::Checkpoint
            | Command::ProcessEnded { .. }
            | Command::Reset { .. }
            | Command::SetRealTimeFactor { .. }
            | Command::Publish { .. }
            | Command::CallService { .. }
            | Command::Stop
            | Command::Interrupt
            | Command::Ping
            | Command::Snapshot
            | Command::History
            | Command::Layout
            | Command::Topics
            | Command::Clients
            | Command::Disconnect { .. } => Err("a system cannot ask for this".to_owned()),
        }
    }

    fn grant_wrench(
        &mut self,
        link: &str,
        force: [f64; 3],
        torque: [f64; 3],
        duration_s: f64,
    ) -> Result<ResolvedCommand, String> {
        let link = self.world.registry.link(link)?;
        let mut numbers = force.iter().chain(&torque);
        if !numbers.all(|number| number.abs() <= FORCE_MAX) {
            return Err(format!(
                "a force or torque is no number up to {FORCE_MAX:e}"
            ));
        }
        if !(0.0..=WRENCH_TIME_MAX_S).contains(&duration_s) {
            return Err(format!("a force cannot act for {duration_s} s"));
        }
        let duration = Duration::from_secs_f64(duration_s);
        Ok(ResolvedCommand::of(Action::Wrench {
            link,
            force,
            torque,
            until: self.clock.elapsed + duration.max(self.settings.step_size),
        }))
    }

    fn grant_attach(&mut self, parent: &str, child: &str) -> Result<ResolvedCommand, String> {
        let [(one, parent_link), (other, child_link)] = self.world.ends(parent, child)?;
        let link_ends = (parent_link, child_link);
        for (holder, held, pair) in [
            (parent, child, link_ends),
            (child, parent, (child_link, parent_link)),
        ] {
            if self.world.attachments.contains(&pair) {
                return Err(format!("{holder:?} holds {held:?} already"));
            }
        }
        self.world.attachments.insert(link_ends);
        self.set_joined([one, other], true);
        Ok(ResolvedCommand {
            joined: Some([one, other]),
            ..ResolvedCommand::of(Action::Attach {
                parent: parent_link,
                child: child_link,
            })
        })
    }

    fn grant_detach(&mut self, parent: &str, child: &str) -> Result<ResolvedCommand, String> {
        let [(one, parent_link), (other, child_link)] = self.world.ends(parent, child)?;
        if !self.world.attachments.remove(&(parent_link, child_link)) {
            return Err(format!("{parent:?} does not hold {child:?}"));
        }
        self.world.partition.hold(&[one, other]);
        self.let_go([one, other]);
        Ok(ResolvedCommand::of(Action::Detach {
            parent: parent_link,
            child: child_link,
        }))
    }

    /// Notes that two performers are held together from now on, or are not any longer; joints of
    /// their world hold on.
    fn set_joined(&mut self, ends: [PerformerId; 2], joined: bool) {
        let [one, other] = ends.map(|end| end.0 as usize);
        let at_start = self.start.topology.performers.get(one);
        if !joined && at_start.is_some_and(|one| one.joined_to.contains(&PerformerId(other as u32)))
        {
            return;
        }
        self.world.topology.set_joined(ends, joined);
        for end in ends {
            self.world.partition.note_joined(&self.world.topology, end);
        }
    }

    /// Notes that two performers are no longer held together, unless another attachment does.
    fn let_go(&mut self, ends: [PerformerId; 2]) {
        let models = ends.map(|end| {
            let performer = self.world.topology.performer(end);
            (performer.world, performer.model)
        });
        let place = |link: &LinkId| (link.model.world as usize, link.model.model as usize);
        let are_held = self.world.attachments.iter().any(|(parent, child)| {
            let held = [place(parent), place(child)];
            models.iter().all(|model| held.contains(model))
        });
        if !are_held {
            self.set_joined(ends, false);
        }
    }

    /// Forgets the attachment of two performers that an action of this number would have made.
    pub(crate) fn forget_attachment(
        &mut self,
        actions: &[StampedAction],
        number: u64,
        ends: [PerformerId; 2],
    ) {
        for stamped in actions.iter().filter(|stamped| stamped.number == number) {
            if let Action::Attach { parent, child } = &stamped.action {
                self.world.attachments.remove(&(*parent, *child));
            }
        }
        self.let_go(ends);
    }

    fn grant_step_size(&mut self, step_size_s: f64) -> Result<ResolvedCommand, String> {
        if !(sdf::STEP_SIZE_MIN_S..=sdf::STEP_SIZE_MAX_S).contains(&step_size_s) {
            return Err(format!(
                "a step of {step_size_s} s is not from {} s to {} s",
                sdf::STEP_SIZE_MIN_S,
                sdf::STEP_SIZE_MAX_S
            ));
        }
        self.settings.step_size = Duration::from_secs_f64(step_size_s);
        self.world.partition.set_step_size(step_size_s);
        let due = self.clock.pace.due();
        self.clock.pace = Pace::new(self.settings.step_size, self.settings.real_time_factor);
        self.clock.pace.restart(due);
        let nanoseconds = self.settings.step_size.as_nanos() as u64;
        Ok(ResolvedCommand::of(Action::SetStepSize(nanoseconds)))
    }

    /// Returns what a client says on a topic, once it is a message of its kind.
    pub(crate) fn message_of(
        &self,
        topic: String,
        kind: &str,
        body: Vec<u8>,
    ) -> Result<TopicMessage, String> {
        let checked = publication::check(&self.settings.topics, &topic, kind, &body);
        let kind = checked.map_err(|error| chain(&error))?;
        Ok(TopicMessage {
            topic,
            kind: kind.name.to_owned(),
            publisher: Publisher::Client,
            iteration: self.clock.iteration,
            sim_time: SimTime(0),
            body,
        })
    }
}

/// Makes sure that a model is no larger than models are, and that its names can be shown.
fn check_parts(model: &Model) -> Result<(), String> {
    let collisions = model.links.iter().map(|link| link.collisions.len()).sum();
    let counts = [
        ("links", model.links.len(), SPAWNED_PARTS_MAX),
        ("joints", model.joints.len(), SPAWNED_PARTS_MAX),
        ("collisions", collisions, SPAWNED_COLLISIONS_MAX),
    ];
    let mut counts = counts.into_iter();
    if let Some((what, count, maximum)) = counts.find(|(_, count, maximum)| count > maximum) {
        return Err(format!(
            "the model has {count} {what}, and what comes into a running world has at most \
             {maximum}: split it, or put it into the world's file"
        ));
    }
    if model.overlapping_collisions(SPAWNED_OVERLAPS_MAX + 1) > SPAWNED_OVERLAPS_MAX {
        return Err(format!(
            "more than {SPAWNED_OVERLAPS_MAX} pairs of the model's collisions are in one place: \
             simplify it, or put it into the world's file"
        ));
    }
    let links = model.links.iter().flat_map(|link| {
        let collisions = link.collisions.iter().map(|collision| &collision.name);
        let sensors = link.sensors.iter().map(|sensor| &sensor.name);
        std::iter::once(&link.name).chain(collisions).chain(sensors)
    });
    let joints = model.joints.iter().map(|joint| &joint.name);
    let frames = model.frames.iter().map(|frame| &frame.name);
    let nested = model.nested.iter().map(|nested| &nested.name);
    let mut names = links.chain(joints).chain(frames).chain(nested);
    match names.find(|name| !is_name_of_part(name)) {
        Some(name) => Err(format!(
            "{} is no name of a part: it holds control characters, or has more than \
             {NAME_BYTES_MAX} bytes",
            shown_name(name)
        )),
        None => Ok(()),
    }
}

/// Tells whether a name can be told wherever names are: in events, logs and figures.
fn is_name_of_part(name: &str) -> bool {
    name.len() <= NAME_BYTES_MAX && !name.chars().any(is_harmful)
}

/// Returns a name in quotes with its control characters escaped, shortened.
fn shown_name(name: &str) -> String {
    let start: String = name.chars().take(NAME_SHOWN_MAX).collect();
    format!("\"{}\"", escaped_line(&start))
}

impl ResolvedCommand {
    fn of(action: Action) -> Self {
        Self {
            actions: vec![action],
            ..Self::default()
        }
    }
}

/// Returns an error with its causes.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

/// Returns a pose with an orientation of length 1.
fn sound_pose(pose: &LinkPose) -> Result<Pose, String> {
    let norm = pose[3..].iter().map(|part| part * part).sum::<f64>().sqrt();
    if !pose.iter().all(|number| number.is_finite()) || !norm.is_finite() || norm < 1e-6 {
        return Err("a pose needs finite numbers and an orientation that is not zero".to_owned());
    }
    if pose[..3].iter().any(|number| number.abs() > POSITION_MAX) {
        return Err(format!(
            "a position is farther than {POSITION_MAX:e} m from the origin"
        ));
    }
    Ok(Pose {
        position: std::array::from_fn(|axis| pose[axis]),
        orientation_xyzw: std::array::from_fn(|part| pose[3 + part] / norm),
    })
}

#[cfg(test)]
mod tests;
