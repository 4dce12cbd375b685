//! [`LineEdit`]: one line that is typed, with a cursor.

use super::event::Key;

/// The longest line that can be typed or pasted, in characters.
pub const TYPED_MAX: usize = 2_000;

/// One line that is typed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LineEdit {
    text: String,
    /// Bytes before the cursor.
    cursor: usize,
}

impl LineEdit {
    /// Makes a line with the cursor at its end.
    pub fn new(text: impl Into<String>) -> Self {
        let text = text.into();
        let cursor = text.len();
        Self { text, cursor }
    }

    /// Returns the line.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns what stands before the cursor and what behind it.
    pub fn parts(&self) -> (&str, &str) {
        self.text.split_at(self.cursor)
    }

    /// Acts on a key as shells do; tells whether the text has changed.
    pub fn edit(&mut self, key: Key) -> bool {
        let before = self.text.len();
        match key {
            Key::Char(c) => self.insert(c.encode_utf8(&mut [0; 4])),
            Key::Backspace => self.remove_before(self.previous()),
            Key::Ctrl('d') => {
                let next = self.next();
                self.text.replace_range(self.cursor..next, "");
            }
            Key::Ctrl('u') => self.remove_before(0),
            Key::Ctrl('k') => self.text.truncate(self.cursor),
            Key::Ctrl('w') => self.remove_before(self.word_start()),
            Key::Left | Key::Ctrl('b') => self.cursor = self.previous(),
            Key::Right | Key::Ctrl('f') => self.cursor = self.next(),
            Key::Home | Key::Ctrl('a') => self.cursor = 0,
            Key::End | Key::Ctrl('e') => self.cursor = self.text.len(),
            _ => {}
        }
        self.text.len() != before
    }

    /// Puts a text at the cursor: what is no text is left out, lines are joined.
    pub fn insert(&mut self, text: &str) {
        let room = TYPED_MAX.saturating_sub(self.text.chars().count());
        let joined = text.trim_end_matches(['\n', '\r']).chars().map(|c| {
            if matches!(c, '\n' | '\r' | '\t') {
                ' '
            } else {
                c
            }
        });
        let typed: String = joined.filter(|c| !c.is_control()).take(room).collect();
        self.text.insert_str(self.cursor, &typed);
        self.cursor += typed.len();
    }

    /// Puts a text behind the line and leaves the cursor where it is.
    pub fn append(&mut self, text: &str) {
        self.text.push_str(text);
    }

    fn remove_before(&mut self, start: usize) {
        self.text.replace_range(start..self.cursor, "");
        self.cursor = start;
    }

    fn previous(&self) -> usize {
        let before = self.parts().0.chars().next_back();
        self.cursor - before.map_or(0, char::len_utf8)
    }

    fn next(&self) -> usize {
        let after = self.parts().1.chars().next();
        self.cursor + after.map_or(0, char::len_utf8)
    }

    /// Returns the byte offset at which the word before the cursor begins.
    fn word_start(&self) -> usize {
        let word = self.parts().0.trim_end();
        let blank = word.char_indices().rfind(|(_, c)| c.is_whitespace());
        blank.map_or(0, |(at, c)| at + c.len_utf8())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(keys: &[Key], expected: (&str, &str)) {
        let mut line = LineEdit::new("move-cell größe s2");
        for key in keys {
            line.edit(*key);
        }
        assert_eq!(line.parts(), expected, "{keys:?}");
    }

    #[test]
    fn a_line_is_edited_at_its_cursor() {
        check(&[], ("move-cell größe s2", ""));
        check(&[Key::Ctrl('w')], ("move-cell größe ", ""));
        check(&[Key::Ctrl('w'), Key::Ctrl('w')], ("move-cell ", ""));
        check(&[Key::Ctrl('u'), Key::Ctrl('w')], ("", ""));
        check(&[Key::Home, Key::Char('x')], ("x", "move-cell größe s2"));
        check(
            &[Key::Home, Key::Backspace, Key::Left],
            ("", "move-cell größe s2"),
        );
        let back = [Key::Left; 4];
        check(&back, ("move-cell größ", "e s2"));
        check(
            &[&back[..], &[Key::Backspace]].concat(),
            ("move-cell grö", "e s2"),
        );
        check(
            &[&back[..], &[Key::Ctrl('d')]].concat(),
            ("move-cell größ", " s2"),
        );
        check(
            &[&back[..], &[Key::Ctrl('k')]].concat(),
            ("move-cell größ", ""),
        );
        check(&[&back[..], &[Key::Ctrl('u')]].concat(), ("", "e s2"));
        check(&[Key::Ctrl('a'), Key::Right], ("m", "ove-cell größe s2"));
        check(
            &[Key::Ctrl('a'), Key::Ctrl('e'), Key::Right],
            ("move-cell größe s2", ""),
        );
    }

    #[test]
    fn pasted_text_becomes_one_harmless_line_of_bounded_length() {
        let mut line = LineEdit::new("ab");
        line.edit(Key::Left);
        line.insert("1\n2\u{1b}[31m\t3\r\n");
        assert_eq!(line.parts(), ("a1 2[31m 3", "b"));
        line.insert(&"ä".repeat(100_000));
        assert_eq!(line.text().chars().count(), TYPED_MAX);
        assert!(!line.edit(Key::Char('x')));
    }
}
