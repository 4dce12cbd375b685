//! [`Listening`]: the connections that listen to topics of a live run.
//!
//! A run cuts a connection that listens to too much, so that many topics are shared out among
//! several connections. A topic stays where it is as long as it is wanted: others who listen miss
//! nothing when a client comes or goes.

use std::collections::BTreeSet;

use client::{Connection, News, Reach};
use futures_util::future::select_all;
use protocol::TopicMessage;
use tokio::time::{Instant, sleep_until};

use crate::live::REOPEN_TIME;

/// The most topics of a connection, of the 512 that a run takes.
const TOPICS_MAX: usize = 400;
/// The most bytes that the topics of a connection take, of the 64 KiB that a run takes \[bytes\].
const BYTES_MAX: usize = 48 << 10;
/// The most connections; together they stay below the 512 KiB that a run takes of one key.
const CONNECTIONS_MAX: usize = 10;
const _: () = assert!(CONNECTIONS_MAX * BYTES_MAX <= 512 << 10);
/// Bytes that a topic takes beside its name \[bytes\].
const TOPIC_BYTES: usize = 32;

/// Connections that listen to topics, while any are wanted.
#[derive(Default)]
pub(crate) struct Listening {
    listeners: Vec<Listener>,
    /// The listener whose turn it is to be heard first.
    turn: usize,
}

/// A connection with its share of the topics.
#[derive(Default)]
struct Listener {
    share: Share,
    connection: Option<Connection>,
    reopen_at: Option<Instant>,
}

/// Topics of a connection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Share {
    topics: BTreeSet<String>,
    bytes: usize,
}

impl Listening {
    /// Listens to these topics; returns how many of them there is no room for.
    pub(crate) fn listen(&mut self, topics: BTreeSet<String>) -> usize {
        let topics = topics.into_iter();
        let wanted: BTreeSet<String> = topics
            .filter(|topic| protocol::topic::is_message_name(topic))
            .collect();
        let mut shares: Vec<Share> = self.listeners.iter().map(|one| one.share.clone()).collect();
        let left_out = share_out(&mut shares, &wanted);
        self.listeners.resize_with(shares.len(), Listener::default);
        for (listener, share) in self.listeners.iter_mut().zip(shares) {
            listener.set(share);
        }
        left_out
    }

    /// Waits for a message; each connection has its turn. May be dropped and called again.
    pub(crate) async fn next(&mut self, reach: &Reach) -> TopicMessage {
        if self.listeners.is_empty() {
            return std::future::pending().await;
        }
        self.turn = (self.turn + 1) % self.listeners.len();
        let (earlier, later) = self.listeners.split_at_mut(self.turn);
        let turns = later.iter_mut().chain(earlier);
        let (message, _, _) = select_all(turns.map(|one| Box::pin(one.next(reach)))).await;
        message
    }
}

impl Listener {
    /// Listens to these topics: by the connection that there is, or by one that
    /// [`Listener::next`] sets up.
    fn set(&mut self, share: Share) {
        if self.share == share {
            return;
        }
        self.share = share;
        match &mut self.connection {
            Some(connection) if self.reopen_at.is_none() && !self.share.topics.is_empty() => {
                connection.listen_to(&self.share.names());
            }
            _ => self.reopen_at = Some(Instant::now()),
        }
    }

    /// Waits for a message. May be dropped and called again.
    async fn next(&mut self, reach: &Reach) -> TopicMessage {
        loop {
            if let Some(at) = self.reopen_at {
                sleep_until(at).await;
                self.reopen(reach);
                continue;
            }
            let Some(connection) = &mut self.connection else {
                return std::future::pending().await;
            };
            match connection.news().await {
                Some(News::Message(message)) => return *message,
                Some(News::Failed(_)) | None => {
                    self.reopen_at = Some(Instant::now() + REOPEN_TIME);
                }
                Some(
                    News::Connected
                    | News::Disconnected
                    | News::StartedAnew
                    | News::Status(_)
                    | News::Reply { .. }
                    | News::Unreadable(_),
                ) => {}
            }
        }
    }

