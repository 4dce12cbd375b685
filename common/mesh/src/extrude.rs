//! Polylines to solids: outlines in the plane z = 0, drawn up to a height.
//!
//! Areas that an odd number of outlines surrounds are solid, so outlines within others are holes
//! and outlines within holes are islands, whichever way round their points run.

mod cap;
mod outline;

use std::collections::BTreeSet;

use thiserror::Error;

use crate::triangle_mesh::{TriangleMesh, first_of_each_position};
use cap::Cap;

/// The most points in all outlines of one solid.
pub const OUTLINE_POINTS_MAX: usize = 5_000;

/// The most outlines of one solid.
pub const OUTLINES_MAX: usize = 1000;

/// Reason why outlines cannot be extruded.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum ExtrudeError {
    /// The height is not a positive number.
    #[error("the height of a polyline must be a positive number, not {height}")]
    Height {
        /// The height \[m\].
        height: f64,
    },
    /// A point is not at a finite position.
    #[error("point {point} of polyline {outline} is not at a finite position")]
    NotFinite {
        /// The number of the outline, from 0.
        outline: usize,
        /// The number of the point, from 0.
        point: usize,
    },
    /// An outline is a line.
    #[error("polyline {outline} surrounds no area; it needs three points that are not in a line")]
    NoArea {
        /// The number of the outline, from 0.
        outline: usize,
    },
    /// There is no outline.
    #[error("a polyline without points cannot be extruded")]
    Empty,
    /// Outlines cross themselves or one another.
    #[error("the polylines cross themselves or one another, so that no solid is between them")]
    Crossing,
    /// A bound is exceeded.
    #[error("more than {maximum} {what} of polylines; simplify them")]
    TooMany {
        /// Name of the part that there is too much of.
        what: &'static str,
        /// Number of these that is read, at most.
        maximum: usize,
    },
}

impl TriangleMesh {
    /// Extrudes outlines, given by points x, y \[m\], from z = 0 to `height` \[m\], to a closed
    /// mesh. The last point of an outline may repeat the first.
    ///
    /// # Errors
    /// Fails if the height is not positive, an outline surrounds no area, outlines cross, or there
    /// are too many points.
    pub fn extrude(outlines: &[Vec<[f64; 2]>], height: f64) -> Result<Self, ExtrudeError> {
        if !(height > 0.0 && height.is_finite()) {
            return Err(ExtrudeError::Height { height });
        }
        let outlines = outline::read(outlines)?;
        let cap = Cap::new(&outlines)?;
        let count = cap.points.len() as u32;
        let mut mesh = Self::default();
        for z in [0.0, height] {
            let level = cap.points.iter().map(|[x, y]| [*x, *y, z]);
            mesh.vertices.extend(level);
        }
        for [a, b, c] in &cap.triangles {
            mesh.triangles.push([*a, *c, *b]);
            mesh.triangles.push([a + count, b + count, c + count]);
        }
        let same = first_of_each_position(&mesh.vertices);
        let place = |(a, b): (u32, u32)| (same[a as usize], same[b as usize]);
        let places: BTreeSet<(u32, u32)> = cap.edges.iter().map(|edge| place(*edge)).collect();
        // Where outlines touch, the same ground is on both sides, and no wall.
        let is_wall = |(a, b): (u32, u32)| !places.contains(&place((b, a)));
        for (a, b) in cap.edges.into_iter().filter(|edge| is_wall(*edge)) {
            mesh.triangles.push([a, b, b + count]);
            mesh.triangles.push([a, b + count, a + count]);
        }
        if mesh.mass_properties(1.0).is_none() {
            return Err(ExtrudeError::Crossing);
        }
        Ok(mesh)
    }
}

#[cfg(test)]
mod tests;
