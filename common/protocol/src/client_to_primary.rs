//! What clients (the view, scripts) ask of the primary, on `control`.

use serde::{Deserialize, Serialize};

use crate::id::RequestId;

/// A request; the reply carries the same id.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientToPrimary {
    /// The client's own number for this request.
    pub request: RequestId,
    /// What is asked.
    pub command: Command,
}

/// What a client may ask. What changes the run must name its session; what only asks may leave the
/// session unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Command {
    /// Lets time run; done when the next iteration may begin.
    Play,
    /// Stops time; done when every secondary has acknowledged a paused step.
    Pause,
    /// Advances a paused simulation; done when all the iterations are done.
    Step {
        /// How many iterations.
        count: u64,
    },
    /// Ends the run in order; done when it is under way.
    Stop,
    /// Ends the run as a signal would, with the outcome "interrupted".
    Interrupt,
    /// Asks for a reply, whose envelope tells the session that later commands must name.
    Ping,
    /// Asks for all figures of this moment.
    Snapshot,
    /// Asks for what stands still: boxes of levels and outlines of static models.
    Layout,
}

impl Command {
    /// Tells whether this only asks and changes nothing.
    pub fn only_asks(self) -> bool {
        match self {
            Self::Ping | Self::Snapshot | Self::Layout => true,
            Self::Play | Self::Pause | Self::Step { .. } | Self::Stop | Self::Interrupt => false,
        }
    }
}
