//! The performers: where they are, how fast, and who runs their physics.

use protocol::report::PerformerReport;
use protocol::report::{LevelReport, TopicReport};
use ratatui::Frame;
use ratatui::layout::Rect;

use super::{Content, PanelRow, Position};
use crate::app::detail::Detail;
use crate::app::detail::{add_events, add_list, vector};
use crate::app::drive;
use crate::app::event::Key;
use crate::app::filter::Filter;
use crate::app::keymap::{Action, Binding, Context, bind};
use crate::app::model::Model;
use crate::app::orientation;
use crate::app::recent;
use crate::app::rows::speed;
use crate::app::rows::{OrderBy, Row, by};
use crate::panels::Panel;
use crate::show::table::Table;
use crate::show::table::{names, owner as show_owner};
use crate::show::{Show, Source};
use crate::ui::table::{self, Cell, Column, Side, column};
use crate::ui::theme::Theme;
use crate::ui::{frame as panel_frame, text};

/// The panel.
pub(super) const PANEL: PanelRow = PanelRow {
    title: "Performers",
    key: Key::Char('5'),
    position: Position::LeftWide,
    content: Content::Table {
        data: |model| &model.heard.performers,
        describe,
    },
    keys: KEYS,
    draw,
    show: Show {
        about: "The models that move",
        source: Source::Run {
            needs: &[],
            is_drawn: false,
            table: |figures| show_table(&figures.snapshot.performers),
            json: |figures| serde_json::to_string_pretty(&figures.snapshot.performers),
        },
    },
};

/// The keys of its own.
#[rustfmt::skip]
const KEYS: &[Binding<'static>] = &[
    bind(HERE, &[Key::Char('f')], Action::Follow, "follow", "follow it on the map, or no longer"),
    bind(HERE, &[Key::Char('i')], Action::Spawn, "spawn", "bring a model into the world"),
    bind(HERE, &[Key::Char('x')], Action::Remove, "remove", "take it out of the world"),
];
const HERE: Context = Context::Panel(Panel::Performers);

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
fn draw(model: &Model, frame: &mut Frame, area: Rect) {
    let rows = &model.tables[Panel::Performers];
    let all = model.heard.performers.len();
    let height = usize::from(area.height.saturating_sub(2));
    let bottom = panel_frame::row_remark(rows.cursor(), rows.rows().len(), all, height);
    let (title, is_descending) = rows.sorted(&model.heard.performers);
    let turned = if is_descending {
        ", greatest first"
    } else {
        ""
    };
    let remark = format!("{} by {title}{turned}", text::count(all as u64));
    let inside = panel_frame::draw(model, frame, area, Panel::Performers, (&remark, &bottom));
    let has_cursor = model.screen.focus == Panel::Performers;
    table::draw(
        model,
        frame,
        inside,
        COLUMNS,
        (rows, &model.heard.performers),
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
    let Some(hand_off) = model.trends.recent.hand_off(&performer.name) else {
        return plain(model, text::fit_end(theme, &performer.level, width));
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

impl Row for PerformerReport {
    const ORDERS: &'static [OrderBy<Self>] = &[
        by("name", |a, b| a.name.cmp(&b.name)),
        by("owner", |a, b| a.owner.cmp(&b.owner)),
        by("level", |a, b| a.level.cmp(&b.level)),
        by("x m", |a, b| a.position[0].total_cmp(&b.position[0])),
        by("y m", |a, b| a.position[1].total_cmp(&b.position[1])),
        by("z m", |a, b| a.position[2].total_cmp(&b.position[2])),
        by("speed m/s", |a, b| speed(a).total_cmp(&speed(b))),
        by("hand-offs", |a, b| a.hand_offs.cmp(&b.hand_offs)),
    ];

    fn name(&self) -> &str {
        &self.name
    }

    fn passes(&self, filter: &Filter) -> bool {
        let owner = self.owner.as_ref().map_or("", |owner| owner.as_str());
        filter.passes([self.name.as_str(), owner, &self.level])
    }
}

/// Makes the details of a performer.
fn describe(model: &Model, name: &str) -> Detail {
    let found = model.heard.performers.iter().find(|one| one.name == name);
    Detail::of(found, "performer", name, |detail, one| {
        add_performer(model, detail, one);
    })
}

fn add_performer(model: &Model, detail: &mut Detail, performer: &PerformerReport) {
    let owner = performer
        .owner
        .as_ref()
        .map_or("nobody", |owner| owner.as_str());
    detail.add("physics run by", owner);
    detail.add("level", performer.level.as_str());
    detail.add("position", vector(performer.position, "m"));
    let [x, y, z, w] = performer.orientation_xyzw;
    let angles = orientation::roll_pitch_yaw(performer).map(f64::to_degrees);
    let [roll, pitch, yaw] = angles;
    detail.add(
        "attitude",
        format!("roll {roll:.1} pitch {pitch:.1} yaw {yaw:.1} deg"),
    );
    detail.add("quaternion", format!("x {x:.6} y {y:.6} z {z:.6} w {w:.6}"));
    detail.add("velocity", vector(performer.linear_velocity, "m/s"));
    let ahead = drive::speed_ahead(performer);
    detail.add(
        "speed",
        format!("{:.3} m/s, {ahead:.3} m/s ahead", speed(performer)),
    );
    detail.add("hand-offs", performer.hand_offs.to_string());
    detail.add_blank();
    detail.add_names("keeps active", &performer.levels);
    let is_ghost = |level: &&LevelReport| level.ghosts.contains(&performer.name);
    let ghosts = model.heard.levels.iter().filter(is_ghost);
    let ghosts: Vec<String> = ghosts.map(|level| level.name.clone()).collect();
    detail.add_names("ghost in", &ghosts);
    add_topics(model, detail, &performer.name);
    add_events(model, detail, &performer.name);
}

/// Adds the topics that systems of a model hear or speak on.
fn add_topics(model: &Model, detail: &mut Detail, name: &str) {
    let begin = format!("{name}: ");
    let is_its = |who: &String| who.starts_with(&begin);
    let of = |topic: &TopicReport, who: &[String]| {
        let named = who.iter().any(is_its);
        named.then(|| format!("{} ({})", topic.topic, topic.kind))
    };
    let hears = model
        .heard
        .topics
        .iter()
        .filter_map(|topic| of(topic, &topic.subscribers));
    add_list(detail, "listens to", hears);
    let says = model
        .heard
        .topics
        .iter()
        .filter_map(|topic| of(topic, &topic.publishers));
    add_list(detail, "publishes", says);
}

/// Makes the table of the performers.
fn show_table(performers: &[PerformerReport]) -> Table {
    let mut table = Table::new(&[
        "PERFORMER",
        "OWNER",
        "LEVEL",
        "ACTIVATES",
        "X",
        "Y",
        "Z",
        "HAND-OFFS",
    ]);
    for performer in performers {
        let [x, y, z] = performer
            .position
            .map(|coordinate| format!("{coordinate:.3}"));
        table.row([
            performer.name.clone(),
            show_owner(performer.owner.as_ref()),
            performer.level.clone(),
            names(&performer.levels),
            x,
            y,
            z,
            performer.hand_offs.to_string(),
        ]);
    }
    table
}
