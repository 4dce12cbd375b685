//! `phalanx show RUN events --follow`: what happened, and what happens from now on.

use protocol::PrimaryToObservers;
use protocol::primary_to_observers::Event;

use crate::app::event::Feed;
use crate::app::model::severity_word;
use crate::app::scrollback::overlap;
use crate::cli::TableFormat;
use crate::client::Observer;
use crate::commands::target::Target;
use crate::commands::{CommandResult, Failed, output, runtime};

/// Prints one line per event until the run ends or nobody reads it any more.
pub(super) fn follow(target: &Target, format: TableFormat) -> CommandResult {
    let observer = Observer::open(&target.endpoints).map_err(anyhow::Error::new)?;
    runtime()?.block_on(async {
        tokio::select! {
            biased;
            printed = print_all(observer, format) => printed,
            () = target.end() => Ok(protocol::ExitCode::Success),
        }
    })
}

async fn print_all(mut observer: Observer, format: TableFormat) -> CommandResult {
    let mut past = Past::default();
    loop {
        for feed in observer.feed().await {
            let events = match feed {
                Feed::History(history) => past.on_history(&history.events),
                Feed::Status(PrimaryToObservers::Event(event)) => past.on_event(event),
                Feed::Disconnected => return Ok(protocol::ExitCode::Success),
                _ => Vec::new(),
            };
            for event in events {
                if !output::print_on(&line(&event, format)?)? {
                    return Ok(protocol::ExitCode::Success);
                }
            }
        }
    }
}

/// What came before the answer about the past, and is printed after it.
#[derive(Default)]
struct Past {
    early: Vec<Event>,
    is_known: bool,
}

impl Past {
    /// Takes the past, once, and returns what is to be printed.
    fn on_history(&mut self, past: &[Event]) -> Vec<Event> {
        if std::mem::replace(&mut self.is_known, true) {
            return Vec::new();
        }
        let early = std::mem::take(&mut self.early);
        let known = overlap(past, &early);
        let mut events = past.to_vec();
        events.extend(early.into_iter().skip(known));
        events
    }

    fn on_event(&mut self, event: Event) -> Vec<Event> {
        if self.is_known {
            return vec![event];
        }
        self.early.push(event);
        Vec::new()
    }
}

fn line(event: &Event, format: TableFormat) -> Result<String, Failed> {
    let line = match format {
        TableFormat::Json => serde_json::to_string(event).map_err(anyhow::Error::new)?,
        TableFormat::Csv => super::tables::events(std::slice::from_ref(event))
            .csv()
            .lines()
            .nth(1)
            .unwrap_or_default()
            .to_owned(),
        TableFormat::Text => format!(
            "{:>12}  {:<7}  {:<8}  {}",
            event.iteration.to_string(),
            severity_word(event.severity),
            event.kind,
            event.text
        ),
    };
    Ok(line + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::Iteration;
    use protocol::primary_to_observers::Severity;

    fn event(number: u64) -> Event {
        Event {
            iteration: Iteration(number),
            severity: Severity::Warning,
            kind: "step".to_owned(),
            text: "it takes long".to_owned(),
        }
    }

    #[test]
    fn the_past_comes_first_and_each_event_once() {
        let mut past = Past::default();
        assert_eq!(past.on_event(event(2)), []);
        assert_eq!(past.on_event(event(3)), []);
        let all = past.on_history(&[event(1), event(2)]);
        assert_eq!(all, [event(1), event(2), event(3)]);
        assert_eq!(past.on_event(event(4)), [event(4)]);
        assert_eq!(past.on_history(&[event(1)]), []);
    }

    #[test]
    fn every_format_is_one_line_per_event() {
        let check = |format, expected: &str| {
            assert_eq!(line(&event(7), format).unwrap(), format!("{expected}\n"));
        };
        let json = r#"{"iteration":7,"severity":"warning","kind":"step","text":"it takes long"}"#;
        check(TableFormat::Json, json);
        check(TableFormat::Csv, "7,warning,step,it takes long");
        check(
            TableFormat::Text,
            "           7  warning  step      it takes long",
        );
    }
}
