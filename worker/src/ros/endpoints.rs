//! [`Endpoints`]: publishers and subscriptions of a node, one for each topic of the run that ROS 2
//! has, and what goes through them.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cell_host::{ExportedStep, RobotDescription, TopicUse};
use images::Compression;
use protocol::{Publisher, RosMessage, Sequence, SessionId, TopicMessage};
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
use super::fixed_frames::FixedFrames;
use super::image_thread::ImageThread;
use super::kept::Kept;
use super::outbound::{Outbound, Way, origin_of};
use super::remarks::Remarks;
use crate::seldom::Seldom;

/// A topic of the run, with the kind of its messages.
pub(super) type Key = (String, &'static str);

/// Publishers and subscriptions of a node.
pub(super) struct Endpoints {
    mapping: Mapping,
    images: ImageThread,
    outbound: BTreeMap<Key, Outbound>,
    inbound: BTreeMap<Key, Inbound>,
    clock: Option<ClockTopic>,
    frames: FrameTopics,
    warnings: Warnings,
    descriptions: Descriptions,
    departures: Option<Departures>,
    remarks: Remarks,
    /// Messages to be said again for readers who come later: publishers of before are gone with
    /// what they kept.
    kept: Kept,
    // The last to go.
    participant: Participant,
}

/// The topics of frames.
struct FrameTopics {
    /// `/tf` and `/tf_static`.
    own: [Option<Publication>; 2],
    fixed: FixedFrames,
}

/// Warnings that come seldom.
#[derive(Default)]
struct Warnings {
    /// Of messages that have no counterpart on the other side.
    unfit: Seldom,
    /// Of messages that readers do not get.
    lost: Seldom,
}

/// Messages of a step that are to leave.
struct Leaving {
    /// They leave on their topics, and their frames on `/tf`.
    said: Vec<TopicMessage>,
    /// Frames alone leave of these.
    for_frames: Vec<TopicMessage>,
}

/// A topic that comes into the run.
struct Inbound {
    type_name: &'static str,
    subscription: Subscription,
}

impl Endpoints {
    /// Makes a secondary's endpoints of a run without topics of its own; images become JPEG of this
    /// quality, from 1 to 100, for those who ask for it.
    ///
    /// # Errors
    /// Fails if the system has no thread left.
    pub(super) fn new(
        mut participant: Participant,
        mapping: Mapping,
        jpeg_quality: u8,
        (run, name): (SessionId, &str),
    ) -> io::Result<Self> {
        let clock = ClockTopic::new(&mut participant, &mapping.clock());
        let mut own = |topic: &RosTopic| advertise(&mut participant, topic);
        let frames = [Frames::Moving, Frames::Fixed]
            .map(|frames| own(&mapping.transforms(frames)))
            .map(or_warn);
        let fixed = FixedFrames::new(mapping.transforms(Frames::Fixed).qos.depth);
        let departures = Departures::new(&mut participant, run, name);
        Ok(Self {
            mapping,
            images: ImageThread::start(Compression::Jpeg(jpeg_quality))?,
            outbound: BTreeMap::new(),
            inbound: BTreeMap::new(),
            clock: or_warn(clock),
            frames: FrameTopics { own: frames, fixed },
            warnings: Warnings::default(),
            descriptions: Descriptions::default(),
            departures: or_warn(departures),
            remarks: Remarks::default(),
            kept: Kept::default(),
            participant,
        })
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
            if let Entry::Vacant(entry) = self.outbound.entry(key.clone())
                && (ways.outbound.is_some() || frames.is_some())
            {
                let (participant, mapping) = (&mut self.participant, &self.mapping);
                let outbound = Outbound::new(&one.topic, ways.outbound, frames);
                entry.insert(outbound.advertised(participant, mapping));
            }
            if let Entry::Vacant(entry) = self.inbound.entry(key)
                && let Some(topic) = ways.inbound
            {
                match self.participant.subscribe(&described(&topic)) {
                    Ok(subscription) => {
                        entry.insert(Inbound {
                            type_name: topic.type_name,
                            subscription,
                        });
                    }
                    Err(error) => tracing::warn!("{error}"),
                }
            }
        }
        self.announce();
    }

    /// Tells other nodes which publishers and subscriptions there are, if that changed.
    fn announce(&mut self) {
        if let Err(error) = self.participant.announce() {
            tracing::warn!("the node is not described to ROS 2: {error}");
        }
    }

    /// Drops publishers and subscriptions of topics that are gone.
    fn drop_others(&mut self, uses: &[TopicUse]) {
        let has = |(topic, kind): &Key, wanted: &dyn Fn(&TopicUse) -> bool| {
            let found = uses.binary_search_by(|one| (&*one.topic, one.kind).cmp(&(topic, kind)));
            found.is_ok_and(|index| wanted(&uses[index]))
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
            let Some(outbound) = self.outbound.remove(&key) else {
                continue;
            };
            for outlet in outbound.outlets() {
                self.participant.withdraw(&outlet.publication);
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
    pub(super) fn publish(&mut self, mut step: ExportedStep) {
        self.follow_moves(&mut step);
        if step.repeats {
            return self.pass_over(step);
        }
        let has_said = !(step.messages.is_empty() && step.beyond_rate.is_empty());
        let mut messages = self.not_left(&mut step);
        // Of steps that are done again and have all left, only the last messages are kept.
        if step.again.is_none() || !messages.said.is_empty() {
            messages.said.splice(..0, self.kept.take());
        }
        self.publish_messages(messages, step.again.is_none().then_some(step.sequence));
        if step.again.is_none()
            && let Some(departures) = &mut self.departures
        {
            let images = self.images.left(step.sequence);
            departures.note(step.sequence, images, has_said);
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
        if let Some(clock) = &mut self.clock {
            let followed = clock.follow(step.sim_time, step.speaks);
            note(followed, "/clock", &mut self.warnings.lost);
        }
    }

    /// Follows the models that came here or left: the publishers of those that left are forgotten
    /// with what they keep for readers who come later, and what those remember who came is said
    /// again.
    fn follow_moves(&mut self, step: &mut ExportedStep) {
        let moved = std::mem::take(&mut step.moved);
        let gone = moved.gone.into_iter();
        let gone = gone.map(|model| origin_of(Publisher::Model { model, part: 0 }));
        let gone: BTreeSet<Publisher> = gone.collect();
        self.kept.forget(&gone);
        // Who does a step again does not know whether such a model is here by now.
        if step.again.is_none() && !gone.is_empty() {
            self.forget(|origin| gone.contains(origin));
        }
        self.keep(moved.came);
    }

    /// Forgets the systems of worlds, for which another secondary speaks now.
    pub(super) fn forget_worlds(&mut self) {
        self.forget(|origin| matches!(origin, Publisher::World { .. }));
    }

    /// Forgets the publishers of those who are gone, with what they keep.
    fn forget(&mut self, is_gone: impl Fn(&Publisher) -> bool) {
        self.frames.fixed.forget(&is_gone);
        for outbound in self.outbound.values_mut() {
            outbound.forget(&is_gone, &mut self.participant);
        }
    }

    /// Has messages said again, with the next ones, as far as their topics are kept for readers who
    /// come later, and who said them is not here.
    pub(super) fn keep(&mut self, messages: Vec<TopicMessage>) {
        for message in messages {
            let Some(kind) = messages_kind(&message) else {
                continue;
            };
            let key = (message.topic.clone(), kind);
            let outbound = self.outbound.get(&key);
            if let Some(outbound) = outbound.filter(|outbound| !outbound.has_said(&message)) {
                self.kept.note(message, key, outbound.kept());
            }
        }
    }

    /// Tells whether messages are to be said again.
    pub(super) fn owes_kept(&self) -> bool {
        !self.kept.is_empty()
    }

    /// Says them again now: no step comes with which they could go.
    pub(super) fn say_kept(&mut self) {
        let messages = Leaving {
            said: self.kept.take(),
            for_frames: Vec::new(),
        };
        self.publish_messages(messages, None);
    }

    /// Takes note of a step that a resumed run does once more: all of it has left before.
    fn pass_over(&mut self, step: ExportedStep) {
        self.keep(step.messages);
        self.keep(step.beyond_rate);
        if step.again.is_some() {
            return;
        }
        self.descriptions
            .publish(step.speaks, &self.mapping, &mut self.participant);
        if let Some(clock) = &mut self.clock {
            clock.pass_over(step.sim_time, step.speaks);
        }
    }

    /// Returns the messages of a step that have not left a host that is lost now.
    fn not_left(&mut self, step: &mut ExportedStep) -> Leaving {
        let mut messages = Leaving {
            said: std::mem::take(&mut step.messages),
            for_frames: std::mem::take(&mut step.beyond_rate),
        };
        let Some(again) = &step.again else {
            return messages;
        };
        let departures = self.departures.as_mut();
        let left = departures.map(|departures| departures.of(&again.by));
        let (left, images) = left.unwrap_or_default();
        // Messages can arrive although the answer that went before them has not.
        let left = left.unwrap_or(again.answered).max(again.hosted_after);
        let images = images.unwrap_or(left).max(again.hosted_after);
        let has_left = |message: &mut TopicMessage| {
            let is_image = images::is_image(message);
            step.sequence <= if is_image { images } else { left }
        };
        let gone = messages.said.extract_if(.., has_left).collect();
        self.keep(gone);
        messages.for_frames.retain(|_| step.sequence > left);
        messages
    }

    /// Publishes messages of a step, or of one that is done again in place of a lost secondary.
    fn publish_messages(&mut self, messages: Leaving, step: Option<Sequence>) {
        // All is encoded before the first leaves, so that they leave at once: a process that is
        // killed in between has sent what others do not know of, and send again.
        let mut ready = Vec::with_capacity(messages.said.len());
        let mut images = Vec::new();
        let frames = self.frames_of(&messages);
        for message in messages.said {
            let Some(kind) = messages_kind(&message) else {
                continue;
            };
            let key = (message.topic.clone(), kind);
            let Some(outbound) = self.outbound.get_mut(&key) else {
                continue;
            };
            let (participant, mapping) = (&mut self.participant, &self.mapping);
            match outbound.way_for(&message, participant, mapping) {
                Way::Direct(outlet) if outlet.is_wanted() => {
                    match ros2::encode(kind, &message.body, outlet.topic.type_name) {
                        Ok(cdr) => ready.push((Arc::clone(outlet), cdr)),
                        Err(error) => self
                            .warnings
                            .unfit
                            .warn(&format!("{}: {error}", message.topic)),
                    }
                }
                Way::Images(topic) if topic.is_wanted() => {
                    images.push((Arc::clone(topic), message));
                }
                Way::None | Way::Direct(_) | Way::Images(_) => {}
            }
        }
        for (outlet, cdr) in ready {
            let published = outlet.publication.publish(cdr);
            note(published, &outlet.topic.name, &mut self.warnings.lost);
        }
        for (publication, cdr) in self.frames.own.iter().zip(frames) {
            if let (Some(publication), Some(cdr)) = (publication, cdr) {
                note(publication.publish(cdr), "/tf", &mut self.warnings.lost);
            }
        }
        for (topic, message) in images {
            self.images.send(topic, message, step);
        }
        self.announce();
    }

    /// Returns messages of `/tf` and `/tf_static` with the frames in messages, if there are any.
    fn frames_of(&mut self, messages: &Leaving) -> [Option<Vec<u8>>; 2] {
        let (mut moving, mut fixed) = (Vec::new(), Vec::new());
        let [moving_frames, _] = &self.frames.own;
        let has_moving = moving_frames
            .as_ref()
            .is_some_and(|own| own.reader_count() > 0);
        for message in messages.said.iter().chain(&messages.for_frames) {
            let kind = messages_kind(message);
            let key = kind.map(|kind| (message.topic.clone(), kind));
            let outbound = key.and_then(|key| self.outbound.get(&key));
            match outbound.and_then(|outbound| outbound.frames) {
                Some(Frames::Moving) if !has_moving => {}
                Some(Frames::Moving) => add_frames(message, &mut moving, &mut self.warnings.unfit),
                Some(Frames::Fixed) => {
                    let mut frames = Vec::new();
                    add_frames(message, &mut frames, &mut self.warnings.unfit);
                    let origin = origin_of(message.publisher);
                    self.frames.fixed.note(origin, &frames);
                    fixed.extend(frames);
                }
                None => {}
            }
        }
        let fixed = self.frames.fixed.complete(fixed);
        [moving, fixed].map(|transforms| {
            let has_some = !transforms.is_empty();
            has_some.then(|| to_cdr(&TFMessage { transforms }))
        })
    }

    /// Waits until images are sent, and until reliable readers have what was published, as far as
    /// either takes no longer than this in all.
    pub(super) fn finish(&mut self, images: Duration, timeout: Duration) {
        self.images.finish(images);
        let until = Instant::now() + timeout;
        let topics = self.outbound.values().flat_map(Outbound::outlets);
        let topics = topics.map(|outlet| &outlet.publication);
        let frames = self.frames.own.iter().flatten();
        let own = frames.chain(self.clock.as_ref().map(ClockTopic::publication));
        for publication in topics.chain(own) {
            publication.wait_until_received(until.saturating_duration_since(Instant::now()));
        }
    }

    /// Returns the publishers of topics, frames and the clock, with the names of their topics.
    pub(super) fn publications(&self) -> impl Iterator<Item = (&str, &Publication)> {
        let outlets = self.outbound.values().flat_map(Outbound::outlets);
        let outlets = outlets.map(|outlet| (&*outlet.topic.name, &outlet.publication));
        let clock = self.clock.as_ref().map(ClockTopic::publication);
        let frames = ["/tf", "/tf_static"].into_iter().zip(&self.frames.own);
        let frames = frames.filter_map(|(name, own)| Some((name, own.as_ref()?)));
        outlets
            .chain(frames)
            .chain(clock.map(|clock| ("/clock", clock)))
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
                    Err(error) => self.warnings.unfit.warn(&format!("{topic}: {error}")),
                }
            }
        }
        messages
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

/// Warns that something cannot be had.
pub(super) fn or_warn<T>(made: Result<T, EndpointError>) -> Option<T> {
    made.map_err(|error| tracing::warn!("{error}")).ok()
}

pub(super) fn note(published: Result<(), PublishError>, topic: &str, lost: &mut Seldom) {
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

/// Tells whether readers that come later get what was published: of what nobody reads and nobody
/// can get later nothing is made.
pub(super) fn is_kept(topic: &RosTopic) -> bool {
    topic.qos.durability == Durability::TransientLocal
}

fn described(topic: &RosTopic) -> Topic<'_> {
    Topic {
        name: &topic.name,
        type_name: topic.type_name,
        quality: Quality {
            is_reliable: topic.qos.reliability == Reliability::Reliable,
            is_kept: is_kept(topic),
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
