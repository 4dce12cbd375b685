//! Messages of the primary to its secondaries: on `step` to all, on `control` to one.

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::action::StampedAction;
use crate::digest::Digest;
use crate::exit::StopReason;
use crate::id::{CellId, Iteration, LevelId, PeerName, PerformerId, Sequence};
use crate::link_poses::LinkPoses;
use crate::renderer::RendererKind;
use crate::ros::RosSettings;
use crate::time::SimTime;
use crate::topic;
use crate::topic_message::{SubscriptionChange, TopicMessage};
use crate::trace::TraceWindow;

/// A message of the primary to secondaries.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum PrimaryToSecondary {
    /// You are in; this is everything there is to know. On `/session`.
    Welcome(Box<Welcome>),
    /// You are not in, and this is why. On `/session`.
    Refused(Refusal),
    /// Answer if you hear this on your subscription. On `/step`.
    Sync,
    /// A cell that a step to come gives to the receiver. On `/session`, before that step.
    CellSnapshot(CellSnapshot),
    /// Part of what was missed, or of what another secondary had done. On `/session`.
    CatchUp(Box<CatchUp>),
    /// Do one iteration. On `/step`, and again on `control` to a secondary that did not answer.
    Step(Arc<Step>),
    /// Your heartbeat arrived. On `/heartbeat`.
    HeartbeatEcho(HeartbeatEcho),
    /// The run ends. On `/step` and `/session`.
    Stop(StopReason),
    /// The run goes on without the receiver. On `/session`.
    Dismiss(StopReason),
}

/// Everything that a secondary needs; nothing is configured at the secondary itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Welcome {
    /// The worlds, as the primary read them, in the encoding of `sdf::encode_worlds`.
    #[serde(with = "serde_bytes")]
    pub worlds: Vec<u8>,
    /// Fingerprint of those bytes.
    pub world_digest: Digest,
    /// Simulated time per iteration \[ns\].
    pub step_size_ns: u64,
    /// Seed of all random numbers.
    pub seed: u64,
    /// Time between heartbeats.
    pub heartbeat_interval: Duration,
    /// Silence after which a peer counts as lost.
    pub heartbeat_timeout: Duration,
    /// Number of threads that step cells, at least 1.
    pub threads: u32,
    /// True if every step of every cell is done twice and compared.
    pub verify: bool,
    /// True if every topic is published, also those that nobody listens to.
    pub publish_all: bool,
    /// Frames per second of simulated time in which cells tell a recording where links are, 0 is
    /// one per iteration; `None` without a recording of them.
    #[serde(default)]
    pub link_record_hz: Option<f64>,
    /// The iterations of which it says where its time went, if any.
    #[serde(default)]
    pub trace: Option<TraceWindow>,
    /// Settings of its node in ROS 2, if the run has such.
    #[serde(default)]
    pub ros2: Option<RosSettings>,
    /// Device that draws what cameras see.
    #[serde(default)]
    pub renderer: RendererKind,
    /// True if the run has begun: then the first step is not for who is welcomed, also if it comes
    /// late and names another of the same name that is lost.
    pub has_begun: bool,
}

/// Reason why a process may not join.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// The reason, for people.
    pub reason: String,
}

/// One iteration and as many quiet ones after it as are granted, or with `paused` a round in which
/// time is paused.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each says one thing of a step, apart from the others"
)]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// The number of this step.
    pub sequence: Sequence,
    /// The number of the message that it was published with; a secondary that has done steps with
    /// an earlier one that this does not follow rolls those back.
    #[serde(default)]
    #[serde(rename = "grant")]
    pub batch_number: u64,
    /// Number of further steps that may be done speculatively, each as [`Step::quiet_after`]
    /// predicts.
    #[serde(default)]
    pub ahead: u32,
    /// Time after which the answers to some of these leave, before the others are done; without
    /// one, all come with the answer to the step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<Duration>,
    /// Time of work after which no more of these are begun, if that is before 128 ms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window_time: Option<Duration>,
    /// The iteration that the cells are at once the step is done.
    pub iteration: Iteration,
    /// Simulated time at the end of the iteration, as it is shown: it may be set back.
    pub sim_time: SimTime,
    /// Simulated time that has passed at the end of the iteration, since the start or the last time
    /// that models were reset: what systems, sensors and random numbers go by.
    pub elapsed: SimTime,
    /// Simulated time that physics advances \[ns\]; 0 when paused.
    pub step_size_ns: u64,
    /// True if time is paused.
    pub paused: bool,
    /// True if every cell is dropped first and all is as the worlds have it, with what was spawned
    /// gone and what was removed back.
    #[serde(rename = "anew")]
    pub reset: bool,
    /// Cells that come to a host, change it, or are given up, in order of their ids.
    pub affinities: Vec<AffinityChange>,
    /// Performers that change cell, in order of their ids.
    pub hand_offs: Vec<HandOff>,
    /// Levels that come or go in a cell, in cell order, then by level.
    pub level_changes: Vec<LevelChange>,
    /// Ghosts that come or go in a cell, in cell order, then by performer.
    pub ghost_changes: Vec<GhostChange>,
    /// Poses of the links of ghosts, in order of performers: of all, or where cells see by range of
    /// those that have moved.
    pub ghost_poses: Vec<LinkPoses>,
    /// Cells that stop for now or go on, in order of their ids.
    pub suspensions: Vec<Suspension>,
    /// Commands, in the order in which they are done: after all of the above and before physics.
    pub actions: Vec<StampedAction>,
    /// Messages that systems receive in this step, in order: those of clients since the last one,
    /// and those that systems published in it on topics that systems subscribe to.
    pub messages: Vec<TopicMessage>,
    /// Secondary that publishes for the systems of worlds, which every secondary runs.
    pub world_publisher: Option<PeerName>,
    /// Topics that observers begin or cease to listen to, by name.
    pub subscriptions: Vec<SubscriptionChange>,
    /// Topics that participants of lockstep listen to from now on, by name, in the place of those
    /// before; without it they are as they were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub participant_topics: Option<Vec<String>>,
    /// Data that the answer must hold besides the states.
    pub wanted: Wanted,
    /// True if every host sends its cells as they are after the step, once it has answered; the
    /// publisher of worlds sends the scene besides.
    pub checkpoint: bool,
    /// True if a resumed run does it once more: others have heard what is said in it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub repeats: bool,
}

