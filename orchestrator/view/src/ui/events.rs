//! The events: what happened in the run, and at which iteration.

use protocol::primary_to_observers::Event;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use super::text_rows::{self, Shown};
use super::theme::Theme;
use super::{frame as panel_frame, text};
use crate::app::model::{Model, severity_word};
use crate::app::panel::Panel;

/// Width of the iteration, severity and kind before the text of an event.
const PREFIX_WIDTH: u16 = 35;

/// Draws the heading and the window of the events.
pub fn draw(model: &Model, frame: &mut Frame, area: Rect) {
    let theme = Theme::of(model);
    let rows = usize::from(area.height.saturating_sub(3));
    let remarks = text_rows::remarks(theme, &model.events, rows);
    let said = (remarks.title.as_str(), remarks.bottom.as_str());
    let inside = panel_frame::draw(model, frame, area, Panel::Events, said);
    let heading = format!(
        "{:>12}  {:<9}  {:<8}  {}",
        "iteration", "severity", "kind", "event"
    );
    let top = inside.height.min(1);
    let first = Rect {
        height: top,
        ..inside
    };
    Line::styled(heading, theme.heading()).render(first, frame.buffer_mut());
    let below = Rect {
        y: inside.y + top,
        height: inside.height - top,
        ..inside
    };
    let has_cursor = model.focus == Panel::Events;
    text_rows::draw(
        model,
        frame,
        below,
        &model.events,
        (has_cursor, PREFIX_WIDTH),
        |event| shown(theme, event),
    );
}

fn shown(theme: Theme, event: &Event) -> Shown<'_> {
    let (glyph, style) = theme.severity(event.severity);
    let iteration = text::count(event.iteration.0);
    let kind = text::fit(theme, &event.kind, 8);
    let pad = " ".repeat(8_usize.saturating_sub(text::columns(&kind)));
    Shown {
        prefix: vec![
            Span::styled(format!("{iteration:>12}  "), theme.label()),
            Span::styled(
                format!("{glyph} {:<7}  ", severity_word(event.severity)),
                style,
            ),
            Span::styled(format!("{kind}{pad}  "), theme.label()),
        ],
        text: &event.text,
        style,
    }
}
