//! The last screen: how the run ended, why, its figures, and where to look further.

use client::ended::RunEnded;
use protocol::Outcome;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span, Text};
use ratatui::widgets::Widget;

use super::theme::Theme;
use super::{frame as panel_frame, text};
use crate::app::model::Model;
use crate::panels::logs;

/// The most lines of the logs that are shown.
const LOG_LINES_MAX: u16 = 12;
/// The width of the names.
const NAME_WIDTH: usize = 12;
/// Columns before a value.
const INDENT: usize = NAME_WIDTH + 4;

/// Draws the last screen, scrolled by so many lines.
pub fn draw(model: &Model, frame: &mut Frame, area: Rect, scroll: usize) {
    let Some(ended) = &model.session.ended else {
        return;
    };
    let theme = Theme::of(model);
    let title = format!("Run {} is over", text::fit(theme, &model.session.run, 40));
    let inside = panel_frame::dialog(model, frame, area, &title);
    let lines = lines(model, ended, inside.width);
    let count = u16::try_from(lines.len()).unwrap_or(u16::MAX);
    let [top, bottom] =
        Layout::vertical([Constraint::Length(count), Constraint::Fill(1)]).areas(inside);
    let hidden = scroll.min(lines.len().saturating_sub(usize::from(top.height)));
    let below = lines.len() - hidden - usize::from(top.height).min(lines.len() - hidden);
    Text::from(lines.into_iter().skip(hidden).collect::<Vec<_>>()).render(top, frame.buffer_mut());
    if below > 0 && area.height > 0 {
        let place = Rect {
            x: area.x + 2,
            y: area.bottom() - 1,
            width: area.width.saturating_sub(4),
            height: 1,
        };
        let more = format!(" {below} more lines below: Down ");
        Line::styled(more, theme.label())
            .right_aligned()
            .render(place, frame.buffer_mut());
    }
    draw_last_lines(model, frame, bottom);
}

/// Returns how many lines can be scrolled out when the screen has this area.
pub fn scroll_max(model: &Model, area: Rect) -> usize {
    let width = area.width.saturating_sub(2);
    let lines = model
        .session
        .ended
        .as_ref()
        .map_or(0, |ended| lines(model, ended, width).len());
    lines.saturating_sub(usize::from(area.height.saturating_sub(2)))
}

fn lines(model: &Model, ended: &RunEnded, width: u16) -> Vec<Line<'static>> {
    let theme = Theme::of(model);
    let (glyph, style) = mark(theme, ended.reason.outcome);
    let outcome = ended.reason.outcome.to_string().to_uppercase();
    let mut lines = vec![Line::styled(
        format!("   {glyph} {outcome}"),
        style.patch(theme.value()),
    )];
    let room = usize::from(width).saturating_sub(INDENT + 1).max(10);
    for (name, value) in ended.facts(&model.session.run) {
        let mut name = text::fit(theme, &name, NAME_WIDTH as u16 - 1);
        for part in wrapped(&text::fit(theme, &value, 600), room) {
            lines.push(Line::from(vec![
                Span::styled(format!("   {name:<NAME_WIDTH$} "), theme.label()),
                Span::styled(part, theme.value()),
            ]));
            name = String::new();
        }
    }
    lines
}

fn mark(theme: Theme, outcome: Outcome) -> (&'static str, Style) {
    let glyphs = theme.glyphs();
    match outcome {
        Outcome::Completed => (glyphs.good, theme.healthy()),
        Outcome::Interrupted => (glyphs.stopping, theme.warning()),
        Outcome::Failed
        | Outcome::ConfigurationError
        | Outcome::PeerLost
        | Outcome::DigestMismatch
        | Outcome::TimedOut => (glyphs.bad, theme.error()),
    }
}

/// Breaks a text at blanks into lines of at most so many columns.
fn wrapped(value: &str, room: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut used = 0;
    for word in value.split_inclusive(' ') {
        let columns = text::columns(word.trim_end());
        if used > 0 && used + columns > room {
            lines.push(String::new());
            used = 0;
        }
        let mut last = word;
        while text::columns(last.trim_end()) > room {
            let end = last
                .char_indices()
                .nth(room / 2)
                .map_or(last.len(), |(at, _)| at);
            let (head, tail) = last.split_at(end);
            if let Some(line) = lines.last_mut() {
                *line += head;
            }
            lines.push(String::new());
            (last, used) = (tail, 0);
        }
        if let Some(line) = lines.last_mut() {
            *line += last;
        }
        used += text::columns(last);
    }
    lines
}

fn draw_last_lines(model: &Model, frame: &mut Frame, area: Rect) {
    let theme = Theme::of(model);
    let count = LOG_LINES_MAX.min(area.height.saturating_sub(2));
    if count == 0 || model.heard.logs.newest(1).next().is_none() {
        return;
    }
    let heading = Rect {
        y: area.y + 1,
        height: 1,
        ..area
    };
    Line::styled("   last lines of the logs", theme.label()).render(heading, frame.buffer_mut());
    for (row, line) in (area.y + 2..).zip(model.heard.logs.newest(usize::from(count))) {
        let place = Rect {
            x: area.x + 2,
            y: row,
            width: area.width.saturating_sub(2),
            height: 1,
        };
        logs::draw_line(model, line, 0, place, frame);
    }
}

#[cfg(test)]
mod tests {
    use super::wrapped;

    #[test]
    fn long_values_are_broken_at_blanks_and_longer_words_anywhere() {
        assert_eq!(wrapped("one two three", 8), ["one two ", "three"]);
        assert_eq!(wrapped("", 8), [""]);
        assert_eq!(wrapped("a /one/long/path", 10).concat(), "a /one/long/path");
        for line in wrapped(&"x".repeat(95), 10) {
            assert!(line.len() <= 10, "{line}");
        }
        for line in wrapped(&"宽".repeat(95), 10) {
            assert!(line.chars().count() <= 5, "{line}");
        }
    }
}
