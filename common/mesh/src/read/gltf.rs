//! glTF 2.0 and GLB, read by `gltf`: positions and triangles of the nodes of the scene, as the
//! nodes place them.
//!
//! Axes stay as they are in the file, as in Gazebo: glTF says that y is up, and a model that means
//! that is turned in SDF. The crate's own import is not used: it opens files and decodes images.

mod accessor;
mod buffers;
mod material;
mod scene;
mod skin;

use std::borrow::Cow;

use ::gltf::json::Root;
use ::gltf::json::validation::Checked;
use ::gltf::{Document, Error, Glb, Semantic};

pub(super) use buffers::percent_decoded;

use super::gathering::Gathering;
use super::{MeshProblem, SideFile};

/// The most members of all lists and objects of a document; two bytes of text can become hundreds
/// in memory.
const MEMBERS_MAX: usize = 2_000_000;

/// Extensions without which the positions of a document cannot be read.
const COMPRESSIONS: [&str; 2] = ["KHR_draco_mesh_compression", "EXT_meshopt_compression"];

/// Reads a file.
pub(super) fn read(
    bytes: &[u8],
    side_file: &SideFile<'_>,
    gathering: &mut Gathering,
) -> Result<(), MeshProblem> {
    let (json, chunk) = if bytes.starts_with(b"glTF") {
        split_binary(bytes)?
    } else {
        (Cow::Borrowed(bytes), None)
    };
    let document = document(json.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&json))?;
    let buffers = buffers::load(&document, chunk.as_deref(), side_file)?;
    scene::gather(&document, &buffers, side_file, gathering)
}

/// A JSON document, and the buffer that comes with it.
type Chunks<'b> = (Cow<'b, [u8]>, Option<Cow<'b, [u8]>>);

fn split_binary(bytes: &[u8]) -> Result<Chunks<'_>, MeshProblem> {
    let stated = bytes.get(8..).and_then(<[u8]>::first_chunk);
    // The crate subtracts the header from the length that stands in it.
    if stated.is_none_or(|length| u32::from_le_bytes(*length) < 12) {
        let message = "the length of this GLB file is less than that of its header";
        return Err(MeshProblem::malformed("byte 8", message));
    }
    let chunks = Glb::from_slice(bytes);
    let chunks = chunks.map_err(|error| malformed("GLB chunks", &error))?;
    Ok((chunks.json, chunks.bin))
}

/// Reads a document that the crate holds to be valid; any other may make it panic.
fn document(json: &[u8]) -> Result<Document, MeshProblem> {
    let is_member = |byte: &&u8| matches!(byte, b'{' | b'[' | b',');
    if json.iter().filter(is_member).count() > MEMBERS_MAX {
        return Err(MeshProblem::TooMany {
            what: "members in its JSON document",
            maximum: MEMBERS_MAX,
        });
    }
    let mut root = Root::from_slice(json).map_err(|error| {
        let place = format!("line {}, column {}", error.line(), error.column());
        MeshProblem::malformed(place, error.to_string())
    })?;
    let version = &root.asset.version;
    if !version.starts_with("2.") {
        let message = format!("glTF version {version:?} is not read; export as glTF 2.0");
        return Err(MeshProblem::malformed("asset", message));
    }
    let required = &root.extensions_required;
    if let Some(name) = required.iter().find(|n| COMPRESSIONS.contains(&n.as_str())) {
        let message = format!("{name} is not read; export without compression");
        return Err(MeshProblem::malformed("extensionsRequired", message));
    }
    // The crate refuses all others too, though none of them changes where positions are.
    root.extensions_required.clear();
    check_positions(&root)?;
    Document::from_json(root).map_err(|error| malformed("document", &error))
}

/// Holds that all positions are there, which the validation of the crate takes for granted.
fn check_positions(root: &Root) -> Result<(), MeshProblem> {
    let positions = Checked::Valid(Semantic::Positions);
    for (number, mesh) in root.meshes.iter().enumerate() {
        let mut primitives = mesh.primitives.iter();
        let is_missing = |index: usize| index >= root.accessors.len();
        if primitives.any(|primitive| {
            let index = primitive.attributes.get(&positions);
            index.is_some_and(|index| is_missing(index.value()))
        }) {
            let message = "an accessor that it refers to is not there";
            return Err(MeshProblem::malformed(format!("mesh {number}"), message));
        }
    }
    Ok(())
}

fn malformed(place: &str, error: &Error) -> MeshProblem {
    if let Error::Validation(problems) = error
        && let Some((path, problem)) = problems.first()
    {
        return MeshProblem::malformed(path.to_string(), problem.to_string());
    }
    MeshProblem::malformed(place, error.to_string())
}
