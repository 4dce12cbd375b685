//! Output of commands: text and JSON to stdout, progress and logs to stderr.
//!
//! Names and words of runs and files come from anywhere: anything that would act on a terminal is
//! escaped here, even if the output is no terminal.

use std::io::{self, IsTerminal, Write};

use anyhow::Context;
use protocol::ExitCode;
use protocol::plain_text::{escaped, escaped_line};
use serde::Serialize;

use super::{CommandResult, Failed};

/// Writes text to stdout. A reader that has heard enough is no failure.
pub(super) fn print(text: &str) -> CommandResult {
    print_on(text).map(|_| ExitCode::Success)
}

/// Writes text to stdout; returns false if its reader has closed it.
///
/// # Errors
/// Fails if it cannot be written for another reason.
pub(super) fn print_on(text: &str) -> Result<bool, Failed> {
    draw(&escaped(text))
}

/// Writes bytes that are no text to stdout.
///
/// # Errors
/// Fails if stdout is a terminal, or they cannot be written.
pub(super) fn print_bytes(bytes: &[u8]) -> CommandResult {
    let mut stdout = io::stdout().lock();
    if stdout.is_terminal() {
        let message = "a picture is no text: send it to a file, as `> picture.png` does";
        return Err(Failed::message(ExitCode::Usage, message));
    }
    let written = stdout.write_all(bytes).and_then(|()| stdout.flush());
    match written {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(anyhow::Error::new(error)
            .context("cannot write to stdout")
            .into()),
        Ok(()) | Err(_) => Ok(ExitCode::Success),
    }
}

/// Writes a text that draws to stdout, as [`view::graphics`] makes it: nothing in it is of others.
/// Returns false if its reader has closed it.
///
/// # Errors
/// Fails if it cannot be written for another reason.
pub(super) fn draw(text: &str) -> Result<bool, Failed> {
    let mut stdout = io::stdout().lock();
    let written = stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush());
    match written {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(anyhow::Error::new(error)
            .context("cannot write to stdout")
            .into()),
    }
}

/// Writes a value as indented JSON to stdout.
pub(super) fn print_json(value: &impl Serialize) -> CommandResult {
    let text = serde_json::to_string_pretty(value).context("cannot print as JSON")?;
    print(&(text + "\n"))
}

/// Writes one line to stderr; where nobody reads it, it is lost.
pub(super) fn note(line: &str) {
    let _ = writeln!(io::stderr(), "{}", escaped(line));
}

/// Writes the lines of a text to stderr.
pub(super) fn note_lines(text: &str) {
    text.lines().for_each(note);
}

/// Writes a line to a terminal on stderr in the place of the last one written so; what does not fit
/// in its width is left out.
pub(super) fn rewrite(line: &str) {
    let width = view::terminal::size().map_or(80, |(columns, _)| usize::from(columns));
    let line = escaped_line(line);
    let shown: String = line.chars().take(width.saturating_sub(1)).collect();
    let mut stderr = io::stderr().lock();
    // Carriage return, and clear to the end of the line.
    let _ = write!(stderr, "\r\x1b[K{shown}").and_then(|()| stderr.flush());
}
