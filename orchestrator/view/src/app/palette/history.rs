//! [`History`]: lines that were run before, brought back by the arrows.

use client::plain_text::plain;

/// The most lines that are remembered.
pub const LINES_MAX: usize = 500;
/// The longest line that is remembered \[bytes\].
const LINE_BYTES_MAX: usize = 1_000;

/// Lines that were run before, the newest last.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct History {
    lines: Vec<String>,
    /// The place of the line that is shown now.
    index: Option<usize>,
    /// Line that was typed before an earlier one was brought back.
    draft: String,
    /// Last line that was added, to be saved for later views.
    unsaved: Option<String>,
}

impl History {
    /// Makes a history of lines that earlier views left.
    pub fn new(lines: impl IntoIterator<Item = String>) -> Self {
        let mut history = Self::default();
        for line in lines {
            history.remember(&line);
        }
        history
    }

    /// Returns the lines, the newest last.
    pub fn lines(&self) -> &[String] {
        &self.lines
    }

    /// Adds a line that was run. One that begins with a blank is not remembered.
    pub fn push(&mut self, line: &str) {
        self.index = None;
        if !line.starts_with(char::is_whitespace) && self.remember(line) {
            self.unsaved = self.lines.last().cloned();
        }
    }

    /// Returns what was added since this was last asked.
    pub fn take_unsaved(&mut self) -> Option<String> {
        self.unsaved.take()
    }

    /// Forgets which line is shown; the next one that is brought back is the newest.
    pub fn restart(&mut self) {
        self.index = None;
    }

    /// Returns the line before the one that is shown, if there is one.
    pub fn previous(&mut self, typed: &str) -> Option<&str> {
        if self.index.is_none() {
            typed.clone_into(&mut self.draft);
        }
        let index = self.index.unwrap_or(self.lines.len()).checked_sub(1)?;
        self.index = Some(index);
        self.lines.get(index).map(String::as_str)
    }

    /// Returns the line after the one that is shown; after the newest, what was typed.
    pub fn next_line(&mut self) -> Option<&str> {
        let index = self.index? + 1;
        self.index = (index < self.lines.len()).then_some(index);
        Some(self.lines.get(index).unwrap_or(&self.draft))
    }

    /// Adds a line unless it is the newest already; tells whether it did.
    fn remember(&mut self, line: &str) -> bool {
        let line = plain(line.trim());
        let is_new = self.lines.last() != Some(&line);
        if line.is_empty() || line.len() > LINE_BYTES_MAX || !is_new {
            return false;
        }
        if self.lines.len() == LINES_MAX {
            self.lines.remove(0);
        }
        self.lines.push(line);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn history(lines: &[&str]) -> History {
        History::new(lines.iter().map(|line| (*line).to_owned()))
    }

    #[test]
    fn lines_come_back_and_what_was_typed_is_not_lost() {
        let mut history = history(&["play", "step 5"]);
        assert_eq!(history.next_line(), None);
        assert_eq!(history.previous("st"), Some("step 5"));
        assert_eq!(history.previous("step 5"), Some("play"));
        assert_eq!(history.previous("play"), None);
        assert_eq!(history.next_line(), Some("step 5"));
        assert_eq!(history.next_line(), Some("st"));
        assert_eq!(history.next_line(), None);
    }

    #[test]
    fn repeated_huge_and_indented_lines_stay_out_of_the_history() {
        let mut history = history(&["play", "play", "", "x\u{1b}[2Jy"]);
        assert_eq!(history.lines(), ["play", "xy"]);
        history.push(" secret");
        history.push(&"x".repeat(2_000));
        assert_eq!(history.take_unsaved(), None);
        history.push("pause");
        assert_eq!(history.take_unsaved().as_deref(), Some("pause"));
        assert_eq!(history.take_unsaved(), None);
        for number in 0..2 * LINES_MAX {
            history.push(&format!("step {number}"));
        }
        assert_eq!(history.lines().len(), LINES_MAX);
    }
}
