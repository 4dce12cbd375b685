//! The logs: what the processes print, merged in the order of arrival.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use super::theme::Theme;
use super::{frame as panel_frame, text};
use crate::app::event::LogLine;
use crate::app::model::Model;
use crate::app::panel::Panel;
use crate::app::scrollback::{self, Scrollback};

/// The width of the names of processes.
const PROCESS_WIDTH: u16 = 10;

/// Draws the window of the logs.
pub fn draw(model: &Model, frame: &mut Frame, area: Rect) {
    let theme = Theme::of(model);
    let rows = usize::from(area.height.saturating_sub(2));
    let (remark, bottom) = remarks(theme, &model.logs, rows);
    let inside = panel_frame::draw(model, frame, area, Panel::Logs, (&remark, &bottom));
    for (row, line) in (inside.y..inside.bottom()).zip(model.logs.window(rows)) {
        let place = Rect {
            y: row,
            height: 1,
            ..inside
        };
        draw_line(model, line, model.logs.column(), place, frame);
    }
}

/// Draws one line with its process.
pub fn draw_line(model: &Model, line: &LogLine, column: usize, area: Rect, frame: &mut Frame) {
    let theme = Theme::of(model);
    let owner = model
        .owners
        .iter()
        .position(|owner| owner.as_str() == line.process);
    let process = text::fit(theme, &line.process, PROCESS_WIDTH);
    let pad = " ".repeat(usize::from(PROCESS_WIDTH).saturating_sub(text::columns(&process)));
    let room = area.width.saturating_sub(PROCESS_WIDTH + 4);
    let shown = text::fit(theme, text::skip_columns(&line.text, column), room);
    let spans = vec![
        Span::styled(format!(" {process}{pad} "), theme.owner(owner)),
        Span::styled(theme.glyphs().separator, theme.muted()),
        Span::styled(format!(" {shown}"), style(theme, &line.text)),
    ];
    Line::from(spans).render(area.intersection(frame.area()), frame.buffer_mut());
}

/// Returns what to say of a text: which source is shown, and whether its end is followed.
pub(super) fn remarks<L: scrollback::Line>(
    theme: Theme,
    lines: &Scrollback<L>,
    rows: usize,
) -> (String, String) {
    let source = lines
        .source()
        .map_or("all".to_owned(), |source| text::fit(theme, source, 12));
    let below = lines.below(rows);
    let bottom = if below > 0 {
        format!("{} newer below", text::count(below as u64))
    } else if lines.is_following() {
        "follows".to_owned()
    } else {
        "held".to_owned()
    };
    (
        source,
        format!("{} lines, {bottom}", text::count(lines.len() as u64)),
    )
}

/// Looks for the level of a line near its beginning, where tracing writes it.
fn style(theme: Theme, line: &str) -> Style {
    let level = line.split_whitespace().take(3).find(|word| {
        matches!(
            *word,
            "ERROR" | "WARN" | "DEBUG" | "TRACE" | "error:" | "warning:"
        )
    });
    match level {
        Some("ERROR" | "error:") => theme.error(),
        Some("WARN" | "warning:") => theme.warning(),
        Some(_) => theme.label(),
        None => theme.text(),
    }
}
