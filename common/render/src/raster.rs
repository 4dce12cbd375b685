//! Triangles on a grid of samples: clipping, coverage, and which triangle is nearest.

use std::ops::Range;

use crate::camera::Camera;
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
    screen: [Vector2; 3],
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
#[derive(Default)]
pub(crate) struct Grid {
    pub(crate) size: [usize; 2],
    pub(crate) nearest: Vec<u32>,
    pub(crate) inverse: Vec<f32>,
}

impl Grid {
    /// Clears it; what is farther than so many metres is not seen.
    pub(crate) fn begin(&mut self, size: [usize; 2], far: f64) {
        let count = size[0] * size[1];
        self.size = size;
        self.nearest.clear();
        self.nearest.resize(count, NONE);
        self.inverse.clear();
        self.inverse.resize(count, (1.0 / far) as f32);
    }

    /// Draws a triangle where it is nearer than all before.
    pub(crate) fn draw(&mut self, number: u32, triangle: &Triangle) {
        let width = self.size[0];
        let depths = Slope::of(&triangle.screen, triangle.inverse);
        spans(&triangle.screen, self.size, |y, first, end| {
            let row = y * width;
            let known = self.inverse[row + first..row + end].iter_mut();
            let nearest = self.nearest[row + first..row + end].iter_mut();
            let depths = depths.row(first, y);
            for (step, (known, nearest)) in known.zip(nearest).enumerate() {
                let depth = depths.at(step) as f32;
                // Both are written anyway, so that several samples are compared at once.
                let is_nearer = depth > *known;
                *known = if is_nearer { depth } else { *known };
                *nearest = if is_nearer { number } else { *nearest };
            }
        });
    }
}

