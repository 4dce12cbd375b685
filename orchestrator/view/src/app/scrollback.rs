//! [`Scrollback`]: a bounded text with a cursor that follows its end, scrolls and is filtered.
//!
//! Lines are numbered from the beginning of the run, so that a place stays where it is while
//! old lines are dropped. New lines are sifted as they come; under a new filter old ones are
//! sifted in slices, the newest first, so that no key waits for a long text.

use std::collections::{BTreeSet, VecDeque};

use super::filter::Filter;

/// The largest number of lines that are kept.
pub const LINES_MAX: usize = 100_000;
/// The most memory that lines take \[bytes\].
pub const BYTES_MAX: usize = 48 << 20;
/// The largest number of sources that can be shown alone.
const SOURCES_MAX: usize = 256;
/// Largest number of lines that are filtered between two frames.
const SLICE_LINES: usize = 20_000;
const SLICE_BYTES: usize = 4 << 20;
/// The most columns that are scrolled out to the left.
const COLUMNS_MAX: usize = 4_000;

/// A line with a source, such as a process, and a text.
pub trait Line {
    /// Returns where the line comes from.
    fn source(&self) -> &str;
    /// Returns what the line says.
    fn text(&self) -> &str;

    /// Returns about how much memory the line takes \[bytes\].
    fn bytes(&self) -> usize {
        self.source().len() + self.text().len() + 128
    }
}

/// A bounded text.
#[derive(Clone, Debug)]
pub struct Scrollback<L> {
    lines: VecDeque<L>,
    bytes: usize,
    dropped: u64,
    sources: BTreeSet<String>,
    filter: Filter,
    source: Option<String>,
    /// Numbers of lines that pass, of those that are sifted.
    passing: VecDeque<u64>,
    /// The first line that is sifted; all after it are, too.
    sifted_from: u64,
    bottom: Option<u64>,
    cursor: Option<u64>,
    column: usize,
    is_wrapped: bool,
}

/// A text, whatever the type of its lines.
pub trait Lines {
    /// Returns the filter.
    fn filter(&self) -> &Filter;
    /// Shows only lines that pass.
    fn set_filter(&mut self, filter: Filter);
    /// Returns the number of the line that the cursor is on.
    fn selected(&self) -> Option<u64>;
    /// Moves the cursor in a window of so many rows.
    fn scroll(&mut self, by: isize, rows: usize);
    /// Scrolls the text to the left (positive) or right.
    fn scroll_columns(&mut self, by: isize);
    /// Shows the next source alone; after the last one, all.
    fn next_source(&mut self);
    /// Lets long lines go on in the next row, or cuts them off.
    fn toggle_wrap(&mut self);
    /// Stays where it is, or goes to the end and follows it.
    fn toggle_follow(&mut self);
    /// Sifts on under a new filter.
    fn settle(&mut self);
    /// Tells whether old lines are not sifted yet.
    fn is_sifting(&self) -> bool;
    /// Returns the selected line with its source, ended by a line feed.
    fn selected_text(&self) -> Option<String>;
    /// Returns the newest lines that pass, no more than so many bytes of them.
    fn passing_text(&self, bytes_max: usize) -> String;
}

impl<L: Line> Lines for Scrollback<L> {
    fn filter(&self) -> &Filter {
        self.filter()
    }

    fn set_filter(&mut self, filter: Filter) {
        self.set_filter(filter);
    }

    fn selected(&self) -> Option<u64> {
        self.selected()
    }

    fn scroll(&mut self, by: isize, rows: usize) {
        self.scroll(by, rows);
    }

    fn scroll_columns(&mut self, by: isize) {
        self.scroll_columns(by);
    }

    fn next_source(&mut self) {
        self.next_source();
    }

    fn toggle_wrap(&mut self) {
        self.toggle_wrap();
    }

    fn toggle_follow(&mut self) {
        self.toggle_follow();
    }

    fn settle(&mut self) {
        self.settle();
    }

    fn is_sifting(&self) -> bool {
        self.is_sifting()
    }

    fn selected_text(&self) -> Option<String> {
        self.line(self.selected()?).map(whole)
    }

