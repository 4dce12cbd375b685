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

/// Number of topics that one connection may listen to: an observer hears all figures by a handful,
/// and further ones by their names.
pub(super) const TOPICS_PER_CONNECTION_MAX: usize = 512;

/// The most that the topics of one connection may take \[bytes\]: libzmq keeps each byte as a node
/// of a tree, in some 50 bytes.
pub(super) const TOPIC_BYTES_PER_CONNECTION_MAX: usize = 64 << 10;

/// The most that the topics of all connections of one key may take \[bytes\].
pub(super) const TOPIC_BYTES_PER_KEY_MAX: usize = 512 << 10;

/// Bytes that one connection has although others of its key listen to too much.
const TOPIC_BYTES_RESERVED: usize = 4 << 10;

/// Rate at which one connection may subscribe or end a subscription.
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
    /// The bytes of the topics that the connections of each key listen to.
    keys: BTreeMap<u32, usize>,
}

#[derive(Debug)]
struct Counted {
    key: u32,
    topics: usize,
    bytes: usize,
    rate: Bucket,
}

impl Subscribers {
    /// Notes that a connection of a key subscribes to what begins so.
    pub(super) fn subscribe(
        &mut self,
        by: Connection,
        key: u32,
        topic: &[u8],
        now: Instant,
    ) -> Change {
        let counted = self.connections.entry(by).or_insert_with(|| Counted {
            key,
            topics: 0,
            bytes: 0,
            rate: Bucket::full(RATE, now),
        });
        let of_key = self.keys.entry(counted.key).or_default();
        let bytes = counted.bytes + topic.len();
        let is_too_much_of_key =
            bytes > TOPIC_BYTES_RESERVED && *of_key + topic.len() > TOPIC_BYTES_PER_KEY_MAX;
        if !counted.rate.take(RATE, now)
            || counted.topics >= TOPICS_PER_CONNECTION_MAX
            || bytes > TOPIC_BYTES_PER_CONNECTION_MAX
            || is_too_much_of_key
        {
            if counted.topics == 0 {
                self.connections.remove(&by);
            }
            return Change::TooMuch;
        }
        let is_first = !self.listeners.contains_key(topic);
        let listeners = self.listeners.entry(topic.to_vec()).or_default();
        let is_new = listeners.insert(by);
        if is_new {
            counted.topics += 1;
            counted.bytes = bytes;
            *of_key += topic.len();
        }
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
            counted.bytes = counted.bytes.saturating_sub(topic.len());
            if let Some(of_key) = self.keys.get_mut(&counted.key) {
                *of_key = of_key.saturating_sub(topic.len());
            }
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsRawFd;
    use std::os::unix::net::UnixStream;

    /// Subscribes to topics of so many bytes until it is too much, and returns how many these are.
    fn fill(subscribers: &mut Subscribers, by: Connection, key: u32, bytes: usize) -> usize {
        let now = Instant::now();
        (0..1_000)
            .take_while(|number| {
                let topic = format!("{number:0bytes$}");
                subscribers.subscribe(by, key, topic.as_bytes(), now) != Change::TooMuch
            })
            .count()
    }

    #[test]
    fn a_connection_listens_to_so_many_topics_and_so_many_bytes() {
        let ends: Vec<_> = (0..20).map(|_| UnixStream::pair().unwrap()).collect();
        let connection = |at: usize| Connection::at(ends[at].0.as_raw_fd());
        let mut subscribers = Subscribers::default();
        let mut check = |at, bytes, expected| {
            let count = fill(&mut subscribers, connection(at), at as u32, bytes);
            assert_eq!(count, expected, "{bytes}");
        };
        check(0, 10, 512);
        check(1, 128, 512);
        check(2, 1_000, 65);
        check(3, 2_000, 32);
    }

    #[test]
    fn the_connections_of_a_key_share_its_topics_and_each_has_some_of_its_own() {
        let ends: Vec<_> = (0..20).map(|_| UnixStream::pair().unwrap()).collect();
        let connection = |at: usize| Connection::at(ends[at].0.as_raw_fd());
        let mut subscribers = Subscribers::default();
        let now = Instant::now();
        let topic = |at: usize, number: usize| format!("{at:02}{number:0998}");
        let mut subscribe = |at: usize, key, number| {
            let topic = topic(at, number);
            subscribers.subscribe(connection(at), key, topic.as_bytes(), now) != Change::TooMuch
        };
        let mut fill = |at, key| (0..100).take_while(|n| subscribe(at, key, *n)).count();
        let counts: Vec<usize> = (0..10).map(|at| fill(at, 7)).collect();
        assert_eq!(counts, [65, 65, 65, 65, 65, 65, 65, 65, 4, 4]);
        assert_eq!(fill(10, 8), 65, "another key has its own");
        // What ends gives room to the others.
        for number in 0..65 {
            subscribers.end(connection(0), topic(0, number).as_bytes(), now);
        }
        let again = (4..100).take_while(|number| {
            let topic = topic(9, *number);
            subscribers.subscribe(connection(9), 7, topic.as_bytes(), now) != Change::TooMuch
        });
        assert!(again.count() > 40);
    }
}
