//! [`Entrance`]: what secondaries send on `control` and `step`, checked before anybody acts on it.
//!
//! A primary and a relay have the same: who sends is known by its key, what it sends is of a size
//! that its role allows, and an address belongs to the key that subscribed under it.

use std::sync::Arc;
use std::time::Instant;

use protocol::{RoutingId, topic};
use zmq_options::Connection;

use super::admitted_keys::AdmittedKeys;
use super::authenticator::Authenticator;
use super::bundle::ADDRESS_BYTES_MAX;
use super::gate::{Gate, Sender};
use super::inbox::Frames;
use super::primary::{SUBSCRIBE, UNSUBSCRIBE};
use crate::refusals::{Reason, Tally};

/// Checks what secondaries and relays send.
pub(super) struct Entrance {
    pub(super) gate: Gate,
    pub(super) admitted_keys: AdmittedKeys,
    pub(super) tally: Tally,
    /// Thread that decides which peers may enter, where that is decided by keys.
    pub(super) authenticator: Option<Arc<Authenticator>>,
}

/// A message on `control` whose sender is known.
pub(super) struct Entered {
    pub(super) from: RoutingId,
    pub(super) sender: Sender,
    pub(super) connection: Option<Connection>,
    pub(super) topic: Vec<u8>,
    pub(super) frames: Frames,
}

/// Change of a subscription to `step`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Presence {
    /// That of a secondary is in force.
    Came(RoutingId),
    /// That of a secondary is gone.
    Went(RoutingId),
    /// That of a relay is in force.
    RelayCame(RoutingId),
    /// That of a relay is gone.
    RelayWent(RoutingId),
}

impl Entrance {
    pub(super) fn new(
        tally: Tally,
        admitted_keys: AdmittedKeys,
        authenticator: Option<Arc<Authenticator>>,
    ) -> Self {
        Self {
            gate: Gate::new(tally.clone()),
            admitted_keys,
            tally,
            authenticator,
        }
    }

    /// Tells whether somebody still decides who may enter, where that is decided at all.
    pub(super) fn is_kept(&self) -> bool {
        self.authenticator
            .as_ref()
            .is_none_or(|authenticator| authenticator.is_kept())
    }

    /// Returns who sent a message; `None` if that should be known and is not, or may be heard no
    /// more.
    fn sender_of(&self, frames: &mut Frames, socket: &'static str) -> Option<Sender> {
        match &self.authenticator {
            Some(authenticator) => authenticator.sender(frames, socket),
            None => Some(Sender::ANYBODY),
        }
    }

    /// Tells whether the sender of a message on `data` may be heard.
    pub(super) fn admits_data(&self, frames: &mut Frames) -> bool {
        self.sender_of(frames, "data").is_some()
    }

    /// Returns a message on `control` whose sender may be one of those who speak there.
    pub(super) fn on_control(&self, mut frames: Frames) -> Option<Entered> {
        let sender = self.sender_of(&mut frames, "control")?;
        let connection = frames.origin();
        let Some([from, topic, _]) = frames.exactly() else {
            self.note_malformed();
            return None;
        };
        let (from, topic) = (RoutingId(from.to_vec()), topic.to_vec());
        self.is_of_secondary(&from, &topic).then_some(Entered {
            from,
            sender,
            connection,
            topic,
            frames,
        })
    }

    /// Tells whether an address and a topic are such as secondaries use.
    pub(super) fn is_of_secondary(&self, from: &RoutingId, topic: &[u8]) -> bool {
        let is_right = is_address(&from.0) && topic != topic::REQUEST.as_bytes();
        if !is_right {
            let text = || "something came on `control` that is not of a secondary".to_owned();
            self.tally.note(Reason::Malformed, text);
        }
        is_right
    }

    /// Tells whether an address is one under which a secondary may come.
    pub(super) fn is_address_of_secondary(&self, address: &RoutingId) -> bool {
        let is_right = is_address(&address.0);
        if !is_right {
            let text = || "a subscription to steps under no address of a secondary".to_owned();
            self.tally.note(Reason::Malformed, text);
        }
        is_right
    }

    /// Tells whether a message is of a size and a sender that are let through.
    pub(super) fn admits(
        &mut self,
        from: &RoutingId,
        sender: Sender,
        topic: &[u8],
        payload_bytes: usize,
    ) -> bool {
        let bytes = topic.len() + payload_bytes;
        self.gate.admits(from, sender, topic, bytes, Instant::now())
    }

