//! What clients (the view, scripts) ask of the primary, on `control`.

use serde::{Deserialize, Serialize};

use crate::id::{PeerName, RequestId};

/// A request; the reply carries the same id.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClientToPrimary {
    /// The client's own number for this request.
    pub request: RequestId,
    /// What is asked.
    pub command: Command,
}

/// What a client may ask. What changes the run must name its session; what only asks may leave the
/// session unknown.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
    /// Gives the cell of a level to another secondary; done when that one hosts it.
    MoveCell {
        /// The level's name as reports have it; a default cell is named `default`, with several
        /// worlds `world::default`.
        level: String,
        /// The secondary that is to host it.
        peer: PeerName,
    },
    /// Makes a model keep levels active from the next step on, as a declared performer does.
    SetPerformer {
        /// The model's name as reports have it.
        model: String,
        /// Edge lengths of the box around its origin with which it touches levels \[m\]; without
        /// it, the model keeps the box that it has.
        size: Option<[f64; 3]>,
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
    pub fn only_asks(&self) -> bool {
        match self {
            Self::Ping | Self::Snapshot | Self::Layout => true,
            Self::Play
            | Self::Pause
            | Self::Step { .. }
            | Self::MoveCell { .. }
            | Self::SetPerformer { .. }
            | Self::Stop
            | Self::Interrupt => false,
        }
    }
}
