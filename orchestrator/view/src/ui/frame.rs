//! The frame of a panel: its number and title, and what of it is shown.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Clear, Widget};

use super::text;
use super::theme::Theme;
use crate::app::model::{Mode, Model};
use crate::panels::Panel;

/// Draws a panel's frame with a remark beside the title and one at the bottom; returns the
/// inside.
pub fn draw(
    model: &Model,
    frame: &mut Frame,
    area: Rect,
    panel: Panel,
    (remark, bottom): (&str, &str),
) -> Rect {
    let theme = Theme::of(model);
    let is_focused = model.screen.focus == panel;
    let mut title = vec![
        Span::styled(format!(" {} ", panel.key_name()), theme.key()),
        Span::styled(panel.title(), theme.title(is_focused)),
    ];
    if !remark.is_empty() {
        title.push(Span::styled(format!(": {remark}"), theme.label()));
    }
    title.push(Span::raw(" "));
    if model.is_stale() {
        title.push(Span::styled("(stale) ", theme.warning()));
    }
    let mut block = block(theme, is_focused).title_top(Line::from(title));
    if let Some(filter) = filter(model, theme, panel) {
        block = block.title_top(Line::styled(filter, theme.warning()).right_aligned());
    }
    if !bottom.is_empty() {
        let bottom = Line::styled(format!(" {bottom} "), theme.label());
        block = block.title_bottom(bottom.right_aligned());
    }
    let inside = block.inner(area);
    block.render(area, frame.buffer_mut());
    inside
}

/// Draws a box over what is there, in the middle of an area; returns its inside.
pub fn dialog(model: &Model, frame: &mut Frame, area: Rect, title: &str) -> Rect {
    let theme = Theme::of(model);
    let title = Line::styled(format!(" {title} "), theme.title(true));
    let block = block(theme, true).title_top(title);
    let inside = block.inner(area);
    Clear.render(area, frame.buffer_mut());
    block.render(area, frame.buffer_mut());
    inside
}

/// Returns how many lines are seen in a box of this area.
pub fn rows(area: Rect) -> usize {
    usize::from(area.height.saturating_sub(2))
}

/// Says at the bottom of a box which of its lines are seen, unless all are.
pub fn draw_scroll(model: &Model, frame: &mut Frame, area: Rect, (scrolled, all): (usize, usize)) {
    let rows = rows(area);
    if all <= rows {
        return;
    }
    let last = (scrolled + rows).min(all);
    let remark = format!(" lines {} to {last} of {all} ", scrolled + 1);
    let place = Rect {
        y: area.bottom().saturating_sub(1),
        height: 1.min(area.height),
        width: area.width.saturating_sub(2),
        ..area
    };
    Line::styled(remark, Theme::of(model).label())
        .right_aligned()
        .render(place, frame.buffer_mut());
}

/// Returns a rectangle of at most this size in the middle of an area.
pub fn middle(area: Rect, width: u16, height: u16) -> Rect {
    let (width, height) = (width.min(area.width), height.min(area.height));
    Rect {
        x: area.x + (area.width - width) / 2,
        y: area.y + (area.height - height) / 2,
        width,
        height,
    }
}

/// Returns what to say of a window of rows, when not all of them fit.
pub fn row_remark(cursor: usize, shown: usize, all: usize, height: usize) -> String {
    let filtered = if shown == all {
        String::new()
    } else {
        format!(" of {}", text::count_of(all))
    };
    if shown > height.saturating_sub(1) {
        format!(
            "row {} of {}{filtered}",
            text::count_of(cursor + 1),
            text::count_of(shown)
        )
    } else if shown == all {
        String::new()
    } else {
        format!("{}{filtered} shown", text::count_of(shown))
    }
}

fn filter(model: &Model, theme: Theme, panel: Panel) -> Option<String> {
    let text = panel.filter(model)?.text();
    let is_typed = model.mode == Mode::Filter && model.screen.focus == panel;
    if text.is_empty() && !is_typed {
        return None;
    }
    if !is_typed {
        return Some(format!(" /{} ", text::fit(theme, text, 24)));
    }
    let (before, after) = model.prompt.filter_line.parts();
    let cursor = theme.glyphs().cursor;
    let (before, after) = (
        text::fit_end(theme, before, 24),
        text::fit(theme, after, 12),
    );
    let error = panel.filter(model).and_then(|filter| filter.error());
    let error = error.map_or(String::new(), |error| {
        format!("(as it stands: {}) ", text::fit(theme, error, 28))
    });
    Some(format!(" /{before}{cursor}{after} {error}"))
}

fn block(theme: Theme, is_focused: bool) -> Block<'static> {
    Block::bordered()
        .border_set(theme.border_set(is_focused))
        .border_style(theme.border(is_focused))
}
