//! The question before something that cannot be undone.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span, Text};
use ratatui::widgets::Widget;

use super::theme::Theme;
use super::{frame as panel_frame, text};
use crate::app::keymap;
use crate::app::model::{Model, Question};

/// Draws a question in the middle of an area; the answers are those of the keymap.
pub fn draw(model: &Model, frame: &mut Frame, area: Rect, question: &Question) {
    let theme = Theme::of(model);
    let (title, text, remark) = match question {
        Question::Command { title, text, .. } => (title.as_str(), text.as_str(), ""),
        Question::Quit => (
            "Leave",
            "This view started the run. What becomes of it?",
            "it goes on without any view, and `phalanx attach` opens another",
        ),
    };
    let text = text::fit(theme, text, area.width.saturating_sub(4));
    let mut lines = vec![
        Line::default(),
        Line::styled(text, theme.value()).centered(),
        Line::default(),
    ];
    lines.push(answers(model).centered());
    if !remark.is_empty() {
        lines.push(Line::default());
        lines.push(Line::styled(remark, theme.label()).centered());
    }
    let place = panel_frame::middle(area, 68, lines.len() as u16 + 3);
    let inside = panel_frame::dialog(model, frame, place, title);
    Text::from(lines).render(inside, frame.buffer_mut());
}

/// Returns the keys that answer the question that is asked.
pub fn answers(model: &Model) -> Line<'static> {
    let theme = Theme::of(model);
    let answers = keymap::active(model).filter_map(|binding| {
        let key = keymap::key_name(*binding.keys.first()?);
        Some([
            Span::styled(key, theme.key()),
            Span::raw(format!(" {}    ", binding.short)),
        ])
    });
    Line::from(answers.flatten().collect::<Vec<_>>())
}
