//! [`PrimaryLink`]: the primary's end, which binds all sockets.
//!
//! `step` is an XPUB, so that the primary sees subscriptions: every secondary subscribes to a
//! topic of its own, which comes with its connection and goes with it. Secondaries speak on
//! `control`; clients do on `clients`, which a thread of its own serves.

mod bind;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use protocol::report::Clients;
use protocol::{RoutingId, topic};
use zmq_options::Connection;

pub use bind::{BindError, with_free_ports};

use super::beats::Beats;
use super::desk::Desk;
use super::directory::RunDirectory;
use super::door::Door;
use super::gate::{Gate, Sender};
use super::inbox::{Event, Frames, Inbox, PollTimeout};
use super::roll::Roll;
use super::status::SharedSubscribers;
use super::wake::OutsideWaker;
use super::{SocketOptions, StatusPublisher, socket};
use crate::endpoint::Endpoints;
use crate::link::{Arrival, Client, Destination, DisconnectError, Link, LinkError, Waker};
use crate::refusals::{Reason, Refusals, Tally};

/// Sources of the inbox. Sockets close in this order: the last words on `step` go out first.
const STEP: usize = 0;
const CONTROL: usize = 1;

/// The first byte of a message by which a subscriber comes.
pub(super) const SUBSCRIBE: u8 = 1;

/// The first byte of a message by which a subscriber goes; others are nothing.
pub(super) const UNSUBSCRIBE: u8 = 0;

/// The primary's end of a link between processes.
pub struct PrimaryLink {
    inbox: Inbox,
    desk: Desk,
    woken: Arc<OutsideWaker>,
    /// Somebody woke the thread, and it was told of a request instead.
    was_woken: bool,
    is_turn_of_clients: bool,
    endpoints: Endpoints,
    gate: Gate,
    tally: Tally,
    /// The key and the connection of the message that was let through last.
    last: Option<(u32, Option<Connection>)>,
    /// Connections of clients that are watched.
    watched: BTreeMap<RoutingId, Connection>,
    roll: Roll,
    /// Listeners of `status`, by topic.
    subscribers: SharedSubscribers,
    /// Declared after the sockets that it decides for.
    door: Option<Arc<Door>>,
    /// Declared last: the directory is given free when the socket files are gone.
    _directory: Option<Arc<RunDirectory>>,
}

impl PrimaryLink {
    /// Binds the sockets of a primary; `status` and `data` come apart, and so does `beats`, each
    /// for a thread of its own.
    ///
    /// # Errors
    /// Fails if another primary is there, if others could reach it unencrypted and
    /// [`SocketOptions::insecure`] does not allow that, or if the address cannot be bound.
    pub fn bind(
        endpoints: &Endpoints,
        options: &SocketOptions,
    ) -> Result<(Self, StatusPublisher, Beats), BindError> {
        let tally = Tally::default();
        let bound = bind::bind(endpoints, options, &tally)?;
        let failed = |source| BindError::Other {
            endpoint: bound.endpoints.to_string(),
            source,
        };
        let inbox = Inbox::new(vec![bound.step, bound.control], 2, options.spin).map_err(failed)?;
        let woken = Arc::new(OutsideWaker::new(inbox.waker()));
        let door = bound.door.clone();
        let roll = door
            .as_ref()
            .map(|door| door.roll().clone())
            .unwrap_or_default();
        let desk = {
            let (tally, roll) = (tally.clone(), roll.clone());
            Desk::open(bound.clients, inbox.waker(), tally, roll, door)
        };
        let shared = || (bound.door.clone(), bound.directory.clone());
        let status = {
            let (door, directory) = shared();
            StatusPublisher::new(
                bound.status,
                bound.data,
                tally.clone(),
                roll.clone(),
                door,
                directory,
            )
        };
        let (door, directory) = shared();
        let beats = Beats::new(bound.beats, door, directory);
        let (desk, status) = (desk.map_err(failed)?, status.map_err(failed)?);
        let link = Self {
            inbox,
            desk,
            woken,
            was_woken: false,
            is_turn_of_clients: false,
            endpoints: bound.endpoints,
            gate: Gate::new(tally.clone()),
            tally,
            last: None,
            watched: BTreeMap::new(),
            roll,
            subscribers: status.subscribers(),
            door: bound.door,
            _directory: bound.directory,
        };
        Ok((link, status, beats))
    }

    /// Returns where the sockets are, with the port that was found if any free one was asked for.
    pub fn endpoints(&self) -> &Endpoints {
        &self.endpoints
    }

    /// Returns who sent a message; `None` if that should be known and is not, or may be heard no
    /// more.
    fn sender_of(&self, frames: &mut Frames, socket: &'static str) -> Option<Sender> {
        match &self.door {
            Some(door) => door.sender(frames, socket),
            None => Some(Sender::ANYBODY),
        }
    }

    /// Returns what a message is to the primary, if it is let through.
    fn on_control(&mut self, mut frames: Frames) -> Option<Arrival> {
        let sender = self.sender_of(&mut frames, "control")?;
        self.last = Some((sender.key, frames.origin()));
        let Some([from, topic, payload]) = frames.exactly() else {
            self.note_malformed();
            return None;
        };
        // Secondaries are called by their names; addresses that libzmq gives are of nobody here.
        let is_named = from.first().is_some_and(u8::is_ascii_alphanumeric);
        if !is_named || topic == topic::REQUEST.as_bytes() {
            let text = || "something came on `control` that is not of a secondary".to_owned();
            self.tally.note(Reason::Malformed, text);
            return None;
        }
        let from = RoutingId(from.to_vec());
        let (topic, bytes) = (topic.to_vec(), topic.len() + payload.len());
        let is_admitted = self
            .gate
            .admits(&from, sender, &topic, bytes, Instant::now());
        is_admitted.then(|| Arrival::Message {
            from: Some(from),
            access: sender.access,
            topic,
            payload: frames.into_payload(),
        })
    }

