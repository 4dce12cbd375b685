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

/// What a client may ask.
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
    /// Asks for all figures of this moment.
    Snapshot,
    /// Asks for what stands still: boxes of levels and outlines of static models.
    Layout,
}
