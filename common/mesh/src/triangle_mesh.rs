//! [`TriangleMesh`]: vertices and the triangles between them.

use serde::{Deserialize, Serialize};

use crate::packed;

/// Vertices and the triangles between them; z is up, as in SDF.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TriangleMesh {
    /// Positions x, y, z \[m\].
    #[serde(with = "packed::triples")]
    pub vertices: Vec<[f64; 3]>,
    /// Indices into `vertices`, counter-clockwise seen from outside.
    #[serde(with = "packed::triples")]
    pub triangles: Vec<[u32; 3]>,
}
