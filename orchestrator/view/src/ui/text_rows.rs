//! Rows of a text such as logs and events: what stands before each line, the line cut or wrapped,
//! what was looked for, and the cursor.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use super::text;
use super::theme::Theme;
use crate::app::model::Model;
use crate::app::scrollback::{self, Scrollback};

/// The most rows of one line.
const ROWS_MAX: usize = 64;

/// Remarks on the frame of a text.
pub(crate) struct Remarks {
    /// Beside the title: which source is shown.
    pub(crate) title: String,
    /// At the bottom: how many lines, and whether the end is followed.
    pub(crate) bottom: String,
}

/// Returns what to say of a text in a window of so many rows.
pub(crate) fn remarks<L: scrollback::Line>(
    theme: Theme,
    lines: &Scrollback<L>,
    rows: usize,
) -> Remarks {
    let count = |number: usize| text::count(number as u64);
    let source = lines
        .source()
        .map_or("all".to_owned(), |source| text::fit(theme, source, 12));
    let wrapped = if lines.is_wrapped() { ", wrapped" } else { "" };
    let below = lines.below(rows);
    let place = if below > 0 {
        format!("{} newer below", count(below))
    } else if lines.is_following() {
        "follows".to_owned()
    } else {
        "held".to_owned()
    };
    let all = if lines.len() == lines.total() {
        String::new()
    } else {
        format!(" of {}", count(lines.total()))
    };
    let sifting = if lines.is_sifting() { " so far" } else { "" };
    let column = match lines.column() {
        0 => String::new(),
        column => format!(", from column {}", column + 1),
    };
    Remarks {
        title: format!("{source}{wrapped}"),
        bottom: format!(
            "{}{all} lines{sifting}{column}, {place}",
            count(lines.len())
        ),
    }
}

/// A line as it is drawn.
pub(crate) struct StyledLine<'a> {
    /// Text before it.
    pub(crate) prefix: Vec<Span<'a>>,
    /// The line itself.
    pub(crate) text: &'a str,
    /// Look of the line.
    pub(crate) style: Style,
}

/// Draws the window of a text; `show` says how a line looks, `prefix_width` how many columns stand
/// before each.
pub(crate) fn draw<'a, L: scrollback::Line>(
    model: &Model,
    frame: &mut Frame,
    area: Rect,
    lines: &'a Scrollback<L>,
    (has_cursor, prefix_width): (bool, u16),
    show: impl Fn(&'a L) -> StyledLine<'a>,
) {
    let theme = Theme::of(model);
    if lines.is_empty() {
        let reason = if lines.total() == 0 {
            " none yet"
        } else {
            " none passes the filter"
        };
        Line::styled(reason, theme.muted()).render(area, frame.buffer_mut());
        return;
    }
    let selected = lines.selected().filter(|_| has_cursor);
    let room = area.width.saturating_sub(prefix_width);
    let height = usize::from(area.height);
    let window: Vec<(u64, StyledLine<'a>, Vec<Line<'static>>)> = lines
        .numbered(height)
        .map(|(number, line)| {
            let shown = show(line);
            let rows = rows(theme, lines, &shown, room);
            (number, shown, rows)
        })
        .collect();
    let sizes: Vec<usize> = window.iter().map(|(_, _, rows)| rows.len()).collect();
    let cursor = window
        .iter()
        .position(|(number, ..)| Some(*number) == selected);
    let mut y = area.y;
    for (number, shown, rows) in window.into_iter().skip(first_line(&sizes, cursor, height)) {
        for (index, row) in rows.into_iter().enumerate() {
            if y >= area.bottom() {
                return;
            }
            let place = Rect {
                y,
                height: 1,
                ..area
            };
            if index == 0 {
                Line::from(shown.prefix.clone()).render(place, frame.buffer_mut());
            }
            let indent = prefix_width.min(place.width);
            let after = Rect {
                x: place.x + indent,
                width: place.width - indent,
                ..place
            };
            row.render(after, frame.buffer_mut());
            if Some(number) == selected {
                let place = place.intersection(frame.area());
                frame.buffer_mut().set_style(place, theme.selected());
            }
            y += 1;
        }
    }
}

/// Returns the first of the lines that are drawn: of lines that do not all fit the last ones,
/// unless the cursor is above them.
fn first_line(sizes: &[usize], cursor: Option<usize>, height: usize) -> usize {
    let mut used = 0;
    let fits = |size: &&usize| {
        used += **size;
        used <= height
    };
    let fitting = sizes.iter().rev().take_while(fits).count().max(1);
    let last = sizes.len().saturating_sub(fitting);
    cursor.map_or(last, |cursor| last.min(cursor))
}

/// Returns the rows of a line, with what was looked for marked.
fn rows<L: scrollback::Line>(
    theme: Theme,
    lines: &Scrollback<L>,
    shown: &StyledLine<'_>,
    room: u16,
) -> Vec<Line<'static>> {
    let marked = |text: &str| marked(theme, lines, text, shown.style);
    if !lines.is_wrapped() {
        let visible = text::skip_columns(shown.text, lines.column());
        return vec![marked(&text::fit(theme, visible, room))];
    }
    let whole = text::fit(theme, shown.text, u16::MAX);
    let ranges = text::wrap(&whole, usize::from(room));
    let rows = ranges.into_iter().take(ROWS_MAX);
    rows.map(|range| marked(&whole[range])).collect()
}

fn marked<L: scrollback::Line>(
    theme: Theme,
    lines: &Scrollback<L>,
    text: &str,
    style: Style,
) -> Line<'static> {
    let mut spans = Vec::new();
    let mut at = 0;
    for found in lines.filter().places(text) {
        spans.push(Span::styled(text[at..found.start].to_owned(), style));
        spans.push(Span::styled(
            text[found.clone()].to_owned(),
            style.patch(theme.found()),
        ));
        at = found.end;
    }
    spans.push(Span::styled(text[at..].to_owned(), style));
    Line::from(spans)
}

#[cfg(test)]
mod tests {
    use super::first_line;

    #[test]
    fn of_wrapped_lines_the_last_ones_are_drawn_and_the_cursor_always() {
        assert_eq!(first_line(&[1, 1, 1], None, 3), 0);
        assert_eq!(first_line(&[1, 2, 1], None, 3), 1);
        assert_eq!(first_line(&[1, 2, 1], Some(0), 3), 0);
        assert_eq!(first_line(&[1, 2, 1], Some(2), 3), 1);
        assert_eq!(first_line(&[1, 9], None, 3), 1);
        assert_eq!(first_line(&[], None, 3), 0);
    }
}
