//! [`Mapping`]: name, type and quality of service of each topic in ROS.

use std::collections::BTreeMap;

use messages::Message;
use messages::foxglove::{COMPRESSED_ENDINGS, CompressedImage};
use messages::sensor::Image;

use crate::convert::{Pair, pair};
use crate::names::valid;
use crate::rules::{CheckedRule, Direction, Profile, RuleError, Rules};
use crate::schema::RosMessage;
use crate::types::{rosgraph_msgs, sensor_msgs, std_msgs, tf2_msgs};

/// Number of messages that reliable topics keep for readers.
const RELIABLE_DEPTH: u32 = 10;
/// Number of messages that topics of sensors keep for readers.
const SENSOR_DEPTH: u32 = 5;
/// Number of messages with frames that are kept for readers, as `tf2` has it.
const FRAMES_DEPTH: u32 = 100;
/// Types that are soon outdated.
const SENSOR_TYPES: [&str; 11] = [
    sensor_msgs::CameraInfo::TYPE.name,
    sensor_msgs::CompressedImage::TYPE.name,
    sensor_msgs::FluidPressure::TYPE.name,
    sensor_msgs::Image::TYPE.name,
    sensor_msgs::Imu::TYPE.name,
    sensor_msgs::LaserScan::TYPE.name,
    sensor_msgs::MagneticField::TYPE.name,
    sensor_msgs::NavSatFix::TYPE.name,
    sensor_msgs::PointCloud2::TYPE.name,
    sensor_msgs::Range::TYPE.name,
    crate::types::ros_gz_interfaces::Altimeter::TYPE.name,
];

/// Guarantee of delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reliability {
    /// Lost messages are sent again.
    Reliable,
    /// Lost messages are lost.
    BestEffort,
}

/// Fate of messages that were sent before a reader came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// It does not get them.
    Volatile,
    /// It gets those that the writer keeps.
    TransientLocal,
}

/// Quality of service; messages are kept by their number (`KEEP_LAST`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Qos {
    /// Guarantee of delivery.
    pub reliability: Reliability,
    /// Fate of messages that were sent before a reader came.
    pub durability: Durability,
    /// Number of messages that are kept.
    pub depth: u32,
}

/// A topic in ROS.
#[derive(Clone, Debug, PartialEq)]
pub struct RosTopic {
    /// Its name: `/model/robot/cmd_vel`.
    pub name: String,
    /// Its type: `geometry_msgs/msg/Twist`.
    pub type_name: &'static str,
    /// Quality of service.
    pub qos: Qos,
    /// The most messages per second of simulated time, if there is a limit.
    pub max_rate_hz: Option<f64>,
}

impl RosTopic {
    /// Returns the number of messages that readers get who come later.
    pub fn kept(&self) -> usize {
        match self.qos.durability {
            Durability::TransientLocal => self.qos.depth as usize,
            Durability::Volatile => 0,
        }
    }
}

/// Both ways of a topic between a run and ROS.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ways {
    /// From the run to ROS.
    pub outbound: Option<RosTopic>,
    /// From ROS to the run.
    pub inbound: Option<RosTopic>,
}

/// A topic of a run, and who uses it there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Used<'a> {
    /// Gazebo's name.
    pub topic: &'a str,
    /// Kind of its messages.
    pub kind: &'a str,
    /// True if a system or sensor publishes on it.
    pub is_published: bool,
    /// True if a system subscribes to it.
    pub is_subscribed: bool,
}

/// Frames of `/tf` in a topic's messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frames {
    /// Frames that move: `/tf`.
    Moving,
    /// Frames that stay: `/tf_static`.
    Fixed,
}

