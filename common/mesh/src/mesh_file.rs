//! [`MeshFile`]: content of a mesh file, as named submeshes.

use std::collections::BTreeSet;

use crate::triangle_mesh::TriangleMesh;

/// Content of a mesh file.
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
    /// Returns all submeshes as one mesh, joined where they meet at equal positions.
    pub fn whole(&self) -> TriangleMesh {
        joined(self.submeshes.iter())
    }

    /// Returns all parts that bear this name as one mesh, if there are any.
    pub fn submesh(&self, name: &str) -> Option<TriangleMesh> {
        let mesh = joined(self.submeshes.iter().filter(|part| part.name == name));
        (!mesh.triangles.is_empty()).then_some(mesh)
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

fn joined<'m>(mut parts: impl Iterator<Item = &'m Submesh>) -> TriangleMesh {
    let mut mesh = parts
        .next()
        .map_or_else(TriangleMesh::default, |part| part.mesh.clone());
    let mut is_one = true;
    for part in parts {
        mesh.append(&part.mesh);
        is_one = false;
    }
    if is_one {
        return mesh;
    }
    TriangleMesh::welded(&mesh.vertices, mesh.triangles.iter().copied())
}
