//! JSON schemas, put together from parts.

use serde_json::{Value, json};

/// Returns the schema of an object with these properties among others.
pub fn object(properties: &Value) -> Value {
    json!({ "type": "object", "properties": properties })
}

/// Returns the schema of a list of such items.
pub fn list(items: &Value) -> Value {
    json!({ "type": "array", "items": items })
}

/// Returns the schema of bytes in base64.
pub fn bytes() -> Value {
    json!({ "type": "string", "contentEncoding": "base64" })
}

/// Returns the schema of whole numbers.
pub fn integer() -> Value {
    json!({ "type": "integer" })
}

/// Returns the schema of numbers.
pub fn number() -> Value {
    json!({ "type": "number" })
}

/// Returns the schema of texts.
pub fn string() -> Value {
    json!({ "type": "string" })
}

/// Returns the schema of `true` and `false`.
pub fn boolean() -> Value {
    json!({ "type": "boolean" })
}
