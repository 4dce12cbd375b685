//! glTF 2.0 and GLB: positions and triangles of the nodes of the scene, as the nodes place them.
//!
//! Axes stay as they are in the file, as in Gazebo: glTF says that y is up, and a model that means
//! that is turned in SDF. Only what shapes need is read; unknown members are passed over.

mod accessor;
mod document;
mod scene;

use super::gathering::Gathering;
use super::{MeshProblem, SideFile};
use document::Document;

/// Reads a file.
pub(super) fn read(
    bytes: &[u8],
    side_file: &SideFile<'_>,
    gathering: &mut Gathering,
) -> Result<(), MeshProblem> {
    let (json, chunk) = if bytes.starts_with(b"glTF") {
        split_binary(bytes)?
    } else {
        (bytes, None)
    };
    let json = json.strip_prefix(b"\xef\xbb\xbf").unwrap_or(json);
    let document: Document = serde_json::from_slice(json).map_err(|error| {
        let place = format!("line {}, column {}", error.line(), error.column());
        MeshProblem::malformed(place, error.to_string())
    })?;
    if !document.asset.version.starts_with("2.") {
        let message = format!(
            "glTF version {:?} is not read; export as glTF 2.0",
            document.asset.version
        );
        return Err(MeshProblem::malformed("asset", message));
    }
    let buffers = document.load_buffers(chunk, side_file)?;
    scene::gather(&document, &buffers, gathering)
}

/// Splits a binary file into its document and the buffer that comes with it.
fn split_binary(bytes: &[u8]) -> Result<(&[u8], Option<&[u8]>), MeshProblem> {
    let mut rest = bytes.get(12..).unwrap_or_default();
    let mut json = None;
    let mut binary = None;
    while let Some((header, body)) = rest.split_first_chunk::<8>() {
        let [a, b, c, d, kind @ ..] = *header;
        let length = u32::from_le_bytes([a, b, c, d]) as usize;
        let Some((chunk, after)) = body.split_at_checked(length) else {
            let place = format!("byte {}", bytes.len() - rest.len());
            let message = "a chunk is longer than the file";
            return Err(MeshProblem::malformed(place, message));
        };
        match &kind {
            b"JSON" if json.is_none() => json = Some(chunk),
            b"BIN\0" if binary.is_none() => binary = Some(chunk),
            _ => {}
        }
        rest = after;
    }
    let json = json.ok_or_else(|| {
        MeshProblem::malformed("byte 12", "no chunk of this GLB file is a JSON document")
    })?;
    Ok((json, binary))
}
