//! The link within one process: a [`Network`] of threads that behaves as ZeroMQ's sockets do.
//!
//! Same events, same filters on topics, same loss for slow observers; no sockets and no time.
//! Messages sent while there is no primary wait for one, as they do in a connecting socket.

mod mailbox;
mod peer;
mod primary;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard};

use bytes::Bytes;
use protocol::{Access, RoutingId};

use crate::link::{Arrival, LinkError, Notice};
use crate::subscription::{Subscription, step_topics};
use mailbox::{Mailbox, Taken};

pub use peer::MemoryPeerLink;
pub use primary::{MemoryPrimaryLink, MemoryPublisher};

/// Number of messages that wait for an observer that reads too slowly; further ones are lost to it.
const STATUS_MESSAGES_MAX: usize = 1_000;

/// A place within this process where one primary and its peers meet; clones are the same place.
#[derive(Clone, Default)]
pub struct Network(Arc<Mutex<Members>>);

#[derive(Default)]
struct Members {
    primary: Option<Arc<Mailbox<Arrival>>>,
    publisher: Option<Arc<Mailbox<Notice>>>,
    peers: BTreeMap<RoutingId, Member>,
    /// Messages of peers that were sent while there was no primary.
    unclaimed: Vec<Arrival>,
    /// Messages of secondaries to `data` that were sent while nobody received there.
    unclaimed_data: Vec<Notice>,
}

struct Member {
    mailbox: Arc<Mailbox<Arrival>>,
    listening: Listening,
}

/// Topics that a peer listens to, by their beginnings.
enum Listening {
    Steps([Vec<u8>; 3]),
    Status(Vec<Vec<u8>>),
    Nothing,
}

impl Network {
    /// Makes a place with nobody in it.
    pub fn new() -> Self {
        Self::default()
    }

    /// Enters as the primary.
    ///
    /// # Panics
    /// Panics if a primary is there already: within one process that is a mistake of the caller.
    pub fn primary(&self) -> MemoryPrimaryLink {
        let mailbox = Arc::new(Mailbox::default());
        let mut members = self.members();
        assert!(
            members.primary.is_none(),
            "a network has one primary at a time"
        );
        for (routing_id, member) in &members.peers {
            member.mailbox.put(Arrival::Connected);
            if matches!(member.listening, Listening::Steps(_)) {
                mailbox.put(Arrival::Subscribed(routing_id.clone()));
            }
        }
        for arrival in members.unclaimed.drain(..) {
            mailbox.put(arrival);
        }
        members.primary = Some(Arc::clone(&mailbox));
        drop(members);
        MemoryPrimaryLink::new(self.clone(), mailbox)
    }

    /// Enters as the one that publishes on `status` and receives on `data`.
    pub fn publisher(&self) -> MemoryPublisher {
        let mailbox = Arc::new(Mailbox::default());
        let mut members = self.members();
        for topic in members.status_topics() {
            mailbox.put(Notice::Subscribed(topic));
        }
        for notice in members.unclaimed_data.drain(..) {
            mailbox.put(notice);
        }
        members.publisher = Some(Arc::clone(&mailbox));
        drop(members);
        MemoryPublisher::new(self.clone(), mailbox)
    }

    /// Enters as a peer.
    ///
    /// # Panics
    /// Panics if a peer of this routing id is there already.
    pub fn peer(&self, routing_id: &RoutingId, subscription: Subscription<'_>) -> MemoryPeerLink {
        let mailbox = Arc::new(Mailbox::default());
        let listening = match subscription {
            Subscription::Steps => Listening::Steps(step_topics(routing_id)),
            Subscription::Status(topics) | Subscription::Beats(topics) => Listening::Status(
                topics
                    .iter()
                    .map(|topic| topic.as_bytes().to_vec())
                    .collect(),
            ),
            Subscription::None => Listening::Nothing,
        };
        let mut members = self.members();
        if let Some(primary) = &members.primary {
            mailbox.put(Arrival::Connected);
            if matches!(listening, Listening::Steps(_)) {
                primary.put(Arrival::Subscribed(routing_id.clone()));
            }
        }
        let member = Member {
            mailbox: Arc::clone(&mailbox),
            listening,
        };
        let before = members.status_topics();
        let former = members.peers.insert(routing_id.clone(), member);
        assert!(former.is_none(), "a routing id is unique");
        members.note_topics(&before);
        drop(members);
        MemoryPeerLink::new(self.clone(), routing_id.clone(), mailbox)
    }

