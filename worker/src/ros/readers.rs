//! [`Readers`]: how many readers of other processes each publisher has met, in a detailed log.
//!
//! A publisher and a reader get to know each other one after the other, over some tenths of a
//! second: a node that knows the publisher may not be known to it yet, and then misses what it
//! says. Whoever wants to begin a paused run only when nothing is missed waits for these lines.

use std::collections::BTreeMap;
use std::time::Duration;

use ros2_node::Publication;

/// Time between two looks.
const INTERVAL: Duration = Duration::from_millis(100);

/// Numbers of readers that were told.
#[derive(Debug, Default)]
pub(super) struct Readers {
    told: BTreeMap<String, usize>,
}

impl Readers {
    /// Returns the time until the next look, if anybody wants to know.
    pub(super) fn interval() -> Option<Duration> {
        tracing::enabled!(tracing::Level::DEBUG).then_some(INTERVAL)
    }

    /// Tells the number of readers of publishers, by their topics, where it has changed.
    pub(super) fn tell<'a>(&mut self, all: impl Iterator<Item = (&'a str, &'a Publication)>) {
        for (topic, publication) in all {
            let count = publication.reader_count();
            if self.told.get(topic).copied().unwrap_or_default() != count {
                self.told.insert(topic.to_owned(), count);
                let plural = if count == 1 { "" } else { "s" };
                tracing::debug!("{topic} has {count} reader{plural}");
            }
        }
    }
}
