//! [`Readers`]: how many readers of other processes each publisher has met, in a detailed log; and
//! [`Awaited`]: those without which time does not begin to run.
//!
//! A publisher and a reader get to know each other one after the other, over some tenths of a
//! second: a node that knows the publisher may not be known to it yet, and then misses what it
//! says. Whoever wants to begin a paused run only when nothing is missed waits for these lines.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use protocol::AwaitedReaders;
use ros2_node::Publication;

use super::{OnReaders, ReadersMissing};

/// Time between two looks.
const INTERVAL: Duration = Duration::from_millis(100);

/// Time from when a reader is found until it hears what is said. Implementations of DDS, Cyclone
/// among them, begin with what follows the first heartbeat after the reader has found the publisher
/// in turn; the middleware repeats heartbeats every 100 ms until a reader has answered.
const READY: Duration = Duration::from_millis(500);

/// The topic that secondaries read, too.
const CLOCK: &str = "/clock";

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
        let mut counts = BTreeMap::<&str, usize>::new();
        // A topic that is kept has several publishers; a new one is not known to readers yet.
        for (topic, publication) in all {
            let count = counts.entry(topic).or_default();
            *count = publication.reader_count().max(*count);
        }
        for (topic, count) in counts {
            if self.told.get(topic).copied().unwrap_or_default() != count {
                self.told.insert(topic.to_owned(), count);
                let plural = if count == 1 { "" } else { "s" };
                tracing::debug!("{topic} has {count} reader{plural}");
            }
        }
    }
}

/// The wait for readers of other processes.
pub(super) struct Awaited {
    /// Topics that have had none so far; empty if any topic will do.
    missing: Vec<String>,
    is_any: bool,
    timeout: Duration,
    /// The end of the wait, from when topics are known.
    until: Option<Instant>,
    /// Time when all were found.
    found: Option<Instant>,
    on_readers: Option<OnReaders>,
}

impl Awaited {
    /// Begins to wait, if readers are to be waited for.
    pub(super) fn new(awaited: Option<&AwaitedReaders>, on_readers: OnReaders) -> Option<Self> {
        let awaited = awaited?;
        tracing::info!("time waits for nodes that read {awaited}");
        Some(Self {
            missing: awaited.topics.clone(),
            is_any: awaited.topics.is_empty(),
            timeout: awaited.timeout,
            until: None,
            found: None,
            on_readers: Some(on_readers),
        })
    }

    /// Looks at all publishers; tells whether the wait is over, and has its hearer told.
    pub(super) fn is_over<'a>(
        &mut self,
        all: impl Iterator<Item = (&'a str, &'a Publication)>,
        now: Instant,
    ) -> bool {
        // Secondaries read the time of each other.
        let mut has_topics = false;
        let mut read = Vec::new();
        for (topic, publication) in all.filter(|(topic, _)| *topic != CLOCK) {
            has_topics = true;
            if publication.reader_count() > 0 {
                read.push(topic);
            }
        }
        self.note(has_topics, &read, now)
    }

    /// Takes note of the topics that have readers.
    fn note(&mut self, has_topics: bool, read: &[&str], now: Instant) -> bool {
        if !has_topics {
            return false;
        }
        let timeout = self.timeout;
        let until = *self.until.get_or_insert_with(|| now + timeout);
        self.missing.retain(|topic| !read.contains(&topic.as_str()));
        let are_here = self.missing.is_empty() && !(self.is_any && read.is_empty());
        let found = are_here.then(|| *self.found.get_or_insert(now));
        self.found = found;
        let end = found.map_or(until, |found| found + READY);
        if now < end {
            return false;
        }
        let topics = if self.is_any {
            "any topic".to_owned()
        } else {
            self.missing.join(" and ")
        };
        let waited = self.timeout;
        let found = if are_here {
            Ok(())
        } else {
            Err(ReadersMissing { topics, waited })
        };
        if let Some(on_readers) = self.on_readers.take() {
            on_readers(found);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    /// Waits for readers of topics, with looks that find some; expects what is heard in the end.
    fn check(topics: &[&str], looks: &[&[&str]], expected: Option<Result<(), &str>>) {
        let awaited = AwaitedReaders {
            topics: topics.iter().map(|&topic| topic.to_owned()).collect(),
            timeout: Duration::from_secs(2),
        };
        let (sender, heard) = mpsc::channel();
        let on_readers: OnReaders = Box::new(move |found| sender.send(found).unwrap());
        let mut awaited = Awaited::new(Some(&awaited), on_readers).unwrap();
        let begin = Instant::now();
        assert!(
            !awaited.note(false, &[], begin + Duration::from_secs(9)),
            "no topics yet"
        );
        for (second, read) in (0..).zip(looks) {
            awaited.note(true, read, begin + Duration::from_secs(second));
        }
        let found = heard.try_recv().ok();
        let found = found.map(|found| found.map_err(|missing| missing.topics));
        assert_eq!(
            found,
            expected.map(|found| found.map_err(str::to_owned)),
            "{looks:?}"
        );
    }

    #[test]
    fn each_of_the_topics_must_have_had_a_reader() {
        check(&["/a", "/b"], &[&["/a"], &["/b"]], None);
        check(&["/a", "/b"], &[&["/a"], &["/b"], &[]], Some(Ok(())));
        check(&["/a", "/b"], &[&["/a"], &[]], None);
        check(&["/a", "/b"], &[&["/a"], &[], &[]], Some(Err("/b")));
        check(
            &["/a", "/b"],
            &[&[], &["/c"], &["/c"]],
            Some(Err("/a and /b")),
        );
        check(&[], &[&["/c"], &["/c"]], Some(Ok(())));
        check(&[], &[&["/c"], &[], &["/c"]], None);
        check(&[], &[&["/c"], &[], &["/c"], &["/c"]], Some(Ok(())));
        check(&[], &[&[], &[], &[]], Some(Err("any topic")));
    }
}
