//! [`RunLog`]: events of the run and lines of its processes, as `foxglove.Log` has them.

use std::collections::VecDeque;

use client::feed::{Feed, LogLine};
use protocol::PrimaryToObservers;
use protocol::primary_to_observers::{Event, Severity};
use serde_json::{Value, json};

use crate::foxglove;

/// Number of entries that are told to whoever comes.
const ENTRIES_MAX: usize = 256;

/// The last events of the run and lines of its processes.
#[derive(Clone, Debug, Default)]
pub(crate) struct RunLog {
    entries: VecDeque<LogEntry>,
    /// Number of the last entries that were not told yet.
    new: usize,
}

/// An event or a line.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LogEntry {
    at: Moment,
    level: Level,
    /// Kind of event, or the process.
    name: String,
    text: String,
}

/// Time of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Moment {
    /// After an iteration.
    Iteration(u64),
    /// Simulated, when the line was read \[ns\].
    Time(u64),
}

/// Severity by Foxglove's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Level {
    Debug = 1,
    Info = 2,
    Warning = 3,
    Error = 4,
}

impl RunLog {
    /// Takes in news at a simulated time \[ns\].
    pub(crate) fn note(&mut self, feed: &Feed, now_ns: u64) {
        match feed {
            Feed::Status(PrimaryToObservers::Event(event)) => self.push(LogEntry::event(event)),
            Feed::History(history) => {
                let last = history.events.len().saturating_sub(ENTRIES_MAX);
                for event in &history.events[last..] {
                    // What was heard while the question was on its way is in it, too.
                    let entry = LogEntry::event(event);
                    if !self.entries.contains(&entry) {
                        self.push(entry);
                    }
                }
            }
            Feed::Log(line) => self.push(LogEntry::line(line, now_ns)),
            Feed::Logs(lines) => {
                let last = lines.len().saturating_sub(ENTRIES_MAX);
                for line in &lines[last..] {
                    self.push(LogEntry::line(line, now_ns));
                }
            }
            Feed::StartedAnew | Feed::Rewound => *self = Self::default(),
            Feed::Status(_)
            | Feed::Snapshot(_)
            | Feed::Layout(_)
            | Feed::Topics(_)
            | Feed::Message(_)
            | Feed::Connected
            | Feed::Disconnected
            | Feed::Denied(_)
            | Feed::StartUp(_)
            | Feed::Reply { .. }
            | Feed::Recording(_)
            | Feed::Ended(_) => {}
        }
    }

    fn push(&mut self, entry: LogEntry) {
        self.entries.push_back(entry);
        if self.entries.len() > ENTRIES_MAX {
            self.entries.pop_front();
        }
        self.new = (self.new + 1).min(self.entries.len());
    }

    /// Returns the entries that came since the last call.
    pub(crate) fn take_new(&mut self) -> Vec<LogEntry> {
        let told = self.entries.len() - std::mem::take(&mut self.new);
        self.entries.range(told..).cloned().collect()
    }

    /// Returns all entries that are kept.
    pub(crate) fn all(&self) -> impl Iterator<Item = &LogEntry> {
        self.entries.iter()
    }
}

impl LogEntry {
    fn event(event: &Event) -> Self {
        Self {
            at: Moment::Iteration(event.iteration.0),
            level: match event.severity {
                Severity::Info => Level::Info,
                Severity::Warning => Level::Warning,
                Severity::Error => Level::Error,
            },
            name: event.kind.clone(),
            text: event.text.clone(),
        }
    }

    fn line(line: &LogLine, now_ns: u64) -> Self {
        Self {
            at: Moment::Time(now_ns),
            level: level(&line.text),
            name: line.process.clone(),
            text: line.text.clone(),
        }
    }

    /// Returns its simulated time \[ns\], with the time after an iteration.
    pub(crate) fn time_ns(&self, time_of: impl Fn(u64) -> u64) -> u64 {
        match self.at {
            Moment::Iteration(iteration) => time_of(iteration),
            Moment::Time(time_ns) => time_ns,
        }
    }

    /// Returns the message that tells it.
    pub(crate) fn message(&self, time_ns: u64) -> Value {
        json!({
            "timestamp": foxglove::time(time_ns), "level": self.level as u8,
            "message": self.text, "name": self.name, "file": "", "line": 0,
        })
    }
}

/// Returns the severity that stands in a line of a process, behind its time.
fn level(line: &str) -> Level {
    let mut words = line.split_whitespace();
    match (words.next(), words.next()) {
        (Some("error:"), _) | (_, Some("ERROR")) => Level::Error,
        (Some("warning:"), _) | (_, Some("WARN")) => Level::Warning,
        (_, Some("DEBUG" | "TRACE")) => Level::Debug,
        _ => Level::Info,
    }
}

#[cfg(test)]
mod tests {
    use protocol::Iteration;
    use protocol::report::History;

    use super::*;

    fn event(iteration: u64) -> Event {
        Event {
            iteration: Iteration(iteration),
            severity: Severity::Warning,
            kind: "step".to_owned(),
            text: "s1 is slow".to_owned(),
        }
    }

    fn line(text: &str) -> LogLine {
        LogLine {
            process: "s1".to_owned(),
            text: text.to_owned(),
        }
    }

    #[test]
    fn events_that_are_told_twice_are_logged_once() {
        let mut log = RunLog::default();
        log.note(&Feed::Status(PrimaryToObservers::Event(event(2))), 0);
        assert_eq!(log.take_new().len(), 1);
        let history = History {
            events: vec![event(1), event(2)],
            ..History::default()
        };
        log.note(&Feed::History(Box::new(history)), 0);
        let new = log.take_new();
        assert_eq!((new.len(), new[0].time_ns(|one| one * 10)), (1, 10));
        let told = new[0].message(1_500_000_000);
        assert_eq!(told["timestamp"], json!({ "sec": 1, "nsec": 500_000_000 }));
        assert_eq!((&told["level"], &told["name"]), (&json!(3), &json!("step")));
        log.note(&Feed::Rewound, 0);
        assert_eq!(log.all().count() + log.take_new().len(), 0);
    }

    #[test]
    fn many_lines_are_bounded_and_the_newest_of_them_are_told() {
        let mut log = RunLog::default();
        let lines: Vec<LogLine> = (0..10_000)
            .map(|number| line(&number.to_string()))
            .collect();
        log.note(&Feed::Logs(lines), 7);
        let new = log.take_new();
        assert_eq!(
            (new.len(), &*new[ENTRIES_MAX - 1].text),
            (ENTRIES_MAX, "9999")
        );
        assert_eq!(new[0].time_ns(|_| 0), 7);
        assert_eq!(log.take_new().len(), 0);
        assert_eq!(log.all().count(), ENTRIES_MAX);
    }

    #[test]
    fn the_severity_of_a_line_is_that_which_stands_in_it() {
        for (text, expected) in [
            (
                "2026-11-21T12:00:00Z  WARN worker: s2 is slow",
                Level::Warning,
            ),
            ("2026-11-21T12:00:00Z ERROR worker: it fails", Level::Error),
            (
                "2026-11-21T12:00:00Z DEBUG worker: it goes on",
                Level::Debug,
            ),
            ("error: no such file", Level::Error),
            ("This is an ERROR of nobody", Level::Info),
            ("", Level::Info),
        ] {
            assert_eq!(level(text), expected, "{text}");
        }
    }
}
