//! Triangles on a grid of samples: clipping, coverage, and which triangle is nearest.

use crate::camera::{Camera, NEAR};
use crate::vector::Vector;

/// No triangle.
pub(crate) const NONE: u32 = u32::MAX;

/// A corner of a triangle, in the frame of the camera: right, down, along its view.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Corner {
    pub(crate) at: [f32; 3],
    pub(crate) normal: [f32; 3],
    pub(crate) texcoord: [f32; 2],
}

/// A triangle as it lies on the grid.
#[derive(Clone, Debug)]
pub(crate) struct Triangle {
    pub(crate) corners: [Corner; 3],
    /// Places of the corners on the grid.
    screen: [[f64; 2]; 3],
    /// One over the depths of the corners \[1/m\].
    inverse: [f64; 3],
    /// The thing that it is of.
    pub(crate) item: u32,
}

/// A sample of a triangle.
pub(crate) struct Sample {
    pub(crate) at: [f32; 3],
    pub(crate) normal: [f32; 3],
    pub(crate) texcoord: [f32; 2],
}

/// A grid of samples: for each the nearest triangle and one over its depth.
pub(crate) struct Grid {
    pub(crate) width: usize,
    pub(crate) height: usize,
    pub(crate) nearest: Vec<u32>,
    pub(crate) inverse: Vec<f32>,
}

impl Grid {
    pub(crate) fn new(width: usize, height: usize) -> Self {
        Self {
            width,
            height,
            nearest: vec![NONE; width * height],
            inverse: vec![0.0; width * height],
        }
    }

    /// Draws a triangle where it is nearer than all before.
    pub(crate) fn draw(&mut self, number: u32, triangle: &Triangle) {
        let (width, inverse) = (self.width, triangle.inverse);
        cover(
            &triangle.screen,
            [self.width, self.height],
            |x, y, shares| {
                let depth = weighed(shares, inverse) as f32;
                let place = y * width + x;
                if depth > self.inverse[place] {
                    self.inverse[place] = depth;
                    self.nearest[place] = number;
                }
            },
        );
    }
}

impl Triangle {
    /// Puts a triangle on a grid, as one or two where the camera cuts it.
    pub(crate) fn on_grid(
        corners: [Corner; 3],
        item: u32,
        camera: &Camera,
        [width, height]: [usize; 2],
        triangles: &mut Vec<Self>,
    ) {
        let near = NEAR as f32;
        if corners.iter().all(|corner| corner.at[2] < near) {
            return;
        }
        let length = camera.length(width);
        let center = [width as f64 / 2.0, height as f64 / 2.0];
        let mut clipped = Vec::with_capacity(4);
        for (i, here) in corners.iter().enumerate() {
            let next = &corners[(i + 1) % 3];
            if here.at[2] >= near {
                clipped.push(*here);
            }
            if (here.at[2] >= near) != (next.at[2] >= near) {
                let part = (near - here.at[2]) / (next.at[2] - here.at[2]);
                clipped.push(here.towards(next, part, near));
            }
        }
        let screen = |corner: &Corner| {
            let [right, down, along] = corner.at.map(f64::from);
            [
                center[0] + length * right / along,
                center[1] + length * down / along,
            ]
        };
        let places: Vec<[f64; 2]> = clipped.iter().map(screen).collect();
        for i in 1..clipped.len().saturating_sub(1) {
            let numbers = [0, i, i + 1];
            let screen = numbers.map(|number| places[number]);
            let misses = |axis: usize, most: f64| {
                screen.iter().all(|place| place[axis] < 0.0)
                    || screen.iter().all(|place| place[axis] > most)
            };
            if misses(0, width as f64) || misses(1, height as f64) {
                continue;
            }
            triangles.push(Self {
                corners: numbers.map(|number| clipped[number]),
                screen,
                inverse: numbers.map(|number| 1.0 / f64::from(clipped[number].at[2])),
                item,
            });
        }
    }

    /// Draws it on a grid of its own sort: calls for each sample, with one over its depth.
    pub(crate) fn samples(&self, size: [usize; 2], mut visit: impl FnMut(usize, usize, f32)) {
        cover(&self.screen, size, |x, y, shares| {
            visit(x, y, weighed(shares, self.inverse) as f32);
        });
    }

