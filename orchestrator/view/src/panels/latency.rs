//! Latency: where the time of an iteration goes, how that changed, and how long steps take.
//!
//! On the whole screen:
//!
//! ```text
//! percentiles of recent steps and of the run
//! split bar over the full width
//! legend | who answers last
//! history with a time axis
//! histogram of all steps on a logarithmic axis
//! ```
//!
//! Small places leave out from below; see [`draw`].

mod chart;
mod histogram;

use protocol::report::{History, HistorySample, Snapshot, Split, StepHistogram};
use protocol::report::{Percentiles, Stats};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span, Text};
use ratatui::widgets::Widget;
use serde_json::{Value, json};

use super::no_subject;
use super::{Content, PanelRow, Position};
use crate::app::event::Key;
use crate::app::model::Model;
use crate::panels::Panel;
use crate::show::table::Table;
use crate::show::{Need, Show, Source};
use crate::ui::theme::Theme;
use crate::ui::{frame as panel_frame, split_bar, text};

/// The panel.
pub(super) const PANEL: PanelRow = PanelRow {
    title: "Latency",
    key: Key::Char('6'),
    position: Position::Own,
    content: Content::Picture {
        subject: no_subject,
    },
    keys: &[],
    draw,
    show: Show {
        about: "The time of iterations and its parts",
        source: Source::Run {
            needs: &[Need::History],
            is_drawn: true,
            table: |figures| show_table(&figures.history),
            json: |figures| {
                serde_json::to_string_pretty(&show_json(&figures.snapshot, &figures.history))
            },
        },
    },
};

/// The least width that has the legend beside what else there is.
const WIDE: u16 = 70;
/// Rows of the table of percentiles with its heading.
const FIGURES: u16 = 3;
/// Rows of the legend, and with it of who answers last.
const LEGEND: u16 = Split::PARTS as u16;
/// The least rows of the chart, its legend and its axis.
const CHART: u16 = 6;
/// The rows of a histogram with its axis.
const HISTOGRAM: u16 = 7;

/// Draws as much as there is room for, the most telling first.
fn draw(model: &Model, frame: &mut Frame, area: Rect) {
    let theme = Theme::of(model);
    let inside = panel_frame::draw(model, frame, area, Panel::Latency, ("us per iteration", ""));
    let Some(stats) = &model.heard.stats else {
        Line::styled(" no steps yet", theme.muted()).render(inside, frame.buffer_mut());
        return;
    };
    let is_wide = inside.width >= WIDE;
    let legend = if is_wide && inside.height >= FIGURES + 1 + LEGEND {
        LEGEND
    } else {
        short_legend(theme, stats, inside).len() as u16
    };
    let left = inside.height.saturating_sub(FIGURES + 1 + legend);
    let histogram = if left >= CHART + HISTOGRAM {
        HISTOGRAM.max(left / 3)
    } else {
        0
    };
    let [figures, bar, below, chart, bars] = Layout::vertical([
        Constraint::Length(FIGURES),
        Constraint::Length(1),
        Constraint::Length(legend),
        Constraint::Fill(1),
        Constraint::Length(histogram),
    ])
    .areas(inside);
    draw_figures(theme, stats, frame, figures);
    draw_bar(theme, stats, frame, bar);
    if legend == LEGEND {
        draw_legend(model, stats, frame, below);
    } else {
        Text::from(short_legend(theme, stats, inside)).render(below, frame.buffer_mut());
    }
    chart::draw(model, frame, chart);
    histogram::draw(theme, stats, frame, bars);
}

fn short_legend(theme: Theme, stats: &Stats, inside: Rect) -> Vec<Line<'static>> {
    split_bar::short_legend(theme, &stats.split, inside.width)
}

/// Draws percentiles of the last second and of the run.
fn draw_figures(theme: Theme, stats: &Stats, frame: &mut Frame, area: Rect) {
    let heading = format!(
        " {:<12} {:>8} {:>8} {:>8} {:>9}",
        "step us", "p50", "p90", "p99", "max"
    );
    let rows = [
        ("last second", &stats.recent_step_us),
        ("whole run", &stats.step_us),
    ];
    let mut lines = vec![Line::styled(heading, theme.label())];
    for (name, figures) in rows {
        lines.push(Line::from(vec![
            Span::styled(format!(" {name:<12} "), theme.label()),
            Span::styled(percentiles(figures), theme.value()),
        ]));
    }
    Text::from(lines).render(area, frame.buffer_mut());
}

fn percentiles(figures: &Percentiles) -> String {
    let Percentiles { p50, p90, p99, max } = *figures;
    let [p50, p90, p99, max] = [p50, p90, p99, max].map(text::micros);
    format!("{p50:>8} {p90:>8} {p99:>8} {max:>9}")
}

