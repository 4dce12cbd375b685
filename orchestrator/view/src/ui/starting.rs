//! The start of a run: its processes and how far each of them is, over the panels that have
//! nothing to show yet.

use client::feed::StartedProcess;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span, Text};
use ratatui::widgets::Widget;

use super::theme::Theme;
use super::{frame as panel_frame, text};
use crate::app::model::Model;
use crate::app::start_up::{Stage, Starting, stage, waits_for};

/// The width of the box, where there is room.
const WIDTH: u16 = 76;
/// Lines of it besides the processes.
const OTHER_LINES: u16 = 6;

/// Draws the start of a run that has not begun; a zoomed panel has its place.
pub fn draw(model: &Model, frame: &mut Frame, area: Rect) {
    let Some(starting) = model
        .session
        .starting
        .as_ref()
        .filter(|_| !model.screen.is_zoomed)
    else {
        return;
    };
    let theme = Theme::of(model);
    let count = u16::try_from(starting.processes.len()).unwrap_or(u16::MAX);
    let height = count.saturating_add(OTHER_LINES);
    let place = panel_frame::middle(area, WIDTH, height);
    let title = format!("Starting {}", text::fit(theme, &model.session.run, 40));
    let inside = panel_frame::dialog(model, frame, place, &title);
    let room = usize::from(inside.height.saturating_sub(OTHER_LINES - 2));
    let mut lines = vec![summary(model, theme, starting), Line::default()];
    let hidden = starting.processes.len().saturating_sub(room);
    let shown = room.saturating_sub(usize::from(hidden > 0));
    for process in most_urgent(model, starting).into_iter().take(shown) {
        lines.push(line(model, theme, process));
    }
    if let Some(more @ 1..) = starting.processes.len().checked_sub(shown) {
        lines.push(Line::styled(format!("   and {more} more"), theme.label()));
    }
    lines.push(Line::default());
    let hint = "   9 logs, z zoom: what the processes say";
    lines.push(Line::styled(hint, theme.label()));
    Text::from(lines).render(inside, frame.buffer_mut());
}

/// Returns all processes, those that are waited for first when not all of them can be seen.
fn most_urgent<'a>(model: &Model, starting: &'a Starting) -> Vec<&'a StartedProcess> {
    let mut processes: Vec<&StartedProcess> = starting.processes.iter().collect();
    if processes.len() > 12 {
        processes.sort_by_key(|process| match stage(model, process) {
            Stage::Ended => 0,
            Stage::Missing => 1,
            Stage::Loading => 2,
            Stage::Syncing => 3,
            Stage::Waiting | Stage::Ready => 4,
        });
    }
    processes
}

fn summary(model: &Model, theme: Theme, starting: &Starting) -> Line<'static> {
    let glyphs = theme.glyphs();
    let since = model.now.since(starting.since);
    // When they were started is known to the second.
    let age = match since.as_secs() {
        seconds @ 0..60 => format!("{seconds} s"),
        _ => text::age(since),
    };
    let said = waits_for(model).unwrap_or_default();
    Line::from(vec![
        Span::styled(format!(" {} {said}", glyphs.waiting), theme.warning()),
        Span::styled(format!("  for {age}"), theme.label()),
    ])
}

fn line(model: &Model, theme: Theme, process: &StartedProcess) -> Line<'static> {
    let stage = stage(model, process);
    let (glyph, style) = mark(theme, stage);
    let name = text::fit(theme, &process.name, 12);
    Line::from(vec![
        Span::styled(format!("   {glyph} {name:<12} "), style),
        Span::styled(format!("pid {:<9}", process.pid), theme.label()),
        Span::styled(stage.text(process.role), style),
    ])
}

fn mark(theme: Theme, stage: Stage) -> (&'static str, Style) {
    let glyphs = theme.glyphs();
    match stage {
        Stage::Missing => (glyphs.waiting, theme.warning()),
        Stage::Loading | Stage::Syncing => (glyphs.waiting, theme.text()),
        Stage::Waiting | Stage::Ready => (glyphs.good, theme.healthy()),
        Stage::Ended => (glyphs.bad, theme.error()),
    }
}
