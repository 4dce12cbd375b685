//! The topics: what is said in the simulated worlds, by whom and to whom.

use protocol::report::TopicReport;
use ratatui::Frame;
use ratatui::layout::Rect;

use super::table::{self, Cell, Column, Side, column};
use super::theme::Theme;
use super::{frame as panel_frame, text};
use crate::app::model::Model;
use crate::app::panel::Panel;

/// The least width of kinds with what they all begin with.
const WHOLE_KIND_MIN: u16 = 24;

const COLUMNS: &[Column<TopicReport>] = &[
    column("topic", (20, 48), 0, Side::Left, |model, topic, width| {
        let theme = Theme::of(model);
        Cell::new(text::fit(theme, &topic.topic, width), theme.value())
    }),
    column("kind", (14, 28), 0, Side::Left, |model, topic, width| {
        let theme = Theme::of(model);
        let is_whole = width >= WHOLE_KIND_MIN;
        let short = topic.kind.strip_prefix("gz.msgs.").unwrap_or(&topic.kind);
        let kind = if is_whole { &topic.kind } else { short };
        Cell::new(text::fit(theme, kind, width), theme.text())
    }),
    column(
        "publishers",
        (12, 32),
        1,
        Side::Left,
        |model, topic, width| ends(model, &topic.publishers, width),
    ),
    column(
        "listeners",
        (12, 32),
        1,
        Side::Left,
        |model, topic, width| ends(model, &topic.subscribers, width),
    ),
];

/// Draws the table of topics.
pub fn draw(model: &Model, frame: &mut Frame, area: Rect) {
    let rows = &model.topic_rows;
    let all = model.topics.len();
    let height = usize::from(area.height.saturating_sub(2));
    let bottom = panel_frame::row_remark(rows.cursor(), rows.rows().len(), all, height);
    let remark = text::count(all as u64);
    let inside = panel_frame::draw(model, frame, area, Panel::Topics, (&remark, &bottom));
    let has_cursor = model.focus == Panel::Topics;
    table::draw(
        model,
        frame,
        inside,
        COLUMNS,
        (rows, &model.topics),
        has_cursor,
    );
}

/// One end is named; of several, their number and as many names as fit.
fn ends(model: &Model, names: &[String], width: u16) -> Cell {
    let theme = Theme::of(model);
    match names {
        [] => Cell::new("-", theme.muted()),
        [one] => Cell::new(text::fit(theme, one, width), theme.text()),
        several => Cell::new(text::count_and_names(theme, several, width), theme.text()),
    }
}
