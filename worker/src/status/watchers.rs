//! [`Watchers`]: who listens to which figures of the run, which need not be made else.

use std::collections::BTreeSet;

use protocol::topic;

/// Figures that are made only for those who listen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Figures {
    /// Those of the run and its peers.
    Stats,
    /// Simulated time.
    Clock,
    /// Those of the levels.
    Affinity,
    /// Positions of the performers.
    Poses,
}

/// The figures to which anyone listens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Watched(u8);

/// The subscriptions that hear of figures; each is the beginning of topics.
#[derive(Debug, Default)]
pub(super) struct Watchers(BTreeSet<Vec<u8>>);

impl Figures {
    const ALL: [Self; 4] = [Self::Stats, Self::Clock, Self::Affinity, Self::Poses];

    fn topic(self) -> &'static str {
        match self {
            Self::Stats => topic::STATS,
            Self::Clock => topic::CLOCK,
            Self::Affinity => topic::AFFINITY,
            Self::Poses => topic::POSE,
        }
    }

    fn are_heard_by(self, frame: &[u8]) -> bool {
        self.topic().as_bytes().starts_with(frame)
    }
}

impl Watched {
    /// Tells whether anyone listens to these figures.
    pub fn has(self, figures: Figures) -> bool {
        self.0 & 1 << figures as u8 != 0
    }

    /// Tells whether nobody listens to any.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(super) fn bits(self) -> u8 {
        self.0
    }

    pub(super) fn of_bits(bits: u8) -> Self {
        Self(bits)
    }
}

impl Watchers {
    /// Takes note of a subscription that comes or goes.
    pub(super) fn note(&mut self, frame: &[u8], listens: bool) {
        // Only beginnings of these few topics are kept, so there cannot be many.
        if !Figures::ALL.iter().any(|one| one.are_heard_by(frame)) {
            return;
        }
        if listens {
            self.0.insert(frame.to_vec());
        } else {
            self.0.remove(frame);
        }
    }

    /// Returns to which figures anyone listens.
    pub(super) fn watched(&self) -> Watched {
        let is_heard = |one: &Figures| self.0.iter().any(|frame| one.are_heard_by(frame));
        let heard = Figures::ALL.into_iter().filter(is_heard);
        Watched(heard.fold(0, |bits, one| bits | 1 << one as u8))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(frames: &[(&str, bool)], expected: &[Figures]) {
        let mut watchers = Watchers::default();
        for (frame, listens) in frames {
            watchers.note(frame.as_bytes(), *listens);
        }
        let watched = watchers.watched();
        let heard = Figures::ALL.into_iter().filter(|one| watched.has(*one));
        assert_eq!(heard.collect::<Vec<_>>(), expected, "{frames:?}");
        assert_eq!(watched.is_empty(), expected.is_empty(), "{frames:?}");
    }

    #[test]
    fn a_subscriber_of_figures_or_of_all_counts_as_their_watcher() {
        check(&[("/", true)], &Figures::ALL);
        check(&[("", true)], &Figures::ALL);
        check(&[("/pose", true)], &[Figures::Poses]);
        let all_leave = [("/", true), ("/stats", true), ("/", false)];
        check(&all_leave, &[Figures::Stats]);
        check(&[("/", true), ("/", false)], &[]);
    }

    #[test]
    fn the_owner_of_a_run_needs_neither_poses_nor_levels() {
        let frames = [("/stats", true), ("/announce", true), ("/events", true)];
        check(&frames, &[Figures::Stats]);
    }

    #[test]
    fn secondaries_and_listeners_to_other_topics_are_none() {
        check(&[("/announce", true), ("/heartbeat", true)], &[]);
        check(&[("@cmd_vel\0", true), ("/pose2", true)], &[]);
    }
}
