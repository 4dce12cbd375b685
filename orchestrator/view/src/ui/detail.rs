//! A detail: all that is known of what is selected.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span, Text};
use ratatui::widgets::Widget;

use super::theme::Theme;
use super::{frame as panel_frame, text};
use crate::app::model::Model;

/// The width of the names.
const NAME_WIDTH: usize = 16;

/// Draws what is known over the whole area, scrolled by so many lines.
pub fn draw(model: &Model, frame: &mut Frame, area: Rect, scroll: usize) {
    let theme = Theme::of(model);
    let title = model
        .detail
        .as_ref()
        .map_or("", |detail| detail.title.as_str());
    let room = area.width.saturating_sub(30);
    let title = format!("{} (Esc goes back)", text::fit(theme, title, room));
    let inside = panel_frame::dialog(model, frame, area, &title);
    let lines = lines(model, inside.width);
    let all = lines.len();
    let height = usize::from(inside.height);
    let shown = lines.into_iter().skip(scroll).take(height);
    shown.collect::<Text>().render(inside, frame.buffer_mut());
    panel_frame::draw_scroll(model, frame, area, (scroll, all));
}

/// Returns how many lines can be scrolled out when the detail has this area.
pub fn scroll_max(model: &Model, area: Rect) -> usize {
    let width = area.width.saturating_sub(2);
    lines(model, width)
        .len()
        .saturating_sub(panel_frame::rows(area))
}

fn lines(model: &Model, width: u16) -> Vec<Line<'static>> {
    let theme = Theme::of(model);
    let Some(detail) = &model.detail else {
        return Vec::new();
    };
    let room = usize::from(width).saturating_sub(NAME_WIDTH + 3).max(8);
    let mut lines = Vec::new();
    for (name, value) in &detail.lines {
        let value = text::fit(theme, value, u16::MAX);
        for (index, range) in text::wrap(&value, room).into_iter().enumerate() {
            let name = if index == 0 { name.as_str() } else { "" };
            lines.push(Line::from(vec![
                Span::styled(format!(" {name:<NAME_WIDTH$} "), theme.label()),
                Span::styled(value[range].to_owned(), theme.text()),
            ]));
        }
    }
    lines
}
