//! [`PeerLink`]: the end of secondaries, observers and clients, which connects to a primary.
//!
//! A secondary has a routing id and speaks on `control`; who has none is a client and speaks on
//! `clients`. Connections come up when the primary does, and again when the primary is back; a
//! monitor on that socket tells when. A relay has one of these at its upper end.

use std::collections::{BTreeSet, VecDeque};
use std::io;
use std::sync::Arc;
use std::time::Duration;

use protocol::{Access, RoutingId};

use super::inbox::{Event, Frames, Inbox, PollTimeout};
use super::outbox::{Outbox, RETRY};
use super::socket::{self, Queue, open};
use super::{Curve, SocketOptions};
use crate::endpoint::{Address, Endpoints};
use crate::keys::PublicKey;
use crate::link::{Arrival, Denial, Destination, Link, LinkError, WaitingData, Waker};
use crate::ownership::{self, OwnershipError};
use crate::subscription::{Subscription, relay_topics, step_topics};

/// Address of the monitor of the `control` socket, within the link's own context.
const MONITOR: &str = "inproc://control-monitor";

/// The source of the inbox that is `control`.
pub(super) const CONTROL: usize = 0;

/// The end of everybody but the primary in a link between processes.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fact of its own about the connection"
)]
pub struct PeerLink {
    inbox: Inbox,
    /// Socket by which a secondary sends data for observers; nothing ever comes from there.
    data: Option<Outbox>,
    /// Topics of `status` that an observer listens to.
    heard: Option<Heard>,
    /// The source of the inbox that is the monitor.
    monitor: usize,
    /// True if the other side has been told connected last.
    connected: bool,
    /// True if it speaks on `control`.
    is_secondary: bool,
    /// True if it proves a key.
    encrypts: bool,
    /// True if it was told that handshakes are broken off, of which there may be many.
    was_broken_off: bool,
    /// The keys that the primary may have, if these are several.
    key_search: Option<KeySearch>,
    dropped: u64,
}

/// Topics that an observer listens to, and the source of the inbox that has them.
struct Heard {
    source: usize,
    topics: BTreeSet<Vec<u8>>,
}

/// The most messages that wait until the key of the primary is found; the oldest give way.
const WAITING_MAX: usize = 1024;

/// Search for the key that a primary has. A socket expects one at a time, so that they are tried in
/// turn; what is sent before one is found would be lost with a socket's connection and waits here.
struct KeySearch {
    keys: Vec<PublicKey>,
    /// The key that is expected now.
    current: usize,
    /// Number of handshakes that were broken off since the primary was reached last.
    failed: usize,
    /// Addresses that the sockets of the inbox connect to, in order, and that of data.
    places: Vec<String>,
    data: Option<String>,
    /// Messages that wait, oldest first, up to [`WAITING_MAX`].
    waiting: VecDeque<(Way, Vec<u8>, Vec<u8>)>,
}

/// Something that happened at a link.
pub(super) enum PeerEvent {
    /// Change of the connection, or a call from another thread.
    Connection(Arrival),
    /// A message from the source of this number.
    Message(usize, Frames),
}

/// Socket that something is sent by.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Control,
    Data,
}

/// Reason why a link could not be set up. That the primary is not there is no reason: it may come.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// Only a primary can choose its port.
    #[error("{endpoint} names no port to connect to")]
    NoPort {
        /// The address.
        endpoint: String,
    },
    /// Steps go to those who have a routing id.
    #[error("a link that receives steps needs a routing id")]
    NoRoutingId,
    /// A stranger on the way could play the primary, and nothing would be encrypted.
    #[error(
        "{endpoint} may be on another machine, and nothing would be encrypted: give a key with \
         --key and the primary's with --server-key (`phalanx keygen` makes keys), or allow it with \
         --insecure in a network that you trust"
    )]
    Insecure {
        /// The address.
        endpoint: String,
    },
    /// Others could put sockets of their own into the folder.
    #[error("cannot connect to {endpoint}")]
    Folder {
        /// The address.
        endpoint: String,
        /// Cause of the error.
        #[source]
        source: OwnershipError,
    },
    /// The host's name has no address, or the system has no sockets left.
    #[error("cannot connect to {endpoint}")]
    Other {
        /// The address.
        endpoint: String,
        /// The system's error.
        #[source]
        source: io::Error,
    },
}

