//! [`Feed`]: news of a run, live or recorded, for whoever shows it.

use std::time::Duration;

use protocol::report::{History, Layout, Snapshot, TopicReport};
use protocol::{Command, FailureCode, Iteration, PrimaryToObservers, Role};

use crate::ended::RunEnded;
use crate::raster::Raster;
use crate::recorded::RecordingPlace;

/// Input from the run or the recording.
#[derive(Clone, Debug, PartialEq)]
pub enum Feed {
    /// Live, from the status socket.
    Status(PrimaryToObservers),
    /// Full state, at the start and after a reconnect.
    Snapshot(Box<Snapshot>),
    /// Events and statistics from before the view connected.
    History(Box<History>),
    /// Boxes of levels and static models, once.
    Layout(Box<Layout>),
    /// The topics of the worlds, by name.
    Topics(Vec<TopicReport>),
    /// The last message on the topic that the view is subscribed to.
    Message(Box<Heard>),
    /// The link to the primary is up.
    Connected,
    /// The link to the primary was lost.
    Disconnected,
    /// Reason why the primary does not let this view in, or the link failed otherwise.
    Denied(String),
    /// A process of the run printed a line.
    Log(LogLine),
    /// Processes of the run printed lines.
    Logs(Vec<LogLine>),
    /// The processes that were started for the run, and whether they are there.
    StartUp(StartUp),
    /// Another run answers where the first one did: nothing of that is true any more.
    StartedAnew,
    /// A command was answered.
    Reply {
        /// The command.
        command: Command,
        /// The iteration at which it had taken effect, or why it could not.
        result: Result<Iteration, CommandError>,
    },
    /// Position in the recording that is played.
    Recording(RecordingPlace),
    /// The recording has jumped back: later events and messages have not happened yet.
    Rewound,
    /// The run is over; the view shows its last screen.
    Ended(Box<RunEnded>),
}

/// Reason why a command had no effect, as far as is known.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CommandError {
    /// The primary refused it.
    #[error("{reason}")]
    Refused {
        /// Kind of the refusal.
        code: FailureCode,
        /// The primary's words.
        reason: String,
    },
    /// The link was lost before it was answered.
    #[error("{reason}")]
    Lost {
        /// Reason for the loss.
        reason: String,
    },
    /// There is no link to send it by.
    #[error("there is no link to the primary")]
    NoLink,
    /// The link has ended, and no other one follows.
    #[error("the link to the primary has ended")]
    LinkEnded,
    /// There is no room for it.
    #[error("earlier commands are not answered yet")]
    Busy,
    /// A recording takes no commands.
    #[error("this is a recording")]
    Recording,
}

/// A line that a process printed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogLine {
    /// The process's name, such as `s1`.
    pub process: String,
    /// The line.
    pub text: String,
}

/// The last of several messages on a topic.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Heard {
    /// The topic.
    pub topic: String,
    /// The kind of message.
    pub kind: String,
    /// Time when it was said, simulated \[s\].
    pub sim_time_s: f64,
    /// The iteration in which it was said.
    pub iteration: u64,
    /// Size of the message \[bytes\].
    pub bytes: usize,
    /// Message as text, of bounded length.
    pub text: String,
    /// The image in it, made small, if it is one.
    pub image: Option<Raster>,
    /// Number of messages that came since the one that was told before, with this one.
    pub count: u64,
}

/// The processes of a run, as who started them knows them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StartUp {
    /// The processes, the primary first.
    pub processes: Vec<StartedProcess>,
    /// Time since they were started.
    pub age: Duration,
}

/// A process that was started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StartedProcess {
    /// Its name.
    pub name: String,
    /// Its role.
    pub role: Role,
    /// Its process id.
    pub pid: u32,
    /// True if it still runs.
    pub is_running: bool,
}
