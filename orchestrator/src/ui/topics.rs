//! The topics: what is said in the simulated worlds, by whom and to whom.

use protocol::report::TopicReport;
use ratatui::Frame;
use ratatui::layout::Rect;

use super::table::{self, Cell, Column, Side, column};
use super::theme::Theme;
use super::{frame as panel_frame, text};
use crate::app::model::Model;
use crate::app::panel::Panel;

const COLUMNS: &[Column<TopicReport>] = &[
    column("topic", (20, 48), 0, Side::Left, |model, topic, width| {
        let theme = Theme::of(model);
        Cell::new(text::fit(theme, &topic.topic, width), theme.value())
    }),
    column("kind", (16, 32), 0, Side::Left, |model, topic, width| {
        let theme = Theme::of(model);
        Cell::new(text::fit(theme, &topic.kind, width), theme.text())
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