impl PeerLink {
    /// Begins to connect to a primary, under this routing id or one that the primary chooses.
    ///
    /// # Errors
    /// Fails if the link cannot be set up; not if the primary is not there.
    pub fn connect(
        endpoints: &Endpoints,
        routing_id: Option<&RoutingId>,
        subscription: Subscription<'_>,
        options: &SocketOptions,
    ) -> Result<Self, ConnectError> {
        Self::check(endpoints, options)?;
        let listening = listening(subscription, routing_id)?;
        Self::connect_to(endpoints, routing_id, listening, options)
    }

    /// Begins to connect to a primary as a relay, which hears steps and beats, and passes on
    /// heartbeats by a connection of their own.
    pub(super) fn connect_relay(
        endpoints: &Endpoints,
        routing_id: &RoutingId,
        options: &SocketOptions,
    ) -> Result<Self, ConnectError> {
        Self::check(endpoints, options)?;
        let steps = relay_topics(routing_id).to_vec();
        let listening = [
            (Publications::Step, steps),
            (Publications::Beats, vec![Vec::new()]),
        ];
        let listening = listening.map(|(to, topics)| Listening { to, topics });
        let mut link = Self::connect_to(endpoints, Some(routing_id), listening.into(), options)?;
        let added = link.add_control(endpoints, &routing_id.heartbeat(), options);
        added.map_err(failed(endpoints))?;
        Ok(link)
    }

    fn connect_to(
        endpoints: &Endpoints,
        routing_id: Option<&RoutingId>,
        listening: Vec<Listening>,
        options: &SocketOptions,
    ) -> Result<Self, ConnectError> {
        let opened = Self::open(endpoints, routing_id, listening, options);
        opened.map_err(failed(endpoints))
    }

    /// Adds a socket that speaks on `control` under an address of its own. It has a thread for its
    /// bytes, so that large messages of the others keep nothing waiting.
    fn add_control(
        &mut self,
        endpoints: &Endpoints,
        routing_id: &RoutingId,
        options: &SocketOptions,
    ) -> io::Result<()> {
        let (endpoints, address) = endpoints.resolved()?;
        let context = zmq::Context::new();
        // Heartbeats that nobody takes are worth nothing later.
        let queue = ("control", Queue::Bounded);
        let control = open(&context, zmq::DEALER, queue, address, options)?;
        control.set_identity(&routing_id.0)?;
        control.connect(&endpoints.control())?;
        self.serve(vec![control])?;
        if let Some(search) = &mut self.key_search {
            search.places.push(endpoints.control());
        }
        Ok(())
    }

    fn check(endpoints: &Endpoints, options: &SocketOptions) -> Result<(), ConnectError> {
        if matches!(endpoints.address(), Address::Tcp { port: 0, .. }) {
            return Err(ConnectError::NoPort {
                endpoint: endpoints.to_string(),
            });
        }
        if !endpoints.is_loopback() && options.curve.is_none() && !options.insecure {
            return Err(ConnectError::Insecure {
                endpoint: endpoints.to_string(),
            });
        }
        if let Some(folder) = endpoints.directory() {
            ownership::check_what_is_there(folder).map_err(|source| ConnectError::Folder {
                endpoint: endpoints.to_string(),
                source,
            })?;
        }
        Ok(())
    }

