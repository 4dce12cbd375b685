//! Names of topics, and [`TopicNamespace`]: the namespace of ROS that those of a model are in.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::world::Model;

/// Length of the longest namespace \[bytes\], which leaves room for names in it.
const BYTES_MAX: usize = 160;

/// Namespace of a model's topics, such as `/fleet/robot_7`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TopicNamespace(String);

/// Text that is no namespace.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{text:?} is no namespace: it is parts of letters, digits and `_` that begin with no digit, \
     with `/` between them, and has at most {BYTES_MAX} bytes"
)]
pub struct TopicNamespaceError {
    text: String,
}

impl TopicNamespace {
    /// Reads a namespace; the `/` at its start may be missing.
    ///
    /// # Errors
    /// Fails if a part of it is none of ROS, or it is too long.
    pub fn new(text: &str) -> Result<Self, TopicNamespaceError> {
        let parts = text.strip_prefix('/').unwrap_or(text);
        if text.len() > BYTES_MAX || !parts.split('/').all(is_part) {
            let shown = text.chars().take(BYTES_MAX).collect();
            return Err(TopicNamespaceError { text: shown });
        }
        Ok(Self(format!("/{parts}")))
    }

    /// Returns it with the `/` at its start.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for TopicNamespace {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl TryFrom<String> for TopicNamespace {
    type Error = TopicNamespaceError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::new(&text)
    }
}

impl From<TopicNamespace> for String {
    fn from(namespace: TopicNamespace) -> Self {
        namespace.0
    }
}

/// Returns the name of a topic as Gazebo makes it valid: blanks become `_`, `@`, `~`, `:=` and `//`
/// are left out, and it begins with `/`.
pub fn valid_topic(name: &str) -> String {
    let name: String = name
        .trim()
        .trim_matches('/')
        .replace(":=", "")
        .replace("//", "")
        .chars()
        .filter(|c| !matches!(c, '@' | '~'))
        .map(|c| if c.is_whitespace() { '_' } else { c })
        .collect();
    let parts: Vec<&str> = name.split('/').filter(|part| !part.is_empty()).collect();
    format!("/{}", parts.join("/"))
}

impl Model {
    /// Returns the full name of a topic that is in its namespace: one with the name of the model,
    /// and one that is written without a `/` at its start, as in ROS. None for others, and if it
    /// has no namespace.
    ///
    /// In the namespace `/r7`, `scan`, `/model/NAME/scan` and `/world/WORLD/model/NAME/scan` are
    /// `/r7/scan`; `/wind` is not in it.
    pub fn topic_in_namespace(&self, world: &str, name: &str) -> Option<String> {
        let namespace = self.namespace.as_ref()?;
        let full = valid_topic(name);
        let own = |place: &str| format!("{}/", valid_topic(&format!("{place}/{}", self.name)));
        let in_world = own(&format!("world/{world}/model"));
        let of_model = full.strip_prefix(&own("model"));
        let rest = of_model.or_else(|| full.strip_prefix(&in_world));
        let is_relative = !name.trim().starts_with('/');
        let rest = rest.or_else(|| is_relative.then(|| full.trim_start_matches('/')))?;
        Some(format!("{namespace}/{rest}"))
    }
}

fn is_part(part: &str) -> bool {
    let mut bytes = part.bytes();
    let first = bytes.next();
    first.is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
        && bytes.all(|one| one.is_ascii_alphanumeric() || one == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn namespaces_are_those_of_ros() {
        for (text, full) in [
            ("robot_7", "/robot_7"),
            ("/fleet/_a", "/fleet/_a"),
            ("a/b/c1", "/a/b/c1"),
        ] {
            assert_eq!(TopicNamespace::new(text).unwrap().as_str(), full);
        }
        let long = format!("/{}", "a".repeat(BYTES_MAX));
        for text in ["", "/", "//a", "/a/", "1a", "a b", "/a-b", "~a", &long] {
            TopicNamespace::new(text).unwrap_err();
        }
    }

    #[test]
    fn topics_of_a_model_in_a_namespace_are_there_unless_written_with_a_slash() {
        let mut model = Model::new("my r", Vec::new(), Vec::new());
        assert_eq!(model.topic_in_namespace("w", "scan"), None);
        model.namespace = Some(TopicNamespace::new("fleet/r7").unwrap());
        for (written, full) in [
            ("scan", Some("/fleet/r7/scan")),
            ("~/scan", Some("/fleet/r7/scan")),
            ("/model/my r/cmd_vel", Some("/fleet/r7/cmd_vel")),
            ("/model/my r/model/arm/v", Some("/fleet/r7/model/arm/v")),
            ("/world/w/model/my_r/link/l", Some("/fleet/r7/link/l")),
            ("/model/my r2/cmd_vel", None),
            ("/world/w/wind", None),
            ("/wind", None),
        ] {
            let found = model.topic_in_namespace("w", written);
            assert_eq!(found.as_deref(), full, "{written}");
        }
    }
}
