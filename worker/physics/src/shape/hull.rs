//! [`Hull`]: convex hulls of few corners.
//!
//! Quickhull that always takes the point that is farthest outside, so that it can stop after any
//! number of them with the best of its hulls so far. It uses nothing but sums, products, quotients
//! and square roots, which IEEE 754 rounds the same everywhere: the hull of a mesh has the same
//! bits on every host. parry's own begins with cosines, whose last bit is up to the host's libm.

use std::collections::BTreeMap;

use rapier3d_f64::geometry::SharedShape;
use rapier3d_f64::math::Vector;
use rapier3d_f64::parry::shape::ConvexPolyhedron;

/// Points that are less outside of a hull than this part of its size are not.
const FLATNESS: f64 = 1e-9;

/// A closed convex surface of triangles that look outwards.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Hull {
    pub(super) corners: Vec<Vector>,
    pub(super) triangles: Vec<[u32; 3]>,
}

impl Hull {
    /// Returns the hull of points, of at most so many of them, without corners that stand out by
    /// less than a tolerance \[m\]; `None` when they span no volume.
    pub(super) fn of(points: &[Vector], corners_max: usize, tolerance: f64) -> Option<Self> {
        let mut builder = Builder::begin(points)?;
        let tolerance = tolerance.max(builder.flatness);
        while builder.corner_count < corners_max {
            let Some((face, corner)) = builder.farthest(tolerance) else {
                break;
            };
            builder.add(face, corner);
        }
        Some(builder.finish())
    }

    /// Returns the volume \[m³\].
    pub(super) fn volume(&self) -> f64 {
        let origin = self.corners[0];
        let parts = self.triangles.iter().map(|triangle| {
            let [a, b, c] = triangle.map(|corner| self.corners[corner as usize] - origin);
            a.dot(b.cross(c)) / 6.0
        });
        parts.sum()
    }

    /// Returns it as rapier can use it; `None` when parry finds it too thin.
    pub(super) fn shape(&self) -> Option<SharedShape> {
        let polyhedron = ConvexPolyhedron::from_convex_mesh(self.corners.clone(), &self.triangles);
        polyhedron.map(SharedShape::new)
    }
}

struct Builder<'a> {
    points: &'a [Vector],
    faces: Vec<Face>,
    /// How far outside a point has to be to count \[m\].
    flatness: f64,
    corner_count: usize,
}

struct Face {
    corners: [usize; 3],
    /// The faces beyond the edges from each corner to the next.
    beyond: [usize; 3],
    normal: Vector,
    offset: f64,
    /// The points outside of it that no face before it has, the farthest with its distance.
    outside: Vec<usize>,
    farthest: Option<(f64, usize)>,
    is_gone: bool,
}

/// Edges around faces, from corner to corner, with the faces beyond them.
type Rim = Vec<([usize; 2], usize)>;

impl Face {
    fn new(points: &[Vector], corners: [usize; 3]) -> Option<Self> {
        let [a, b, c] = corners.map(|corner| points[corner]);
        let normal = (b - a).cross(c - a).try_normalize()?;
        Some(Self {
            corners,
            beyond: [usize::MAX; 3],
            normal,
            offset: normal.dot(a),
            outside: Vec::new(),
            farthest: None,
            is_gone: false,
        })
    }

    fn distance(&self, point: Vector) -> f64 {
        self.normal.dot(point) - self.offset
    }

    fn take(&mut self, point: usize, distance: f64) {
        self.outside.push(point);
        if self.farthest.is_none_or(|(most, _)| distance > most) {
            self.farthest = Some((distance, point));
        }
    }

    fn set_beyond(&mut self, edge: [usize; 2], beyond: usize) {
        let side = self.edges().iter().position(|(own, _)| *own == edge);
        if let Some(side) = side {
            self.beyond[side] = beyond;
        }
    }

    fn edges(&self) -> [([usize; 2], usize); 3] {
        [0, 1, 2].map(|side| {
            let edge = [self.corners[side], self.corners[(side + 1) % 3]];
            (edge, self.beyond[side])
        })
    }
}

