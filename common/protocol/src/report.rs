//! The figures that people and scripts read; field names are those of the JSON output.

mod clients;
pub mod divergence;
mod history;
mod holder;
mod participant;
mod silent_relays;

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::exit::Outcome;
use crate::id::PeerName;
use crate::peer::Role;
use crate::secondary_to_primary::MachineLoad;

pub use clients::{CONNECTIONS_MAX, ClientConnection, Clients, TOPICS_NAMED_MAX};
pub use history::{EVENTS_MAX, History, HistorySample, SAMPLES_MAX, Split, StepHistogram};
pub use holder::holder;
pub use participant::{ParticipantReport, ParticipantState};
pub use silent_relays::{RELAY_SILENCE_MS, SilentRelay, silent_relays};

/// Percentiles of a time \[us\].
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Percentiles {
    /// Median.
    pub p50: f64,
    /// 90th percentile.
    pub p90: f64,
    /// 99th percentile.
    pub p99: f64,
    /// The largest.
    pub max: f64,
}

/// Figures of the run at one moment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stats {
    /// The world's name; several are joined with `+`.
    pub world: String,
    /// `waiting`, `paused`, `running`, `recovering` or `stopping`.
    pub state: RunState,
    /// The last completed iteration.
    pub iteration: u64,
    /// Simulated time \[s\].
    pub sim_time_s: f64,
    /// True if time is paused.
    pub paused: bool,
    /// Simulated over real time, over the last second.
    pub real_time_factor: f64,
    /// The real-time factor asked for; 0 is as fast as possible.
    pub real_time_factor_asked: f64,
    /// Iterations per second of real time, over the last second.
    pub steps_per_s: f64,
    /// From publishing a step to the last ack, over the whole run \[us\].
    pub step_us: Percentiles,
    /// The same over the last second, of at most the last 1,000 steps \[us\].
    pub recent_step_us: Percentiles,
    /// Parts of the time of an iteration, over the last second, of at most 1,000 steps.
    pub split: Split,
    /// Time that the steps of the whole run took.
    pub steps: StepHistogram,
    /// The longest physics of any secondary, over the whole run \[us\].
    pub physics_us: Percentiles,
    /// Step without that physics: wire, waiting and the primary, over the whole run \[us\].
    pub overhead_us: Percentiles,
    /// Digest after the last completed iteration.
    pub digest: Digest,
    /// Messages that were refused, by reason.
    pub refused: RefusedCounts,
    /// Secondaries that are missing before the start, by number.
    pub secondaries_missing: u32,
    /// Events so far.
    pub events: EventCounts,
    /// True if anybody who reaches the primary may change the run: it is on tcp, without keys.
    #[serde(default)]
    pub insecure: bool,
    /// Simulated time since the start, or since the last reset of models: actors are where their
    /// scripts say by it \[s\]. Recordings lack it: there it is the simulated time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elapsed_s: Option<f64>,
}

impl Stats {
    /// Returns the time by which actors move at a simulated time of the same reset \[s\].
    pub fn elapsed_at(&self, sim_time_s: f64) -> f64 {
        sim_time_s
            + self
                .elapsed_s
                .map_or(0.0, |elapsed_s| elapsed_s - self.sim_time_s)
    }
}

/// State of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RunState {
    /// Not every secondary is there yet.
    Waiting,
    /// Time is paused.
    Paused,
    /// Time runs.
    Running,
    /// Time waits until the cells of a secondary that was lost are restored.
    Recovering,
    /// The run ends.
    Stopping,
}

/// Messages that were never acted on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RefusedCounts {
    /// Of an earlier step.
    pub stale: u64,
    /// Seen before.
    pub duplicate: u64,
    /// Of another session, or of a sender that is no peer.
    pub foreign: u64,
    /// Not a message, or one that breaks the protocol.
    pub malformed: u64,
    /// Connections whose key is not known, or that brought none.
    pub unauthenticated: u64,
    /// Not allowed by the role of the sender's key.
    pub forbidden: u64,
    /// Beyond the limits of size and rate.
    pub excess: u64,
}

impl RefusedCounts {
    /// Returns how many messages and connections were refused in all.
    pub fn total(&self) -> u64 {
        let messages = self.stale + self.duplicate + self.foreign + self.malformed;
        messages + self.unauthenticated + self.forbidden + self.excess
    }

    /// Adds what was refused elsewhere.
    pub fn add(&mut self, other: Self) {
        self.stale += other.stale;
        self.duplicate += other.duplicate;
        self.foreign += other.foreign;
        self.malformed += other.malformed;
        self.unauthenticated += other.unauthenticated;
        self.forbidden += other.forbidden;
        self.excess += other.excess;
    }
}

