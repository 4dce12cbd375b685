//! [`PrimaryLink`]: the primary's end, which binds all sockets.
//!
//! `step` is an XPUB, so that the primary sees subscriptions: every secondary subscribes to a
//! topic of its own, which comes with its connection and goes with it.

mod bind;

use std::sync::Arc;
use std::time::Duration;

use protocol::{RoutingId, topic};

pub use bind::BindError;

use super::directory::RunDirectory;
use super::inbox::{Event, Frames, Inbox, Patience};
use super::{SocketOptions, StatusPublisher, socket};
use crate::endpoint::Endpoints;
use crate::link::{Arrival, Destination, Link, LinkError, Waker};

/// Sources of the inbox. Sockets close in this order: the last words on `step` go out first.
const STEP: usize = 0;
const CONTROL: usize = 1;

/// The first byte of a message by which a subscriber comes; 0 is that by which it goes.
pub(super) const SUBSCRIBE: u8 = 1;

/// The primary's end of a link between processes.
pub struct PrimaryLink {
    inbox: Inbox,
    endpoints: Endpoints,
    dropped: u64,
    /// Declared last: the directory is given free when the socket files are gone.
    _directory: Option<Arc<RunDirectory>>,
}

impl PrimaryLink {
    /// Binds the sockets of a primary; `status` and `data` come apart, for another thread.
    ///
    /// # Errors
    /// When another primary is there, when other machines could reach it unencrypted and
    /// [`SocketOptions::insecure`] does not allow that, or when the address cannot be bound.
    pub fn bind(
        endpoints: &Endpoints,
        options: &SocketOptions,
    ) -> Result<(Self, StatusPublisher), BindError> {
        let bound = bind::bind(endpoints, options)?;
        let failed = |source| BindError::Other {
            endpoint: bound.endpoints.to_string(),
            source,
        };
        let inbox = Inbox::new(vec![bound.step, bound.control], 2).map_err(failed)?;
        let status = StatusPublisher::new(bound.status, bound.data, bound.directory.clone());
        let status = status.map_err(failed)?;
        let link = Self {
            inbox,
            endpoints: bound.endpoints,
            dropped: 0,
            _directory: bound.directory,
        };
        Ok((link, status))
    }

    /// Returns where the sockets are, with the port that was found if any free one was asked for.
    pub fn endpoints(&self) -> &Endpoints {
        &self.endpoints
    }

    /// Returns how many messages had too few or too many frames, and were dropped.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }
}

impl Link for PrimaryLink {
    fn send(&mut self, to: Destination<'_>, topic: &str, payload: &[u8]) -> Result<(), LinkError> {
        let topic = topic.as_bytes();
        match to {
            Destination::EverySecondary => socket::send(self.inbox.sender(STEP), &[topic, payload]),
            Destination::Peer(peer) => {
                socket::send(self.inbox.sender(CONTROL), &[&peer.0, topic, payload])
            }
            Destination::Primary | Destination::Data => Err(LinkError::NoSuchDestination),
        }
    }

    fn receive(&mut self, timeout: Option<Duration>) -> Result<Option<Arrival>, LinkError> {
        let mut patience = Patience::new(timeout);
        loop {
            let found = match self.inbox.next(&mut patience)? {
                None => return Ok(None),
                Some(Event::Woken) => return Ok(Some(Arrival::Woken)),
                Some(Event::Message(CONTROL, frames)) => from_peer(&frames),
                Some(Event::Message(_, frames)) => from_subscriber(&frames),
            };
            match found {
                Found::Arrival(arrival) => return Ok(Some(arrival)),
                Found::Nothing => {}
                Found::Malformed => self.dropped += 1,
            }
        }
    }

    fn waker(&self) -> Arc<dyn Waker> {
        self.inbox.waker()
    }
}

/// What a message turned out to be.
enum Found {
    Arrival(Arrival),
    Nothing,
    Malformed,
}

fn from_peer(frames: &Frames) -> Found {
    let Some([from, topic, payload]) = frames.exactly() else {
        return Found::Malformed;
    };
    Found::Arrival(Arrival::Message {
        from: Some(RoutingId(from.to_vec())),
        topic: topic.to_vec(),
        payload: payload.to_vec(),
    })
}

fn from_subscriber(frames: &Frames) -> Found {
    let Some([[what, topic @ ..]]) = frames.exactly() else {
        return Found::Malformed;
    };
    // The other topics are shared: that they are subscribed to says nothing about one secondary.
    let Some(routing_id) = topic::presence_routing_id(topic) else {
        return Found::Nothing;
    };
    let routing_id = RoutingId(routing_id.to_vec());
    Found::Arrival(if *what == SUBSCRIBE {
        Arrival::Subscribed(routing_id)
    } else {
        Arrival::Unsubscribed(routing_id)
    })
}
