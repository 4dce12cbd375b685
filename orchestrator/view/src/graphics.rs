//! [`Graphics`]: an image in the text of a terminal, in the best way that it has.
//!
//! [`detect()`] asks the terminal; the rest is text made of pixels, and writes nothing.

mod blocks;
mod detect;
mod kitty;
mod sixel;

use std::fmt::Write;

use client::raster::Raster;

pub use blocks::Colors;
pub(crate) use blocks::{in_table, shade};
pub use detect::{Abilities, detect};

/// Pixels of a cell where the terminal does not say.
const CELL: (usize, usize) = (8, 16);

/// A way of drawing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Graphics {
    /// The protocol of kitty: pixels as they are.
    Kitty,
    /// Sixels: pixels of 216 colours.
    Sixel,
    /// Half a cell for each pixel.
    Blocks(Colors),
}

/// The room for an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// The most columns.
    pub columns: usize,
    /// The most rows.
    pub rows: usize,
    /// Pixels of a cell, across and down.
    pub cell: (usize, usize),
}

/// An image as text that draws it where the cursor is, and the rows that it takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drawn {
    text: String,
    rows: usize,
}

impl Room {
    /// Makes the room of so many cells; one row is left for the prompt.
    pub fn new(columns: usize, rows: usize, cell: Option<(usize, usize)>) -> Self {
        Self {
            columns: columns.max(1),
            rows: rows.saturating_sub(1).max(1),
            cell: cell.unwrap_or(CELL),
        }
    }
}

impl Graphics {
    /// Returns the best way of a terminal with these abilities; `colors` are those of its text.
    pub fn best(abilities: Abilities, colors: Colors) -> Self {
        if abilities.kitty {
            Self::Kitty
        } else if abilities.sixel {
            Self::Sixel
        } else {
            Self::Blocks(colors)
        }
    }

    /// Draws an image as large as the room allows, and no larger than it is.
    pub fn draw(self, image: &Raster, room: Room) -> Drawn {
        let cells = |pixels: usize, cell: usize| pixels.div_ceil(cell).max(1);
        match self {
            Self::Blocks(colors) => {
                let fitted = image.fitted(room.columns, room.rows * 2);
                Drawn {
                    text: blocks::text(&fitted, colors),
                    rows: fitted.height().div_ceil(2),
                }
            }
            Self::Kitty | Self::Sixel => {
                let (across, down) = room.cell;
                let fitted = image.fitted(room.columns * across, room.rows * down);
                let (columns, rows) = (cells(fitted.width(), across), cells(fitted.height(), down));
                let text = match self {
                    Self::Kitty => kitty::text(&fitted, columns, rows),
                    Self::Sixel | Self::Blocks(_) => sixel::text(&fitted),
                };
                Drawn { text, rows }
            }
        }
    }
}

impl Drawn {
    /// Returns the text that draws it: below the cursor if nothing is to be replaced, else in the
    /// place of another one that was drawn last. The cursor is below it afterwards.
    pub fn placed(&self, replaced: Option<&Self>) -> String {
        let mut text = String::new();
        if let Some(other) = replaced {
            let _ = write!(text, "\u{1b}[{}A", other.rows);
            // A lower one leaves nothing of the former.
            if other.rows != self.rows {
                text += "\u{1b}[J";
            }
        }
        // The rows must be there, or the terminal scrolls while it draws.
        text += &"\n".repeat(self.rows);
        let rows = self.rows;
        let _ = write!(
            text,
            "\u{1b}[{rows}A\r\u{1b}7{}\u{1b}8\u{1b}[{rows}B",
            self.text
        );
        text
    }

    /// Returns it as lines, without moving the cursor: for what is no terminal.
    pub fn plain(&self) -> String {
        self.text.replace("\r\n", "\n") + "\n"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, rows: u16, columns: u16) -> vt100::Parser {
        let mut terminal =
            vt100::Parser::new(rows.try_into().unwrap(), columns.try_into().unwrap(), 0);
        terminal.process(text.replace('\n', "\r\n").as_bytes());
        terminal
    }

    #[test]
    fn an_image_replaces_the_one_before_it() {
        let room = Room::new(20, 7, None);
        let draw = |color| {
            let image = Raster::filled(20, 12, color);
            Graphics::Blocks(Colors::Many).draw(&image, room)
        };
        let (first, second) = (draw([255, 0, 0]), draw([0, 0, 255]));
        let text = format!(
            "$ show\n{}{}$ ",
            first.placed(None),
            second.placed(Some(&first))
        );
        let terminal = shown(&text, 9, 24);
        let screen = terminal.screen();
        let lines: Vec<String> = screen.rows(0, 24).collect();
        assert_eq!(lines[0], "$ show");
        assert_eq!(lines[1], "▀".repeat(20));
        assert_eq!(lines[6], "▀".repeat(20));
        assert_eq!(lines[7].trim(), "$");
        let cell = screen.cell(1, 0).unwrap();
        assert_eq!(cell.fgcolor(), vt100::Color::Rgb(0, 0, 255));
        assert_eq!(cell.bgcolor(), vt100::Color::Rgb(0, 0, 255));
    }

    #[test]
    fn the_best_way_is_taken() {
        let best = |kitty, sixel| {
            let abilities = Abilities {
                kitty,
                sixel,
                cell: None,
            };
            Graphics::best(abilities, Colors::Many)
        };
        assert_eq!(best(true, true), Graphics::Kitty);
        assert_eq!(best(false, true), Graphics::Sixel);
        assert_eq!(best(false, false), Graphics::Blocks(Colors::Many));
    }

    #[test]
    fn large_images_are_fitted_and_small_ones_stay() {
        let room = Room::new(80, 25, None);
        let rows = |width, height, way: Graphics| {
            way.draw(&Raster::filled(width, height, [9; 3]), room).rows
        };
        assert_eq!(rows(640, 480, Graphics::Blocks(Colors::Many)), 24);
        assert_eq!(rows(640, 48, Graphics::Blocks(Colors::Many)), 3);
        assert_eq!(rows(32, 32, Graphics::Kitty), 2);
        assert_eq!(rows(6400, 4800, Graphics::Sixel), 24);
    }
}
