//! The map: the world from above, x to the right, y up; levels solid, their buffers dashed,
//! static models hatched, performers as the letters of their owners with arrows ahead.
//!
//! [`marks`] has what is written on it, [`legend`] the lines below.

mod dots;
mod heading;
mod legend;
mod marks;
mod outline;

use protocol::report::LevelReport;
use protocol::report::{Layout, PerformerReport};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use serde_json::json;

use self::dots::Dots;
use self::outline::Stroke;
use super::{Content, PanelRow, Position};
use crate::app::detail::Subject;
use crate::app::event::Key;
use crate::app::keymap::{Action as A, Binding, Context as C, bind};
use crate::app::map_view::Bounds;
use crate::app::model::Model;
use crate::app::places::ScreenRect;
use crate::app::projection::Projection;
use crate::app::trails::PLACES_MAX;
use crate::panels::Panel;
use crate::show::table::Table;
use crate::show::{Need, RunFigures, Show, Source};
use crate::ui::theme::Theme;
use crate::ui::{frame as panel_frame, text};

/// The panel.
pub(super) const PANEL: PanelRow = PanelRow {
    title: "Map",
    key: Key::Char('4'),
    position: Position::Own,
    content: Content::Picture { subject },
    keys: KEYS,
    draw,
    show: Show {
        about: "The world from above",
        source: Source::Run {
            needs: &[Need::Layout],
            is_drawn: true,
            table: |figures| show_table(&figures.layout, &figures.snapshot.performers),
            json: show_json,
        },
    },
};

/// The keys of the map and of its cursor.
#[rustfmt::skip]
const KEYS: &[Binding<'static>] = &[
    bind(C::Cursor, &[Key::Enter], A::Pick,
        "select", "select the performer there, then all that is known of it"),
    bind(C::Cursor, &[Key::Left, Key::Char('h')], A::MoveCursor(-1, 0), "move", "cursor left"),
    bind(C::Cursor, &[Key::Right, Key::Char('l')], A::MoveCursor(1, 0), "", "cursor right"),
    bind(C::Cursor, &[Key::Up, Key::Char('k')], A::MoveCursor(0, 1), "", "cursor up"),
    bind(C::Cursor, &[Key::Down, Key::Char('j')], A::MoveCursor(0, -1), "", "cursor down"),
    bind(C::Cursor, &[Key::Char('H')], A::MoveCursor(-8, 0), "", "cursor far left"),
    bind(C::Cursor, &[Key::Char('L')], A::MoveCursor(8, 0), "", "cursor far right"),
    bind(C::Cursor, &[Key::Char('K'), Key::PageUp], A::MoveCursor(0, 4), "", "cursor far up"),
    bind(C::Cursor, &[Key::Char('J'), Key::PageDown], A::MoveCursor(0, -4), "", "cursor far down"),
    bind(C::Cursor, &[Key::Esc, Key::Char('c')], A::Cursor, "no cursor", "take the cursor away"),
    bind(HERE, &[Key::Char('+'), Key::Char('=')], A::Magnify(1),
        "zoom in", "zoom in, about the cursor if there is one"),
    bind(HERE, &[Key::Char('-')], A::Magnify(-1), "out", "zoom out"),
    bind(HERE, &[Key::Char('0')], A::Fit, "fit", "the whole world"),
    bind(HERE, &[Key::Char('c')], A::Cursor, "cursor", "a cursor that names what is under it"),
    bind(HERE, &[Key::Char('f')], A::Follow, "follow", "follow the selected one, or no longer"),
    bind(HERE, &[Key::Enter], A::Detail, "detail", "all that is known of the selected performer"),
    bind(HERE, &[Key::Char(']')], A::Select(1), "next", "select the next performer"),
    bind(HERE, &[Key::Char('[')], A::Select(-1), "", "select the one before"),
    bind(HERE, &[Key::Left, Key::Char('h')], A::Pan(-1, 0), "pan", "left"),
    bind(HERE, &[Key::Right, Key::Char('l')], A::Pan(1, 0), "", "right"),
    bind(HERE, &[Key::Up, Key::Char('k')], A::Pan(0, 1), "", "up"),
    bind(HERE, &[Key::Down, Key::Char('j')], A::Pan(0, -1), "", "down"),
];
const HERE: C = C::Panel(Panel::Map);