impl Step {
    /// Returns the step that comes `count` steps after this one when time goes on and nothing else
    /// changes: ghosts stay where they are, and the same is wanted.
    #[must_use]
    pub fn quiet_after(&self, count: u32) -> Self {
        let passes = self.step_size_ns * u64::from(count);
        Self {
            sequence: Sequence(self.sequence.0 + u64::from(count)),
            batch_number: self.batch_number,
            iteration: Iteration(self.iteration.0 + u64::from(count)),
            sim_time: SimTime(self.sim_time.0 + passes),
            elapsed: SimTime(self.elapsed.0 + passes),
            step_size_ns: self.step_size_ns,
            world_publisher: self.world_publisher.clone(),
            wanted: self.wanted.clone(),
            ..Self::default()
        }
    }

    /// Tells whether it is the step that [`Step::quiet_after`] predicts one step after another,
    /// whatever its batch is, where ghosts are, and whose poses and whole states it asks for.
    pub fn is_quiet_after(&self, last: &Self) -> bool {
        let Self {
            sequence,
            batch_number: _,
            ahead,
            part,
            window_time,
            iteration,
            sim_time,
            elapsed,
            step_size_ns,
            paused,
            reset,
            affinities,
            hand_offs,
            level_changes,
            ghost_changes,
            ghost_poses: _,
            suspensions,
            actions,
            messages,
            world_publisher,
            subscriptions,
            participant_topics,
            wanted,
            checkpoint,
            repeats,
        } = self;
        let passes = last.step_size_ns;
        let is_next = *sequence == last.sequence.next()
            && iteration.0 == last.iteration.0 + 1
            && sim_time.0 == last.sim_time.0 + passes
            && elapsed.0 == last.elapsed.0 + passes
            && *step_size_ns == passes
            && *world_publisher == last.world_publisher
            && wanted.snapshots == last.wanted.snapshots;
        let is_marked = *paused || *reset || *checkpoint || *repeats;
        let is_batch = *ahead > 0 || part.is_some() || window_time.is_some();
        let brings_nothing = affinities.is_empty()
            && hand_offs.is_empty()
            && level_changes.is_empty()
            && ghost_changes.is_empty()
            && suspensions.is_empty()
            && actions.is_empty()
            && messages.is_empty()
            && subscriptions.is_empty()
            && participant_topics.is_none();
        is_next && !is_marked && !is_batch && brings_nothing
    }
}

/// A cell gets a host, changes it, or is given up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AffinityChange {
    /// The cell.
    pub cell: CellId,
    /// The secondary that hosts it from this step on; `None` gives it up.
    pub secondary: Option<PeerName>,
    /// Source from which the new host makes it.
    pub source: CellSource,
}

/// Source of a cell at a new host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CellSource {
    /// The world at the start: global models and the performers whose home it is.
    Start,
    /// Global models alone.
    Empty,
    /// The [`CellSnapshot`] of the step before.
    Snapshot,
}

/// A performer changes cell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HandOff {
    /// The performer.
    pub performer: PerformerId,
    /// The cell that it leaves.
    pub from: CellId,
    /// The cell that it enters.
    pub to: CellId,
    /// Its whole state after the iteration before, as its former owner gave it.
    #[serde(with = "serde_bytes")]
    pub state: Vec<u8>,
}

