//! Settings of a run, in sections.
//!
//! Values of the run as a whole lie in [`Settings`] itself, the others in the section of the
//! component that asks for them. Sections hold no rules; the driver fills them. Their defaults are
//! those of a run of one secondary that cannot be lost, without a journal.

use std::time::Duration;

use protocol::peer::Build;
use protocol::report::TopicReport;
use protocol::{PeerName, RendererKind, RosSettings, ScheduledCommand, SessionId, TraceWindow};

use crate::limits::RUN_AHEAD_DEFAULT;
use crate::pace::Pace;
use crate::partition::Rules;

/// Iterations from one checkpoint of all cells to the next, unless said otherwise.
pub const CHECKPOINT_EVERY: u64 = 1000;

/// Settings of a run.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The session, unique for each run.
    pub session: SessionId,
    /// The primary's own program; a secondary's must be equal.
    pub build: Build,
    /// Seed of all random numbers.
    pub seed: u64,
    /// Commands that are done at their iterations, ascending, as if clients had given them.
    pub schedule: Vec<ScheduledCommand>,
    /// Settings of time: how it passes, and how long.
    pub pace: PaceSettings,
    /// Settings of secondaries: how many take part, and how long they are waited for.
    pub peers: PeerSettings,
    /// Settings of what is done when a secondary is lost, or the primary itself.
    pub recovery: RecoverySettings,
    /// Settings of cells: how the worlds are divided into them, and how secondaries host them.
    pub cells: CellSettings,
    /// Settings of what the run tells the outside.
    pub outputs: OutputSettings,
    /// Settings of the programs that take part in lockstep.
    pub participants: ParticipantSettings,
}

/// Settings of how time passes, and for how long.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PaceSettings {
    /// After how many iterations the run is complete; `None` goes on until stopped.
    pub iterations: Option<u64>,
    /// Simulated over real time; 0 is as fast as possible.
    pub real_time_factor: f64,
    /// True if time is paused at first.
    pub start_paused: bool,
    /// Simulated time per iteration.
    pub step_size: Duration,
    /// Number of iterations that one message may bring at most; 1 has each in a message of its own.
    pub run_ahead_max: u32,
}

/// Settings of the secondaries that a run needs, and of how long they are waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeerSettings {
    /// Exactly how many secondaries take part; at least 1.
    pub secondaries: u32,
    /// Time between heartbeats.
    pub heartbeat_interval: Duration,
    /// Silence after which a peer counts as lost; `None` where peers cannot fall silent alone.
    pub heartbeat_timeout: Option<Duration>,
    /// Time to wait for all secondaries to be ready.
    pub peer_timeout: Duration,
    /// Time for which a step may go unacknowledged.
    pub step_timeout: Duration,
    /// Stages on the way to that.
    pub step_timeout_stages: StepTimeoutSettings,
}

/// Stages of the time-out of a step, before the peer is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepTimeoutSettings {
    /// A step that waits so long is reported, with who blocks it.
    pub warn_after: Duration,
    /// A step that waits so long has its blockers examined.
    pub diagnose_after: Duration,
    /// True if a peer whose process is stopped, as debuggers do, is waited for.
    pub wait_for_debugger: bool,
}

/// Settings of what is kept of the past, and of what is done with it after a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecoverySettings {
    /// Policy for a secondary that is lost.
    pub on_peer_loss: PeerLossPolicy,
    /// Number of secondaries that may join beyond those that the run needs.
    pub stand_bys: u32,
    /// Iterations from one checkpoint of all cells to the next; 0 makes none but those asked for.
    pub checkpoint_every: u64,
    /// True if checkpoints are kept on disk, so that the run can be resumed.
    pub is_journaled: bool,
}

/// Policy for a secondary that is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PeerLossPolicy {
    /// The run ends, for everyone and in order.
    Stop,
    /// Its cells are restored elsewhere and the run goes on.
    Recover,
}

/// Settings of how worlds are divided into cells, and of how secondaries host these.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CellSettings {
    /// Rules of the partition into cells.
    pub rules: Rules,
    /// True if cells move between secondaries for the sake of balance.
    pub balance: bool,
    /// Number of threads that step the cells of each secondary, at least 1.
    pub threads: u32,
    /// True if every step of every cell is done twice and compared.
    pub verify: bool,
    /// Device that draws what cameras see, in each secondary.
    pub renderer: RendererKind,
}

/// Settings of what the run tells the outside besides its figures.
#[derive(Clone, Debug, Default)]
pub struct OutputSettings {
    /// The topics of the worlds' systems and sensors.
    pub topics: Vec<TopicReport>,
    /// True if every topic is published, also those that nobody listens to.
    pub publish_all: bool,
    /// Frames per second of simulated time in which a recording has where links are, 0 is one per
    /// iteration; `None` without such a recording.
    pub link_record_hz: Option<f64>,
    /// The iterations of which secondaries say where their time went, if any.
    pub trace: Option<TraceWindow>,
    /// Settings of the nodes of secondaries in ROS 2, if the run has such.
    pub ros2: Option<RosSettings>,
}

/// Settings of the programs that take part in lockstep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParticipantSettings {
    /// Most programs that may take part.
    pub max: u32,
    /// Programs that must have joined before the first iteration, or before a resumed run goes on.
    pub awaited: Vec<PeerName>,
}

impl Settings {
    /// Makes those of a run about which nothing else is said.
    pub fn new(session: SessionId, build: Build) -> Self {
        Self {
            session,
            build,
            seed: 0,
            schedule: Vec::new(),
            pace: PaceSettings::default(),
            peers: PeerSettings::default(),
            recovery: RecoverySettings::default(),
            cells: CellSettings::default(),
            outputs: OutputSettings::default(),
            participants: ParticipantSettings::default(),
        }
    }
}

impl PaceSettings {
    /// Returns the pace that they ask for.
    pub(crate) fn to_pace(self) -> Pace {
        Pace::new(self.step_size, self.real_time_factor)
    }
}

impl Default for PaceSettings {
    fn default() -> Self {
        Self {
            iterations: None,
            real_time_factor: 1.0,
            start_paused: false,
            step_size: Duration::from_millis(1),
            run_ahead_max: RUN_AHEAD_DEFAULT,
        }
    }
}

impl Default for PeerSettings {
    fn default() -> Self {
        Self {
            secondaries: 1,
            heartbeat_interval: Duration::from_millis(100),
            heartbeat_timeout: None,
            peer_timeout: Duration::from_secs(30),
            step_timeout: Duration::from_secs(30),
            step_timeout_stages: StepTimeoutSettings::default(),
        }
    }
}

impl Default for RecoverySettings {
    fn default() -> Self {
        Self {
            on_peer_loss: PeerLossPolicy::Stop,
            stand_bys: 0,
            checkpoint_every: CHECKPOINT_EVERY,
            is_journaled: false,
        }
    }
}

impl Default for CellSettings {
    fn default() -> Self {
        Self {
            rules: Rules::default(),
            balance: true,
            threads: 1,
            verify: false,
            renderer: RendererKind::Cpu,
        }
    }
}

impl Default for ParticipantSettings {
    fn default() -> Self {
        Self {
            max: 4,
            awaited: Vec::new(),
        }
    }
}

impl Default for StepTimeoutSettings {
    fn default() -> Self {
        Self {
            warn_after: Duration::from_secs(1),
            diagnose_after: Duration::from_secs(5),
            wait_for_debugger: false,
        }
    }
}