    fn members(&self) -> MutexGuard<'_, Members> {
        self.0
            .lock()
            .expect("nobody panics while holding the members")
    }
}

impl Members {
    fn publish_step(&self, topic: &str, payload: &[u8]) {
        for member in self.peers.values() {
            if let Listening::Steps(topics) = &member.listening
                && begins_with_any(topic, topics)
            {
                member.mailbox.put(from_primary(topic, payload));
            }
        }
    }

    fn publish_status(&self, topic: &str, payload: &[u8]) {
        for member in self.peers.values() {
            if let Listening::Status(topics) = &member.listening
                && begins_with_any(topic, topics)
            {
                member
                    .mailbox
                    .put_bounded(from_primary(topic, payload), STATUS_MESSAGES_MAX);
            }
        }
    }

    fn remove_primary(&mut self) {
        self.primary = None;
        for member in self.peers.values() {
            member.mailbox.put(Arrival::Disconnected);
        }
    }

    fn remove_publisher(&mut self, mailbox: &Arc<Mailbox<Notice>>) {
        if self
            .publisher
            .as_ref()
            .is_some_and(|it| Arc::ptr_eq(it, mailbox))
        {
            self.publisher = None;
        }
    }

    fn take_data(
        &mut self,
        from: &RoutingId,
        topic: &str,
        payload: &[u8],
    ) -> Result<(), LinkError> {
        let sender = self.peers.get(from).map(|member| &member.listening);
        if !matches!(sender, Some(Listening::Steps(_))) {
            return Err(LinkError::NoSuchDestination);
        }
        let notice = Notice::Data {
            from: from.clone(),
            topic: topic.as_bytes().to_vec(),
            payload: Bytes::copy_from_slice(payload),
        };
        match &self.publisher {
            Some(publisher) => publisher.put(notice),
            None => self.unclaimed_data.push(notice),
        }
        Ok(())
    }

    /// Returns the topics of `status` that anybody listens to.
    fn status_topics(&self) -> BTreeSet<Vec<u8>> {
        let peers = self.peers.values();
        let topics = peers.filter_map(|member| match &member.listening {
            Listening::Status(topics) => Some(topics),
            Listening::Steps(_) | Listening::Nothing => None,
        });
        topics.flatten().cloned().collect()
    }

    /// Tells the publisher what is new and what is gone among the topics of `status`.
    fn note_topics(&self, before: &BTreeSet<Vec<u8>>) {
        let Some(publisher) = &self.publisher else {
            return;
        };
        let now = self.status_topics();
        for topic in now.difference(before) {
            publisher.put(Notice::Subscribed(topic.clone()));
        }
        for topic in before.difference(&now) {
            publisher.put(Notice::Unsubscribed(topic.clone()));
        }
    }

    /// Has an observer listen to these topics of `status` and no others.
    fn listen(&mut self, routing_id: &RoutingId, topics: &[&str]) -> Result<(), LinkError> {
        let before = self.status_topics();
        let member = self.peers.get_mut(routing_id);
        let Some(Listening::Status(heard)) = member.map(|member| &mut member.listening) else {
            return Err(LinkError::NoSuchDestination);
        };
        *heard = topics
            .iter()
            .map(|topic| topic.as_bytes().to_vec())
            .collect();
        self.note_topics(&before);
        Ok(())
    }

    fn remove_peer(&mut self, routing_id: &RoutingId) {
        let before = self.status_topics();
        let member = self.peers.remove(routing_id);
        self.note_topics(&before);
        self.unclaimed.retain(|arrival| {
            !matches!(arrival, Arrival::Message { from: Some(from), .. } if from == routing_id)
        });
        let stepped = member.is_some_and(|it| matches!(it.listening, Listening::Steps(_)));
        if stepped && let Some(primary) = &self.primary {
            primary.put(Arrival::Unsubscribed(routing_id.clone()));
        }
    }
}

fn begins_with_any(topic: &str, beginnings: &[Vec<u8>]) -> bool {
    beginnings
        .iter()
        .any(|beginning| topic.as_bytes().starts_with(beginning))
}

fn arrival(taken: Taken<Arrival>) -> Arrival {
    match taken {
        Taken::Arrival(arrival) => arrival,
        Taken::Woken => Arrival::Woken,
    }
}

fn from_primary(topic: &str, payload: &[u8]) -> Arrival {
    Arrival::Message {
        from: None,
        access: Access::Full,
        topic: topic.as_bytes().to_vec(),
        payload: Bytes::copy_from_slice(payload),
    }
}
