//! The levels: which are active, who hosts them and what is in them.

use std::cmp::Ordering;

use protocol::counted;
use protocol::report::LevelReport;
use ratatui::Frame;
use ratatui::layout::Rect;

use super::{Content, PanelRow, Position};
use crate::app::detail::Detail;
use crate::app::detail::{add_events, vector};
use crate::app::event::Key;
use crate::app::filter::Filter;
use crate::app::keymap::{Action, Context, bind};
use crate::app::model::Model;
use crate::app::recent;
use crate::app::rows::{OrderBy, Row, by};
use crate::app::rows::{cell_us, state_of};
use crate::panels::Panel;
use crate::show::table::Table;
use crate::show::table::{names as all_names, owner as show_owner};
use crate::show::{Show, Source};
use crate::ui::table::{self, Cell, Column, Side};
use crate::ui::theme::Theme;
use crate::ui::{frame as panel_frame, sparkline, text};

/// The panel.
pub(super) const PANEL: PanelRow = PanelRow {
    title: "Levels",
    key: Key::Char('3'),
    position: Position::Left,
    content: Content::Table {
        data: |model| &model.heard.levels,
        describe,
    },
    keys: &[bind(
        Context::Panel(Panel::Levels),
        &[Key::Char('m')],
        Action::MoveCell,
        "move",
        "move the level's cell to another peer",
    )],
    draw,
    show: Show {
        about: "The levels and their cells",
        source: Source::Run {
            needs: &[],
            is_drawn: false,
            table: |figures| show_table(&figures.snapshot.levels),
            json: |figures| serde_json::to_string_pretty(&figures.snapshot.levels),
        },
    },
};

const fn column(
    title: &'static str,
    widths: (u16, u16),
    rank: u8,
    cell: fn(&Model, &LevelReport, u16) -> Cell,
) -> Column<LevelReport> {
    table::column(title, widths, rank, Side::Left, cell)
}

const COLUMNS: &[Column<LevelReport>] = &[
    column("level", (8, 24), 0, name),
    column("state", (11, 30), 1, state),
    column("owner", (5, 16), 0, owner),
    column("performers|perf", (4, 32), 0, |model, level, width| {
        names(model, &level.performers, width)
    }),
    table::column("us/step", (7, 9), 1, Side::Right, time),
    column("load", (6, 12), 2, load),
    column("ghosts", (6, 24), 2, |model, level, width| {
        names(model, &level.ghosts, width)
    }),
    table::column("hand-offs", (9, 9), 3, Side::Right, hand_offs),
    column("models", (6, 24), 4, |model, level, width| {
        names(model, &level.models_loaded, width)
    }),
    column("world", (8, 20), 3, |model, level, width| {
        let theme = Theme::of(model);
        Cell::new(text::fit(theme, &level.world, width), theme.text())
    }),
];

/// Draws the table of levels.
fn draw(model: &Model, frame: &mut Frame, area: Rect) {
    let rows = &model.tables[Panel::Levels];
    let active = model
        .heard
        .levels
        .iter()
        .filter(|level| level.active)
        .count();
    let all = model.heard.levels.len();
    let suspended = model
        .heard
        .levels
        .iter()
        .filter(|level| level.suspended)
        .count();
    let suspended = match suspended as u64 {
        0 => String::new(),
        some => format!(", {} suspended", text::count(some)),
    };
    let remark = format!(
        "{} of {} active{suspended}",
        text::count(active as u64),
        text::count(all as u64)
    );
    let height = usize::from(area.height.saturating_sub(2));
    let bottom = panel_frame::row_remark(rows.cursor(), rows.rows().len(), all, height);
    let inside = panel_frame::draw(model, frame, area, Panel::Levels, (&remark, &bottom));
    let has_cursor = model.screen.focus == Panel::Levels;
    let columns = if has_worlds(model) {
        COLUMNS
    } else {
        &COLUMNS[..COLUMNS.len() - 1]
    };
    table::draw(
        model,
        frame,
        inside,
        columns,
        (rows, &model.heard.levels),
        has_cursor,
    );
}

/// Tells whether levels are of more than one world.
fn has_worlds(model: &Model) -> bool {
    let mut worlds = model.heard.levels.iter().map(|level| &level.world);
    let first = worlds.next();
    worlds.any(|world| Some(world) != first)
}

/// A level's name without its world where that has a column of its own.
fn name(model: &Model, level: &LevelReport, width: u16) -> Cell {
    let theme = Theme::of(model);
    let short = level.name.strip_prefix(level.world.as_str());
    let short = short.and_then(|rest| rest.strip_prefix("::"));
    let name = short.unwrap_or(&level.name);
    Cell::new(text::fit_end(theme, name, width), theme.value())
}

/// Makes the cell with the state of a level's cell, or with its recent change.
fn state(model: &Model, level: &LevelReport, width: u16) -> Cell {
    let theme = Theme::of(model);
    let glyphs = theme.glyphs();
    if let Some([long, short]) = recent::level_texts(&model.trends.recent, &level.name) {
        let width = width.saturating_sub(2);
        let is_long = text::columns(&long) <= usize::from(width);
        let change = text::fit(theme, if is_long { &long } else { &short }, width);
        let style = theme.fresh(recent::is_lit(model.now));
        return Cell::new(format!("{} {change}", glyphs.fresh), style);
    }
    let (glyph, style) = match (level.suspended, level.active) {
        (true, _) => (glyphs.paused, theme.warning()),
        (false, true) => (glyphs.good, theme.healthy()),
        (false, false) => (glyphs.idle, theme.text()),
    };
    Cell::new(format!("{glyph} {}", state_of(level)), style)
}

