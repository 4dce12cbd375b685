//! The palette: the command that is typed, and what it may become.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span, Text};
use ratatui::widgets::Widget;

use super::theme::Theme;
use super::{frame as panel_frame, text};
use crate::app::model::Model;
use crate::app::palette::completion::{self, Candidate};

const WIDTH: u16 = 70;

/// Draws the palette at the bottom of an area.
pub fn draw(model: &Model, frame: &mut Frame, area: Rect, (typed, error): (&str, Option<&str>)) {
    let theme = Theme::of(model);
    let width = WIDTH.min(area.width);
    let mut lines: Vec<Line> = completion::candidates(model, typed)
        .into_iter()
        .map(|candidate| match candidate {
            Candidate::Word(word) => {
                let usage = format!("{} {}", word.name, word.argument);
                Line::from(vec![
                    Span::styled(format!(" {usage:<30} "), theme.key()),
                    Span::raw(word.text),
                ])
            }
            Candidate::Name(name) => {
                let name = text::fit(theme, name, width.saturating_sub(6));
                Line::styled(format!("   {name}"), theme.value())
            }
        })
        .collect();
    // Of many commands, as many as there is room for above the line that is typed.
    lines.truncate(usize::from(area.height.saturating_sub(3)));
    if let Some(error) = error {
        lines = vec![Line::styled(
            format!(
                " {} {}",
                theme.glyphs().bad,
                text::fit(theme, error, width.saturating_sub(6))
            ),
            theme.error(),
        )];
    }
    lines.push(Line::from(vec![
        Span::styled(" :", theme.key()),
        Span::styled(
            text::fit(theme, typed, width.saturating_sub(6)),
            theme.value(),
        ),
        Span::styled(theme.glyphs().cursor, theme.value()),
    ]));
    let height = (lines.len() as u16 + 2).min(area.height);
    let place = Rect {
        y: area.bottom() - height,
        height,
        width,
        ..area
    };
    let inside = panel_frame::dialog(model, frame, place, "Command");
    Text::from(lines).render(inside, frame.buffer_mut());
}
