//! STL, binary and text, read by `stl_io`. All solids of a file are one submesh without a name, and
//! the normals that stand in it are not used, as in Gazebo.

use std::borrow::Cow;
use std::io::Cursor;

use super::MeshProblem;
use super::gathering::{Gathering, too_many_triangles};
use crate::triangle_mesh::TRIANGLES_MAX;

/// The title before the number of triangles \[bytes\].
const TITLE_BYTES: usize = 80;

/// A normal, three corners and two spare bytes \[bytes\].
const TRIANGLE_BYTES: usize = 50;

/// The longest line of a text file; the crate keeps every word of a line and repeats it in its
/// errors \[bytes\].
const LINE_BYTES_MAX: usize = 1000;

/// Returns whether the file is exactly as long as a binary STL file of as many triangles as it
/// states.
pub(super) fn is_binary(bytes: &[u8]) -> bool {
    stated_bytes(bytes) == Some(bytes.len())
}

/// Reads a file.
pub(super) fn read(bytes: &[u8], gathering: &mut Gathering) -> Result<(), MeshProblem> {
    let starts_as_text = bytes
        .trim_ascii_start()
        .get(..5)
        .is_some_and(|word| word.eq_ignore_ascii_case(b"solid"));
    let is_text = starts_as_text && !bytes.contains(&0);
    if is_text && !is_binary(bytes) {
        return read_facets(plain_text(bytes)?.as_bytes(), gathering);
    }
    if stated_bytes(bytes).is_none_or(|stated| stated > bytes.len()) {
        let message = "neither a text STL file, which begins with \"solid\", nor as long as a \
                       binary one of the number of triangles that stands here";
        return Err(MeshProblem::malformed("byte 80", message));
    }
    read_facets(&untitled(bytes), gathering)
}

fn stated_bytes(bytes: &[u8]) -> Option<usize> {
    let (count, _) = bytes.get(TITLE_BYTES..)?.split_first_chunk()?;
    let triangles = (u32::from_le_bytes(*count) as usize).checked_mul(TRIANGLE_BYTES)?;
    triangles.checked_add(TITLE_BYTES + count.len())
}

/// The crate takes a binary file whose title begins with "solid" for text: such a title is blanked.
fn untitled(bytes: &[u8]) -> Cow<'_, [u8]> {
    if !bytes.starts_with(b"solid") {
        return Cow::Borrowed(bytes);
    }
    let mut own = bytes.to_vec();
    own[..TITLE_BYTES].fill(b'\n');
    Cow::Owned(own)
}

/// Writes text as the crate wants it: it knows words in lower case only, refuses a solid without a
/// name and normals that are not finite, and ends with the first of several solids.
fn plain_text(bytes: &[u8]) -> Result<String, MeshProblem> {
    let text = String::from_utf8_lossy(bytes).to_ascii_lowercase();
    let mut plain = "solid \n".to_owned();
    let mut facets = 0;
    for (line, number) in text.lines().zip(1..) {
        match line.split_whitespace().next() {
            None | Some("solid" | "endsolid") => {}
            Some("facet") if facets == TRIANGLES_MAX => return Err(too_many_triangles()),
            Some("facet") => {
                facets += 1;
                plain += "facet normal 0 0 0\n";
            }
            _ if line.len() > LINE_BYTES_MAX => {
                let message = format!("longer than {LINE_BYTES_MAX} bytes");
                return Err(MeshProblem::malformed(format!("line {number}"), message));
            }
            _ => {
                plain += line;
                plain.push('\n');
            }
        }
    }
    Ok(plain + "endsolid\n")
}

fn read_facets(bytes: &[u8], gathering: &mut Gathering) -> Result<(), MeshProblem> {
    let mut vertices = Vec::new();
    let malformed = |number: usize, error: std::io::Error| {
        MeshProblem::malformed(format!("facet {number}"), error.to_string())
    };
    let mut cursor = Cursor::new(bytes);
    let facets = stl_io::create_stl_reader(&mut cursor).map_err(|error| malformed(0, error))?;
    for (facet, number) in facets.zip(1..) {
        if number > TRIANGLES_MAX {
            return Err(too_many_triangles());
        }
        let facet = facet.map_err(|error| malformed(number, error))?;
        vertices.extend(facet.vertices.map(|vertex| vertex.0.map(f64::from)));
    }
    let count = vertices.len() as u32 / 3;
    let triangles: Vec<[u32; 3]> = (0..count).map(|i| [3 * i, 3 * i + 1, 3 * i + 2]).collect();
    gathering.add("", "facets", &vertices, &triangles)
}
