//! Help: all keys, made from the keymap.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span, Text};
use ratatui::widgets::Widget;

use super::frame as panel_frame;
use super::theme::Theme;
use crate::app::keymap::{self, Action, BINDINGS, Context};
use crate::app::model::Model;
use crate::app::panel::Panel;

/// The width of the keys' names.
const KEYS_WIDTH: usize = 10;
/// The least width of two columns of keys.
const TWO_COLUMNS_MIN: u16 = 110;

/// The places of keys that help names, in its order.
const SECTIONS: [(Context, &str); 7] = [
    (Context::Everywhere, "Everywhere"),
    (Context::Table, "In tables"),
    (Context::Performers, "In Performers"),
    (Context::Map, "In Map"),
    (Context::Cursor, "In Map with a cursor"),
    (Context::Text, "In Logs and Events"),
    (Context::Palette, "In the command line"),
];

/// Draws the keys over the whole area, scrolled by so many lines.
pub fn draw(model: &Model, frame: &mut Frame, area: Rect, scroll: usize) {
    let bottom = scroll_max(model, area) > 0;
    let title = if bottom {
        "Keys (Down scrolls, Esc closes)"
    } else {
        "Keys (Esc closes)"
    };
    let inside = panel_frame::dialog(model, frame, area, title);
    let lines = lines(model);
    if inside.width < TWO_COLUMNS_MIN {
        let shown = lines
            .into_iter()
            .skip(scroll)
            .take(usize::from(inside.height));
        shown.collect::<Text>().render(inside, frame.buffer_mut());
        return;
    }
    let half = column_height(model);
    let [left, right] =
        Layout::horizontal([Constraint::Fill(1), Constraint::Fill(1)]).areas(inside);
    let (first, second) = lines.split_at(half.min(lines.len()));
    for (lines, area) in [(first, left), (second, right)] {
        let shown = lines
            .iter()
            .skip(scroll)
            .take(usize::from(inside.height))
            .cloned();
        shown.collect::<Text>().render(area, frame.buffer_mut());
    }
}

/// Returns how many lines can be scrolled out when help has this area.
pub fn scroll_max(model: &Model, area: Rect) -> usize {
    let height = usize::from(area.height.saturating_sub(2));
    let is_wide = area.width.saturating_sub(2) >= TWO_COLUMNS_MIN;
    let lines = if is_wide {
        column_height(model)
    } else {
        lines(model).len()
    };
    lines.saturating_sub(height)
}

/// The first column holds the keys that work everywhere and in tables.
fn column_height(model: &Model) -> usize {
    let sections = SECTIONS.iter().take(3);
    sections
        .map(|(context, title)| section(model, *context, title).len())
        .sum()
}

fn lines(model: &Model) -> Vec<Line<'static>> {
    SECTIONS
        .iter()
        .flat_map(|(context, title)| section(model, *context, title))
        .collect()
}

fn section(model: &Model, context: Context, title: &'static str) -> Vec<Line<'static>> {
    let theme = Theme::of(model);
    let mut lines = vec![Line::styled(format!(" {title}"), theme.value())];
    for binding in BINDINGS.iter().filter(|binding| binding.context == context) {
        match binding.action {
            Action::Focus(Panel::Overview) => {
                lines.push(line(theme, "1 to 9", "the panel with that number"));
            }
            Action::Focus(_) => {}
            _ => lines.push(line(theme, &keymap::key_names(binding), binding.text)),
        }
    }
    lines.push(Line::default());
    lines
}

fn line(theme: Theme, keys: &str, text: &str) -> Line<'static> {
    Line::from(vec![
        Span::styled(format!("   {keys:<KEYS_WIDTH$} "), theme.key()),
        Span::raw(text.to_owned()),
    ])
}
