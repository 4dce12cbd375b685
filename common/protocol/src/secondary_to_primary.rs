//! Messages of a secondary to its primary, on `control`.

#[cfg(test)]
pub(crate) mod tests;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::action::ActionFailure;
use crate::cell_runs::CellRuns;
use crate::client_to_primary::Command;
use crate::digest::Digest;
use crate::exit::StopReason;
use crate::id::{CellId, Iteration, PerformerId, Sequence};
use crate::link_poses::LinkPoses;
use crate::peer::PeerInfo;
use crate::primary_to_secondary::{CellSnapshot, SceneSnapshot};
use crate::report::divergence::DivergenceReport;
use crate::ros::RosMessage;
use crate::state::StateBlob;
use crate::topic;
use crate::topic_message::{Publisher, TopicMessage};

/// A message of a secondary.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum SecondaryToPrimary {
    /// Asks to join; repeated until it is welcomed or refused. On `/announce`.
    Join(PeerInfo),
    /// Has read the world and is ready to be synced. On `/session`.
    Loaded(Loaded),
    /// Has received a sync on its `step` subscription. On `/session`.
    Synced,
    /// Is alive. On `/heartbeat`.
    Heartbeat(Heartbeat),
    /// Has done a step. On `/step_ack`.
    StepAck(Arc<StepAck>),
    /// Has done further steps of the window that its last step opened. On `/steps_ahead`.
    StepsAhead(Arc<StepsAhead>),
    /// A cell as it is after a step that asked for a checkpoint. On `/session`.
    CellCheckpoint(CellSnapshot),
    /// Data that all hosts have in common after such a step. On `/session`.
    SceneCheckpoint(SceneSnapshot),
    /// A job is done. On `/session`.
    CaughtUp(Box<CaughtUp>),
    /// Did a step twice with different results; it leaves next. On `/session`.
    Diverged(Box<DivergenceReport>),
    /// Messages of nodes of ROS 2, in the order in which they came. On `/session`.
    RosMessages(Vec<RosMessage>),
    /// Leaves, and why. On `/announce`.
    Leave(StopReason),
}

/// The world that a secondary has read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Loaded {
    /// Fingerprint of the world as received.
    pub world_digest: Digest,
    /// Name of the GPU that draws what its cameras see; none where the processor does.
    #[serde(default)]
    pub gpu: Option<String>,
}

/// A sign of life, with what only the sender knows of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Heartbeat {
    /// Grows by one with every heartbeat.
    pub count: u64,
    /// The sender's wall clock when it was sent \[us since 1970\].
    pub sent_at_us: u64,
    /// The last measured time to the primary and back \[us\].
    pub round_trip_us: Option<u64>,
    /// The primary's wall clock minus the sender's, by the last echo \[us\].
    pub clock_offset_us: Option<i64>,
    /// Processor time used so far \[us\].
    pub cpu_time_us: u64,
    /// Resident memory \[bytes\].
    pub memory_bytes: u64,
    /// Progress of the stepper, which says nothing while it is busy.
    pub work: WorkProgress,
    /// Load of its machine, where the system tells it.
    #[serde(default)]
    pub machine: Option<MachineLoad>,
}

/// Load of the machine of a peer, in whole numbers: none that a stranger sends is no number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MachineLoad {
    /// Load average of the last minute: processes that run or wait, in thousandths.
    pub load_milli: u32,
    /// Processor cores.
    pub cores: u32,
    /// Memory \[bytes\].
    pub memory_bytes: u64,
    /// Memory that programs can have without swapping \[bytes\].
    pub available_bytes: u64,
}

/// Progress of the stepper of a secondary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkProgress {
    /// The last step that it has begun.
    pub step: Sequence,
    /// The last step that it has answered.
    pub answered: Sequence,
    /// The number of the last job that it has begun, 0 before the first.
    pub job: u64,
    /// The number of the last job that it has answered.
    pub answered_job: u64,
    /// The last step that it has replayed for that job.
    pub replayed: Sequence,
}

