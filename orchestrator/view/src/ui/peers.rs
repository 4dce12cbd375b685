//! The peers: the processes of the run, and which of them the step waits for.

use protocol::Role;
use protocol::report::PeerReport;
use ratatui::Frame;
use ratatui::layout::Rect;

use super::table::{self, Cell, Column, Side, column};
use super::theme::Theme;
use super::{frame as panel_frame, text};
use crate::app::model::Model;
use crate::app::panel::Panel;
use crate::app::recent;

const COLUMNS: &[Column<PeerReport>] = &[
    column("peer", (9, 16), 0, Side::Left, name),
    column("role", (9, 10), 13, Side::Left, |model, peer, width| {
        Cell::new(
            text::fit(Theme::of(model), &peer.role.to_string(), width),
            muted(model),
        )
    }),
    column("state", (10, 10), 0, Side::Left, state),
    column("host", (7, 16), 8, Side::Left, |model, peer, width| {
        Cell::new(
            text::fit(Theme::of(model), &peer.host, width),
            Theme::of(model).text(),
        )
    }),
    column("pid", (7, 8), 14, Side::Right, |model, peer, _| {
        Cell::new(peer.pid.to_string(), Theme::of(model).text())
    }),
    column("heartbeat|beat", (6, 9), 4, Side::Right, heartbeat),
    column(
        "round trip us|trip us",
        (7, 13),
        7,
        Side::Right,
        |model, peer, _| {
            let trip = peer.round_trip_us.map_or_else(dash, text::count);
            Cell::new(trip, Theme::of(model).text())
        },
    ),
    column("clock us", (8, 11), 12, Side::Right, clock),
    column("levels", (6, 24), 6, Side::Left, levels),
    column(
        "performers|perf",
        (4, 10),
        5,
        Side::Right,
        |model, peer, _| of_host(model, peer, text::count(peer.performers.len() as u64)),
    ),
    column(
        "physics us|phys us",
        (7, 10),
        1,
        Side::Right,
        |model, peer, _| of_host(model, peer, text::micros(peer.physics_us)),
    ),
    column(
        "systems us|sys us",
        (6, 10),
        10,
        Side::Right,
        |model, peer, _| of_host(model, peer, text::micros(peer.systems_us)),
    ),
    column(
        "sensors us|sens us",
        (7, 10),
        11,
        Side::Right,
        |model, peer, _| of_host(model, peer, text::micros(peer.sensors_us)),
    ),
    column(
        "network us|net us",
        (6, 10),
        3,
        Side::Right,
        |model, peer, _| of_host(model, peer, text::micros(peer.network_us)),
    ),
    column("wait us", (7, 8), 2, Side::Right, |model, peer, _| {
        of_host(model, peer, text::micros(peer.wait_us))
    }),
    column("costs us", (8, 8), 1, Side::Right, cost),
    column("answers last", (13, 13), 0, Side::Left, last),
    column("cpu", (4, 5), 9, Side::Right, |model, peer, _| {
        Cell::new(text::percent(peer.cpu), Theme::of(model).text())
    }),
    column("memory", (8, 8), 10, Side::Right, |model, peer, _| {
        Cell::new(text::bytes(peer.memory_bytes), Theme::of(model).text())
    }),
];

/// Draws the table of peers.
pub fn draw(model: &Model, frame: &mut Frame, area: Rect) {
    let rows = &model.peer_rows;
    let height = usize::from(area.height.saturating_sub(2));
    let shown = rows.rows().len();
    let bottom = panel_frame::row_remark(rows.cursor(), shown, model.peers.len(), height);
    let inside = panel_frame::draw(model, frame, area, Panel::Peers, ("", &bottom));
    let has_cursor = model.focus == Panel::Peers;
    table::draw(
        model,
        frame,
        inside,
        COLUMNS,
        (rows, &model.peers),
        has_cursor,
    );
}

fn name(model: &Model, peer: &PeerReport, width: u16) -> Cell {
    let theme = Theme::of(model);
    let index = model.owner_index(&peer.name);
    let mark = if index.is_some() {
        theme.owner_mark(index)
    } else {
        ' '
    };
    let name = text::fit(theme, peer.name.as_str(), width.saturating_sub(2));
    Cell::new(format!("{mark} {name}"), theme.owner(index))
}

fn state(model: &Model, peer: &PeerReport, _: u16) -> Cell {
    let theme = Theme::of(model);
    if let Some(has_come) = model.recent.peer(&peer.name) {
        let word = if has_come { "joined" } else { "left" };
        let style = theme.fresh(recent::is_lit(model.now));
        return Cell::new(format!("{} {word}", theme.glyphs().fresh), style);
    }
    let (glyph, word, style) = theme.peer_state(peer.state);
    Cell::new(format!("{glyph} {word}"), style)
}

fn heartbeat(model: &Model, peer: &PeerReport, _: u16) -> Cell {
    let theme = Theme::of(model);
    let Some(age) = model.heartbeat_age(&peer.name) else {
        return Cell::new(dash(), theme.muted());
    };
    let style = match age.as_millis() {
        0..1_000 => theme.text(),
        1_000..3_000 => theme.warning(),
        _ => theme.error(),
    };
    Cell::new(text::age(age), style)
}

fn levels(model: &Model, peer: &PeerReport, width: u16) -> Cell {
    if peer.role == Role::Primary {
        return Cell::new("-", muted(model));
    }
    let theme = Theme::of(model);
    Cell::new(
        text::count_and_names(theme, &peer.levels, width),
        theme.text(),
    )
}

/// By how much steps would be shorter without the peer.
fn cost(model: &Model, peer: &PeerReport, _: u16) -> Cell {
    let cell = of_host(model, peer, text::micros(peer.blocked_us));
    if peer.blocking {
        Cell::new(cell.text, Theme::of(model).warning())
    } else {
        cell
    }
}

/// The primary's clock minus the peer's.
fn clock(model: &Model, peer: &PeerReport, _: u16) -> Cell {
    let offset = peer.clock_offset_us.map_or_else(dash, |offset| {
        let sign = if offset < 0 { "-" } else { "+" };
        format!("{sign}{}", text::count(offset.unsigned_abs()))
    });
    Cell::new(offset, Theme::of(model).text())
}

fn last(model: &Model, peer: &PeerReport, _: u16) -> Cell {
    let theme = Theme::of(model);
    if peer.role == Role::Primary {
        return Cell::new("   -", theme.muted());
    }
    let share = text::percent(peer.last_share);
    if peer.blocking {
        Cell::new(
            format!("{share:>4} {} blocks", theme.glyphs().blocking),
            theme.warning(),
        )
    } else {
        Cell::new(format!("{share:>4}"), theme.text())
    }
}

/// A figure that only hosts of cells have.
fn of_host(model: &Model, peer: &PeerReport, figure: String) -> Cell {
    if peer.role == Role::Primary {
        Cell::new("-", muted(model))
    } else {
        Cell::new(figure, Theme::of(model).text())
    }
}

fn muted(model: &Model) -> ratatui::style::Style {
    Theme::of(model).muted()
}

fn dash() -> String {
    "-".to_owned()
}
