//! [`Relay`]: one connection to a primary for all secondaries of a machine.
//!
//! To a primary it is one peer, to its secondaries it is the primary. Steps come once and are
//! published again below; what secondaries send goes up in one message as soon as all have answered
//! the step, or has waited for 1 ms ([`HOLD`]). Heartbeats never wait, and go by a connection of
//! their own. It reads topics and addresses, and never a message. When its primary is gone, it
//! closes its lower sockets, so that secondaries see that at once.

mod awaited;
mod contact;
mod lower;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use protocol::{RoutingId, topic};

use self::awaited::Awaited;
use self::contact::{CLOSE_TIMEOUT, Contact};
use self::lower::Lower;
use super::bundle::{self, Bundle, ITEM_OVERHEAD_MAX, Item, TOPIC_BYTES_MAX, next_item};
use super::entrance::{Entered, Presence};
use super::inbox::{Frames, PollTimeout};
use super::outbox::RETRY;
use super::peer::{CONTROL, ConnectError, PeerEvent, PeerLink};
use super::primary::BindError;
use super::{SocketOptions, socket};
use crate::endpoint::Endpoints;
use crate::link::{Arrival, Denial, LinkError, Waker};
use crate::refusals::{Reason, Refusals};
use protocol::envelope::MESSAGE_BYTES_MAX;

/// Time for which answers wait for those of the other secondaries.
pub const HOLD: Duration = Duration::from_millis(1);

/// Number of bytes with which a message goes up although others could still come \[bytes\].
const BUNDLE_BYTES_MAX: usize = 1 << 20;

/// The source of the inbox that is the upper `step`.
const STEP: usize = 1;
/// The source of the inbox that is the upper `beats`.
const BEATS: usize = 2;
/// The source of the inbox that is the connection of heartbeats to the upper `control`.
const HEARTBEATS: usize = 3;

/// Place of a relay between a primary and its secondaries.
#[derive(Clone, Debug)]
pub struct RelaySettings {
    /// Its name, for people.
    pub name: String,
    /// Its address at the primary, which nobody can guess.
    pub routing_id: RoutingId,
    /// Place of the primary.
    pub primary: Endpoints,
    /// Options of the connection to it, with keys of a peer.
    pub upper: SocketOptions,
    /// Place where it is reached by its secondaries.
    pub bind: Endpoints,
    /// True if the folder of that place goes with the relay that has taken it.
    pub removes_folder: bool,
    /// Options of what it binds, with keys of a primary.
    pub lower: SocketOptions,
    /// Time for which answers wait for those of the other secondaries, usually [`HOLD`].
    pub hold: Duration,
}

/// Something that happened to a relay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RelayEvent {
    /// The primary has welcomed it, and it is reached by secondaries here.
    Welcomed(Endpoints),
    /// The primary does not want it, and why.
    Refused(String),
    /// The primary published this on `/session`; it has been passed on.
    Session(Bytes),
    /// A secondary came or went; so many are connected now.
    Secondaries(usize),
    /// The connection to the primary was lost, and those below are closed.
    Lost,
    /// The primary was not heard for so long, and the connections below are closed.
    Silent(Duration),
    /// The primary did not let it in.
    Denied(Denial),
    /// Another thread called [`Waker::wake`].
    Woken,
}

