//! Numbers and colours of what is only looked at: whatever cannot be read is as if it were not
//! there, since the schema has told of it and no verdict depends on it.

use super::part;
use crate::tree::Element;
use crate::value;
use crate::world::Color;

/// Returns the finite number in a child.
pub(super) fn number(parent: &Element, name: &str) -> Option<f64> {
    let text = part::text(parent, name)?;
    let (value, _) = value::number::leading_double(&text)?;
    value.is_finite().then_some(value)
}

/// Returns the number in a child that is not negative, or a default.
pub(super) fn size(parent: &Element, name: &str, default: f64) -> f64 {
    number(parent, name)
        .filter(|value| *value >= 0.0)
        .unwrap_or(default)
}

/// Returns the part from 0 to 1 in a child, or a default.
pub(super) fn share(parent: &Element, name: &str, default: f64) -> f64 {
    number(parent, name).unwrap_or(default).clamp(0.0, 1.0)
}

/// Returns the truth value in a child, or a default.
pub(super) fn truth(parent: &Element, name: &str, default: bool) -> bool {
    let text = part::text(parent, name);
    text.and_then(|text| value::parse_truth(&text))
        .unwrap_or(default)
}

/// Returns the three finite numbers in a child.
pub(super) fn vector(parent: &Element, name: &str) -> Option<[f64; 3]> {
    let text = part::text(parent, name)?;
    let vector = value::number::row::<3>(&text)?;
    vector
        .iter()
        .all(|value| value.is_finite())
        .then_some(vector)
}

/// Returns the colour in a child: three or four numbers, each brought between 0 and 1.
pub(super) fn color(parent: &Element, name: &str) -> Option<Color> {
    let text = part::text(parent, name)?;
    let mut color = [0.0, 0.0, 0.0, 1.0];
    for (value, word) in color.iter_mut().zip(text.split_whitespace()) {
        let number: f64 = word.parse().ok()?;
        *value = if number.is_nan() {
            return None;
        } else {
            number.clamp(0.0, 1.0)
        };
    }
    Some(color)
}

/// Returns the URI in a child; empty where there is none.
pub(super) fn uri(parent: &Element, name: &str) -> String {
    let uri = part::text(parent, name).unwrap_or_default();
    if uri == "__default__" {
        String::new()
    } else {
        uri
    }
}
