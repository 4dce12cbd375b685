//! [`Observed`]: topics that observers begin or cease to listen to, until a step tells of it.

use protocol::topic_message::SubscriptionChange;
use protocol::{groups, link_frame};

/// Changes of what observers listen to.
#[derive(Debug, Default)]
pub(crate) struct Observed {
    changes: Vec<SubscriptionChange>,
    /// True if anyone observes where links are.
    has_links: bool,
    /// True if anyone observes groups.
    has_groups: bool,
    /// True if links may have moved since a paused step, after which alone it is sure that they are
    /// shown as they are.
    have_moved: bool,
}

impl Observed {
    /// Notes that somebody begins or ceases to listen to a topic.
    pub(crate) fn on_change(&mut self, change: SubscriptionChange) {
        if change.topic == link_frame::TOPIC {
            (self.has_links, self.have_moved) = (change.wanted, change.wanted);
        }
        if change.topic == groups::TOPIC {
            self.has_groups = change.wanted;
        }
        self.changes.retain(|other| other.topic != change.topic);
        self.changes.push(change);
    }

    /// Takes what a step tells.
    pub(crate) fn take(&mut self, is_paused: bool) -> Vec<SubscriptionChange> {
        self.have_moved = !is_paused;
        std::mem::take(&mut self.changes)
    }

    /// Tells whether anyone observes groups.
    pub(crate) fn has_groups(&self) -> bool {
        self.has_groups
    }

    /// Tells whether anyone observes where links are.
    pub(crate) fn has_links(&self) -> bool {
        self.has_links
    }

    /// Tells whether observers wait to see where links came to rest, now that time is paused.
    pub(crate) fn has_links_to_show(&self) -> bool {
        self.has_links && self.have_moved
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(topic: &str, wanted: bool) -> SubscriptionChange {
        SubscriptionChange {
            topic: topic.to_owned(),
            wanted,
        }
    }

    #[test]
    fn where_links_came_to_rest_is_shown_once_and_only_to_those_who_look() {
        let mut observed = Observed::default();
        observed.take(false);
        assert!(!observed.has_links_to_show());
        observed.on_change(change(link_frame::TOPIC, true));
        assert!(observed.has_links_to_show());
        assert_eq!(observed.take(true).len(), 1);
        assert!(!observed.has_links_to_show());
        observed.take(false);
        assert!(observed.has_links_to_show());
        observed.on_change(change(link_frame::TOPIC, false));
        assert!(!observed.has_links_to_show());
    }

    #[test]
    fn the_last_change_of_a_topic_counts() {
        let mut observed = Observed::default();
        observed.on_change(change("/a", true));
        observed.on_change(change("/b", true));
        observed.on_change(change("/a", false));
        assert_eq!(
            observed.take(false),
            [change("/b", true), change("/a", false)]
        );
    }
}
