//! Requests of clients (the view, scripts) to the primary, on `control`.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::action::ModelVelocity;
use crate::id::{Iteration, PeerName, RequestId};
use crate::link_poses::LinkPose;
use crate::participant::{AnswerBarrier, JoinBarrier};

/// A request; the reply carries the same id.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClientToPrimary {
    /// The client's own number for this request.
    pub request: RequestId,
    /// Command that is requested.
    pub command: Command,
}

/// Commands that a client may send. A command that changes the run must name its session; a mere
/// query may leave the session unknown.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Command {
    /// Lets time run; done when the next iteration may begin.
    Play,
    /// Stops time; done when every secondary has acknowledged a paused step.
    Pause,
    /// Advances a paused simulation; done when all the iterations are done.
    Step {
        /// Number of iterations.
        count: u64,
    },
    /// Gives the cell of a level to another secondary; done when that one hosts it.
    MoveCell {
        /// The level's name as reports have it; a default cell is named `default`, with several
        /// worlds `world::default`.
        level: String,
        /// The secondary that is to host it.
        peer: PeerName,
    },
    /// Gives all cells of a secondary to the others and lets it leave; done when it has none.
    Drain {
        /// The secondary.
        peer: PeerName,
    },
    /// Saves the whole run; done when that is safe.
    Checkpoint,
    /// Tells that the process of a secondary has ended, as who started it saw.
    ProcessEnded {
        /// The secondary.
        peer: PeerName,
        /// Process id that it had.
        pid: u32,
        /// End of the process, to be read after its name: `was killed by SIGKILL`.
        how: String,
    },
    /// Makes a model keep levels active from the next step on, as a declared performer does.
    SetPerformer {
        /// The model's name as reports have it.
        model: String,
        /// Edge lengths of the box around its origin with which it touches levels \[m\]; without
        /// it, the model keeps the box that it has.
        size: Option<[f64; 3]>,
    },
    /// Advances a paused simulation to a simulated time; done when it is reached.
    RunTo {
        /// \[s\]
        sim_time_s: f64,
    },
    /// Sets something back to the start.
    Reset {
        /// Parts of the run that are reset.
        what: ResetKind,
    },
    /// Gives random numbers another seed.
    SetSeed {
        /// The seed.
        seed: u64,
    },
    /// Sets the pace to aim for.
    SetRealTimeFactor {
        /// Simulated over real time; 0 is as fast as possible.
        factor: f64,
    },
    /// Sets the simulated time per iteration.
    SetStepSize {
        /// \[s\], more than 0 and at most 0.1.
        step_size_s: f64,
    },
    /// Brings a model into the world.
    Spawn(Box<SpawnRequest>),
    /// Takes a model out of the world for good.
    Remove {
        /// The model's name as reports have it.
        model: String,
    },
    /// Moves models, all at once or none.
    SetPoses {
        /// The models with the poses of their origins.
        poses: Vec<NamedPose>,
    },
    /// Moves models, gives them velocities, or both, all at once or none.
    SetStates {
        /// The models with what they get.
        states: Vec<NamedState>,
    },
    /// Has a force and a torque act on a link.
    ApplyWrench {
        /// `MODEL::LINK`, or a model, whose canonical link is meant.
        link: String,
        /// World frame, at the centre of mass \[N\].
        force: [f64; 3],
        /// World frame \[N m\].
        torque: [f64; 3],
        /// For how long \[s\]; at least one step.
        duration_s: f64,
    },
    /// Sets an axis of a joint.
    SetJoint {
        /// `MODEL::JOINT`.
        joint: String,
        /// Index of the axis in the joint: 0 or 1.
        axis: u32,
        /// The position that it gets \[rad or m\].
        position: Option<f64>,
        /// The velocity that it gets \[rad/s or m/s\].
        velocity: Option<f64>,
    },
    /// Sets positions of several joints of a model, all at once or none.
    SetJoints {
        /// The model's name as reports have it.
        model: String,
        /// Joints with the positions of their first axes.
        positions: Vec<JointPosition>,
    },
    /// Switches collisions on or off.
    SetCollisions {
        /// A model, or `MODEL::LINK`.
        entity: String,
        /// True if they touch anything.
        enabled: bool,
    },
    /// Holds two links of different models together as they are.
    Attach {
        /// `MODEL::LINK` that holds.
        parent: String,
        /// `MODEL::LINK` that is held.
        child: String,
    },
    /// Lets go of what [`Command::Attach`] holds.
    Detach {
        /// `MODEL::LINK` that holds.
        parent: String,
        /// `MODEL::LINK` that is held.
        child: String,
    },
    /// Says something on a topic; done when the step that tells the systems is done.
    Publish {
        /// The topic.
        topic: String,
        /// The kind of message: `gz.msgs.Twist`.
        kind: String,
        /// The message, a `MessagePack` map.
        #[serde(with = "serde_bytes")]
        body: Vec<u8>,
    },
    /// Calls a service by its Gazebo name; what it does is one of the commands here.
    CallService {
        /// `/world/NAME/control`
        service: String,
        /// The kind of the request; empty for the one that the service takes.
        kind: String,
        /// The request, a `MessagePack` map.
        #[serde(with = "serde_bytes")]
        body: Vec<u8>,
    },
    /// Asks which topics there are.
    Topics,
    /// Ends the run in order; done when it is under way.
    Stop,
    /// Ends the run as a signal would, with the outcome "interrupted".
    Interrupt,
    /// Asks for a reply, whose envelope tells the session that later commands must name.
    Ping,
    /// Asks for all figures of this moment.
    Snapshot,
    /// Asks for what was: events, figures of the last minutes, how long steps took.
    History,
    /// Asks for what stands still: boxes of levels and outlines of static models.
    Layout,
    /// Asks for a part of what is drawn of the worlds.
    Scene {
        /// The asset of the scene that is meant, by its name; without it, the scene itself.
        asset: Option<String>,
        /// The byte at which the part begins.
        offset: u64,
    },
    /// Asks who is connected; for those who may command.
    Clients,
    /// Cuts all connections of a key and keeps it out of this run.
    Disconnect {
        /// The name of the key.
        key: String,
    },
    /// Takes part in lockstep from the next barrier on; answered with the data of that barrier.
    JoinBarrier(Box<JoinBarrier>),
    /// Lets the run go on after a barrier; answered with the data of the participant's next one.
    AnswerBarrier(Box<AnswerBarrier>),
    /// Takes part no more; the run goes on without.
    LeaveBarrier {
        /// The participant.
        name: PeerName,
    },
    /// Asks which programs take part in lockstep.
    Participants,
}

