//! [`Triangles`]: a mesh in its place, as rapier can use it.

use std::collections::{BTreeMap, BTreeSet};

use mesh::TriangleMesh;
use rapier3d_f64::geometry::{SharedShape, TriMeshFlags};
use rapier3d_f64::math::Vector;

use super::hull::Hull;

/// A scaled mesh whose numbers are finite and whose triangles name vertices that exist.
pub(super) struct Triangles {
    pub(super) vertices: Vec<Vector>,
    pub(super) indices: Vec<[u32; 3]>,
}

impl Triangles {
    /// Returns a mesh scaled along x, y and z; a mirrored one is turned inside out again. `None`
    /// when it has no triangle with an area, or numbers that are not finite.
    pub(super) fn new(mesh: &TriangleMesh, scale: [f64; 3]) -> Option<Self> {
        let scale = Vector::from_array(scale);
        let vertices: Vec<Vector> = mesh
            .vertices
            .iter()
            .map(|vertex| Vector::from_array(*vertex) * scale)
            .collect();
        if !vertices.iter().all(|vertex| vertex.is_finite()) {
            return None;
        }
        let is_mirrored = scale.x * scale.y * scale.z < 0.0;
        let corner = |index: u32| vertices.get(index as usize).copied();
        let has_area = |[a, b, c]: &[u32; 3]| {
            let corners = (corner(*a), corner(*b), corner(*c));
            matches!(corners, (Some(a), Some(b), Some(c)) if (b - a).cross(c - a) != Vector::ZERO)
        };
        let indices: Vec<[u32; 3]> = mesh
            .triangles
            .iter()
            .filter(|triangle| has_area(triangle))
            .map(|&[a, b, c]| if is_mirrored { [a, c, b] } else { [a, b, c] })
            .collect();
        (!indices.is_empty()).then_some(Self { vertices, indices })
    }

    /// Returns the triangles themselves, as a solid where they are convex. What slides over them
    /// meets no inner edges; the backs of closed surfaces that look outwards let through, so that
    /// what got in comes out again.
    ///
    /// Contacts of a mesh that moves are never kept, since it may roll (see
    /// [`super::super::fresh_contacts`]).
    pub(super) fn trimesh(&self, moves: bool) -> Option<SharedShape> {
        let is_closed = self.is_closed_and_outward();
        if is_closed && self.is_convex() {
            return self.hull();
        }
        let mut flags = TriMeshFlags::DELETE_DEGENERATE_TRIANGLES
            | TriMeshFlags::DELETE_DUPLICATE_TRIANGLES
            | if is_closed {
                TriMeshFlags::FIX_INTERNAL_EDGES
            } else {
                TriMeshFlags::FIX_INTERNAL_EDGES_TWO_SIDED
            };
        if moves {
            flags |= TriMeshFlags::DEFORMABLE;
        }
        let (vertices, indices) = (self.vertices.clone(), self.indices.clone());
        SharedShape::trimesh_with_flags(vertices, indices, flags).ok()
    }

    /// Returns the convex hull; `None` when the triangles span no volume.
    pub(super) fn hull(&self) -> Option<SharedShape> {
        if self.is_flat() {
            return None;
        }
        Hull::of(&self.points(), usize::MAX, 0.0)?.shape()
    }

    /// Returns the corners of triangles; a vertex whose triangles were dropped is none.
    pub(super) fn points(&self) -> Vec<Vector> {
        let used: BTreeSet<u32> = self.indices.iter().flatten().copied().collect();
        let points = used.into_iter().map(|index| self.vertices[index as usize]);
        points.collect()
    }

    /// Returns the corners of what is between two corners of a box, given all corners of triangles.
    pub(super) fn clipped(&self, points: &[Vector], bounds: [Vector; 2]) -> Vec<Vector> {
        let [least, greatest] = bounds;
        let is_in = |point: Vector| point.cmpge(least).all() && point.cmple(greatest).all();
        let inner = points.iter().copied();
        let mut points: Vec<Vector> = inner.filter(|point| is_in(*point)).collect();
        for triangle in &self.indices {
            let corners = triangle.map(|index| self.vertices[index as usize]);
            let [a, b, c] = corners;
            let (low, high) = (a.min(b).min(c), a.max(b).max(c));
            let is_apart = low.cmpgt(greatest).any() || high.cmplt(least).any();
            if !is_apart && !corners.into_iter().all(is_in) {
                let mut polygon = corners.to_vec();
                for axis in Vector::AXES {
                    polygon = clip(&polygon, axis, axis.dot(greatest));
                    polygon = clip(&polygon, -axis, -axis.dot(least));
                }
                points.append(&mut polygon);
            }
        }
        points
    }

    /// Returns the edge lengths of the box around the triangles \[m\].
    pub(super) fn extents(&self) -> Vector {
        let [least, greatest] = self.bounds();
        greatest - least
    }

    /// Returns the longest edge of the box around the triangles \[m\].
    pub(super) fn size(&self) -> f64 {
        self.extents().max_element()
    }

    /// Returns the least and the greatest corner of the box around the triangles.
    pub(super) fn bounds(&self) -> [Vector; 2] {
        let (mut least, mut greatest) = (Vector::INFINITY, Vector::NEG_INFINITY);
        for index in self.indices.iter().flatten() {
            let vertex = self.vertices[*index as usize];
            least = least.min(vertex);
            greatest = greatest.max(vertex);
        }
        [least, greatest]
    }