/// Events of a run, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventCounts {
    /// Performers that changed cell.
    pub hand_offs: u64,
    /// Cells that changed secondary.
    pub migrations: u64,
    /// Levels whose models came into a cell.
    pub levels_loaded: u64,
    /// Levels whose models left a cell.
    pub levels_unloaded: u64,
    /// Secondaries whose cells were restored elsewhere.
    pub recoveries: u64,
}

/// One process of the run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PeerReport {
    /// Its name.
    pub name: PeerName,
    /// Its role.
    pub role: Role,
    /// Stage of its life.
    pub state: PeerState,
    /// Its process id.
    pub pid: u32,
    /// Its machine.
    pub host: String,
    /// Time since its last heartbeat \[ms\].
    pub heartbeat_age_ms: f64,
    /// Time to the primary and back \[us\].
    pub round_trip_us: Option<u64>,
    /// The primary's wall clock minus its own \[us\].
    pub clock_offset_us: Option<i64>,
    /// Levels whose cells it hosts.
    pub levels: Vec<String>,
    /// Performers that it owns.
    pub performers: Vec<String>,
    /// Its physics per step, smoothed \[us\].
    pub physics_us: f64,
    /// Its systems per step, smoothed \[us\].
    pub systems_us: f64,
    /// Its sensors per step, smoothed \[us\].
    pub sensors_us: f64,
    /// From receiving a step to answering it, smoothed \[us\].
    pub busy_us: f64,
    /// Its answer's time on the way and in queues: time to answer without the work, smoothed
    /// \[us\].
    pub network_us: f64,
    /// Time by which steps would have been shorter without it: from the last answer but one to its
    /// own, smoothed \[us\].
    pub blocked_us: f64,
    /// Time per step that it waited for the others, smoothed \[us\].
    pub wait_us: f64,
    /// The part of recent steps in which it answered last, 0 to 1.
    pub last_share: f64,
    /// True if a long step waits for it alone, or it is the [`holder()`] of the steps.
    pub blocking: bool,
    /// Processor use, 1.0 is one core.
    pub cpu: f64,
    /// Resident memory \[bytes\].
    pub memory_bytes: u64,
    /// Load of its machine, if that is known.
    #[serde(default)]
    pub host_load: Option<HostLoad>,
    /// Name of the GPU that draws what its cameras see; none where the processor does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gpu: Option<String>,
    /// The relay through which it reaches the primary, if it is behind one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relay: Option<String>,
    /// Time since anything came from that relay, which speaks ten times a second \[ms\].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relay_age_ms: Option<f64>,
    /// Its part in lockstep, if it is a program that takes part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub participant: Option<ParticipantReport>,
}

/// Load of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct HostLoad {
    /// Load average of the last minute: processes that run or wait for a core.
    pub load_average: f64,
    /// Processor cores.
    pub cores: u32,
    /// Memory \[bytes\].
    pub memory_bytes: u64,
    /// Memory that programs can have without swapping \[bytes\].
    pub available_bytes: u64,
}

impl HostLoad {
    /// Tells whether more processes want to run than there are cores.
    pub fn is_crowded(&self) -> bool {
        self.load_average > f64::from(self.cores)
    }
}

impl From<MachineLoad> for HostLoad {
    fn from(load: MachineLoad) -> Self {
        Self {
            load_average: f64::from(load.load_milli) / 1e3,
            cores: load.cores,
            memory_bytes: load.memory_bytes,
            available_bytes: load.available_bytes,
        }
    }
}

impl PeerReport {
    /// Tells whether it runs physics.
    pub fn hosts_cells(&self) -> bool {
        matches!(self.role, Role::Secondary | Role::Standalone)
    }
}

/// Stage of a peer's life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PeerState {
    /// Welcomed, reading the world.
    Joining,
    /// Waiting for the sync on its subscription.
    Syncing,
    /// Does again what was done, to host cells of a peer that was lost.
    CatchingUp,
    /// Hosts cells.
    Active,
    /// Takes part and hosts no performers.
    Standby,
    /// Gives its cells to others, to leave.
    Draining,
    /// Died or fell silent.
    Lost,
    /// Left.
    Gone,
}

impl PeerState {
    /// Tells whether the peer takes part, or is about to.
    pub fn is_here(self) -> bool {
        !matches!(self, Self::Lost | Self::Gone)
    }
}