/// A command with the iteration at which it applies.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScheduledCommand {
    /// It is done before the step that follows this iteration.
    pub iteration: Iteration,
    /// For one that was done while time stood still: in which round of that pause, from 0.
    pub paused_round: Option<u32>,
    /// Command to execute.
    pub command: Command,
}

/// Parts of a run that a reset sets back to the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ResetKind {
    /// Simulated time and all models; what was spawned is gone, what was removed is back.
    All,
    /// Simulated time alone.
    Time,
    /// All models alone.
    Models,
}

/// A model that is to come into a world.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SpawnRequest {
    /// SDF or URDF text with one model.
    pub sdf: String,
    /// The file that the text is from: it is named in what is wrong, and files are looked for
    /// beside it, if that is below a folder that the run may read.
    #[serde(default)]
    pub file: Option<String>,
    /// Its name, unless the text's.
    pub name: Option<String>,
    /// True if it gets another name (`NAME_1`) when its own is taken.
    pub allow_renaming: bool,
    /// Pose of its origin, unless the text's.
    pub pose: Option<LinkPose>,
    /// The model in whose frame that pose is; the world's without it.
    pub relative_to: Option<String>,
    /// The world, where there are several.
    pub world: Option<String>,
    /// Joints that start elsewhere than the text says.
    #[serde(default)]
    pub joints: Vec<JointPosition>,
    /// Namespace that its topics get: those that the text names with a `/` at the start keep
    /// their names.
    #[serde(default)]
    pub namespace: Option<String>,
}

/// A joint with a position.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JointPosition {
    /// Its name within its model.
    pub joint: String,
    /// The position along or about its first axis \[rad or m\].
    pub position: f64,
}

/// A model with the pose that it gets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NamedPose {
    /// The model's name as reports have it.
    pub model: String,
    /// Position \[m\] and orientation xyzw of its origin, world frame.
    pub pose: LinkPose,
}

/// A model with the pose or the velocity that it gets, or both.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NamedState {
    /// The model's name as reports have it.
    pub model: String,
    /// Position \[m\] and orientation xyzw of its origin, world frame; it is at rest there.
    #[serde(default)]
    pub pose: Option<LinkPose>,
    /// Velocity with which it then moves as one, with all that joints hold to it.
    #[serde(default)]
    pub velocity: Option<ModelVelocity>,
}

/// Effect of a command on a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandClass {
    /// Asks and changes nothing; for whoever may connect, since it says of others no more than
    /// anybody may know.
    Question,
    /// Asks and changes nothing; for those who may command.
    QuestionOfCommanders,
    /// Changes when and where worlds are computed, or who takes part; acts at once.
    OfRun,
    /// Changes the worlds; acts with the next step, and has a place in files of commands.
    OfWorlds,
}

