//! Messages in protobuf's text format, as Gazebo's users write them: `linear { x: 0.5 }`.
//!
//! [`parse`] gives the JSON of a message, with every field; its kind says which fields there are,
//! and which of them hold lists. Source: "Text Format Language Specification", protobuf.dev.
//! Extensions and `Any` are not known; names of enumerations are texts.

mod tree;
mod values;

use serde_json::Value;

use crate::kind::Kind;
use crate::message::{self, Message, MessageError};

/// Text that is no message.
#[derive(Debug, thiserror::Error)]
pub enum TextFormatError {
    /// The text breaks the rules of the format.
    #[error("line {line}, column {column}: {what}")]
    Syntax {
        /// From 1.
        line: usize,
        /// From 1.
        column: usize,
        /// Description of the error.
        what: String,
    },
    /// The message is not of its kind.
    #[error("not a {kind} in text format: {what}")]
    Message {
        /// Kind that was expected.
        kind: &'static str,
        /// Description of the error.
        what: String,
    },
    /// The message cannot be shown as JSON.
    #[error("it cannot be shown as JSON")]
    Json(#[from] MessageError),
}

/// Returns the message of a kind that a text says, as JSON with every field.
///
/// # Errors
/// Fails if the text breaks the rules, or names fields or values that the kind does not have.
pub fn parse(kind: &Kind, text: &str) -> Result<Value, TextFormatError> {
    Ok(kind.to_json(&encode(kind, text)?)?)
}

/// Returns the message of a kind that a text says, as a `MessagePack` map.
///
/// # Errors
/// Fails if the text breaks the rules, or names fields or values that the kind does not have.
pub fn encode(kind: &Kind, text: &str) -> Result<Vec<u8>, TextFormatError> {
    kind.encode_text(text)
}

/// Returns the message in which one field has the value that a text says, as JSON with every
/// field. The field is a path: `pose.position.x`.
///
/// # Errors
/// Fails if the text is no value, or the kind has no such field for it.
pub fn parse_field(kind: &Kind, path: &str, text: &str) -> Result<Value, TextFormatError> {
    let mut values = tree::read_values(text)?;
    let mut names: Vec<&str> = path.split('.').collect();
    let first = names.remove(0);
    for name in names.into_iter().rev() {
        let field = tree::Field {
            name: name.to_owned(),
            values,
        };
        values = vec![tree::Value::Fields(vec![field])];
    }
    let field = tree::Field {
        name: first.to_owned(),
        values,
    };
    let bytes = kind.encode_tree(Tree(vec![field]))?;
    Ok(kind.to_json(&bytes)?)
}

/// The fields of a message that is not yet of any kind.
pub(crate) struct Tree(Vec<tree::Field>);

impl Tree {
    /// Reads a text.
    pub(crate) fn read(text: &str) -> Result<Self, TextFormatError> {
        tree::read(text).map(Self)
    }

