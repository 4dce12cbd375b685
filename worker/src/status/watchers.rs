//! [`Watchers`]: whether anyone listens to the figures of the run, which need not be made else.

use std::collections::BTreeSet;

use protocol::topic;

/// What is made only for those who listen.
const FIGURES: [&str; 4] = [topic::STATS, topic::CLOCK, topic::AFFINITY, topic::POSE];

/// The subscriptions that hear of figures; each is the beginning of topics.
#[derive(Debug, Default)]
pub(super) struct Watchers(BTreeSet<Vec<u8>>);

impl Watchers {
    /// Takes note of a subscription that comes or goes.
    pub(super) fn note(&mut self, frame: &[u8], listens: bool) {
        let hears = |topic: &&str| topic.as_bytes().starts_with(frame);
        // Only beginnings of these few topics are kept, so there cannot be many.
        if !FIGURES.iter().any(hears) {
            return;
        }
        if listens {
            self.0.insert(frame.to_vec());
        } else {
            self.0.remove(frame);
        }
    }

    /// Tells whether there is any.
    pub(super) fn has_any(&self) -> bool {
        !self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(frames: &[(&str, bool)], expected: bool) {
        let mut watchers = Watchers::default();
        for (frame, listens) in frames {
            watchers.note(frame.as_bytes(), *listens);
        }
        assert_eq!(watchers.has_any(), expected, "{frames:?}");
    }

    #[test]
    fn who_listens_to_figures_or_to_all_is_a_watcher() {
        check(&[("/", true)], true);
        check(&[("", true)], true);
        check(&[("/pose", true)], true);
        check(&[("/", true), ("/stats", true), ("/", false)], true);
        check(&[("/", true), ("/", false)], false);
    }

    #[test]
    fn secondaries_and_listeners_to_other_topics_are_none() {
        check(&[("/announce", true), ("/heartbeat", true)], false);
        check(&[("@cmd_vel\0", true), ("/pose2", true)], false);
    }
}