fn draw_bar(theme: Theme, stats: &Stats, frame: &mut Frame, area: Rect) {
    if stats.split.period_us() <= 0.0 {
        let line = Line::styled(" no step in the last second", theme.muted());
        return line.render(area, frame.buffer_mut());
    }
    split_bar::bar(theme, &stats.split, area.width).render(area, frame.buffer_mut());
}

/// Draws the legend with its numbers, and beside it how often each peer answers last.
fn draw_legend(model: &Model, stats: &Stats, frame: &mut Frame, area: Rect) {
    let theme = Theme::of(model);
    let [legend, _, race] = Layout::horizontal([
        Constraint::Length(split_bar::LEGEND_WIDTH),
        Constraint::Length(3),
        Constraint::Fill(1),
    ])
    .areas(area);
    let lines = split_bar::legend(theme, &stats.split);
    Text::from(lines.to_vec()).render(legend, frame.buffer_mut());
    draw_race(model, frame, race);
}

/// Draws how often each secondary answers last, and what that costs.
fn draw_race(model: &Model, frame: &mut Frame, area: Rect) {
    let theme = Theme::of(model);
    let rows = usize::from(area.height.saturating_sub(1));
    let mut peers: Vec<_> = model
        .heard
        .peers
        .iter()
        .filter(|peer| peer.hosts_cells())
        .collect();
    peers.sort_by(|a, b| b.last_share.total_cmp(&a.last_share));
    let bar_width = usize::from(area.width.saturating_sub(38)).min(30);
    let mut lines = vec![Line::styled("answers last, costs us", theme.label())];
    for peer in peers.iter().take(rows) {
        let index = model.owner_index(&peer.name);
        let mark = theme.owner_mark(index);
        let name = text::fit(theme, peer.name.as_str(), 12);
        let share = text::percent(peer.last_share);
        let mut spans = vec![
            Span::styled(format!("{mark} {name:<12}"), theme.owner(index)),
            Span::styled(format!("{share:>5}"), theme.value()),
            Span::styled(
                format!("{:>8} ", text::micros(peer.blocked_us)),
                theme.text(),
            ),
            Span::styled(
                bar_of(theme, peer.last_share, bar_width),
                theme.owner(index),
            ),
        ];
        if peer.blocking {
            let word = format!(" {} blocks", theme.glyphs().blocking);
            spans.push(Span::styled(word, theme.warning()));
        }
        lines.push(Line::from(spans));
    }
    Text::from(lines).render(area, frame.buffer_mut());
}

/// Returns a bar of which a part is full.
fn bar_of(theme: Theme, part: f64, width: usize) -> String {
    let part = if part.is_finite() {
        part.clamp(0.0, 1.0)
    } else {
        0.0
    };
    let full = (part * width as f64).round() as usize;
    theme.glyphs().bar.repeat(full) + &theme.glyphs().bar_rest.repeat(width - full)
}

/// Returns how long steps take, where the time goes, and how both were.
fn show_json(snapshot: &Snapshot, history: &History) -> Value {
    let stats = &snapshot.stats;
    let last = snapshot.peers.iter().map(|peer| {
        json!({ "name": peer.name, "last_share": peer.last_share, "blocked_us": peer.blocked_us })
    });
    json!({
        "step_us": stats.step_us,
        "recent_step_us": stats.recent_step_us,
        "period_us": stats.split.period_us(),
        "split": stats.split,
        "answers_last": last.collect::<Vec<_>>(),
        "histogram": bars(&history.steps),
        "history": history.samples,
    })
}

fn bars(steps: &StepHistogram) -> Vec<Value> {
    let bars = steps.bars();
    bars.map(|(from_us, count)| json!({ "from_us": from_us, "count": count }))
        .collect()
}

/// Returns the history, a row per second.
fn show_table(history: &History) -> Table {
    let mut headings = vec![
        "AGE S",
        "ITERATION",
        "REAL TIME FACTOR",
        "P50 US",
        "P90 US",
        "P99 US",
        "MAX US",
    ];
    let parts = Split::NAMES.map(|name| format!("{} US", name.to_uppercase()));
    headings.extend(parts.iter().map(String::as_str));
    let mut table = Table::new(&headings);
    for sample in &history.samples {
        table.row(cells(sample));
    }
    table
}

fn cells(sample: &HistorySample) -> Vec<String> {
    let step = sample.step_us;
    let mut cells = vec![
        format!("{:.1}", sample.age_s),
        sample.iteration.to_string(),
        format!("{:.3}", sample.real_time_factor),
    ];
    let times = [step.p50, step.p90, step.p99, step.max];
    let times = times.into_iter().chain(sample.split.parts());
    cells.extend(times.map(|time| format!("{time:.1}")));
    cells
}
