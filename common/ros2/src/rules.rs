//! [`Rules`]: a user's wishes about topics, the table `[ros2]` of run files.

use serde::{Deserialize, Serialize};

use crate::convert::PAIRS;
use crate::names::{Pattern, is_valid, valid};

/// The most stars in a pattern.
const STARS_MAX: usize = 8;
/// The longest queue of a topic.
const DEPTH_MAX: u32 = 100_000;
/// The most messages per second that can be asked for.
const RATE_MAX_HZ: f64 = 1e6;

/// Names, types and profiles of topics, where they are not the usual ones.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Rules {
    /// Namespace of all names: `/simulation`; empty for none.
    pub namespace: String,
    /// True if each robot has a namespace: `/model/NAME/cmd_vel` is `/NAME/cmd_vel`.
    pub robot_namespaces: bool,
    /// True if links in descriptions of robots are named as in their URDF: `base` for `NAME/base`.
    pub plain_descriptions: bool,
    /// Rules of topics; the first that fits a topic holds.
    #[serde(rename = "topic")]
    pub topics: Vec<Rule>,
}

/// Rule of the topics that a pattern fits; whatever it leaves out is as usual.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Rule {
    /// Pattern of Gazebo's names: `/model/*/cmd_vel`; `*` fits within a part, `**` across parts.
    pub topic: String,
    /// Name in ROS; `{1}` is what the first star stands for.
    pub name: Option<String>,
    /// Type in ROS: `geometry_msgs/msg/TwistStamped`.
    #[serde(rename = "type")]
    pub type_name: Option<String>,
    /// Way of its messages.
    pub direction: Option<Direction>,
    /// Profile of quality of service.
    pub qos: Option<Profile>,
    /// Number of messages that are kept for readers.
    pub depth: Option<u32>,
    /// The most messages per second of simulated time; further ones are left out.
    pub rate_hz: Option<f64>,
    /// True if the poses in its messages are frames of `/tf`.
    pub tf: Option<bool>,
}

/// Way of a topic's messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// From ROS to the run.
    In,
    /// From the run to ROS.
    Out,
    /// Both.
    Both,
    /// Not at all.
    Off,
}

/// Profile of quality of service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Profile {
    /// Best effort, 5 messages: for what is soon outdated.
    Sensor,
    /// Reliable, 10 messages.
    Reliable,
    /// Best effort, 10 messages.
    BestEffort,
    /// Reliable, and the last message also for readers that come later.
    Latched,
}

/// A rule that cannot hold.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RuleError {
    /// The namespace is no name of ROS.
    #[error(
        "namespace {namespace:?} must be empty or like \"{}\": `/`, then letters, digits and `_`",
        valid(namespace)
    )]
    Namespace {
        /// The namespace.
        namespace: String,
    },
    /// A rule of a topic is wrong.
    #[error("rule {number} (topic {topic:?}): {reason}")]
    Topic {
        /// Its place in the list, from 1.
        number: usize,
        /// Its pattern.
        topic: String,
        /// Its fault.
        reason: TopicRuleError,
    },
}

/// Fault of a topic's rule.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum TopicRuleError {
    /// The pattern fits no topic.
    #[error("topic must begin with `/` or `*`: names of topics do")]
    Pattern,
    /// The pattern has too many stars.
    #[error("topic has more than {STARS_MAX} stars")]
    Stars,
    /// ROS does not take the name.
    #[error(
        "name {name:?} must be like \"{}\": `/`, then letters, digits and `_`; {{1}} is what the \
         first star stands for",
        valid(name)
    )]
    Name {
        /// The name.
        name: String,
    },
    /// The name refers to a star that is not there.
    #[error("name has {{{number}}}, but topic has {stars} stars")]
    Star {
        /// Number in the name.
        number: usize,
        /// Number of stars.
        stars: usize,
    },
    /// No message of a run is of the type.
    #[error(
        "type {type_name:?} is none of those that messages of a run have; docs/ros2.md lists them"
    )]
    Type {
        /// The type.
        type_name: String,
    },
    /// The queue is empty or too long.
    #[error("depth must be from 1 to {DEPTH_MAX}")]
    Depth,
    /// The rate is no rate.
    #[error("rate_hz must be above 0 and at most {RATE_MAX_HZ}")]
    Rate,
}

/// A rule that has been checked.
#[derive(Clone, Debug)]
pub(crate) struct CheckedRule {
    pub(crate) pattern: Pattern,
    pub(crate) rule: Rule,
}

