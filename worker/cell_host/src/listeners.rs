//! [`Listeners`]: who listens to which topic: systems of models and worlds, observers, and programs
//! that take part in lockstep.

use std::collections::{BTreeMap, BTreeSet};

use protocol::topic;
use protocol::topic_message::SubscriptionChange;

use systems::Audience;
use systems::registry::TopicSpec;

use crate::exports::{ExportRule, Exports, Side};

/// Topics that are listened to, with how many systems subscribe to each.
pub(super) struct Listeners {
    audience: Audience,
    /// True if everything is published, with or without subscribers.
    publishes_all: bool,
    counts: BTreeMap<String, usize>,
    /// Topics that leave the run, if any do.
    exports: Option<Exports>,
}

impl Listeners {
    /// Begins with nobody.
    pub(super) fn new(publishes_all: bool) -> Self {
        Self {
            audience: Audience {
                publish_all: publishes_all,
                ..Audience::default()
            },
            publishes_all,
            counts: BTreeMap::new(),
            exports: None,
        }
    }

    /// Returns the topics that are listened to.
    pub(super) fn audience(&self) -> &Audience {
        &self.audience
    }

    /// Forgets all systems; all others stay.
    pub(super) fn clear_systems(&mut self) {
        self.counts.clear();
        self.audience.heard.clear();
        self.audience.exported.clear();
        if let Some(exports) = &mut self.exports {
            exports.clear();
        }
    }

    /// Has topics leave the run by a rule; systems are to be noted again.
    pub(super) fn export(&mut self, rule: ExportRule) {
        self.exports = Some(Exports::new(rule));
    }

    /// Returns the topics that may leave the run, if any do.
    pub(super) fn exports(&self) -> Option<&Exports> {
        self.exports.as_ref()
    }

    /// Takes note that a robot with a description came or went.
    pub(super) fn note_robot(&mut self) {
        if let Some(exports) = &mut self.exports {
            exports.note_robot();
        }
    }

    /// Takes note of the topics that a system subscribes to and publishes on.
    pub(super) fn add_all(&mut self, subscriptions: &[TopicSpec], publications: &[TopicSpec]) {
        for spec in subscriptions {
            self.add(spec.topic.clone());
        }
        let Some(exports) = &mut self.exports else {
            return;
        };
        for spec in subscriptions {
            exports.add(spec, Side::Subscribes);
        }
        for spec in publications {
            if let Some(export) = exports.add(spec, Side::Publishes) {
                self.audience.exported.insert(spec.topic.clone(), export);
            }
        }
    }

    /// Takes note that a system is gone.
    pub(super) fn remove_all(&mut self, subscriptions: &[TopicSpec], publications: &[TopicSpec]) {
        for spec in subscriptions {
            self.remove(&spec.topic);
        }
        let Some(exports) = &mut self.exports else {
            return;
        };
        for spec in subscriptions {
            exports.remove(spec, Side::Subscribes);
        }
        for spec in publications {
            if exports.remove(spec, Side::Publishes) {
                self.audience.exported.remove(&spec.topic);
            }
        }
    }

    /// Takes note that a system subscribes to a topic.
    fn add(&mut self, topic: String) {
        *self.counts.entry(topic.clone()).or_default() += 1;
        self.audience.heard.insert(topic);
    }

    /// Takes note that a system that subscribed to a topic is gone.
    fn remove(&mut self, topic: &str) {
        match self.counts.get_mut(topic) {
            Some(count) if *count > 1 => *count -= 1,
            Some(_) | None => {
                self.counts.remove(topic);
                self.audience.heard.remove(topic);
            }
        }
    }

    /// Takes note of what observers begin or cease to listen to.
    pub(super) fn on_change(&mut self, change: &SubscriptionChange) {
        if change.topic == topic::EVERY_MESSAGE {
            self.audience.publish_all = self.publishes_all || change.wanted;
        } else if change.wanted {
            self.audience.observed.insert(change.topic.clone());
        } else {
            self.audience.observed.remove(&change.topic);
        }
    }

    /// Takes note of what participants of lockstep listen to, in the place of what they did before.
    pub(super) fn set_participants(&mut self, topics: BTreeSet<String>) {
        self.audience.participants = topics;
    }

    /// Goes on with the observers of a saved state.
    pub(super) fn restore_observers(&mut self, publish_all: bool, observed: BTreeSet<String>) {
        self.audience.publish_all = publish_all;
        self.audience.observed = observed;
    }
}
