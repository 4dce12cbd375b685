//! Mesh files and height images as triangles and height grids, in doubles.
//!
//! Everything here is a function of bytes: nothing opens a file and nothing knows physics or SDF.

#[cfg(test)]
mod broken;
pub mod color;
mod extrude;
mod glb;
mod height_grid;
mod height_image;
mod image;
mod mass_properties;
mod mesh_file;
mod packed;
mod read;
mod skeleton;
mod transform;
mod triangle_mesh;
mod visual_mesh;

pub use extrude::{ExtrudeError, OUTLINE_POINTS_MAX, OUTLINES_MAX};
pub use height_grid::HeightGrid;
pub use height_image::{HEIGHT_SAMPLES_MAX, ImageProblem, ReadImageError, read_height_grid};
pub use image::{IMAGE_BYTES_MAX, Image, ImageFile, ImageFormat};
pub use mass_properties::MassProperties;
pub use mesh_file::{MeshFile, Submesh};
pub use read::{
    MESH_FILE_BYTES_MAX, MeshProblem, ReadMeshError, read_clips, read_mesh, read_skinned_mesh,
    read_visual_mesh,
};
pub use skeleton::{BONES_MAX, Bone, Clip, Grip, KEYS_MAX, Key, Moment, Skeleton, Track};
pub use transform::Transform;
pub use triangle_mesh::{TRIANGLES_MAX, TriangleMesh};
pub use visual_mesh::{Alpha, VISUAL_TRIANGLES_MAX, VisualMaterial, VisualMesh, VisualPart};
