//! Text from outside, made harmless for a terminal.

use protocol::plain_text::is_harmful;

/// Returns the text without escape sequences and with a middle dot for every other character
/// that would act on a terminal instead of being shown; tabs become spaces.
pub fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        match c {
            '\u{1b}' => skip_escape(&mut rest),
            '\t' => plain.push(' '),
            _ if is_harmful(c) => plain.push('·'),
            _ => plain.push(c),
        }
    }
    plain
}

/// Skips what follows an escape character: a control sequence to its final letter, an operating
/// system command to its end, or one character.
fn skip_escape(rest: &mut std::str::Chars<'_>) {
    match rest.next() {
        Some('[') => {
            rest.find(|c| matches!(c, '@'..='~'));
        }
        Some(']') => {
            while let Some(c) = rest.next() {
                if c == '\u{7}' || (c == '\u{1b}' && rest.next().is_some()) {
                    break;
                }
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::{is_harmful, plain};

    fn check(text: &str, expected: &str) {
        assert_eq!(plain(text), expected, "{text:?}");
    }

    #[test]
    fn nothing_that_acts_on_a_terminal_is_left() {
        check("robot 1", "robot 1");
        check("größe 箱", "größe 箱");
        check("a\tb", "a b");
        check("\u{1b}[31mred\u{1b}[0m", "red");
        check("\u{1b}]0;title\u{7}text", "text");
        check("\u{1b}]0;title\u{1b}\\text", "text");
        check("bell\u{7}", "bell·");
        check("\u{9b}31m", "·31m");
        check("abc\u{202e}def", "abc·def");
        check("cut\u{1b}", "cut");
        check("cut\u{1b}[31", "cut");
    }

    #[test]
    fn json_means_the_same_once_it_is_escaped() {
        let name = "a\u{1b}\u{9b}\u{7f}\u{202e}\u{e0041}\n\"\\";
        let value = serde_json::json!({ "name": name });
        let json = serde_json::to_string_pretty(&value).unwrap();
        let shown = protocol::plain_text::escaped(&json);
        assert!(
            !shown.replace('\n', "").chars().any(is_harmful),
            "{shown:?}"
        );
        assert_eq!(
            serde_json::from_str::<serde_json::Value>(&shown).unwrap(),
            value
        );
    }
}