/// Something about a topic that a user should be told once.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Note {
    /// Its name is no name of ROS.
    #[error("topic {topic} is {name} in ROS, which does not take its name")]
    Renamed {
        /// Gazebo's name.
        topic: String,
        /// The name in ROS.
        name: String,
    },
    /// Another topic has its name in ROS.
    #[error(
        "topics {first} and {second} are both {name} in ROS: give one another `name` by a rule, in \
         the file of `ros2.rules` or as [[ros2.topic]]"
    )]
    SameName {
        /// Gazebo's name of one.
        first: String,
        /// Gazebo's name of the other.
        second: String,
        /// Their name in ROS.
        name: String,
    },
    /// The rule's type does not go with its kind.
    #[error("topic {topic} has messages {kind}, which are not sent as {type_name}; it is left out")]
    WrongType {
        /// Gazebo's name.
        topic: String,
        /// Kind of its messages.
        kind: String,
        /// The rule's type.
        type_name: String,
    },
}

/// Says which topic of a run is which topic of ROS.
#[derive(Clone, Debug)]
pub struct Mapping {
    namespace: String,
    has_robot_namespaces: bool,
    has_plain_descriptions: bool,
    rules: Vec<CheckedRule>,
}

impl Qos {
    /// Returns the quality of service of a profile.
    pub const fn of(profile: Profile) -> Self {
        let (reliability, durability, depth) = match profile {
            Profile::Sensor => (Reliability::BestEffort, Durability::Volatile, SENSOR_DEPTH),
            Profile::BestEffort => (
                Reliability::BestEffort,
                Durability::Volatile,
                RELIABLE_DEPTH,
            ),
            Profile::Reliable => (Reliability::Reliable, Durability::Volatile, RELIABLE_DEPTH),
            Profile::Latched => (Reliability::Reliable, Durability::TransientLocal, 1),
        };
        Self {
            reliability,
            durability,
            depth,
        }
    }
}

impl Mapping {
    /// Makes the mapping of some rules.
    ///
    /// # Errors
    /// Fails with the first rule that cannot hold.
    pub fn new(rules: &Rules) -> Result<Self, RuleError> {
        Ok(Self {
            namespace: rules.namespace.clone(),
            has_robot_namespaces: rules.robot_namespaces,
            has_plain_descriptions: rules.plain_descriptions,
            rules: rules.checked()?,
        })
    }

    /// Returns a topic in ROS as the run publishes on it; none if it has no type there or a rule
    /// does not have it so.
    pub fn outbound(&self, topic: &str, kind: &str) -> Option<RosTopic> {
        let (topic, direction, _) = self.look_up(topic, kind)?;
        let is_out = matches!(direction, None | Some(Direction::Out | Direction::Both));
        is_out.then_some(topic)
    }

    /// Returns a topic in ROS as the run subscribes to it; none if it has no type there or a rule
    /// does not have it so.
    pub fn inbound(&self, topic: &str, kind: &str) -> Option<RosTopic> {
        let (topic, direction, pair) = self.look_up(topic, kind)?;
        let is_in = matches!(direction, None | Some(Direction::In | Direction::Both));
        (is_in && pair.has_inbound).then_some(topic)
    }

    /// Returns the ways of a topic. Unless a rule says otherwise, a topic that systems or sensors
    /// publish on goes out, and one that systems only subscribe to comes in.
    pub fn ways(&self, used: &Used<'_>) -> Ways {
        let Some((topic, direction, pair)) = self.look_up(used.topic, used.kind) else {
            return Ways::default();
        };
        let (is_out, is_in) = match direction {
            None => (used.is_published, used.is_subscribed && !used.is_published),
            Some(Direction::Out) => (true, false),
            Some(Direction::In) => (false, true),
            Some(Direction::Both) => (true, true),
            Some(Direction::Off) => (false, false),
        };
        Ways {
            outbound: is_out.then(|| topic.clone()),
            inbound: (is_in && pair.has_inbound).then_some(topic),
        }
    }

