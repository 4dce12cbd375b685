//! [`Relays`]: a primary's relays, and the secondaries behind each.
//!
//! A message of a relay is unpacked here, so that its parts are to the primary what they would be
//! if each secondary had connections of its own. A relay speaks for any secondary, as whoever has a
//! secondary's key may, and for none that another relay or a connection of its own stands for.

use std::collections::{BTreeMap, VecDeque};

use bytes::Bytes;
use protocol::{ProtocolVersion, RoutingId, topic};
use zmq_options::Connection;

use super::bundle::{Item, next_item};
use super::entrance::{Entered, Entrance};
use super::gate::Sender;
use crate::link::Arrival;
use crate::refusals::Reason;

/// Number of addresses behind all relays together: a secondary has two.
const ROUTES_MAX: usize = 8192;

/// Relays and what came through them.
#[derive(Default)]
pub(super) struct Relays {
    /// Relays whose subscription is in force, and the names of those that have said theirs.
    present: BTreeMap<RoutingId, Option<String>>,
    /// The relay through which an address is reached.
    routes: BTreeMap<RoutingId, RoutingId>,
    /// Parts of messages that are still to be returned.
    waiting: VecDeque<Relayed>,
}

/// Part of a relay's message, with the key and the connection that it came by.
pub(super) struct Relayed {
    pub(super) key: u32,
    pub(super) connection: Option<Connection>,
    pub(super) arrival: Arrival,
}

/// Who speaks through a relay: the relay, and what its connection says of it.
struct Origin {
    relay: RoutingId,
    sender: Sender,
    connection: Option<Connection>,
}

impl Relays {
    /// Takes in that a relay's subscription is in force.
    pub(super) fn come(&mut self, relay: RoutingId) {
        self.present.entry(relay).or_default();
    }

    /// Takes in that a relay is gone, and with it all secondaries behind it.
    pub(super) fn go(&mut self, relay: &RoutingId, entrance: &mut Entrance) {
        self.present.remove(relay);
        let gone = self.routes.extract_if(.., |_, through| through == relay);
        for (address, _) in gone {
            if entrance.gate.release(&address) {
                self.waiting.push_back(Relayed {
                    key: 0,
                    connection: None,
                    arrival: Arrival::Unsubscribed(address),
                });
            }
        }
    }

    /// Returns the relay through which an address is reached, if it is behind one.
    pub(super) fn route(&self, address: &RoutingId) -> Option<&RoutingId> {
        self.routes.get(address)
    }

    /// Returns the name of the relay through which a secondary takes part.
    pub(super) fn name_of_route(&self, address: &RoutingId) -> Option<&str> {
        self.present.get(self.routes.get(address)?)?.as_deref()
    }

    /// Returns the next part of what came through relays.
    pub(super) fn next(&mut self) -> Option<Relayed> {
        self.waiting.pop_front()
    }

    /// Unpacks the message of a relay; returns what to say to it, if anything.
    pub(super) fn on_message(
        &mut self,
        entered: Entered,
        entrance: &mut Entrance,
    ) -> Option<(RoutingId, Item)> {
        let Entered {
            from: relay,
            sender,
            connection,
            frames,
            ..
        } = entered;
        let origin = Origin {
            relay,
            sender,
            connection,
        };
        let mut bundle: Bytes = frames.into_payload();
        loop {
            match next_item(&mut bundle) {
                Ok(Some(Item::Hello { name, version })) => {
                    return self.on_hello(origin.relay, name, version);
                }
                Ok(Some(item)) if self.is_welcome(&origin.relay) => {
                    self.on_item(item, &origin, entrance);
                }
                Ok(None) => return None,
                Ok(Some(_)) | Err(_) => {
                    let text = || format!("{} is no relay, and spoke as one", origin.relay);
                    entrance.tally.note(Reason::Malformed, text);
                    // One that lost its subscription for a moment has lost its secondaries.
                    let reason = "the relay's connection to steps was lost".to_owned();
                    return Some((origin.relay, Item::Refused(reason)));
                }
            }
        }
    }

    fn is_welcome(&self, relay: &RoutingId) -> bool {
        self.present.get(relay).is_some_and(Option::is_some)
    }

    /// Answers a relay once its subscription is seen; until then it repeats its greeting.
    fn on_hello(
        &mut self,
        relay: RoutingId,
        name: String,
        version: u32,
    ) -> Option<(RoutingId, Item)> {
        let own = u32::from(u16::from(ProtocolVersion::CURRENT));
        if version != own {
            let reason = format!(
                "the relay speaks version {version} of the protocol, and its primary version {own}"
            );
            return Some((relay, Item::Refused(reason)));
        }
        *self.present.get_mut(&relay)? = Some(name);
        Some((relay, Item::Welcome))
    }

    fn on_item(&mut self, item: Item, origin: &Origin, entrance: &mut Entrance) {
        let arrival = match item {
            Item::Came(address) => {
                let may_come = self.may_speak_for(&address, origin, entrance)
                    && entrance.gate.hold(&address, origin.sender);
                may_come.then_some(Arrival::Subscribed(address))
            }
            Item::Went(address) => {
                if self.routes.get(&address) != Some(&origin.relay) {
                    return;
                }
                self.routes.remove(&address);
                self.routes.remove(&address.heartbeat());
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
                is_heard.then_some(Arrival::Message {
                    from: Some(address),
                    access: origin.sender.access,
                    topic,
                    payload,
                })
            }
            Item::Hello { .. } | Item::Welcome | Item::Refused(_) => None,
        };
        self.waiting.extend(arrival.map(|arrival| Relayed {
            key: origin.sender.key,
            connection: origin.connection,
            arrival,
        }));
    }

    /// Tells whether a relay may speak for an address, and notes that it does.
    fn may_speak_for(&mut self, address: &RoutingId, origin: &Origin, entrance: &Entrance) -> bool {
        let known = self.routes.get(address);
        if known == Some(&origin.relay) {
            return true;
        }
        // Who is held and behind no relay has connections of its own.
        let is_of_another = known.is_some() || entrance.gate.key_of(address).is_some();
        if is_of_another || self.present.contains_key(address) {
            let text = || format!("the relay {} used the address of another", origin.relay);
            entrance.tally.note(Reason::Forbidden, text);
            return false;
        }
        if self.routes.len() >= ROUTES_MAX {
            let text = || format!("there are more than {ROUTES_MAX} addresses behind relays");
            entrance.tally.note(Reason::Excess, text);
            return false;
        }
        self.routes.insert(address.clone(), origin.relay.clone());
        true
    }
}
