//! The overview: what holds the simulation back, and the run at a glance.

use ratatui::Frame;
use ratatui::layout::Rect;

use super::frame as panel_frame;
use crate::app::model::Model;
use crate::app::panel::Panel;

/// Draws the overview.
pub fn draw(model: &Model, frame: &mut Frame, area: Rect) {
    panel_frame::draw(model, frame, area, Panel::Overview, ("", ""));
}
