//! The lines below the map: what the user looks at, and what letters and lengths mean.

use protocol::report::PerformerReport;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use super::marks;
use crate::app::map_cursor::{self, Part};
use crate::app::model::Model;
use crate::app::orientation;
use crate::app::projection::Projection;
use crate::app::recent;
use crate::app::rows::speed;
use crate::ui::text;
use crate::ui::theme::Theme;

/// The longest name in these lines, in columns.
const NAME_WIDTH: u16 = 20;

/// Tells whether there is something to say of what the user looks at.
pub(super) fn has_line(model: &Model) -> bool {
    model.map.cursor.is_some() || subject(model).is_some()
}

/// Draws as many lines as there is room for, the last one first.
pub(super) fn draw(model: &Model, frame: &mut Frame, projection: &Projection, area: Rect) {
    if area.height == 0 {
        return;
    }
    let last = Rect {
        y: area.bottom() - 1,
        height: 1,
        ..area
    };
    draw_owners(model, frame, projection, last);
    if area.height < 2 {
        return;
    }
    let line = Rect { height: 1, ..area };
    let theme = Theme::of(model);
    let said = match (model.map.cursor, subject(model)) {
        (Some(place), _) => cursor_line(model, place),
        (None, Some(performer)) => performer_line(model, performer),
        (None, None) => return,
    };
    let fitted = text::fit(theme, &said, area.width);
    Line::styled(fitted, theme.text()).render(line, frame.buffer_mut());
}

/// The performer that the line is about: the selected one where a selection is seen, else the one
/// that is followed.
fn subject(model: &Model) -> Option<&PerformerReport> {
    if marks::has_selection(model) {
        return model.selected_performer();
    }
    let follow = model.map.follow.as_deref()?;
    model.heard.performers.iter().find(|one| one.name == follow)
}

/// Its name first, since a narrow map cuts the end.
fn performer_line(model: &Model, performer: &PerformerReport) -> String {
    let theme = Theme::of(model);
    let mut parts = vec![
        text::fit(theme, &performer.name, NAME_WIDTH),
        owner(model, performer),
        text::fit(theme, &performer.level, NAME_WIDTH),
        format!("{} m/s", text::decimal(speed(performer), 2)),
    ];
    if let Some(hand_off) = model.trends.recent.hand_off(&performer.name) {
        let from = text::fit(theme, &hand_off.from, NAME_WIDTH);
        parts.push(format!("{} from {from}", theme.glyphs().fresh));
    }
    if let Some(angle) = orientation::heading(performer) {
        parts.push(format!("heading {}", text::degrees(theme, angle)));
    }
    let [x, y, z] = performer.position.map(|part| text::decimal(part, 2));
    parts.push(format!("x {x} y {y} z {z} m"));
    parts.join("  ")
}

fn cursor_line(model: &Model, place: [f64; 2]) -> String {
    let theme = Theme::of(model);
    let name = |name: &str| text::fit(theme, name, NAME_WIDTH);
    let under = map_cursor::under(model, place);
    let [x, y] = place.map(|part| text::decimal(part, 2));
    let mut parts = vec![format!("{} {x}, {y} m", theme.glyphs().cross)];
    match under.level {
        Some((level, Part::Inner)) => parts.push(name(&level.name)),
        Some((level, Part::Buffer)) => parts.push(format!("buffer of {}", name(&level.name))),
        None => {}
    }
    if let Some((performer, distance)) = under.nearest {
        let owner = performer.owner.as_ref();
        let mark = theme.owner_mark(owner.and_then(|owner| model.owner_index(owner)));
        let distance = text::decimal(distance, 1);
        parts.push(format!("{distance} m to {mark} {}", name(&performer.name)));
    }
    if let Some(thing) = under.model {
        parts.push(format!("on {}", name(&thing.name)));
    }
    parts.join("  ")
}

fn owner(model: &Model, performer: &PerformerReport) -> String {
    let theme = Theme::of(model);
    let Some(owner) = &performer.owner else {
        return "no owner".to_owned();
    };
    let mark = theme.owner_mark(model.owner_index(owner));
    format!("{mark} {}", text::fit(theme, owner.as_str(), NAME_WIDTH))
}

fn draw_owners(model: &Model, frame: &mut Frame, projection: &Projection, area: Rect) {
    let theme = Theme::of(model);
    let (length_m, cells) = projection.scale();
    let [left, middle, right] = theme.glyphs().scale;
    let inner = middle.repeat(usize::from(cells.saturating_sub(2)));
    let scale = format!("{left}{inner}{right} {length_m} m");
    let room = usize::from(area.width).saturating_sub(text::columns(&scale) + 1);
    let mut spans = Vec::new();
    let mut used = 0;
    for (index, owner) in model.heard.owners.iter().enumerate() {
        let mark = theme.owner_mark(Some(index));
        let name = text::fit(theme, owner.as_str(), 12);
        let mut style = theme.owner(Some(index));
        let entry = match model.trends.recent.peer(owner) {
            None => format!("{mark} {name}"),
            Some(has_come) => {
                style = style.patch(theme.fresh(recent::is_lit(model.now)));
                let what = if has_come { "joined" } else { "left" };
                format!("{} {mark} {name} {what}", theme.glyphs().fresh)
            }
        };
        used += text::columns(&entry) + 2;
        if used > room {
            break;
        }
        spans.extend([Span::styled(entry, style), Span::raw("  ")]);
    }
    Line::from(spans).render(area, frame.buffer_mut());
    Line::styled(scale, theme.label())
        .right_aligned()
        .render(area, frame.buffer_mut());
}
