//! The footer: the keys that work in this place.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use super::theme::Theme;
use crate::app::keymap;
use crate::app::model::Model;

/// Draws as many keys as fit, those of the place first.
pub fn draw(model: &Model, frame: &mut Frame, area: Rect) {
    let theme = Theme::of(model);
    let mut spans = vec![Span::raw(" ")];
    let mut used = 1;
    for binding in keymap::active(model).filter(|binding| !binding.short.is_empty()) {
        let Some(key) = binding.keys.first() else {
            continue;
        };
        let name = keymap::key_name(*key);
        let width = name.len() + binding.short.len() + 3;
        if used + width > usize::from(area.width) {
            break;
        }
        used += width;
        spans.push(Span::styled(name, theme.key()));
        spans.push(Span::raw(format!(" {}  ", binding.short)));
    }
    Line::from(spans).render(area, frame.buffer_mut());
}
