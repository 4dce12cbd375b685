//! The question before something that cannot be undone.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span, Text};
use ratatui::widgets::Widget;

use super::theme::Theme;
use super::{frame as panel_frame, text};
use crate::app::model::{Model, Question};

/// Draws a question in the middle of an area.
pub fn draw(model: &Model, frame: &mut Frame, area: Rect, question: &Question) {
    let theme = Theme::of(model);
    let (title, text) = match question {
        Question::Command { title, text, .. } => (title.as_str(), text.as_str()),
        Question::Quit => ("Quit", "Stop the run and leave the view?"),
    };
    let text = text::fit(theme, text, area.width.saturating_sub(4));
    let place = panel_frame::middle(area, (text::columns(&text) as u16 + 8).max(44), 7);
    let inside = panel_frame::dialog(model, frame, place, title);
    let lines = vec![
        Line::default(),
        Line::styled(text, theme.value()).centered(),
        Line::default(),
        Line::from(vec![
            Span::styled("y", theme.key()),
            Span::raw(" yes      "),
            Span::styled("n", theme.key()),
            Span::raw(" no"),
        ])
        .centered(),
    ];
    Text::from(lines).render(inside, frame.buffer_mut());
}
