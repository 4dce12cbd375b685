//! [`Relays`]: a primary's relays, and the secondaries behind each.
//!
//! A message of a relay is unpacked here, so that its parts are to the primary what they would be
//! if each secondary had connections of its own. A relay speaks for any secondary, as whoever has a
//! secondary's key may, and for none that another relay or a connection of its own stands for.

use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant};

use bytes::Bytes;
use protocol::{PeerName, ProtocolVersion, RoutingId, topic};
use zmq_options::Connection;

use super::bundle::{Item, Malformed, next_item};
use super::entrance::{Entered, Entrance};
use super::gate::Sender;
use crate::link::Arrival;
use crate::refusals::Reason;

/// Number of addresses that are reached through relays before their subscriptions are in force.
const GUESTS_MAX: usize = 1024;

/// Number of parts of one message that may be turned away; then the others are, too.
const REFUSED_PARTS_MAX: u32 = 1024;

/// Time without a look from which it is a stall of the primary's own.
const STALL: Duration = Duration::from_millis(100);

/// Relays and what came through them.
#[derive(Default)]
pub(super) struct Relays {
    /// Relays whose subscription is in force.
    present: BTreeMap<RoutingId, Present>,
    /// The relay through which a secondary takes part. No more than the gate holds.
    routes: BTreeMap<RoutingId, RoutingId>,
    /// The same of who has spoken, and whose subscription is not in force; the oldest give way.
    guests: VecDeque<(RoutingId, RoutingId)>,
    /// Message of which parts are still to be returned.
    unpacked: Option<Unpacked>,
    /// Secondaries that are gone with their relay, and its name.
    gone: VecDeque<(RoutingId, PeerName)>,
    /// The one of them that was told of last.
    last_gone: Option<(RoutingId, PeerName)>,
    /// Silence after which secondaries give the primary up.
    timeout: Duration,
    /// Time when the primary looked last for what came.
    looked_at: Option<Instant>,
}

/// A relay whose subscription is in force.
struct Present {
    /// Its name, once it has said it.
    name: Option<PeerName>,
    /// Time of its last message, or of its coming.
    heard_at: Instant,
}

/// Next part of what came through relays.
pub(super) enum Next {
    /// It is for the primary.
    Arrival(Relayed),
    /// It is to be answered, to this address of a relay.
    Answer(RoutingId, Item),
}

/// Part of a relay's message, with the key and the connection that it came by.
pub(super) struct Relayed {
    pub(super) key: u32,
    pub(super) connection: Option<Connection>,
    pub(super) arrival: Arrival,
}

/// Message that is unpacked part by part.
struct Unpacked {
    origin: Origin,
    rest: Bytes,
    /// Number of its parts that were turned away.
    refused: u32,
}

/// Origin of a message through a relay: the relay, and what its connection says of it.
#[derive(Clone)]
struct Origin {
    relay: RoutingId,
    /// The address that it came from: a relay has one more for heartbeats.
    from: RoutingId,
    sender: Sender,
    connection: Option<Connection>,
}

impl Relays {
    /// Notes after which silence of the primary secondaries give it up, to tell relays of it; zero
    /// for never.
    pub(super) fn set_timeout(&mut self, timeout: Duration) {
        self.timeout = timeout;
    }

    /// Takes in that a relay's subscription is in force.
    pub(super) fn come(&mut self, relay: RoutingId) {
        self.present.entry(relay).or_insert_with(|| Present {
            name: None,
            heard_at: Instant::now(),
        });
    }

    /// Takes in that a relay is gone, and with it all secondaries behind it.
    pub(super) fn go(&mut self, relay: &RoutingId, entrance: &mut Entrance) {
        let name = self.present.remove(relay).and_then(|one| one.name);
        self.guests.retain(|(_, through)| through != relay);
        let gone = self.routes.extract_if(.., |_, through| through == relay);
        // Only one that has said its name stands for secondaries.
        let gone = gone.filter_map(|(address, _)| Some((address, name.clone()?)));
        self.gone
            .extend(gone.filter(|(address, _)| entrance.gate.release(address)));
    }

    /// Returns the relay through which an address is reached, if it is behind one.
    pub(super) fn route(&self, address: &RoutingId) -> Option<RoutingId> {
        // Heartbeats go by an address of the relay that is for them alone.
        if let Some(stepper) = address.stepper() {
            return self.routes.get(&stepper).map(RoutingId::heartbeat);
        }
        let mut guests = self.guests.iter();
        let guest = || guests.find_map(|(guest, relay)| (guest == address).then_some(relay));
        self.routes.get(address).or_else(guest).cloned()
    }

