//! Screen for a terminal that is too small for the view.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Text};
use ratatui::widgets::Widget;

use super::layout::SIZE_MIN;
use super::theme::Theme;
use super::{confirm, frame as panel_frame};
use crate::app::model::{Mode, Model, Question};

/// Says how large the terminal is and must be.
pub fn draw(model: &Model, frame: &mut Frame, area: Rect) {
    let theme = Theme::of(model);
    let (width, height) = SIZE_MIN;
    let mut lines = vec![
        Line::styled("terminal too small", theme.warning()).centered(),
        Line::from(format!("{}x{}", area.width, area.height)).centered(),
        Line::from(format!("needs {width}x{height}")).centered(),
    ];
    if let Mode::Confirm(question) = &model.mode {
        // A question that was asked is answered by the next key, seen or not.
        let text = match question {
            Question::Quit => "Leave: what becomes of the run?",
            Question::Command { text, .. } => text,
        };
        lines.push(Line::styled(text.to_owned(), theme.value()).centered());
        lines.push(confirm::answers(model).centered());
    }
    let place = panel_frame::middle(area, area.width, lines.len() as u16);
    Text::from(lines).render(place, frame.buffer_mut());
}
