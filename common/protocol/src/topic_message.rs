//! Messages of the simulated world: what systems, sensors and clients say on topics.
//!
//! The message itself is a `MessagePack` map with the fields of the `gz.msgs` message of its kind;
//! nothing here looks into it.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::id::{Iteration, ModelId, PeerName, Sequence};
use crate::time::SimTime;

/// A message on a topic.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TopicMessage {
    /// The topic: `/model/robot/cmd_vel`.
    pub topic: String,
    /// Kind of the message: `gz.msgs.Twist`.
    pub kind: String,
    /// Publisher of the message.
    pub publisher: Publisher,
    /// The iteration after which it was said.
    pub iteration: Iteration,
    /// Simulated time then.
    pub sim_time: SimTime,
    /// The message.
    #[serde(with = "serde_bytes")]
    pub body: Vec<u8>,
}

/// Source of a message on a topic. The order of publishers is the order in which messages of one
/// iteration are received; messages of one publisher keep their own order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Publisher {
    /// Clients, in the order in which the primary heard them.
    Client,
    /// A system of a world.
    World {
        /// The index of the world.
        world: u32,
        /// Its place among the world's systems.
        part: u32,
    },
    /// A system or sensor of a model.
    Model {
        /// The model.
        model: ModelId,
        /// Its place among the model's systems and sensors.
        part: u32,
    },
}

impl fmt::Display for Publisher {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Client => write!(formatter, "client"),
            Self::World { world, part } => write!(formatter, "world:{world}:{part}"),
            Self::Model { model, part } => {
                write!(formatter, "model:{}:{}:{part}", model.world, model.model)
            }
        }
    }
}

/// Messages that the cells of one secondary published in one step, in order of publishers. On the
/// data socket.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DataBatch {
    /// The step.
    pub sequence: Sequence,
    /// Grant of the step; others with its number were rolled back.
    #[serde(default)]
    #[serde(rename = "grant")]
    pub batch_number: u64,
    /// The iteration that it led to.
    pub iteration: Iteration,
    /// Secondary whose cells published it when the step was done first; `None` is the sender.
    pub instead_of: Option<PeerName>,
    /// Messages that were published.
    pub messages: Vec<TopicMessage>,
}

/// A topic that someone begins or ceases to listen to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubscriptionChange {
    /// The topic.
    pub topic: String,
    /// True if anyone listens from now on.
    pub wanted: bool,
}
