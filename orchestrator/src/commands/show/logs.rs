//! `phalanx show logs`: what the processes of a run printed, living or ended, merged by time.

use std::time::Duration;

use anyhow::Context;
use client::feed::LogLine;
use client::plain_text::plain;
use protocol::ExitCode;
use serde_json::{Value, json};
use tokio::time::sleep;

use super::super::{CommandResult, Failed, output, runtime, target};
use crate::cli::{ShowArguments, TableFormat};
use crate::run_directory::{FoundRun, LogFiles};
use view::show::table::Table;

/// Interval between looks for new lines.
const FOLLOW_PERIOD: Duration = Duration::from_millis(200);

/// Prints the last lines, and those that come if the user waits for them.
pub(in super::super) fn show(arguments: &ShowArguments) -> CommandResult {
    let run = target::find_run(arguments.run.as_deref())?;
    let mut files = LogFiles::new(run.logs(), arguments.logs.process.clone());
    let mut lines = files.read();
    if let Some(process) = &arguments.logs.process
        && files.names().is_empty()
    {
        return Err(unknown(process, &run));
    }
    let surplus = arguments
        .logs
        .lines
        .map_or(0, |count| lines.len().saturating_sub(count));
    lines.drain(..surplus);
    let is_followed = arguments.follow;
    if arguments.format == TableFormat::Json && !is_followed {
        return output::print_json(&lines.iter().map(object).collect::<Vec<_>>());
    }
    if arguments.format == TableFormat::Csv {
        output::print("process,line\r\n")?;
    }
    if !print(&lines, arguments.format)? || !is_followed {
        return Ok(ExitCode::Success);
    }
    runtime()?.block_on(follow(&run, &mut files, arguments.format))
}

/// Prints lines as they come, until the run has ended and all are printed.
async fn follow(run: &FoundRun, files: &mut LogFiles, format: TableFormat) -> CommandResult {
    loop {
        let is_living = run.again().is_some_and(|now| now.is_living);
        if !print(&files.read(), format)? || !is_living {
            return Ok(ExitCode::Success);
        }
        sleep(FOLLOW_PERIOD).await;
    }
}

/// Prints lines, and tells whether anyone still reads.
fn print(lines: &[LogLine], format: TableFormat) -> Result<bool, Failed> {
    let one = |line: &LogLine| -> anyhow::Result<String> {
        Ok(match format {
            TableFormat::Text => format!("{:<10} {}\n", plain(&line.process), plain(&line.text)),
            TableFormat::Csv => csv(line),
            TableFormat::Json => {
                serde_json::to_string(&object(line)).context("cannot print as JSON")? + "\n"
            }
        })
    };
    let text = lines.iter().map(one).collect::<anyhow::Result<String>>()?;
    output::print_on(&text)
}

fn object(line: &LogLine) -> Value {
    json!({ "process": line.process, "line": line.text })
}

/// Returns a line of a table without its heading.
fn csv(line: &LogLine) -> String {
    let mut table = Table::new(&["PROCESS", "LINE"]);
    table.row([plain(&line.process), plain(&line.text)]);
    let text = table.csv();
    let rest = text.split_once("\r\n").map_or("", |(_, rest)| rest);
    rest.to_owned()
}

fn unknown(process: &str, run: &FoundRun) -> Failed {
    let known = LogFiles::new(run.logs(), None).names().join(", ");
    let name = &run.record.name;
    let message = if known.is_empty() {
        format!("the run {name} has no logs yet")
    } else {
        format!("the run {name} has no process {process:?}; there are {known}")
    };
    Failed::message(ExitCode::Failure, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_quoted_for_spreadsheets() {
        let line = LogLine {
            process: "s1".to_owned(),
            text: "a, \"b\"".to_owned(),
        };
        assert_eq!(csv(&line), "s1,\"a, \"\"b\"\"\"\r\n");
        assert_eq!(object(&line)["line"], "a, \"b\"");
    }
}
