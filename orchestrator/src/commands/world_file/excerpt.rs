//! Problems with the line that they are about and a caret under its column.

use std::collections::BTreeMap;

use sdf::Problem;
use unicode_width::UnicodeWidthChar;

use client::plain_text::plain;

/// The most columns of a line that are shown.
const WIDTH: usize = 100;

/// The files that problems point into, each read once.
#[derive(Debug, Default)]
pub(in crate::commands) struct Sources {
    /// Lines by file; none where it cannot be read.
    files: BTreeMap<String, Vec<String>>,
}

impl Sources {
    /// Returns a problem with the line that it is about, if that can be read.
    pub(in crate::commands) fn show(&mut self, problem: &Problem) -> String {
        let place = &problem.place;
        let lines = self
            .files
            .entry(place.file.to_string())
            .or_insert_with(|| lines(&place.file));
        let index = (place.line as usize).checked_sub(1);
        let message = plain(&problem.to_string());
        match index.and_then(|index| lines.get(index)) {
            Some(line) => format!("{message}\n{}", excerpt(line, place.line, place.column)),
            None => format!("{message}\n"),
        }
    }
}

fn lines(file: &str) -> Vec<String> {
    let text = std::fs::read(file)
        .ok()
        .and_then(|bytes| sdf::decode_text(bytes).ok());
    text.unwrap_or_default()
        .lines()
        .map(str::to_owned)
        .collect()
}

/// Draws a line of a file with a mark under the column, counted in characters from 1.
fn excerpt(line: &str, number: u32, column: u32) -> String {
    let column = (column as usize).max(1) - 1;
    let start = if column >= WIDTH {
        column - WIDTH / 2
    } else {
        0
    };
    // One character stays one character, so that the mark is under the right one.
    let harmless = |c: char| {
        if plain(c.encode_utf8(&mut [0; 4])) == c.to_string() {
            c
        } else {
            ' '
        }
    };
    let shown: Vec<char> = line.chars().skip(start).take(WIDTH).map(harmless).collect();
    let before = shown.iter().take(column - start);
    let indent: usize = before.map(|c| c.width().unwrap_or(0)).sum();
    let shown: String = shown.into_iter().collect();
    let number = number.to_string();
    let margin = " ".repeat(number.len());
    format!(
        "  {number} | {}\n  {margin} | {}^\n",
        shown.trim_end(),
        " ".repeat(indent)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_marks_the_column() {
        assert_eq!(excerpt("\t<model>", 12, 2), "  12 |  <model>\n     |  ^\n");
        assert_eq!(excerpt("箱<a>", 1, 2), "  1 | 箱<a>\n    |   ^\n");
        assert_eq!(
            excerpt("\u{1b}[2J<a>", 1, 5),
            "  1 |  [2J<a>\n    |     ^\n"
        );
    }

    #[test]
    fn a_long_line_is_shown_around_the_column() {
        let long = format!("{}X{}", "a".repeat(300), "b".repeat(300));
        let shown = excerpt(&long, 1, 301);
        let lines: Vec<&str> = shown.lines().collect();
        let mark = lines[1].find('^').unwrap();
        assert_eq!(lines[0].chars().nth(mark), Some('X'));
        assert!(lines[0].len() < 120, "{shown}");
    }
}
