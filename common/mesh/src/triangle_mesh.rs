//! [`TriangleMesh`]: vertices and the triangles between them.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

use crate::packed;

/// The most triangles in one mesh, or in all meshes of one file.
pub const TRIANGLES_MAX: usize = 4_000_000;

/// Vertices and the triangles between them; z is up, as in SDF.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct TriangleMesh {
    /// Positions x, y, z \[m\], finite.
    #[serde(with = "packed::triples")]
    pub vertices: Vec<[f64; 3]>,
    /// Indices into `vertices`, counter-clockwise seen from outside.
    #[serde(with = "packed::triples")]
    pub triangles: Vec<[u32; 3]>,
}

impl TriangleMesh {
    /// Returns the least and the greatest corner of the box around all vertices, if there are any.
    pub fn bounds(&self) -> Option<[[f64; 3]; 2]> {
        let first = *self.vertices.first()?;
        let grow = |[low, high]: [[f64; 3]; 2], vertex: &[f64; 3]| {
            [
                std::array::from_fn(|i| low[i].min(vertex[i])),
                std::array::from_fn(|i| high[i].max(vertex[i])),
            ]
        };
        Some(self.vertices.iter().fold([first, first], grow))
    }

    /// Moves the mesh so that the middle of its bounds is the origin.
    #[must_use]
    pub fn centered(mut self) -> Self {
        if let Some([low, high]) = self.bounds() {
            let middle: [f64; 3] = std::array::from_fn(|i| f64::midpoint(low[i], high[i]));
            for vertex in &mut self.vertices {
                *vertex = std::array::from_fn(|i| vertex[i] - middle[i]);
            }
        }
        self
    }

    /// Multiplies positions by one factor per axis; a mirror image keeps its outside outside.
    #[must_use]
    pub fn scaled(mut self, factors: [f64; 3]) -> Self {
        for vertex in &mut self.vertices {
            *vertex = std::array::from_fn(|i| vertex[i] * factors[i]);
        }
        if factors.iter().product::<f64>() < 0.0 {
            for triangle in &mut self.triangles {
                triangle.swap(1, 2);
            }
        }
        self
    }

    /// Makes a mesh of the vertices that triangles use, equal positions once, in the order of their
    /// first use. Triangles with two equal corners are left out.
    ///
    /// Every index must be in range.
    pub(crate) fn welded(vertices: &[[f64; 3]], triangles: impl Iterator<Item = [u32; 3]>) -> Self {
        let same = first_of_each_position(vertices);
        let mut number = vec![u32::MAX; vertices.len()];
        let mut mesh = Self::default();
        for triangle in triangles {
            let [a, b, c] = triangle.map(|index| same[index as usize]);
            if a == b || b == c || c == a {
                continue;
            }
            mesh.triangles.push([a, b, c].map(|index| {
                let own = &mut number[index as usize];
                if *own == u32::MAX {
                    *own = mesh.vertices.len() as u32;
                    mesh.vertices.push(vertices[index as usize]);
                }
                *own
            }));
        }
        mesh
    }

    /// Adds the vertices and triangles of another mesh.
    pub(crate) fn append(&mut self, other: &Self) {
        let offset = self.vertices.len() as u32;
        self.vertices.extend_from_slice(&other.vertices);
        let moved = other.triangles.iter().map(|t| t.map(|i| i + offset));
        self.triangles.extend(moved);
    }
}

/// For each vertex the least index of a vertex at the same position.
pub(crate) fn first_of_each_position(vertices: &[[f64; 3]]) -> Vec<u32> {
    let mut order: Vec<u32> = (0..vertices.len() as u32).collect();
    order.sort_by(|a, b| {
        let by_position = compare(&vertices[*a as usize], &vertices[*b as usize]);
        by_position.then(a.cmp(b))
    });
    let mut first = vec![0; vertices.len()];
    let mut leader = 0;
    for (i, own) in order.iter().enumerate() {
        if i == 0 || vertices[leader as usize] != vertices[*own as usize] {
            leader = *own;
        }
        first[*own as usize] = leader;
    }
    first
}

