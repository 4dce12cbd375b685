//! [`MeshFile`]: what a mesh file holds, as named submeshes.

use std::collections::BTreeSet;

use crate::triangle_mesh::TriangleMesh;

/// What a mesh file holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MeshFile {
    /// The submeshes in the order of the file.
    pub submeshes: Vec<Submesh>,
}

/// A part of a mesh file with a name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Submesh {
    /// The name that SDF's `<submesh>` refers to; empty when the file gives none.
    pub name: String,
    /// Its triangles, in the frame of the file.
    pub mesh: TriangleMesh,
}

impl MeshFile {
    /// Returns all submeshes as one mesh.
    pub fn whole(&self) -> TriangleMesh {
        let mut whole = TriangleMesh::default();
        for submesh in &self.submeshes {
            whole.append(&submesh.mesh);
        }
        whole
    }

    /// Returns all parts that bear this name as one mesh, if there are any.
    pub fn submesh(&self, name: &str) -> Option<TriangleMesh> {
        let mut parts = self.submeshes.iter().filter(|part| part.name == name);
        let mut mesh = parts.next()?.mesh.clone();
        parts.for_each(|part| mesh.append(&part.mesh));
        Some(mesh)
    }

    /// Returns the names of the submeshes in the order of the file, each once.
    pub fn names(&self) -> Vec<&str> {
        let mut seen = BTreeSet::new();
        let names = self.submeshes.iter().map(|submesh| submesh.name.as_str());
        names
            .filter(|name| !name.is_empty() && seen.insert(*name))
            .collect()
    }
}
