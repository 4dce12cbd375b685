//! The palette: the command that is typed, and what it may become.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span, Text};
use ratatui::widgets::Widget;

use super::theme::Theme;
use super::{frame as panel_frame, text};
use crate::app::line_edit::LineEdit;
use crate::app::model::Model;
use crate::app::palette::completion::{self, Candidate};

const WIDTH: u16 = 78;
/// The width of a command with what it takes.
const USAGE_WIDTH: u16 = 32;

/// Draws the palette at the bottom of an area.
pub fn draw(
    model: &Model,
    frame: &mut Frame,
    area: Rect,
    (typed, error): (&LineEdit, Option<&str>),
) {
    let theme = Theme::of(model);
    let width = WIDTH.min(area.width);
    let candidates = completion::candidates(model, typed.parts().0);
    let mut lines: Vec<Line> = candidates
        .into_iter()
        .map(|candidate| candidate_line(theme, candidate, width))
        .collect();
    // Of many commands, as many as there is room for above the line that is typed.
    lines.truncate(usize::from(area.height.saturating_sub(3)));
    if let Some(error) = error {
        lines = error_lines(theme, error, width);
    }
    let (before, after) = typed.parts();
    let after = text::fit(theme, after, width / 2);
    let room = width.saturating_sub(6 + text::columns(&after) as u16);
    lines.push(Line::from(vec![
        Span::styled(" :", theme.key()),
        Span::styled(text::fit_end(theme, before, room), theme.value()),
        Span::styled(theme.glyphs().cursor, theme.value()),
        Span::styled(after, theme.value()),
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

fn candidate_line(theme: Theme, candidate: Candidate<'_>, width: u16) -> Line<'static> {
    match candidate {
        Candidate::Word(word) => {
            let usage = format!("{} {}", word.name, word.argument);
            let usage = text::fit(theme, &usage, USAGE_WIDTH);
            let pad = usize::from(USAGE_WIDTH);
            Line::from(vec![
                Span::styled(format!(" {usage:<pad$} "), theme.key()),
                Span::raw(word.text),
            ])
        }
        Candidate::Name(name) => {
            let name = text::fit(theme, name, width.saturating_sub(6));
            Line::styled(format!("   {name}"), theme.value())
        }
    }
}

/// Returns what is wrong in as many rows as it takes.
fn error_lines(theme: Theme, error: &str, width: u16) -> Vec<Line<'static>> {
    let error = text::fit(theme, error, u16::MAX);
    let rows = text::wrap(&error, usize::from(width.saturating_sub(6)));
    let line = |(index, row): (usize, std::ops::Range<usize>)| {
        let mark = if index == 0 { theme.glyphs().bad } else { " " };
        Line::styled(format!(" {mark} {}", &error[row]), theme.error())
    };
    rows.into_iter().take(6).enumerate().map(line).collect()
}
