//! The map: the world from above, x to the right, y up; levels solid, their buffers dashed,
//! static models hatched, performers as the letters of their owners.

mod outline;
mod projection;

use protocol::report::LevelOutline;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;
use ratatui::widgets::canvas::Canvas;

use self::outline::{Outline, Stroke};
use self::projection::Projection;
use super::theme::Theme;
use super::{frame as panel_frame, text};
use crate::app::map_view::Bounds;
use crate::app::model::Model;
use crate::app::panel::Panel;

/// More names than this hide what they name.
const NAMES_MAX: usize = 60;
/// The longest name on the map, in columns.
const NAME_WIDTH: u16 = 16;

/// Draws the map.
pub fn draw(model: &Model, frame: &mut Frame, area: Rect) {
    let remark = match &model.map.follow {
        Some(name) => format!("follows {}", text::fit(Theme::of(model), name, 16)),
        None => String::new(),
    };
    let whole = Rect {
        height: area.height.saturating_sub(1),
        ..area
    };
    let plot = Rect {
        x: whole.x + 1,
        y: whole.y + 1,
        width: whole.width.saturating_sub(2),
        height: whole.height.saturating_sub(2),
    };
    let projection = Projection::new(model, plot);
    let outside = outside_remark(model, projection.as_ref());
    let inside = panel_frame::draw(model, frame, area, Panel::Map, (&remark, &outside));
    let Some(projection) = projection.filter(|_| !plot.intersection(inside).is_empty()) else {
        return;
    };
    draw_lines(model, frame, &projection);
    draw_names(model, frame, &projection);
    draw_legend(
        model,
        frame,
        &projection,
        Rect {
            y: plot.bottom(),
            height: 1,
            ..plot
        },
    );
}

fn outside_remark(model: &Model, projection: Option<&Projection>) -> String {
    let Some(projection) = projection else {
        return String::new();
    };
    let is_outside = |position: &[f64; 3]| projection.cell(position[0], position[1]).is_none();
    let count = model
        .performers
        .iter()
        .filter(|one| is_outside(&one.position))
        .count();
    if count == 0 {
        String::new()
    } else {
        format!("{} outside", text::count(count as u64))
    }
}

fn draw_lines(model: &Model, frame: &mut Frame, projection: &Projection) {
    let theme = Theme::of(model);
    let mut outlines = Vec::new();
    for model in &model.layout.statics {
        let bounds = Bounds {
            min: [model.min[0], model.min[1]],
            max: [model.max[0], model.max[1]],
        };
        let color = theme.line(theme.muted());
        outlines.extend(Outline::new(projection, &bounds, Stroke::Hatched, color));
    }
    for (index, level) in model.layout.levels.iter().enumerate() {
        let color = theme.line(level_style(model, theme, index));
        let box_only = Bounds::of_level_and_buffer(&LevelOutline {
            buffer: 0.0,
            ..level.clone()
        });
        let buffer = Bounds::of_level_and_buffer(level);
        let dim = theme.line(theme.muted());
        outlines.extend(Outline::new(projection, &buffer, Stroke::Dashed, dim));
        outlines.extend(Outline::new(projection, &box_only, Stroke::Solid, color));
    }
    let canvas = Canvas::default().marker(theme.dots()).paint(|context| {
        for outline in &outlines {
            context.draw(outline);
        }
    });
    canvas.render(projection.area(), frame.buffer_mut());
}

