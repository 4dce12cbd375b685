//! Text and numbers as they are shown: harmless, of a known width, with their thousands apart.

use std::ops::Range;
use std::time::Duration;

use client::plain_text::plain;
use client::units;
use unicode_width::UnicodeWidthChar;

use super::theme::Theme;

pub use client::units::percent;

/// The longest name in a list of names, in columns.
const NAME_WIDTH_MAX: u16 = 32;
/// The least room in which names are cut.
const LIST_WIDTH_MIN: u16 = 8;

/// Returns text from outside without anything that acts on a terminal, cut to so many columns.
pub fn fit(theme: Theme, text: &str, width: u16) -> String {
    let width = usize::from(width);
    // Beyond this many bytes no text of that width can begin; what follows is not looked at.
    let bytes_max = text.floor_char_boundary(width.saturating_mul(64).saturating_add(256));
    let text = plain(&text[..bytes_max]);
    let shown = |c: char| {
        if theme.has_unicode() || c.is_ascii() {
            c
        } else {
            '?'
        }
    };
    let text: String = text.chars().map(shown).collect();
    if columns(&text) <= width {
        return text;
    }
    let mut cut = String::new();
    let mut used = 0;
    for c in text.chars() {
        let columns = c.width().unwrap_or(0);
        if used + columns + 1 > width {
            break;
        }
        used += columns;
        cut.push(c);
    }
    if width > 0 {
        cut.push(theme.glyphs().cut);
    }
    cut
}

/// Returns the end of a text in so many columns.
pub fn fit_end(theme: Theme, text: &str, width: u16) -> String {
    let fitted = fit(theme, text, u16::MAX);
    let surplus = columns(&fitted).saturating_sub(usize::from(width));
    if surplus == 0 {
        return fitted;
    }
    format!(
        "{}{}",
        theme.glyphs().cut,
        skip_columns(&fitted, surplus + 1)
    )
}

/// Splits a harmless text into rows of so many columns, at blanks where there are some.
pub fn wrap(text: &str, width: usize) -> Vec<Range<usize>> {
    let width = width.max(1);
    let mut rows = Vec::new();
    let (mut start, mut used, mut blank) = (0, 0, None);
    let mut rest = text.char_indices().peekable();
    while let Some(&(at, c)) = rest.peek() {
        let wide = c.width().unwrap_or(0);
        if used + wide > width && at > start {
            // A blank near the beginning is none to break at: long words would leave gaps.
            let end = blank.filter(|end| end - start > width / 2).unwrap_or(at);
            rows.push(start..end);
            (start, blank) = (end, None);
            used = columns(&text[start..at]);
            continue;
        }
        used += wide;
        rest.next();
        if c == ' ' {
            blank = Some(at + 1);
        }
    }
    rows.push(start..text.len());
    rows
}

/// Returns how many columns harmless text takes.
pub fn columns(text: &str) -> usize {
    text.chars().map(|c| c.width().unwrap_or(0)).sum()
}

/// Returns the text without its first columns.
pub fn skip_columns(text: &str, count: usize) -> &str {
    let mut skipped = 0;
    for (index, c) in text.char_indices() {
        if skipped >= count {
            return &text[index..];
        }
        skipped += c.width().unwrap_or(0);
    }
    if count == 0 { text } else { "" }
}

/// Returns how many there are and as many of their names as fit, such as `2 ball box`.
pub fn count_and_names(theme: Theme, names: &[String], width: u16) -> String {
    let mut text = count(names.len() as u64);
    if width < LIST_WIDTH_MIN {
        let first = names.first().map(|name| fit(theme, name, NAME_WIDTH_MAX));
        let is_whole = |name: &String| columns(&text) + 1 + columns(name) <= usize::from(width);
        let only = first.filter(|name| names.len() == 1 && is_whole(name));
        return only.map_or(text.clone(), |name| format!("{text} {name}"));
    }
    for name in names {
        if columns(&text) > usize::from(width) {
            break;
        }
        text.push(' ');
        text.push_str(&fit(theme, name, NAME_WIDTH_MAX));
    }
    fit(theme, &text, width)
}

/// Returns a whole number with commas between thousands.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Returns how many of something there are, with commas between thousands.
pub fn count_of(number: usize) -> String {
    count(number as u64)
}

/// Returns a time in whole microseconds without its unit.
pub fn micros(time_us: f64) -> String {
    if !time_us.is_finite() || time_us < 0.0 {
        return "-".to_owned();
    }
    count(time_us.round() as u64)
}

