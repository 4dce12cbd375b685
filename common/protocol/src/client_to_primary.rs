//! Requests of clients (the view, scripts) to the primary, on `control`.

use serde::{Deserialize, Serialize};

use crate::id::{Iteration, PeerName, RequestId};
use crate::link_poses::LinkPose;

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
    /// Asks who is connected; for those who may command.
    Clients,
    /// Cuts all connections of a key and keeps it out of this run.
    Disconnect {
        /// The name of the key.
        key: String,
    },
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

impl Command {
    /// Returns it as a user would type it, without long parameters; `None` for what no user asks.
    pub fn text(&self) -> Option<String> {
        Some(match self {
            Self::Play => "play".to_owned(),
            Self::Pause => "pause".to_owned(),
            Self::Step { count } => format!("step {count}"),
            Self::MoveCell { level, peer } => format!("move-cell {level} {peer}"),
            Self::Drain { peer } => format!("drain {peer}"),
            Self::Checkpoint => "checkpoint".to_owned(),
            Self::SetPerformer { model, .. } => format!("set-performer {model}"),
            Self::RunTo { sim_time_s } => format!("run-to {sim_time_s}"),
            Self::Reset { what } => match what {
                ResetKind::All => "reset all".to_owned(),
                ResetKind::Time => "reset time".to_owned(),
                ResetKind::Models => "reset models".to_owned(),
            },
            Self::SetSeed { seed } => format!("set-seed {seed}"),
            Self::SetRealTimeFactor { factor } => format!("set-real-time-factor {factor}"),
            Self::SetStepSize { step_size_s } => format!("set-step-size {step_size_s}"),
            Self::Spawn(request) => match &request.name {
                Some(name) => format!("spawn {name}"),
                None => "spawn".to_owned(),
            },
            Self::Remove { model } => format!("remove {model}"),
            Self::SetPoses { poses } => match poses.as_slice() {
                [one] => format!("set-pose {}", one.model),
                several => format!("set-pose of {} models", several.len()),
            },
            Self::ApplyWrench { link, .. } => format!("apply-wrench {link}"),
            Self::SetJoint { joint, .. } => format!("set-joint {joint}"),
            Self::SetJoints { model, positions } => match positions.as_slice() {
                [one] => format!("set-joint {model}::{}", one.joint),
                several => format!("set-joint of {} joints of {model}", several.len()),
            },
            Self::SetCollisions { entity, enabled } => {
                let verb = if *enabled { "enable" } else { "disable" };
                format!("{verb}-collisions {entity}")
            }
            Self::Attach { parent, child } => format!("attach {parent} {child}"),
            Self::Detach { parent, child } => format!("detach {parent} {child}"),
            Self::Publish { topic, .. } => format!("publish {topic}"),
            Self::CallService { service, .. } => format!("call {service}"),
            Self::Stop | Self::Interrupt => "stop".to_owned(),
            Self::Clients => "clients".to_owned(),
            Self::Disconnect { key } => format!("disconnect {key}"),
            Self::ProcessEnded { .. }
            | Self::Ping
            | Self::Snapshot
            | Self::History
            | Self::Layout
            | Self::Topics => return None,
        })
    }

    /// Tells whether this only asks and changes nothing.
    pub fn only_asks(&self) -> bool {
        match self {
            Self::Ping
            | Self::Snapshot
            | Self::History
            | Self::Layout
            | Self::Topics
            | Self::Clients => true,
            Self::Play
            | Self::Pause
            | Self::Step { .. }
            | Self::MoveCell { .. }
            | Self::Drain { .. }
            | Self::Checkpoint
            | Self::ProcessEnded { .. }
            | Self::SetPerformer { .. }
            | Self::RunTo { .. }
            | Self::Reset { .. }
            | Self::SetSeed { .. }
            | Self::SetRealTimeFactor { .. }
            | Self::SetStepSize { .. }
            | Self::Spawn(_)
            | Self::Remove { .. }
            | Self::SetPoses { .. }
            | Self::ApplyWrench { .. }
            | Self::SetJoint { .. }
            | Self::SetJoints { .. }
            | Self::SetCollisions { .. }
            | Self::Attach { .. }
            | Self::Detach { .. }
            | Self::Publish { .. }
            | Self::CallService { .. }
            | Self::Stop
            | Self::Interrupt
            | Self::Disconnect { .. } => false,
        }
    }

    /// Tells whether whoever may connect may ask it: it changes nothing, and says of others no more
    /// than anybody may know.
    pub fn is_for_all(&self) -> bool {
        self.only_asks() && *self != Self::Clients
    }
}
