//! The footer: the keys that work in this place.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use super::theme::Theme;
use crate::app::keymap::{self, Action, Binding};
use crate::app::model::Model;

/// Draws as many keys as fit, those of the place first; how to get help and how to leave always.
pub fn draw(model: &Model, frame: &mut Frame, area: Rect) {
    let theme = Theme::of(model);
    let (always, others): (Vec<Binding<'_>>, Vec<Binding<'_>>) = keymap::active(model)
        .filter(|binding| !binding.short.is_empty() && !binding.keys.is_empty())
        .partition(|binding| matches!(binding.action, Action::Help | Action::Quit));
    let reserved: usize = always.iter().map(width).sum();
    let room = usize::from(area.width).saturating_sub(reserved + 1);
    let mut used = 0;
    let fits = |binding: &&Binding<'_>| {
        used += width(binding);
        used <= room
    };
    let shown: Vec<&Binding<'_>> = others.iter().take_while(fits).collect();
    let mut spans = vec![Span::raw(" ")];
    for binding in shown.into_iter().chain(&always) {
        spans.push(Span::styled(keymap::key_name(binding.keys[0]), theme.key()));
        spans.push(Span::raw(format!(" {}  ", binding.short)));
    }
    Line::from(spans).render(area, frame.buffer_mut());
}

fn width(binding: &Binding<'_>) -> usize {
    keymap::key_name(binding.keys[0]).len() + binding.short.len() + 3
}