    /// Returns whether a topic's messages have frames of `/tf`. Those of poses do, if their headers
    /// name both frames ([`crate::transforms::frames`]); those of odometry only if a rule says so,
    /// since the systems that estimate it publish the same as poses.
    pub fn frames(&self, topic: &str, kind: &str) -> Option<Frames> {
        let rule = self.rule(topic).map(|(rule, _)| &rule.rule);
        let is_off = rule.is_some_and(|rule| rule.direction == Some(Direction::Off));
        let usual = !is_off && ["gz.msgs.Pose", "gz.msgs.Pose_V"].contains(&kind);
        let wanted = rule.and_then(|rule| rule.tf).unwrap_or(usual);
        let is_fixed = topic.ends_with("_static");
        (wanted && crate::transforms::KINDS.contains(&kind)).then_some(if is_fixed {
            Frames::Fixed
        } else {
            Frames::Moving
        })
    }

    /// Returns the topic of simulated time.
    pub fn clock(&self) -> RosTopic {
        own(
            "/clock",
            rosgraph_msgs::Clock::TYPE.name,
            Profile::Reliable,
            1,
        )
    }

    /// Returns the topic of frames.
    pub fn transforms(&self, frames: Frames) -> RosTopic {
        let type_name = tf2_msgs::TFMessage::TYPE.name;
        match frames {
            Frames::Moving => own("/tf", type_name, Profile::Reliable, FRAMES_DEPTH),
            Frames::Fixed => own("/tf_static", type_name, Profile::Latched, FRAMES_DEPTH),
        }
    }

    /// Returns the topic of a robot's description, by its topic in the run,
    /// `/model/NAME/robot_description`: it is `/robot_description` if there is only one, unless
    /// robots, or this one, have namespaces. None if a rule does not have it go out.
    pub fn robot_description(&self, topic: &str, is_only_one: bool) -> Option<RosTopic> {
        let found = self.rule(topic);
        let rule = found.as_ref().map(|(rule, _)| &rule.rule);
        let direction = rule.and_then(|rule| rule.direction);
        if !matches!(direction, None | Some(Direction::Out | Direction::Both)) {
            return None;
        }
        let given = found.as_ref().and_then(|(rule, stars)| {
            let name = rule.rule.name.as_ref()?;
            Some(self.in_namespace(&filled(name, stars)))
        });
        let name = given.unwrap_or_else(|| {
            let is_usual = topic.starts_with("/model/") || topic.starts_with("/world/");
            if is_only_one && is_usual && !self.has_robot_namespaces {
                self.in_namespace("robot_description")
            } else {
                self.usual_name(topic)
            }
        });
        Some(own(&name, std_msgs::String::TYPE.name, Profile::Latched, 1))
    }

    /// Returns a prefix of the links in a model's description: that of its frames, `NAME/`, unless
    /// a rule says otherwise.
    pub fn frame_prefix(&self, model: &str) -> String {
        if self.has_plain_descriptions {
            String::new()
        } else {
            format!("{model}/")
        }
    }

