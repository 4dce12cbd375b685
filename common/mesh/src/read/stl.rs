//! STL, binary and text. All solids of a file are one submesh without a name, and the normals that
//! stand in it are not used, as in Gazebo.

use super::MeshProblem;
use super::gathering::{Gathering, too_many_triangles};
use crate::triangle_mesh::TRIANGLES_MAX;

/// A title and the number of triangles \[bytes\].
const HEADER_BYTES: usize = 84;

/// A normal, three corners and two spare bytes \[bytes\].
const TRIANGLE_BYTES: usize = 50;

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
        return read_text(&String::from_utf8_lossy(bytes), gathering);
    }
    read_binary(bytes, gathering)
}

fn stated_bytes(bytes: &[u8]) -> Option<usize> {
    let count = bytes.get(HEADER_BYTES - 4..HEADER_BYTES)?;
    let count = u32::from_le_bytes(count.try_into().ok()?) as usize;
    count.checked_mul(TRIANGLE_BYTES)?.checked_add(HEADER_BYTES)
}

fn read_binary(bytes: &[u8], gathering: &mut Gathering) -> Result<(), MeshProblem> {
    let body = stated_bytes(bytes).and_then(|end| bytes.get(HEADER_BYTES..end));
    let Some(body) = body else {
        let message = "neither a text STL file, which begins with \"solid\", nor as long as a \
                       binary one of the number of triangles that stands here";
        return Err(MeshProblem::malformed("byte 80", message));
    };
    if body.len() / TRIANGLE_BYTES > TRIANGLES_MAX {
        return Err(too_many_triangles());
    }
    let mut vertices = Vec::with_capacity(3 * (body.len() / TRIANGLE_BYTES));
    for triangle in body.chunks_exact(TRIANGLE_BYTES) {
        for corner in triangle[12..48].chunks_exact(12) {
            vertices.push(std::array::from_fn(|i| {
                let mut number = [0; 4];
                number.copy_from_slice(&corner[4 * i..4 * i + 4]);
                f64::from(f32::from_le_bytes(number))
            }));
        }
    }
    add_soup(&vertices, gathering)
}

fn read_text(text: &str, gathering: &mut Gathering) -> Result<(), MeshProblem> {
    let mut vertices = Vec::new();
    let mut facet = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let mut words = line.split_whitespace();
        let Some(keyword) = words.next() else {
            continue;
        };
        match keyword.to_ascii_lowercase().as_str() {
            "vertex" => facet.push(position(words).ok_or_else(|| {
                let place = format!("line {}", number + 1);
                MeshProblem::malformed(place, "\"vertex\" is not followed by three numbers")
            })?),
            "endloop" | "endfacet" => {
                for corner in 2..facet.len() {
                    vertices.extend([facet[0], facet[corner - 1], facet[corner]]);
                }
                facet.clear();
            }
            "solid" | "endsolid" | "facet" | "outer" | "color" => {}
            word if word.starts_with(['#', '!', '$']) => {}
            _ => {
                let place = format!("line {}", number + 1);
                return Err(MeshProblem::malformed(
                    place,
                    "not a word of STL begins this line",
                ));
            }
        }
        if vertices.len() > 3 * TRIANGLES_MAX {
            return Err(too_many_triangles());
        }
    }
    add_soup(&vertices, gathering)
}

fn position<'t>(mut words: impl Iterator<Item = &'t str>) -> Option<[f64; 3]> {
    let mut position = [0.0; 3];
    for number in &mut position {
        *number = words.next()?.parse().ok()?;
    }
    Some(position)
}

/// Adds triangles of which each has corners of its own.
fn add_soup(vertices: &[[f64; 3]], gathering: &mut Gathering) -> Result<(), MeshProblem> {
    let count = vertices.len() as u32 / 3;
    let triangles: Vec<[u32; 3]> = (0..count).map(|i| [3 * i, 3 * i + 1, 3 * i + 2]).collect();
    gathering.add("", "triangles", vertices, &triangles)
}
