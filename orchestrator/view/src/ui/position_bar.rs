//! Position in a recording: a bar from its first to its last simulated time.

use client::recorded::RecordingPlace;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use super::text;
use super::theme::Theme;

/// The narrowest bar that is drawn.
const WIDTH_MIN: usize = 4;

/// Draws the bar between the times at its ends, with the speed behind it.
pub fn draw(position: &RecordingPlace, theme: Theme, frame: &mut Frame, area: Rect) {
    let seconds = |time: protocol::SimTime| format!("{} s", text::decimal(time.seconds(), 3));
    let (start, end) = (seconds(position.start), seconds(position.end));
    let speed = format!("{}x", text::decimal(position.speed, 2));
    let taken = start.len() + end.len() + speed.len() + 6;
    let room = usize::from(area.width).saturating_sub(taken);
    let mut spans = vec![
        Span::raw(" "),
        Span::styled(start, theme.label()),
        Span::raw(" "),
    ];
    if room >= WIDTH_MIN {
        let done = (position.share.clamp(0.0, 1.0) * room as f64).round() as usize;
        let glyphs = theme.glyphs();
        spans.push(Span::styled(glyphs.bar.repeat(done), theme.value()));
        spans.push(Span::styled(
            glyphs.bar_rest.repeat(room - done),
            theme.muted(),
        ));
        spans.push(Span::raw(" "));
    }
    spans.push(Span::styled(end, theme.label()));
    spans.push(Span::raw("  "));
    spans.push(Span::styled(speed, theme.value()));
    Line::from(spans).render(area, frame.buffer_mut());
}