    /// Returns all that a user should be told about the topics of a run.
    pub fn notes(&self, topics: &[Used<'_>]) -> Vec<Note> {
        let mut notes = Vec::new();
        let mut known: BTreeMap<String, &str> = BTreeMap::new();
        for used in topics {
            let (topic, kind) = (used.topic, used.kind);
            let ways = self.ways(used);
            let Some(ros) = ways.outbound.or(ways.inbound) else {
                let rule = self
                    .rule(topic)
                    .and_then(|(rule, _)| rule.rule.type_name.clone());
                if let Some(type_name) = rule.filter(|name| pair(kind, Some(name)).is_none()) {
                    let (topic, kind) = (topic.to_owned(), kind.to_owned());
                    notes.push(Note::WrongType {
                        topic,
                        kind,
                        type_name,
                    });
                }
                continue;
            };
            match known.get(&ros.name) {
                Some(first) if *first != topic => notes.push(Note::SameName {
                    first: (*first).to_owned(),
                    second: topic.to_owned(),
                    name: ros.name.clone(),
                }),
                _ => {}
            }
            if valid(topic) != topic && ros.name == self.usual_name(topic) {
                let (topic, name) = (topic.to_owned(), ros.name.clone());
                notes.push(Note::Renamed { topic, name });
            }
            known.entry(ros.name).or_insert(topic);
        }
        notes
    }

    /// Returns a topic in ROS with its rule's direction, if its kind has the type that it is to
    /// have. One with compressed images is beside that of the images, and by its rule, unless a
    /// rule names it by its ending.
    fn look_up(
        &self,
        topic: &str,
        kind: &str,
    ) -> Option<(RosTopic, Option<Direction>, &'static Pair)> {
        let found = self.rule(topic);
        if kind == CompressedImage::KIND
            && let Some((source, ending)) = image_topic(topic)
            && !found
                .as_ref()
                .is_some_and(|(rule, _)| rule.rule.topic.ends_with(ending))
        {
            let (image, direction, _) = self.look_up(source, Image::KIND)?;
            let pair = pair(kind, None)?;
            let ros = RosTopic {
                name: format!("{}{ending}", image.name),
                type_name: pair.ros_type.name,
                ..image
            };
            return Some((ros, direction, pair));
        }
        let rule = found.as_ref().map(|(rule, _)| &rule.rule);
        let pair = pair(kind, rule.and_then(|rule| rule.type_name.as_deref()))?;
        let type_name = pair.ros_type.name;
        let usual = if SENSOR_TYPES.contains(&type_name) {
            Profile::Sensor
        } else {
            Profile::Reliable
        };
        let mut qos = Qos::of(rule.and_then(|rule| rule.qos).unwrap_or(usual));
        if usual == Profile::Sensor {
            // What is soon outdated is not kept longer because it is to come for sure.
            qos.depth = qos.depth.min(SENSOR_DEPTH);
        }
        if let Some(depth) = rule.and_then(|rule| rule.depth) {
            qos.depth = depth;
        }
        let given = found.as_ref().and_then(|(rule, stars)| {
            let name = rule.rule.name.as_ref()?;
            Some(self.in_namespace(&filled(name, stars)))
        });
        let ros = RosTopic {
            name: given.unwrap_or_else(|| self.usual_name(topic)),
            type_name,
            qos,
            max_rate_hz: rule.and_then(|rule| rule.rate_hz),
        };
        Some((ros, rule.and_then(|rule| rule.direction), pair))
    }

    /// Returns the rule that holds for a topic, with the texts that its stars stand for.
    fn rule<'a>(&self, topic: &'a str) -> Option<(&CheckedRule, Vec<&'a str>)> {
        let mut rules = self.rules.iter();
        rules.find_map(|rule| Some((rule, rule.pattern.matches(topic)?)))
    }

    fn usual_name(&self, topic: &str) -> String {
        if !self.has_robot_namespaces {
            return self.in_namespace(topic);
        }
        let in_world = topic.strip_prefix("/world/").and_then(|rest| {
            let (_, inner) = rest.split_once('/')?;
            inner.strip_prefix("model/")
        });
        let inner = in_world.or_else(|| topic.strip_prefix("/model/"));
        self.in_namespace(inner.unwrap_or(topic))
    }

    fn in_namespace(&self, name: &str) -> String {
        valid(&format!("{}/{name}", self.namespace))
    }
}

fn own(name: &str, type_name: &'static str, profile: Profile, depth: u32) -> RosTopic {
    RosTopic {
        name: name.to_owned(),
        type_name,
        qos: Qos {
            depth,
            ..Qos::of(profile)
        },
        max_rate_hz: None,
    }
}

/// Returns the topic of the images that a topic has compressed, and the ending of its name.
fn image_topic(topic: &str) -> Option<(&str, &'static str)> {
    let mut endings = COMPRESSED_ENDINGS.into_iter();
    endings.find_map(|ending| Some((topic.strip_suffix(ending)?, ending)))
}

/// Returns a name with its places filled.
fn filled(name: &str, stars: &[&str]) -> String {
    let numbered = stars.iter().zip(1..);
    numbered.fold(name.to_owned(), |name, (star, number)| {
        name.replace(&format!("{{{number}}}"), star.trim_matches('/'))
    })
}

#[cfg(test)]
mod tests;
