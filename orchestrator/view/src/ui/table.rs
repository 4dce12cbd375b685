//! Tables: which columns fit, and the rows of the visible window alone.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::text;
use super::theme::Theme;
use crate::app::model::Model;
use crate::app::rows::{Row, TableRows};

/// On which side of its column a cell stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Text.
    Left,
    /// Numbers.
    Right,
}

/// Contents of a cell.
pub struct Cell {
    /// Its text.
    pub text: String,
    /// Its look.
    pub style: Style,
}

/// A column of a table with rows of one type.
pub struct Column<R> {
    /// The heading, with the unit; of several with `|` between them, the first that fits.
    pub title: &'static str,
    /// The least width.
    pub width: u16,
    /// The width up to which it grows when there is room.
    pub width_max: u16,
    /// Columns of the highest rank are left out first; rank 0 stays.
    pub rank: u8,
    /// Alignment of its cells.
    pub side: Side,
    /// Makes the cell of a row, for so many columns.
    pub cell: fn(&Model, &R, u16) -> Cell,
}

/// Makes a column of this title, least and greatest width, rank, side and cells.
pub const fn column<R>(
    title: &'static str,
    (width, width_max): (u16, u16),
    rank: u8,
    side: Side,
    cell: fn(&Model, &R, u16) -> Cell,
) -> Column<R> {
    Column {
        title,
        width,
        width_max,
        rank,
        side,
        cell,
    }
}

impl Cell {
    /// Makes a cell.
    pub fn new(text: impl Into<String>, style: Style) -> Self {
        Self {
            text: text.into(),
            style,
        }
    }
}

/// Draws the table with its heading, in which the column that gives the order is marked.
pub fn draw<R: Row>(
    model: &Model,
    frame: &mut Frame,
    area: Rect,
    columns: &[Column<R>],
    (rows, data): (&TableRows, &[R]),
    has_cursor: bool,
) {
    let theme = Theme::of(model);
    let places = places(columns, area.width);
    draw_headings(theme, frame, area, &places, rows.sorted(data));
    if rows.rows().is_empty() && area.height > 1 {
        let reason = if data.is_empty() {
            "none yet"
        } else {
            "none passes the filter"
        };
        let place = Rect {
            y: area.y + 1,
            height: 1,
            ..area
        };
        put(
            frame,
            area,
            place,
            Side::Left,
            &Cell::new(reason, theme.muted()),
        );
    }
    let height = usize::from(area.height.saturating_sub(1));
    let first = rows.first_row(height);
    let shown = rows.rows().iter().enumerate().skip(first).take(height);
    for (line, (place, index)) in shown.enumerate() {
        let Some(row) = data.get(*index) else {
            continue;
        };
        let y = area.y + 1 + line as u16;
        for (column, x, width) in &places {
            let cell = (column.cell)(model, row, *width);
            let place = Rect {
                x: area.x + x,
                y,
                width: *width,
                height: 1,
            };
            put(frame, area, place, column.side, &cell);
        }
        if has_cursor && place == rows.cursor() {
            let line = Rect {
                y,
                height: 1,
                ..area
            }
            .intersection(frame.area());
            frame.buffer_mut().set_style(line, theme.selected());
        }
    }
}

fn draw_headings<R>(
    theme: Theme,
    frame: &mut Frame,
    area: Rect,
    places: &[(&Column<R>, u16, u16)],
    (sorted, is_descending): (&str, bool),
) {
    let glyphs = theme.glyphs();
    for (column, x, width) in places {
        let mark = match (sorted == column.title, is_descending) {
            (true, true) => glyphs.descending,
            (true, false) => glyphs.ascending,
            (false, _) => "",
        };
        let room = width.saturating_sub(text::columns(mark) as u16);
        let title: String = heading(column.title, room)
            .chars()
            .take(usize::from(room))
            .collect();
        let title = format!("{title}{mark}");
        let place = Rect {
            x: area.x + x,
            width: *width,
            height: 1,
            ..area
        };
        put(
            frame,
            area,
            place,
            column.side,
            &Cell::new(title, theme.heading()),
        );
    }
}