    fn passing_text(&self, bytes_max: usize) -> String {
        let mut bytes = 0;
        let newest = self.passing().rev().map(whole);
        let mut lines: Vec<String> = newest
            .take_while(|line| {
                bytes += line.len();
                bytes <= bytes_max
            })
            .collect();
        lines.reverse();
        lines.concat()
    }
}

/// Returns a line with its source.
fn whole<L: Line>(line: &L) -> String {
    format!("{} {}\n", line.source(), line.text())
}

impl<L> Default for Scrollback<L> {
    fn default() -> Self {
        Self {
            lines: VecDeque::new(),
            bytes: 0,
            dropped: 0,
            sources: BTreeSet::new(),
            filter: Filter::default(),
            source: None,
            passing: VecDeque::new(),
            sifted_from: 0,
            bottom: None,
            cursor: None,
            column: 0,
            is_wrapped: false,
        }
    }
}

impl<L: Line> Scrollback<L> {
    /// Adds a line at the end and drops the oldest above [`LINES_MAX`] and [`BYTES_MAX`].
    pub fn push(&mut self, line: L) {
        let bytes = line.bytes();
        while self.lines.len() >= LINES_MAX
            || (self.bytes + bytes > BYTES_MAX && !self.lines.is_empty())
        {
            self.drop_oldest();
        }
        if self.sources.len() < SOURCES_MAX && !self.sources.contains(line.source()) {
            self.sources.insert(line.source().to_owned());
        }
        if self.passes(&line) {
            self.passing.push_back(self.end_number());
        }
        self.bytes += bytes;
        self.lines.push_back(line);
    }

    /// Sifts on under a new filter; called before each frame.
    pub fn settle(&mut self) {
        let (mut lines, mut bytes) = (0, 0);
        while self.is_sifting() && lines < SLICE_LINES && bytes < SLICE_BYTES {
            let number = self.sifted_from - 1;
            let line = &self.lines[(number - self.dropped) as usize];
            lines += 1;
            bytes += line.bytes();
            if self.passes(line) {
                self.passing.push_front(number);
            }
            self.sifted_from = number;
        }
    }

    /// Tells whether old lines are not sifted yet.
    pub fn is_sifting(&self) -> bool {
        self.sifted_from > self.dropped
    }

    /// Puts other lines in the place of all but the oldest, as if they had come one by one; the
    /// filter stays, and so does a place among the lines that are kept.
    pub fn replace_after(&mut self, kept: usize, lines: impl IntoIterator<Item = L>) {
        while self.lines.len() > kept {
            self.drop_newest();
        }
        let end = self.end_number();
        self.sifted_from = self.sifted_from.min(end);
        if self
            .bottom
            .max(self.cursor)
            .is_some_and(|place| place >= end)
        {
            (self.bottom, self.cursor) = (None, None);
        }
        for line in lines {
            self.push(line);
        }
    }

    /// Forgets all lines and sources; the filter stays.
    pub fn clear(&mut self) {
        self.replace_after(0, []);
        self.sources.clear();
    }

    /// Returns how many lines pass the filter.
    pub fn len(&self) -> usize {
        self.passing.len()
    }

    /// Tells whether no line passes the filter.
    pub fn is_empty(&self) -> bool {
        self.passing.is_empty()
    }

