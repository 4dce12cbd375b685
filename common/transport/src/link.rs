//! [`Link`]: one process's end of the connection between a primary and its peers.
//!
//! A link has one owning thread. It moves bytes and says who came and went; it never looks into a
//! message. Two kinds exist: [`crate::zeromq`] between processes and [`crate::memory`] within one.

use std::time::Duration;

use bytes::Bytes;
use protocol::report::Clients;
use protocol::{Access, RoutingId};

use crate::refusals::Refusals;

/// Destination of a message.
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

/// Message or change of a connection that arrives at a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// A message.
    Message {
        /// At a primary, the peer's routing id; elsewhere `None`, it can only be the primary.
        from: Option<RoutingId>,
        /// Permissions of the sender; a primary may do everything.
        access: Access,
        /// The topic frame.
        topic: Vec<u8>,
        /// The message itself, as it was received.
        payload: Bytes,
    },
    /// At a primary: this secondary's subscription to `step` is in force.
    Subscribed(RoutingId),
    /// At a primary: this secondary's subscription is gone, and so is its connection.
    Unsubscribed(RoutingId),
    /// At a secondary or client: a connection to the primary is up.
    Connected,
    /// At a secondary or client: a connection to the primary was lost; it is tried again.
    Disconnected,
    /// At a secondary or client: the primary did not let it in; a link that hears a final denial
    /// does not try again.
    Denied(Denial),
    /// Another thread called [`Waker::wake`].
    Woken,
}

/// Reason why a primary did not let somebody in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Denial {
    /// The key is not authorized there.
    #[error(
        "the primary does not know this key: its line, from the .pub file, belongs into what the \
         primary was given as --authorized"
    )]
    UnknownKey,
    /// The key is not authorized to take part in a run.
    #[error(
        "the primary does not know this key as one of a secondary: its line, from the .pub file, \
         belongs into what the primary was given as --authorized, with the role secondary"
    )]
    MayNotTakePart,
    /// One side encrypts and the other does not.
    #[error(
        "one side encrypts and the other does not: give --key and --server-key here if the primary \
         has a key, and neither if it has none"
    )]
    OnlyOneEncrypts,
    /// The primary broke off; it may have another key than was expected or none, or just end.
    #[error("the primary broke off the handshake: does --server-key have its key?")]
    BrokenOff,
}

impl Denial {
    /// Tells whether trying again is in vain until somebody changes a key.
    pub fn is_final(self) -> bool {
        matches!(
            self,
            Self::UnknownKey | Self::MayNotTakePart | Self::OnlyOneEncrypts
        )
    }
}

/// Reason why a message could not be sent, or nothing more can arrive.
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
    /// The primary did not let this process in.
    #[error(transparent)]
    Denied(Denial),
    /// The transport itself failed.
    #[error("transport failed")]
    Transport(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// Data of a secondary that its way has not taken yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WaitingData {
    /// Size of the payloads \[bytes\].
    pub bytes: usize,
    /// Time since the oldest of them was said.
    pub age: Duration,
}

/// The other end of a connection, as its key says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Client {
    /// The name of the key.
    pub name: String,
    /// Rights of the key.
    pub access: Access,
    /// Address that it came from; empty if that is not known.
    pub address: String,
    /// The topics, services and models that it may command, as patterns; empty for all.
    pub allow: Vec<String>,
}

/// Reason why a key cannot be cut off.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DisconnectError {
    /// Nothing says who comes.
    #[error(
        "this run has no keys, so that whoever is cut off could come again: end the process \
         itself; `phalanx ctl RUN clients` tells the ids of those of this machine"
    )]
    NoKeys,
    /// The run's owner said so.
    #[error(
        "{name} is kept: it is a key of the run itself, or its line in what the primary was given \
         as --authorized says `keep`; `phalanx ctl RUN stop` ends the run"
    )]
    Kept {
        /// The name.
        name: String,
    },
    /// No key has the name.
    #[error("no key is named {name:?}; there are {known}")]
    Unknown {
        /// The name.
        name: String,
        /// Those that there are.
        known: String,
    },
}

/// Wakes the thread that waits in [`Link::receive`], from any other thread.
pub trait Waker: Send + Sync {
    /// Makes the link return [`Arrival::Woken`]; several calls may make one arrival.
    fn wake(&self);
}

/// Message or subscription that arrives at a [`Publisher`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// Message that a secondary sent to [`Destination::Data`].
    Data {
        /// The routing id of the sender, which only it and the primary know.
        from: RoutingId,
        /// The topic frame.
        topic: Vec<u8>,
        /// The message itself, as it was received.
        payload: Bytes,
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
    /// Fails if the transport itself failed.
    fn publish(&mut self, topic: &str, payload: &[u8]) -> Result<(), LinkError>;

    /// Waits for what comes next, at most so long; `None` when the time is up.
    ///
    /// # Errors
    /// Fails if nothing can arrive any more.
    fn receive(&mut self, timeout: Option<Duration>) -> Result<Option<Notice>, LinkError>;

    /// Returns a handle that wakes this publisher.
    fn waker(&self) -> std::sync::Arc<dyn Waker>;
}