/// One level, and with it its cell; the default cell of a world is reported as `default`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LevelReport {
    /// The level's name.
    pub name: String,
    /// Its world.
    pub world: String,
    /// True if a performer keeps it loaded.
    pub active: bool,
    /// True if its cell stands still, with performers in it, until the level is active again.
    pub suspended: bool,
    /// Digest of the performers in its cell, in order of their numbers, after the last iteration;
    /// without a cell there is none.
    pub digest: Option<Digest>,
    /// The secondary that hosts its cell.
    pub owner: Option<PeerName>,
    /// Performers that its cell owns.
    pub performers: Vec<String>,
    /// Performers of which its cell holds a read-only copy.
    pub ghosts: Vec<String>,
    /// Number of performers that were handed to its cell.
    pub hand_offs: u64,
    /// Static models in its cell that levels brought there.
    pub models_loaded: Vec<String>,
    /// Physics of its cell per step, smoothed \[us\].
    pub physics_us: f64,
    /// Systems of its cell per step, smoothed \[us\].
    pub systems_us: f64,
    /// Sensors of its cell per step, smoothed \[us\].
    pub sensors_us: f64,
}

/// One performer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PerformerReport {
    /// Its name.
    pub name: String,
    /// The secondary that runs its physics.
    pub owner: Option<PeerName>,
    /// The level whose cell owns it; `default` for the default cell.
    pub level: String,
    /// Levels that it keeps active.
    pub levels: Vec<String>,
    /// Position of its origin, world frame \[m\].
    pub position: [f64; 3],
    /// Orientation, world frame.
    pub orientation_xyzw: [f64; 4],
    /// Linear velocity, world frame \[m/s\].
    pub linear_velocity: [f64; 3],
    /// Angular velocity, world frame \[rad/s\].
    #[serde(default)]
    pub angular_velocity: [f64; 3],
    /// Number of times that it has changed cell.
    pub hand_offs: u64,
    /// Number of its group in answers to clients who ask, from 0 at each moment: performers that
    /// may touch in the next step, or that joints hold together. `None` if it is alone, or in a
    /// world without levels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<u32>,
}

/// All figures of one moment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    /// The run.
    pub stats: Stats,
    /// Its processes, the primary first, then by name.
    pub peers: Vec<PeerReport>,
    /// Its levels, in world order.
    pub levels: Vec<LevelReport>,
    /// Its performers, in name order.
    pub performers: Vec<PerformerReport>,
}

/// Levels and models at the start, for maps.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Layout {
    /// The levels, in world order.
    pub levels: Vec<LevelOutline>,
    /// The static models, in world order.
    pub statics: Vec<ModelOutline>,
    /// The performers at the start, in world order.
    pub performers: Vec<ModelOutline>,
}

/// Extent of a level; axis-aligned, world frame.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LevelOutline {
    /// Its name.
    pub name: String,
    /// Its world.
    pub world: String,
    /// Corner with the least coordinates \[m\].
    pub min: [f64; 3],
    /// Corner with the greatest coordinates \[m\].
    pub max: [f64; 3],
    /// Width of the buffer around it \[m\].
    pub buffer: f64,
}

/// Extent of a model: the box around its collisions, axis-aligned, world frame.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelOutline {
    /// Its name.
    pub name: String,
    /// Corner with the least coordinates \[m\]; infinite for planes.
    pub min: [f64; 3],
    /// Corner with the greatest coordinates \[m\]; infinite for planes.
    pub max: [f64; 3],
}

/// A part of a scene as JSON, or of a mesh or texture of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScenePart {
    /// Fingerprint of the whole.
    pub digest: Digest,
    /// Length of the whole \[bytes\].
    pub total: u64,
    /// The byte at which the part begins.
    pub offset: u64,
    /// The part; empty at the end of the whole.
    #[serde(with = "serde_bytes")]
    pub bytes: Vec<u8>,
}

/// Summary of a whole run: what `--headless --format json` prints.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Outcome of the run.
    pub outcome: Outcome,
    /// Cause of its end, for people.
    pub cause: String,
    /// The world's name.
    pub world: String,
    /// Completed iterations.
    pub iterations: u64,
    /// Simulated time \[s\].
    pub sim_time_s: f64,
    /// Digest after the last completed iteration.
    pub digest: Digest,
    /// Simulated over real time, over the time in which it ran.
    pub real_time_factor: f64,
    /// Iterations per second of real time, over the time in which it ran.
    pub steps_per_s: f64,
    /// From publishing a step to the last ack \[us\].
    pub step_us: Percentiles,
    /// The longest physics of any secondary \[us\].
    pub physics_us: Percentiles,
    /// Step without that physics \[us\].
    pub overhead_us: Percentiles,
    /// Work of all secondaries together for an iteration, on average \[us\].
    #[serde(default)]
    pub work_us: f64,
    /// The secondaries, by name.
    pub secondaries: Vec<SecondarySummary>,
    /// The performers, by name.
    pub performers: Vec<PerformerReport>,
    /// Events, counted.
    pub events: EventCounts,
    /// Messages that were refused, by reason.
    pub refused: RefusedCounts,
}