    /// Returns what the triangle is at a place of the grid, which may be beside it.
    pub(crate) fn sample(&self, x: f64, y: f64) -> Sample {
        let shares = self.shares(x, y);
        let mut sample = Sample {
            at: [0.0; 3],
            normal: [0.0; 3],
            texcoord: [0.0; 2],
        };
        for (corner, share) in self.corners.iter().zip(shares) {
            for i in 0..3 {
                sample.at[i] += corner.at[i] * share;
                sample.normal[i] += corner.normal[i] * share;
            }
            sample.texcoord[0] += corner.texcoord[0] * share;
            sample.texcoord[1] += corner.texcoord[1] * share;
        }
        sample
    }

    /// Returns how much of the texture a sample covers along u and v.
    pub(crate) fn footprint(&self, x: f64, y: f64) -> [f32; 2] {
        let texcoord = |x: f64, y: f64| {
            let shares = self.shares(x, y);
            let sum = |axis: usize| {
                let parts = self.corners.iter().zip(shares);
                parts
                    .map(|(corner, share)| corner.texcoord[axis] * share)
                    .sum::<f32>()
            };
            [sum(0), sum(1)]
        };
        let [here, right, below] = [texcoord(x, y), texcoord(x + 1.0, y), texcoord(x, y + 1.0)];
        std::array::from_fn(|i| (right[i] - here[i]).abs().max((below[i] - here[i]).abs()))
    }

    /// Returns the shares of the corners in what is seen at a place of the grid.
    fn shares(&self, x: f64, y: f64) -> [f32; 3] {
        let [first, second, third] = self.screen;
        let area = edge(first, second, third);
        let here = [x, y];
        let flat = [
            edge(second, third, here),
            edge(third, first, here),
            edge(first, second, here),
        ];
        let weighted: [f64; 3] = std::array::from_fn(|i| flat[i] / area * self.inverse[i]);
        let sum: f64 = weighted.iter().sum();
        weighted.map(|share| (share / sum) as f32)
    }
}

impl Corner {
    /// Returns the corner at a part of the way to another, at this depth.
    fn towards(&self, other: &Self, part: f32, depth: f32) -> Self {
        let mut own = Self::default();
        for i in 0..3 {
            own.at[i] = self.at[i] + (other.at[i] - self.at[i]) * part;
            own.normal[i] = self.normal[i] + (other.normal[i] - self.normal[i]) * part;
        }
        own.at[2] = depth;
        for i in 0..2 {
            let way = other.texcoord[i] - self.texcoord[i];
            own.texcoord[i] = self.texcoord[i] + way * part;
        }
        own
    }
}

fn weighed(shares: [f64; 3], values: [f64; 3]) -> f64 {
    shares[0] * values[0] + shares[1] * values[1] + shares[2] * values[2]
}

