//! The logs: what the processes print, merged in the order of arrival.

use client::feed::LogLine;
use client::log_level::LogLevel;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use super::{Content, PanelRow, Position};
use crate::app::detail::Detail;
use crate::app::event::Key;
use crate::app::model::Model;
use crate::panels::Panel;
use crate::show::{Show, Source};
use crate::ui::text_rows::{self, StyledLine};
use crate::ui::theme::Theme;
use crate::ui::{frame as panel_frame, text};

/// The panel.
pub(super) const PANEL: PanelRow = PanelRow {
    title: "Logs",
    key: Key::Char('9'),
    position: Position::BottomWide,
    content: Content::Text {
        lines: |model| &model.heard.logs,
        lines_mut: |model| &mut model.heard.logs,
        heading_rows: 0,
        describe,
    },
    keys: &[],
    draw,
    show: Show {
        about: "The output of the processes, also of a run that has ended",
        source: Source::LogFiles,
    },
};

/// The width of the names of processes.
const PROCESS_WIDTH: u16 = 10;
/// Width of the process, a separator and the mark of a bad line before a line.
const PREFIX_WIDTH: u16 = PROCESS_WIDTH + 5;

/// Draws the window of the logs.
fn draw(model: &Model, frame: &mut Frame, area: Rect) {
    let theme = Theme::of(model);
    let rows = usize::from(area.height.saturating_sub(2));
    let remarks = text_rows::remarks(theme, &model.heard.logs, rows);
    let said = (remarks.title.as_str(), remarks.bottom.as_str());
    let inside = panel_frame::draw(model, frame, area, Panel::Logs, said);
    let has_cursor = model.screen.focus == Panel::Logs;
    text_rows::draw(
        model,
        frame,
        inside,
        &model.heard.logs,
        (has_cursor, PREFIX_WIDTH),
        |line| shown(model, line),
    );
}

/// Draws one line with its process, without its first columns.
pub(crate) fn draw_line(
    model: &Model,
    line: &LogLine,
    column: usize,
    area: Rect,
    frame: &mut Frame,
) {
    let theme = Theme::of(model);
    let shown = shown(model, line);
    let room = area.width.saturating_sub(PREFIX_WIDTH);
    let text = text::fit(theme, text::skip_columns(shown.text, column), room);
    let mut spans = shown.prefix;
    spans.push(Span::styled(text, shown.style));
    Line::from(spans).render(area.intersection(frame.area()), frame.buffer_mut());
}

fn shown<'a>(model: &Model, line: &'a LogLine) -> StyledLine<'a> {
    let theme = Theme::of(model);
    let owner = model
        .heard
        .owners
        .iter()
        .position(|owner| owner.as_str() == line.process);
    let process = text::fit(theme, &line.process, PROCESS_WIDTH);
    let pad = " ".repeat(usize::from(PROCESS_WIDTH).saturating_sub(text::columns(&process)));
    let (mark, style) = look(theme, &line.text);
    StyledLine {
        prefix: vec![
            Span::styled(format!(" {process}{pad} "), theme.owner(owner)),
            Span::styled(theme.glyphs().separator, theme.muted()),
            Span::styled(format!("{mark} "), style),
        ],
        text: without_date(&line.text),
        style,
    }
}

/// Leaves out the day of a line that begins with a time such as `2026-01-31T12:00:00.5Z`; details
/// show it.
fn without_date(line: &str) -> &str {
    let is_date = |date: &str| {
        let is_dash = |index: usize| index == 4 || index == 7;
        let mut bytes = date.bytes().enumerate();
        bytes.all(|(index, byte)| {
            if is_dash(index) {
                byte == b'-'
            } else {
                byte.is_ascii_digit()
            }
        })
    };
    match line.split_once('T') {
        Some((date, time)) if date.len() == 10 && is_date(date) => time,
        _ => line,
    }
}

/// Returns mark and style of a line by its level.
fn look(theme: Theme, line: &str) -> (&'static str, Style) {
    let glyphs = theme.glyphs();
    match LogLevel::of(line) {
        LogLevel::Error => (glyphs.bad, theme.error()),
        LogLevel::Warning => (glyphs.warning, theme.warning()),
        LogLevel::Debug => (" ", theme.label()),
        LogLevel::Info | LogLevel::Unknown => (" ", theme.text()),
    }
}

/// Makes the details of a line.
fn describe(model: &Model, number: u64) -> Detail {
    Detail::of(model.heard.logs.line(number), "line", "", |detail, line| {
        detail.add("process", line.process.as_str());
        detail.add("text", line.text.as_str());
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_day_of_a_line_is_left_out() {
        let check = |line: &str, expected: &str| assert_eq!(without_date(line), expected);
        check(
            "2026-01-31T12:00:00.5Z  INFO ready",
            "12:00:00.5Z  INFO ready",
        );
        check("2026-01-31 T", "2026-01-31 T");
        check("not-a-dateTime", "not-a-dateTime");
        check("", "");
    }
}
