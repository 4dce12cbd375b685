//! [`Endpoints`]: publishers and subscriptions of a node, one for each topic of the run that ROS 2
//! has, and what goes through them.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::time::{Duration, Instant};

use cell_host::{ExportedStep, RobotDescription, TopicUse};
use protocol::{RosMessage, SimTime, TopicMessage};
use ros2::mapping::{Durability, Frames, Reliability, RosTopic, Used};
use ros2::types::geometry_msgs::TransformStamped;
use ros2::types::tf2_msgs::TFMessage;
use ros2::{Mapping, to_cdr};
use ros2_node::{
    EndpointError, Participant, Publication, PublishError, Quality, Subscription, Topic,
};

use super::clock::ClockTopic;
use super::departures::Departures;
use super::descriptions::Descriptions;
use super::remarks::Remarks;
use crate::seldom::Seldom;

const NS_PER_S: u64 = 1_000_000_000;

/// A topic of the run, with the kind of its messages.
type Key = (String, &'static str);

/// Publishers and subscriptions of a node.
pub(super) struct Endpoints {
    mapping: Mapping,
    outbound: BTreeMap<Key, Outbound>,
    inbound: BTreeMap<Key, Inbound>,
    clock: ClockTopic,
    /// `/tf` and `/tf_static`.
    frames: [Option<Publication>; 2],
    unfit: Seldom,
    lost: Seldom,
    descriptions: Descriptions,
    departures: Option<Departures>,
    /// True if this secondary spoke for the run in the last step.
    speaks: bool,
    remarks: Remarks,
    // The last to go.
    participant: Participant,
}

/// A topic that leaves the run.
struct Outbound {
    topic: Option<(RosTopic, Publication)>,
    frames: Option<Frames>,
    /// The period of the last message, if their number per second is limited: the first of each
    /// is published.
    last_period: Option<u64>,
}

/// A topic that comes into the run.
struct Inbound {
    type_name: &'static str,
    subscription: Subscription,
}

impl Endpoints {
    /// Makes the endpoints of a run without topics of its own.
    pub(super) fn new(mut participant: Participant, mapping: Mapping, name: &str) -> Self {
        let mut own = |topic: &RosTopic| advertise(&mut participant, topic).ok();
        let clock = ClockTopic::new(own(&mapping.clock()));
        let frames = [Frames::Moving, Frames::Fixed].map(|frames| own(&mapping.transforms(frames)));
        let departures = Departures::new(&mut participant, name)
            .map_err(|error| tracing::warn!("{error}"))
            .ok();
        Self {
            mapping,
            outbound: BTreeMap::new(),
            inbound: BTreeMap::new(),
            clock,
            frames,
            unfit: Seldom::default(),
            lost: Seldom::default(),
            descriptions: Descriptions::default(),
            departures,
            speaks: false,
            remarks: Remarks::default(),
            participant,
        }
    }

    /// Has publishers and subscriptions of exactly these topics, as far as ROS 2 has them, and
    /// describes these robots.
    pub(super) fn follow(&mut self, uses: &[TopicUse], robots: Vec<RobotDescription>) {
        self.drop_others(uses);
        self.descriptions.follow(robots);
        let all: Vec<Used<'_>> = uses.iter().map(used).collect();
        self.remarks.follow(&self.mapping, &all);
        for one in uses {
            let ways = self.mapping.ways(&used(one));
            let key = (one.topic.clone(), one.kind);
            let frames = self.mapping.frames(&one.topic, one.kind);
            let frames = frames.filter(|_| one.is_published);
            if let Entry::Vacant(place) = self.outbound.entry(key.clone())
                && (ways.outbound.is_some() || frames.is_some())
            {
                let topic = ways.outbound.and_then(|topic| {
                    let made = advertise(&mut self.participant, &topic);
                    made.map(|publication| (topic, publication))
                        .map_err(|error| tracing::warn!("{error}"))
                        .ok()
                });
                place.insert(Outbound {
                    topic,
                    frames,
                    last_period: None,
                });
            }
            if let Entry::Vacant(place) = self.inbound.entry(key)
                && let Some(topic) = ways.inbound
            {
                match self.participant.subscribe(&described(&topic)) {
                    Ok(subscription) => {
                        place.insert(Inbound {
                            type_name: topic.type_name,
                            subscription,
                        });
                    }
                    Err(error) => tracing::warn!("{error}"),
                }
            }
        }
        if let Err(error) = self.participant.announce() {
            tracing::warn!("the node is not described to ROS 2: {error}");
        }
    }

    /// Drops publishers and subscriptions of topics that are gone.
    fn drop_others(&mut self, uses: &[TopicUse]) {
        let has = |(topic, kind): &Key, wanted: &dyn Fn(&TopicUse) -> bool| {
            let place = uses.binary_search_by(|one| (&*one.topic, one.kind).cmp(&(topic, kind)));
            place.is_ok_and(|place| wanted(&uses[place]))
        };
        let is_out = |key: &Key| has(key, &|one| one.is_published);
        let is_in = |key: &Key| has(key, &|one| one.is_subscribed);
        let gone: Vec<Key> = self
            .outbound
            .keys()
            .filter(|key| !is_out(key))
            .cloned()
            .collect();
        for key in gone {
            if let Some(Outbound {
                topic: Some((_, publication)),
                ..
            }) = self.outbound.remove(&key)
            {
                self.participant.withdraw(publication);
            }
        }
        let gone: Vec<Key> = self
            .inbound
            .keys()
            .filter(|key| !is_in(key))
            .cloned()
            .collect();
        for key in gone {
            if let Some(inbound) = self.inbound.remove(&key) {
                self.participant.unsubscribe(inbound.subscription);
            }
        }
    }

    /// Publishes what a step has said, and its time if this secondary speaks for the run; of a step
    /// that is done again, what has not left yet.
    pub(super) fn publish(&mut self, step: &ExportedStep) {
        if !self.has_left(step) {
            self.publish_messages(&step.messages);
        }
        let has_ceased = self.speaks && !step.speaks;
        if step.again.is_none()
            && let Some(departures) = &mut self.departures
        {
            departures.note(step.sequence, has_ceased || !step.messages.is_empty());
        }
        // Time has gone on since, and must not be told to go back.
        if step.was_answered() {
            return;
        }
        if step.speaks {
            self.remarks.tell();
        }
        self.descriptions
            .publish(step.speaks, &self.mapping, &mut self.participant);
        let begins = !std::mem::replace(&mut self.speaks, step.speaks) && step.speaks;
        if begins
            && self.clock.has_begun()
            && let Some(departures) = &mut self.departures
        {
            // Time must not go back: the one that spoke so far may not have sent all of it.
            departures.wait_for_another(step.sequence);
        }
        if self.clock.note(step.sim_time) && step.speaks {
            let published = self.clock.publish(step.sim_time);
            note(published, "/clock", &mut self.lost);
        }
    }

    /// Tells whether the messages of a step have left a host that is lost now.
    fn has_left(&mut self, step: &ExportedStep) -> bool {
        let Some(again) = &step.again else {
            return false;
        };
        let departures = self.departures.as_mut();
        let left = departures.and_then(|departures| departures.of(&again.by));
        step.sequence <= left.map_or(again.answered, |left| left.min(again.answered))
    }

    fn publish_messages(&mut self, messages: &[TopicMessage]) {
        let (mut moving, mut fixed) = (Vec::new(), Vec::new());
        for message in messages {
            let Some(kind) = messages_kind(message) else {
                continue;
            };
            let key = (message.topic.clone(), kind);
            let Some(outbound) = self.outbound.get_mut(&key) else {
                continue;
            };
            match outbound.frames {
                Some(Frames::Moving) => add_frames(message, &mut moving, &mut self.unfit),
                Some(Frames::Fixed) => add_frames(message, &mut fixed, &mut self.unfit),
                None => {}
            }
            let is_due = outbound.is_due(message.sim_time);
            if is_due && let Some((topic, publication)) = &outbound.topic {
                match ros2::encode(kind, &message.body, topic.type_name) {
                    Ok(cdr) => note(publication.publish(cdr), &topic.name, &mut self.lost),
                    Err(error) => self.unfit.warn(&format!("{}: {error}", message.topic)),
                }
            }
        }
        for (publication, transforms) in self.frames.iter().zip([moving, fixed]) {
            if let Some(publication) = publication
                && !transforms.is_empty()
            {
                let cdr = to_cdr(&TFMessage { transforms });
                note(publication.publish(cdr), "/tf", &mut self.lost);
            }
        }
    }

    /// Waits until reliable readers have what was published, as far as that takes no longer than
    /// this in all.
    pub(super) fn finish(&self, patience: Duration) {
        let until = Instant::now() + patience;
        let topics = self.outbound.values().filter_map(|one| one.topic.as_ref());
        let topics = topics.map(|(_, publication)| publication);
        let frames = self.frames.iter().flatten();
        let own = frames.chain(self.clock.publication());
        for publication in topics.chain(own) {
            publication.wait_until_received(until.saturating_duration_since(Instant::now()));
        }
    }

    /// Takes what other nodes have published.
    pub(super) fn take(&mut self) -> Vec<RosMessage> {
        let mut messages = Vec::new();
        for ((topic, kind), inbound) in &self.inbound {
            inbound.subscription.listen();
            while let Some(sample) = inbound.subscription.take() {
                match ros2::decode_to(kind, inbound.type_name, &sample.cdr) {
                    Ok(body) => messages.push(RosMessage {
                        writer: sample.writer,
                        number: sample.number,
                        topic: topic.clone(),
                        kind: (*kind).to_owned(),
                        body,
                    }),
                    Err(error) => self.unfit.warn(&format!("{topic}: {error}")),
                }
            }
        }
        messages
    }
}

impl Outbound {
    /// Tells whether a message of this time is within the limit of their number per second.
    fn is_due(&mut self, now: SimTime) -> bool {
        let Some(rate_hz) = self.topic.as_ref().and_then(|(topic, _)| topic.max_rate_hz) else {
            return true;
        };
        let period = (now.0 as f64 * rate_hz / NS_PER_S as f64) as u64;
        self.last_period.replace(period) != Some(period)
    }
}

/// Returns the kind of a message as the table of kinds has it.
fn messages_kind(message: &TopicMessage) -> Option<&'static str> {
    ros2::convert::pair(&message.kind, None).map(|pair| pair.kind)
}

