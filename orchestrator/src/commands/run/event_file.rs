//! [`EventFile`]: what happens in a run, as JSON lines.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use anyhow::Context;
use client::feed::Feed;
use protocol::ExitCode;
use protocol::plain_text::escaped;
use protocol::primary_to_observers::Event;
use view::app::past_events::EventsInOrder;

use super::super::{Failed, output};

/// The name that stands for standard output.
const STDOUT: &str = "-";

/// Tells whether a path stands for standard output.
pub(super) fn is_stdout(path: &Path) -> bool {
    path.as_os_str() == STDOUT
}

/// Output of events; closed by the first failure.
#[derive(Debug)]
pub(super) struct EventFile {
    target: EventTarget,
    events: EventsInOrder,
}

#[derive(Debug)]
enum EventTarget {
    File(File),
    Stdout,
    Closed,
}

impl EventFile {
    /// Creates or truncates a file; `-` is standard output.
    ///
    /// # Errors
    /// Fails if it cannot be created.
    pub(super) fn create(path: &Path) -> Result<Self, Failed> {
        if is_stdout(path) {
            return Ok(Self::over(EventTarget::Stdout));
        }
        Self::over_file(path, File::create(path))
    }

    /// Appends to a file, in a run that is resumed.
    ///
    /// # Errors
    /// Fails if it cannot be written.
    pub(super) fn append(path: &Path) -> Result<Self, Failed> {
        Self::over_file(path, File::options().append(true).create(true).open(path))
    }

    fn over_file(path: &Path, file: io::Result<File>) -> Result<Self, Failed> {
        let file = file
            .with_context(|| format!("cannot write events to {}", path.display()))
            .map_err(|error| Failed::new(ExitCode::Configuration, error))?;
        Ok(Self::over(EventTarget::File(file)))
    }

    fn over(target: EventTarget) -> Self {
        Self {
            target,
            events: EventsInOrder::default(),
        }
    }

    /// Writes the events among the news, from the run's first one on, each once.
    ///
    /// # Errors
    /// Fails if they cannot be written; further events are not tried.
    pub(super) fn on_feeds(&mut self, feeds: &[Feed]) -> anyhow::Result<()> {
        for feed in feeds {
            for event in self.events.on_feed(feed) {
                self.write(&event)?;
            }
        }
        Ok(())
    }

    /// Writes the events of a run that has ended which were not received: a primary's last events
    /// are in a file, which is missing if it was killed.
    ///
    /// # Errors
    /// Fails if they cannot be written.
    pub(super) fn end(&mut self, last: &Path) -> anyhow::Result<()> {
        let text = std::fs::read_to_string(last).unwrap_or_default();
        let last: Vec<Event> = text
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect();
        for event in self.events.end(&last) {
            self.write(&event)?;
        }
        Ok(())
    }

    /// Writes one event at once, so that who reads along sees it.
    fn write(&mut self, event: &Event) -> anyhow::Result<()> {
        let line = serde_json::to_string(event).context("cannot write an event as JSON")? + "\n";
        let line = escaped(&line);
        let is_written = match &mut self.target {
            EventTarget::File(file) => file.write_all(line.as_bytes()).map(|()| true),
            EventTarget::Stdout => Ok(output::print_on(&line).is_ok_and(|is_read| is_read)),
            EventTarget::Closed => Ok(true),
        };
        if !matches!(is_written, Ok(true)) {
            self.target = EventTarget::Closed;
        }
        is_written.map(drop).context("cannot write events any more")
    }
}

#[cfg(test)]
mod tests {
    use protocol::Iteration;
    use protocol::primary_to_observers::Severity;

    use super::*;

    #[test]
    fn an_event_is_a_line_with_its_four_fields() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("events.jsonl");
        let mut file = EventFile::create(&path).unwrap();
        let event = Event {
            iteration: Iteration(7),
            severity: Severity::Warning,
            kind: "peer".to_owned(),
            text: "s2 \"left\"\n".to_owned(),
        };
        file.write(&event).unwrap();
        file.write(&event).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text.lines().count(), 2);
        let read: serde_json::Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
        let expected = serde_json::json!({
            "iteration": 7, "severity": "warning", "kind": "peer", "text": "s2 \"left\"\n"
        });
        assert_eq!(read, expected);
    }

    #[test]
    fn a_run_that_goes_on_adds_to_what_was_written_before() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("events.jsonl");
        let event = Event {
            iteration: Iteration(7),
            severity: Severity::Info,
            kind: "run".to_owned(),
            text: "it runs".to_owned(),
        };
        EventFile::create(&path).unwrap().write(&event).unwrap();
        EventFile::append(&path).unwrap().write(&event).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text.lines().count(), 2);
    }

    #[test]
    fn a_file_that_cannot_be_made_is_a_configuration_error() {
        let failed = EventFile::create(Path::new("/no/such/folder/e")).unwrap_err();
        assert_eq!(failed.code, ExitCode::Configuration);
    }
}