impl<'a> Builder<'a> {
    /// Begins with four corners that are far apart.
    fn begin(points: &'a [Vector]) -> Option<Self> {
        let (first, second) = farthest_pair(points)?;
        let along = (points[second] - points[first]).try_normalize()?;
        let size = (points[second] - points[first]).length();
        let flatness = FLATNESS * size;
        let from_line = |point: Vector| (point - points[first]).cross(along).length();
        let third = most(points, flatness, from_line)?;
        let base = Face::new(points, [first, second, third])?;
        let fourth = most(points, flatness, |point| base.distance(point).abs())?;
        let [a, b, c] = if base.distance(points[fourth]) > 0.0 {
            [first, third, second]
        } else {
            [first, second, third]
        };
        let d = fourth;
        let sides = [
            ([a, b, c], [1, 2, 3]),
            ([b, a, d], [0, 3, 2]),
            ([c, b, d], [0, 1, 3]),
            ([a, c, d], [0, 2, 1]),
        ];
        let mut faces = Vec::with_capacity(sides.len());
        for (corners, beyond) in sides {
            let face = Face::new(points, corners)?;
            faces.push(Face { beyond, ..face });
        }
        let mut builder = Self {
            points,
            faces,
            flatness,
            corner_count: 4,
        };
        builder.share_out(0..points.len(), 0);
        Some(builder)
    }

    /// Returns the point that is farthest outside, and the face that it is outside of.
    fn farthest(&self, tolerance: f64) -> Option<(usize, usize)> {
        let mut best = None;
        let mut most = tolerance;
        for (index, face) in self.faces.iter().enumerate() {
            if let Some((distance, point)) = face.farthest.filter(|_| !face.is_gone)
                && distance > most
            {
                most = distance;
                best = Some((index, point));
            }
        }
        best
    }

    /// Puts up a tent over all faces that a point is outside of, or drops the point where that
    /// would not hold.
    fn add(&mut self, seen_first: usize, corner: usize) {
        let (seen, rim) = self.seen_from(seen_first, self.points[corner]);
        let first = self.faces.len();
        let begins = rim.iter().enumerate();
        let begins: BTreeMap<usize, usize> = begins
            .map(|(index, ([from, _], _))| (*from, first + index))
            .collect();
        let tent: Option<Vec<Face>> = rim
            .iter()
            .map(|([from, to], _)| Face::new(self.points, [*from, *to, corner]))
            .collect();
        let is_loop =
            begins.len() == rim.len() && rim.iter().all(|([_, to], _)| begins.contains_key(to));
        let Some(tent) = tent.filter(|_| is_loop) else {
            self.forget(seen_first, corner);
            return;
        };
        self.faces.extend(tent);
        self.corner_count += 1;
        for (index, ([from, to], beyond)) in rim.into_iter().enumerate() {
            let (own, next) = (first + index, begins[&to]);
            self.faces[own].beyond[0] = beyond;
            self.faces[own].beyond[1] = next;
            self.faces[next].beyond[2] = own;
            self.faces[beyond].set_beyond([to, from], own);
        }
        let mut left = Vec::new();
        for face in seen {
            self.faces[face].is_gone = true;
            left.append(&mut self.faces[face].outside);
        }
        self.share_out(left.into_iter().filter(|point| *point != corner), first);
    }

    /// Returns the faces that a point is outside of, of those around one, and their rim. Those in
    /// whose plane it is are among them, or it could be in line with an edge of the rim.
    fn seen_from(&self, first: usize, point: Vector) -> (Vec<usize>, Rim) {
        let mut seen = vec![first];
        let mut rim = Vec::new();
        let mut next = 0;
        while let Some(face) = seen.get(next).copied() {
            next += 1;
            for (edge, beyond) in self.faces[face].edges() {
                if seen.contains(&beyond) {
                    continue;
                }
                if self.faces[beyond].distance(point) > -self.flatness {
                    seen.push(beyond);
                } else {
                    rim.push((edge, beyond));
                }
            }
        }
        rim.retain(|(_, beyond)| !seen.contains(beyond));
        (seen, rim)
    }

    fn forget(&mut self, face: usize, point: usize) {
        let mut others = std::mem::take(&mut self.faces[face].outside);
        others.retain(|other| *other != point);
        self.faces[face].farthest = None;
        for other in others {
            let distance = self.faces[face].distance(self.points[other]);
            self.faces[face].take(other, distance);
        }
    }

    /// Gives points to the faces from one on that they are farthest outside of.
    fn share_out(&mut self, points: impl Iterator<Item = usize>, first: usize) {
        for point in points {
            let mut best = None;
            let mut most = self.flatness;
            for (index, face) in self.faces.iter().enumerate().skip(first) {
                let distance = face.distance(self.points[point]);
                if distance > most {
                    most = distance;
                    best = Some(index);
                }
            }
            if let Some(face) = best {
                self.faces[face].take(point, most);
            }
        }
    }

    fn finish(self) -> Hull {
        let mut numbers = BTreeMap::new();
        let mut hull = Hull {
            corners: Vec::new(),
            triangles: Vec::new(),
        };
        for face in self.faces.iter().filter(|face| !face.is_gone) {
            let triangle = face.corners.map(|corner| {
                *numbers.entry(corner).or_insert_with(|| {
                    hull.corners.push(self.points[corner]);
                    hull.corners.len() as u32 - 1
                })
            });
            hull.triangles.push(triangle);
        }
        hull
    }
}