/// Returns the first of the headings that fits, or the last.
fn heading(titles: &'static str, width: u16) -> &'static str {
    let mut fitting = titles
        .split('|')
        .filter(|title| title.len() <= usize::from(width));
    fitting
        .next()
        .or_else(|| titles.split('|').next_back())
        .unwrap_or_default()
}

fn put(frame: &mut Frame, area: Rect, place: Rect, side: Side, cell: &Cell) {
    let place = place.intersection(area).intersection(frame.area());
    if place.is_empty() {
        return;
    }
    let free = usize::from(place.width).saturating_sub(text::columns(&cell.text));
    let x = place.x + if side == Side::Right { free as u16 } else { 0 };
    let width = usize::from(place.right() - x);
    frame
        .buffer_mut()
        .set_stringn(x, place.y, &cell.text, width, cell.style);
}

/// Returns the columns that fit, each with its offset and width.
fn places<R>(columns: &[Column<R>], width: u16) -> Vec<(&Column<R>, u16, u16)> {
    let mut shown: Vec<&Column<R>> = columns.iter().collect();
    let needed = |shown: &[&Column<R>], gap: u16| -> u16 {
        let columns: u16 = shown.iter().map(|column| column.width).sum();
        columns + gap * (shown.len() as u16).saturating_sub(1)
    };
    let gap = if needed(&shown, 2) <= width { 2 } else { 1 };
    while needed(&shown, gap) > width {
        let Some(rank) = shown
            .iter()
            .map(|column| column.rank)
            .max()
            .filter(|rank| *rank > 0)
        else {
            break;
        };
        let last = shown.iter().rposition(|column| column.rank == rank);
        shown.remove(last.expect("the greatest rank is that of a column"));
    }
    let mut room = width.saturating_sub(needed(&shown, gap));
    let mut widths: Vec<u16> = shown.iter().map(|column| column.width).collect();
    // What is left out last grows first: names say most.
    for is_first in [true, false] {
        loop {
            let before = room;
            let grown = shown.iter().zip(&mut widths);
            for (column, width) in grown.filter(|(column, _)| (column.rank < 2) == is_first) {
                if room > 0 && *width < column.width_max {
                    *width += 1;
                    room -= 1;
                }
            }
            if room == before {
                break;
            }
        }
    }
    let mut x = 0;
    let mut places = Vec::with_capacity(shown.len());
    for (column, width) in shown.into_iter().zip(widths) {
        places.push((column, x, width));
        x += width + gap;
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(title: &'static str, width: u16, width_max: u16, rank: u8) -> Column<u8> {
        let cell = |_: &Model, _: &u8, _: u16| Cell::new("", Style::new());
        Column {
            title,
            width,
            width_max,
            rank,
            side: Side::Left,
            cell,
        }
    }

    fn check(width: u16, expected: &[(&str, u16, u16)]) {
        let columns = [
            column("a", 4, 4, 0),
            column("b", 5, 9, 1),
            column("c", 3, 3, 2),
        ];
        let places = places(&columns, width);
        let found: Vec<_> = places
            .iter()
            .map(|(column, x, w)| (column.title, *x, *w))
            .collect();
        assert_eq!(found, expected, "{width}");
    }

    #[test]
    fn columns_grow_get_closer_and_are_left_out_by_rank() {
        check(40, &[("a", 0, 4), ("b", 6, 9), ("c", 17, 3)]);
        check(16, &[("a", 0, 4), ("b", 6, 5), ("c", 13, 3)]);
        check(14, &[("a", 0, 4), ("b", 5, 5), ("c", 11, 3)]);
        check(13, &[("a", 0, 4), ("b", 5, 8)]);
        check(9, &[("a", 0, 4)]);
        check(2, &[("a", 0, 4)]);
    }
}