    /// Tells whether a relay speaks for a secondary whose subscription is in force.
    pub(super) fn stand_for(&self, secondary: &RoutingId) -> bool {
        self.routes.contains_key(&stepper_of(secondary))
    }

    /// Takes in that a secondary has come by a connection of its own.
    pub(super) fn forget_guest(&mut self, secondary: &RoutingId) {
        self.guests.retain(|(guest, _)| guest != secondary);
    }

    /// Returns the name of the relay through which a secondary takes part.
    pub(super) fn name_of_route(&self, address: &RoutingId) -> Option<&str> {
        let relay = self.present.get(self.routes.get(address)?)?;
        relay.name.as_ref().map(PeerName::as_str)
    }

    /// Returns for how long the relay was not heard through which a secondary takes part.
    pub(super) fn silence_of_route(&self, address: &RoutingId) -> Option<Duration> {
        let relay = self.present.get(self.routes.get(address)?)?;
        Some(relay.heard_at.elapsed())
    }

    /// Notes that the primary has looked for what came, for which it may have waited so long. Time
    /// beyond that is no silence of relays: what they said meanwhile waits to be read.
    pub(super) fn look_up(&mut self, timeout: Option<Duration>) {
        if self.present.is_empty() {
            self.looked_at = None;
        } else {
            self.look_up_at(timeout, Instant::now());
        }
    }

    fn look_up_at(&mut self, timeout: Option<Duration>, now: Instant) {
        let last = self.looked_at.replace(now);
        let (Some(last), Some(timeout)) = (last, timeout) else {
            return;
        };
        let away = now.saturating_duration_since(last).saturating_sub(timeout);
        if away < STALL {
            return;
        }
        for relay in self.present.values_mut() {
            relay.heard_at = (relay.heard_at + away).min(now);
        }
    }

    /// Returns the name of the lost relay with which a secondary is gone, if the part that was
    /// returned last says so.
    pub(super) fn lost_relay_of(&self, secondary: &RoutingId) -> Option<&str> {
        let (_, relay) = self
            .last_gone
            .as_ref()
            .filter(|(one, _)| one == secondary)?;
        Some(relay.as_str())
    }

    /// Takes the message of a relay, whose parts [`Relays::next`] returns.
    pub(super) fn on_message(&mut self, entered: Entered) {
        assert!(
            self.unpacked.is_none(),
            "a message is unpacked before the next one is received"
        );
        let from = entered.from;
        let relay = stepper_of(&from);
        if let Some(present) = self.present.get_mut(&relay) {
            present.heard_at = Instant::now();
        }
        self.unpacked = Some(Unpacked {
            origin: Origin {
                relay,
                from,
                sender: entered.sender,
                connection: entered.connection,
            },
            rest: entered.frames.into_payload(),
            refused: 0,
        });
    }

    /// Returns the next part of what came through relays; `None` once all is unpacked.
    pub(super) fn next(&mut self, entrance: &mut Entrance) -> Option<Next> {
        self.last_gone = self.gone.pop_front();
        if let Some((address, _)) = self.last_gone.clone() {
            return Some(Next::Arrival(Relayed {
                key: 0,
                connection: None,
                arrival: Arrival::Unsubscribed(address),
            }));
        }
        let mut unpacked = self.unpacked.take()?;
        while unpacked.refused < REFUSED_PARTS_MAX {
            let origin = &unpacked.origin;
            let next = match next_item(&mut unpacked.rest) {
                Ok(None) => return None,
                Ok(Some(Item::Hello { name, version })) => {
                    // Whatever follows is of a relay that is not welcome yet.
                    let answer = self.on_hello(&origin.relay, &name, version)?;
                    return Some(Next::Answer(origin.from.clone(), answer));
                }
                Ok(Some(item)) if self.is_welcome(&origin.relay) => {
                    self.on_item(item, origin, entrance)
                }
                // One that lost its subscription for a moment has lost its secondaries.
                Ok(Some(_)) => return Some(Next::Answer(origin.from.clone(), Item::Unknown)),
                Err(Malformed) => {
                    let text = || format!("{} is no relay, and spoke as one", origin.relay);
                    entrance.tally.note(Reason::Malformed, text);
                    let reason = "the relay broke the rules of the protocol".to_owned();
                    return Some(Next::Answer(origin.from.clone(), Item::Refused(reason)));
                }
            };
            if let Some(arrival) = next {
                let relayed = Relayed {
                    key: origin.sender.key,
                    connection: origin.connection,
                    arrival,
                };
                self.unpacked = Some(unpacked);
                return Some(Next::Arrival(relayed));
            }
            unpacked.refused += 1;
        }
        let text = || format!("{} sent too much that is refused", unpacked.origin.relay);
        entrance.tally.note(Reason::Excess, text);
        None
    }