/// Orders positions by x, y, z; 0 and -0 are equal.
fn compare(a: &[f64; 3], b: &[f64; 3]) -> Ordering {
    let by_axis = |i: usize| (a[i] + 0.0).total_cmp(&(b[i] + 0.0));
    by_axis(0).then_with(|| by_axis(1)).then_with(|| by_axis(2))
}

/// A mesh as it comes from the wire.
#[derive(Deserialize)]
struct Unchecked {
    #[serde(with = "packed::triples")]
    vertices: Vec<[f64; 3]>,
    #[serde(with = "packed::triples")]
    triangles: Vec<[u32; 3]>,
}

impl TryFrom<Unchecked> for TriangleMesh {
    type Error = &'static str;

    fn try_from(mesh: Unchecked) -> Result<Self, Self::Error> {
        let Unchecked {
            vertices,
            triangles,
        } = mesh;
        if triangles.len() > TRIANGLES_MAX || vertices.len() > 3 * TRIANGLES_MAX {
            return Err("a mesh has too many vertices or triangles");
        }
        if vertices.iter().flatten().any(|number| !number.is_finite()) {
            return Err("a vertex of a mesh is not at a finite position");
        }
        let is_vertex = |index: &u32| (*index as usize) < vertices.len();
        if !triangles.iter().flatten().all(is_vertex) {
            return Err("a triangle of a mesh names a vertex that is not there");
        }
        Ok(Self {
            vertices,
            triangles,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tetrahedron() -> TriangleMesh {
        TriangleMesh {
            vertices: vec![
                [0.0, 0.0, 0.0],
                [1.0, 0.0, 0.0],
                [0.0, 2.0, 0.0],
                [0.0, 0.0, 3.0],
            ],
            triangles: vec![[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]],
        }
    }

    fn check_refused(mesh: &TriangleMesh, reason: &str) {
        let bytes = serde_json::to_vec(mesh).unwrap();
        let error = serde_json::from_slice::<TriangleMesh>(&bytes).unwrap_err();
        assert!(error.to_string().contains(reason), "{error}");
    }

    #[test]
    fn bounds_center_and_scale_move_all_vertices() {
        let mesh = tetrahedron();
        assert_eq!(mesh.bounds(), Some([[0.0; 3], [1.0, 2.0, 3.0]]));
        let centered = mesh.clone().centered();
        assert_eq!(centered.vertices[3], [-0.5, -1.0, 1.5]);
        let scaled = mesh.scaled([2.0, 1.0, -1.0]);
        assert_eq!(scaled.bounds(), Some([[0.0, 0.0, -3.0], [2.0, 2.0, 0.0]]));
        assert_eq!(scaled.triangles[0], [0, 1, 2]);
        assert_eq!(TriangleMesh::default().centered().bounds(), None);
    }

    #[test]
    fn welding_joins_equal_positions_and_drops_what_is_not_used() {
        let vertices = [
            [5.0; 3],
            [0.0; 3],
            [1.0, 0.0, 0.0],
            [0.0, 1.0, 0.0],
            [-0.0; 3],
        ];
        let triangles = [[1, 2, 3], [4, 3, 2], [1, 2, 4]];
        let mesh = TriangleMesh::welded(&vertices, triangles.into_iter());
        assert_eq!(mesh.vertices, vertices[1..4]);
        assert_eq!(mesh.triangles, [[0, 1, 2], [0, 2, 1]]);
    }

    #[test]
    fn a_mesh_survives_the_wire() {
        let bytes = serde_json::to_vec(&tetrahedron()).unwrap();
        let back: TriangleMesh = serde_json::from_slice(&bytes).unwrap();
        assert_eq!(back, tetrahedron());
    }

    #[test]
    fn meshes_that_would_break_their_users_are_refused() {
        let mut mesh = tetrahedron();
        mesh.triangles[1][2] = 4;
        check_refused(&mesh, "not there");
        let mut mesh = tetrahedron();
        mesh.vertices[0][0] = f64::NAN;
        check_refused(&mesh, "finite");
    }
}