fn add_frames(message: &TopicMessage, frames: &mut Vec<TransformStamped>, unfit: &mut Seldom) {
    match ros2::transforms::frames(&message.kind, &message.body) {
        Ok(found) => frames.extend(found),
        Err(error) => unfit.warn(&format!("{}: {error}", message.topic)),
    }
}

fn note(published: Result<(), PublishError>, topic: &str, lost: &mut Seldom) {
    if let Err(error) = published {
        lost.warn(&format!("a message on {topic} of ROS 2 is lost: {error}"));
    }
}

pub(super) fn advertise(
    participant: &mut Participant,
    topic: &RosTopic,
) -> Result<Publication, EndpointError> {
    participant.advertise(&described(topic))
}

fn described(topic: &RosTopic) -> Topic<'_> {
    Topic {
        name: &topic.name,
        type_name: topic.type_name,
        quality: Quality {
            is_reliable: topic.qos.reliability == Reliability::Reliable,
            is_kept: topic.qos.durability == Durability::TransientLocal,
            depth: topic.qos.depth,
        },
    }
}

fn used(one: &TopicUse) -> Used<'_> {
    Used {
        topic: &one.topic,
        kind: one.kind,
        is_published: one.is_published,
        is_subscribed: one.is_subscribed,
    }
}
