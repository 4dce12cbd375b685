//! Mesh files and height images as triangles and height grids, in doubles.
//!
//! Everything here is a function of bytes: nothing opens a file and nothing knows physics or SDF.

mod height_grid;
mod packed;
mod triangle_mesh;

pub use height_grid::HeightGrid;
pub use triangle_mesh::TriangleMesh;
