//! Where commands write: text and JSON to stdout, progress and logs to stderr.

use std::io::{self, Write};

use anyhow::Context;
use protocol::ExitCode;
use serde::Serialize;

use super::{CommandResult, Failed};

/// Writes text to stdout. A reader that has heard enough is no failure.
pub(super) fn print(text: &str) -> CommandResult {
    let mut stdout = io::stdout().lock();
    let written = stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush());
    match written {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Failed::from(
            anyhow::Error::new(error).context("cannot write to stdout"),
        )),
        _ => Ok(ExitCode::Success),
    }
}

/// Writes a value as indented JSON to stdout.
pub(super) fn print_json(value: &impl Serialize) -> CommandResult {
    let text = serde_json::to_string_pretty(value).context("cannot print as JSON")?;
    print(&(text + "\n"))
}

/// Writes one line to stderr; where nobody reads it, it is lost.
pub(super) fn note(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}

/// Tells whether colours are wanted: <https://no-color.org>.
pub(super) fn has_color() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}
