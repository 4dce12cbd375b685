//! [`Subscription`]: topics that a peer listens to besides the primary's answers on `control`.

use protocol::{RoutingId, topic};

/// Topics that a peer listens to besides the primary's answers on `control`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subscription<'a> {
    /// A secondary: what the primary publishes on `step`; it may also send to `data`.
    Steps,
    /// An observer: what begins with one of these on `status`.
    Status(&'a [&'a str]),
    /// A thread that sends heartbeats: what begins with one of these on `beats`.
    Beats(&'a [&'a str]),
    /// A client that asks and leaves.
    None,
}

/// Returns the topics of a secondary; the last one tells the primary that the others are in force.
pub(crate) fn step_topics(routing_id: &RoutingId) -> [Vec<u8>; 3] {
    [
        topic::SESSION.as_bytes().to_vec(),
        topic::STEP.as_bytes().to_vec(),
        topic::step_presence(&routing_id.0),
    ]
}

/// Returns the topics of a relay; the last one tells the primary that the others are in force.
pub(crate) fn relay_topics(routing_id: &RoutingId) -> [Vec<u8>; 3] {
    [
        topic::SESSION.as_bytes().to_vec(),
        topic::STEP.as_bytes().to_vec(),
        topic::relay_presence(&routing_id.0),
    ]
}
