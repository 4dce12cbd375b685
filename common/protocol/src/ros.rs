//! Part of a run in ROS 2: settings for the secondaries, and messages that nodes publish.
//!
//! Secondaries alone meet nodes; what nodes publish is no more than a request until the primary
//! has stamped it with the iteration at which it applies.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Settings of a run's nodes in ROS 2, one per secondary.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RosSettings {
    /// Number of the domain, as in `ROS_DOMAIN_ID`.
    pub domain: u16,
    /// True if nodes of other machines are not met, as with `ROS_LOCALHOST_ONLY`.
    pub localhost_only: bool,
    /// Rules by which topics are those of ROS 2, as JSON that only nodes read.
    pub rules: String,
    /// Quality of images that are compressed as JPEG, from 1 to 100.
    pub jpeg_quality: u8,
    /// Readers that are waited for before the run begins, if any are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub awaited: Option<AwaitedReaders>,
}

/// Readers of other processes without which a run does not begin.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AwaitedReaders {
    /// Topics that must have one, by their names in ROS 2; one of all topics if there are none.
    pub topics: Vec<String>,
    /// Time for which they are waited for.
    pub timeout: Duration,
}

impl fmt::Display for AwaitedReaders {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.topics.is_empty() {
            formatter.write_str("any topic")
        } else {
            formatter.write_str(&self.topics.join(" and "))
        }
    }
}

/// A message that a node has published.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RosMessage {
    /// Global number of the writer.
    pub writer: [u8; 16],
    /// Number of the message among those of its writer, which grows.
    pub number: i64,
    /// The topic, by its name in the run.
    pub topic: String,
    /// Kind of the message: `gz.msgs.Twist`.
    pub kind: String,
    /// The message.
    #[serde(with = "serde_bytes")]
    pub body: Vec<u8>,
}
