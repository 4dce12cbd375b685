//! [`Outbound`]: a topic that leaves the run, with the publishers by which its messages leave.
//!
//! A topic has one publisher, through which all models here speak. If it is kept for readers who
//! come later, each model has one of its own: so the `depth` of the topic counts for each, and what
//! is kept goes when the model goes. One more waits for the next model, known to readers already.

use std::collections::BTreeMap;
use std::sync::Arc;

use cell_host::KEPT_BYTES_MAX;
use protocol::{Iteration, Publisher, TopicMessage};
use ros2::mapping::{Frames, RosTopic};
use ros2::types::sensor_msgs::{CompressedImage, Image};
use ros2::{Mapping, RosMessage as _};
use ros2_node::Participant;

use super::endpoints::{advertise, is_kept, or_warn};
use super::image_thread::{ImageTopic, Outlet};

/// A topic that leaves the run.
pub(super) struct Outbound {
    /// The topic in the run, and in ROS 2 if it has one of its own there.
    topic: (String, Option<RosTopic>),
    /// Way of all messages, or of the next model that speaks.
    way: Way,
    /// Ways of models that have spoken, if the topic is kept.
    of_origins: BTreeMap<Publisher, OriginWay>,
    pub(super) frames: Option<Frames>,
}

/// Way by which messages leave.
pub(super) enum Way {
    /// They are frames alone.
    None,
    /// They leave at once.
    Direct(Arc<Outlet>),
    /// They are images, which a thread of their own sends.
    Images(Arc<ImageTopic>),
}

/// Way of a model that has spoken.
struct OriginWay {
    way: Way,
    /// Iteration of its last message.
    last: Iteration,
    /// True if that is too large for the model to remember it: it stays here.
    stays: bool,
}

/// Returns the one that a publisher is a part of: a model, a world, or all clients.
pub(super) fn origin_of(publisher: Publisher) -> Publisher {
    match publisher {
        Publisher::Client => Publisher::Client,
        Publisher::World { world, .. } => Publisher::World { world, part: 0 },
        Publisher::Model { model, .. } => Publisher::Model { model, part: 0 },
    }
}

impl Outbound {
    /// Makes a topic without publishers.
    pub(super) fn new(topic: &str, ros: Option<RosTopic>, frames: Option<Frames>) -> Self {
        Self {
            topic: (topic.to_owned(), ros),
            way: Way::None,
            of_origins: BTreeMap::new(),
            frames,
        }
    }

    /// Returns it with a publisher.
    pub(super) fn advertised(mut self, participant: &mut Participant, mapping: &Mapping) -> Self {
        self.way = self.new_way(participant, mapping);
        self
    }

    /// Returns the way of a message that is about to leave.
    pub(super) fn way_for(
        &mut self,
        message: &TopicMessage,
        participant: &mut Participant,
        mapping: &Mapping,
    ) -> &Way {
        if !self.has_own_ways() {
            return &self.way;
        }
        let origin = origin_of(message.publisher);
        if !self.of_origins.contains_key(&origin) {
            let next = self.new_way(participant, mapping);
            let way = std::mem::replace(&mut self.way, next);
            let (last, stays) = (message.iteration, false);
            let spoken = OriginWay { way, last, stays };
            self.of_origins.insert(origin, spoken);
        }
        let spoken = self.of_origins.get_mut(&origin);
        let spoken = spoken.expect("whoever had no way has one now");
        spoken.last = message.iteration;
        spoken.stays = message.body.len() > KEPT_BYTES_MAX;
        &spoken.way
    }

    /// Tells whether a message, or a later one of who said it, has left from here and is kept.
    pub(super) fn has_said(&self, message: &TopicMessage) -> bool {
        let spoken = self.of_origins.get(&origin_of(message.publisher));
        spoken.is_some_and(|spoken| message.iteration <= spoken.last)
    }

    /// Forgets publishers of origins that are gone, with what they keep; what is too large for a
    /// model to take it along stays.
    pub(super) fn forget(
        &mut self,
        is_gone: impl Fn(&Publisher) -> bool,
        participant: &mut Participant,
    ) {
        let goes = |origin: &Publisher, spoken: &mut OriginWay| !spoken.stays && is_gone(origin);
        for (_, spoken) in self.of_origins.extract_if(.., goes) {
            for outlet in spoken.way.outlets() {
                participant.withdraw(&outlet.publication);
            }
        }
    }

    /// Returns all publishers, with their topics of ROS 2.
    pub(super) fn outlets(&self) -> impl Iterator<Item = &Outlet> {
        let of_origins = self.of_origins.values().map(|spoken| &spoken.way);
        let ways = of_origins.chain([&self.way]);
        ways.flat_map(Way::outlets)
    }

    /// Returns the number of a model's last messages that are kept for readers who come later.
    pub(super) fn kept(&self) -> usize {
        let of_outlets = self.way.outlets().map(|outlet| outlet.topic.kept()).max();
        let of_frames = usize::from(self.frames == Some(Frames::Fixed));
        of_outlets.unwrap_or_default().max(of_frames)
    }

    fn has_own_ways(&self) -> bool {
        self.way.outlets().any(|outlet| is_kept(&outlet.topic))
    }

    /// Makes publishers.
    fn new_way(&self, participant: &mut Participant, mapping: &Mapping) -> Way {
        let (name, topic) = &self.topic;
        let Some(topic) = topic else { return Way::None };
        let is_image = topic.type_name == Image::TYPE.name;
        let plain = outlet(participant, topic.clone());
        if is_image && plain.is_some() {
            let compressed = compressed(participant, mapping, name);
            return Way::Images(Arc::new(ImageTopic { plain, compressed }));
        }
        plain.map_or(Way::None, |outlet| Way::Direct(Arc::new(outlet)))
    }
}

impl Way {
    /// Returns all topics of ROS 2 to which messages go.
    fn outlets(&self) -> impl Iterator<Item = &Outlet> {
        let (direct, images) = match self {
            Self::None => (None, None),
            Self::Direct(outlet) => (Some(outlet.as_ref()), None),
            Self::Images(topic) => (None, Some(topic.outlets())),
        };
        direct.into_iter().chain(images.into_iter().flatten())
    }
}

/// Makes publishers of the compressed images of a topic.
fn compressed(
    participant: &mut Participant,
    mapping: &Mapping,
    topic: &str,
) -> Vec<(String, Outlet)> {
    let mut pairs = ros2::convert::PAIRS.iter();
    let pair = pairs.find(|pair| pair.ros_type.name == CompressedImage::TYPE.name);
    let Some(pair) = pair else { return Vec::new() };
    let topics = images::topics(topic).into_iter();
    let made = topics.filter_map(|name| {
        let ros = mapping.outbound(&name, pair.kind)?;
        Some((name, outlet(participant, ros)?))
    });
    made.collect()
}

fn outlet(participant: &mut Participant, topic: RosTopic) -> Option<Outlet> {
    let publication = or_warn(advertise(participant, &topic))?;
    Some(Outlet { topic, publication })
}
