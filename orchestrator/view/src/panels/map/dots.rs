//! [`Dots`]: the lines of the map, eight dots to a cell, or one character where there is no
//! Braille.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use crate::app::projection::Projection;

/// The first Braille character, without a dot; the bits of its dots are added.
const BRAILLE: u32 = 0x2800;
/// The bits of a Braille cell's dots, row by row.
const BITS: [[u8; 2]; 4] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];

/// A grid of dots over the map.
pub(super) struct Dots {
    columns: usize,
    size: [i64; 2],
    per_cell: [i64; 2],
    cells: Vec<Cell>,
}

#[derive(Clone, Copy, Default)]
struct Cell {
    bits: u8,
    ascii: u8,
    style: Style,
}

impl Dots {
    /// Makes a grid without a dot.
    pub(super) fn new(projection: &Projection) -> Self {
        let area = projection.area();
        let count = usize::from(area.width) * usize::from(area.height);
        Self {
            columns: usize::from(area.width),
            size: projection.dots(),
            per_cell: projection.dots_per_cell().map(i64::from),
            cells: vec![Cell::default(); count],
        }
    }

    /// Returns how many dots there are, across and down.
    pub(super) fn size(&self) -> [i64; 2] {
        self.size
    }

    /// Tells whether cells have several dots.
    pub(super) fn is_braille(&self) -> bool {
        self.per_cell[0] > 1
    }

    /// Sets a dot if it is on the map; its whole cell takes the style. The character stands for it
    /// where there is no Braille.
    pub(super) fn paint(&mut self, [x, y]: [i64; 2], ascii: u8, style: Style) {
        if !(0..self.size[0]).contains(&x) || !(0..self.size[1]).contains(&y) {
            return;
        }
        let [across, down] = self.per_cell;
        let index = (y / down) as usize * self.columns + (x / across) as usize;
        let cell = &mut self.cells[index];
        cell.bits |= BITS[(y % down) as usize][(x % across) as usize];
        cell.ascii = ascii;
        cell.style = style;
    }

    /// Sets the dots between two places, both included; both are on the map or near it.
    pub(super) fn paint_line(&mut self, from: [i64; 2], to: [i64; 2], ascii: u8, style: Style) {
        let difference = [to[0] - from[0], to[1] - from[1]];
        let longest = difference[0].abs().max(difference[1].abs()).max(1);
        if longest > self.size[0] + self.size[1] {
            return;
        }
        for step in 0..=longest {
            let place = [0, 1].map(|axis| from[axis] + difference[axis] * step / longest);
            self.paint(place, ascii, style);
        }
    }

    /// Puts the cells that have dots on the screen.
    pub(super) fn draw(&self, area: Rect, buffer: &mut Buffer) {
        if self.columns == 0 {
            return;
        }
        let is_braille = self.is_braille();
        for (cells, y) in self.cells.chunks(self.columns).zip(area.y..) {
            for (cell, x) in cells.iter().zip(area.x..) {
                if cell.bits == 0 {
                    continue;
                }
                let Some(target) = buffer.cell_mut((x, y)) else {
                    continue;
                };
                let braille = char::from_u32(BRAILLE + u32::from(cell.bits));
                let character = braille.filter(|_| is_braille);
                target
                    .set_char(character.unwrap_or(char::from(cell.ascii)))
                    .set_style(cell.style);
            }
        }
    }
}
