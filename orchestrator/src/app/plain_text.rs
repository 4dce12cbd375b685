//! Text from outside, made harmless for a terminal.

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

/// Control characters, and those that reorder, join or hide the text around them.
fn is_harmful(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}')
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
    use super::plain;

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
}
