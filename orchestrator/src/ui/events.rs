//! The events: what happened in the run, and at which iteration.

use protocol::primary_to_observers::Event;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use super::theme::Theme;
use super::{frame as panel_frame, logs, text};
use crate::app::model::{Model, severity_word};
use crate::app::panel::Panel;

/// Draws the heading and the window of the events.
pub fn draw(model: &Model, frame: &mut Frame, area: Rect) {
    let theme = Theme::of(model);
    let rows = usize::from(area.height.saturating_sub(3));
    let (remark, bottom) = logs::remarks(theme, &model.events, rows);
    let inside = panel_frame::draw(model, frame, area, Panel::Events, (&remark, &bottom));
    let heading = format!(
        "{:>12}  {:<9}  {:<8}  {}",
        "iteration", "severity", "kind", "event"
    );
    let top = Rect {
        height: inside.height.min(1),
        ..inside
    };
    Line::styled(heading, theme.heading()).render(top, frame.buffer_mut());
    let below = inside.y.saturating_add(1)..inside.bottom();
    for (row, event) in below.zip(model.events.window(rows)) {
        let place = Rect {
            y: row,
            height: 1,
            ..inside
        };
        let line = line(theme, event, model.events.column(), inside.width);
        line.render(place, frame.buffer_mut());
    }
}

fn line(theme: Theme, event: &Event, column: usize, width: u16) -> Line<'static> {
    let (glyph, style) = theme.severity(event.severity);
    let room = width.saturating_sub(36);
    let said = text::fit(theme, text::skip_columns(&event.text, column), room);
    let iteration = text::count(event.iteration.0);
    let kind = text::fit(theme, &event.kind, 8);
    let pad = " ".repeat(8_usize.saturating_sub(text::columns(&kind)));
    Line::from(vec![
        Span::styled(format!("{iteration:>12}  "), theme.label()),
        Span::styled(
            format!("{glyph} {:<7}  ", severity_word(event.severity)),
            style,
        ),
        Span::styled(format!("{kind}{pad}  "), theme.label()),
        Span::styled(said, style),
    ])
}
