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

#[cfg(test)]
pub(super) use bind::Bound;
pub(super) use bind::bind;
pub use bind::{BindError, with_free_ports};

use super::beats::Beats;
use super::bundle::Bundle;
use super::client_thread::ClientThread;
use super::directory::RunDirectory;
use super::entrance::{Entered, Entrance, Presence};
use super::inbox::{Event, Frames, Inbox, PollTimeout};
use super::relays::{Next, Relays};
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
    client_thread: ClientThread,
    woken: Arc<OutsideWaker>,
    /// Somebody woke the thread, and it was told of a request instead.
    was_woken: bool,
    is_turn_of_clients: bool,
    endpoints: Endpoints,
    relays: Relays,
    /// The key and the connection of the message that was let through last.
    last: Option<(u32, Option<Connection>)>,
    /// Connections of clients that are watched.
    watched: BTreeMap<RoutingId, Connection>,
    /// Listeners of `status`, by topic.
    subscribers: SharedSubscribers,
    /// Declared after the sockets that it decides for.
    entrance: Entrance,
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
        let bound = bind(endpoints, options, &tally)?;
        let failed = |source| BindError::Other {
            endpoint: bound.endpoints.to_string(),
            source,
        };
        let inbox = Inbox::new(vec![bound.step, bound.control], 2, options.spin).map_err(failed)?;
        let woken = Arc::new(OutsideWaker::new(inbox.waker()));
        let authenticator = bound.authenticator.clone();
        let admitted_keys = authenticator
            .as_ref()
            .map(|authenticator| authenticator.admitted_keys().clone())
            .unwrap_or_default();
        let client_thread = {
            let (tally, admitted_keys) = (tally.clone(), admitted_keys.clone());
            ClientThread::open(
                bound.clients,
                inbox.waker(),
                tally,
                admitted_keys,
                authenticator,
            )
        };
        let shared = || (bound.authenticator.clone(), bound.directory.clone());
        let status = {
            let (authenticator, directory) = shared();
            StatusPublisher::new(
                bound.status,
                bound.data,
                tally.clone(),
                admitted_keys.clone(),
                authenticator,
                directory,
            )
        };
        let (authenticator, directory) = shared();
        let beats = Beats::new(bound.beats, authenticator, directory);
        let (client_thread, status) = (client_thread.map_err(failed)?, status.map_err(failed)?);
        let link = Self {
            inbox,
            client_thread,
            woken,
            was_woken: false,
            is_turn_of_clients: false,
            endpoints: bound.endpoints,
            relays: Relays::default(),
            last: None,
            watched: BTreeMap::new(),
            subscribers: status.subscribers(),
            entrance: Entrance::new(tally, admitted_keys, bound.authenticator),
            _directory: bound.directory,
        };
        Ok((link, status, beats))
    }

    /// Returns where the sockets are, with the port that was found if any free one was asked for.
    pub fn endpoints(&self) -> &Endpoints {
        &self.endpoints
    }

    /// Notes the silence after which secondaries give the primary up: relays do a while later.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.relays.set_timeout(timeout);
        self
    }

    /// Returns what a message is to the primary, if it is let through.
    fn on_control(&mut self, frames: Frames) -> Option<Arrival> {
        let entered = self.entrance.on_control(frames)?;
        self.last = Some((entered.sender.key, entered.connection));
        if entered.topic == topic::RELAY.as_bytes() {
            self.on_relay(entered);
            return None; // Its parts are returned one by one.
        }
        let Entered {
            from,
            sender,
            topic,
            frames,
            ..
        } = entered;
        if self.relays.stand_for(&from) {
            let text = || format!("{from} is behind a relay, and came by another connection");
            self.entrance.tally.note(Reason::Forbidden, text);
            return None;
        }
        let payload = frames.into_payload();
        let is_admitted = self.entrance.admits(&from, sender, &topic, payload.len());
        is_admitted.then_some(Arrival::Message {
            from: Some(from),
            access: sender.access,
            topic,
            payload,
        })
    }

    /// Takes the message of a relay, if it comes from the key that has subscribed as that relay.
    fn on_relay(&mut self, entered: Entered) {
        let payload = entered.frames.exactly::<3>();
        let bytes = payload.map_or(0, |[_, _, payload]| payload.len());
        let (from, topic) = (&entered.from, &entered.topic);
        if self.entrance.admits(from, entered.sender, topic, bytes) {
            self.relays.on_message(entered);
        }
    }

    /// Returns what a subscription to `step` says about one secondary, if anything.
    fn on_subscriber(&mut self, frames: &mut Frames) -> Option<Arrival> {
        let relays = &self.relays;
        let is_behind_relay = |secondary: &RoutingId| relays.stand_for(secondary);
        match self.entrance.on_subscriber(frames, is_behind_relay)? {
            Presence::Came(secondary) => {
                self.relays.forget_guest(&secondary);
                Some(Arrival::Subscribed(secondary))
            }
            Presence::Went(secondary) => Some(Arrival::Unsubscribed(secondary)),
            Presence::RelayCame(relay) => {
                self.relays.come(relay);
                None
            }
            Presence::RelayWent(relay) => {
                self.relays.go(&relay, &mut self.entrance);
                None
            }
        }
    }

    /// Returns the next part of what came through relays, and answers them.
    fn relayed(&mut self) -> Option<Arrival> {
        loop {
            match self.relays.next(&mut self.entrance)? {
                Next::Arrival(relayed) => {
                    self.last = Some((relayed.key, relayed.connection));
                    return Some(relayed.arrival);
                }
                Next::Answer(relay, answer) => {
                    let bundle = Bundle::of(&answer);
                    let frames = [&*relay.0, topic::RELAY.as_bytes(), bundle.bytes()];
                    // A relay that hears nothing says it again.
                    let _ = socket::send(self.inbox.sender(CONTROL), &frames);
                }
            }
        }
    }

    /// Sends to a peer on `control`, through its relay if it is behind one.
    fn send_on_control(
        &mut self,
        peer: &RoutingId,
        topic: &[u8],
        payload: &[u8],
    ) -> Result<(), LinkError> {
        let Some(relay) = self.relays.route(peer) else {
            let frames = [&*peer.0, topic, payload];
            return socket::send(self.inbox.sender(CONTROL), &frames);
        };
        let mut bundle = Bundle::default();
        if !bundle.push_message(peer, topic, payload) {
            return Err(LinkError::Unreachable(peer.clone()));
        }
        let frames = [&*relay.0, topic::RELAY.as_bytes(), bundle.bytes()];
        socket::send(self.inbox.sender(CONTROL), &frames)
    }

    /// Waits for what comes next.
    fn receive_next(&mut self, timeout: Option<Duration>) -> Result<Option<Arrival>, LinkError> {
        if !self.entrance.is_kept() {
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
        if let Some(relayed) = self.relayed() {
            return Ok(Some(relayed));
        }
        let asked = self.client_thread.has_request().then_some(Duration::ZERO);
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
            if let Some(found) = found.or_else(|| self.relayed()) {
                return Ok(Some(found));
            }
        }
    }

    /// Returns the next request of a client, if one is here.
    fn request(&mut self) -> Option<Arrival> {
        let request = self.client_thread.request()?;
        self.last = Some((request.key, request.connection));
        Some(request.arrival)
    }
}