/// A level's static models come into a cell or leave it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct LevelChange {
    /// The cell.
    pub cell: CellId,
    /// The level.
    pub level: LevelId,
    /// True if its models come (`true`) or leave.
    pub loaded: bool,
}

/// A read-only copy of a performer comes into a cell or leaves it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct GhostChange {
    /// The cell.
    pub cell: CellId,
    /// The performer, which another cell owns.
    pub performer: PerformerId,
    /// True if it comes (`true`) or leaves.
    pub present: bool,
}

/// A cell stops for now, with everything in it, or goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Suspension {
    /// The cell.
    pub cell: CellId,
    /// True if it stops (`true`) or goes on.
    pub suspended: bool,
}

/// Data that a step asks for besides the states; each in ascending order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wanted {
    /// Performers whose links' poses are wanted, for ghosts.
    pub poses: Vec<PerformerId>,
    /// Performers whose whole state is wanted, since they may change cell next.
    pub states: Vec<PerformerId>,
    /// Cells of which a snapshot is wanted, since they change host next.
    pub snapshots: Vec<CellId>,
}

/// A cell as bytes, from which it goes on bit for bit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CellSnapshot {
    /// In an ack, the step after which it was taken; to a secondary, the step that needs it.
    pub sequence: Sequence,
    /// The cell.
    pub cell: CellId,
    /// All that is in it; empty when it is too large to travel.
    #[serde(with = "serde_bytes")]
    pub bytes: Vec<u8>,
}

/// Data that all hosts have in common beside the worlds of the start, as bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SceneSnapshot {
    /// The step after which it was taken.
    pub sequence: Sequence,
    /// All that is in it; only hosts understand it.
    #[serde(with = "serde_bytes")]
    pub bytes: Vec<u8>,
}

/// One part of a job: do again what was done in some cells since they were last saved, and have
/// them ready for the step after. The parts of a job are numbered and may come twice.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CatchUp {
    /// Number of the job; later ones have greater numbers and replace earlier ones.
    pub job: u64,
    /// Number of the part, from 0.
    pub part: u32,
    /// Content of the part.
    pub content: CatchUpContent,
}

/// Content of a part of a job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum CatchUpContent {
    /// The first part.
    Begin {
        /// Number of parts, with this one.
        parts: u32,
        /// The step after which the scene and the cells were saved; 0 is before the first.
        from: Sequence,
        /// The last step that is done again.
        until: Sequence,
        /// The scene after step `from`; `None` when that is 0.
        scene: Option<SceneSnapshot>,
        /// The cells that are done again, ascending: those that come as they were after step `from`
        /// and those that the steps open.
        cells: Vec<CellId>,
        /// True if the answer to the last step is wanted in full, as its host would have given it,
        /// and says what systems of worlds say.
        speaks: bool,
        /// Data of a lost secondary that goes onto the data socket once more.
        again: Option<DataAgain>,
        /// True if the receiver, which took no part so far, does so from the step after `until` on.
        joins: bool,
        /// True if its peer takes no part in steps yet, so that the job brings its own host up to
        /// date. A host that takes part, be it that its first step is still to come, replays on
        /// another one.
        becomes_host: bool,
    },
    /// A cell as it was after step `from`.
    Cell(CellSnapshot),
    /// Steps that follow each other, after those of earlier parts.
    Steps(Vec<Step>),
}

/// Topic data to republish, since a lost secondary may not have delivered it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DataAgain {
    /// Secondary that is lost.
    pub of: PeerName,
    /// The last step of which all is there: it is about those after.
    pub after: Sequence,
    /// The last step that it has answered, of which it was to publish everything in ROS 2.
    #[serde(default)]
    pub published: Sequence,
    /// The last step before it got its cells, of which another one has published all.
    #[serde(default)]
    pub hosted_after: Sequence,
    /// True if it is also about what systems of worlds said, where the lost one spoke for them.
    pub of_worlds: bool,
}

/// The answer to a heartbeat.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeartbeatEcho {
    /// The heartbeat's count.
    pub count: u64,
    /// The heartbeat's own time stamp \[us since 1970\].
    pub sent_at_us: u64,
    /// The primary's wall clock when it answered \[us since 1970\].
    pub answered_at_us: u64,
}

impl PrimaryToSecondary {
    /// Returns the topic that this message travels on.
    pub fn topic(&self) -> &'static str {
        match self {
            Self::Welcome(_)
            | Self::Refused(_)
            | Self::CellSnapshot(_)
            | Self::CatchUp(_)
            | Self::Stop(_)
            | Self::Dismiss(_) => topic::SESSION,
            Self::Sync | Self::Step(_) => topic::STEP,
            Self::HeartbeatEcho(_) => topic::HEARTBEAT,
        }
    }
}