/// The answer to a step.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StepAck {
    /// The step answered.
    pub sequence: Sequence,
    /// The iteration that the cells are at now.
    pub iteration: Iteration,
    /// The cells that the secondary hosts but for those at rest, in order of their ids.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cells: Vec<CellAck>,
    /// The other cells that it hosts: nothing in them moved, their digests are those of the step
    /// before, and the step took no time in them.
    #[serde(default, skip_serializing_if = "CellRuns::is_empty")]
    pub at_rest: CellRuns,
    /// States of the performers of those cells that are others than after the step before, in cell
    /// order, then by id.
    #[serde(default, skip_serializing_if = "StateBlob::is_empty")]
    pub states: StateBlob,
    /// Poses of the links of the performers asked for, in cell order, then by id.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub poses: Vec<LinkPoses>,
    /// Whole states of the performers asked for, in cell order, then by id.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub transfers: Vec<Transfer>,
    /// Snapshots of the cells asked for, in order of their ids.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub snapshots: Vec<CellSnapshot>,
    /// Actions that could not be done, in order of their numbers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<ActionFailure>,
    /// Messages of systems on topics that systems subscribe to, in order of publishers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub messages: Vec<TopicMessage>,
    /// Messages of systems and sensors on topics that participants of lockstep listen to, in order
    /// of publishers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub for_participants: Vec<TopicMessage>,
    /// Requests of systems to the run, as clients make them, in order of publishers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requests: Vec<SystemRequest>,
    /// Number of messages that the [`DataBatch`](crate::topic_message::DataBatch) of this step has
    /// on the data socket; with 0 there is none.
    pub published: u32,
    /// Time that the step took \[ns\].
    pub busy_ns: u64,
    /// The answers to the quiet steps that were done besides, in order; these have none of theirs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ahead: Vec<StepAck>,
    /// True if sensors or systems have looked at ghosts in the step.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub looked_at_ghosts: bool,
    /// True if it goes on with the steps of the window: [`StepsAhead`] follow.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub goes_on: bool,
}

/// The answers to further steps of a window, in order; these have none of theirs ahead.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StepsAhead {
    /// The batch of the step that opened the window.
    pub batch_number: u64,
    /// The answers, at least one.
    pub acks: Vec<StepAck>,
    /// True if more of them follow.
    pub goes_on: bool,
}

impl StepAck {
    /// Returns all cells that it is about, in order of their ids.
    pub fn hosted(&self) -> impl Iterator<Item = CellId> {
        let mut moving = self.cells.iter().map(|ack| ack.cell).peekable();
        let mut at_rest = self.at_rest.iter().peekable();
        std::iter::from_fn(move || match (moving.peek(), at_rest.peek()) {
            (Some(one), Some(other)) if other < one => at_rest.next(),
            (Some(_), _) => moving.next(),
            (None, _) => at_rest.next(),
        })
    }

    /// Tells whether it is about a cell.
    pub fn is_about(&self, cell: CellId) -> bool {
        self.at_rest.contains(cell)
            || (self.cells.binary_search_by_key(&cell, |one| one.cell)).is_ok()
    }
}

/// The answer to a [`CatchUp`](crate::primary_to_secondary::CatchUp) job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CaughtUp {
    /// Number of the job.
    pub job: u64,
    /// The digests of the job's cells after each of its steps, and the answer to its last step;
    /// or why it could not be done.
    pub result: Result<(Vec<CellDigests>, StepAck), CatchUpError>,
}

/// Reason why a job could not be done, in the sender's words for people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(transparent)]
#[error("{reason}")]
pub struct CatchUpError {
    /// The words.
    pub reason: String,
}

impl From<String> for CatchUpError {
    fn from(reason: String) -> Self {
        Self { reason }
    }
}

/// Digests of cells after a step.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CellDigests {
    /// The step.
    pub sequence: Sequence,
    /// The cells with their digests, ascending.
    pub cells: Vec<(CellId, Digest)>,
}

/// Something that a system asks of the run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SystemRequest {
    /// System that asks.
    pub publisher: Publisher,
    /// Command that it requests.
    pub command: Command,
}

/// One cell after a step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CellAck {
    /// The cell.
    pub cell: CellId,
    /// Fingerprint of its performers' states.
    pub digest: Digest,
    /// Time that its physics took \[ns\].
    pub physics_ns: u64,
    /// Time that its systems took \[ns\].
    pub systems_ns: u64,
    /// Time that its sensors took \[ns\].
    pub sensors_ns: u64,
    /// Number of states of the blob that are its own.
    pub state_count: u32,
}

/// Everything of a performer that a hand-off carries, after a step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Transfer {
    /// The performer.
    pub performer: PerformerId,
    /// Its whole state, which only cells understand.
    #[serde(with = "serde_bytes")]
    pub state: Vec<u8>,
}

impl SecondaryToPrimary {
    /// Returns the topic that this message travels on.
    pub fn topic(&self) -> &'static str {
        match self {
            Self::Join(_) | Self::Leave(_) => topic::ANNOUNCE,
            Self::Loaded(_)
            | Self::Synced
            | Self::CellCheckpoint(_)
            | Self::SceneCheckpoint(_)
            | Self::CaughtUp(_)
            | Self::Diverged(_)
            | Self::RosMessages(_) => topic::SESSION,
            Self::Heartbeat(_) => topic::HEARTBEAT,
            Self::StepAck(_) => topic::STEP_ACK,
            Self::StepsAhead(_) => topic::STEPS_AHEAD,
        }
    }
}