/// Names levels and performers, as far as there is room that no other name takes.
fn draw_names(model: &Model, frame: &mut Frame, projection: &Projection) {
    let theme = Theme::of(model);
    let mut free = Free::new(projection.area());
    let performers: Vec<_> = model
        .performers
        .iter()
        .filter_map(|one| Some((one, projection.cell(one.position[0], one.position[1])?)))
        .collect();
    for (performer, (x, y)) in &performers {
        let index = performer
            .owner
            .as_ref()
            .and_then(|owner| model.owner_index(owner));
        let mut style = theme.owner(index);
        if model.map.follow.as_deref() == Some(&performer.name) {
            style = style.patch(theme.selected());
        }
        free.take(*x, *y, 1);
        let mark = theme.owner_mark(index).to_string();
        frame.buffer_mut().set_string(*x, *y, mark, style);
    }
    let mut named = 0;
    for (performer, (x, y)) in performers {
        if named == NAMES_MAX {
            break;
        }
        let name = text::fit(theme, &performer.name, NAME_WIDTH);
        let left = x.checked_sub(text::columns(&name) as u16 + 1);
        let is_named = put(
            frame,
            &mut free,
            (x + 1, y),
            &format!(" {name}"),
            theme.text(),
        ) || left
            .is_some_and(|left| put(frame, &mut free, (left, y), &name, theme.text()));
        named += usize::from(is_named);
    }
    for (index, level) in model.layout.levels.iter().enumerate() {
        let Some((x, y)) = projection.corner(level.min[0], level.max[1]) else {
            continue;
        };
        if named == NAMES_MAX {
            break;
        }
        let name = text::fit(theme, &level.name, NAME_WIDTH);
        let style = level_style(model, theme, index);
        let is_named = (y..y + 2).any(|row| put(frame, &mut free, (x, row), &name, style));
        named += usize::from(is_named);
    }
}

/// Writes a name where it and the cell after it are free.
fn put(frame: &mut Frame, free: &mut Free, (x, y): (u16, u16), name: &str, style: Style) -> bool {
    let end = x.saturating_add(text::columns(name) as u16);
    let width = (end + 1).min(free.area.right().max(end)) - x;
    let is_free = free.take(x, y, width);
    if is_free {
        frame.buffer_mut().set_string(x, y, name, style);
    }
    is_free
}

/// Cells that no name takes yet.
struct Free {
    area: Rect,
    taken: Vec<bool>,
}

impl Free {
    fn new(area: Rect) -> Self {
        Self {
            area,
            taken: vec![false; usize::from(area.width) * usize::from(area.height)],
        }
    }

    /// Takes a run of cells when all of them are free.
    fn take(&mut self, x: u16, y: u16, width: u16) -> bool {
        let run = Rect {
            x,
            y,
            width,
            height: 1,
        };
        if self.area.intersection(run) != run {
            return false;
        }
        let row = usize::from(y - self.area.y) * usize::from(self.area.width);
        let start = row + usize::from(x - self.area.x);
        let cells = &mut self.taken[start..start + usize::from(width)];
        let is_free = !cells.contains(&true);
        if is_free {
            cells.fill(true);
        }
        is_free
    }
}

/// A level looks like its owner while it is active. Outlines and reports are both in world order,
/// the reports with the cells that are no level besides.
fn level_style(model: &Model, theme: Theme, index: usize) -> Style {
    let outline = &model.layout.levels[index];
    let is_it = |name: &str, world: &str| name == outline.name && world == outline.world;
    let near = model.levels[index.min(model.levels.len())..]
        .iter()
        .take(16);
    let report = near
        .chain(&model.levels)
        .find(|level| is_it(&level.name, &level.world));
    match report {
        Some(level) if level.active => {
            let owner = level.owner.as_ref();
            theme.owner(owner.and_then(|owner| model.owner_index(owner)))
        }
        Some(_) | None => theme.muted(),
    }
}

fn draw_legend(model: &Model, frame: &mut Frame, projection: &Projection, area: Rect) {
    let theme = Theme::of(model);
    let area = area.intersection(frame.area());
    let (length_m, cells) = projection.scale();
    let [left, middle, right] = theme.glyphs().scale;
    let inner = middle.repeat(usize::from(cells.saturating_sub(2)));
    let scale = format!("{left}{inner}{right} {length_m} m");
    let room = usize::from(area.width).saturating_sub(text::columns(&scale) + 1);
    let mut spans = Vec::new();
    let mut used = 0;
    for (index, owner) in model.owners.iter().enumerate() {
        let mark = theme.owner_mark(Some(index));
        let entry = format!("{mark} {}  ", text::fit(theme, owner.as_str(), 12));
        used += text::columns(&entry);
        if used > room {
            break;
        }
        spans.push(Span::styled(entry, theme.owner(Some(index))));
    }
    Line::from(spans).render(area, frame.buffer_mut());
    Line::styled(scale, theme.label())
        .right_aligned()
        .render(area, frame.buffer_mut());
}
