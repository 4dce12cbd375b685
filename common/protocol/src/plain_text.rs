//! Characters that act on a terminal instead of being shown, in names and words from outside.

use std::borrow::Cow;
use std::fmt::Write;

use serde::de::Error;
use serde::{Deserialize, Deserializer};

/// The most bytes of what a process says of itself, such as the name of its machine.
pub const OWN_WORD_BYTES_MAX: usize = 255;

/// Tells whether a character acts on a terminal, or reorders, joins or hides the text around it:
/// control characters (C0, DEL, C1), marks of direction, and those of no width.
pub fn is_harmful(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}')
}

/// Returns lines of text with every harmful character as `\uXXXX`; tabs and ends of lines stay.
///
/// Within JSON such characters stand in strings alone, where they mean the same so.
pub fn escaped(text: &str) -> Cow<'_, str> {
    escaped_but(text, |c, next| {
        matches!(c, '\n' | '\t') || (c == '\r' && next == Some('\n'))
    })
}

/// Returns a word or one line of text with every harmful character as `\uXXXX`, ends of lines too.
pub fn escaped_line(text: &str) -> Cow<'_, str> {
    escaped_but(text, |_, _| false)
}

fn escaped_but(text: &str, stays: impl Fn(char, Option<char>) -> bool) -> Cow<'_, str> {
    if !text.chars().any(is_harmful) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        if !is_harmful(c) || stays(c, rest.peek().copied()) {
            escaped.push(c);
            continue;
        }
        for unit in c.encode_utf16(&mut [0; 2]) {
            let _ = write!(escaped, "\\u{unit:04x}");
        }
    }
    Cow::Owned(escaped)
}

/// Tells whether a process may say a word of itself.
pub fn is_own_word(word: &str) -> bool {
    word.len() <= OWN_WORD_BYTES_MAX && !word.chars().any(is_harmful)
}

/// Reads a word that a process says of itself, for `#[serde(deserialize_with)]`.
pub(crate) fn own_word<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let word = String::deserialize(deserializer)?;
    if !is_own_word(&word) {
        let message = format!(
            "a word that a process says of itself is longer than {OWN_WORD_BYTES_MAX} bytes or \
             holds control characters"
        );
        return Err(D::Error::custom(message));
    }
    Ok(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, lines: &str, line: &str) {
        assert_eq!(escaped(text), lines, "{text:?}");
        assert_eq!(escaped_line(text), line, "{text:?}");
        assert_eq!(escaped(&escaped(text)), lines, "twice is as once");
    }

    #[test]
    fn nothing_that_acts_on_a_terminal_is_left() {
        check("robot 1", "robot 1", "robot 1");
        check("größe 箱", "größe 箱", "größe 箱");
        check("a\tb\n", "a\tb\n", "a\\u0009b\\u000a");
        check(
            "a,b\r\nc\rd",
            "a,b\r\nc\\u000dd",
            "a,b\\u000d\\u000ac\\u000dd",
        );
        let title = "\u{1b}]0;x\u{7}";
        check(title, "\\u001b]0;x\\u0007", "\\u001b]0;x\\u0007");
        check("\u{9b}31m\u{7f}", "\\u009b31m\\u007f", "\\u009b31m\\u007f");
        for c in ('\u{202a}'..='\u{202e}').chain('\u{2066}'..='\u{2069}') {
            let shown = format!("\\u{:04x}", c as u32);
            check(&c.to_string(), &shown, &shown);
        }
        check("\u{e0041}", "\\udb40\\udc41", "\\udb40\\udc41");
    }
}
