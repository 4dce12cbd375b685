//! Names of the topics: the first frame of every message.

use crate::plain_text::is_harmful;

/// Joining, leaving and being lost; secondary to primary and primary to observers.
pub const ANNOUNCE: &str = "/announce";
/// Signs of life; on `control` from secondaries, on `status` from the primary for all peers.
pub const HEARTBEAT: &str = "/heartbeat";
/// Handshake and shutdown, on `control` in both directions.
pub const SESSION: &str = "/session";
/// One iteration, primary to secondaries.
pub const STEP: &str = "/step";
/// The answer to `/step`.
pub const STEP_ACK: &str = "/step_ack";
/// Answers to further steps of the window that `/step` opened.
pub const STEPS_AHEAD: &str = "/steps_ahead";
/// Messages of systems and sensors in a step; secondary to primary, on `data`.
pub const DATA: &str = "/data";
/// Times of the parts of a step, if the run is traced; secondary to primary, on `data`.
pub const TRACE: &str = "/trace";
/// Poses of links, while anyone observes [`crate::link_frame::TOPIC`]; secondary to primary, on
/// `data`.
pub const LINKS: &str = "/links";
/// Clients' requests and the primary's replies.
pub const REQUEST: &str = "/request";
/// Messages of several secondaries at once, between a relay and its primary, on `control`.
pub const RELAY: &str = "/relay";
/// Figures of the run, to observers.
pub const STATS: &str = "/stats";
/// Simulated time, to observers.
pub const CLOCK: &str = "/clock";
/// Secondaries that host the levels, to observers.
pub const AFFINITY: &str = "/affinity";
/// Poses of the performers, to observers.
pub const POSE: &str = "/pose";
/// Events, to observers.
pub const EVENTS: &str = "/events";

/// Prefix of the topics by which secondaries show their presence. A subscriber that connects sends
/// its topics in the order of their bytes: this one sorts behind [`SESSION`] and [`STEP`], so a
/// secondary that is present is subscribed to those.
const STEP_PRESENCE: &[u8] = b"/step_presence/";

/// Returns the topic that only the secondary at this routing id listens to, by which the primary
/// sees when that secondary's subscription comes and goes.
pub fn step_presence(routing_id: &[u8]) -> Vec<u8> {
    let mut topic = STEP_PRESENCE.to_vec();
    topic.extend_from_slice(routing_id);
    topic
}

/// Returns the routing id of a topic made by [`step_presence`].
pub fn presence_routing_id(topic: &[u8]) -> Option<&[u8]> {
    topic.strip_prefix(STEP_PRESENCE)
}

/// Prefix of the topics by which relays show their presence; it sorts as [`STEP_PRESENCE`] does.
const RELAY_PRESENCE: &[u8] = b"/step_relay/";

/// Returns the topic that only the relay at this routing id listens to.
pub fn relay_presence(routing_id: &[u8]) -> Vec<u8> {
    [RELAY_PRESENCE, routing_id].concat()
}

/// Returns the routing id of a topic made by [`relay_presence`].
pub fn relay_routing_id(topic: &[u8]) -> Option<&[u8]> {
    topic.strip_prefix(RELAY_PRESENCE)
}

/// The longest name of a topic of the simulated world \[bytes\].
pub const NAME_BYTES_MAX: usize = 1024;

/// Prefix of the frames of the simulated world's topics on `status`. A subscription to this alone
/// receives all of them.
pub const EVERY_MESSAGE: &str = "@";

/// End of a name in a frame, so that a subscription to `/a` does not receive `/ab`.
const NAME_END: char = '\0';

/// Returns the frame under which messages on a topic of the simulated world travel on `status`;
/// the payload is an envelope of a [`TopicMessage`](crate::topic_message::TopicMessage).
pub fn of_message(name: &str) -> String {
    format!("{EVERY_MESSAGE}{name}{NAME_END}")
}

/// Returns the topic of a frame made by [`of_message`].
pub fn message_name(frame: &[u8]) -> Option<&str> {
    let frame = std::str::from_utf8(frame).ok()?;
    let name = frame.strip_prefix(EVERY_MESSAGE)?.strip_suffix(NAME_END)?;
    is_message_name(name).then_some(name)
}

/// Tells whether a topic of the simulated world may be named so.
pub fn is_message_name(name: &str) -> bool {
    let fits = (1..=NAME_BYTES_MAX).contains(&name.len());
    fits && !name.chars().any(|c| is_harmful(c) || c.is_whitespace())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subscription_to_a_topic_hears_that_topic_alone() {
        let frame = of_message("/a");
        assert!(!of_message("/ab").starts_with(&frame));
        assert!(frame.starts_with(EVERY_MESSAGE));
        assert_eq!(message_name(frame.as_bytes()), Some("/a"));
    }

    #[test]
    fn invalid_topic_names_are_refused() {
        for frame in ["@\0", "@/a", "/a\0", "@/a\0b\0", "@/a b\0", "@"] {
            assert_eq!(message_name(frame.as_bytes()), None, "{frame:?}");
        }
        assert_eq!(message_name(b"@\xff\0"), None);
        assert!(is_message_name(&"x".repeat(NAME_BYTES_MAX)));
        assert!(!is_message_name(&"x".repeat(NAME_BYTES_MAX + 1)));
    }

    #[test]
    fn presence_is_told_after_the_topics_that_it_stands_for() {
        let presence = step_presence(b"s1");
        assert!(presence.as_slice() > STEP.as_bytes());
        assert!(presence.as_slice() > SESSION.as_bytes());
        assert_eq!(presence_routing_id(&presence), Some(b"s1".as_slice()));
        assert_eq!(presence_routing_id(STEP.as_bytes()), None);
        let relay = relay_presence(b"r1");
        assert!(relay.as_slice() > STEP.as_bytes() && relay.as_slice() > SESSION.as_bytes());
        assert_eq!(relay_routing_id(&relay), Some(b"r1".as_slice()));
        assert_eq!(relay_routing_id(&presence), None);
        assert_eq!(presence_routing_id(&relay), None);
    }
}
