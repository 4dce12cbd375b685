//! [`read_mesh`]: mesh files of all formats to [`MeshFile`]s.
//!
//! One reader per format, each with Gazebo's meaning; what they find goes through a [`Gathering`],
//! which holds every bound. No length that a file states is believed before the bytes are there.

mod collada;
mod gathering;
mod gltf;
mod looks;
mod obj;
mod polygon;
mod stl;

use thiserror::Error;

use crate::mesh_file::MeshFile;
use crate::skeleton::Skeleton;
use crate::visual_mesh::VisualMesh;
use gathering::Gathering;
pub(crate) use looks::flat_part;
pub(crate) use polygon::turn;

/// The largest mesh file that is read \[bytes\].
pub const MESH_FILE_BYTES_MAX: usize = 512 << 20;

/// Finds a file that another refers to, by the name that stands there.
pub(crate) type SideFile<'a> = dyn Fn(&str) -> Option<Vec<u8>> + 'a;

/// Reads a mesh file: STL, OBJ, Collada, glTF or GLB, by the extension of `name`, else by content.
///
/// `side_file` finds the buffers that a glTF file names, relative to it. Textures and materials are
/// never asked for.
///
/// # Errors
/// Fails if the format is unknown, the file breaks its format, a buffer is missing, a position is
/// not finite, there are no triangles, or there are too many.
pub fn read_mesh(
    bytes: &[u8],
    name: &str,
    side_file: &SideFile<'_>,
) -> Result<MeshFile, ReadMeshError> {
    let mut gathering = Gathering::default();
    let read = gather(bytes, name, side_file, &mut gathering);
    let read = read.and_then(|()| gathering.finish());
    read.map_err(|problem| ReadMeshError {
        name: name.to_owned(),
        problem,
    })
}

/// Reads a mesh file as [`read_mesh`] does, with its looks: normals, texture coordinates, materials
/// and images.
///
/// `side_file` finds the buffers, materials and images that the file names, relative to it; an
/// image that is missing or broken is left out, and is one of the problems of the mesh.
///
/// # Errors
/// Fails as [`read_mesh`] does.
pub fn read_visual_mesh(
    bytes: &[u8],
    name: &str,
    side_file: &SideFile<'_>,
) -> Result<VisualMesh, ReadMeshError> {
    let mut gathering = Gathering::of_looks();
    let read = gather(bytes, name, side_file, &mut gathering);
    let read = read.and_then(|()| gathering.finish_looks());
    read.map_err(|problem| ReadMeshError {
        name: name.to_owned(),
        problem,
    })
}

/// Reads a mesh file as [`read_visual_mesh`] does, with the bones that move it, if it is Collada or
/// glTF and has any.
///
/// # Errors
/// Fails as [`read_mesh`] does, and if bones or their motions are not what the format demands.
pub fn read_skinned_mesh(
    bytes: &[u8],
    name: &str,
    side_file: &SideFile<'_>,
) -> Result<VisualMesh, ReadMeshError> {
    let mut gathering = Gathering::of_skins();
    let read = gather(bytes, name, side_file, &mut gathering);
    let read = read.and_then(|()| gathering.finish_looks());
    read.map_err(|problem| ReadMeshError {
        name: name.to_owned(),
        problem,
    })
}

/// Reads the bones of a Collada or glTF file and how they move, whether a mesh goes with them or
/// not.
///
/// # Errors
/// Fails as [`read_skinned_mesh`] does, and if nothing moves.
pub fn read_clips(
    bytes: &[u8],
    name: &str,
    side_file: &SideFile<'_>,
) -> Result<Skeleton, ReadMeshError> {
    let mut gathering = Gathering::of_skins();
    let read = gather(bytes, name, side_file, &mut gathering);
    let skeleton = read.and_then(|()| {
        let skeleton = gathering.into_skeleton();
        let moving = skeleton.filter(|skeleton| !skeleton.clips.is_empty());
        moving.ok_or(MeshProblem::NoMotion)
    });
    skeleton.map_err(|problem| ReadMeshError {
        name: name.to_owned(),
        problem,
    })
}

/// Reason why a mesh file cannot be read.
#[derive(Clone, Debug, PartialEq, Error)]
#[error("{name}: {problem}")]
pub struct ReadMeshError {
    /// The file.
    pub name: String,
    /// Cause of the error.
    pub problem: MeshProblem,
}

/// Problem of a mesh file.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum MeshProblem {
    /// Neither the extension nor the content is that of a format that is read.
    #[error("not a mesh format that is read; convert it to STL, OBJ, Collada (.dae), glTF or GLB")]
    UnknownFormat,
    /// The file is not what its format demands.
    #[error("{place}: {message}")]
    Malformed {
        /// The line, byte or element.
        place: String,
        /// Description of the problem.
        message: String,
    },
    /// A file that this one refers to is missing.
    #[error("it refers to {uri}, which cannot be found beside it")]
    MissingSideFile {
        /// The name as it stands in the file.
        uri: String,
    },
    /// There is nothing to collide with.
    #[error("it holds no triangles")]
    Empty,
    /// There is nothing that moves.
    #[error("no bone moves in it")]
    NoMotion,
    /// A bound is exceeded.
    #[error("more than {maximum} {what}; simplify the mesh")]
    TooMany {
        /// Name of the part that there is too much of.
        what: &'static str,
        /// Number of these that is read, at most.
        maximum: usize,
    },
}

impl MeshProblem {
    fn malformed(place: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Malformed {
            place: place.into(),
            message: message.into(),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Format {
    Stl,
    Obj,
    Collada,
    Gltf,
}

fn gather(
    bytes: &[u8],
    name: &str,
    side_file: &SideFile<'_>,
    gathering: &mut Gathering,
) -> Result<(), MeshProblem> {
    if bytes.len() > MESH_FILE_BYTES_MAX {
        return Err(MeshProblem::TooMany {
            what: "bytes",
            maximum: MESH_FILE_BYTES_MAX,
        });
    }
    let format = by_extension(name).or_else(|| by_content(bytes));
    match format.ok_or(MeshProblem::UnknownFormat)? {
        Format::Stl => stl::read(bytes, gathering),
        Format::Obj => obj::read(bytes, side_file, gathering),
        Format::Collada => collada::read(bytes, side_file, gathering),
        Format::Gltf => gltf::read(bytes, side_file, gathering),
    }
}

fn by_extension(name: &str) -> Option<Format> {
    let (_, extension) = name.rsplit_once('.')?;
    match extension.to_ascii_lowercase().as_str() {
        "stl" | "stla" | "stlb" => Some(Format::Stl),
        "obj" => Some(Format::Obj),
        "dae" => Some(Format::Collada),
        "gltf" | "glb" => Some(Format::Gltf),
        _ => None,
    }
}

fn by_content(bytes: &[u8]) -> Option<Format> {
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let text = text.trim_ascii_start();
    if bytes.starts_with(b"glTF") || text.starts_with(b"{") {
        Some(Format::Gltf)
    } else if stl::is_binary(bytes) || text.starts_with(b"solid") {
        Some(Format::Stl)
    } else if text.starts_with(b"<") {
        Some(Format::Collada)
    } else {
        let mut lines = text.split(|byte| *byte == b'\n');
        let is_vertex = |line: &[u8]| line.starts_with(b"v ");
        lines.any(is_vertex).then_some(Format::Obj)
    }
}

#[cfg(test)]
mod tests;
