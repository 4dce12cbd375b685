//! Polylines to solids: outlines in the plane z = 0, drawn up to a height.

use thiserror::Error;

use crate::triangle_mesh::TriangleMesh;

/// The most points in all outlines of one solid.
pub const OUTLINE_POINTS_MAX: usize = 10_000;

/// Why outlines cannot be extruded.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum ExtrudeError {
    /// The height is not a positive number.
    #[error("the height of a polyline must be a positive number, not {height}")]
    Height {
        /// The height \[m\].
        height: f64,
    },
}

impl TriangleMesh {
    /// Extrudes outlines \[m\] from z = 0 to `height` \[m\].
    ///
    /// # Errors
    /// When there is nothing to extrude.
    pub fn extrude(_outlines: &[Vec<[f64; 2]>], height: f64) -> Result<Self, ExtrudeError> {
        Err(ExtrudeError::Height { height })
    }
}
