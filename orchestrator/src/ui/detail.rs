//! A detail: all that is known of what is selected.

use ratatui::Frame;
use ratatui::layout::Rect;

use super::frame as panel_frame;
use crate::app::detail::detail;
use crate::app::model::Model;

/// Draws what is known over the whole area, scrolled by so many lines.
pub fn draw(model: &Model, frame: &mut Frame, area: Rect, _: usize) {
    let title = detail(model).map_or_else(String::new, |detail| detail.title);
    panel_frame::dialog(model, frame, area, &title);
}
