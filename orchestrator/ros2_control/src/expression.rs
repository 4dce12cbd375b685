//! POSIX extended regular expressions, by which names are filtered, for the crate `regex`.
//!
//! Both languages agree but for brackets: there a backslash is itself in POSIX, and `[`, `&` and
//! `~` mean nothing.

use regex::{Regex, RegexBuilder};

/// Largest size of a compiled expression \[bytes\].
const SIZE_MAX: usize = 1 << 20;

/// Compiles an expression, which matches names that have a part like it.
///
/// # Errors
/// Fails if it is none, or too large.
pub(crate) fn compile(expression: &str) -> Result<Regex, regex::Error> {
    let mut builder = RegexBuilder::new(&translated(expression));
    builder.size_limit(SIZE_MAX).build()
}

fn translated(expression: &str) -> String {
    let mut text = String::with_capacity(expression.len());
    let mut rest = expression;
    while let Some(first) = rest.chars().next() {
        let taken = match first {
            '\\' => rest.chars().take(2).map(char::len_utf8).sum(),
            '[' => match bracket_length(rest) {
                Some(length) => {
                    put_bracket(&rest[..length], &mut text);
                    rest = &rest[length..];
                    continue;
                }
                None => rest.len(),
            },
            _ => first.len_utf8(),
        };
        text.push_str(&rest[..taken]);
        rest = &rest[taken..];
    }
    text
}

/// Returns the length of the bracket that a text begins with, if it ends \[bytes\].
fn bracket_length(text: &str) -> Option<usize> {
    let mut at = if text.starts_with("[^") { 2 } else { 1 };
    // A bracket that closes at once is one of the characters.
    if text[at..].starts_with(']') {
        at += 1;
    }
    loop {
        let rest = &text[at..];
        let first = rest.chars().next()?;
        let class = [("[:", ":]"), ("[.", ".]"), ("[=", "=]")]
            .into_iter()
            .find(|(begin, _)| rest.starts_with(begin));
        at += match (first, class) {
            (']', _) => return Some(at + 1),
            (_, Some((begin, end))) => begin.len() + rest[begin.len()..].find(end)? + end.len(),
            _ => first.len_utf8(),
        };
    }
}

fn put_bracket(bracket: &str, text: &mut String) {
    let begin = if bracket.starts_with("[^") { 2 } else { 1 };
    text.push_str(&bracket[..begin]);
    let mut rest = &bracket[begin..bracket.len() - 1];
    while let Some(first) = rest.chars().next() {
        if rest.starts_with("[:")
            && let Some(end) = rest.find(":]")
        {
            text.push_str(&rest[..end + 2]);
            rest = &rest[end + 2..];
            continue;
        }
        if matches!(first, '\\' | '[' | ']' | '&' | '~') {
            text.push('\\');
        }
        text.push(first);
        rest = &rest[first.len_utf8()..];
    }
    text.push(']');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(expression: &str, name: &str, expected: bool) {
        let found = compile(expression).unwrap().is_match(name);
        assert_eq!(found, expected, "{expression} {name}");
    }

    #[test]
    fn names_match_as_posix_has_it() {
        check("rob", "my_robot_1", true);
        check("^rob", "my_robot_1", false);
        check("^(box|ball)[0-9]+$", "ball12", true);
        check("^[[:alpha:]_]+$", "my_robot", true);
        check("^[[:alpha:]_]+$", "robot1", false);
        check("^[]a]+$", "a]", true);
        check(r"^[\d]$", "d", true);
        check(r"^[\d]$", "1", false);
        check("^[a[&&]+$", "[&a", true);
        check("^[^x]$", "x", false);
        check(r"^a\.b$", "a.b", true);
        check(r"^a\.b$", "a+b", false);
        check("^a{2,3}$", "aaa", true);
    }

    #[test]
    fn wrong_expressions_are_refused() {
        for expression in ["(", "[a", "*"] {
            assert!(compile(expression).is_err(), "{expression}");
        }
    }
}