/// Returns twice the area of a triangle; its sign says which way it runs.
fn edge(a: [f64; 2], b: [f64; 2], c: [f64; 2]) -> f64 {
    (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
}

/// Visits the samples whose middles a triangle covers, with the shares of its corners. A sample on
/// an edge that two triangles share is of one of them.
pub(crate) fn cover(
    screen: &[[f64; 2]; 3],
    [width, height]: [usize; 2],
    mut visit: impl FnMut(usize, usize, [f64; 3]),
) {
    let [a, mut b, mut c] = *screen;
    let mut area = edge(a, b, c);
    if area == 0.0 || !area.is_finite() {
        return;
    }
    let is_turned = area < 0.0;
    if is_turned {
        (b, c, area) = (c, b, -area);
    }
    let range = |axis: usize, count: usize| {
        let values = [a[axis], b[axis], c[axis]];
        let least = values.into_iter().fold(f64::INFINITY, f64::min);
        let most = values.into_iter().fold(f64::NEG_INFINITY, f64::max);
        let first = (least - 0.5).ceil().clamp(0.0, count as f64) as usize;
        let end = ((most - 0.5).floor() + 1.0).clamp(0.0, count as f64) as usize;
        first..end
    };
    let owns_edge = |from: Vector2, to: Vector2| {
        let (right, down) = (to[0] - from[0], to[1] - from[1]);
        down > 0.0 || (down == 0.0 && right < 0.0)
    };
    let owned = [owns_edge(b, c), owns_edge(c, a), owns_edge(a, b)];
    for y in range(1, height) {
        for x in range(0, width) {
            let here = [x as f64 + 0.5, y as f64 + 0.5];
            let parts = [edge(b, c, here), edge(c, a, here), edge(a, b, here)];
            let is_in = |i: usize| parts[i] > 0.0 || (parts[i] == 0.0 && owned[i]);
            if is_in(0) && is_in(1) && is_in(2) {
                let [first, second, third] = parts.map(|part| part / area);
                let shares = if is_turned {
                    [first, third, second]
                } else {
                    [first, second, third]
                };
                visit(x, y, shares);
            }
        }
    }
}

type Vector2 = [f64; 2];

/// Returns a vector in single precision.
pub(crate) fn single(vector: Vector) -> [f32; 3] {
    vector.map(|x| x as f32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn triangles_that_share_an_edge_cover_each_sample_once() {
        let square = [[1.0, 1.0], [7.0, 1.0], [7.0, 7.0], [1.0, 7.0]];
        for middle in [[4.0, 4.0], [4.5, 4.5], [2.5, 5.5]] {
            let mut counts = [0; 64];
            for i in 0..4 {
                // Every second one runs the other way.
                let mut triangle = [square[i], square[(i + 1) % 4], middle];
                if i % 2 == 0 {
                    triangle.swap(0, 1);
                }
                cover(&triangle, [8, 8], |x, y, shares| {
                    counts[8 * y + x] += 1;
                    assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-12);
                });
            }
            let expect =
                |i: usize| i32::from((1..7).contains(&(i % 8)) && (1..7).contains(&(i / 8)));
            for (i, count) in counts.iter().enumerate() {
                assert_eq!(*count, expect(i), "{middle:?}: {i}");
            }
        }
    }

    #[test]
    fn what_is_behind_the_camera_is_cut_off() {
        let camera = Camera::looking([0.0; 3], [1.0, 0.0, 0.0], 1.0);
        let corner = |at: [f32; 3]| Corner {
            at,
            ..Corner::default()
        };
        let count = |corners: [[f32; 3]; 3]| {
            let mut triangles = Vec::new();
            Triangle::on_grid(corners.map(corner), 0, &camera, [100, 100], &mut triangles);
            triangles.len()
        };
        assert_eq!(
            count([[0.0, 0.0, 1.0], [0.1, 0.0, 1.0], [0.0, 0.1, 1.0]]),
            1
        );
        assert_eq!(
            count([[0.0, 0.0, 1.0], [0.1, 0.0, 1.0], [0.0, 0.1, -1.0]]),
            2
        );
        assert_eq!(
            count([[0.0, 0.0, -1.0], [0.1, 0.0, -1.0], [0.0, 0.1, -1.0]]),
            0
        );
        assert_eq!(
            count([[9.0, 0.0, 1.0], [9.1, 0.0, 1.0], [9.0, 0.1, 1.0]]),
            0,
            "beside"
        );
    }

    #[test]
    fn the_middle_of_a_receding_edge_is_nearer_to_its_far_end_than_it_looks() {
        let camera = Camera::looking([0.0; 3], [1.0, 0.0, 0.0], 1.0);
        let corner = |at: [f32; 3], u: f32| Corner {
            at,
            texcoord: [u, 0.0],
            ..Corner::default()
        };
        let mut triangles = Vec::new();
        let corners = [
            corner([-0.1, 0.0, 1.0], 0.0),
            corner([0.3, 0.0, 3.0], 1.0),
            corner([0.0, 0.5, 2.0], 0.0),
        ];
        Triangle::on_grid(corners, 0, &camera, [100, 100], &mut triangles);
        let sample = triangles[0].sample(50.0, 50.0);
        assert!(
            (sample.texcoord[0] - 0.25).abs() < 1e-6,
            "{:?}",
            sample.texcoord
        );
    }
}
