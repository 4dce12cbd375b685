//! [`RosWriter`]: writes what was said on topics for programs of ROS 2: MCAP of the profile `ros2`,
//! with definitions in `ros2msg` and messages in CDR.
//!
//! There is nothing in it but topics as a [`Mapping`] has them, `/tf`, `/tf_static` and `/clock`.
//! All times are simulated ones, so that equal runs have equal messages.

use std::collections::BTreeMap;
use std::io::{Seek, Write};

use mcap::Writer;
use mcap::records::MessageHeader;
use protocol::{Rate, SimTime, TopicMessage};
use ros2::types::builtin_interfaces::Time;
use ros2::types::geometry_msgs::{Transform, TransformStamped};
use ros2::types::rosgraph_msgs::Clock;
use ros2::types::tf2_msgs::TFMessage;
use ros2::{Durability, Frames, Mapping, Qos, Reliability, RosTopic, to_cdr};

use crate::reader::MESSAGE_BYTES_MAX;
use crate::writer::{WriteError, options};

/// Profile of the file.
const PROFILE: &str = "ros2";
/// Encoding of messages.
pub(crate) const CDR: &str = "cdr";
/// Encoding of definitions.
const ROS2_MSG: &str = "ros2msg";
/// The key in a channel's metadata of the quality of service that its publishers offered.
pub(crate) const QOS_KEY: &str = "offered_qos_profiles";
/// The key in a channel's metadata of the fingerprint of its type.
const FINGERPRINT_KEY: &str = "topic_type_hash";
/// Number of channels that a file may have; the format numbers them with 16 bits.
const CHANNELS_MAX: usize = 65_000;

/// Writes a recording for programs of ROS 2.
pub struct RosWriter<W: Write + Seek> {
    writer: Writer<W>,
    mapping: Mapping,
    clock: u16,
    /// Gazebo's topics, by name and kind.
    topics: BTreeMap<(String, String), Topic>,
    /// Channels by name and type.
    channels: BTreeMap<(String, &'static str), u16>,
    /// Number of messages that each channel has.
    counts: BTreeMap<u16, u32>,
    /// Frames of `/tf_static` as they were written last, by their names.
    fixed: BTreeMap<String, (String, Transform)>,
    /// Size of the chunk that is written, so far \[bytes\].
    chunk_bytes: usize,
    left_out: u64,
    problems: Vec<String>,
}

/// A topic of a run as it is recorded.
struct Topic {
    /// `None` if it is not recorded under a name of its own.
    own: Option<OwnTopic>,
    frames: Option<Frames>,
    has_problem: bool,
}

struct OwnTopic {
    channel: u16,
    type_name: &'static str,
    rate: Rate,
}

impl<W: Write + Seek> RosWriter<W> {
    /// Begins a recording.
    ///
    /// # Errors
    /// Fails if it cannot be written.
    pub fn new(sink: W, mapping: Mapping) -> Result<Self, WriteError> {
        let mut writer = options().profile(PROFILE).create(sink)?;
        let mut channels = BTreeMap::new();
        let clock = add(&mut writer, &mapping.clock(), &mut channels)?;
        for frames in [Frames::Moving, Frames::Fixed] {
            add(&mut writer, &mapping.transforms(frames), &mut channels)?;
        }
        writer.flush()?;
        Ok(Self {
            writer,
            mapping,
            clock,
            topics: BTreeMap::new(),
            channels,
            counts: BTreeMap::new(),
            fixed: BTreeMap::new(),
            chunk_bytes: 0,
            left_out: 0,
            problems: Vec::new(),
        })
    }

    /// Writes what time it is.
    ///
    /// # Errors
    /// Fails if it cannot be written.
    pub fn clock(&mut self, at: SimTime) -> Result<(), WriteError> {
        let clock = Clock {
            clock: Time {
                sec: i32::try_from(at.0 / 1_000_000_000).unwrap_or(i32::MAX),
                nanosec: (at.0 % 1_000_000_000) as u32,
            },
        };
        self.put(self.clock, &to_cdr(&clock), at)
    }

    /// Writes what was said on a topic of the simulated worlds, if it is one of ROS, and the frames
    /// that it has for `/tf`.
    ///
    /// # Errors
    /// Fails if it cannot be written.
    pub fn message(&mut self, message: &TopicMessage) -> Result<(), WriteError> {
        let key = (message.topic.clone(), message.kind.clone());
        let mut topic = match self.topics.remove(&key) {
            Some(known) => known,
            None => self.topic(&message.topic, &message.kind)?,
        };
        let written = self.message_of(&mut topic, message);
        self.topics.insert(key, topic);
        written
    }

    /// Returns what was left out since the last call, each thing once.
    pub fn take_problems(&mut self) -> Vec<String> {
        std::mem::take(&mut self.problems)
    }

    /// Returns how much is in the chunk that is not in the file yet \[bytes\].
    pub fn chunk_bytes(&self) -> usize {
        self.chunk_bytes
    }

    /// Returns how many messages are so large that they were left out.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    /// Ends the chunk and has everything in the file.
    ///
    /// # Errors
    /// Fails if it cannot be written.
    pub fn flush(&mut self) -> Result<(), WriteError> {
        self.chunk_bytes = 0;
        Ok(self.writer.flush()?)
    }

