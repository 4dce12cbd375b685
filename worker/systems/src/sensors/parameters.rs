//! Parameters of sensors: what is in `<sensor>`, by paths such as `lidar/range/min`.

use sdf::Content;

use crate::ConfigureError;
use crate::configuration::text_of;

/// Returns the element at a path, if it is there.
pub(super) fn find<'a>(content: &'a Content, path: &str) -> Option<&'a Content> {
    path.split('/')
        .try_fold(content, |content, name| content.child(name))
}

/// Returns the text at a path unless it is missing or blank.
pub(super) fn text(content: &Content, path: &str) -> Option<String> {
    match path.rsplit_once('/') {
        Some((outer, name)) => text_of(find(content, outer)?, name),
        None => text_of(content, path),
    }
}

/// Returns the number at a path, or the default when it is missing.
pub(super) fn number(content: &Content, path: &str, default: f64) -> Result<f64, ConfigureError> {
    let Some(text) = text(content, path) else {
        return Ok(default);
    };
    match text.parse::<f64>() {
        Ok(number) if !number.is_nan() => Ok(number),
        _ => Err(ConfigureError(format!("<{path}> is no number: {text:?}"))),
    }
}

/// The same for a number that is not negative.
pub(super) fn positive(content: &Content, path: &str, default: f64) -> Result<f64, ConfigureError> {
    let number = number(content, path, default)?;
    if number >= 0.0 {
        return Ok(number);
    }
    Err(ConfigureError(format!("<{path}> is negative: {number}")))
}

/// The same for a finite number.
pub(super) fn finite(content: &Content, path: &str, default: f64) -> Result<f64, ConfigureError> {
    let number = number(content, path, default)?;
    if number.is_finite() {
        return Ok(number);
    }
    Err(ConfigureError(format!("<{path}> is not finite")))
}

/// Returns the two finite numbers at a path, if it is there.
pub(super) fn pair(content: &Content, path: &str) -> Result<Option<[f64; 2]>, ConfigureError> {
    let Some(text) = text(content, path) else {
        return Ok(None);
    };
    let numbers: Result<Vec<f64>, _> = text.split_whitespace().map(str::parse).collect();
    match numbers.as_deref() {
        Ok([first, second]) if first.is_finite() && second.is_finite() => {
            Ok(Some([*first, *second]))
        }
        _ => Err(ConfigureError(format!(
            "<{path}> is no pair of numbers: {text:?}"
        ))),
    }
}

/// Returns the count at a path, or the default when it is missing.
pub(super) fn count(content: &Content, path: &str, default: u32) -> Result<u32, ConfigureError> {
    let number = number(content, path, f64::from(default))?;
    if number >= 0.0 && number <= f64::from(u32::MAX) && number.fract() == 0.0 {
        return Ok(number as u32);
    }
    Err(ConfigureError(format!("<{path}> is no count: {number}")))
}

/// Returns the truth value at a path, or the default when it is missing or none.
pub(super) fn flag(content: &Content, path: &str, default: bool) -> bool {
    match text(content, path).as_deref() {
        Some("true" | "True" | "TRUE" | "1") => true,
        Some("false" | "False" | "FALSE" | "0") => false,
        _ => default,
    }
}