/// Reason why a relay does not work.
#[derive(Debug, thiserror::Error)]
pub enum RelayError {
    /// Its secondaries could not reach it.
    #[error(transparent)]
    Bind(#[from] BindError),
    /// Its transport failed.
    #[error(transparent)]
    Link(#[from] LinkError),
}

/// Passes on what a primary and the secondaries of a machine say to each other.
pub struct Relay {
    upper: PeerLink,
    lower: Option<Lower>,
    settings: RelaySettings,
    /// Messages that are to go up.
    bundle: Bundle,
    /// Time at which the oldest of them came.
    held_since: Option<Instant>,
    /// True if one of them waits for no answers of others.
    is_urgent: bool,
    /// Secondaries that are subscribed to steps.
    present: BTreeSet<RoutingId>,
    /// Those whose answers wait for each other.
    awaited: Awaited,
    /// State of the connection to the primary.
    contact: Contact,
    messages_up: u64,
    /// True while data wait for room above.
    is_data_full: bool,
}

impl Relay {
    /// Begins to connect to the primary; secondaries reach it once that has welcomed it.
    ///
    /// # Errors
    /// Fails if the upper end cannot be set up; not if the primary is not there.
    pub fn connect(settings: RelaySettings) -> Result<Self, ConnectError> {
        let RelaySettings {
            primary,
            routing_id,
            upper,
            ..
        } = &settings;
        let upper = PeerLink::connect_relay(primary, routing_id, upper)?;
        Ok(Self {
            upper,
            lower: None,
            settings,
            bundle: Bundle::default(),
            held_since: None,
            is_urgent: false,
            present: BTreeSet::new(),
            awaited: Awaited::default(),
            contact: Contact::default(),
            messages_up: 0,
            is_data_full: false,
        })
    }

    /// Returns a handle that wakes it.
    pub fn waker(&self) -> Arc<dyn Waker> {
        crate::link::Link::waker(&self.upper)
    }

    /// Returns how many messages of secondaries it has sent to the primary, each of which may hold
    /// several.
    pub fn messages_up(&self) -> u64 {
        self.messages_up
    }

    /// Returns where it looks for its primary.
    pub fn primary(&self) -> &Endpoints {
        &self.settings.primary
    }

    /// Returns what was turned away below since the last time, at most once per second.
    pub fn take_refusals(&mut self) -> Option<Refusals> {
        let lower = self.lower.as_ref()?;
        lower.entrance.tally.take(Instant::now(), false)
    }

    /// Passes on what comes until something happens that is told, at most so long.
    ///
    /// # Errors
    /// Fails if secondaries cannot reach it, or the transport itself failed.
    pub fn receive(&mut self, timeout: Option<Duration>) -> Result<Option<RelayEvent>, RelayError> {
        let end = timeout.map(|timeout| Instant::now() + timeout);
        loop {
            if self.lower.as_ref().is_some_and(|it| !it.entrance.is_kept()) {
                let error = "nobody decides any more who may connect";
                return Err(LinkError::Transport(error.into()).into());
            }
            let wake_at = [self.next_due(), end].into_iter().flatten().min();
            let left = wake_at.map(|at| at.saturating_duration_since(Instant::now()));
            let event = self.upper.next(&mut PollTimeout::new(left))?;
            let is_idle = event.is_none();
            let told = event.map_or(Ok(None), |event| self.on_event(event))?;
            self.send_up_what_is_due(is_idle);
            if self.is_data_full {
                self.look_for_room()?;
            }
            let now = Instant::now();
            let told = told.or_else(|| self.on_time(now, is_idle));
            if told.is_some() || end.is_some_and(|end| now >= end) {
                return Ok(told);
            }
        }
    }

    /// Passes on what has come, before it ends; not for long, since there may be no end of it.
    ///
    /// # Errors
    /// Fails if the transport itself failed.
    pub fn finish(mut self) -> Result<(), RelayError> {
        let end = Instant::now() + CLOSE_TIMEOUT;
        while Instant::now() < end {
            let mut timeout = PollTimeout::new(Some(Duration::ZERO));
            let Some(event) = self.upper.next(&mut timeout)? else {
                break;
            };
            self.on_event(event)?;
        }
        self.send_up();
        Ok(())
    }

    /// Returns when something is to be done by itself.
    fn next_due(&self) -> Option<Instant> {
        let wait = if self.is_urgent {
            Duration::ZERO
        } else {
            self.settings.hold
        };
        let sends = self.held_since.map(|since| since + wait);
        let contact = self.contact.next_due(Instant::now());
        let room = self.is_data_full.then(|| Instant::now() + RETRY);
        sends.into_iter().chain(contact).chain(room).min()
    }

    /// Does what is due by itself.
    fn on_time(&mut self, now: Instant, is_idle: bool) -> Option<RelayEvent> {
        if self.contact.is_over(now) {
            self.close();
            return Some(RelayEvent::Lost);
        }
        // Only once nothing is left to read: after a stall of its own, beats wait there.
        if let Some(silence) = self.contact.silence(now).filter(|_| is_idle) {
            self.close();
            return Some(RelayEvent::Silent(silence));
        }
        if self.contact.takes_greeting(now) {
            let greeting = match self.lower {
                None => bundle::hello(&self.settings.name),
                Some(_) => Item::Here,
            };
            let greeting = Bundle::of(&greeting);
            let frames = [topic::RELAY.as_bytes(), greeting.bytes()];
            // It is said again.
            let _ = socket::send(self.upper.socket(CONTROL), &frames);
        }
        None
    }

    fn on_event(&mut self, event: PeerEvent) -> Result<Option<RelayEvent>, RelayError> {
        let (source, frames) = match event {
            PeerEvent::Connection(arrival) => return Ok(self.on_connection(&arrival)),
            PeerEvent::Message(source, frames) => (source, frames),
        };
        if source <= HEARTBEATS {
            self.contact.on_heard(Instant::now());
        } else if self.contact.is_closing() {
            return Ok(None); // There is nobody to pass it on to.
        }
        if source == CONTROL || source == HEARTBEATS {
            return self.on_primary(frames);
        }
        let Some(lower) = &mut self.lower else {
            return Ok(None); // It came before the welcome, and is of nobody here.
        };
        if source == STEP {
            return Ok(self.on_published(frames));
        }
        if source == BEATS {
            lower.beat(frames);
            return Ok(None);
        }
        if source == lower.data() {
            let mut frames = frames;
            if frames.exactly::<3>().is_some() && lower.entrance.admits_data(&mut frames) {
                // There was room, so that it is lost with the connection at most.
                let _ = self.upper.pass_on_data(frames);
            }
            self.look_for_room()?;
            return Ok(None);
        }
        if source == lower.step() {
            let mut frames = frames;
            let presence = lower.entrance.on_subscriber(&mut frames, |_| false);
            return Ok(presence.and_then(|presence| self.on_presence(presence)));
        }
        if let Some(entered) = lower.entrance.on_control(frames) {
            self.on_secondary(entered);
        }
        Ok(None)
    }

    /// Reads data of secondaries only while there is room above: so they wait with who said them,
    /// and never here.
    fn look_for_room(&mut self) -> Result<(), LinkError> {
        let Some(lower) = &self.lower else {
            return Ok(());
        };
        let is_full = !self.upper.has_room_for_data();
        if is_full != self.is_data_full {
            self.is_data_full = is_full;
            let paused = self.upper.set_paused(lower.data(), is_full);
            paused.map_err(|error| LinkError::Transport(error.into()))?;
        }
        Ok(())
    }

    fn on_connection(&mut self, arrival: &Arrival) -> Option<RelayEvent> {
        match arrival {
            Arrival::Connected => {
                // Another primary: what was said to the one before is nothing to it.
                let was_closing = self.contact.is_closing();
                if was_closing {
                    self.close();
                }
                self.contact.on_connected();
                was_closing.then_some(RelayEvent::Lost)
            }
            Arrival::Disconnected => {
                self.contact.on_lost(Instant::now());
                None
            }
            Arrival::Denied(denial) => Some(RelayEvent::Denied(*denial)),
            Arrival::Woken => Some(RelayEvent::Woken),
            Arrival::Message { .. } | Arrival::Subscribed(_) | Arrival::Unsubscribed(_) => None,
        }
    }

    /// Closes the lower sockets, and forgets who was there.
    fn close(&mut self) {
        if let Some(lower) = self.lower.take() {
            lower.close(&mut self.upper);
        }
        self.is_data_full = false;
        self.bundle.clear();
        (self.held_since, self.is_urgent) = (None, false);
        self.present.clear();
        self.awaited.clear();
        self.contact.on_closed();
    }

    /// Takes in what the primary says to it, or through it to one secondary.
    fn on_primary(&mut self, frames: Frames) -> Result<Option<RelayEvent>, RelayError> {
        let is_of_relay = matches!(
            frames.exactly(), Some([topic, _]) if topic == topic::RELAY.as_bytes()
        );
        if !is_of_relay {
            return Ok(None); // Nothing else is for a relay.
        }
        let mut bundle = frames.into_payload();
        while let Ok(Some(item)) = next_item(&mut bundle) {
            match item {
                Item::Welcome { timeout } if self.lower.is_none() => {
                    let lower = Lower::open(&self.settings, &mut self.upper)?;
                    self.contact.on_welcome(timeout, Instant::now());
                    let endpoints = lower.endpoints().clone();
                    self.lower = Some(lower);
                    return Ok(Some(RelayEvent::Welcomed(endpoints)));
                }
                Item::Refused(reason) => {
                    self.close();
                    return Ok(Some(RelayEvent::Refused(reason)));
                }
                Item::Unknown if self.lower.is_some() => {
                    self.close();
                    return Ok(Some(RelayEvent::Lost));
                }
                Item::Message {
                    address,
                    topic,
                    payload,
                } => {
                    if let Some(lower) = &self.lower {
                        let control = self.upper.socket(lower.control());
                        // Who is gone hears nothing; the primary hears that it is gone.
                        let _ = socket::send(control, &[&address.0, &topic, &payload]);
                    }
                }
                Item::Welcome { .. }
                | Item::Unknown
                | Item::Here
                | Item::Hello { .. }
                | Item::Came(_)
                | Item::Went(_) => {}
            }
        }
        Ok(None)
    }

    /// Publishes a step, or what is said to all on `/session`.
    fn on_published(&mut self, frames: Frames) -> Option<RelayEvent> {
        let [topic, payload] = frames.exactly()?;
        let is_step = topic == topic::STEP.as_bytes();
        let is_session = topic == topic::SESSION.as_bytes();
        let session = is_session.then(|| Bytes::copy_from_slice(payload));
        if is_step {
            self.awaited.on_published();
        }
        if is_session {
            self.contact.on_last_words(Instant::now());
        }
        let lower = self.lower.as_ref()?;
        // A step that is lost to one who does not read is asked for by the primary's own rules.
        let _ = frames.pass_on(self.upper.socket(lower.step()));
        session.map(RelayEvent::Session)
    }

    fn on_presence(&mut self, presence: Presence) -> Option<RelayEvent> {
        let item = match presence {
            Presence::Came(secondary) => {
                self.present.insert(secondary.clone());
                Item::Came(secondary)
            }
            Presence::Went(secondary) => {
                self.present.remove(&secondary);
                self.awaited.on_gone(&secondary);
                Item::Went(secondary)
            }
            // A relay has no relays.
            Presence::RelayCame(_) | Presence::RelayWent(_) => return None,
        };
        self.bundle.push(&item);
        self.hold(true);
        Some(RelayEvent::Secondaries(self.present.len()))
    }

    /// Takes a message of a secondary up, now or with those of others.
    fn on_secondary(&mut self, entered: Entered) {
        let Entered {
            from,
            sender,
            topic,
            frames,
            ..
        } = entered;
        let Some(lower) = &mut self.lower else {
            return;
        };
        if topic == topic::RELAY.as_bytes() {
            let text = || format!("{from} spoke as a relay to one");
            lower.entrance.tally.note(Reason::Forbidden, text);
            let reason = "a relay takes secondaries, and no relays: connect to the primary";
            let answer = Bundle::of(&Item::Refused(reason.to_owned()));
            let control = self.upper.socket(lower.control());
            let _ = socket::send(control, &[&from.0, &topic, answer.bytes()]);
            return;
        }
        let payload = frames.into_payload();
        let fits = payload.len() + ITEM_OVERHEAD_MAX <= MESSAGE_BYTES_MAX;
        if !fits || topic.len() > TOPIC_BYTES_MAX {
            let text = || format!("{from} sent more than a relay takes in one message");
            lower.entrance.tally.note(Reason::Excess, text);
            return;
        }
        if !lower.entrance.admits(&from, sender, &topic, payload.len()) {
            return;
        }
        if topic == topic::HEARTBEAT.as_bytes() {
            let mut beat = Bundle::default();
            beat.push_message(&from, &topic, &payload);
            let frames = [topic::RELAY.as_bytes(), beat.bytes()];
            // A heartbeat that is lost is lost with the connection.
            let _ = socket::send(self.upper.socket(HEARTBEATS), &frames);
            return;
        }
        let bytes = self.bundle.bytes().len() + ITEM_OVERHEAD_MAX + payload.len();
        if bytes > MESSAGE_BYTES_MAX {
            self.send_up();
        }
        let is_ack = topic == topic::STEP_ACK.as_bytes();
        let takes_part = is_ack && self.present.contains(&from);
        let is_last = takes_part && self.awaited.on_answer(&from);
        self.bundle.push_message(&from, &topic, &payload);
        self.hold(!is_ack);
        if is_last || self.bundle.bytes().len() >= BUNDLE_BYTES_MAX {
            self.send_up();
        }
    }

    fn hold(&mut self, is_urgent: bool) {
        self.held_since.get_or_insert_with(Instant::now);
        self.is_urgent |= is_urgent;
    }

    /// Sends what waits for no others once nothing more is here to go along, and anything after its
    /// time.
    fn send_up_what_is_due(&mut self, is_idle: bool) {
        let Some(held_since) = self.held_since else {
            return;
        };
        if (self.is_urgent && is_idle) || held_since.elapsed() >= self.settings.hold {
            self.send_up();
        }
    }

    /// Sends what is held to the primary as one message.
    fn send_up(&mut self) {
        if !self.bundle.is_empty() && !self.contact.is_closing() {
            self.messages_up += 1;
            let frames = [topic::RELAY.as_bytes(), self.bundle.bytes()];
            // Its queue has no end; what is lost is lost with the connection.
            let _ = socket::send(self.upper.socket(CONTROL), &frames);
        }
        self.bundle.clear();
        (self.held_since, self.is_urgent) = (None, false);
    }
}

#[cfg(test)]
mod tests;