/// Returns a number with so many decimals, or a dash when it is none.
pub fn decimal(number: f64, decimals: usize) -> String {
    if !number.is_finite() {
        return "-".to_owned();
    }
    if number.abs() >= 1e7 {
        return format!("{number:.2e}");
    }
    let text = format!("{number:.decimals$}");
    let is_zero = text.bytes().all(|byte| matches!(byte, b'-' | b'0' | b'.'));
    if is_zero {
        text.trim_start_matches('-').to_owned()
    } else {
        text
    }
}

/// Returns an angle \[rad\] in whole degrees from 0 to 359.
pub fn degrees(theme: Theme, angle: f64) -> String {
    let unit = if theme.has_unicode() { "°" } else { "" };
    let degrees = (angle.to_degrees().round() as i64).rem_euclid(360);
    format!("{degrees}{unit}")
}

/// Returns a size in MiB or GiB.
pub fn bytes(count: u64) -> String {
    let mebibytes = count as f64 / f64::from(1 << 20);
    if mebibytes < 1000.0 {
        format!("{mebibytes:.0} MiB")
    } else {
        format!("{:.1} GiB", mebibytes / 1024.0)
    }
}

/// Returns an age, a short one in ms.
pub fn age(age: Duration) -> String {
    match age.as_millis() {
        ms @ 0..10_000 => format!("{ms} ms"),
        _ => units::age(age.as_secs()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::model::Model;

    fn theme() -> Theme {
        Theme::of(&Model::new("run".to_owned(), true))
    }

    #[test]
    fn text_is_cut_to_columns_and_not_to_characters() {
        assert_eq!(fit(theme(), "robot", 5), "robot");
        assert_eq!(fit(theme(), "robots", 5), "robo…");
        assert_eq!(fit(theme(), "箱箱箱", 5), "箱箱…");
        assert_eq!(fit(theme(), "箱箱箱", 4), "箱…");
        assert_eq!(fit(theme(), "robot", 1), "…");
        assert_eq!(fit(theme(), "robot", 0), "");
        assert_eq!(fit(theme(), "a\u{1b}[2Jb\n", 9), "ab·");
    }

    #[test]
    fn a_line_that_is_typed_shows_its_end() {
        assert_eq!(fit_end(theme(), "robot", 5), "robot");
        assert_eq!(fit_end(theme(), "robots", 5), "…bots");
        assert_eq!(fit_end(theme(), "箱箱箱", 5), "…箱箱");
    }

    #[test]
    fn long_lines_are_wrapped_at_blanks_where_there_are_some() {
        let wrapped = |text: &'static str, width| -> Vec<&str> {
            let rows = wrap(text, width).into_iter();
            rows.map(|row| &text[row]).collect()
        };
        assert_eq!(wrapped("", 5), [""]);
        assert_eq!(wrapped("robot", 5), ["robot"]);
        assert_eq!(wrapped("one two three", 8), ["one two ", "three"]);
        assert_eq!(wrapped("a verylongword", 6), ["a very", "longwo", "rd"]);
        assert_eq!(wrapped("箱箱箱", 5), ["箱箱", "箱"]);
        assert_eq!(wrapped("箱箱", 1), ["箱", "箱"]);
    }

    #[test]
    fn a_terminal_without_unicode_gets_ascii() {
        let mut model = Model::new("run".to_owned(), true);
        model.terminal.has_unicode = false;
        assert_eq!(fit(Theme::of(&model), "größe 箱", 6), "gr??e~");
    }

    #[test]
    fn names_are_shown_as_far_as_they_fit() {
        let names = ["ball".to_owned(), "box".to_owned()];
        assert_eq!(count_and_names(theme(), &names, 20), "2 ball box");
        assert_eq!(count_and_names(theme(), &names, 8), "2 ball …");
        assert_eq!(count_and_names(theme(), &names, 7), "2");
        assert_eq!(count_and_names(theme(), &names[..1], 6), "1 ball");
        assert_eq!(count_and_names(theme(), &[], 20), "0");
    }

    #[test]
    fn numbers_are_legible() {
        assert_eq!(count(0), "0");
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(micros(1203.4), "1,203");
        assert_eq!(micros(f64::NAN), "-");
        assert_eq!(decimal(-0.001, 2), "0.00");
        assert_eq!(decimal(f64::INFINITY, 2), "-");
        assert_eq!(degrees(theme(), -0.01), "359°");
        assert_eq!(degrees(theme(), std::f64::consts::TAU), "0°");
        assert_eq!(bytes(1_300 << 20), "1.3 GiB");
        assert_eq!(age(Duration::from_millis(85)), "85 ms");
        assert_eq!(age(Duration::from_hours(2)), "2 h");
        assert_eq!(skip_columns("abc", 2), "c");
        assert_eq!(skip_columns("abc", 9), "");
    }
}