    /// Tells whether all triangles lie in one plane, or nearly so.
    pub(super) fn is_flat(&self) -> bool {
        const FLATNESS: f64 = 1e-9;
        let [first, ..] = self.indices[..] else {
            return true;
        };
        let [a, b, c] = first.map(|index| self.vertices[index as usize]);
        let normal = (b - a).cross(c - a).normalize_or_zero();
        let thickness = self.indices.iter().flatten().map(|index| {
            let vertex = self.vertices[*index as usize];
            normal.dot(vertex - a).abs()
        });
        thickness.fold(0.0, f64::max) <= FLATNESS * self.extents().max_element()
    }

    /// Tells whether no vertex of a closed surface lies outside one of its triangles.
    fn is_convex(&self) -> bool {
        const PAIRS_MAX: usize = 10_000_000;
        let tolerance = 1e-9 * self.extents().max_element();
        let used: BTreeSet<u32> = self.indices.iter().flatten().copied().collect();
        used.len().saturating_mul(self.indices.len()) <= PAIRS_MAX
            && self.indices.iter().all(|triangle| {
                let [a, b, c] = triangle.map(|index| self.vertices[index as usize]);
                let normal = (b - a).cross(c - a).normalize_or_zero();
                let distance = |index: &u32| normal.dot(self.vertices[*index as usize] - a);
                used.iter().all(|index| distance(index) <= tolerance)
            })
    }

    /// Tells whether every edge has one triangle on each side and the volume within is positive.
    fn is_closed_and_outward(&self) -> bool {
        let bits = |index: u32| self.vertices[index as usize].to_array().map(f64::to_bits);
        let mut edges: BTreeMap<[[u64; 3]; 2], i32> = BTreeMap::new();
        let mut volume = 0.0;
        let origin = self.vertices[self.indices[0][0] as usize];
        for triangle in &self.indices {
            let [a, b, c] = triangle.map(|index| self.vertices[index as usize] - origin);
            volume += a.dot(b.cross(c));
            let [a, b, c] = triangle.map(bits);
            for (from, to) in [(a, b), (b, c), (c, a)] {
                *edges.entry([from, to]).or_insert(0) += 1;
                *edges.entry([to, from]).or_insert(0) -= 1;
            }
        }
        volume > 0.0 && edges.values().all(|count| *count == 0)
    }
}

/// Returns the part of a polygon that is not beyond a plane.
fn clip(polygon: &[Vector], normal: Vector, offset: f64) -> Vec<Vector> {
    let mut clipped = Vec::with_capacity(polygon.len() + 1);
    let ends = polygon.iter().cycle().skip(1);
    for (from, to) in polygon.iter().zip(ends) {
        let [before, after] = [from, to].map(|point| normal.dot(*point) - offset);
        if before <= 0.0 {
            clipped.push(*from);
        }
        if (before < 0.0) != (after < 0.0) && before != 0.0 && after != 0.0 {
            clipped.push(*from + (*to - *from) * (before / (before - after)));
        }
    }
    clipped
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A cube of 1 m around the origin, as an open box without its lid or closed.
    fn cube(is_closed: bool) -> TriangleMesh {
        let vertices = (0..8_u32)
            .map(|corner| [0, 1, 2].map(|axis| if corner >> axis & 1 == 1 { 0.5 } else { -0.5 }));
        let faces = [
            [0, 2, 3, 1],
            [0, 1, 5, 4],
            [1, 3, 7, 5],
            [3, 2, 6, 7],
            [2, 0, 4, 6],
            [4, 5, 7, 6],
        ];
        let faces = &faces[..if is_closed { 6 } else { 5 }];
        let triangles = faces
            .iter()
            .flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]);
        TriangleMesh {
            vertices: vertices.collect(),
            triangles: triangles.collect(),
        }
    }

    fn check_closed(mesh: &TriangleMesh, scale: [f64; 3], expected: bool) {
        let triangles = Triangles::new(mesh, scale).unwrap();
        assert_eq!(triangles.is_closed_and_outward(), expected, "{scale:?}");
    }

    #[test]
    fn closed_meshes_are_told_from_open_ones_and_stay_outward_when_mirrored() {
        check_closed(&cube(true), [1.0; 3], true);
        check_closed(&cube(true), [1.0, -2.0, 3.0], true);
        check_closed(&cube(false), [1.0; 3], false);
        let mut inward = cube(true);
        for triangle in &mut inward.triangles {
            triangle.swap(0, 1);
        }
        check_closed(&inward, [1.0; 3], false);
    }

    #[test]
    fn triangles_that_are_none_are_dropped() {
        let mut broken = cube(true);
        broken.triangles.extend([[0, 0, 1], [0, 1, 99]]);
        assert_eq!(Triangles::new(&broken, [1.0; 3]).unwrap().indices.len(), 12);
        broken.vertices[0][0] = f64::NAN;
        assert!(Triangles::new(&broken, [1.0; 3]).is_none());
        assert!(Triangles::new(&TriangleMesh::default(), [1.0; 3]).is_none());
    }

    #[test]
    fn a_flat_mesh_has_no_hull() {
        let mut flat = cube(true);
        flat.triangles.truncate(2);
        let triangles = Triangles::new(&flat, [1.0; 3]).unwrap();
        assert!(triangles.is_flat() && triangles.hull().is_none());
        assert!(triangles.trimesh(true).is_some());
        assert!(
            Triangles::new(&cube(true), [1.0; 3])
                .unwrap()
                .hull()
                .is_some()
        );
    }
}
