//! [`ObservedTopics`]: on which topics of the simulated world observers listen.

use std::collections::BTreeSet;

use protocol::topic;
use protocol::topic_message::SubscriptionChange;

/// On how many topics observers may listen; further ones are not told to systems.
pub(super) const TOPICS_MAX: usize = 4096;

/// On which topics observers listen, and which of them the secondaries know of.
#[derive(Debug, Default)]
pub struct ObservedTopics {
    listened: BTreeSet<String>,
    told: BTreeSet<String>,
    is_told: bool,
}

impl ObservedTopics {
    /// Takes note of a subscription on `status` that comes or goes; those to what is not of the
    /// simulated world mean nothing here.
    ///
    /// # Errors
    /// Fails if observers listen on too many topics already.
    pub fn note(&mut self, frame: &[u8], listens: bool) -> Result<(), TooManyTopics> {
        let name = if frame == topic::EVERY_MESSAGE.as_bytes() {
            topic::EVERY_MESSAGE
        } else if let Some(name) = topic::message_name(frame) {
            name
        } else {
            return Ok(());
        };
        if !listens {
            self.listened.remove(name);
        } else if self.listened.len() < TOPICS_MAX {
            self.listened.insert(name.to_owned());
        } else {
            return Err(TooManyTopics);
        }
        self.is_told = false;
        Ok(())
    }

    /// Tells whether anyone listens to a topic.
    pub fn has(&self, topic: &str) -> bool {
        self.listened.contains(topic) || self.listened.contains(topic::EVERY_MESSAGE)
    }

    /// Tells whether there is something to tell.
    pub fn has_changes(&self) -> bool {
        !self.is_told
    }

    /// Returns what has changed since it was asked last, by name; what came and went is nothing.
    pub fn changes(&mut self) -> Vec<SubscriptionChange> {
        self.is_told = true;
        let change = |topic: &String, wanted| SubscriptionChange {
            topic: topic.clone(),
            wanted,
        };
        let gone = self.told.difference(&self.listened);
        let mut changes: Vec<_> = gone.map(|topic| change(topic, false)).collect();
        let new = self.listened.difference(&self.told);
        changes.extend(new.map(|topic| change(topic, true)));
        changes.sort_by(|a, b| a.topic.cmp(&b.topic));
        self.told.clone_from(&self.listened);
        changes
    }
}

/// Observers listen on [`TOPICS_MAX`] topics already.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("observers listen on {TOPICS_MAX} topics already")]
pub struct TooManyTopics;

#[cfg(test)]
mod tests {
    use super::*;

    fn note(observed: &mut ObservedTopics, name: &str, listens: bool) {
        let frame = topic::of_message(name);
        observed.note(frame.as_bytes(), listens).unwrap();
    }

    fn told(observed: &mut ObservedTopics) -> Vec<(String, bool)> {
        let changes = observed.changes().into_iter();
        changes.map(|it| (it.topic, it.wanted)).collect()
    }

    #[test]
    fn only_what_changed_is_told() {
        let mut observed = ObservedTopics::default();
        note(&mut observed, "/b", true);
        note(&mut observed, "/a", true);
        note(&mut observed, "/c", true);
        note(&mut observed, "/c", false);
        let both = [("/a".to_owned(), true), ("/b".to_owned(), true)];
        assert_eq!(told(&mut observed), both);
        assert!(!observed.has_changes());
        note(&mut observed, "/b", false);
        assert!(observed.has_changes());
        assert_eq!(told(&mut observed), [("/b".to_owned(), false)]);
        assert!(observed.has("/a") && !observed.has("/b"));
    }

    #[test]
    fn a_subscriber_of_everything_is_one_of_each_topic() {
        let mut observed = ObservedTopics::default();
        observed.note(b"@", true).unwrap();
        assert!(observed.has("/any"));
        assert_eq!(told(&mut observed), [("@".to_owned(), true)]);
    }

    #[test]
    fn subscriptions_to_something_else_are_none() {
        let mut observed = ObservedTopics::default();
        for frame in [&b"/stats"[..], b"", b"@/a", b"@\0", b"@\xff\0"] {
            observed.note(frame, true).unwrap();
        }
        assert!(told(&mut observed).is_empty());
    }

    #[test]
    fn a_flood_of_topics_is_bounded() {
        let mut observed = ObservedTopics::default();
        for number in 0..TOPICS_MAX {
            note(&mut observed, &format!("/{number}"), true);
        }
        assert_eq!(observed.note(b"@/more\0", true), Err(TooManyTopics));
        note(&mut observed, "/7", false);
        assert_eq!(observed.note(b"@/more\0", true), Ok(()));
    }
}