    /// Returns how many lines are kept, whether they pass or not.
    pub fn total(&self) -> usize {
        self.lines.len()
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

    /// Tells whether long lines go on in the next row.
    pub fn is_wrapped(&self) -> bool {
        self.is_wrapped
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
        self.numbered(rows).map(|(_, line)| line)
    }

    /// Returns the lines that a window of so many rows shows with their numbers, oldest first.
    pub fn numbered(&self, rows: usize) -> impl DoubleEndedIterator<Item = (u64, &L)> {
        let end = self.end(rows);
        let numbers = self.passing.range(end.saturating_sub(rows)..end);
        numbers.map(|number| (*number, &self.lines[(number - self.dropped) as usize]))
    }

    /// Returns all lines that pass, oldest first.
    pub fn passing(&self) -> impl DoubleEndedIterator<Item = &L> {
        let numbers = self.passing.iter();
        numbers.map(|number| &self.lines[(number - self.dropped) as usize])
    }

    /// Returns the newest lines whatever the filter, oldest first.
    pub fn newest(&self, count: usize) -> impl DoubleEndedIterator<Item = &L> {
        self.lines.range(self.lines.len().saturating_sub(count)..)
    }

    /// Returns the line of a number, unless it was dropped.
    pub fn line(&self, number: u64) -> Option<&L> {
        self.lines.get(number.checked_sub(self.dropped)? as usize)
    }

    /// Returns the number of the line that the cursor is on.
    pub fn selected(&self) -> Option<u64> {
        self.passing.get(self.cursor_index()).copied()
    }

    /// Shows only lines that pass.
    pub fn set_filter(&mut self, filter: Filter) {
        if filter != self.filter {
            self.filter = filter;
            self.sift();
        }
    }

    /// Shows the next source alone; after the last one, all.
    pub fn next_source(&mut self) {
        self.source = match &self.source {
            None => self.sources.first().cloned(),
            Some(now) => self.sources.iter().find(|source| *source > now).cloned(),
        };
        self.sift();
    }

    /// Moves the cursor in a window of so many rows towards older (negative) or newer lines; at
    /// the newest one it follows.
    pub fn scroll(&mut self, by: isize, rows: usize) {
        let count = self.passing.len();
        let next = self.cursor_index().saturating_add_signed(by);
        if count == 0 || (by > 0 && next + 1 >= count) {
            (self.bottom, self.cursor) = (None, None);
            return;
        }
        let end = self.end(rows);
        let end = end.clamp(next + 1, (next + rows.max(1)).max(next + 1));
        let end = end.max(rows.min(count)).min(count);
        self.cursor = self.passing.get(next).copied();
        self.bottom = self.passing.get(end - 1).copied();
    }

    /// Scrolls the text to the left (positive) or right.
    pub fn scroll_columns(&mut self, by: isize) {
        self.column = self.column.saturating_add_signed(by).min(COLUMNS_MAX);
    }

    /// Lets long lines go on in the next row, or cuts them off.
    pub fn toggle_wrap(&mut self) {
        self.is_wrapped = !self.is_wrapped;
        self.column = 0;
    }

    /// Stays where it is, or goes to the end and follows it.
    pub fn toggle_follow(&mut self) {
        let last = self.passing.back().copied();
        (self.bottom, self.cursor) = match self.bottom {
            Some(_) => (None, None),
            None => (last, last),
        };
    }

    fn drop_oldest(&mut self) {
        let Some(line) = self.lines.pop_front() else {
            return;
        };
        self.bytes -= line.bytes();
        if self.passing.front() == Some(&self.dropped) {
            self.passing.pop_front();
        }
        self.dropped += 1;
        self.sifted_from = self.sifted_from.max(self.dropped);
    }

    fn drop_newest(&mut self) {
        let Some(line) = self.lines.pop_back() else {
            return;
        };
        self.bytes -= line.bytes();
        if self.passing.back() == Some(&self.end_number()) {
            self.passing.pop_back();
        }
    }

    fn passes(&self, line: &L) -> bool {
        self.source
            .as_deref()
            .is_none_or(|source| source == line.source())
            && self.filter.passes([line.source(), line.text()])
    }

    fn sift(&mut self) {
        self.passing.clear();
        self.sifted_from = self.end_number();
        self.settle();
    }

    /// The number of the line that comes next.
    fn end_number(&self) -> u64 {
        self.dropped + self.lines.len() as u64
    }

    /// Place among the passing lines of the one that the cursor is on, or of the one before it.
    fn cursor_index(&self) -> usize {
        let after = self.cursor.map_or(self.passing.len(), |cursor| {
            self.passing.partition_point(|number| *number <= cursor)
        });
        after.saturating_sub(1)
    }

    /// Index after the last passing line in the window.
    fn end(&self, rows: usize) -> usize {
        let end = self.bottom.map_or(self.passing.len(), |bottom| {
            self.passing.partition_point(|number| *number <= bottom)
        });
        end.max(rows.min(self.passing.len()))
    }
}

#[cfg(test)]
mod tests;