/// Returns the two of the outermost points along the axes that are farthest apart.
fn farthest_pair(points: &[Vector]) -> Option<(usize, usize)> {
    let mut extremes = Vec::new();
    for axis in Vector::AXES {
        extremes.push(most(points, f64::NEG_INFINITY, |point| axis.dot(point))?);
        extremes.push(most(points, f64::NEG_INFINITY, |point| -axis.dot(point))?);
    }
    let mut best = None;
    let mut longest = 0.0;
    for first in &extremes {
        for second in &extremes {
            let distance = (points[*second] - points[*first]).length();
            if distance > longest {
                longest = distance;
                best = Some((*first, *second));
            }
        }
    }
    best
}

/// Returns the first of the points of which a measure is greatest, if it is above a least one.
fn most(points: &[Vector], least: f64, measure: impl Fn(Vector) -> f64) -> Option<usize> {
    let mut best = None;
    let mut most = least;
    for (index, point) in points.iter().enumerate() {
        let measured = measure(*point);
        if measured > most {
            most = measured;
            best = Some(index);
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Points on a ball of 1 m, and inside of it, evenly spread.
    fn ball(count: u32) -> Vec<Vector> {
        let turn = std::f64::consts::PI * (3.0 - 5.0_f64.sqrt());
        let points = (0..count).flat_map(|i| {
            let z = 1.0 - 2.0 * (f64::from(i) + 0.5) / f64::from(count);
            let (sin, cos) = (turn * f64::from(i)).sin_cos();
            let radius = (1.0 - z * z).sqrt();
            let outer = Vector::new(radius * cos, radius * sin, z);
            [outer * 0.5, outer]
        });
        points.collect()
    }

    /// Checks that a hull is closed, that Euler's formula holds, and that it holds points up to a
    /// distance.
    fn check(hull: &Hull, points: &[Vector], distance: f64) {
        assert_eq!(hull.triangles.len(), 2 * hull.corners.len() - 4);
        for triangle in &hull.triangles {
            let [a, b, c] = triangle.map(|corner| hull.corners[corner as usize]);
            let normal = (b - a).cross(c - a).normalize();
            for point in points {
                let outside = normal.dot(*point - a);
                assert!(outside <= distance, "{point} is {outside} m outside");
            }
        }
        assert!(hull.shape().is_some());
    }

    #[test]
    fn a_hull_holds_all_points_and_few_corners_hold_them_nearly() {
        let points = ball(400);
        let hull = Hull::of(&points, usize::MAX, 0.0).unwrap();
        assert_eq!(hull.corners.len(), 400);
        check(&hull, &points, 1e-8);
        let hull = Hull::of(&points, 64, 0.0).unwrap();
        assert_eq!(hull.corners.len(), 64);
        check(&hull, &points, 0.08);
        let hull = Hull::of(&points, usize::MAX, 0.02).unwrap();
        assert!(hull.corners.len() < 300);
        check(&hull, &points, 0.02);
    }

    #[test]
    fn points_on_faces_and_edges_are_no_corners() {
        let step = |number: u32| f64::from(number % 5) / 2.0 - 1.0;
        let grid = (0..125).map(|i| Vector::new(step(i / 25), step(i / 5), step(i)));
        let points: Vec<Vector> = grid.collect();
        let hull = Hull::of(&points, usize::MAX, 0.0).unwrap();
        assert_eq!(hull.corners.len(), 8);
        check(&hull, &points, 1e-9);
        assert!((hull.volume() - 8.0).abs() < 1e-12);
    }

    #[test]
    fn corners_in_line_with_edges_are_kept() {
        let place = |number: u32| f64::from(number % 32) - 15.5;
        let grid = (0..4096).map(|i| Vector::new(place(i), place(i / 32), f64::from(i / 1024)));
        let disc = |point: &Vector| point.x.hypot(point.y) < 16.0;
        let points: Vec<Vector> = grid.filter(disc).collect();
        let hull = Hull::of(&points, usize::MAX, 0.0).unwrap();
        check(&hull, &points, 1e-7);
    }

    #[test]
    fn points_without_volume_have_no_hull() {
        let check = |points: &[Vector]| assert_eq!(Hull::of(points, 64, 0.0), None);
        check(&[]);
        check(&[Vector::X; 5]);
        check(&[Vector::ZERO, Vector::X, Vector::X * 2.0, Vector::X * 0.3]);
        check(&[Vector::ZERO, Vector::X, Vector::Y, Vector::X + Vector::Y]);
    }
}
