//! [`RosRecording`]: a recording for programs of ROS 2 that is read: topics with their types and
//! quality of service, and messages as they are.

use std::collections::BTreeMap;
use std::io::{Read, Seek};

use ros2::{Durability, Qos, Reliability};

use super::{ChannelInfo, Content, Message, ReadError};
use crate::ros::CDR;

/// The longest queue that a file may ask for.
const DEPTH_MAX: u32 = 10_000;

/// A recording for programs of ROS 2.
#[derive(Debug)]
pub struct RosRecording<R> {
    source: R,
    content: Content,
    channels: BTreeMap<u16, RosChannel>,
}

/// A topic of ROS 2 in a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RosChannel {
    /// Its name: `/model/rover/odometry`.
    pub topic: String,
    /// Type of its messages: `nav_msgs/msg/Odometry`.
    pub type_name: String,
    /// Quality of service that its publishers offered.
    pub qos: Qos,
}

impl<R: Read + Seek> RosRecording<R> {
    /// Opens a recording. One without an index is read whole.
    ///
    /// # Errors
    /// Fails if it is no MCAP file, or has no topics of ROS 2.
    pub fn open(mut source: R) -> Result<Self, ReadError> {
        let content = Content::read(&mut source)?;
        if !content.is_for_ros() {
            return Err(ReadError::NotOurs("topics of ROS 2"));
        }
        let of_ros = content.channels.iter();
        let of_ros = of_ros.filter(|(_, channel)| channel.encoding == CDR);
        let channels = of_ros.map(|(id, channel)| (*id, RosChannel::of(channel)));
        Ok(Self {
            channels: channels.collect(),
            source,
            content,
        })
    }

    /// Returns its topics by the numbers of their channels.
    pub fn channels(&self) -> &BTreeMap<u16, RosChannel> {
        &self.channels
    }

    /// Returns where and why it breaks off, if it does.
    pub fn break_off(&self) -> Option<(u64, &str)> {
        let at = self.content.break_off.as_ref();
        at.map(|(offset, reason)| (*offset, reason.as_str()))
    }

    /// Returns the number of its chunks.
    pub fn chunk_count(&self) -> usize {
        self.content.chunks.len()
    }

    /// Returns the messages of topics in a chunk, by their times.
    ///
    /// # Errors
    /// Fails if it cannot be read.
    ///
    /// # Panics
    /// Panics if there is no such chunk.
    pub fn messages(&mut self, chunk: usize) -> Result<Vec<Message>, ReadError> {
        let mut messages = self.content.messages(&mut self.source, chunk)?;
        messages.retain(|message| self.channels.contains_key(&message.channel));
        messages.sort_by_key(|message| message.sim_time);
        Ok(messages)
    }
}

impl RosChannel {
    fn of(channel: &ChannelInfo) -> Self {
        Self {
            topic: channel.topic.clone(),
            type_name: channel.schema.clone(),
            qos: offered(&channel.offered_qos),
        }
    }
}

/// Reads a quality of service as rosbag2 writes it, with words or, in older versions, with numbers.
/// The rest is as topics of ROS 2 have it without a wish.
fn offered(text: &str) -> Qos {
    let value = |key: &str| {
        let mut lines = text.lines().map(|line| line.trim_start_matches(['-', ' ']));
        let found = lines.find_map(|line| line.strip_prefix(key)?.strip_prefix(':'));
        found.map(str::trim)
    };
    Qos {
        reliability: match value("reliability") {
            Some("best_effort" | "2") => Reliability::BestEffort,
            _ => Reliability::Reliable,
        },
        durability: match value("durability") {
            Some("transient_local" | "1") => Durability::TransientLocal,
            _ => Durability::Volatile,
        },
        depth: value("depth")
            .and_then(|depth| depth.parse().ok())
            .filter(|depth| (1..=DEPTH_MAX).contains(depth))
            .unwrap_or(10),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use messages::Message as _;
    use protocol::{Iteration, Publisher, SimTime, TopicMessage};
    use ros2::{Mapping, Profile, Rule, Rules};

    use super::*;
    use crate::RosWriter;

    #[test]
    fn what_is_written_is_read_with_its_quality_of_service() {
        let rule = Rule {
            topic: "/b".to_owned(),
            qos: Some(Profile::BestEffort),
            depth: Some(3),
            ..Rule::default()
        };
        let rules = Rules {
            topics: vec![rule],
            ..Rules::default()
        };
        let mapping = Mapping::new(&rules).unwrap();
        let mut writer = RosWriter::new(Cursor::new(Vec::new()), mapping).unwrap();
        for (topic, ms) in [("/a", 1), ("/b", 2), ("/a", 3)] {
            let message = messages::Double {
                data: ms as f64,
                ..messages::Double::default()
            };
            let message = TopicMessage {
                topic: topic.to_owned(),
                kind: messages::Double::KIND.to_owned(),
                publisher: Publisher::Client,
                iteration: Iteration(ms),
                sim_time: SimTime(ms * 1_000_000),
                body: messages::encode(&message),
            };
            writer.clock(message.sim_time).unwrap();
            writer.message(&message).unwrap();
        }
        let mut recording = RosRecording::open(writer.finish().unwrap()).unwrap();
        let channels = recording.channels().clone();
        let of = |topic: &str| channels.values().find(|one| one.topic == topic).unwrap();
        assert_eq!(of("/a").type_name, "std_msgs/msg/Float64");
        assert_eq!(of("/a").qos, Qos::of(Profile::Reliable));
        let best_effort = Qos {
            depth: 3,
            ..Qos::of(Profile::BestEffort)
        };
        assert_eq!(of("/b").qos, best_effort);
        let mut heard = Vec::new();
        for chunk in 0..recording.chunk_count() {
            for message in recording.messages(chunk).unwrap() {
                let topic = channels[&message.channel].topic.as_str();
                heard.push((topic, message.sim_time.0 / 1_000_000));
            }
        }
        let expected = [("/clock", 1), ("/a", 1), ("/clock", 2), ("/b", 2)];
        assert_eq!(heard[..4], expected);
        assert_eq!(heard.len(), 6);
    }

    #[test]
    fn other_files_are_told_apart() {
        let mapping = Mapping::new(&Rules::default()).unwrap();
        let of_ros = RosWriter::new(Cursor::new(Vec::new()), mapping).unwrap();
        let of_ros = of_ros.finish().unwrap();
        assert!(matches!(
            crate::Recording::open(of_ros),
            Err(ReadError::ForRos)
        ));
        let nothing = RosRecording::open(Cursor::new(b"no such file".to_vec()));
        assert!(matches!(nothing, Err(ReadError::NotMcap)));
    }

    #[test]
    fn both_ways_of_rosbag_to_write_quality_of_service_are_read() {
        let text = "- history: keep_last\n  depth: 5\n  reliability: best_effort\n  \
                    durability: transient_local\n";
        let expected = Qos {
            reliability: Reliability::BestEffort,
            durability: Durability::TransientLocal,
            depth: 5,
        };
        assert_eq!(offered(text), expected);
        assert_eq!(
            offered("- depth: 5\n  reliability: 2\n  durability: 1\n"),
            expected
        );
        assert_eq!(offered(""), Qos::of(Profile::Reliable));
        assert_eq!(offered("- depth: 0\n").depth, 10);
    }
}