    /// Returns how many messages had too few or too many frames, and were dropped.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    fn open(
        endpoints: &Endpoints,
        routing_id: Option<&RoutingId>,
        listening: Vec<Listening>,
        options: &SocketOptions,
    ) -> io::Result<Self> {
        let (endpoints, address) = endpoints.resolved()?;
        let context = zmq::Context::new();
        let listens = |what| listening.iter().any(|one| one.to == what);
        let queue = if listens(Publications::Beats) && !listens(Publications::Step) {
            Queue::Bounded // It is there for heartbeats.
        } else {
            Queue::Unbounded
        };
        let queue = ("control", queue);
        let control = open(&context, zmq::DEALER, queue, address, options)?;
        if let Some(routing_id) = routing_id {
            control.set_identity(&routing_id.0)?;
        }
        let monitor = monitor_of(&context, &control)?;
        let place = match routing_id {
            Some(_) => endpoints.control(),
            None => endpoints.clients(),
        };
        let mut sockets = vec![control];
        let mut places = vec![place];
        let (mut data, mut heard) = (None, None);
        for Listening { to, topics } in listening {
            let topics: BTreeSet<Vec<u8>> = topics.into_iter().collect();
            let (endpoint, queue) = match to {
                Publications::Step => {
                    let queue = ("data", Queue::Data);
                    let pushing = open(&context, zmq::PUSH, queue, address, options)?;
                    pushing.connect(&endpoints.data())?;
                    let outbox = |own: &RoutingId| Outbox::new(pushing, own.clone());
                    data = routing_id.map(outbox).transpose()?;
                    (endpoints.step(), Queue::Unbounded)
                }
                Publications::Status => (endpoints.status(), Queue::Bounded),
                Publications::Beats => (endpoints.beats(), Queue::Bounded),
            };
            let published = open(&context, zmq::SUB, ("published", queue), address, options)?;
            for topic in &topics {
                published.set_subscribe(topic)?;
            }
            published.connect(&endpoint)?;
            if matches!(to, Publications::Status) {
                let source = sockets.len();
                heard = Some(Heard { source, topics });
            }
            sockets.push(published);
            places.push(endpoint);
        }
        sockets[CONTROL].connect(&places[CONTROL])?;
        // The monitor is asked last: what the primary still said comes before its end.
        let in_turn = sockets.len();
        sockets.push(monitor);
        let inbox = Inbox::new(sockets, in_turn, options.spin)?;
        let curve = options.curve.as_ref().filter(|_| address.is_some());
        let data_place = data.is_some().then(|| endpoints.data());
        let key_search = curve.and_then(|curve| KeySearch::new(curve, places, data_place));
        Ok(Self {
            inbox,
            data,
            heard,
            monitor: in_turn,
            connected: false,
            is_secondary: routing_id.is_some(),
            encrypts: options.curve.is_some() && address.is_some(),
            was_broken_off: false,
            key_search,
            dropped: 0,
        })
    }

    /// Waits for the next message or change of the connection.
    pub(super) fn next(
        &mut self,
        timeout: &mut PollTimeout,
    ) -> Result<Option<PeerEvent>, LinkError> {
        loop {
            let event = match self.data.as_mut().filter(|data| !data.is_empty()) {
                None => self.inbox.next(timeout)?,
                Some(data) => {
                    data.flush()?;
                    let event = self.inbox.next(&mut timeout.at_most(RETRY))?;
                    if event.is_none() && !timeout.is_over() {
                        continue;
                    }
                    event
                }
            };
            let found = match event {
                None => return Ok(None),
                Some(Event::Woken) => Some(PeerEvent::Connection(Arrival::Woken)),
                Some(Event::Message(source, frames)) if source == self.monitor => {
                    self.on_monitor(&frames).map(PeerEvent::Connection)
                }
                Some(Event::Message(source, frames)) => Some(PeerEvent::Message(source, frames)),
            };
            if found.is_some() {
                return Ok(found);
            }
        }
    }

    /// Has other sockets served in turn with its own; returns the source of the first.
    pub(super) fn serve(&mut self, sockets: Vec<zmq::Socket>) -> io::Result<usize> {
        let (first, count) = (self.monitor, sockets.len());
        self.inbox.insert_in_turn(sockets)?;
        self.monitor += count;
        Ok(first)
    }

    /// Closes the sockets that were added, from the source of the first on.
    pub(super) fn close(&mut self, first: usize) {
        self.inbox.close_in_turn(first);
        self.monitor = first;
    }

    /// Returns the socket of a source, to send through.
    pub(super) fn socket(&mut self, source: usize) -> &zmq::Socket {
        self.inbox.sender(source)
    }

    /// Tells whether there is room for a message on `data`.
    pub(super) fn has_room_for_data(&self) -> bool {
        self.data.as_ref().is_none_or(Outbox::has_room)
    }

    /// Has a socket that was added read no more, or again.
    pub(super) fn set_paused(&mut self, source: usize, is_paused: bool) -> io::Result<()> {
        self.inbox.set_paused(source, is_paused)
    }

    /// Passes a message on `data` on as it came.
    pub(super) fn pass_on_data(&self, frames: Frames) -> Result<(), LinkError> {
        let data = self.data.as_ref().ok_or(LinkError::NoSuchDestination)?;
        frames.pass_on(data.socket())
    }

    /// Sends by one of the sockets, or keeps it until the primary's key is found.
    fn send_by(&mut self, way: Way, topic: &[u8], payload: &[u8]) -> Result<(), LinkError> {
        if way == Way::Data && self.data.is_none() {
            return Err(LinkError::NoSuchDestination);
        }
        if let Some(search) = self.key_search.as_mut().filter(|_| !self.connected) {
            if search.waiting.len() == WAITING_MAX {
                search.waiting.pop_front();
            }
            let message = (way, topic.to_vec(), payload.to_vec());
            search.waiting.push_back(message);
            return Ok(());
        }
        match (way, &mut self.data) {
            (Way::Data, Some(data)) => data.send(topic, payload),
            _ => socket::send(self.inbox.sender(CONTROL), &[topic, payload]),
        }
    }

    /// Sends what waited until the primary's key was found.
    fn send_waiting(&mut self) {
        let Some(search) = &mut self.key_search else {
            return;
        };
        search.failed = 0;
        for (way, topic, payload) in std::mem::take(&mut search.waiting) {
            // Nobody waits for the outcome any more, and the queues have no end.
            let _ = self.send_by(way, &topic, &payload);
        }
    }

    /// Expects the next of the keys that the primary may have, if it may have others; tells whether
    /// all were tried.
    fn try_next_key(&mut self) -> bool {
        let Some(search) = &mut self.key_search else {
            return true;
        };
        search.failed += 1;
        search.current = (search.current + 1) % search.keys.len();
        let key = search.keys[search.current];
        for (source, place) in search.places.iter().enumerate() {
            expect_key(self.inbox.sender(source), place, &key);
        }
        if let (Some(data), Some(place)) = (&self.data, &search.data) {
            expect_key(data.socket(), place, &key);
        }
        search.failed >= search.keys.len()
    }

    fn on_message(&mut self, frames: Frames) -> Option<Arrival> {
        let Some([topic, _]) = frames.exactly() else {
            self.dropped += 1;
            return None;
        };
        Some(Arrival::Message {
            from: None,
            access: Access::Full,
            topic: topic.to_vec(),
            payload: frames.into_payload(),
        })
    }

    /// Reads an event of the monitor: its number, its value and, in a second frame, the endpoint.
    fn on_monitor(&mut self, frames: &Frames) -> Option<Arrival> {
        let [[low, high, ..], _] = frames.exactly()? else {
            return None;
        };
        let event = zmq::SocketEvent::from_raw(u16::from_ne_bytes([*low, *high]));
        let denial = match event {
            zmq::SocketEvent::HANDSHAKE_FAILED_AUTH if self.is_secondary => {
                Some(Denial::MayNotTakePart)
            }
            zmq::SocketEvent::HANDSHAKE_FAILED_AUTH => Some(Denial::UnknownKey),
            zmq::SocketEvent::HANDSHAKE_FAILED_PROTOCOL => Some(Denial::OnlyOneEncrypts),
            // Without keys it says no more than that the primary went away.
            zmq::SocketEvent::HANDSHAKE_FAILED_NO_DETAIL => {
                let is_in_vain = self.encrypts && self.try_next_key();
                let is_new = is_in_vain && !std::mem::replace(&mut self.was_broken_off, true);
                return is_new.then_some(Arrival::Denied(Denial::BrokenOff));
            }
            _ => None,
        };
        if let Some(denial) = denial {
            return Some(Arrival::Denied(denial));
        }
        let connected = event == zmq::SocketEvent::HANDSHAKE_SUCCEEDED;
        self.was_broken_off &= !connected;
        // A connection that ends before its handshake did never began.
        let changed = connected || self.connected;
        self.connected = connected;
        if connected {
            self.send_waiting();
        }
        changed.then_some(if connected {
            Arrival::Connected
        } else {
            Arrival::Disconnected
        })
    }
}

