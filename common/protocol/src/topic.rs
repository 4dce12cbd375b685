//! Names of the topics: the first frame of every message.

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
/// Clients' requests and the primary's replies.
pub const REQUEST: &str = "/request";
/// Figures of the run, to observers.
pub const STATS: &str = "/stats";
/// Simulated time, to observers.
pub const CLOCK: &str = "/clock";
/// Which secondary hosts which level, to observers.
pub const AFFINITY: &str = "/affinity";
/// Where the performers are, to observers.
pub const POSE: &str = "/pose";
/// What happened, to observers.
pub const EVENTS: &str = "/events";

/// How topics by which secondaries show their presence begin. A subscriber that connects tells its
/// topics in the order of their bytes: this one sorts behind [`SESSION`] and [`STEP`], so whoever
/// is present is subscribed to those.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn presence_is_told_after_the_topics_that_it_stands_for() {
        let presence = step_presence(b"s1");
        assert!(presence.as_slice() > STEP.as_bytes());
        assert!(presence.as_slice() > SESSION.as_bytes());
        assert_eq!(presence_routing_id(&presence), Some(b"s1".as_slice()));
        assert_eq!(presence_routing_id(STEP.as_bytes()), None);
    }
}
