//! [`ExportedStep`]: what the cells of one host said in a step on topics that leave the run for
//! others, such as ROS 2, and [`TopicUse`]: which topics there are.
//!
//! Which topics leave is a setting of the run, the same on every host; whether anybody listens
//! there changes nothing here.

use std::collections::BTreeMap;
use std::sync::Arc;

use protocol::{Iteration, ModelId, PeerName, Sequence, SimTime, TopicMessage};
use systems::Export;
use systems::registry::TopicSpec;

/// Says how a topic leaves the run, by its name and the kind of its messages, if it does.
pub type ExportRule = Arc<dyn Fn(&str, &str) -> Option<Export> + Send + Sync>;

/// Messages of a step that leave the run from this host.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExportedStep {
    /// The step.
    pub sequence: Sequence,
    /// The iteration that it led to.
    pub iteration: Iteration,
    /// Simulated time then, as messages show it.
    pub sim_time: SimTime,
    /// True if this host speaks for all in the step: it says what is said once per run.
    pub speaks: bool,
    /// The messages, in order of publishers.
    pub messages: Vec<TopicMessage>,
    /// Those beyond the limit of their topics' rate, if others need them all the same.
    pub beyond_rate: Vec<TopicMessage>,
    /// The lost host that said them first, if they are said again.
    pub again: Option<SaidBefore>,
    /// True if a resumed run does the step once more, and all of this has left before.
    pub repeats: bool,
    /// Models whose messages are kept for readers who come later, and that came here or left.
    pub moved: Moved,
}

/// Models that came to a host or left it in a step, as far as messages of theirs are kept for
/// readers who come later.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Moved {
    /// Models that left: another host has them, or none.
    pub gone: Vec<ModelId>,
    /// Messages that are kept of those who came, oldest first of each topic of a model.
    pub came: Vec<TopicMessage>,
}

impl ExportedStep {
    /// True if a lost host has answered for it already.
    pub fn was_answered(&self) -> bool {
        let again = self.again.as_ref();
        again.is_some_and(|again| self.sequence <= again.answered.max(again.hosted_after))
    }
}

/// A lost host whose cells did a step, and how much of what they said has left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SaidBefore {
    /// The host.
    pub by: PeerName,
    /// The last step for which it has answered, after which what it said was to leave.
    pub answered: Sequence,
    /// The last step before it got its cells: what they said until then has left another one.
    pub hosted_after: Sequence,
}

/// Users of a topic among the systems and sensors of all models, wherever they are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopicUse {
    /// The topic.
    pub topic: String,
    /// Kind of its messages: `gz.msgs.Twist`.
    pub kind: &'static str,
    /// True if any of them publishes on it.
    pub is_published: bool,
    /// True if any of them subscribes to it.
    pub is_subscribed: bool,
}

/// Description of a robot that was read from URDF.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RobotDescription {
    /// Its model.
    pub model: String,
    /// The topic of its description in the run: `/model/rover/robot_description`.
    pub topic: String,
    /// The text that it was read from.
    pub urdf: String,
}

/// Topics with the number of their users, in a run in which topics leave.
pub(super) struct Exports {
    rule: ExportRule,
    counts: BTreeMap<(String, &'static str), [usize; 2]>,
    /// Grows whenever a topic comes or goes.
    version: u64,
}

/// Side of a topic that a system is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Publishes,
    Subscribes,
}

impl Exports {
    pub(super) fn new(rule: ExportRule) -> Self {
        Self {
            rule,
            counts: BTreeMap::new(),
            version: 0,
        }
    }

    /// Forgets all users.
    pub(super) fn clear(&mut self) {
        self.counts.clear();
        self.version += 1;
    }

    /// Notes that a robot came or went.
    pub(super) fn note_robot(&mut self) {
        self.version += 1;
    }

    /// Notes a user; returns how what it publishes on the topic leaves the run, if it does.
    pub(super) fn add(&mut self, spec: &TopicSpec, side: Side) -> Option<Export> {
        let key = (spec.topic.clone(), spec.kind);
        self.counts.entry(key).or_default()[side as usize] += 1;
        self.version += 1;
        (self.rule)(&spec.topic, spec.kind).filter(|_| side == Side::Publishes)
    }

    /// Notes that a user is gone; tells whether nobody publishes on the topic any more.
    pub(super) fn remove(&mut self, spec: &TopicSpec, side: Side) -> bool {
        self.version += 1;
        let key = (spec.topic.clone(), spec.kind);
        if let Some(counts) = self.counts.get_mut(&key) {
            counts[side as usize] = counts[side as usize].saturating_sub(1);
            if *counts == [0, 0] {
                self.counts.remove(&key);
            }
        }
        let mut others = self.counts.iter();
        !others.any(|((topic, _), [publishers, _])| *topic == spec.topic && *publishers > 0)
    }

    /// Returns a number that is another whenever topics are others.
    pub(super) fn version(&self) -> u64 {
        self.version
    }

    /// Returns all topics, by name.
    pub(super) fn uses(&self) -> impl Iterator<Item = TopicUse> {
        let counts = self.counts.iter();
        counts.map(|((topic, kind), [publishers, subscribers])| TopicUse {
            topic: topic.clone(),
            kind,
            is_published: *publishers > 0,
            is_subscribed: *subscribers > 0,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(topic: &str) -> TopicSpec {
        TopicSpec {
            topic: topic.to_owned(),
            kind: "gz.msgs.Twist",
        }
    }

    #[test]
    fn a_topic_leaves_as_long_as_anybody_publishes_on_it() {
        let rule = |topic: &str, _: &str| (topic != "/secret").then(Export::default);
        let mut exports = Exports::new(Arc::new(rule));
        let leaves = Some(Export::default());
        assert_eq!(exports.add(&spec("/a"), Side::Publishes), leaves);
        assert_eq!(exports.add(&spec("/secret"), Side::Publishes), None);
        assert_eq!(exports.add(&spec("/a"), Side::Subscribes), None);
        let before = exports.version();
        assert_eq!(exports.add(&spec("/a"), Side::Publishes), leaves);
        assert!(exports.version() > before);
        assert!(!exports.remove(&spec("/a"), Side::Publishes), "one is left");
        assert!(exports.remove(&spec("/a"), Side::Publishes));
        let uses: Vec<TopicUse> = exports.uses().collect();
        let expected = [("/a", false, true), ("/secret", true, false)];
        let uses = uses
            .iter()
            .map(|one| (&*one.topic, one.is_published, one.is_subscribed));
        assert!(uses.eq(expected));
        exports.clear();
        assert_eq!(exports.uses().count(), 0);
    }
}
