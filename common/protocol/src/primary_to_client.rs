//! What the primary answers to a client, on `control`.

use serde::{Deserialize, Serialize};

use crate::id::{Iteration, RequestId};
use crate::report::{Clients, History, Layout, Snapshot, TopicReport};

/// The reply to a request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PrimaryToClient {
    /// The request answered.
    pub request: RequestId,
    /// What came of it.
    pub reply: Reply,
}

/// What came of a request.
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
        /// Why, for people.
        reason: String,
    },
    /// All figures of this moment.
    Snapshot(Box<Snapshot>),
    /// What was.
    History(Box<History>),
    /// What stands still.
    Layout(Box<Layout>),
    /// The topics of systems and sensors, by name.
    Topics(Vec<TopicReport>),
    /// Connections of clients and secondaries.
    Clients(Box<Clients>),
}