impl Link for PrimaryLink {
    fn send(&mut self, to: Destination<'_>, topic: &str, payload: &[u8]) -> Result<(), LinkError> {
        let topic = topic.as_bytes();
        match to {
            Destination::EverySecondary => socket::send(self.inbox.sender(STEP), &[topic, payload]),
            Destination::Peer(peer) if self.client_thread.answer(peer, topic, payload) => Ok(()),
            Destination::Peer(peer) => self.send_on_control(peer, topic, payload),
            Destination::Primary | Destination::Data => Err(LinkError::NoSuchDestination),
        }
    }

    fn receive(&mut self, timeout: Option<Duration>) -> Result<Option<Arrival>, LinkError> {
        let received = self.receive_next(timeout);
        self.relays.look_up(timeout);
        received
    }

    fn waker(&self) -> Arc<dyn Waker> {
        Arc::clone(&self.woken) as Arc<dyn Waker>
    }

    fn take_refusals(&mut self, is_last: bool) -> Option<Refusals> {
        self.entrance.tally.take(Instant::now(), is_last)
    }

    fn sender(&self) -> Option<Client> {
        let (key, connection) = self.last?;
        self.entrance.admitted_keys.client(key, connection)
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
        self.client_thread.charge(client);
    }

    fn refuse_last(&mut self) {
        if let Some((_, connection)) = self.last {
            self.entrance.admitted_keys.refuse(connection);
        }
    }

    fn clients(&self) -> Clients {
        self.entrance.admitted_keys.report(&self.subscribers.lock())
    }

    fn disconnect(&mut self, key: &str) -> Result<u64, DisconnectError> {
        self.entrance.admitted_keys.disconnect(key)
    }

    fn key_of(&self, secondary: &RoutingId) -> Option<String> {
        let key = self.entrance.gate.key_of(secondary)?;
        self.entrance
            .admitted_keys
            .client(key, None)
            .map(|client| client.name)
    }

    fn relay_of(&self, secondary: &RoutingId) -> Option<String> {
        self.relays.name_of_route(secondary).map(str::to_owned)
    }

    fn silence_of_relay(&self, secondary: &RoutingId) -> Option<Duration> {
        self.relays.silence_of_route(secondary)
    }

    fn lost_relay_of(&self, secondary: &RoutingId) -> Option<String> {
        self.relays.lost_relay_of(secondary).map(str::to_owned)
    }

    fn is_let_in(&self, name: &str) -> bool {
        self.entrance.admitted_keys.is_let_in(name)
    }

    fn take_admitted(&mut self) -> Vec<Client> {
        self.entrance.admitted_keys.take_admitted()
    }
}
