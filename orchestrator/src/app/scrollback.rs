//! [`Scrollback`]: a bounded text that follows its end, scrolls and is filtered.
//!
//! Lines are numbered from the beginning of the run, so that a place stays where it is while
//! old lines are dropped. Which lines pass is kept up to date line by line, never per frame.

use std::collections::{BTreeSet, VecDeque};

use super::filter::Filter;

/// The largest number of lines that are kept.
pub const LINES_MAX: usize = 10_000;

/// A line with a source, such as a process, and a text.
pub trait Line {
    /// Returns where the line comes from.
    fn source(&self) -> &str;
    /// Returns what the line says.
    fn text(&self) -> &str;
}

/// A bounded text.
#[derive(Clone, Debug)]
pub struct Scrollback<L> {
    lines: VecDeque<L>,
    dropped: u64,
    sources: BTreeSet<String>,
    filter: Filter,
    source: Option<String>,
    passing: VecDeque<u64>,
    bottom: Option<u64>,
    column: usize,
}

impl<L> Default for Scrollback<L> {
    fn default() -> Self {
        Self {
            lines: VecDeque::new(),
            dropped: 0,
            sources: BTreeSet::new(),
            filter: Filter::default(),
            source: None,
            passing: VecDeque::new(),
            bottom: None,
            column: 0,
        }
    }
}

impl<L: Line> Scrollback<L> {
    /// Adds a line at the end and drops the oldest above [`LINES_MAX`].
    pub fn push(&mut self, line: L) {
        if self.lines.len() == LINES_MAX {
            self.lines.pop_front();
            if self.passing.front() == Some(&self.dropped) {
                self.passing.pop_front();
            }
            self.dropped += 1;
        }
        if !self.sources.contains(line.source()) {
            self.sources.insert(line.source().to_owned());
        }
        if self.passes(&line) {
            self.passing
                .push_back(self.dropped + self.lines.len() as u64);
        }
        self.lines.push_back(line);
    }

    /// Puts other lines in the place of all, as if they had come one by one; the filter stays.
    pub fn replace(&mut self, lines: impl IntoIterator<Item = L>) {
        (self.dropped, self.bottom) = (0, None);
        self.lines.clear();
        self.passing.clear();
        for line in lines {
            self.push(line);
        }
    }

    /// Returns how many lines pass the filter.
    pub fn len(&self) -> usize {
        self.passing.len()
    }

    /// Tells whether no line passes the filter.
    pub fn is_empty(&self) -> bool {
        self.passing.is_empty()
    }

    /// Returns the filter.
    pub fn filter(&self) -> &Filter {
        &self.filter
    }

    /// Returns the one source that is shown, or `None` for all.
    pub fn source(&self) -> Option<&str> {
        self.source.as_deref()
    }

    /// Returns how many columns of text are scrolled out to the left.
    pub fn column(&self) -> usize {
        self.column
    }

    /// Tells whether the newest line is shown as it comes.
    pub fn is_following(&self) -> bool {
        self.bottom.is_none()
    }

    /// Returns how many passing lines lie below the window.
    pub fn below(&self, rows: usize) -> usize {
        self.passing.len() - self.end(rows)
    }

    /// Returns the lines that a window of so many rows shows, oldest first.
    pub fn window(&self, rows: usize) -> impl Iterator<Item = &L> {
        let end = self.end(rows);
        let numbers = self.passing.range(end.saturating_sub(rows)..end);
        numbers.map(|number| &self.lines[(number - self.dropped) as usize])
    }

    /// Returns the newest lines whatever the filter, oldest first.
    pub fn newest(&self, count: usize) -> impl Iterator<Item = &L> {
        self.lines.range(self.lines.len().saturating_sub(count)..)
    }

    /// Shows only lines that pass.
    pub fn set_filter(&mut self, filter: Filter) {
        self.filter = filter;
        self.sift();
    }

    /// Shows the next source alone; after the last one, all.
    pub fn next_source(&mut self) {
        self.source = match &self.source {
            None => self.sources.first().cloned(),
            Some(now) => self.sources.iter().find(|source| *source > now).cloned(),
        };
        self.sift();
    }

    /// Scrolls a window of so many rows towards older (negative) or newer lines.
    pub fn scroll(&mut self, by: isize, rows: usize) {
        let least = rows.min(self.passing.len());
        let end = self.end(rows).saturating_add_signed(by).max(least);
        self.bottom = if end >= self.passing.len() {
            None
        } else {
            self.passing_before(end)
        };
    }

