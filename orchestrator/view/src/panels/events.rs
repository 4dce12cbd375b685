//! The events: what happened in the run, and at which iteration.

use client::plain_text::plain;
use protocol::primary_to_observers::Event;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use super::{Content, PanelRow, Position};
use crate::app::detail::Detail;
use crate::app::event::Key;
use crate::app::model::{Model, severity_word};
use crate::panels::Panel;
use crate::show::Need;
use crate::show::table::Table;
use crate::show::{Show, Source};
use crate::ui::text_rows::{self, StyledLine};
use crate::ui::theme::Theme;
use crate::ui::{frame as panel_frame, text};

/// The panel.
pub(super) const PANEL: PanelRow = PanelRow {
    title: "Events",
    key: Key::Char('8'),
    position: Position::BottomWide,
    content: Content::Text {
        lines: |model| &model.heard.events,
        lines_mut: |model| &mut model.heard.events,
        heading_rows: 1,
        describe,
    },
    keys: &[],
    draw,
    show: Show {
        about: "The events of the run",
        source: Source::Run {
            needs: &[Need::History],
            is_drawn: false,
            table: |figures| events_table(&figures.history.events),
            json: |figures| serde_json::to_string_pretty(&figures.history.events),
        },
    },
};

/// Width of the iteration, severity and kind before the text of an event.
const PREFIX_WIDTH: u16 = 35;

/// Draws the heading and the window of the events.
fn draw(model: &Model, frame: &mut Frame, area: Rect) {
    let theme = Theme::of(model);
    let rows = usize::from(area.height.saturating_sub(3));
    let remarks = text_rows::remarks(theme, &model.heard.events, rows);
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
    let has_cursor = model.screen.focus == Panel::Events;
    text_rows::draw(
        model,
        frame,
        below,
        &model.heard.events,
        (has_cursor, PREFIX_WIDTH),
        |event| shown(theme, event),
    );
}

fn shown(theme: Theme, event: &Event) -> StyledLine<'_> {
    let (glyph, style) = theme.severity(event.severity);
    let iteration = text::count(event.iteration.0);
    let kind = text::fit(theme, &event.kind, 8);
    let pad = " ".repeat(8_usize.saturating_sub(text::columns(&kind)));
    StyledLine {
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

/// Makes the details of an event.
fn describe(model: &Model, number: u64) -> Detail {
    Detail::of(model.heard.events.line(number), "event", "", add_event)
}

fn add_event(detail: &mut Detail, event: &Event) {
    detail.add("iteration", event.iteration.0.to_string());
    detail.add("severity", severity_word(event.severity));
    detail.add("kind", event.kind.as_str());
    detail.add("text", event.text.as_str());
}

/// Makes the table of the events.
pub fn events_table(events: &[Event]) -> Table {
    let mut table = Table::new(&["ITERATION", "SEVERITY", "KIND", "TEXT"]);
    for event in events {
        table.row([
            event.iteration.to_string(),
            severity_word(event.severity).to_owned(),
            plain(&event.kind),
            plain(&event.text),
        ]);
    }
    table
}