/// The time that a cell takes per step; none while it stands still.
fn time(model: &Model, level: &LevelReport, _: u16) -> Cell {
    let theme = Theme::of(model);
    if level.suspended {
        return Cell::new("-", theme.muted());
    }
    Cell::new(text::micros(cell_us(level)), theme.text())
}

/// The history of that time, in bars of which the highest is the most that any cell took.
fn load(model: &Model, level: &LevelReport, width: u16) -> Cell {
    let theme = Theme::of(model);
    let parts = model
        .trends
        .level_loads
        .parts(&level.name, usize::from(width));
    Cell::new(sparkline::bars(theme, parts), theme.text())
}

fn hand_offs(model: &Model, level: &LevelReport, _: u16) -> Cell {
    Cell::new(text::count(level.hand_offs), Theme::of(model).text())
}

fn owner(model: &Model, level: &LevelReport, width: u16) -> Cell {
    let theme = Theme::of(model);
    let Some(name) = &level.owner else {
        return Cell::new("-", theme.muted());
    };
    let index = model.owner_index(name);
    let fitted = text::fit(theme, name.as_str(), width.saturating_sub(2));
    Cell::new(
        format!("{} {fitted}", theme.owner_mark(index)),
        theme.owner(index),
    )
}

fn names(model: &Model, names: &[String], width: u16) -> Cell {
    let theme = Theme::of(model);
    let style = if names.is_empty() {
        theme.muted()
    } else {
        theme.text()
    };
    Cell::new(text::count_and_names(theme, names, width), style)
}

impl Row for LevelReport {
    const ORDERS: &'static [OrderBy<Self>] = &[
        by("level", |_, _| Ordering::Equal),
        by("state", |a, b| state_of(a).cmp(state_of(b))),
        by("owner", |a, b| a.owner.cmp(&b.owner)),
        by("performers|perf", |a, b| {
            a.performers.len().cmp(&b.performers.len())
        }),
        by("us/step", |a, b| cell_us(a).total_cmp(&cell_us(b))),
        by("ghosts", |a, b| a.ghosts.len().cmp(&b.ghosts.len())),
        by("hand-offs", |a, b| a.hand_offs.cmp(&b.hand_offs)),
        by("models", |a, b| {
            a.models_loaded.len().cmp(&b.models_loaded.len())
        }),
    ];

    fn name(&self) -> &str {
        &self.name
    }

    fn passes(&self, filter: &Filter) -> bool {
        let owner = self.owner.as_ref().map_or("", |owner| owner.as_str());
        let state = state_of(self);
        let inside = self.performers.iter().chain(&self.ghosts);
        filter.passes(
            [self.name.as_str(), &self.world, owner, state]
                .into_iter()
                .chain(inside.map(String::as_str)),
        )
    }
}

/// Makes the details of a level.
fn describe(model: &Model, name: &str) -> Detail {
    let found = model.heard.levels.iter().find(|one| one.name == name);
    Detail::of(found, "level", name, |detail, one| {
        add_level(model, detail, one);
    })
}

fn add_level(model: &Model, detail: &mut Detail, level: &LevelReport) {
    detail.add("world", level.world.as_str());
    detail.add("state", state_of(level));
    let owner = level
        .owner
        .as_ref()
        .map_or("nobody", |owner| owner.as_str());
    detail.add("cell hosted by", owner);
    detail.add(
        "hand-offs",
        format!(
            "{} came into its cell",
            counted(level.hand_offs, "performer")
        ),
    );
    if let Some(digest) = &level.digest {
        detail.add("digest", digest.to_string());
    }
    for (name, time_us) in [
        ("physics", level.physics_us),
        ("systems", level.systems_us),
        ("sensors", level.sensors_us),
    ] {
        detail.add(name, format!("{time_us:.0} us per step"));
    }
    let is_its = |outline: &&protocol::report::LevelOutline| {
        outline.name == level.name && outline.world == level.world
    };
    if let Some(outline) = model.heard.layout.levels.iter().find(is_its) {
        detail.add("from", vector(outline.min, "m"));
        detail.add("to", vector(outline.max, "m"));
        detail.add("buffer", format!("{} m", outline.buffer));
    }
    detail.add_blank();
    detail.add_names("performers", &level.performers);
    detail.add_names("ghosts", &level.ghosts);
    detail.add_names("models loaded", &level.models_loaded);
    add_events(model, detail, &level.name);
}

/// The levels and their cells.
fn show_table(levels: &[LevelReport]) -> Table {
    let mut table = Table::new(&[
        "LEVEL",
        "WORLD",
        "STATE",
        "OWNER",
        "PERFORMERS",
        "GHOSTS",
        "HAND-OFFS",
        "MODELS",
        "PHYSICS US",
        "SYSTEMS US",
        "SENSORS US",
    ]);
    for level in levels {
        table.row([
            level.name.clone(),
            level.world.clone(),
            state_of(level).to_owned(),
            show_owner(level.owner.as_ref()),
            all_names(&level.performers),
            all_names(&level.ghosts),
            level.hand_offs.to_string(),
            all_names(&level.models_loaded),
            format!("{:.0}", level.physics_us),
            format!("{:.0}", level.systems_us),
            format!("{:.0}", level.sensors_us),
        ]);
    }
    table
}