impl Link for PeerLink {
    fn send(&mut self, to: Destination<'_>, topic: &str, payload: &[u8]) -> Result<(), LinkError> {
        match to {
            Destination::Primary => self.send_by(Way::Control, topic.as_bytes(), payload),
            Destination::Data => self.send_by(Way::Data, topic.as_bytes(), payload),
            Destination::EverySecondary | Destination::Peer(_) => Err(LinkError::NoSuchDestination),
        }
    }

    fn receive(&mut self, timeout: Option<Duration>) -> Result<Option<Arrival>, LinkError> {
        let mut timeout = PollTimeout::new(timeout);
        loop {
            let found = match self.next(&mut timeout)? {
                None => return Ok(None),
                Some(PeerEvent::Connection(arrival)) => Some(arrival),
                Some(PeerEvent::Message(_, frames)) => self.on_message(frames),
            };
            if found.is_some() {
                return Ok(found);
            }
        }
    }

    fn waker(&self) -> Arc<dyn Waker> {
        self.inbox.waker()
    }

    fn waiting_data(&self) -> WaitingData {
        let waiting = self.data.as_ref().map(Outbox::waiting);
        waiting.unwrap_or_default()
    }

    fn set_data_linger(&mut self, linger: Duration) -> Result<(), LinkError> {
        let data = self.data.as_mut().ok_or(LinkError::NoSuchDestination)?;
        let set = data.set_linger(linger);
        set.map_err(|error| LinkError::Transport(Box::new(error)))
    }