/// Largest number of places of trails that are drawn, of all performers together.
const TRAIL_DOTS_MAX: usize = 8_000;
/// The least number of places of each trail that is drawn all the same.
const TRAIL_DOTS_MIN: usize = 6;
/// The least map that has a line about what is selected.
const LINE_HEIGHT_MIN: u16 = 8;

/// Draws the map.
fn draw(model: &Model, frame: &mut Frame, area: Rect) {
    let area = area.intersection(frame.area());
    let plot = plot(model, area);
    let projection = Projection::new(model, place(plot));
    let remark = remark(model);
    let outside = outside_remark(model, projection.as_ref());
    let inside = panel_frame::draw(model, frame, area, Panel::Map, (&remark, &outside));
    let Some(projection) = projection.filter(|_| !plot.intersection(inside).is_empty()) else {
        return;
    };
    let looks = level_looks(model);
    draw_lines(model, frame, &projection, &looks);
    marks::draw(model, frame, &projection, &looks);
    let below = Rect {
        y: plot.bottom(),
        height: inside.bottom().saturating_sub(plot.bottom()),
        ..inside
    };
    legend::draw(model, frame, &projection, below);
}

/// Returns the part of the panel that shows the world.
pub(crate) fn plot(model: &Model, area: Rect) -> Rect {
    let below = if legend::has_line(model) && area.height >= LINE_HEIGHT_MIN + 2 {
        2
    } else {
        1
    };
    Rect {
        x: area.x.saturating_add(1),
        y: area.y.saturating_add(1),
        width: area.width.saturating_sub(2),
        height: area.height.saturating_sub(2 + below),
    }
}

/// Returns a rectangle as the model knows it.
pub(crate) fn place(area: Rect) -> ScreenRect {
    ScreenRect {
        x: area.x,
        y: area.y,
        width: area.width,
        height: area.height,
    }
}

/// Look of a level, and its report if there is one.
#[derive(Clone, Copy)]
struct LevelLook<'a> {
    report: Option<&'a LevelReport>,
    owner: Option<usize>,
    style: Style,
    is_fresh: bool,
}

fn remark(model: &Model) -> String {
    let theme = Theme::of(model);
    let follow = model.map.follow.as_deref();
    let follow = follow.map(|name| format!("follows {}", text::fit(theme, name, 16)));
    let is_magnified = (model.map.zoom - 1.0).abs() > 1e-6;
    let zoom = is_magnified.then(|| format!("x{}", significant(model.map.zoom)));
    let parts: Vec<String> = follow.into_iter().chain(zoom).collect();
    parts.join(", ")
}

fn significant(number: f64) -> String {
    let decimals = if number >= 10.0 { 0 } else { 2 };
    format!("{number:.decimals$}")
}

fn outside_remark(model: &Model, projection: Option<&Projection>) -> String {
    let Some(projection) = projection else {
        return String::new();
    };
    let is_outside = |position: &[f64; 3]| projection.cell(position[0], position[1]).is_none();
    let count = model
        .heard
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

/// A level looks like its owner while it is active. Outlines and reports are both in world order,
/// the reports with the cells that are no level besides.
fn level_looks(model: &Model) -> Vec<LevelLook<'_>> {
    let theme = Theme::of(model);
    let changed = model.trends.recent.changed_levels();
    let mut reports = model.heard.levels.iter();
    let looks = model.heard.layout.levels.iter().map(|outline| {
        let is_it = |level: &&LevelReport| level.name == outline.name;
        let mut ahead = reports.clone();
        let report = ahead.find(is_it);
        match report {
            Some(_) => reports = ahead,
            None => reports = model.heard.levels.iter(),
        }
        let report = report.or_else(|| model.heard.levels.iter().find(is_it));
        let owner = report
            .and_then(|level| level.owner.as_ref())
            .and_then(|owner| model.owner_index(owner));
        let is_active = report.is_some_and(|level| level.active && !level.suspended);
        LevelLook {
            report,
            owner,
            style: if is_active {
                theme.owner(owner)
            } else {
                theme.muted()
            },
            is_fresh: changed.contains(outline.name.as_str()),
        }
    });
    looks.collect()
}

