//! [`Matcher`]: what a message has to be like.
//!
//! Without a field, the whole message has to be as said; when it was made counts only if that is
//! said too. With one, only that field; where it is repeated, all that is said has to be among its
//! values, and of messages in it only the fields that are said count.

use messages::{Kind, text_format};
use sdf::Content;
use serde_json::Value;

use super::super::ConfigureError;

/// By how much numbers may differ without being told.
const TOLERANCE: f64 = 1e-8;

/// Condition on a message.
pub(super) struct Matcher {
    /// The names that lead to the field that counts; none for the whole message.
    path: Vec<String>,
    /// The value that the field or the message must have.
    wanted: Value,
    tolerance: f64,
    /// True if it must have that value, false if it must not.
    is_positive: bool,
}

impl Matcher {
    /// Reads a `<match>` with content, of messages of a kind.
    pub(super) fn read(element: &Content, kind: &'static Kind) -> Result<Self, ConfigureError> {
        let wrong = |what: String| ConfigureError(format!("<match>: {what}"));
        let is_positive = match element.attribute("logic_type").unwrap_or("positive") {
            "positive" => true,
            "negative" => false,
            other => {
                let what = format!("logic_type is neither positive nor negative: {other:?}");
                return Err(wrong(what));
            }
        };
        let tolerance = match element.attribute("tol").map(str::trim) {
            None | Some("") => TOLERANCE,
            Some(text) => match text.parse::<f64>() {
                Ok(number) if number.is_finite() && number >= 0.0 => number,
                _ => return Err(wrong(format!("tol is no tolerance: {text:?}"))),
            },
        };
        let text = element.text();
        let (path, wanted) = match element.attribute("field") {
            None => {
                let said = text_format::parse(kind, &text);
                let mut said = said.map_err(|error| wrong(error.to_string()))?;
                if said.get("header").is_some_and(is_default)
                    && let Some(fields) = said.as_object_mut()
                {
                    fields.remove("header");
                }
                (Vec::new(), said)
            }
            Some(field) => {
                let whole = text_format::parse_field(kind, field, &text);
                let whole = whole.map_err(|error| wrong(error.to_string()))?;
                let path: Vec<String> = field.split('.').map(str::to_owned).collect();
                let Some(wanted) = at(&whole, &path) else {
                    let what = format!("a part of the repeated field {field:?} cannot be meant");
                    return Err(wrong(what));
                };
                (path, wanted.clone())
            }
        };
        Ok(Self {
            path,
            wanted,
            tolerance,
            is_positive,
        })
    }

    /// Tells whether a message, as JSON with all fields, is as it has to be.
    pub(super) fn accepts(&self, message: &Value) -> bool {
        let found = at(message, &self.path).unwrap_or(&Value::Null);
        let is_repeated = self.wanted.is_array() && !self.path.is_empty();
        let fits = if is_repeated {
            self.is_part(&self.wanted, found)
        } else {
            self.is_equal(&self.wanted, found)
        };
        fits == self.is_positive
    }

    /// Tells whether all is equal.
    fn is_equal(&self, wanted: &Value, found: &Value) -> bool {
        match (wanted, found) {
            (Value::Number(_), Value::Number(_)) => self.is_near(wanted, found),
            (Value::Array(wanted), Value::Array(found)) => {
                let mut pairs = wanted.iter().zip(found);
                wanted.len() == found.len() && pairs.all(|(one, other)| self.is_equal(one, other))
            }
            (Value::Object(wanted), Value::Object(found)) => wanted.iter().all(|(name, value)| {
                let other = found.get(name).unwrap_or(&Value::Null);
                self.is_equal(value, other)
            }),
            // A message that is left out has its defaults.
            (Value::Object(_), Value::Null) => is_default(wanted),
            (Value::Null, Value::Object(_)) => is_default(found),
            _ => wanted == found,
        }
    }

    /// Tells whether what is said is there, whatever else is.
    fn is_part(&self, wanted: &Value, found: &Value) -> bool {
        match (wanted, found) {
            (Value::Array(wanted), Value::Array(found)) => wanted
                .iter()
                .all(|one| found.iter().any(|other| self.is_part(one, other))),
            (Value::Object(wanted), Value::Object(found)) => {
                let mut said = wanted.iter().filter(|(_, value)| !is_default(value));
                said.all(|(name, value)| {
                    let other = found.get(name).unwrap_or(&Value::Null);
                    self.is_part(value, other)
                })
            }
            _ => self.is_equal(wanted, found),
        }
    }

    /// Tells whether numbers are equal; those that are not whole, within the tolerance.
    fn is_near(&self, wanted: &Value, found: &Value) -> bool {
        match (wanted.as_f64(), found.as_f64()) {
            (Some(one), Some(other)) if wanted.is_f64() || found.is_f64() => {
                (one - other).abs() <= self.tolerance
            }
            _ => wanted == found,
        }
    }
}

/// Returns what is at a path; `None` where it leads into something that has no fields.
fn at<'a>(whole: &'a Value, path: &[String]) -> Option<&'a Value> {
    path.iter().try_fold(whole, |value, name| value.get(name))
}

fn is_default(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(flag) => !flag,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Object(fields) => fields.values().all(is_default),
    }
}
