//! `phalanx show RUN events --follow`: what happened, and what happens from now on.

use client::Observer;
use client::feed::Feed;
use client::plain_text::plain;
use protocol::primary_to_observers::Event;
use view::app::model::severity_word;
use view::app::past_events::EventsInOrder;
use view::panels::events_table;

use crate::cli::TableFormat;
use crate::commands::target::Target;
use crate::commands::{CommandResult, Failed, output, runtime};

/// Prints one line per event until the run ends or nobody reads it any more.
pub(super) fn follow(target: &Target, format: TableFormat) -> CommandResult {
    let observer = Observer::open(&target.reach).map_err(anyhow::Error::new)?;
    runtime()?.block_on(async {
        tokio::select! {
            biased;
            printed = print_all(observer, format) => printed,
            () = target.end() => Ok(protocol::ExitCode::Success),
        }
    })
}

async fn print_all(mut observer: Observer, format: TableFormat) -> CommandResult {
    let mut events = EventsInOrder::default();
    loop {
        for feed in observer.feed().await {
            if feed == Feed::Disconnected {
                return Ok(protocol::ExitCode::Success);
            }
            for event in events.on_feed(&feed) {
                if !output::print_on(&line(&event, format)?)? {
                    return Ok(protocol::ExitCode::Success);
                }
            }
        }
    }
}

fn line(event: &Event, format: TableFormat) -> Result<String, Failed> {
    let line = match format {
        TableFormat::Json => serde_json::to_string(event).map_err(anyhow::Error::new)?,
        TableFormat::Csv => events_table(std::slice::from_ref(event))
            .csv()
            .lines()
            .nth(1)
            .unwrap_or_default()
            .to_owned(),
        TableFormat::Text => format!(
            "{:>12}  {:<7}  {:<8}  {}",
            event.iteration.to_string(),
            severity_word(event.severity),
            plain(&event.kind),
            plain(&event.text)
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

    #[test]
    fn nothing_in_an_event_acts_on_the_terminal() {
        let mut hostile = event(7);
        hostile.text = "a\u{1b}]0;title\u{7}b\n".to_owned();
        let text = line(&hostile, TableFormat::Text).unwrap();
        assert!(text.ends_with("  ab·\n"), "{text:?}");
        let csv = line(&hostile, TableFormat::Csv).unwrap();
        assert_eq!(csv, "7,warning,step,ab·\n");
        let table = events_table(&[hostile]).render();
        assert!(!table.contains('\u{1b}'), "{table:?}");
    }
}
