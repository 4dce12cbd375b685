//! The performers: where they are, how fast, and who runs their physics.

use protocol::report::PerformerReport;
use ratatui::Frame;
use ratatui::layout::Rect;

use super::table::{self, Cell, Column, Side, column};
use super::theme::Theme;
use super::{frame as panel_frame, text};
use crate::app::model::Model;
use crate::app::orientation;
use crate::app::panel::Panel;
use crate::app::recent;
use crate::app::rows::speed;

const COLUMNS: &[Column<PerformerReport>] = &[
    column("name", (12, 28), 0, Side::Left, name),
    column("owner", (6, 16), 0, Side::Left, owner),
    column("level", (8, 24), 0, Side::Left, level),
    column("x m", (7, 10), 1, Side::Right, |model, performer, width| {
        position(model, performer, (0, width))
    }),
    column("y m", (7, 10), 1, Side::Right, |model, performer, width| {
        position(model, performer, (1, width))
    }),
    column("z m", (7, 10), 2, Side::Right, |model, performer, width| {
        position(model, performer, (2, width))
    }),
    column(
        "speed m/s",
        (9, 10),
        0,
        Side::Right,
        |model, performer, _| plain(model, text::decimal(speed(performer), 2)),
    ),
    column("heading|head", (4, 7), 3, Side::Right, heading),
    column(
        "hand-offs",
        (9, 9),
        2,
        Side::Right,
        |model, performer, _| plain(model, text::count(performer.hand_offs)),
    ),
    column(
        "keeps active",
        (12, 40),
        4,
        Side::Left,
        |model, performer, width| {
            plain(
                model,
                text::count_and_names(Theme::of(model), &performer.levels, width),
            )
        },
    ),
];

/// Draws the table of performers.
pub fn draw(model: &Model, frame: &mut Frame, area: Rect) {
    let rows = &model.performer_rows;
    let all = model.performers.len();
    let height = usize::from(area.height.saturating_sub(2));
    let bottom = panel_frame::row_remark(rows.cursor(), rows.rows().len(), all, height);
    let (title, is_descending) = rows.sorted(&model.performers);
    let turned = if is_descending {
        ", greatest first"
    } else {
        ""
    };
    let remark = format!("{} by {title}{turned}", text::count(all as u64));
    let inside = panel_frame::draw(model, frame, area, Panel::Performers, (&remark, &bottom));
    let has_cursor = model.focus == Panel::Performers;
    table::draw(
        model,
        frame,
        inside,
        COLUMNS,
        (rows, &model.performers),
        has_cursor,
    );
}

fn name(model: &Model, performer: &PerformerReport, width: u16) -> Cell {
    let theme = Theme::of(model);
    let followed = model.map.follow.as_deref() == Some(&performer.name);
    let mark = if followed {
        theme.glyphs().followed
    } else {
        " "
    };
    let name = text::fit(theme, &performer.name, width.saturating_sub(2));
    Cell::new(format!("{mark} {name}"), theme.value())
}

fn owner(model: &Model, performer: &PerformerReport, width: u16) -> Cell {
    let theme = Theme::of(model);
    let Some(name) = &performer.owner else {
        return Cell::new("-", theme.muted());
    };
    let index = model.owner_index(name);
    let fitted = text::fit(theme, name.as_str(), width.saturating_sub(2));
    Cell::new(
        format!("{} {fitted}", theme.owner_mark(index)),
        theme.owner(index),
    )
}

/// The level whose cell owns the performer, or from where it came a moment ago.
fn level(model: &Model, performer: &PerformerReport, width: u16) -> Cell {
    let theme = Theme::of(model);
    let Some(hand_off) = model.recent.hand_off(&performer.name) else {
        return plain(model, text::fit(theme, &performer.level, width));
    };
    let glyph = theme.glyphs().fresh;
    let long = format!("{glyph} {} from {}", hand_off.to, hand_off.from);
    let short = format!("{glyph} {}", hand_off.to);
    let is_long = text::columns(&long) <= usize::from(width);
    let style = theme.fresh(recent::is_lit(model.now));
    Cell::new(
        text::fit(theme, if is_long { &long } else { &short }, width),
        style,
    )
}

fn heading(model: &Model, performer: &PerformerReport, _: u16) -> Cell {
    let theme = Theme::of(model);
    match orientation::heading(performer) {
        Some(angle) => plain(model, text::degrees(theme, angle)),
        None => Cell::new("-", theme.muted()),
    }
}

/// A coordinate with as many of three decimals as there is room for: a number that is cut is wrong.
fn position(model: &Model, performer: &PerformerReport, (axis, width): (usize, u16)) -> Cell {
    let number = performer.position[axis];
    let mut texts = (0..=3)
        .rev()
        .map(|decimals| text::decimal(number, decimals));
    let fitting = texts.find(|text| text.len() <= usize::from(width));
    plain(model, fitting.unwrap_or_else(|| format!("{number:.0e}")))
}

fn plain(model: &Model, text: String) -> Cell {
    Cell::new(text, Theme::of(model).text())
}
