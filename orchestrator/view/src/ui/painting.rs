//! Drawing without a terminal: on any writer, or as text.

use std::io::{self, Write};

use ratatui::backend::{CrosstermBackend, TestBackend};
use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::Rect;
use ratatui::{Terminal, TerminalOptions, Viewport};

use super::{draw, measure, text};
use crate::app::model::Model;
use crate::panels::Panel;

/// A screen of a fixed size, whose bytes go to a writer.
pub struct Painting<W: Write> {
    terminal: Terminal<CrosstermBackend<W>>,
    area: Rect,
}

impl<W: Write> Painting<W> {
    /// Begins with an empty screen.
    ///
    /// # Errors
    /// Fails if the writer fails.
    pub fn new(writer: W, (width, height): (u16, u16)) -> io::Result<Self> {
        let area = Rect::new(0, 0, width, height);
        let options = TerminalOptions {
            viewport: Viewport::Fixed(area),
        };
        Ok(Self {
            terminal: Terminal::with_options(CrosstermBackend::new(writer), options)?,
            area,
        })
    }

    /// Draws the model: writes what has changed since the last time.
    ///
    /// # Errors
    /// Fails if the writer fails.
    pub fn draw(&mut self, model: &mut Model) -> io::Result<()> {
        model.settle();
        measure(model, self.area);
        self.terminal.draw(|frame| draw(model, frame))?;
        Ok(())
    }
}

/// Returns one panel on a screen of this size as text, line by line, without blanks at the ends.
///
/// # Panics
/// Never: a screen in memory does not fail.
pub fn panel_as_text(model: &mut Model, panel: Panel, (width, height): (u16, u16)) -> String {
    let area = Rect::new(0, 0, width, height);
    let backend = TestBackend::new(width, height);
    let mut terminal = Terminal::new(backend).expect("a screen in memory does not fail");
    model.settle();
    terminal
        .draw(|frame| (panel.row().draw)(model, frame, area))
        .expect("a screen in memory does not fail");
    as_text(terminal.backend().buffer())
}

/// Returns a screen as text, line by line, without blanks at the ends.
pub fn as_text(buffer: &Buffer) -> String {
    let rows = buffer.content.chunks(usize::from(buffer.area.width).max(1));
    rows.map(line).collect()
}

fn line(cells: &[Cell]) -> String {
    let mut line = String::new();
    let mut skip = 0;
    for cell in cells {
        if skip == 0 {
            line.push_str(cell.symbol());
            skip = text::columns(cell.symbol()).max(1);
        }
        skip -= 1;
    }
    line.trim_end().to_owned() + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::fixture;
    use std::rc::Rc;

    /// Counts what is written.
    #[derive(Clone, Default)]
    struct Counter(Rc<std::cell::Cell<usize>>);

    impl Write for Counter {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.set(self.0.get() + bytes.len());
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_panel_is_drawn_as_text_of_the_size_asked_for() {
        let text = panel_as_text(&mut fixture::model(), Panel::Overview, (100, 30));
        assert_eq!(text.lines().count(), 30);
        assert!(text.contains("holds the step"), "{text}");
        assert!(!text.contains('\u{1b}'));
    }

    #[test]
    fn unchanged_cells_of_the_screen_are_not_written_again() {
        let count = Counter::default();
        let mut painting = Painting::new(count.clone(), (120, 40)).unwrap();
        let mut model = fixture::model();
        painting.draw(&mut model).unwrap();
        let first = count.0.get();
        painting.draw(&mut model).unwrap();
        let again = count.0.get() - first;
        assert!(first > 2_000 && again < 100, "{first} {again}");
    }
}
