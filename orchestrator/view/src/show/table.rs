//! [`Table`]: rows of text, in aligned columns or with commas between them.

use protocol::PeerName;
use protocol::plain_text::escaped_line;
use unicode_width::UnicodeWidthStr;

/// Rows of text under headings; columns are as wide as their widest cell.
#[derive(Debug)]
pub struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    /// Starts a table with its headings.
    pub fn new(headings: &[&str]) -> Self {
        Self {
            rows: vec![headings.iter().map(ToString::to_string).collect()],
        }
    }

    /// Adds a row; cells have one line each, and nothing that acts on a terminal.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        let cells = cells.into_iter();
        let cells = cells.map(|cell| escaped_line(&cell).into_owned());
        self.rows.push(cells.collect());
    }

    /// Returns the lines of the table.
    pub fn render(&self) -> String {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let cell_width = |row: &Vec<String>, at: usize| row.get(at).map_or(0, |cell| cell.width());
        let widths: Vec<usize> = (0..columns)
            .map(|at| {
                self.rows
                    .iter()
                    .map(|row| cell_width(row, at))
                    .max()
                    .unwrap_or(0)
            })
            .collect();
        let mut text = String::new();
        for row in &self.rows {
            let mut line = String::new();
            for (cell, width) in row.iter().zip(&widths) {
                line.push_str(cell);
                line.extend(std::iter::repeat_n(' ', width - cell.width() + 2));
            }
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }
}

impl Table {
    /// Returns the table with commas, by RFC 4180; headings become keys such as `hand_offs`, and
    /// cells that say `-` for nothing are empty.
    pub fn csv(&self) -> String {
        let mut text = String::new();
        for (number, row) in self.rows.iter().enumerate() {
            let cells = row.iter().map(|cell| match (number, cell.as_str()) {
                (0, heading) => quoted(&heading.to_lowercase().replace([' ', '-'], "_")),
                (_, "-") => String::new(),
                (_, cell) => quoted(cell),
            });
            text.push_str(&cells.collect::<Vec<_>>().join(","));
            text.push_str("\r\n");
        }
        text
    }
}

fn quoted(cell: &str) -> String {
    if cell.contains([',', '"', '\r', '\n']) {
        format!("\"{}\"", cell.replace('"', "\"\""))
    } else {
        cell.to_owned()
    }
}

/// Returns names in one cell, `-` for none.
pub fn names<T: ToString>(names: &[T]) -> String {
    if names.is_empty() {
        return "-".to_owned();
    }
    names
        .iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(",")
}

/// Returns the name of a peer in a cell, `-` for none.
pub fn owner(name: Option<&PeerName>) -> String {
    name.map_or_else(|| "-".to_owned(), ToString::to_string)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_and_lines_end_without_blanks() {
        let mut table = Table::new(&["NAME", "X"]);
        table.row(["a-long-name".to_owned(), "1".to_owned()]);
        table.row(["ä".to_owned(), names::<String>(&[])]);
        assert_eq!(
            table.render(),
            "NAME         X\na-long-name  1\nä            -\n"
        );
    }

    #[test]
    fn cells_are_one_line_and_act_on_no_terminal() {
        let mut table = Table::new(&["NAME", "X"]);
        let name = "a\u{1b}]0;x\u{7}\u{9b}\u{202e}\n";
        table.row([name.to_owned(), "1".to_owned()]);
        let shown = "a\\u001b]0;x\\u0007\\u009b\\u202e\\u000a";
        assert_eq!(table.csv(), format!("name,x\r\n{shown},1\r\n"));
        let lines = table.render();
        assert_eq!(lines.lines().last(), Some(format!("{shown}  1").as_str()));
    }

    #[test]
    fn commas_and_quotes_are_quoted() {
        let mut table = Table::new(&["NAME", "HAND-OFFS"]);
        table.row(["a,b".to_owned(), "-".to_owned()]);
        table.row(["say \"x\"".to_owned(), "2".to_owned()]);
        assert_eq!(
            table.csv(),
            "name,hand_offs\r\n\"a,b\",\r\n\"say \"\"x\"\"\",2\r\n"
        );
    }
}
