//! Replies of the primary to a client, on `control`.

use serde::{Deserialize, Serialize};

use crate::failure_code::FailureCode;
use crate::id::{Iteration, RequestId};
use crate::participant::Barrier;
use crate::report::{
    Clients, History, Layout, ParticipantReport, ScenePart, Snapshot, TopicReport,
};

/// The reply to a request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PrimaryToClient {
    /// The request answered.
    pub request: RequestId,
    /// Result of the request.
    pub reply: Reply,
}

/// Result of a request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Reply {
    /// It has taken effect.
    Done {
        /// The iteration that the simulation is at.
        iteration: Iteration,
        /// The name that a spawned model got.
        name: Option<String>,
        /// Warnings of a spawned model: parts that are ignored or missing, for people.
        #[serde(default)]
        warnings: Vec<String>,
    },
    /// It could not take effect and changed nothing.
    Failed {
        /// Kind of the reason, for programs.
        #[serde(default)]
        code: FailureCode,
        /// Reason, for people.
        reason: String,
    },
    /// All figures of this moment.
    Snapshot(Box<Snapshot>),
    /// Events and samples of the past.
    History(Box<History>),
    /// Levels and models that do not move.
    Layout(Box<Layout>),
    /// The topics of systems and sensors, by name.
    Topics(Vec<TopicReport>),
    /// Connections of clients and secondaries.
    Clients(Box<Clients>),
    /// Data of a barrier that a participant holds until it answers.
    Barrier(Box<Barrier>),
    /// Programs that take part in lockstep, by name.
    Participants(Vec<ParticipantReport>),
    /// A part of a scene, or of an asset of it.
    Scene(Box<ScenePart>),
}
