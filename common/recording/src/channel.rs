//! [`Channel`]: what a recording holds of the run itself.

/// A channel of the run itself; what the simulated worlds say has channels of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Channel {
    /// Where the performers are, frame by frame.
    Poses,
    /// Simulated time, frame by frame.
    Clock,
    /// The digest of every iteration.
    Digests,
    /// Who hosts what, when that changes and at the start of each chunk.
    Affinity,
    /// What happened.
    Events,
    /// Figures of the run, every second of real time.
    Stats,
    /// What was asked of the run, when it was done.
    Commands,
    /// What every iteration changed, bit for bit.
    States,
    /// What stands still, and which topics there are.
    World,
    /// The same as bodies that viewers draw.
    Scene,
    /// Messages of topics for which there is no channel any more.
    Overflow,
}

/// The key in a channel's metadata that says who writes on it.
pub const PUBLISHER_KEY: &str = "publisher";
/// Its value for the channels of the run itself.
pub const RUN_PUBLISHER: &str = "run";
/// How messages are encoded, unless a channel says otherwise.
pub const JSON: &str = "json";
/// How the schemas of such messages are.
pub const JSON_SCHEMA: &str = "jsonschema";
/// How [`Channel::States`] is encoded.
pub const STATES_ENCODING: &str = "phalanx.states";

impl Channel {
    /// All of them.
    pub const ALL: [Self; 11] = [
        Self::Poses,
        Self::Clock,
        Self::Digests,
        Self::Affinity,
        Self::Events,
        Self::Stats,
        Self::Commands,
        Self::States,
        Self::World,
        Self::Scene,
        Self::Overflow,
    ];

    /// Returns its name in the file.
    pub fn topic(self) -> &'static str {
        match self {
            Self::Poses => "/phalanx/poses",
            Self::Clock => "/phalanx/clock",
            Self::Digests => "/phalanx/digests",
            Self::Affinity => "/phalanx/affinity",
            Self::Events => "/phalanx/events",
            Self::Stats => "/phalanx/stats",
            Self::Commands => "/phalanx/commands",
            Self::States => "/phalanx/states",
            Self::World => "/phalanx/world",
            Self::Scene => "/phalanx/scene",
            Self::Overflow => "/phalanx/other_topics",
        }
    }

    /// Returns the name of its schema.
    pub fn schema_name(self) -> &'static str {
        match self {
            Self::Poses => "foxglove.FrameTransforms",
            Self::Clock => "phalanx.Clock",
            Self::Digests => "phalanx.Digest",
            Self::Affinity => "phalanx.Affinity",
            Self::Events => "foxglove.Log",
            Self::Stats => "phalanx.Stats",
            Self::Commands => "phalanx.ScheduledCommand",
            Self::States => "",
            Self::World => "phalanx.World",
            Self::Scene => "foxglove.SceneUpdate",
            Self::Overflow => "phalanx.TopicMessage",
        }
    }

    /// Returns how its messages are encoded.
    pub fn encoding(self) -> &'static str {
        match self {
            Self::States => STATES_ENCODING,
            _ => JSON,
        }
    }

    /// Finds the channel of a name.
    pub fn find(topic: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.topic() == topic)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_channel_is_found_by_its_name() {
        for channel in Channel::ALL {
            assert_eq!(Channel::find(channel.topic()), Some(channel));
        }
        assert_eq!(Channel::find("/phalanx"), None);
    }
}
