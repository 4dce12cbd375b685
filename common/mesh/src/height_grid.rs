//! [`HeightGrid`]: heights over a rectangle.

use serde::{Deserialize, Serialize};

use crate::packed;

/// Heights over a rectangle, 0 (black) to 1 (the brightest sample of the image).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
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

/// A grid as it comes from the wire.
#[derive(Deserialize)]
struct Unchecked {
    columns: usize,
    rows: usize,
    #[serde(with = "packed::singles")]
    heights: Vec<f32>,
}

impl TryFrom<Unchecked> for HeightGrid {
    type Error = &'static str;

    fn try_from(grid: Unchecked) -> Result<Self, Self::Error> {
        let Unchecked {
            columns,
            rows,
            heights,
        } = grid;
        if columns.checked_mul(rows) != Some(heights.len()) {
            return Err("a height grid has another number of heights than rows times columns");
        }
        if !heights.iter().all(|height| height.is_finite()) {
            return Err("a height of a height grid is not finite");
        }
        Ok(Self {
            columns,
            rows,
            heights,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(grid: &HeightGrid, reason: Option<&str>) {
        let bytes = serde_json::to_vec(grid).unwrap();
        match (serde_json::from_slice::<HeightGrid>(&bytes), reason) {
            (Ok(back), None) => assert_eq!(back, *grid),
            (Err(error), Some(reason)) => assert!(error.to_string().contains(reason), "{error}"),
            (found, _) => panic!("{grid:?} came back as {found:?}"),
        }
    }

    #[test]
    fn a_grid_comes_from_the_wire_only_when_it_is_whole() {
        let grid = |columns: usize, rows: usize, heights: &[f32]| HeightGrid {
            columns,
            rows,
            heights: heights.to_vec(),
        };
        check(&grid(2, 1, &[0.0, 0.5]), None);
        check(&grid(2, 2, &[0.0, 0.5]), Some("rows times columns"));
        check(&grid(usize::MAX, 2, &[]), Some("rows times columns"));
        check(&grid(1, 1, &[f32::NAN]), Some("finite"));
    }
}
