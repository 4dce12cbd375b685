//! The run at a glance: its real-time factor over time, counts, and the last warnings.

use protocol::primary_to_observers::Severity;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span, Text};
use ratatui::widgets::Widget;

use crate::app::model::Model;
use crate::ui::text;
use crate::ui::theme::Theme;

/// Eighths of a row.
const EIGHTHS: [&str; 9] = [" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];
/// Columns of the numbers beside the history.
const NUMBERS: u16 = 7;
/// Number of events that are looked through for warnings.
const EVENTS: usize = 1000;

/// Draws the real-time factor, a column for each second or several.
pub(super) fn draw_history(model: &Model, frame: &mut Frame, area: Rect) {
    let theme = Theme::of(model);
    let rows = area.height.saturating_sub(2).min(super::HISTORY);
    let columns = usize::from(area.width.saturating_sub(NUMBERS + 1));
    if rows == 0 || columns == 0 {
        return;
    }
    let newest = model.trends.latency.samples().rev().take(columns);
    let mut factors: Vec<f64> = newest.map(|sample| sample.real_time_factor).collect();
    factors.reverse();
    factors.retain(|factor| factor.is_finite() && *factor >= 0.0);
    let asked = model
        .heard
        .stats
        .as_ref()
        .map_or(0.0, |stats| stats.real_time_factor_asked);
    let top = factors.iter().copied().fold(asked, f64::max).max(0.01);
    let title = format!(" real-time factor, last {} s of running", factors.len());
    let mut lines = vec![Line::styled(title, theme.label())];
    for row in 0..rows {
        let below = f64::from(rows - 1 - row);
        let number = match row {
            0 => text::decimal(top, 2),
            row if row == rows - 1 => "0".to_owned(),
            _ => String::new(),
        };
        let line: String = factors
            .iter()
            .map(|factor| column(theme, factor / top * f64::from(rows) - below))
            .collect();
        lines.push(Line::from(vec![
            Span::styled(format!("{number:>6} "), theme.label()),
            Span::styled(line, theme.healthy()),
        ]));
    }
    Text::from(lines).render(area, frame.buffer_mut());
}

fn column(theme: Theme, rows: f64) -> &'static str {
    let eighths = (rows * 8.0).round().clamp(0.0, 8.0) as usize;
    if theme.has_unicode() {
        EIGHTHS[eighths]
    } else if eighths >= 4 {
        theme.glyphs().bar
    } else {
        " "
    }
}

/// Draws how many there are of everything; on few rows, side by side.
pub(super) fn draw_counts(model: &Model, frame: &mut Frame, area: Rect) {
    let theme = Theme::of(model);
    let active = model
        .heard
        .levels
        .iter()
        .filter(|level| level.active)
        .count();
    let ghosts: usize = model
        .heard
        .levels
        .iter()
        .map(|level| level.ghosts.len())
        .sum();
    let mut counts = vec![
        ("performers", text::count_of(model.heard.performers.len())),
        (
            "levels",
            format!(
                "{} of {} active",
                text::count_of(active),
                text::count_of(model.heard.levels.len())
            ),
        ),
        ("ghosts", text::count_of(ghosts)),
    ];
    if let Some(stats) = &model.heard.stats {
        let events = stats.events;
        counts.push(("hand-offs", text::count(events.hand_offs)));
        counts.push(("migrations", text::count(events.migrations)));
        counts.push(("levels loaded", text::count(events.levels_loaded)));
        counts.push(("refused", text::count(stats.refused.total())));
    }
    let mut lines: Vec<Line> = Vec::new();
    let mut line: Vec<Span> = Vec::new();
    let mut used = 0;
    for (name, value) in counts {
        let columns = name.len() + value.len() + 4;
        if used > 0 && used + columns > usize::from(area.width) {
            lines.push(Line::from(std::mem::take(&mut line)));
            used = 0;
        }
        used += columns;
        line.push(Span::styled(format!(" {name} "), theme.label()));
        line.push(Span::styled(format!("{value}  "), theme.value()));
    }
    lines.push(Line::from(line));
    Text::from(lines).render(area, frame.buffer_mut());
}

/// Draws the last warnings and errors, newest first.
pub(super) fn draw_warnings(model: &Model, frame: &mut Frame, area: Rect) {
    let theme = Theme::of(model);
    if area.height < 2 {
        return;
    }
    let rows = usize::from(area.height - 1);
    let mut events: Vec<_> = model
        .heard
        .events
        .newest(EVENTS)
        .filter(|event| event.severity != Severity::Info)
        .collect();
    events.reverse();
    let mut lines = vec![Line::styled(" last warnings", theme.label())];
    for event in events.iter().take(rows) {
        let (glyph, style) = theme.severity(event.severity);
        let at = text::count(event.iteration.0);
        let room = area.width.saturating_sub(16);
        lines.push(Line::from(vec![
            Span::styled(format!(" {glyph} "), style),
            Span::styled(format!("{at:>11}  "), theme.label()),
            Span::styled(text::fit(theme, &event.text, room), theme.text()),
        ]));
    }
    if events.is_empty() {
        lines.push(Line::styled(" none", theme.muted()));
    }
    Text::from(lines).render(area, frame.buffer_mut());
}