    /// Scrolls the text to the left (positive) or right.
    pub fn scroll_columns(&mut self, by: isize) {
        self.column = self.column.saturating_add_signed(by).min(1_000);
    }

    /// Stays where it is, or goes to the end and follows it.
    pub fn toggle_follow(&mut self) {
        self.bottom = match self.bottom {
            Some(_) => None,
            None => self.passing.back().copied(),
        };
    }

    fn passes(&self, line: &L) -> bool {
        self.source
            .as_deref()
            .is_none_or(|source| source == line.source())
            && self.filter.passes([line.source(), line.text()])
    }

    fn sift(&mut self) {
        let mut passing = std::mem::take(&mut self.passing);
        passing.clear();
        let numbered = (self.dropped..).zip(&self.lines);
        passing.extend(
            numbered
                .filter(|(_, line)| self.passes(line))
                .map(|(number, _)| number),
        );
        self.passing = passing;
    }

    fn passing_before(&self, end: usize) -> Option<u64> {
        end.checked_sub(1)
            .and_then(|last| self.passing.get(last))
            .copied()
    }

    /// Index after the last passing line in the window.
    fn end(&self, rows: usize) -> usize {
        let end = self.bottom.map_or(self.passing.len(), |bottom| {
            self.passing.partition_point(|number| *number <= bottom)
        });
        end.max(rows.min(self.passing.len()))
    }
}

/// Returns how many of the first lines seen are the last ones of a past that was told later.
pub fn overlap<L: PartialEq>(past: &[L], seen: &[L]) -> usize {
    let most = seen.len().min(past.len());
    let is_end = |count: &usize| past.ends_with(&seen[..*count]);
    (0..=most).rev().find(is_end).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Line for (&'static str, String) {
        fn source(&self) -> &str {
            self.0
        }
        fn text(&self) -> &str {
            &self.1
        }
    }

    fn filled(count: usize) -> Scrollback<(&'static str, String)> {
        let mut text = Scrollback::default();
        for number in 0..count {
            text.push((["s1", "s2"][number % 2], format!("line {number}")));
        }
        text
    }

    fn shown(text: &Scrollback<(&'static str, String)>, rows: usize) -> Vec<String> {
        text.window(rows).map(|line| line.1.clone()).collect()
    }

    #[test]
    fn old_lines_are_dropped_and_the_end_is_followed() {
        let text = filled(LINES_MAX + 5);
        assert_eq!(text.len(), LINES_MAX);
        assert_eq!(shown(&text, 2), ["line 10003", "line 10004"]);
    }

    #[test]
    fn a_place_stays_while_lines_come() {
        let mut text = filled(10);
        text.scroll(-3, 2);
        assert_eq!(shown(&text, 2), ["line 5", "line 6"]);
        text.push(("s1", "line 10".to_owned()));
        assert_eq!(shown(&text, 2), ["line 5", "line 6"]);
        assert_eq!(text.below(2), 4);
        text.scroll(-100, 2);
        assert_eq!(shown(&text, 2), ["line 0", "line 1"]);
        text.scroll(1, 2);
        assert_eq!(shown(&text, 2), ["line 1", "line 2"]);
        text.scroll(100, 2);
        assert!(text.is_following());
    }

    #[test]
    fn filter_and_source_hold_for_old_and_new_lines() {
        let mut text = filled(10);
        text.set_filter(Filter::new("!7"));
        assert_eq!(text.len(), 9);
        text.push(("s1", "line 17".to_owned()));
        assert_eq!(text.len(), 9);
        text.next_source();
        assert_eq!(text.source(), Some("s1"));
        assert_eq!(text.len(), 5);
        text.next_source();
        assert_eq!(text.len(), 4);
        text.next_source();
        assert_eq!((text.source(), text.len()), (None, 9));
    }

    #[test]
    fn a_place_whose_line_was_dropped_is_the_oldest_line() {
        let mut text = filled(LINES_MAX);
        text.scroll(-1_000_000, 2);
        for number in 0..100 {
            text.push(("s1", format!("new {number}")));
        }
        assert_eq!(shown(&text, 2), ["line 100", "line 101"]);
    }
}
