//! [`HeightGrid`]: heights over a rectangle.

use serde::{Deserialize, Serialize};

use crate::packed;

/// Heights over a rectangle, 0 (black) to 1 (white).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HeightGrid {
    /// Number of samples along x.
    pub columns: usize,
    /// Number of samples along y.
    pub rows: usize,
    /// Heights row by row; the first row is at the greatest y, its first sample at the least x, as
    /// the image shows the ground from above.
    #[serde(with = "packed::singles")]
    pub heights: Vec<f32>,
}
