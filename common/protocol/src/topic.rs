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

/// Returns the topic that only the secondary at this routing id listens to, by which the primary
/// sees when that secondary's subscription comes and goes.
pub fn step_presence(routing_id: &[u8]) -> Vec<u8> {
    let mut topic = b"/presence/".to_vec();
    topic.extend_from_slice(routing_id);
    topic
}

/// Returns the routing id of a topic made by [`step_presence`].
pub fn presence_routing_id(topic: &[u8]) -> Option<&[u8]> {
    topic.strip_prefix(b"/presence/")
}
