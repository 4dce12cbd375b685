//! Help: the keys of each place, the words, and how to do the usual.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span, Text};
use ratatui::widgets::Widget;

use super::theme::Theme;
use super::{frame as panel_frame, text};
use crate::app::help;
use crate::app::model::Model;

/// The width of keys and words.
const NAME_WIDTH: usize = 14;
/// The least width of two columns.
const TWO_COLUMNS_MIN: u16 = 110;

/// Draws help over the whole area, scrolled by so many lines.
pub fn draw(model: &Model, frame: &mut Frame, area: Rect, scroll: usize) {
    let theme = Theme::of(model);
    let inside = panel_frame::dialog(model, frame, area, &title(model, theme));
    let columns = columns(model, inside.width);
    let longest = columns.iter().map(Vec::len).max().unwrap_or(0);
    if longest == 0 {
        let none = " nothing has these words; Esc shows all";
        Line::styled(none, theme.warning()).render(inside, frame.buffer_mut());
    }
    let height = usize::from(inside.height);
    let places = Layout::horizontal(vec![Constraint::Fill(1); columns.len()]).split(inside);
    for (lines, place) in columns.into_iter().zip(places.iter()) {
        let shown = lines.into_iter().skip(scroll).take(height);
        shown.collect::<Text>().render(*place, frame.buffer_mut());
    }
    panel_frame::draw_scroll(model, frame, area, (scroll, longest));
}

/// Returns how many lines can be scrolled out when help has this area.
pub fn scroll_max(model: &Model, area: Rect) -> usize {
    let columns = columns(model, area.width.saturating_sub(2));
    let longest = columns.iter().map(Vec::len).max().unwrap_or(0);
    longest.saturating_sub(panel_frame::rows(area))
}

fn title(model: &Model, theme: Theme) -> String {
    let search = &model.prompt.help.line;
    if model.prompt.help.is_typed {
        let (before, after) = search.parts();
        let cursor = theme.glyphs().cursor;
        let (before, after) = (
            text::fit_end(theme, before, 30),
            text::fit(theme, after, 20),
        );
        return format!("Help /{before}{cursor}{after}");
    }
    match search.text() {
        "" => "Help (Down scrolls, / searches, Esc closes)".to_owned(),
        words => format!("Help /{} (Esc shows all)", text::fit(theme, words, 40)),
    }
}

/// Returns the lines, in two columns of sections where there is room.
fn columns(model: &Model, width: u16) -> Vec<Vec<Line<'static>>> {
    let theme = Theme::of(model);
    let is_wide = width >= TWO_COLUMNS_MIN;
    let room = if is_wide { width / 2 } else { width };
    let sections = help::sections(model, model.prompt.help.line.text());
    let drawn: Vec<Vec<Line>> = sections
        .iter()
        .map(|section| lines(theme, section, room))
        .collect();
    let all: usize = drawn.iter().map(Vec::len).sum();
    if !is_wide {
        return vec![drawn.concat()];
    }
    let (mut left, mut right) = (Vec::new(), Vec::new());
    for lines in drawn {
        let is_left = right.is_empty() && left.len() + lines.len() / 2 <= all / 2;
        let column = if is_left { &mut left } else { &mut right };
        column.extend(lines);
    }
    vec![left, right]
}

fn lines(theme: Theme, section: &help::Section, room: u16) -> Vec<Line<'static>> {
    let mut lines = vec![Line::styled(format!(" {}", section.title), theme.value())];
    let width = usize::from(room).saturating_sub(NAME_WIDTH + 5).max(16);
    for (name, said) in &section.lines {
        let wide = text::columns(name) > NAME_WIDTH;
        if wide {
            lines.push(Line::styled(format!("   {name}"), theme.key()));
        }
        let said = text::fit(theme, said, u16::MAX);
        for (index, row) in text::wrap(&said, width).into_iter().enumerate() {
            let name = if index == 0 && !wide {
                name.as_str()
            } else {
                ""
            };
            lines.push(Line::from(vec![
                Span::styled(format!("   {name:<NAME_WIDTH$} "), theme.key()),
                Span::raw(said[row].to_owned()),
            ]));
        }
    }
    lines.push(Line::default());
    lines
}