/// One process's end of the connection.
pub trait Link {
    /// Sends one message with its topic.
    ///
    /// # Errors
    /// Fails if the destination cannot be reached; the message is then lost.
    fn send(&mut self, to: Destination<'_>, topic: &str, payload: &[u8]) -> Result<(), LinkError>;

    /// Waits for the next arrival, at most so long; `None` when the time is up.
    /// `Duration::ZERO` looks without waiting; waits shorter than 1 ms are kept to.
    ///
    /// # Errors
    /// Fails if nothing can arrive any more.
    fn receive(&mut self, timeout: Option<Duration>) -> Result<Option<Arrival>, LinkError>;

    /// Returns a handle that wakes this link.
    fn waker(&self) -> std::sync::Arc<dyn Waker>;

    /// At an observer: listens to what begins with one of these on `status`, and no more to what it
    /// listened to before; of topics that stay, nothing is lost.
    ///
    /// # Errors
    /// Fails if it is no observer, or the transport itself failed.
    fn listen(&mut self, topics: &[&str]) -> Result<(), LinkError> {
        let _ = topics;
        Err(LinkError::NoSuchDestination)
    }

    /// At a secondary: returns how much of its data waits because the way to the primary takes no
    /// more now, besides a few messages in queues of the system. It goes out when the secondary
    /// receives or sends.
    fn waiting_data(&self) -> WaitingData {
        WaitingData::default()
    }

    /// At a secondary: has its end try for so long to deliver the data that still wait when it
    /// closes, as none of them may be lost.
    ///
    /// # Errors
    /// Fails if the transport itself failed.
    fn set_data_linger(&mut self, linger: Duration) -> Result<(), LinkError> {
        let _ = linger;
        Ok(())
    }

    /// At a primary: returns what was turned away since the last time, at most once per second
    /// until the last time.
    fn take_refusals(&mut self, is_last: bool) -> Option<Refusals> {
        let _ = is_last;
        None
    }

    /// At a primary: returns who sent the message that was received last; `None` where no keys are.
    fn sender(&self) -> Option<Client> {
        None
    }

    /// At a primary: notes that the message that was received last is refused.
    fn refuse_last(&mut self) {}

    /// At a primary: watches the connection of the client that sent the message that was received
    /// last, for [`Link::is_gone`].
    fn watch_last(&mut self, client: &RoutingId) {
        let _ = client;
    }

    /// At a primary: tells whether the connection of a client that is watched is gone; where
    /// connections cannot be told apart, none is.
    fn is_gone(&self, client: &RoutingId) -> bool {
        let _ = client;
        false
    }

    /// At a primary: charges the key of a client for a request that was refused, so that its
    /// clients may ask less often for a while.
    fn charge(&mut self, client: &RoutingId) {
        let _ = client;
    }

    /// At a primary: returns who is connected.
    fn clients(&self) -> Clients {
        Clients::default()
    }

    /// At a primary: cuts all connections of a key and lets it in no more; returns how many there
    /// were.
    ///
    /// # Errors
    /// Fails if there are no keys, or none of this name.
    fn disconnect(&mut self, key: &str) -> Result<u64, DisconnectError> {
        let _ = key;
        Err(DisconnectError::NoKeys)
    }

    /// At a primary: returns the name of the key by which a secondary takes part, where there are
    /// keys.
    fn key_of(&self, secondary: &RoutingId) -> Option<String> {
        let _ = secondary;
        None
    }

    /// At a primary: returns the name of the relay through which a secondary takes part, if it is
    /// behind one.
    fn relay_of(&self, secondary: &RoutingId) -> Option<String> {
        let _ = secondary;
        None
    }

    /// At a primary: returns for how long nothing came from the relay through which a secondary
    /// takes part, if it is behind one.
    fn silence_of_relay(&self, secondary: &RoutingId) -> Option<Duration> {
        let _ = secondary;
        None
    }

    /// At a primary: returns the name of the relay that is lost, if the arrival before told that
    /// this secondary is gone with it.
    fn lost_relay_of(&self, secondary: &RoutingId) -> Option<String> {
        let _ = secondary;
        None
    }

    /// At a primary: tells whether a key of this name is let in; where there are no keys,
    /// everybody is.
    fn is_let_in(&self, name: &str) -> bool {
        let _ = name;
        true
    }

    /// At a primary: returns who was let in since the last time, where keys say who that is.
    fn take_admitted(&mut self) -> Vec<Client> {
        Vec::new()
    }
}
