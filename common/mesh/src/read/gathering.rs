//! [`Gathering`]: the submeshes found so far, within bounds.

use super::MeshProblem;
use super::transform::Transform;
use crate::mesh_file::{MeshFile, Submesh};
use crate::triangle_mesh::{TRIANGLES_MAX, TriangleMesh};

/// The most submeshes in one file.
const SUBMESHES_MAX: usize = 100_000;

/// The longest name of a submesh \[bytes\]; longer ones are cut.
const NAME_BYTES_MAX: usize = 1000;

/// The submeshes found so far.
#[derive(Default)]
pub(super) struct Gathering {
    file: MeshFile,
    triangles: usize,
}

impl Gathering {
    /// Adds a submesh; one without triangles is left out. `place` is where it stands in the file.
    pub(super) fn add(
        &mut self,
        name: &str,
        place: &str,
        vertices: &[[f64; 3]],
        triangles: &[[u32; 3]],
    ) -> Result<(), MeshProblem> {
        self.add_moved(name, place, vertices, triangles, &Transform::IDENTITY)
    }

    /// Adds a submesh as [`Self::add`] does, once it is moved.
    pub(super) fn add_moved(
        &mut self,
        name: &str,
        place: &str,
        vertices: &[[f64; 3]],
        triangles: &[[u32; 3]],
        transform: &Transform,
    ) -> Result<(), MeshProblem> {
        self.triangles += triangles.len();
        if self.triangles > TRIANGLES_MAX {
            return Err(too_many_triangles());
        }
        let mut used: Vec<u32> = triangles.iter().flatten().copied().collect();
        used.sort_unstable();
        used.dedup();
        let mut moved = Vec::with_capacity(used.len());
        for index in &used {
            let Some(vertex) = vertices.get(*index as usize) else {
                let message = format!("index {index} is beyond the {} positions", vertices.len());
                return Err(MeshProblem::malformed(place, message));
            };
            let vertex = transform.apply(*vertex);
            if !vertex.iter().all(|number| number.is_finite()) {
                let message = format!("position {index} is not finite");
                return Err(MeshProblem::malformed(place, message));
            }
            moved.push(vertex);
        }
        let own = |index: u32| used.partition_point(|other| *other < index) as u32;
        let is_mirror = transform.is_mirror();
        let triangles = triangles.iter().map(|triangle| {
            let [a, b, c] = triangle.map(own);
            if is_mirror { [a, c, b] } else { [a, b, c] }
        });
        let mesh = TriangleMesh::welded(&moved, triangles);
        if mesh.triangles.is_empty() {
            return Ok(());
        }
        if self.file.submeshes.len() == SUBMESHES_MAX {
            return Err(MeshProblem::TooMany {
                what: "submeshes",
                maximum: SUBMESHES_MAX,
            });
        }
        let name = name[..name.floor_char_boundary(NAME_BYTES_MAX)].to_owned();
        self.file.submeshes.push(Submesh { name, mesh });
        Ok(())
    }

    /// Returns the file, if it holds any triangle.
    pub(super) fn finish(self) -> Result<MeshFile, MeshProblem> {
        if self.file.submeshes.is_empty() {
            return Err(MeshProblem::Empty);
        }
        Ok(self.file)
    }
}

/// The problem of a file with more triangles than are read.
pub(super) fn too_many_triangles() -> MeshProblem {
    MeshProblem::TooMany {
        what: "triangles",
        maximum: TRIANGLES_MAX,
    }
}
