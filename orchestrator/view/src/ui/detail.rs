//! A detail: all that is known of what is selected.

use client::raster::Raster;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span, Text};
use ratatui::widgets::Widget;

use super::theme::Theme;
use super::{frame as panel_frame, text};
use crate::app::model::Model;

/// The most rows of an image.
const IMAGE_ROWS_MAX: usize = 40;
/// The width of the names.
const NAME_WIDTH: usize = 16;

/// Draws what is known over the whole area, scrolled by so many lines.
pub fn draw(model: &Model, frame: &mut Frame, area: Rect, scroll: usize) {
    let theme = Theme::of(model);
    let title = model
        .details
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

/// Adds an image, two pixels in each cell, as wide as there is room.
fn add_image(lines: &mut Vec<Line<'static>>, theme: Theme, image: &Raster, width: usize) {
    let image = image.fitted(width.saturating_sub(2), IMAGE_ROWS_MAX * 2);
    for row in (0..image.height()).step_by(2) {
        let above = image.row(row);
        let below = image.row((row + 1).min(image.height() - 1));
        let cells = above.iter().zip(below).map(|(upper, lower)| {
            let (character, style) = theme.pixels(*upper, *lower);
            Span::styled(character.to_string(), style)
        });
        lines.push(std::iter::once(Span::raw(" ")).chain(cells).collect());
    }
}

fn lines(model: &Model, width: u16) -> Vec<Line<'static>> {
    let theme = Theme::of(model);
    let Some(detail) = &model.details.detail else {
        return Vec::new();
    };
    let room = usize::from(width).saturating_sub(NAME_WIDTH + 3).max(8);
    let mut lines = Vec::new();
    for (number, (name, value)) in detail.lines.iter().enumerate() {
        if let Some((at, image)) = &detail.image
            && *at == number
        {
            add_image(&mut lines, theme, image, usize::from(width));
        }
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

#[cfg(test)]
mod tests {
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;
    use ratatui::style::Color;

    use super::*;
    use crate::app::detail::Detail;
    use crate::app::fixture;

    #[test]
    fn an_image_is_drawn_in_half_cells_or_in_characters() {
        let mut model = fixture::model();
        let mut detail = Detail::default();
        detail.add("size", "1");
        detail.add_image(Raster::filled(4, 4, [255, 0, 0]));
        detail.add("text", "x");
        model.details.detail = Some(detail);
        (model.terminal.has_color, model.terminal.has_unicode) = (true, true);
        let mut check = |has_many_colors, symbol, background| {
            model.terminal.has_many_colors = has_many_colors;
            let mut terminal = Terminal::new(TestBackend::new(40, 10)).unwrap();
            let drawn = terminal.draw(|frame| draw(&model, frame, frame.area(), 0));
            let buffer = drawn.unwrap().buffer;
            for place in [(2, 2), (5, 3)] {
                assert_eq!(buffer[place].symbol(), symbol, "{buffer:?}");
                assert_eq!(buffer[place].bg, background, "{buffer:?}");
            }
        };
        check(true, "▀", Color::Indexed(196));
        check(false, ":", Color::Reset);
    }
}
