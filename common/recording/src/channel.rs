//! [`Channel`]: channels of a recording for the run itself.

/// A channel of the run itself; messages of the simulated worlds have channels of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Channel {
    /// Poses of the performers, frame by frame.
    Poses,
    /// Poses of links that move against their models, as seen from these, as they change.
    Links,
    /// Simulated time, frame by frame.
    Clock,
    /// The digest of every iteration.
    Digests,
    /// Hosts of the levels and performers, when these change and at the start of each chunk.
    Affinity,
    /// Events of the run.
    Events,
    /// Figures of the run, every second of real time.
    Stats,
    /// Commands of the run, when they were done.
    Commands,
    /// Changes of states by every iteration, bit for bit.
    States,
    /// Levels and static models, and the topics that there are.
    World,
    /// Models that came and left after the start, as they are.
    Models,
    /// The same as bodies that viewers draw.
    Scene,
    /// Messages of topics for which there is no channel any more.
    Overflow,
}

/// The key in a channel's metadata that says who writes on it.
pub const PUBLISHER_KEY: &str = "publisher";
/// Its value for the channels of the run itself.
pub const RUN_PUBLISHER: &str = "run";
/// Encoding of messages, unless a channel says otherwise.
pub const JSON: &str = "json";
/// Encoding of the schemas of such messages.
pub const JSON_SCHEMA: &str = "jsonschema";
/// Encoding of [`Channel::States`].
pub const STATES_ENCODING: &str = "phalanx.states";

impl Channel {
    /// All of them.
    pub const ALL: [Self; 13] = [
        Self::Poses,
        Self::Links,
        Self::Clock,
        Self::Digests,
        Self::Affinity,
        Self::Events,
        Self::Stats,
        Self::Commands,
        Self::States,
        Self::World,
        Self::Models,
        Self::Scene,
        Self::Overflow,
    ];

    /// Returns its name in the file.
    pub fn topic(self) -> &'static str {
        match self {
            Self::Poses => "/phalanx/poses",
            Self::Links => "/phalanx/links",
            Self::Clock => "/phalanx/clock",
            Self::Digests => "/phalanx/digests",
            Self::Affinity => "/phalanx/affinity",
            Self::Events => "/phalanx/events",
            Self::Stats => "/phalanx/stats",
            Self::Commands => "/phalanx/commands",
            Self::States => "/phalanx/states",
            Self::World => "/phalanx/world",
            Self::Models => "/phalanx/models",
            Self::Scene => "/phalanx/scene",
            Self::Overflow => "/phalanx/other_topics",
        }
    }

    /// Returns the name of its schema.
    pub fn schema_name(self) -> &'static str {
        match self {
            Self::Poses | Self::Links => "foxglove.FrameTransforms",
            Self::Clock => "phalanx.Clock",
            Self::Digests => "phalanx.Digest",
            Self::Affinity => "phalanx.Affinity",
            Self::Events => "foxglove.Log",
            Self::Stats => "phalanx.Stats",
            Self::Commands => "phalanx.ScheduledCommand",
            Self::States => "",
            Self::World => "phalanx.World",
            Self::Models => "phalanx.ModelChanges",
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