    /// Writes the index, with which the file is complete.
    ///
    /// # Errors
    /// Fails if it cannot be written.
    pub fn finish(mut self) -> Result<W, WriteError> {
        self.writer.finish()?;
        let mut sink = self.writer.into_inner();
        sink.flush().map_err(mcap::McapError::from)?;
        Ok(sink)
    }

    /// Writes a message under the name of its topic, and its frames.
    fn message_of(&mut self, topic: &mut Topic, message: &TopicMessage) -> Result<(), WriteError> {
        if let Some(own) = &mut topic.own
            && own.rate.admits(message.sim_time)
        {
            match ros2::encode(&message.kind, &message.body, own.type_name) {
                Ok(cdr) => self.put(own.channel, &cdr, message.sim_time)?,
                Err(error) if !std::mem::replace(&mut topic.has_problem, true) => {
                    let topic = &message.topic;
                    let text = format!("messages of {topic} are left out: {error}");
                    self.problems.push(text);
                }
                Err(_) => {}
            }
        }
        match topic.frames {
            Some(frames) => self.frames(frames, message),
            None => Ok(()),
        }
    }

    /// Writes the frames in a message; those that stay only when they are new.
    fn frames(&mut self, frames: Frames, message: &TopicMessage) -> Result<(), WriteError> {
        let found = ros2::transforms::frames(&message.kind, &message.body);
        let mut transforms = found.unwrap_or_default();
        if frames == Frames::Fixed {
            transforms.retain(|frame| self.is_news(frame));
        }
        if transforms.is_empty() {
            return Ok(());
        }
        let ros = self.mapping.transforms(frames);
        let channel = self.channels[&(ros.name, ros.type_name)];
        self.put(
            channel,
            &to_cdr(&TFMessage { transforms }),
            message.sim_time,
        )
    }

    fn is_news(&mut self, frame: &TransformStamped) -> bool {
        let now = (frame.header.frame_id.clone(), frame.transform.clone());
        let before = self.fixed.insert(frame.child_frame_id.clone(), now.clone());
        before != Some(now)
    }

    /// Returns how a topic is recorded that has not been heard of before.
    fn topic(&mut self, topic: &str, kind: &str) -> Result<Topic, WriteError> {
        let ros = self.mapping.outbound(topic, kind);
        // What comes in is said on the topic, too.
        let ros = ros.or_else(|| self.mapping.inbound(topic, kind));
        let frames = self.mapping.frames(topic, kind);
        let mut has_problem = false;
        let own = match ros {
            Some(_) if self.channels.len() >= CHANNELS_MAX => {
                let text = format!("messages of {topic} are left out: there are too many topics");
                self.problems.push(text);
                has_problem = true;
                None
            }
            Some(ros) => Some(OwnTopic {
                channel: add(&mut self.writer, &ros, &mut self.channels)?,
                type_name: ros.type_name,
                rate: Rate::new(ros.max_rate_hz),
            }),
            None => None,
        };
        Ok(Topic {
            own,
            frames,
            has_problem,
        })
    }

    fn put(&mut self, channel_id: u16, data: &[u8], at: SimTime) -> Result<(), WriteError> {
        if data.len() > MESSAGE_BYTES_MAX {
            self.left_out += 1;
            return Ok(());
        }
        let count = self.counts.entry(channel_id).or_default();
        *count = count.wrapping_add(1);
        let header = MessageHeader {
            channel_id,
            sequence: *count,
            log_time: at.0,
            publish_time: at.0,
        };
        self.chunk_bytes += data.len();
        Ok(self.writer.write_to_known_channel(&header, data)?)
    }
}

/// Adds the channel of a topic, or finds it.
fn add<W: Write + Seek>(
    writer: &mut Writer<W>,
    topic: &RosTopic,
    channels: &mut BTreeMap<(String, &'static str), u16>,
) -> Result<u16, WriteError> {
    let key = (topic.name.clone(), topic.type_name);
    if let Some(known) = channels.get(&key) {
        return Ok(*known);
    }
    let known = ros2::types::find(topic.type_name).expect("topics have types that are known");
    let definition = known.definition();
    let schema = writer.add_schema(known.name, ROS2_MSG, definition.as_bytes())?;
    let metadata = BTreeMap::from([
        (QOS_KEY.to_owned(), offered(topic.qos)),
        (FINGERPRINT_KEY.to_owned(), known.fingerprint()),
    ]);
    let channel = writer.add_channel(schema, &topic.name, CDR, &metadata)?;
    channels.insert(key, channel);
    Ok(channel)
}

/// Returns a quality of service as rosbag2 writes it: YAML, without limits of time.
fn offered(qos: Qos) -> String {
    let reliability = match qos.reliability {
        Reliability::Reliable => "reliable",
        Reliability::BestEffort => "best_effort",
    };
    let durability = match qos.durability {
        Durability::Volatile => "volatile",
        Durability::TransientLocal => "transient_local",
    };
    let forever = "\n    sec: 9223372036\n    nsec: 854775807";
    format!(
        "- history: keep_last\n  depth: {depth}\n  reliability: {reliability}\n  \
         durability: {durability}\n  deadline:{forever}\n  lifespan:{forever}\n  \
         liveliness: automatic\n  liveliness_lease_duration:{forever}\n  \
         avoid_ros_namespace_conventions: false\n",
        depth = qos.depth,
    )
}
