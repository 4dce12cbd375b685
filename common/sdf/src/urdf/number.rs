//! Numbers and vectors in attributes of URDF, by urdfdom's rules, and numbers as text.

use crate::problem::Problem;
use crate::tree::Element;

/// The code of whatever makes libsdformat say that it is unable to read a file.
pub(super) const UNREADABLE: &str = "FILE_READ";

/// Reads text that must be one finite number.
pub(super) fn parse(text: &str) -> Option<f64> {
    let value: f64 = text.trim_start().parse().ok()?;
    value.is_finite().then_some(value)
}

/// Reads text that must be `N` finite numbers with spaces between them.
pub(super) fn parse_vector<const N: usize>(text: &str) -> Option<[f64; N]> {
    let mut values = [0.0; N];
    let mut pieces = text.split(' ').filter(|piece| !piece.is_empty());
    for value in &mut values {
        *value = parse(pieces.next()?)?;
    }
    pieces.next().is_none().then_some(values)
}

/// Returns an attribute that must be a number where it is there.
pub(super) fn optional(element: &Element, name: &str) -> Result<Option<f64>, Problem> {
    let Some(text) = element.attribute(name) else {
        return Ok(None);
    };
    let wrong = || wrong(element, name, "a number");
    parse(text).map(Some).ok_or_else(wrong)
}

/// Returns an attribute that must be there and be a number.
pub(super) fn required(element: &Element, name: &str) -> Result<f64, Problem> {
    optional(element, name)?.ok_or_else(|| missing(element, name))
}

/// Returns an attribute that must be a vector where it is there.
pub(super) fn optional_vector<const N: usize>(
    element: &Element,
    name: &str,
) -> Result<Option<[f64; N]>, Problem> {
    let Some(text) = element.attribute(name) else {
        return Ok(None);
    };
    let wrong = || {
        wrong(
            element,
            name,
            &format!("{N} numbers with spaces between them"),
        )
    };
    parse_vector(text).map(Some).ok_or_else(wrong)
}

/// Says that an attribute is missing.
pub(super) fn missing(element: &Element, name: &str) -> Problem {
    let message = format!("<{}> needs the attribute {name:?}", element.name);
    element.problem(UNREADABLE, message)
}

fn wrong(element: &Element, name: &str, what: &str) -> Problem {
    let text: String = element
        .attribute(name)
        .unwrap_or_default()
        .chars()
        .take(60)
        .collect();
    let message = format!(
        "{name:?} of <{}> must be {what}, and {text:?} is not",
        element.name
    );
    element.problem(UNREADABLE, message)
}

/// Returns a number as text that reads back as the same number.
pub(super) fn show(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_owned(),
        1e-5..1e15 => value.to_string(),
        _ => format!("{value:e}"),
    }
}

/// Returns numbers as text with spaces between them.
pub(super) fn show_all(values: &[f64]) -> String {
    let texts: Vec<String> = values.iter().map(|value| show(*value)).collect();
    texts.join(" ")
}

/// Rounds to six digits, as libsdformat does where it prints with the default precision.
pub(super) fn six_digits(value: f64) -> f64 {
    format!("{value:.5e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_are_numbers_with_spaces_between_them() {
        for (text, expect) in [
            (" 1  -2.5 3e1 ", Some([1.0, -2.5, 30.0])),
            ("1 2", None),
            ("1 2 3 4", None),
            ("1\t2 3", None),
            ("1 2 inf", None),
            ("1 2 x", None),
        ] {
            assert_eq!(parse_vector(text), expect, "{text:?}");
        }
    }

    #[test]
    fn numbers_come_back_from_their_text() {
        for value in [0.1, -3.0, 1e-300, 1e300, 0.0] {
            assert_eq!(parse(&show(value)), Some(value));
        }
        assert_eq!(show(-0.0), "0");
        assert_eq!(six_digits(0.123_456_789), 0.123_457);
    }
}
