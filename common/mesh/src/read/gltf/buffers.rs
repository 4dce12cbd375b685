//! The bytes of the buffers of a glTF document: within the file, beside it, or spelled out.

use std::borrow::Cow;

use ::gltf::Document;
use ::gltf::buffer::Source;
use base64::Engine;
use base64::engine::general_purpose::STANDARD_PAD_INDIFFERENT;

use crate::read::{MESH_FILE_BYTES_MAX, MeshProblem, SideFile};

/// Brings the bytes of all buffers together; `chunk` is the buffer within a GLB file.
pub(super) fn load<'b>(
    document: &Document,
    chunk: Option<&'b [u8]>,
    side_file: &SideFile<'_>,
) -> Result<Vec<Cow<'b, [u8]>>, MeshProblem> {
    let mut buffers = Vec::new();
    let mut total = 0_usize;
    for buffer in document.buffers() {
        let bytes = match (buffer.source(), chunk) {
            (Source::Uri(uri), _) => Cow::Owned(fetch(uri, buffer.index(), side_file)?),
            (Source::Bin, Some(chunk)) if buffer.index() == 0 => Cow::Borrowed(chunk),
            (Source::Bin, _) => Cow::Borrowed(&[][..]),
        };
        total = total.saturating_add(bytes.len());
        if total > MESH_FILE_BYTES_MAX {
            return Err(MeshProblem::TooMany {
                what: "bytes in buffers",
                maximum: MESH_FILE_BYTES_MAX,
            });
        }
        buffers.push(bytes);
    }
    Ok(buffers)
}

fn fetch(uri: &str, number: usize, side_file: &SideFile<'_>) -> Result<Vec<u8>, MeshProblem> {
    if !uri.starts_with("data:") {
        return side_file(&percent_decoded(uri)).ok_or_else(|| MeshProblem::MissingSideFile {
            uri: uri.to_owned(),
        });
    }
    spelled_out(uri).ok_or_else(|| {
        let place = format!("buffer {number}");
        MeshProblem::malformed(place, "a data URI that is not valid base64")
    })
}

/// Returns the bytes that a data URI spells out.
pub(super) fn spelled_out(uri: &str) -> Option<Vec<u8>> {
    let data = uri.strip_prefix("data:")?;
    let (_, encoded) = data.split_once(";base64,")?;
    STANDARD_PAD_INDIFFERENT.decode(encoded).ok()
}

/// Returns a URI with its escapes such as `%20` spelled out.
pub(in crate::read) fn percent_decoded(uri: &str) -> String {
    let mut bytes = Vec::with_capacity(uri.len());
    let mut rest = uri.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let digits = after.get(..2).and_then(|two| std::str::from_utf8(two).ok());
        let code = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        if let Some(code) = code.filter(|_| *first == b'%') {
            bytes.push(code);
            rest = &after[2..];
        } else {
            bytes.push(*first);
            rest = after;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