    fn is_welcome(&self, relay: &RoutingId) -> bool {
        let present = self.present.get(relay);
        present.is_some_and(|one| one.name.is_some())
    }

    /// Answers a relay once its subscription is seen; until then it repeats its greeting.
    fn on_hello(&mut self, relay: &RoutingId, name: &str, version: u32) -> Option<Item> {
        let own = u32::from(u16::from(ProtocolVersion::CURRENT));
        if version != own {
            let reason = format!(
                "the relay speaks version {version} of the protocol, and its primary version {own}"
            );
            return Some(Item::Refused(reason));
        }
        let Ok(name) = name.parse() else {
            let reason = "the relay's name is not one that a peer may have".to_owned();
            return Some(Item::Refused(reason));
        };
        // It keeps the name that it has said first: that one is blamed for what is lost with it.
        self.present.get_mut(relay)?.name.get_or_insert(name);
        let timeout = self.timeout;
        Some(Item::Welcome { timeout })
    }

    /// Returns what a part says to the primary; `None` if it is turned away.
    fn on_item(&mut self, item: Item, origin: &Origin, entrance: &mut Entrance) -> Option<Arrival> {
        match item {
            Item::Came(address) => {
                let may_come = entrance.is_address_of_secondary(&address)
                    && self.may_speak_for(&address, origin, entrance)
                    && entrance.gate.hold(&address, origin.sender);
                if !may_come {
                    return None;
                }
                self.guests.retain(|(guest, _)| *guest != address);
                self.routes.insert(address.clone(), origin.relay.clone());
                Some(Arrival::Subscribed(address))
            }
            Item::Went(address) => {
                if self.routes.get(&address) != Some(&origin.relay) {
                    return None;
                }
                self.routes.remove(&address);
                let was_held = entrance.gate.release(&address);
                was_held.then_some(Arrival::Unsubscribed(address))
            }
            Item::Message {
                address,
                topic,
                payload,
            } => {
                let is_heard = topic != topic::RELAY.as_bytes()
                    && entrance.is_of_secondary(&address, &topic)
                    && self.may_speak_for(&address, origin, entrance)
                    && entrance.admits(&address, origin.sender, &topic, payload.len());
                if !is_heard {
                    return None;
                }
                self.note_guest(&address, origin);
                Some(Arrival::Message {
                    from: Some(address),
                    access: origin.sender.access,
                    topic,
                    payload,
                })
            }
            Item::Hello { .. }
            | Item::Welcome { .. }
            | Item::Refused(_)
            | Item::Unknown
            | Item::Here => None,
        }
    }

    /// Tells whether a relay may speak for an address.
    fn may_speak_for(&self, address: &RoutingId, origin: &Origin, entrance: &Entrance) -> bool {
        let stepper = stepper_of(address);
        let is_of_another = match self.routes.get(&stepper) {
            Some(relay) => *relay != origin.relay,
            // Who is held and behind no relay has connections of its own.
            None => entrance.gate.key_of(&stepper).is_some(),
        };
        if is_of_another || self.present.contains_key(&stepper) {
            let text = || format!("the relay {} used the address of another", origin.relay);
            entrance.tally.note(Reason::Forbidden, text);
            return false;
        }
        true
    }

    /// Notes through whom somebody is answered whose subscription is not in force yet.
    fn note_guest(&mut self, address: &RoutingId, origin: &Origin) {
        let is_heartbeat = address.stepper().is_some();
        if is_heartbeat || self.routes.contains_key(address) {
            return;
        }
        self.guests.retain(|(guest, _)| guest != address);
        if self.guests.len() >= GUESTS_MAX {
            self.guests.pop_front();
        }
        let guest = (address.clone(), origin.relay.clone());
        self.guests.push_back(guest);
    }
}

/// Returns the address of a secondary or relay, also if that of its heartbeat is given.
fn stepper_of(address: &RoutingId) -> RoutingId {
    address.stepper().unwrap_or_else(|| address.clone())
}

#[cfg(test)]
mod tests;
