//! [`Link`]: one process's end of the connection between a primary and its peers.
//!
//! A link has one owning thread. It moves bytes and says who came and went; it never looks into a
//! message. Two kinds exist: [`crate::zeromq`] between processes and [`crate::memory`] within one.

use std::time::Duration;

use protocol::RoutingId;

/// Where a message goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Destination<'a> {
    /// From a primary: all secondaries, by `step` PUB.
    EverySecondary,
    /// From a primary: one peer, by `control` ROUTER.
    Peer(&'a RoutingId),
    /// From a secondary or a client: the primary, by `control` DEALER.
    Primary,
    /// From a secondary: whoever owns the primary's [`Publisher`], by `data` PUSH.
    Data,
}

/// What arrives at a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// A message.
    Message {
        /// At a primary, the peer's routing id; elsewhere `None`, it can only be the primary.
        from: Option<RoutingId>,
        /// The topic frame.
        topic: Vec<u8>,
        /// The message itself.
        payload: Vec<u8>,
    },
    /// At a primary: this secondary's subscription to `step` is in force.
    Subscribed(RoutingId),
    /// At a primary: this secondary's subscription is gone, and so is its connection.
    Unsubscribed(RoutingId),
    /// At a secondary or client: a connection to the primary is up.
    Connected,
    /// At a secondary or client: a connection to the primary was lost; it is tried again.
    Disconnected,
    /// Another thread called [`Waker::wake`].
    Woken,
}

/// Why a message could not be sent, or nothing more can arrive.
#[derive(Debug, thiserror::Error)]
pub enum LinkError {
    /// The peer has no connection.
    #[error("no connection to peer {0}")]
    Unreachable(RoutingId),
    /// The destination does not exist at this end of a link.
    #[error("this end of the link has no such destination")]
    NoSuchDestination,
    /// The peer reads so slowly that its queue is full.
    #[error("queue to peer is full")]
    Full,
    /// The transport itself failed.
    #[error("transport failed")]
    Transport(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// Wakes the thread that waits in [`Link::receive`], from any other thread.
pub trait Waker: Send + Sync {
    /// Makes the link return [`Arrival::Woken`]; several calls may make one arrival.
    fn wake(&self);
}

/// What arrives at a [`Publisher`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// What a secondary sent to [`Destination::Data`].
    Data {
        /// The topic frame.
        topic: Vec<u8>,
        /// The message itself.
        payload: Vec<u8>,
    },
    /// Somebody listens to topics on `status` that begin so, and nobody did before.
    Subscribed(Vec<u8>),
    /// Nobody listens to topics that begin so any more, be it that the last one is gone.
    Unsubscribed(Vec<u8>),
    /// Another thread called [`Waker::wake`].
    Woken,
}

/// The primary's ends of `status` and `data`, apart from its [`Link`] so that another thread can
/// own them.
pub trait Publisher: Send {
    /// Sends one message to all who listen to its topic; who listens too slowly loses it.
    ///
    /// # Errors
    /// When the transport itself failed.
    fn publish(&mut self, topic: &str, payload: &[u8]) -> Result<(), LinkError>;

    /// Waits for what comes next, at most so long; `None` when the time is up.
    ///
    /// # Errors
    /// When nothing can arrive any more.
    fn receive(&mut self, timeout: Option<Duration>) -> Result<Option<Notice>, LinkError>;

    /// Returns a handle that wakes this publisher.
    fn waker(&self) -> std::sync::Arc<dyn Waker>;
}

/// One process's end of the connection.
pub trait Link {
    /// Sends one message with its topic.
    ///
    /// # Errors
    /// When the destination cannot be reached; the message is then lost.
    fn send(&mut self, to: Destination<'_>, topic: &str, payload: &[u8]) -> Result<(), LinkError>;

    /// Waits for the next arrival, at most so long; `None` when the time is up.
    /// `Duration::ZERO` looks without waiting; waits shorter than 1 ms are kept to.
    ///
    /// # Errors
    /// When nothing can arrive any more.
    fn receive(&mut self, timeout: Option<Duration>) -> Result<Option<Arrival>, LinkError>;

    /// Returns a handle that wakes this link.
    fn waker(&self) -> std::sync::Arc<dyn Waker>;
}