    fn reopen(&mut self, reach: &Reach) {
        self.reopen_at = None;
        if self.share.topics.is_empty() {
            self.connection = None;
            return;
        }
        match Connection::listen(reach, &self.share.names()) {
            Ok(connection) => self.connection = Some(connection),
            Err(_) => self.reopen_at = Some(Instant::now() + REOPEN_TIME),
        }
    }
}

impl Share {
    fn names(&self) -> Vec<&str> {
        self.topics.iter().map(String::as_str).collect()
    }

    /// Drops topics that are not wanted.
    fn keep(&mut self, wanted: &BTreeSet<String>) {
        self.topics.retain(|topic| wanted.contains(topic));
        self.bytes = self.topics.iter().map(|topic| size(topic)).sum();
    }

    /// Takes a topic, if there is room for it.
    fn take(&mut self, topic: &str) -> bool {
        let bytes = self.bytes + size(topic);
        let has_room = self.topics.len() < TOPICS_MAX && bytes <= BYTES_MAX;
        if has_room {
            self.topics.insert(topic.to_owned());
            self.bytes = bytes;
        }
        has_room
    }
}

fn size(topic: &str) -> usize {
    topic.len() + TOPIC_BYTES
}

/// Shares topics out; those that were in a share stay in it. Returns how many there is no room for.
fn share_out(shares: &mut Vec<Share>, wanted: &BTreeSet<String>) -> usize {
    for share in shares.iter_mut() {
        share.keep(wanted);
    }
    let had: BTreeSet<String> = shares
        .iter()
        .flat_map(|share| share.topics.iter().cloned())
        .collect();
    let mut left_out = 0;
    for topic in wanted.difference(&had) {
        let has_place = shares.iter_mut().any(|share| share.take(topic));
        if has_place {
            continue;
        }
        let mut another = Share::default();
        if shares.len() < CONNECTIONS_MAX && another.take(topic) {
            shares.push(another);
        } else {
            left_out += 1;
        }
    }
    left_out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn topics(count: usize, length: usize) -> BTreeSet<String> {
        (0..count)
            .map(|number| format!("/{number:0length$}"))
            .collect()
    }

    #[test]
    fn topics_are_shared_out_and_stay_where_they_are() {
        let mut shares = Vec::new();
        let mut wanted = topics(1000, 20);
        assert_eq!(share_out(&mut shares, &wanted), 0);
        let counts = |shares: &[Share]| -> Vec<usize> {
            shares.iter().map(|share| share.topics.len()).collect()
        };
        assert_eq!(counts(&shares), [400, 400, 200]);
        let before = shares.clone();
        let gone: Vec<String> = before[0].topics.iter().take(399).cloned().collect();
        for topic in &gone {
            wanted.remove(topic);
        }
        wanted.insert("/new".to_owned());
        assert_eq!(share_out(&mut shares, &wanted), 0);
        assert_eq!(counts(&shares), [2, 400, 200]);
        assert_eq!(shares[1..], before[1..]);
        assert_eq!(share_out(&mut shares, &BTreeSet::new()), 0);
        assert!(shares.iter().all(|share| *share == Share::default()));
    }

    #[test]
    fn no_connection_listens_to_more_than_a_run_takes() {
        let mut shares = Vec::new();
        let left_out = share_out(&mut shares, &topics(4096, 200));
        assert_eq!(shares.len(), CONNECTIONS_MAX);
        assert!(shares.iter().all(|share| share.bytes <= BYTES_MAX));
        let heard: usize = shares.iter().map(|share| share.topics.len()).sum();
        assert_eq!(heard + left_out, 4096);
        // Names of usual lengths all have room.
        assert_eq!(share_out(&mut Vec::new(), &topics(4000, 60)), 0);
    }
}
