//! What is shown on a terminal that is too small for the view.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Text};
use ratatui::widgets::Widget;

use super::frame as panel_frame;
use super::layout::SIZE_MIN;
use super::theme::Theme;
use crate::app::model::Model;

/// Says how large the terminal is and must be.
pub fn draw(model: &Model, frame: &mut Frame, area: Rect) {
    let theme = Theme::of(model);
    let (width, height) = SIZE_MIN;
    let lines = vec![
        Line::styled("terminal too small", theme.warning()).centered(),
        Line::from(format!("{}x{}", area.width, area.height)).centered(),
        Line::from(format!("needs {width}x{height}")).centered(),
    ];
    let place = panel_frame::middle(area, area.width, lines.len() as u16);
    Text::from(lines).render(place, frame.buffer_mut());
}