impl Rules {
    /// Checks all rules.
    ///
    /// # Errors
    /// Fails with the first that cannot hold.
    pub(crate) fn checked(&self) -> Result<Vec<CheckedRule>, RuleError> {
        let namespace = &self.namespace;
        if !namespace.is_empty() && !is_valid(namespace) {
            let namespace = namespace.clone();
            return Err(RuleError::Namespace { namespace });
        }
        let numbered = self.topics.iter().zip(1..);
        let checked = numbered.map(|(rule, number)| {
            rule.checked().map_err(|reason| RuleError::Topic {
                number,
                topic: rule.topic.clone(),
                reason,
            })
        });
        checked.collect()
    }
}

impl Rule {
    fn checked(&self) -> Result<CheckedRule, TopicRuleError> {
        if !self.topic.starts_with(['/', '*']) {
            return Err(TopicRuleError::Pattern);
        }
        let pattern = Pattern::new(&self.topic);
        let stars = pattern.stars();
        if stars > STARS_MAX {
            return Err(TopicRuleError::Stars);
        }
        if let Some(name) = &self.name {
            check_name(name, stars)?;
        }
        if let Some(type_name) = &self.type_name
            && !PAIRS.iter().any(|pair| pair.ros_type.name == type_name)
        {
            let type_name = type_name.clone();
            return Err(TopicRuleError::Type { type_name });
        }
        if self
            .depth
            .is_some_and(|depth| depth == 0 || depth > DEPTH_MAX)
        {
            return Err(TopicRuleError::Depth);
        }
        let is_rate = |rate: f64| rate > 0.0 && rate <= RATE_MAX_HZ;
        if !self.rate_hz.is_none_or(is_rate) {
            return Err(TopicRuleError::Rate);
        }
        Ok(CheckedRule {
            pattern,
            rule: self.clone(),
        })
    }
}

/// Makes sure that a name is one of ROS whatever its stars stand for.
fn check_name(name: &str, stars: usize) -> Result<(), TopicRuleError> {
    let mut plain = name.to_owned();
    for number in 1..=9 {
        let place = format!("{{{number}}}");
        if plain.contains(&place) && number > stars {
            return Err(TopicRuleError::Star { number, stars });
        }
        plain = plain.replace(&place, "x");
    }
    if is_valid(&plain) {
        return Ok(());
    }
    let name = name.to_owned();
    Err(TopicRuleError::Name { name })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(rule: Rule, expected: &str) {
        let rules = Rules {
            topics: vec![rule],
            ..Rules::default()
        };
        let error = rules.checked().map(drop).unwrap_err().to_string();
        assert_eq!(error, expected);
    }

    fn rule(topic: &str) -> Rule {
        Rule {
            topic: topic.to_owned(),
            ..Rule::default()
        }
    }

    #[test]
    fn wrong_rules_are_refused_with_their_place_and_what_to_do() {
        check(
            rule("cmd_vel"),
            "rule 1 (topic \"cmd_vel\"): topic must begin with `/` or `*`: names of topics do",
        );
        let named = |name: &str| Rule {
            name: Some(name.to_owned()),
            ..rule("/model/*/x")
        };
        check(
            named("/{2}"),
            "rule 1 (topic \"/model/*/x\"): name has {2}, but topic has 1 stars",
        );
        check(
            named("cmd-vel"),
            "rule 1 (topic \"/model/*/x\"): name \"cmd-vel\" must be like \"/cmd_vel\": `/`, then \
             letters, digits and `_`; {1} is what the first star stands for",
        );
        let of_type = Rule {
            type_name: Some("geometry_msgs/Twist".to_owned()),
            ..rule("/x")
        };
        check(
            of_type,
            "rule 1 (topic \"/x\"): type \"geometry_msgs/Twist\" is none of those that messages of \
             a run have; docs/ros2.md lists them",
        );
        let rate = Rule {
            rate_hz: Some(f64::NAN),
            ..rule("/x")
        };
        check(
            rate,
            "rule 1 (topic \"/x\"): rate_hz must be above 0 and at most 1000000",
        );
    }

    #[test]
    fn rules_are_read_as_users_write_them() {
        let rules: Rules = serde_json::from_value(serde_json::json!({
            "namespace": "/sim",
            "topic": [{
                "topic": "/model/*/cmd_vel", "name": "/{1}/cmd_vel", "direction": "in",
                "type": "geometry_msgs/msg/TwistStamped", "qos": "best_effort", "rate_hz": 20,
            }],
        }))
        .unwrap();
        assert_eq!(rules.topics[0].direction, Some(Direction::In));
        assert_eq!(rules.topics[0].qos, Some(Profile::BestEffort));
        assert!(rules.checked().is_ok());
        let unknown = serde_json::json!({ "topic": [{ "topc": "/x" }] });
        assert!(serde_json::from_value::<Rules>(unknown).is_err());
    }
}
