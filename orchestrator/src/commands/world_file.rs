//! Reading world files as commands name them, with errors that show the line they are about.

use std::path::Path;

use anyhow::Context;
use protocol::ExitCode;
use sdf::{Problem, ReadWorldError, ReadWorlds, SearchPaths};

use super::Failed;

/// Returns the text of a world file.
pub(super) fn read_text(path: &Path) -> Result<String, Failed> {
    if !path.exists() {
        let message = format!("no such file: {}", path.display());
        return Err(Failed::message(ExitCode::Configuration, message));
    }
    let bytes = std::fs::read(path)
        .with_context(|| format!("cannot read {}", path.display()))
        .map_err(|error| Failed {
            code: ExitCode::Configuration,
            error,
        })?;
    // Latin-1 comments are common in old worlds; what is not UTF-8 must not hide the rest.
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Reads the worlds in a text; `path` is its name in errors and the base of its includes.
pub(super) fn read_worlds(text: &str, path: &Path) -> Result<ReadWorlds, ReadWorldError> {
    sdf::read_worlds(
        text,
        &path.display().to_string(),
        &SearchPaths::from_environment(),
    )
}

/// Returns a problem with the line that it is about, if that can be read.
pub(super) fn show(problem: &Problem) -> String {
    let place = &problem.place;
    let line = std::fs::read(&place.file).ok().and_then(|bytes| {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let index = (place.line as usize).checked_sub(1)?;
        text.lines().nth(index).map(str::to_owned)
    });
    match line {
        Some(line) => format!("{problem}\n{}", excerpt(&line, place.line, place.column)),
        None => format!("{problem}\n"),
    }
}

/// Draws a line of a file with a mark under the column, counted from 1.
fn excerpt(line: &str, number: u32, column: u32) -> String {
    const WIDTH: usize = 100;
    let column = (column as usize).max(1) - 1;
    let start = if column >= WIDTH {
        column - WIDTH / 2
    } else {
        0
    };
    let blank_tabs = |c: char| if c.is_control() { ' ' } else { c };
    let shown: String = line
        .chars()
        .map(blank_tabs)
        .skip(start)
        .take(WIDTH)
        .collect();
    let number = number.to_string();
    let margin = " ".repeat(number.len());
    format!(
        "  {number} | {}\n  {margin} | {}^\n",
        shown.trim_end(),
        " ".repeat(column - start)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_marks_the_column() {
        assert_eq!(excerpt("\t<model>", 12, 2), "  12 |  <model>\n     |  ^\n");
        let long = format!("{}X", "a".repeat(300));
        let shown = excerpt(&long, 1, 301);
        let mark = shown.lines().nth(1).unwrap().find('^').unwrap();
        assert_eq!(shown.lines().next().unwrap().chars().nth(mark), Some('X'));
    }
}