/// Subject of a command, for keys that may command only some topics and models.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Concerns<'a> {
    /// The whole run.
    Run,
    /// A topic or service.
    Topic(&'a str),
    /// Models, or parts of them such as `MODEL::LINK`.
    Models(Vec<&'a str>),
    /// A program's own part in lockstep, with the subjects of the commands in its answer.
    Participant(Vec<Concerns<'a>>),
}

/// A command's row in the table of commands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandRow<'a> {
    /// The command as a user would type it, without long parameters; `None` for those that no user
    /// types.
    pub text: Option<Cow<'static, str>>,
    /// The run once it is done, to be read after its name: `is paused`.
    pub done: &'static str,
    /// Its effect.
    pub class: CommandClass,
    /// Its subject.
    pub concerns: Concerns<'a>,
}

impl<'a> CommandRow<'a> {
    fn of_run(text: Cow<'static, str>, done: &'static str) -> Self {
        Self {
            text: Some(text),
            done,
            class: CommandClass::OfRun,
            concerns: Concerns::Run,
        }
    }

    fn of_worlds(text: String, done: &'static str, concerns: Concerns<'a>) -> Self {
        Self {
            text: Some(text.into()),
            done,
            class: CommandClass::OfWorlds,
            concerns,
        }
    }
}

impl Command {
    /// Returns the command's row in the table of commands.
    #[expect(clippy::too_many_lines, reason = "a row for each command")]
    pub fn row(&self) -> CommandRow<'_> {
        match self {
            Self::Play => CommandRow::of_run("play".into(), "runs"),
            Self::Pause => CommandRow::of_run("pause".into(), "is paused"),
            Self::Step { count } => {
                CommandRow::of_run(format!("step {count}").into(), "has stepped and is paused")
            }
            Self::RunTo { sim_time_s } => CommandRow::of_run(
                format!("run-to {sim_time_s}").into(),
                "has reached that time and is paused",
            ),
            Self::SetRealTimeFactor { factor } => {
                CommandRow::of_run(format!("set-real-time-factor {factor}").into(), "is set")
            }
            Self::MoveCell { level, peer } => {
                CommandRow::of_run(format!("move-cell {level} {peer}").into(), "moved the cell")
            }
            Self::Drain { peer } => {
                CommandRow::of_run(format!("drain {peer}").into(), "drained the secondary")
            }
            Self::Checkpoint => CommandRow::of_run("checkpoint".into(), "is saved"),
            Self::ProcessEnded { .. } => CommandRow {
                text: None,
                done: "knows",
                class: CommandClass::OfRun,
                concerns: Concerns::Run,
            },
            Self::CallService { service, .. } => CommandRow {
                text: Some(format!("call {service}").into()),
                done: "has done it",
                class: CommandClass::OfRun,
                concerns: Concerns::Topic(service),
            },
            Self::Disconnect { key } => CommandRow::of_run(
                format!("disconnect {key}").into(),
                "has cut off the key and keeps it out",
            ),
            Self::Stop | Self::Interrupt => CommandRow::of_run("stop".into(), "ends"),
            Self::Reset { what } => {
                CommandRow::of_worlds(format!("reset {}", what.name()), "is reset", Concerns::Run)
            }
            Self::SetSeed { seed } => {
                CommandRow::of_worlds(format!("set-seed {seed}"), "is set", Concerns::Run)
            }
            Self::SetStepSize { step_size_s } => CommandRow::of_worlds(
                format!("set-step-size {step_size_s}"),
                "has steps of that size",
                Concerns::Run,
            ),
            // Without a name it is the text that says which model comes.
            Self::Spawn(request) => CommandRow::of_worlds(
                spawn_text(request),
                "has the model",
                Concerns::Models(vec![request.name.as_deref().unwrap_or_default()]),
            ),
            Self::Remove { model } => CommandRow::of_worlds(
                format!("remove {model}"),
                "has the model no more",
                Concerns::Models(vec![model]),
            ),
            Self::SetPoses { poses } => CommandRow::of_worlds(
                poses_text(poses),
                "has the models where they were wanted",
                Concerns::Models(poses.iter().map(|pose| &*pose.model).collect()),
            ),
            Self::SetStates { states } => CommandRow::of_worlds(
                states_text(states),
                "has the models move as they were wanted",
                Concerns::Models(states.iter().map(|state| &*state.model).collect()),
            ),
            Self::SetPerformer { model, .. } => CommandRow::of_worlds(
                format!("set-performer {model}"),
                "has the performer",
                Concerns::Models(vec![model]),
            ),
            Self::ApplyWrench { link, .. } => CommandRow::of_worlds(
                format!("apply-wrench {link}"),
                "pushes the link",
                Concerns::Models(vec![link]),
            ),
            Self::SetJoint { joint, .. } => CommandRow::of_worlds(
                format!("set-joint {joint}"),
                "has set the joint",
                Concerns::Models(vec![joint]),
            ),
            Self::SetJoints { model, positions } => CommandRow::of_worlds(
                joints_text(model, positions),
                "has set the joints",
                Concerns::Models(vec![model]),
            ),
            Self::SetCollisions { entity, enabled } => CommandRow::of_worlds(
                collisions_text(entity, *enabled),
                "has switched the collisions",
                Concerns::Models(vec![entity]),
            ),
            Self::Attach { parent, child } => CommandRow::of_worlds(
                format!("attach {parent} {child}"),
                "holds the links together",
                Concerns::Models(vec![parent, child]),
            ),
            Self::Detach { parent, child } => CommandRow::of_worlds(
                format!("detach {parent} {child}"),
                "has let the links go",
                Concerns::Models(vec![parent, child]),
            ),
            Self::Publish { topic, .. } => CommandRow::of_worlds(
                format!("publish {topic}"),
                "has heard it",
                Concerns::Topic(topic),
            ),
            Self::Clients => CommandRow {
                text: Some("clients".into()),
                done: "answers",
                class: CommandClass::QuestionOfCommanders,
                concerns: Concerns::Run,
            },
            Self::JoinBarrier(join) => CommandRow {
                text: Some(format!("join-barrier {}", join.name).into()),
                done: "waits for the program",
                class: CommandClass::OfRun,
                concerns: Concerns::Participant(Vec::new()),
            },
            Self::AnswerBarrier(answer) => CommandRow {
                text: Some(format!("answer-barrier {}", answer.name).into()),
                done: "goes on",
                class: CommandClass::OfRun,
                concerns: Concerns::Participant(answer.concerns()),
            },
            Self::LeaveBarrier { name } => CommandRow {
                text: Some(format!("leave-barrier {name}").into()),
                done: "goes on without the program",
                class: CommandClass::OfRun,
                concerns: Concerns::Participant(Vec::new()),
            },
            Self::Participants => CommandRow {
                text: Some("participants".into()),
                done: "answers",
                class: CommandClass::Question,
                concerns: Concerns::Run,
            },
            Self::Ping
            | Self::Snapshot
            | Self::History
            | Self::Layout
            | Self::Scene { .. }
            | Self::Topics => CommandRow {
                text: None,
                done: "answers",
                class: CommandClass::Question,
                concerns: Concerns::Run,
            },
        }
    }

    /// Returns the command as a user would type it, without long parameters; `None` for those that
    /// no user types.
    pub fn text(&self) -> Option<String> {
        self.row().text.map(Cow::into_owned)
    }

    /// Tells whether this only asks and changes nothing.
    pub fn only_asks(&self) -> bool {
        match self.row().class {
            CommandClass::Question | CommandClass::QuestionOfCommanders => true,
            CommandClass::OfRun | CommandClass::OfWorlds => false,
        }
    }

    /// Tells whether whoever may connect may ask it.
    pub fn is_for_all(&self) -> bool {
        self.row().class == CommandClass::Question
    }

    /// Tells whether it changes the worlds, with the next step: such commands alone have a place in
    /// files of commands.
    pub fn is_of_worlds(&self) -> bool {
        self.row().class == CommandClass::OfWorlds
    }
}

impl ResetKind {
    /// Returns the name that a user types.
    pub fn name(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Time => "time",
            Self::Models => "models",
        }
    }
}

fn spawn_text(request: &SpawnRequest) -> String {
    match &request.name {
        Some(name) => format!("spawn {name}"),
        None => "spawn".to_owned(),
    }
}

fn poses_text(poses: &[NamedPose]) -> String {
    match poses {
        [one] => format!("set-pose {}", one.model),
        several => format!("set-pose of {} models", several.len()),
    }
}

fn states_text(states: &[NamedState]) -> String {
    match states {
        [one] if one.pose.is_none() => format!("set-velocity {}", one.model),
        [one] => format!("set-state {}", one.model),
        several => format!("set-state of {} models", several.len()),
    }
}

fn joints_text(model: &str, positions: &[JointPosition]) -> String {
    match positions {
        [one] => format!("set-joint {model}::{}", one.joint),
        several => format!("set-joint of {} joints of {model}", several.len()),
    }
}

fn collisions_text(entity: &str, is_enabled: bool) -> String {
    let verb = if is_enabled { "enable" } else { "disable" };
    format!("{verb}-collisions {entity}")
}