    fn listen(&mut self, topics: &[&str]) -> Result<(), LinkError> {
        let heard = self.heard.as_mut().ok_or(LinkError::NoSuchDestination)?;
        let wanted = topics.iter().map(|topic| topic.as_bytes().to_vec());
        let wanted: BTreeSet<Vec<u8>> = wanted.collect();
        let published = self.inbox.sender(heard.source);
        let failed = |error| LinkError::Transport(Box::new(error));
        for topic in wanted.difference(&heard.topics) {
            published.set_subscribe(topic).map_err(failed)?;
        }
        for topic in heard.topics.difference(&wanted) {
            published.set_unsubscribe(topic).map_err(failed)?;
        }
        heard.topics = wanted;
        Ok(())
    }
}

impl KeySearch {
    /// Makes one where there is something to look for.
    fn new(curve: &Curve, places: Vec<String>, data: Option<String>) -> Option<Self> {
        let Curve::Peer { primary, .. } = curve else {
            return None;
        };
        let keys = primary.all().to_vec();
        (keys.len() > 1).then(|| Self {
            keys,
            current: 0,
            failed: 0,
            places,
            data,
            waiting: VecDeque::new(),
        })
    }
}

fn failed(endpoints: &Endpoints) -> impl FnOnce(io::Error) -> ConnectError {
    let endpoint = endpoints.to_string();
    move |source| ConnectError::Other { endpoint, source }
}

/// Returns a socket that hears how the handshakes of another one end.
fn monitor_of(context: &zmq::Context, socket: &zmq::Socket) -> io::Result<zmq::Socket> {
    let events = [
        zmq::SocketEvent::HANDSHAKE_SUCCEEDED,
        zmq::SocketEvent::DISCONNECTED,
        zmq::SocketEvent::HANDSHAKE_FAILED_AUTH,
        zmq::SocketEvent::HANDSHAKE_FAILED_PROTOCOL,
        zmq::SocketEvent::HANDSHAKE_FAILED_NO_DETAIL,
    ];
    let events = events.iter().map(|event| i32::from(event.to_raw())).sum();
    socket.monitor(MONITOR, events)?;
    let monitor = context.socket(zmq::PAIR)?;
    monitor.connect(MONITOR)?;
    Ok(monitor)
}

/// Connects a socket anew, with another key expected. One that is not connected there any more,
/// because its link is about to end, stays so.
fn expect_key(socket: &zmq::Socket, place: &str, key: &PublicKey) {
    let connects =
        socket.disconnect(place).is_ok() && socket.set_curve_serverkey(key.bytes()).is_ok();
    if connects {
        let _ = socket.connect(place); // It was connected there just now.
    }
}

/// Topics that a link subscribes to, and the socket that publishes them.
struct Listening {
    to: Publications,
    topics: Vec<Vec<u8>>,
}

/// The sockets on which a primary publishes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Publications {
    Step,
    Status,
    Beats,
}

fn listening(
    subscription: Subscription<'_>,
    routing_id: Option<&RoutingId>,
) -> Result<Vec<Listening>, ConnectError> {
    let bytes = |topics: &[&str]| -> Vec<Vec<u8>> {
        let topics = topics.iter().map(|topic| topic.as_bytes().to_vec());
        topics.collect()
    };
    let (to, topics) = match subscription {
        Subscription::Steps => {
            let routing_id = routing_id.ok_or(ConnectError::NoRoutingId)?;
            (Publications::Step, step_topics(routing_id).to_vec())
        }
        Subscription::Status(topics) => (Publications::Status, bytes(topics)),
        Subscription::Beats(topics) => (Publications::Beats, bytes(topics)),
        Subscription::None => return Ok(Vec::new()),
    };
    Ok(vec![Listening { to, topics }])
}
