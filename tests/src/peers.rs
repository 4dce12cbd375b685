//! Parts of the bench `peers` that give one scene to several engines, without running any: the
//! scenes as SDF, the motors of their wheels, the same as MJCF, and how alike bodies ended.
//!
//! Features that MJCF is not written for are errors that name them, so that no engine gets an
//! easier scene.

pub mod drive;
pub mod heights;
pub mod inertia;
pub mod mjcf;
pub mod scene;

use std::fmt;

/// Something in a scene that not every engine is given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsupported {
    /// The model, with the link or joint in it.
    pub place: String,
    /// Feature that it has.
    pub what: String,
}

impl Unsupported {
    /// Makes one.
    pub fn new(place: impl Into<String>, what: impl Into<String>) -> Self {
        Self {
            place: place.into(),
            what: what.into(),
        }
    }
}

impl fmt::Display for Unsupported {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{} has {}, which not every engine is given",
            self.place, self.what
        )
    }
}

impl std::error::Error for Unsupported {}
