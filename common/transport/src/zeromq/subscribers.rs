//! [`Subscribers`]: who listens to what on a publishing socket, connection by connection.
//!
//! libzmq hands on what a subscriber sends as it came, also the end of a subscription that the
//! sender never had; what libzmq itself says of a connection that is gone names no connection.
//! **Invariant:** a topic counts as listened to as long as somebody listens to it, whatever others
//! send. It may count so for longer, until the next connection that listened to it is gone.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use zmq_options::Connection;

use crate::rate::{Bucket, Rate};

/// How many topics one connection may listen to: an observer hears all figures by a handful, and
/// further ones by their names.
pub(super) const TOPICS_PER_CONNECTION_MAX: usize = 512;

/// How often one connection may subscribe or end a subscription.
const RATE: Rate = Rate {
    per_second: 1_000.0,
    at_once: 4_000.0,
};

/// Change that a subscription makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// Somebody listens to the topic, and nobody did before.
    First,
    /// Nobody listens to the topic any more.
    Last,
    /// Nothing.
    None,
    /// The connection asks for more than it may, and is to end.
    TooMuch,
}

/// Listeners of all topics.
#[derive(Debug, Default)]
pub(super) struct Subscribers {
    listeners: BTreeMap<Vec<u8>, BTreeSet<Connection>>,
    connections: BTreeMap<Connection, Counted>,
}

#[derive(Debug)]
struct Counted {
    topics: usize,
    rate: Bucket,
}

impl Subscribers {
    /// Notes that a connection subscribes to what begins so.
    pub(super) fn subscribe(&mut self, by: Connection, topic: &[u8], now: Instant) -> Change {
        let counted = self.connections.entry(by).or_insert_with(|| Counted {
            topics: 0,
            rate: Bucket::full(RATE, now),
        });
        if !counted.rate.take(RATE, now) || counted.topics >= TOPICS_PER_CONNECTION_MAX {
            return Change::TooMuch;
        }
        let is_first = !self.listeners.contains_key(topic);
        let listeners = self.listeners.entry(topic.to_vec()).or_default();
        let is_new = listeners.insert(by);
        counted.topics += usize::from(is_new);
        if is_first {
            Change::First
        } else {
            Change::None
        }
    }

    /// Notes that a connection ends a subscription; nothing if it has none.
    pub(super) fn end(&mut self, by: Connection, topic: &[u8], now: Instant) -> Change {
        if let Some(counted) = self.connections.get_mut(&by)
            && !counted.rate.take(RATE, now)
        {
            return Change::TooMuch;
        }
        let is_its = |listeners: &BTreeSet<Connection>| listeners.contains(&by);
        if !self.listeners.get(topic).is_some_and(is_its) {
            return Change::None;
        }
        self.remove(by, topic)
    }

    /// Notes that a connection which listened to this is gone: one that is closed, else any.
    pub(super) fn lose(&mut self, topic: &[u8]) -> Change {
        let Some(listeners) = self.listeners.get(topic) else {
            return Change::None;
        };
        let closed = listeners.iter().find(|one| one.is_closed());
        match closed.or(listeners.first()).copied() {
            Some(gone) => self.remove(gone, topic),
            None => Change::None,
        }
    }

    /// Returns the topics that a connection listens to.
    pub(super) fn topics_of(&self, by: Connection) -> Vec<&[u8]> {
        if !self.connections.contains_key(&by) {
            return Vec::new();
        }
        let topics = self.listeners.iter();
        let its = topics.filter(|(_, listeners)| listeners.contains(&by));
        its.map(|(topic, _)| topic.as_slice()).collect()
    }

    fn remove(&mut self, by: Connection, topic: &[u8]) -> Change {
        if let Some(counted) = self.connections.get_mut(&by) {
            counted.topics = counted.topics.saturating_sub(1);
            if counted.topics == 0 && by.is_closed() {
                self.connections.remove(&by);
            }
        }
        let Some(listeners) = self.listeners.get_mut(topic) else {
            return Change::None;
        };
        listeners.remove(&by);
        if !listeners.is_empty() {
            return Change::None;
        }
        self.listeners.remove(topic);
        Change::Last
    }
}
