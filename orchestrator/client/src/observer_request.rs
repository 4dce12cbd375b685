//! [`ObserverRequest`]: requests of a view to its link to the run.

use protocol::Command;

use crate::recorded::ReplayRequest;

/// A request of the view to its link to the run.
#[derive(Clone, Debug, PartialEq)]
pub enum ObserverRequest {
    /// Send this to the primary.
    Send(Command),
    /// Subscribe to this topic of the simulated worlds instead of any other; `None` unsubscribes.
    Listen(Option<String>),
    /// Send a command that steers a robot, and one that stops it when the link or the view ends.
    Drive(Twisting),
    /// Change the playback of a recording.
    Replay(ReplayRequest),
}

/// The current steering command, and the command that would stop the robot.
#[derive(Clone, Debug, PartialEq)]
pub struct Twisting {
    /// Current steering command.
    pub command: Command,
    /// Command that stops the robot; `None` if it stands already.
    pub halt: Option<Command>,
}
