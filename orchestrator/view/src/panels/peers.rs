//! The peers: the processes of the run, and which of them the step waits for.

use std::cmp::Ordering;

use client::units::time;
use protocol::Role;
use protocol::report::{ParticipantReport, PeerReport};
use ratatui::Frame;
use ratatui::layout::Rect;

use super::{Content, PanelRow, Position};
use crate::app::detail::Detail;
use crate::app::detail::{add_events, add_list};
use crate::app::event::Key;
use crate::app::filter::Filter;
use crate::app::model::Model;
use crate::app::recent;
use crate::app::rows::{OrderBy, Row, by};
use crate::panels::Panel;
use crate::show::table::Table;
use crate::show::table::names;
use crate::show::{Show, Source};
use crate::ui::table::{self, Cell, Column, Side, column};
use crate::ui::theme::Theme;
use crate::ui::{frame as panel_frame, text};

/// The panel.
pub(super) const PANEL: PanelRow = PanelRow {
    title: "Peers",
    key: Key::Char('2'),
    position: Position::Above,
    content: Content::Table {
        data: |model| &model.heard.peers,
        describe,
    },
    keys: &[],
    draw,
    show: Show {
        about: "The processes",
        source: Source::Run {
            needs: &[],
            is_drawn: false,
            table: |figures| show_table(&figures.snapshot.peers),
            json: |figures| serde_json::to_string_pretty(&figures.snapshot.peers),
        },
    },
};

/// Number of the last lines of a process in its details, and of those looked through.
const LINES_SHOWN: usize = 8;
const LINES_MAX: usize = 5_000;

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
    column("host load", (9, 11), 15, Side::Right, host_load),
];