    /// Returns the message with these fields, as a `MessagePack` map.
    pub(crate) fn encode<M: Message>(self) -> Result<Vec<u8>, TextFormatError> {
        let message = M::deserialize(values::Values::of_message(self.0));
        let message = message.map_err(|error| TextFormatError::Message {
            kind: M::KIND,
            what: error.to_string(),
        })?;
        Ok(message::encode(&message))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(kind: &str, text: &str, path: &str, expected: &Value) {
        let json = parse(crate::find(kind).unwrap(), text).unwrap();
        assert_eq!(json.pointer(path), Some(expected), "{text}: {json}");
    }

    fn refuses(kind: &str, text: &str, part: &str) {
        let error = parse(crate::find(kind).unwrap(), text).unwrap_err();
        assert!(error.to_string().contains(part), "{text}: {error}");
    }

    #[test]
    fn fields_have_their_values_and_all_others_their_defaults() {
        let twist = "linear: {x: 0.5, z: -1e-2f} # forward\nangular { z: 2; }";
        check("gz.msgs.Twist", twist, "/linear/x", &json!(0.5));
        check("gz.msgs.Twist", twist, "/linear/z", &json!(-0.01));
        check("gz.msgs.Twist", twist, "/angular/z", &json!(2.0));
        check("gz.msgs.Twist", twist, "/angular/x", &json!(0.0));
        check("gz.msgs.Pose", "", "/orientation/w", &json!(1.0));
        check("ignition.msgs.Boolean", "data: true", "/data", &json!(true));
        check("gz.msgs.Int32", "data: -0x10", "/data", &json!(-16));
    }

    #[test]
    fn repeated_fields_are_lists_however_they_are_written() {
        let expected = json!([1.0, 2.0, 3.0]);
        for text in [
            "data: 1 data: 2 data: 3",
            "data: [1, 2, 3]",
            "data: 1 data: [2, 3]",
        ] {
            check("gz.msgs.Double_V", text, "/data", &expected);
        }
        check("gz.msgs.Double_V", "data: 7", "/data", &json!([7.0]));
        check("gz.msgs.Double_V", "data: []", "/data", &json!([]));
        let header = "data { key: 'a' value: 'b' value: 'c' } data < key: 'd' >";
        check("gz.msgs.Header", header, "/data/0/value/1", &json!("c"));
        check("gz.msgs.Header", header, "/data/1/key", &json!("d"));
    }

    #[test]
    fn a_field_given_twice_is_merged_or_the_last() {
        let twice = "linear { x: 1 } linear { y: 2 } linear { x: 3 }";
        check("gz.msgs.Twist", twice, "/linear/x", &json!(3.0));
        check("gz.msgs.Twist", twice, "/linear/y", &json!(2.0));
    }

    #[test]
    fn texts_are_unescaped_and_joined_and_names_of_enumerations_are_texts() {
        let text = r#"data: "a\n\"\x41\101" ' caf\u00e9'"#;
        check("gz.msgs.StringMsg", text, "/data", &json!("a\n\"AA café"));
        check(
            "gz.msgs.Entity",
            "type: MODEL id: 4",
            "/type",
            &json!("MODEL"),
        );
    }

    #[test]
    fn optional_messages_are_there_when_they_are_named() {
        let text = "pause: true reset { all: true }";
        check("gz.msgs.WorldControl", text, "/reset/all", &json!(true));
        check(
            "gz.msgs.WorldControl",
            "pause: true",
            "/reset",
            &json!(null),
        );
    }

    #[test]
    fn an_error_is_named_with_its_line() {
        refuses("gz.msgs.Twist", "linear {\n x 1 }", "line 2, column 4");
        refuses("gz.msgs.Twist", "linear { x: 1", "'}' is expected");
        refuses("gz.msgs.Twist", "speed: 1", "unknown field `speed`");
        refuses(
            "gz.msgs.Twist",
            "linear { x: fast }",
            "linear: x: \"fast\" is no number",
        );
        refuses("gz.msgs.Twist", "linear: 1", "a message in braces");
        refuses("gz.msgs.Int32", "data: 3000000000", "outside");
        refuses("gz.msgs.StringMsg", "data: \"open", "closing quote");
        refuses("gz.msgs.Empty", "}", "field's name");
    }

    #[test]
    fn depth_is_bounded() {
        let deep = format!("header {}", "{ stamp ".repeat(100_000));
        refuses("gz.msgs.Empty", &deep, "too deeply");
    }

    #[test]
    fn one_field_may_be_given_by_its_path() {
        let pose = crate::find("gz.msgs.Pose").unwrap();
        let json = parse_field(pose, "position.x", "1.5").unwrap();
        assert_eq!(json["position"]["x"], json!(1.5));
        let json = parse_field(pose, "position", "{ y: 2 }").unwrap();
        assert_eq!(json["position"]["y"], json!(2.0));
        assert!(parse_field(pose, "position.speed", "1").is_err());
    }
}