/// Returns from which area on a static model is ground to move on, and not in the way \[m^2\]: a
/// quarter of the smallest level.
fn ground_area(model: &Model) -> f64 {
    let levels = model.heard.layout.levels.iter();
    let areas = levels.map(|level| (level.max[0] - level.min[0]) * (level.max[1] - level.min[1]));
    areas.fold(f64::INFINITY, f64::min) / 4.0
}

fn draw_lines(model: &Model, frame: &mut Frame, projection: &Projection, looks: &[LevelLook<'_>]) {
    let theme = Theme::of(model);
    let mut dots = Dots::new(projection);
    let ground = ground_area(model);
    for fixed in &model.heard.layout.statics {
        let bounds = Bounds {
            min: [fixed.min[0], fixed.min[1]],
            max: [fixed.max[0], fixed.max[1]],
        };
        let [x, y] = bounds.size();
        let stroke = if x * y < ground {
            Stroke::Hatched
        } else {
            Stroke::Dotted
        };
        outline::draw(&mut dots, projection, &bounds, stroke, theme.muted());
    }
    for level in &model.heard.layout.levels {
        let buffer = Bounds::of_level_and_buffer(level);
        outline::draw(
            &mut dots,
            projection,
            &buffer,
            Stroke::Dashed,
            theme.muted(),
        );
    }
    draw_trails(model, projection, &mut dots);
    for (level, look) in model.heard.layout.levels.iter().zip(looks) {
        let inner = Bounds {
            min: [level.min[0], level.min[1]],
            max: [level.max[0], level.max[1]],
        };
        let stroke = if look.is_fresh {
            Stroke::Thick
        } else {
            Stroke::Solid
        };
        outline::draw(&mut dots, projection, &inner, stroke, look.style);
    }
    let place = projection.area();
    let area = Rect::new(place.x, place.y, place.width, place.height);
    dots.draw(area, frame.buffer_mut());
}

fn draw_trails(model: &Model, projection: &Projection, dots: &mut Dots) {
    let theme = Theme::of(model);
    let count = TRAIL_DOTS_MAX / model.heard.performers.len().max(1);
    let count = count.clamp(TRAIL_DOTS_MIN, PLACES_MAX);
    for performer in &model.heard.performers {
        let owner = performer.owner.as_ref();
        let style = theme.owner(owner.and_then(|owner| model.owner_index(owner)));
        let mut last = projection.dot(performer.position[0], performer.position[1]);
        let is_marked = marks::is_marked(model, &performer.name);
        let count = if is_marked { PLACES_MAX } else { count };
        for place in model.trends.trails.of(&performer.name, count) {
            let dot = projection.dot(place[0], place[1]);
            if is_marked {
                dots.paint_line(last, dot, b',', style);
            } else {
                dots.paint(dot, b',', style);
            }
            last = dot;
        }
    }
}

/// Returns the selected performer.
fn subject(model: &Model) -> Option<Subject> {
    Subject::selected(model, Panel::Performers)
}

fn show_json(figures: &RunFigures) -> serde_json::Result<String> {
    serde_json::to_string_pretty(&json!({
        "layout": figures.layout,
        "performers": figures.snapshot.performers,
    }))
}

/// Returns what is on the map: boxes of levels and models, places of performers.
fn show_table(layout: &Layout, performers: &[PerformerReport]) -> Table {
    let headings = [
        "WHAT", "NAME", "X MIN", "Y MIN", "Z MIN", "X MAX", "Y MAX", "Z MAX",
    ];
    let mut table = Table::new(&headings);
    let mut row = |what: &str, name: &str, min: [f64; 3], max: [f64; 3]| {
        let mut cells = vec![what.to_owned(), name.to_owned()];
        cells.extend(min.into_iter().chain(max).map(|at| format!("{at:.3}")));
        table.row(cells);
    };
    for level in &layout.levels {
        row("level", &level.name, level.min, level.max);
    }
    for model in &layout.statics {
        row("static", &model.name, model.min, model.max);
    }
    for one in performers {
        row("performer", &one.name, one.position, one.position);
    }
    table
}