/// Draws the table of peers.
fn draw(model: &Model, frame: &mut Frame, area: Rect) {
    let rows = &model.tables[Panel::Peers];
    let height = usize::from(area.height.saturating_sub(2));
    let shown = rows.rows().len();
    let bottom = panel_frame::row_remark(rows.cursor(), shown, model.heard.peers.len(), height);
    let inside = panel_frame::draw(model, frame, area, Panel::Peers, ("", &bottom));
    let has_cursor = model.screen.focus == Panel::Peers;
    table::draw(
        model,
        frame,
        inside,
        COLUMNS,
        (rows, &model.heard.peers),
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
    if let Some(has_come) = model.trends.recent.peer(&peer.name) {
        let word = if has_come { "joined" } else { "left" };
        let style = theme.fresh(recent::is_lit(model.now));
        return Cell::new(format!("{} {word}", theme.glyphs().fresh), style);
    }
    if peer.is_relay_silent() {
        return Cell::new(format!("{} relay", theme.glyphs().warning), theme.warning());
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
    let theme = Theme::of(model);
    if let Some(participant) = &peer.participant {
        let text = text::fit(theme, &part_in_lockstep(participant), width);
        return Cell::new(text, theme.text());
    }
    if peer.role == Role::Primary {
        return Cell::new("-", muted(model));
    }
    Cell::new(
        text::count_and_names(theme, &peer.levels, width),
        theme.text(),
    )
}

/// Says after which iterations a program is asked, and how long its answers take: their median and
/// the longest.
fn part_in_lockstep(participant: &ParticipantReport) -> String {
    let Some(every) = participant.every else {
        return "awaited".to_owned();
    };
    let times = [participant.wait_p50_us, participant.wait_max_us].map(time);
    format!("every {every}: {}, max {}", times[0], times[1])
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

/// Number of processes that run or wait for a core on the peer's machine, and of its cores.
fn host_load(model: &Model, peer: &PeerReport, _: u16) -> Cell {
    let theme = Theme::of(model);
    let Some(load) = &peer.host_load else {
        return Cell::new(dash(), theme.muted());
    };
    let style = if load.is_crowded() {
        theme.warning()
    } else {
        theme.text()
    };
    Cell::new(format!("{:.1} of {}", load.load_average, load.cores), style)
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
    if !peer.hosts_cells() && !peer.blocking {
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
    if peer.hosts_cells() {
        Cell::new(figure, Theme::of(model).text())
    } else {
        Cell::new("-", muted(model))
    }
}

fn muted(model: &Model) -> ratatui::style::Style {
    Theme::of(model).muted()
}

fn dash() -> String {
    "-".to_owned()
}

impl Row for PeerReport {
    const ORDERS: &'static [OrderBy<Self>] = &[
        by("peer", |_, _| Ordering::Equal),
        by("heartbeat|beat", |a, b| {
            a.heartbeat_age_ms.total_cmp(&b.heartbeat_age_ms)
        }),
        by("round trip us|trip us", |a, b| {
            a.round_trip_us.cmp(&b.round_trip_us)
        }),
        by("performers|perf", |a, b| {
            a.performers.len().cmp(&b.performers.len())
        }),
        by("physics us|phys us", |a, b| {
            a.physics_us.total_cmp(&b.physics_us)
        }),
        by("systems us|sys us", |a, b| {
            a.systems_us.total_cmp(&b.systems_us)
        }),
        by("sensors us|sens us", |a, b| {
            a.sensors_us.total_cmp(&b.sensors_us)
        }),
        by("network us|net us", |a, b| {
            a.network_us.total_cmp(&b.network_us)
        }),
        by("wait us", |a, b| a.wait_us.total_cmp(&b.wait_us)),
        by("costs us", |a, b| a.blocked_us.total_cmp(&b.blocked_us)),
        by("answers last", |a, b| a.last_share.total_cmp(&b.last_share)),
        by("cpu", |a, b| a.cpu.total_cmp(&b.cpu)),
        by("memory", |a, b| a.memory_bytes.cmp(&b.memory_bytes)),
        by("host load", |a, b| {
            let load = |peer: &Self| peer.host_load.map_or(-1.0, |load| load.load_average);
            load(a).total_cmp(&load(b))
        }),
    ];

    fn name(&self) -> &str {
        self.name.as_str()
    }

    fn passes(&self, filter: &Filter) -> bool {
        let state = format!("{:?}", self.state);
        let role = self.role.to_string();
        let levels = self.levels.iter().map(String::as_str);
        filter.passes(
            [self.name.as_str(), &self.host, &state, &role]
                .into_iter()
                .chain(levels),
        )
    }
}

/// Makes the details of a peer.
fn describe(model: &Model, name: &str) -> Detail {
    let found = model
        .heard
        .peers
        .iter()
        .find(|one| one.name.as_str() == name);
    Detail::of(found, "peer", name, |detail, one| {
        add_peer(model, detail, one);
    })
}

fn add_peer(model: &Model, detail: &mut Detail, peer: &PeerReport) {
    detail.add("role", peer.role.to_string());
    detail.add("state", format!("{:?}", peer.state).to_lowercase());
    detail.add("host", peer.host.as_str());
    if let Some(relay) = &peer.relay {
        let age = peer.relay_age_ms.unwrap_or_default();
        let heard = if peer.is_relay_silent() {
            format!("{relay}, silent for {}", time(age * 1e3))
        } else {
            format!("{relay}, heard {age:.0} ms ago")
        };
        detail.add("relay", heard);
    }
    if let Some(gpu) = &peer.gpu {
        detail.add("cameras by", gpu.as_str());
    }
    detail.add("process id", peer.pid.to_string());
    if let Some(age) = model.heartbeat_age(&peer.name) {
        detail.add("heartbeat", format!("{} ms ago", age.as_millis()));
    }
    if let Some(time) = peer.round_trip_us {
        detail.add("round trip", format!("{time} us"));
    }
    if let Some(offset) = peer.clock_offset_us {
        detail.add("clock offset", format!("{offset} us"));
    }
    detail.add("processor", format!("{:.0} % of a core", peer.cpu * 100.0));
    let mebibytes = peer.memory_bytes as f64 / f64::from(1 << 20);
    detail.add("memory", format!("{mebibytes:.0} MiB"));
    if let Some(load) = &peer.host_load {
        let (average, cores) = (load.load_average, load.cores);
        detail.add("host load", format!("{average:.2} on {cores} cores"));
        let [free, all] = [load.available_bytes, load.memory_bytes].map(text::bytes);
        detail.add("host memory", format!("{free} of {all} free"));
    }
    detail.add_blank();
    for (name, time_us) in [
        ("physics", peer.physics_us),
        ("systems", peer.systems_us),
        ("sensors", peer.sensors_us),
        ("busy in all", peer.busy_us),
        ("network", peer.network_us),
    ] {
        detail.add(name, format!("{time_us:.0} us per step"));
    }
    let waits = format!("{:.0} us per step for the others", peer.wait_us);
    detail.add("waits", waits);
    let price = format!("{:.0} us per step", peer.blocked_us);
    detail.add("costs the others", price);
    detail.add(
        "answers last",
        format!("in {:.0} % of the steps", peer.last_share * 100.0),
    );
    let blocks = if peer.blocking {
        "yes: the others wait for it"
    } else {
        "no"
    };
    detail.add("holds the step", blocks);
    detail.add_blank();
    detail.add_names("levels", &peer.levels);
    detail.add_names("performers", &peer.performers);
    add_events(model, detail, peer.name.as_str());
    add_last_lines(model, detail, peer.name.as_str());
}

/// Adds what a process has printed last.
fn add_last_lines(model: &Model, detail: &mut Detail, process: &str) {
    let of_peer = |line: &&client::feed::LogLine| line.process == process;
    let mut lines: Vec<&str> = model
        .heard
        .logs
        .newest(LINES_MAX)
        .rev()
        .filter(of_peer)
        .take(LINES_SHOWN)
        .map(|line| line.text.as_str())
        .collect();
    lines.reverse();
    add_list(detail, "last lines", lines.into_iter().map(str::to_owned));
}

fn or_dash(figure: Option<impl ToString>) -> String {
    figure.map_or_else(dash, |figure| figure.to_string())
}

/// The processes.
fn show_table(peers: &[PeerReport]) -> Table {
    let mut table = Table::new(&[
        "PEER",
        "ROLE",
        "STATE",
        "PID",
        "HOST",
        "BEAT MS",
        "RTT US",
        "PHYSICS US",
        "WAIT US",
        "BLOCKS",
        "LEVELS",
        "PERFORMERS",
        "SYSTEMS US",
        "SENSORS US",
        "NETWORK US",
        "COSTS US",
        "LAST",
        "CPU",
        "MEMORY MIB",
        "CLOCK US",
        "HOST LOAD",
        "HOST CORES",
        "HOST FREE MIB",
        "RELAY",
        "RELAY MS",
        "GPU",
    ]);
    for peer in peers {
        let load = peer.host_load.as_ref();
        table.row([
            peer.name.to_string(),
            peer.role.to_string(),
            format!("{:?}", peer.state).to_lowercase(),
            peer.pid.to_string(),
            peer.host.clone(),
            format!("{:.0}", peer.heartbeat_age_ms),
            or_dash(peer.round_trip_us),
            format!("{:.0}", peer.physics_us),
            format!("{:.0}", peer.wait_us),
            if peer.blocking { "yes" } else { "-" }.to_owned(),
            names(&peer.levels),
            peer.performers.len().to_string(),
            format!("{:.0}", peer.systems_us),
            format!("{:.0}", peer.sensors_us),
            format!("{:.0}", peer.network_us),
            format!("{:.0}", peer.blocked_us),
            format!("{:.2}", peer.last_share),
            format!("{:.2}", peer.cpu),
            (peer.memory_bytes >> 20).to_string(),
            or_dash(peer.clock_offset_us),
            or_dash(load.map(|load| format!("{:.2}", load.load_average))),
            or_dash(load.map(|load| load.cores)),
            or_dash(load.map(|load| load.available_bytes >> 20)),
            or_dash(peer.relay.as_deref()),
            or_dash(peer.relay_age_ms.map(|age| format!("{age:.0}"))),
            or_dash(peer.gpu.as_deref()),
        ]);
    }
    table
}