/// One secondary over a whole run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SecondarySummary {
    /// Its name.
    pub name: PeerName,
    /// Its process id.
    pub pid: u32,
    /// Levels whose cells it hosted at the end.
    pub levels: Vec<String>,
    /// Performers that it owned at the end.
    pub performers: Vec<String>,
    /// Performers that were handed to it.
    pub hand_offs_in: u64,
}

/// GPU on which a worker program would draw cameras.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GpuReport {
    /// True if the program was built with renderers of a GPU.
    pub is_built: bool,
    /// The device; `None` if there is none.
    pub device: Option<GpuDeviceReport>,
    /// Reason why there is none, with what to do.
    pub problem: Option<String>,
}

/// A device that draws.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GpuDeviceReport {
    /// Name of the adapter.
    pub name: String,
    /// Its driver, with its version as far as that tells it.
    pub driver: String,
    /// Interface to the driver: `Vulkan`.
    pub backend: String,
    /// True if the driver draws on the processor.
    pub is_software: bool,
}

/// Outcome of a look at worlds before they run: all that a start would say of them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StartReport {
    /// Parts of the worlds that work otherwise than they say, or not at all.
    pub warnings: Vec<StartWarning>,
    /// Reason why the worlds cannot be run, if they cannot.
    pub refusal: Option<String>,
}

/// Part of a world that a run has otherwise than the world says.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct StartWarning {
    /// Kind of the part.
    pub kind: StartWarningKind,
    /// Description of what is wrong, or done instead.
    pub message: String,
    /// File, line and column of the part, from 1; `None` where they are not known.
    pub place: Option<(String, u32, u32)>,
}

/// Kind of a part that a start warns of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum StartWarningKind {
    /// A link or joint.
    Physics,
    /// A sensor.
    Sensor,
    /// A system of a model or a world.
    System,
    /// A mesh or image that visuals name.
    VisualFile,
}

impl StartWarningKind {
    /// Returns its stable name.
    pub fn code(self) -> &'static str {
        match self {
            Self::Physics => "PHYSICS",
            Self::Sensor => "SENSOR",
            Self::System => "SYSTEM",
            Self::VisualFile => "VISUAL_FILE",
        }
    }
}

impl fmt::Display for StartWarning {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((file, line, column)) = &self.place {
            write!(formatter, "{file}:{line}:{column}: ")?;
        }
        write!(formatter, "{} [{}]", self.message, self.kind.code())
    }
}

/// Topics of worlds in ROS 2.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RosMappingReport {
    /// Topics of the worlds by name, then those that ROS alone has.
    pub topics: Vec<RosTopicReport>,
    /// Remarks about topics, for people.
    pub notes: Vec<String>,
}

/// A topic of a world in ROS 2.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RosTopicReport {
    /// Its name in the run; `None` for one that ROS alone has.
    pub topic: Option<String>,
    /// The kind of its messages in the run.
    pub kind: Option<String>,
    /// True if the run publishes on it in ROS.
    pub out: bool,
    /// True if the run subscribes to it in ROS.
    #[serde(rename = "in")]
    pub inbound: bool,
    /// The topic in ROS; `None` if it has no type there, or rules leave it out.
    pub ros: Option<RosEndpointReport>,
    /// The topic of frames that has those of its messages: `/tf`, `/tf_static`.
    pub frames: Option<String>,
    /// True if its kind has a type in ROS.
    pub has_type: bool,
}

/// Name, type and quality of service of a topic in ROS 2.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RosEndpointReport {
    /// Its name.
    pub name: String,
    /// Type of its messages.
    #[serde(rename = "type")]
    pub type_name: String,
    /// True if lost messages are sent again.
    pub reliable: bool,
    /// True if readers that come later get the last messages.
    pub latched: bool,
    /// Number of messages that are kept.
    pub depth: u32,
    /// The most messages per second of simulated time, if there is a limit.
    pub max_rate_hz: Option<f64>,
}

/// A topic of systems or sensors.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TopicReport {
    /// Its name.
    pub topic: String,
    /// The kind of its messages.
    pub kind: String,
    /// Publishers of the topic: `model: system`.
    pub publishers: Vec<String>,
    /// Subscribers to it, systems alone: `model: system`.
    pub subscribers: Vec<String>,
}