impl Triangle {
    /// Puts a triangle on a grid, as one or two where the camera cuts it; one that is seen from
    /// behind is left out if that is asked for.
    pub(crate) fn on_grid(
        corners: [Corner; 3],
        item: u32,
        camera: &Camera,
        size: [usize; 2],
        fronts_only: bool,
        triangles: &mut Vec<Self>,
    ) {
        let near = camera.clip()[0] as f32;
        if corners.iter().all(|corner| corner.at[2] < near) {
            return;
        }
        if fronts_only && is_seen_from_behind(&corners) {
            return;
        }
        let lens = camera.lens(size);
        let mut clipped = [Corner::default(); 4];
        let mut count = 0;
        for (i, here) in corners.iter().enumerate() {
            let next = &corners[(i + 1) % 3];
            if here.at[2] >= near {
                clipped[count] = *here;
                count += 1;
            }
            if (here.at[2] >= near) != (next.at[2] >= near) {
                let part = (near - here.at[2]) / (next.at[2] - here.at[2]);
                clipped[count] = here.towards(next, part, near);
                count += 1;
            }
        }
        let places = clipped.map(|corner| {
            let [right, down, along] = corner.at.map(f64::from);
            [
                lens.center[0] + lens.focal[0] * right / along,
                lens.center[1] + lens.focal[1] * down / along,
            ]
        });
        for i in 1..count.saturating_sub(1) {
            let numbers = [0, i, i + 1];
            let screen = numbers.map(|number| places[number]);
            let misses = |axis: usize| {
                let most = size[axis] as f64;
                screen.iter().all(|place| place[axis] < 0.0)
                    || screen.iter().all(|place| place[axis] > most)
            };
            if misses(0) || misses(1) {
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
        let depths = Slope::of(&self.screen, self.inverse);
        spans(&self.screen, size, |y, first, end| {
            let depths = depths.row(first, y);
            for x in first..end {
                visit(x, y, depths.at(x - first) as f32);
            }
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

    /// Returns how much of the texture a square of so many samples covers along u and v.
    pub(crate) fn footprint(&self, x: f64, y: f64, edge: f64) -> [f32; 2] {
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
        let here = texcoord(x, y);
        let (right, below) = (texcoord(x + edge, y), texcoord(x, y + edge));
        std::array::from_fn(|i| (right[i] - here[i]).abs().max((below[i] - here[i]).abs()))
    }

    /// Returns the unit vectors along which u grows and v becomes less, which the triangle has
    /// everywhere; none where its places on the texture are in a line.
    pub(crate) fn tangents(&self) -> Option<[[f32; 3]; 2]> {
        let [first, second, third] = &self.corners;
        let sides = [second, third].map(|other| {
            let way: [f32; 3] = std::array::from_fn(|i| other.at[i] - first.at[i]);
            let texcoord = [0, 1].map(|i| other.texcoord[i] - first.texcoord[i]);
            (way, texcoord)
        });
        let [(a, [a_u, a_v]), (b, [b_u, b_v])] = sides;
        let area = a_u * b_v - b_u * a_v;
        let sign = if area < 0.0 { -1.0 } else { 1.0 };
        let along_u = std::array::from_fn(|i| (a[i] * b_v - b[i] * a_v) * sign);
        let against_v = std::array::from_fn(|i| (a[i] * b_u - b[i] * a_u) * sign);
        let unit = |vector: [f32; 3]| {
            let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
            (length > 0.0 && length.is_finite()).then(|| vector.map(|x| x / length))
        };
        Some([unit(along_u)?, unit(against_v)?]).filter(|_| area != 0.0)
    }

    /// Returns the shares of the corners in what is seen at a place of the grid.
    fn shares(&self, x: f64, y: f64) -> [f32; 3] {
        let [first, second, third] = self.screen;
        let here = [x, y];
        let weighted = [
            edge(second, third, here) * self.inverse[0],
            edge(third, first, here) * self.inverse[1],
            edge(first, second, here) * self.inverse[2],
        ];
        let whole = 1.0 / (weighted[0] + weighted[1] + weighted[2]);
        weighted.map(|share| (share * whole) as f32)
    }
}

/// Tells whether a camera at the origin sees the back of a triangle, whose corners run to the left
/// as seen from its front.
fn is_seen_from_behind(corners: &[Corner; 3]) -> bool {
    let [first, second, third] = corners.each_ref().map(|corner| corner.at.map(f64::from));
    let side = |to: Vector| crate::vector::subtract(to, first);
    // The frame of the camera is right-handed, with its view along the third axis.
    let normal = crate::vector::cross(side(second), side(third));
    crate::vector::dot(normal, first) >= 0.0
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

/// A value that grows evenly over the grid, as it is on a triangle.
struct Slope {
    origin: Vector2,
    /// At the origin.
    value: f64,
    /// Growth per sample, across and down.
    across: f64,
    down: f64,
    /// Least and greatest value of the corners: no rounding goes beyond.
    bounds: [f64; 2],
}

impl Slope {
    fn of(screen: &[Vector2; 3], values: [f64; 3]) -> Self {
        let [a, b, c] = *screen;
        let area = edge(a, b, c);
        let (first, second) = (values[1] - values[0], values[2] - values[0]);
        Self {
            origin: a,
            value: values[0],
            across: (first * (c[1] - a[1]) - second * (b[1] - a[1])) / area,
            down: (second * (b[0] - a[0]) - first * (c[0] - a[0])) / area,
            bounds: [
                values.into_iter().fold(f64::INFINITY, f64::min),
                values.into_iter().fold(f64::NEG_INFINITY, f64::max),
            ],
        }
    }

    /// Returns the value at a place of the grid.
    fn at(&self, x: f64, y: f64) -> f64 {
        let [right, down] = [x - self.origin[0], y - self.origin[1]];
        self.value + self.across * right + self.down * down
    }

    /// Returns the values of a row of samples, from one on.
    fn row(&self, first: usize, y: usize) -> Row {
        Row {
            base: self.at(first as f64 + 0.5, y as f64 + 0.5),
            across: self.across,
            bounds: self.bounds,
        }
    }
}

/// Values of samples beside each other.
pub(crate) struct Row {
    base: f64,
    across: f64,
    bounds: [f64; 2],
}

impl Row {
    /// Returns the value of the sample that is so many beyond the first.
    pub(crate) fn at(&self, step: usize) -> f64 {
        // A number of 32 bits is brought into a float many at a time.
        let value = self.base + f64::from((step as u32).cast_signed()) * self.across;
        let [least, most] = self.bounds;
        let value = if value > least { value } else { least };
        if value < most { value } else { most }
    }
}

/// Returns twice the area of a triangle; its sign says which way it runs.
fn edge(a: Vector2, b: Vector2, c: Vector2) -> f64 {
    (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
}

/// Visits the samples whose middles a triangle covers, row by row: the row, its first sample and
/// the one after its last, and a value that the corners have.
pub(crate) fn cover(
    screen: &[Vector2; 3],
    values: [f64; 3],
    size: [usize; 2],
    mut visit: impl FnMut(usize, Range<usize>, Row),
) {
    let slope = Slope::of(screen, values);
    spans(screen, size, |y, first, end| {
        visit(y, first..end, slope.row(first, y));
    });
}

/// Visits the samples whose middles a triangle covers, row by row: the row, its first sample and
/// the one after its last. A sample on an edge that two triangles share is of one of them.
fn spans(
    screen: &[Vector2; 3],
    [width, height]: [usize; 2],
    mut visit: impl FnMut(usize, usize, usize),
) {
    let [a, mut b, mut c] = screen.map(|place| place.map(snapped));
    let area = edge(a, b, c);
    if area == 0.0 || !area.is_finite() {
        return;
    }
    if area < 0.0 {
        (b, c) = (c, b);
    }
    let range = |axis: usize, count: usize| {
        let values = [a[axis], b[axis], c[axis]];
        let least = values.into_iter().fold(f64::INFINITY, f64::min);
        let most = values.into_iter().fold(f64::NEG_INFINITY, f64::max);
        let first = -floor(0.5 - least);
        let end = floor(most - 0.5) + 1.0;
        within(first, count)..within(end, count)
    };
    let edges = [[b, c], [c, a], [a, b]];
    let owned = edges.map(|[from, to]| {
        let (right, down) = (to[0] - from[0], to[1] - from[1]);
        down > 0.0 || (down == 0.0 && right < 0.0)
    });
    let columns = range(0, width);
    for y in range(1, height) {
        let down = y as f64 + 0.5;
        let is_in = |x: usize| {
            let here = [x as f64 + 0.5, down];
            edges.iter().zip(owned).all(|([from, to], owned)| {
                let part = edge(*from, *to, here);
                part > 0.0 || (part == 0.0 && owned)
            })
        };
        // What an edge lets in is a half of the row; the ends are searched for, from a sample
        // farther out than rounding could have moved them.
        let (mut first, mut end) = (columns.start, columns.end);
        for [from, to] in edges {
            let rise = to[1] - from[1];
            if rise == 0.0 {
                continue;
            }
            let place = from[0] + (to[0] - from[0]) * ((down - from[1]) / rise) - 0.5;
            if rise > 0.0 {
                end = end.min(within(2.0 - floor(-place), width));
            } else {
                first = first.max(within(floor(place) - 1.0, width));
            }
        }
        while first < end && !is_in(first) {
            first += 1;
        }
        while first < end && !is_in(end - 1) {
            end -= 1;
        }
        if first < end {
            visit(y, first, end);
        }
    }
}

/// Returns the nearest place of a finer grid: between such places, which side of an edge a sample
/// is on is computed without rounding, so that two triangles never both leave out a sample on the
/// edge that they share.
fn snapped(place: f64) -> f64 {
    const STEPS: f64 = 64.0;
    floor(place * STEPS + 0.5) / STEPS
}

/// Returns the greatest whole number that is not greater, as `f64::floor`, which is a call where
/// processors need not have it.
fn floor(value: f64) -> f64 {
    const WHOLE: f64 = (1_u64 << 52) as f64;
    if value.abs() < WHOLE {
        let cut = value as i64 as f64;
        if cut > value { cut - 1.0 } else { cut }
    } else {
        value
    }
}

/// Returns a number of samples, which is brought between none and so many.
fn within(place: f64, count: usize) -> usize {
    place.clamp(0.0, count as f64) as usize
}

type Vector2 = [f64; 2];

/// Returns a vector in single precision.
pub(crate) fn single(vector: Vector) -> [f32; 3] {
    vector.map(|x| x as f32)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Visits the samples that a triangle covers, with their values.
    fn each(
        screen: &[Vector2; 3],
        values: [f64; 3],
        size: [usize; 2],
        mut visit: impl FnMut(usize, usize, f64),
    ) {
        cover(screen, values, size, |y, columns, row| {
            for x in columns.clone() {
                visit(x, y, row.at(x - columns.start));
            }
        });
    }

    #[test]
    fn numbers_are_rounded_down() {
        let near = [-2.0, -1.5, -0.1, -0.0, 0.0, 0.3, 1.0, 2.999];
        let far = [4.0e15, -4.0e15, 1e300, f64::INFINITY, f64::NEG_INFINITY];
        for value in near.into_iter().chain(far) {
            assert_eq!(floor(value), value.floor(), "{value}");
        }
        assert!(floor(f64::NAN).is_nan());
    }

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
                each(&triangle, [1.0; 3], [8, 8], |x, y, value| {
                    counts[8 * y + x] += 1;
                    assert_eq!(value, 1.0);
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
    fn tangents_are_those_of_the_texture_whichever_way_it_runs() {
        let camera = Camera::looking([0.0; 3], [1.0, 0.0, 0.0], 1.0);
        // To the right and down, as the frame of the camera does.
        let places = [[0.0, 0.0, 2.0], [0.4, 0.0, 2.0], [0.0, 0.4, 2.0]];
        let tangents = |texcoords: [[f32; 2]; 3]| {
            let mut triangles = Vec::new();
            let corners = [0, 1, 2].map(|i| Corner {
                at: places[i],
                texcoord: texcoords[i],
                ..Corner::default()
            });
            Triangle::on_grid(corners, 0, &camera, [100, 100], false, &mut triangles);
            triangles[0].tangents()
        };
        let upright = tangents([[0.0, 0.0], [3.0, 0.0], [0.0, 3.0]]);
        assert_eq!(upright, Some([[1.0, 0.0, 0.0], [0.0, -1.0, 0.0]]));
        let mirrored = tangents([[1.0, 0.0], [0.0, 0.0], [1.0, 1.0]]);
        assert_eq!(mirrored, Some([[-1.0, 0.0, 0.0], [0.0, -1.0, 0.0]]));
        let turned = tangents([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0]]);
        assert_eq!(turned, Some([[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]]));
        assert_eq!(tangents([[0.5; 2]; 3]), None);
        assert_eq!(tangents([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]]), None);
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
            let corners = corners.map(corner);
            Triangle::on_grid(corners, 0, &camera, [100, 100], false, &mut triangles);
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
        Triangle::on_grid(corners, 0, &camera, [100, 100], false, &mut triangles);
        let sample = triangles[0].sample(50.0, 50.0);
        assert!(
            (sample.texcoord[0] - 0.25).abs() < 1e-6,
            "{:?}",
            sample.texcoord
        );
    }

    #[test]
    fn a_square_has_no_crack_along_its_diagonal() {
        for step in 0..200 {
            let (shift, size) = (f64::from(step) * 0.013_7, 7.3 + f64::from(step) * 0.031);
            let at = |x: f64, y: f64| [shift + x * size, shift + y * size];
            let corners = [at(0.0, 0.0), at(1.0, 0.0), at(1.0, 1.0), at(0.0, 1.0)];
            let mut counts = [0; 400];
            for numbers in [[0, 1, 2], [0, 2, 3]] {
                let screen = numbers.map(|number: usize| corners[number]);
                each(&screen, [1.0; 3], [20, 20], |x, y, _| {
                    counts[20 * y + x] += 1;
                });
            }
            let is_in = |place: usize| {
                let middle = [(place % 20) as f64 + 0.5, (place / 20) as f64 + 0.5];
                middle
                    .iter()
                    .all(|part| *part > shift + 0.1 && *part < shift + size - 0.1)
            };
            for place in (0..400).filter(|place| is_in(*place)) {
                assert_eq!(counts[place], 1, "{step}: {place}");
            }
        }
    }

    #[test]
    fn spans_are_all_samples_that_are_within_all_edges() {
        // Numbers without a pattern.
        let mut state = 7_u64;
        let mut next = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            snapped((state >> 33) as f64 / f64::from(1_u32 << 31) * 30.0 - 5.0)
        };
        for _ in 0..300 {
            let screen = [[next(), next()], [next(), next()], [next(), next()]];
            let mut counts = [0; 400];
            each(&screen, [0.0, 1.0, 2.0], [20, 20], |x, y, _| {
                counts[20 * y + x] += 1;
            });
            let area = edge(screen[0], screen[1], screen[2]);
            for (place, count) in counts.iter().enumerate() {
                let here = [(place % 20) as f64 + 0.5, (place / 20) as f64 + 0.5];
                let sides = [0, 1, 2].map(|i| edge(screen[i], screen[(i + 1) % 3], here) * area);
                if sides.contains(&0.0) {
                    continue;
                }
                let is_in = sides.iter().all(|side| *side > 0.0);
                assert_eq!(*count == 1, is_in, "{screen:?} at {here:?}");
            }
        }
    }

    #[test]
    fn the_back_of_a_triangle_is_left_out_on_request() {
        let camera = Camera::looking([0.0; 3], [1.0, 0.0, 0.0], 1.0);
        let corner = |at: [f32; 3]| Corner {
            at,
            ..Corner::default()
        };
        // To the left around its front: right, then up, which is against down.
        let front = [[0.0, 0.0, 1.0], [0.1, 0.0, 1.0], [0.0, -0.1, 1.0]];
        let back = [front[0], front[2], front[1]];
        for (corners, count) in [(front, 1), (back, 0)] {
            let mut triangles = Vec::new();
            let corners = corners.map(corner);
            Triangle::on_grid(corners, 0, &camera, [100, 100], true, &mut triangles);
            assert_eq!(triangles.len(), count);
        }
    }
}