    /// Returns what a subscription to `step` says about one secondary, if anything.
    fn on_subscriber(&mut self, frames: &mut Frames) -> Option<Arrival> {
        let sender = self.sender_of(frames, "step");
        let Some([[what, topic @ ..]]) = frames.exactly() else {
            self.note_malformed();
            return None;
        };
        // The other topics are shared: that they are subscribed to says nothing of one secondary.
        let routing_id = RoutingId(topic::presence_routing_id(topic)?.to_vec());
        if *what == SUBSCRIBE {
            // What libzmq says of a connection that is gone has no sender; what comes has one.
            if self.door.is_none() {
                self.roll.hear(0, frames.origin(), "step");
            }
            let is_held = self.gate.hold(&routing_id, sender?);
            return is_held.then_some(Arrival::Subscribed(routing_id));
        }
        if *what != UNSUBSCRIBE {
            self.note_malformed();
            return None;
        }
        let was_held = self.gate.release(&routing_id);
        was_held.then_some(Arrival::Unsubscribed(routing_id))
    }

    /// Returns the next request of a client, if one is here.
    fn request(&mut self) -> Option<Arrival> {
        let request = self.desk.request()?;
        self.last = Some((request.key, request.connection));
        Some(request.arrival)
    }

    fn note_malformed(&self) {
        let text = || "a message of too few or too many frames".to_owned();
        self.tally.note(Reason::Malformed, text);
    }
}

impl Link for PrimaryLink {
    fn send(&mut self, to: Destination<'_>, topic: &str, payload: &[u8]) -> Result<(), LinkError> {
        let topic = topic.as_bytes();
        match to {
            Destination::EverySecondary => socket::send(self.inbox.sender(STEP), &[topic, payload]),
            Destination::Peer(peer) if self.desk.answer(peer, topic, payload) => Ok(()),
            Destination::Peer(peer) => {
                socket::send(self.inbox.sender(CONTROL), &[&peer.0, topic, payload])
            }
            Destination::Primary | Destination::Data => Err(LinkError::NoSuchDestination),
        }
    }

    fn receive(&mut self, timeout: Option<Duration>) -> Result<Option<Arrival>, LinkError> {
        if self.door.as_ref().is_some_and(|door| !door.is_kept()) {
            let error = "nobody decides any more who may connect";
            return Err(LinkError::Transport(error.into()));
        }
        if std::mem::take(&mut self.was_woken) {
            return Ok(Some(Arrival::Woken));
        }
        // In turn with the secondaries, so that clients never keep a step waiting.
        if std::mem::take(&mut self.is_turn_of_clients)
            && let Some(request) = self.request()
        {
            return Ok(Some(request));
        }
        self.is_turn_of_clients = true;
        let asked = self.desk.has_request().then_some(Duration::ZERO);
        let mut timeout = PollTimeout::new(asked.or(timeout));
        loop {
            let found = match self.inbox.next(&mut timeout)? {
                None if asked.is_some() => return Ok(self.request()),
                None => return Ok(None),
                Some(Event::Woken) => {
                    // By a client's request, by another thread, or by both.
                    let by_others = self.woken.was_woken();
                    let request = self.request();
                    self.was_woken = by_others && request.is_some();
                    request.or(by_others.then_some(Arrival::Woken))
                }
                Some(Event::Message(CONTROL, frames)) => self.on_control(frames),
                Some(Event::Message(_, mut frames)) => self.on_subscriber(&mut frames),
            };
            if found.is_some() {
                return Ok(found);
            }
        }
    }

    fn waker(&self) -> Arc<dyn Waker> {
        Arc::clone(&self.woken) as Arc<dyn Waker>
    }

    fn take_refusals(&mut self, is_last: bool) -> Option<Refusals> {
        self.tally.take(Instant::now(), is_last)
    }

    fn sender(&self) -> Option<Client> {
        let (key, connection) = self.last?;
        self.roll.client(key, connection)
    }

    fn watch_last(&mut self, client: &RoutingId) {
        // Whoever is not here any more is not watched, so that there are never more than live.
        self.watched.retain(|_, connection| !connection.is_closed());
        if let Some((_, Some(connection))) = self.last {
            self.watched.insert(client.clone(), connection);
        }
    }

    fn is_gone(&self, client: &RoutingId) -> bool {
        let connection = self.watched.get(client);
        connection.is_none_or(|connection| connection.is_closed())
    }

    fn charge(&mut self, client: &RoutingId) {
        self.desk.charge(client);
    }

    fn refuse_last(&mut self) {
        if let Some((_, connection)) = self.last {
            self.roll.refuse(connection);
        }
    }

    fn clients(&self) -> Clients {
        self.roll.report(&self.subscribers.lock())
    }

    fn disconnect(&mut self, key: &str) -> Result<u64, DisconnectError> {
        self.roll.disconnect(key)
    }

    fn key_of(&self, secondary: &RoutingId) -> Option<String> {
        let key = self.gate.key_of(secondary)?;
        self.roll.client(key, None).map(|client| client.name)
    }

    fn is_let_in(&self, name: &str) -> bool {
        self.roll.is_let_in(name)
    }

    fn take_admitted(&mut self) -> Vec<Client> {
        self.roll.take_admitted()
    }
}
