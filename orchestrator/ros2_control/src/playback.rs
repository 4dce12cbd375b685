//! [`Playback`]: topics of a recording in ROS 2, published again as they were said.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use protocol::{Rate, SimTime};
use ros2::types::builtin_interfaces::Time;
use ros2::types::geometry_msgs::TransformStamped;
use ros2::types::rosgraph_msgs::Clock;
use ros2::types::std_msgs;
use ros2::types::tf2_msgs::TFMessage;
use ros2::{EncodeError, Frames, Mapping, RosTopic, to_cdr};
use ros2_node::{
    Domain, EndpointError, JoinError, OnArrival, Participant, Publication, PublishError, Quality,
    Topic,
};

use crate::entity_state::time_of;

/// Name of the node.
pub(crate) const NODE: &str = "/phalanx/replay";

/// Reason why a recording is not in ROS 2.
#[derive(Debug, thiserror::Error)]
pub enum StartPlaybackError {
    /// The domain cannot be joined.
    #[error(transparent)]
    Join(#[from] JoinError),
    /// A topic cannot be had.
    #[error(transparent)]
    Endpoint(#[from] EndpointError),
}

/// Reason why a message of a recording is not published.
#[derive(Debug, thiserror::Error)]
pub enum SayError {
    /// It is no such message.
    #[error("{topic}: {source}")]
    Encode {
        /// The topic.
        topic: String,
        /// The cause.
        source: EncodeError,
    },
    /// Frames cannot be read from it.
    #[error("{topic}: {source}")]
    Frames {
        /// The topic.
        topic: String,
        /// The cause.
        source: messages::MessageError,
    },
    /// The middleware does not take it.
    #[error("a message on {topic} is lost: {source}")]
    Publish {
        /// The topic in ROS 2.
        topic: String,
        /// The cause.
        source: PublishError,
    },
}

/// A node that publishes what is in a recording.
pub struct Playback {
    mapping: Mapping,
    topics: BTreeMap<(String, String), Outbound>,
    clock: Publication,
    moving: Publication,
    fixed: Publication,
    descriptions: Vec<Publication>,
    /// The last time on `/clock`.
    told: Option<SimTime>,
    // The last to go.
    participant: Participant,
}

/// A topic of the recording.
struct Outbound {
    topic: Option<(RosTopic, Publication, Rate)>,
    frames: Option<Frames>,
}

/// Messages of others are of no interest.
struct Deaf;

impl OnArrival for Deaf {
    fn on_arrival(&self) {}
}

impl Playback {
    /// Joins a domain, with the topics of a recording by name and kind, as far as ROS has them.
    ///
    /// # Errors
    /// Fails if the domain cannot be joined, or a topic cannot be had.
    pub fn start(
        domain: &Domain,
        mapping: Mapping,
        topics: &[(String, String)],
    ) -> Result<Self, StartPlaybackError> {
        let mut participant = Participant::join(domain, NODE, std::sync::Arc::new(Deaf))?;
        let mut own = |topic: &RosTopic| advertise(&mut participant, topic);
        let clock = own(&mapping.clock())?;
        let moving = own(&mapping.transforms(Frames::Moving))?;
        let fixed = own(&mapping.transforms(Frames::Fixed))?;
        let mut outbound = BTreeMap::new();
        for (name, kind) in topics {
            let topic = mapping.outbound(name, kind).map(|topic| {
                let rate = Rate::new(topic.max_rate_hz);
                advertise(&mut participant, &topic).map(|publication| (topic, publication, rate))
            });
            let one = Outbound {
                topic: topic.transpose()?,
                frames: mapping.frames(name, kind),
            };
            outbound.insert((name.clone(), kind.clone()), one);
        }
        // Without it nodes are only not listed.
        let _ = participant.announce();
        Ok(Self {
            mapping,
            topics: outbound,
            clock,
            moving,
            fixed,
            descriptions: Vec::new(),
            told: None,
            participant,
        })
    }

    /// Publishes the description of a robot, for nodes that are there and those that come later.
    ///
    /// # Errors
    /// Fails if the topic cannot be had.
    pub fn describe(
        &mut self,
        topic: &str,
        is_only_one: bool,
        text: &str,
    ) -> Result<(), StartPlaybackError> {
        if let Some(topic) = self.mapping.robot_description(topic, is_only_one) {
            let publication = advertise(&mut self.participant, &topic)?;
            let data = text.to_owned();
            let _ = publication.publish(to_cdr(&std_msgs::String { data }));
            self.descriptions.push(publication);
        }
        Ok(())
    }

    /// Returns the mapping of topics.
    pub fn mapping(&self) -> &Mapping {
        &self.mapping
    }

    /// Tells whether a topic of ROS 2 has a reader; one that is not published never has.
    pub fn is_read(&self, name: &str) -> bool {
        let mut topics = self.topics.values().filter_map(|one| one.topic.as_ref());
        let found = topics.find(|(topic, ..)| topic.name == name);
        let publication = found.map(|(_, publication, _)| publication);
        let own = (name == "/clock").then_some(&self.clock);
        publication
            .or(own)
            .is_some_and(|publication| publication.reader_count() > 0)
    }

    /// Publishes a time, unless it is the one that was published last.
    ///
    /// # Errors
    /// Fails if readers acknowledge nothing any more.
    pub fn set_time(&mut self, now: SimTime) -> Result<(), SayError> {
        if self.told.replace(now) == Some(now) {
            return Ok(());
        }
        let clock: Time = time_of(now.0);
        publish(&self.clock, "/clock", to_cdr(&Clock { clock }))
    }

    /// Publishes a time, unless a later one was published: messages of a recording stand a little
    /// behind the frame of their iteration.
    ///
    /// # Errors
    /// Fails if readers acknowledge nothing any more.
    pub fn advance_to(&mut self, now: SimTime) -> Result<(), SayError> {
        if self.told.is_some_and(|told| told >= now) {
            return Ok(());
        }
        self.set_time(now)
    }

    /// Publishes a message that was said at a time: under its own name, and its frames.
    ///
    /// # Errors
    /// Fails if it is no message of its kind, or readers acknowledge nothing any more.
    pub fn say(
        &mut self,
        topic: &str,
        kind: &str,
        now: SimTime,
        body: &[u8],
    ) -> Result<(), SayError> {
        let key = (topic.to_owned(), kind.to_owned());
        let Some(outbound) = self.topics.get_mut(&key) else {
            return Ok(());
        };
        if let Some(frames) = outbound.frames {
            let found = ros2::transforms::frames(kind, body).map_err(|source| {
                let topic = topic.to_owned();
                SayError::Frames { topic, source }
            })?;
            let publication = match frames {
                Frames::Moving => &self.moving,
                Frames::Fixed => &self.fixed,
            };
            publish_frames(publication, found)?;
        }
        let Some((ros, publication, rate)) = &mut outbound.topic else {
            return Ok(());
        };
        if !rate.admits(now) {
            return Ok(());
        }
        let cdr = ros2::encode(kind, body, ros.type_name).map_err(|source| {
            let topic = topic.to_owned();
            SayError::Encode { topic, source }
        })?;
        publish(publication, &ros.name, cdr)
    }

    /// Waits until reliable readers have everything, as far as that takes no longer than this.
    pub fn finish(&self, timeout: Duration) {
        let until = Instant::now() + timeout;
        let topics = self.topics.values().filter_map(|one| one.topic.as_ref());
        let topics = topics.map(|(_, publication, _)| publication);
        for publication in topics.chain([&self.clock, &self.moving, &self.fixed]) {
            publication.wait_until_received(until.saturating_duration_since(Instant::now()));
        }
    }
}

fn publish_frames(
    publication: &Publication,
    transforms: Vec<TransformStamped>,
) -> Result<(), SayError> {
    if transforms.is_empty() {
        return Ok(());
    }
    publish(publication, "/tf", to_cdr(&TFMessage { transforms }))
}

fn publish(publication: &Publication, topic: &str, cdr: Vec<u8>) -> Result<(), SayError> {
    publication.publish(cdr).map_err(|source| {
        let topic = topic.to_owned();
        SayError::Publish { topic, source }
    })
}

fn advertise(
    participant: &mut Participant,
    topic: &RosTopic,
) -> Result<Publication, EndpointError> {
    participant.advertise(&Topic {
        name: &topic.name,
        type_name: topic.type_name,
        quality: Quality {
            is_reliable: topic.qos.reliability == ros2::Reliability::Reliable,
            is_kept: topic.qos.durability == ros2::Durability::TransientLocal,
            depth: topic.qos.depth,
        },
    })
}
