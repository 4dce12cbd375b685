//! [`Entrance`]: what secondaries send on `control` and `step`, checked before anybody acts on it.
//!
//! A primary and a relay have the same: who sends is known by its key, what it sends is of a size
//! that its role allows, and an address belongs to the key that subscribed under it.

use std::sync::Arc;
use std::time::Instant;

use protocol::{RoutingId, topic};
use zmq_options::Connection;

use super::door::Door;
use super::gate::{Gate, Sender};
use super::inbox::Frames;
use super::primary::{SUBSCRIBE, UNSUBSCRIBE};
use super::roll::Roll;
use crate::refusals::{Reason, Tally};

/// Checks what secondaries and relays send.
pub(super) struct Entrance {
    pub(super) gate: Gate,
    pub(super) roll: Roll,
    pub(super) tally: Tally,
    /// Thread that decides which peers may enter, where that is decided by keys.
    pub(super) door: Option<Arc<Door>>,
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
    pub(super) fn new(tally: Tally, roll: Roll, door: Option<Arc<Door>>) -> Self {
        Self {
            gate: Gate::new(tally.clone()),
            roll,
            tally,
            door,
        }
    }

    /// Tells whether somebody still decides who may enter, where that is decided at all.
    pub(super) fn is_kept(&self) -> bool {
        self.door.as_ref().is_none_or(|door| door.is_kept())
    }

    /// Returns who sent a message; `None` if that should be known and is not, or may be heard no
    /// more.
    fn sender_of(&self, frames: &mut Frames, socket: &'static str) -> Option<Sender> {
        match &self.door {
            Some(door) => door.sender(frames, socket),
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
        // Secondaries are called by their names; addresses that libzmq gives are of nobody here.
        let is_named = from.0.first().is_some_and(u8::is_ascii_alphanumeric);
        let is_right = is_named && topic != topic::REQUEST.as_bytes();
        if !is_right {
            let text = || "something came on `control` that is not of a secondary".to_owned();
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

    /// Returns what a subscription to `step` says about one secondary or relay, if anything.
    pub(super) fn on_subscriber(&mut self, frames: &mut Frames) -> Option<Presence> {
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
        if *what == SUBSCRIBE {
            // What libzmq says of a connection that is gone has no sender; what comes has one.
            if self.door.is_none() {
                self.roll.hear(0, frames.origin(), "step");
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
