//! [`RosPlayback`]: topics of a recording for programs of ROS 2, published again byte by byte.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use ros2::{Durability, Qos, Reliability};
use ros2_node::{
    Domain, EndpointError, JoinError, OnArrival, Participant, Publication, PublishError, Quality,
    Topic,
};

use crate::playback::NODE;

/// A node that publishes what such a recording has.
pub struct RosPlayback {
    /// Names and publishers of topics, by the numbers of their channels.
    topics: BTreeMap<u16, (String, Publication)>,
    // The last to go.
    participant: Participant,
}

/// Messages of others are of no interest.
struct Deaf;

impl OnArrival for Deaf {
    fn on_arrival(&self) {}
}

impl RosPlayback {
    /// Joins a domain, without topics yet.
    ///
    /// # Errors
    /// Fails if the domain cannot be joined.
    pub fn join(domain: &Domain) -> Result<Self, JoinError> {
        Ok(Self {
            topics: BTreeMap::new(),
            participant: Participant::join(domain, NODE, std::sync::Arc::new(Deaf))?,
        })
    }

    /// Has a topic for the messages of a channel.
    ///
    /// # Errors
    /// Fails if ROS 2 has no such topic, or no type of this name.
    pub fn add(
        &mut self,
        channel: u16,
        (name, type_name): (&str, &str),
        qos: Qos,
    ) -> Result<(), EndpointError> {
        let publication = self.participant.advertise(&Topic {
            name,
            type_name,
            quality: Quality {
                is_reliable: qos.reliability == Reliability::Reliable,
                is_kept: qos.durability == Durability::TransientLocal,
                depth: qos.depth,
            },
        })?;
        self.topics.insert(channel, (name.to_owned(), publication));
        Ok(())
    }

    /// Tells others of its topics, once all are there.
    pub fn announce(&mut self) {
        // Without it nodes are only not listed.
        let _ = self.participant.announce();
    }

    /// Tells whether a topic has a reader; one that is not published never has.
    pub fn is_read(&self, name: &str) -> bool {
        let mut topics = self.topics.values();
        topics.any(|(topic, publication)| topic == name && publication.reader_count() > 0)
    }

    /// Publishes a message of a channel; one of a channel without a topic is left out.
    ///
    /// # Errors
    /// Fails if it is in another encoding, or readers acknowledge nothing any more.
    pub fn say(&self, channel: u16, cdr: Vec<u8>) -> Result<(), PublishError> {
        let topic = self.topics.get(&channel);
        topic.map_or(Ok(()), |(_, publication)| publication.publish(cdr))
    }

    /// Waits until reliable readers have everything, as far as that takes no longer than this.
    pub fn finish(&self, timeout: Duration) {
        let until = Instant::now() + timeout;
        for (_, publication) in self.topics.values() {
            publication.wait_until_received(until.saturating_duration_since(Instant::now()));
        }
    }
}