    /// Returns what a subscription to `step` says about one secondary or relay, if anything. Who
    /// `is_behind_relay` cannot have one.
    pub(super) fn on_subscriber(
        &mut self,
        frames: &mut Frames,
        is_behind_relay: impl Fn(&RoutingId) -> bool,
    ) -> Option<Presence> {
        let sender = self.sender_of(frames, "step");
        let Some([[what, topic @ ..]]) = frames.exactly() else {
            self.note_malformed();
            return None;
        };
        // The other topics are shared: that they are subscribed to says nothing of one secondary.
        let (of_secondary, of_relay) = (
            topic::presence_routing_id(topic),
            topic::relay_routing_id(topic),
        );
        let routing_id = RoutingId(of_secondary.or(of_relay)?.to_vec());
        let is_relay = of_relay.is_some();
        if !self.is_address_of_secondary(&routing_id) {
            return None;
        }
        if is_behind_relay(&routing_id) {
            if *what == SUBSCRIBE {
                let text = || format!("{routing_id} is behind a relay, and came by itself, too");
                self.tally.note(Reason::Forbidden, text);
            }
            return None;
        }
        if *what == SUBSCRIBE {
            // What libzmq says of a connection that is gone has no sender; what comes has one.
            if self.authenticator.is_none() {
                self.admitted_keys.hear(0, frames.origin(), "step");
            }
            let is_held = self.gate.hold(&routing_id, sender?);
            return is_held.then_some(if is_relay {
                Presence::RelayCame(routing_id)
            } else {
                Presence::Came(routing_id)
            });
        }
        if *what != UNSUBSCRIBE {
            self.note_malformed();
            return None;
        }
        let was_held = self.gate.release(&routing_id);
        was_held.then_some(if is_relay {
            Presence::RelayWent(routing_id)
        } else {
            Presence::Went(routing_id)
        })
    }

    pub(super) fn note_malformed(&self) {
        let text = || "a message of too few or too many frames".to_owned();
        self.tally.note(Reason::Malformed, text);
    }
}

/// Tells whether bytes are an address that a secondary or a relay gives itself.
fn is_address(bytes: &[u8]) -> bool {
    // They are called by their names; addresses that libzmq gives are of nobody here.
    bytes.len() <= ADDRESS_BYTES_MAX && bytes.first().is_some_and(u8::is_ascii_alphanumeric)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subscription_is_that_of_a_secondary_only_under_an_address() {
        let tally = Tally::default();
        let mut entrance = Entrance::new(tally.clone(), AdmittedKeys::default(), None);
        let mut says = |what: u8, address: &[u8]| {
            let message = [&[what][..], &topic::step_presence(address)].concat();
            entrance.on_subscriber(&mut Frames::of(&[&message]), |_| false)
        };
        let long = [b's'; ADDRESS_BYTES_MAX + 1];
        for address in [&b""[..], b"_s1", b"\0abcd", &long] {
            for what in [SUBSCRIBE, UNSUBSCRIBE] {
                assert_eq!(says(what, address), None, "{address:?}");
            }
        }
        let counts = tally.take(Instant::now(), true).unwrap().counts;
        assert_eq!(counts.malformed, 8);
        for address in [&b"s1-0"[..], &long[1..]] {
            let address = RoutingId(address.to_vec());
            let came = says(SUBSCRIBE, &address.0);
            assert_eq!(came, Some(Presence::Came(address.clone())));
            let went = says(UNSUBSCRIBE, &address.0);
            assert_eq!(went, Some(Presence::Went(address)));
        }
    }

    #[test]
    fn whoever_is_behind_a_relay_has_no_subscription_of_its_own() {
        let tally = Tally::default();
        let mut entrance = Entrance::new(tally.clone(), AdmittedKeys::default(), None);
        let behind = RoutingId::from("s1-0");
        assert!(entrance.gate.hold(&behind, Sender::ANYBODY));
        for what in [SUBSCRIBE, UNSUBSCRIBE] {
            let message = [&[what][..], &topic::step_presence(&behind.0)].concat();
            let said = entrance.on_subscriber(&mut Frames::of(&[&message]), |it| *it == behind);
            assert_eq!(said, None);
        }
        assert!(entrance.gate.key_of(&behind).is_some(), "it is still held");
        let counts = tally.take(Instant::now(), true).unwrap().counts;
        assert_eq!(counts.forbidden, 1);
    }
}
