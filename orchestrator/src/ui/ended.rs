//! The last screen: how the run ended, why, and where to look further.

use std::path::Path;

use protocol::report::Stats;
use protocol::{Outcome, StopReason};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span, Text};
use ratatui::widgets::{Paragraph, Widget, Wrap};

use super::theme::Theme;
use super::{frame as panel_frame, logs, text};
use crate::app::model::Model;

/// The most lines of the logs that are shown.
const LOG_LINES_MAX: u16 = 12;

/// Draws the last screen.
pub fn draw(
    model: &Model,
    frame: &mut Frame,
    area: Rect,
    (reason, logs): (&StopReason, Option<&Path>),
) {
    let theme = Theme::of(model);
    let title = format!("Run {} is over", text::fit(theme, &model.run, 40));
    let inside = panel_frame::dialog(model, frame, area, &title);
    let facts = facts(model, reason, logs);
    let width = usize::from(inside.width.max(1));
    let rows: usize = facts
        .iter()
        .map(|line| line.width().div_ceil(width).max(1))
        .sum();
    let [top, bottom] =
        Layout::vertical([Constraint::Length(rows as u16), Constraint::Fill(1)]).areas(inside);
    Paragraph::new(Text::from(facts))
        .wrap(Wrap { trim: false })
        .render(top, frame.buffer_mut());
    draw_last_lines(model, frame, bottom);
}

fn facts(model: &Model, reason: &StopReason, logs: Option<&Path>) -> Vec<Line<'static>> {
    let theme = Theme::of(model);
    let fact = |label: &str, value: String| {
        Line::from(vec![
            Span::styled(format!("   {label:<12}"), theme.label()),
            Span::styled(value, theme.value()),
        ])
    };
    let (glyph, style) = match reason.outcome {
        Outcome::Completed => (theme.glyphs().good, theme.healthy()),
        Outcome::Interrupted => (theme.glyphs().stopping, theme.warning()),
        Outcome::Failed
        | Outcome::ConfigurationError
        | Outcome::PeerLost
        | Outcome::DigestMismatch
        | Outcome::TimedOut => (theme.glyphs().bad, theme.error()),
    };
    let outcome = reason.outcome.to_string().to_uppercase();
    let mut lines = vec![
        Line::default(),
        Line::styled(format!("   {glyph} {outcome}"), style.patch(theme.value())),
        Line::default(),
        fact("cause", text::fit(theme, &reason.cause, 600)),
        fact("exit code", (reason.outcome.exit_code() as u8).to_string()),
    ];
    if let Some(stats) = &model.stats {
        lines.extend(figures(stats).map(|(label, value)| fact(label, value)));
    }
    if let Some(logs) = logs {
        lines.push(fact("logs", text::fit(theme, &logs.to_string_lossy(), 600)));
    }
    lines
}

fn figures(stats: &Stats) -> impl Iterator<Item = (&'static str, String)> {
    let step = &stats.step_us;
    [
        ("iteration", text::count(stats.iteration)),
        (
            "sim time",
            format!("{} s", text::decimal(stats.sim_time_s, 3)),
        ),
        ("digest", stats.digest.to_string()),
        (
            "step",
            format!(
                "p50 {} us  p99 {} us",
                text::micros(step.p50),
                text::micros(step.p99)
            ),
        ),
    ]
    .into_iter()
}

fn draw_last_lines(model: &Model, frame: &mut Frame, area: Rect) {
    let theme = Theme::of(model);
    let count = LOG_LINES_MAX.min(area.height.saturating_sub(2));
    if count == 0 || model.logs.newest(1).next().is_none() {
        return;
    }
    let heading = Rect {
        y: area.y + 1,
        height: 1,
        ..area
    };
    Line::styled("   last lines of the logs", theme.label()).render(heading, frame.buffer_mut());
    for (row, line) in (area.y + 2..).zip(model.logs.newest(usize::from(count))) {
        let place = Rect {
            x: area.x + 2,
            y: row,
            width: area.width.saturating_sub(2),
            height: 1,
        };
        logs::draw_line(model, line, 0, place, frame);
    }
}
