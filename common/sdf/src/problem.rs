//! Problems of a file, each with its place.

use std::fmt;
use std::sync::Arc;

use serde::Serialize;

/// A place in a file; lines and columns count from 1.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct SourceSpan {
    /// The file as it was named.
    pub file: Arc<str>,
    /// The line.
    pub line: u32,
    /// The column, in characters.
    pub column: u32,
}

impl fmt::Display for SourceSpan {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// Place at which a part of a world was written, for people; none for a part that was made or
/// decoded. It is no part of the world: all places are equal, and none is encoded.
#[derive(Clone, Debug, Default)]
pub struct WrittenAt(Option<Box<SourceSpan>>);

impl WrittenAt {
    /// Returns the place, if it is known.
    pub fn place(&self) -> Option<&SourceSpan> {
        self.0.as_deref()
    }
}

impl From<SourceSpan> for WrittenAt {
    fn from(place: SourceSpan) -> Self {
        Self(Some(Box::new(place)))
    }
}

impl Eq for WrittenAt {}

impl PartialEq for WrittenAt {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// One thing that is wrong, or that is ignored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// A stable name for its kind, libsdformat's where it has one: `ELEMENT_INVALID`.
    pub code: &'static str,
    /// Description of the problem, and its remedy.
    pub message: String,
    /// Its place.
    #[serde(flatten)]
    pub place: SourceSpan,
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{}: {} [{}]",
            self.place, self.message, self.code
        )
    }
}

/// A file that could not be read as worlds; holds every error found.
#[derive(Debug, thiserror::Error)]
#[error("{}", list(.errors))]
pub struct ReadWorldError {
    /// At least one error, in file order.
    pub errors: Vec<Problem>,
    /// Warnings found before and beside them, in file order: often the cause.
    pub warnings: Vec<Problem>,
}

fn list(errors: &[Problem]) -> String {
    errors
        .iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join("\n")
}
