//! [`Ground`]: layers of heightmaps, which cover each other by their heights.

use mesh::{HeightGrid, Image};
use sdf::{GroundBlend, HeightmapShape};
use serde::{Deserialize, Serialize};

/// The most layers over the texture of a heightmap, as in Gazebo: one for each colour of an image.
pub(crate) const LAYERS_MAX: usize = 3;

/// The most pixels along an edge of the image of shares, and between two samples of heights.
const SHARES_MAX: usize = 512;
const PARTS_MAX: usize = 16;

/// Layers over the texture of a heightmap: each covers what is below it by its share.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ground {
    /// Image of the shares: red of the first layer, green of the second, blue of the third.
    pub shares: String,
    /// Factors by which coordinates of the texture are multiplied, along u and v, and what is added
    /// then, for a place in that image.
    pub shares_at: [f64; 4],
    /// The layers, the lowest first.
    pub layers: Vec<GroundLayer>,
}

impl Ground {
    /// Returns the assets of all its images.
    pub(crate) fn maps(&self) -> impl Iterator<Item = &str> {
        let layers = self.layers.iter().map(|layer| &*layer.texture);
        std::iter::once(&*self.shares).chain(layers)
    }
}

/// A layer of a heightmap.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GroundLayer {
    /// Texture of its colours.
    pub texture: String,
    /// Copies of it along an edge of one copy of the texture below all.
    pub repeat: f64,
}

/// Returns the image of the shares of layers, and where it is on ground whose texture has copies
/// of this edge length \[m\].
pub(crate) fn shares(
    shape: &HeightmapShape,
    grid: &HeightGrid,
    edge: f64,
    blends: &[GroundBlend],
) -> (Image, [f64; 4]) {
    let [columns, rows] = [grid.columns, grid.rows].map(places);
    let sample = |row: usize, column: usize| f64::from(grid.heights[row * grid.columns + column]);
    let mut pixels = Vec::with_capacity(columns.len() * rows.len());
    for (row, next_row, down) in &rows {
        for (column, next_column, along) in &columns {
            let between = |row: usize| {
                let [west, east] = [*column, *next_column].map(|column| sample(row, column));
                west + (east - west) * along
            };
            let (above, below) = (between(*row), between(*next_row));
            let height = (above + (below - above) * down) * shape.size[2];
            let mut pixel = [0, 0, 0, 255];
            for (part, blend) in pixel.iter_mut().zip(blends) {
                *part = (blend.share(height) * 255.0).round() as u8;
            }
            pixels.push(pixel);
        }
    }
    let (width, height) = (columns.len(), rows.len());
    // From the middle of the first pixel to that of the last.
    let along = |count: usize, length: f64| {
        let count = count as f64;
        (edge / length * (count - 1.0) / count, 0.5 / count)
    };
    let (u, first) = along(width, shape.size[0]);
    let (v, top) = along(height, shape.size[1]);
    let image = Image {
        width,
        height,
        pixels,
    };
    (image, [u, v, first, top])
}

/// Returns places along an edge of so many samples from the first to the last: the samples on both
/// sides, and the part of the way to the second. Few samples have places between them, as heights
/// are even there and shares are not. They are a power of two, of which all renderers make the same
/// smaller copies.
fn places(count: usize) -> Vec<(usize, usize, f64)> {
    let spaces = count - 1;
    let wanted = (spaces * PARTS_MAX).next_power_of_two();
    let last = wanted.min(SHARES_MAX) - 1;
    let place = |index: usize| {
        let along = (index * spaces) as f64 / last as f64;
        let sample = (along as usize).min(spaces - 1);
        (sample, sample + 1, along - sample as f64)
    };
    (0..=last).map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_grow_with_the_height_and_lie_where_the_samples_are() {
        let ground = HeightmapShape {
            uri: String::new(),
            size: [8.0, 4.0, 10.0],
            position: [0.0; 3],
            grid: None,
        };
        let grid = HeightGrid {
            columns: 3,
            rows: 2,
            heights: vec![0.0, 0.5, 1.0, 0.2, 0.3, 0.4],
        };
        let blend = |min_height, fade_distance| GroundBlend {
            min_height,
            fade_distance,
        };
        let blends = [blend(2.0, 4.0), blend(4.0, 0.0)];
        let (image, at) = shares(&ground, &grid, 2.0, &blends);
        assert_eq!((image.width, image.height), (32, 16));
        let parts = |x: usize, y: usize| {
            let [first, second, ..] = image.pixels[y * 32 + x];
            [first, second]
        };
        assert_eq!(
            [parts(0, 0), parts(15, 0), parts(31, 0)],
            [[0, 0], [181, 255], [255; 2]]
        );
        assert_eq!(
            [parts(6, 0), parts(7, 0)],
            [[0, 0], [16, 0]],
            "1.9 m and 2.3 m high"
        );
        assert_eq!(
            [parts(0, 15), parts(15, 15), parts(31, 15)],
            [[0, 0], [62, 0], [128, 255]]
        );
        // Four copies of the texture along x: the last sample is in the middle of the last pixel.
        assert!((at[0] * 4.0 + at[2] - 31.5 / 32.0).abs() < 1e-12, "{at:?}");
        assert!((at[1] * 2.0 + at[3] - 15.5 / 16.0).abs() < 1e-12, "{at:?}");
    }
    #[test]
    fn places_go_from_the_first_sample_to_the_last() {
        for count in [2, 3, 33, 129, 500, 514, 5000] {
            let places = places(count);
            assert!((2..=SHARES_MAX).contains(&places.len()), "{count}");
            assert_eq!(places[0], (0, 1, 0.0));
            assert_eq!(places[places.len() - 1], (count - 2, count - 1, 1.0));
        }
    }
}
