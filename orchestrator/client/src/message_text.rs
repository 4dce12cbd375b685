//! Messages as text: written in protobuf's text format, without fields that have the value zero, as
//! `gz topic` prints them, and read as users type them.

use std::fmt::Write as _;

use messages::{Kind, MessageError, TextFormatError};
use serde_json::{Map, Value};

/// A text that is no message.
#[derive(Debug, thiserror::Error)]
pub enum ReadMessageError {
    /// It begins as JSON and is none.
    #[error("the message is no JSON")]
    Json(#[from] serde_json::Error),
    /// It has fields that the message has not.
    #[error(transparent)]
    Message(#[from] MessageError),
    /// It is no text format of protobuf.
    #[error(transparent)]
    Text(#[from] TextFormatError),
}

/// Reads a message that a user typed: JSON, or protobuf's text format.
///
/// # Errors
/// Fails if the text is none of that kind.
pub fn read(kind: &Kind, text: &str) -> Result<Value, ReadMessageError> {
    let text = text.trim();
    if !text.starts_with('{') {
        return Ok(messages::text_format::parse(kind, text)?);
    }
    let json: Value = serde_json::from_str(text)?;
    Ok(kind.to_json(&kind.from_json(json)?)?)
}

/// Returns a message as text, every line with its end.
pub fn render(message: &Value) -> String {
    let mut text = String::new();
    if let Value::Object(fields) = message {
        add_fields(fields, 0, &mut text);
    }
    text
}

fn add_fields(fields: &Map<String, Value>, depth: usize, text: &mut String) {
    for (name, value) in fields {
        match value {
            Value::Array(items) => {
                for item in items {
                    add(name, item, depth, text);
                }
            }
            _ if is_zero(value) => {}
            _ => add(name, value, depth, text),
        }
    }
}

fn add(name: &str, value: &Value, depth: usize, text: &mut String) {
    let indent = "  ".repeat(depth);
    match value {
        Value::Object(fields) => {
            let _ = writeln!(text, "{indent}{name} {{");
            add_fields(fields, depth + 1, text);
            let _ = writeln!(text, "{indent}}}");
        }
        // Numbers that are not finite are words of the format.
        Value::String(word) if matches!(word.as_str(), "inf" | "-inf" | "nan") => {
            let _ = writeln!(text, "{indent}{name}: {word}");
        }
        other => {
            let _ = writeln!(text, "{indent}{name}: {other}");
        }
    }
}

/// Tells whether a field has the value that one left out has.
fn is_zero(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(value) => !value,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.values().all(is_zero),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn lists_are_repeated_and_zeros_left_out() {
        let message = json!({
            "header": {"stamp": {"sec": 0}, "data": []},
            "ranges": [1.5, "inf", 0.0],
            "name": "a \"b\"",
            "pose": [{"x": 1}, {}],
        });
        let expected = "name: \"a \\\"b\\\"\"\npose {\n  x: 1\n}\npose {\n}\n\
                        ranges: 1.5\nranges: inf\nranges: 0.0\n";
        assert_eq!(render(&message), expected);
    }
}
