//! Wavefront OBJ, read by `tobj`: positions and faces. Each object or group is a submesh; materials,
//! normals, textures, lines and curves are passed over.

use tobj::{LoadError, LoadOptions, Mesh};

use super::MeshProblem;
use super::gathering::{Gathering, SUBMESHES_MAX, too_many_triangles};
use super::polygon::PolygonCutter;
use crate::triangle_mesh::TRIANGLES_MAX;

/// The name that the crate gives to faces outside all objects and groups.
const UNNAMED: &str = "unnamed_object";

/// Reads a file.
pub(super) fn read(bytes: &[u8], gathering: &mut Gathering) -> Result<(), MeshProblem> {
    let text = plain_text(bytes)?;
    let options = LoadOptions {
        ignore_points: true,
        ignore_lines: true,
        ..LoadOptions::default()
    };
    let mut rest = text.as_bytes();
    let no_materials = |_: &_| Err(LoadError::OpenFileFailed);
    let models = tobj::load_obj_buf(&mut rest, &options, no_materials);
    let (models, _) = models.map_err(|error| {
        let read = &text.as_bytes()[..text.len() - rest.len()];
        malformed(error, read.split(|byte| *byte == b'\n').count() - 1)
    })?;
    let mut cutter = PolygonCutter::new();
    for model in models {
        let name = Some(model.name.as_str()).filter(|name| *name != UNNAMED);
        let (vertices, _) = model.mesh.positions.as_chunks();
        let triangles = triangles(&model.mesh, vertices, &mut cutter);
        gathering.add(name.unwrap_or_default(), "faces", vertices, &triangles)?;
    }
    Ok(())
}

/// Writes text as the crate wants it, line for line: it does not join lines that end in a backslash
/// and takes the keyword of an indented line into a name. Only what shapes need is kept, and only so
/// many faces as may be held: the crate spends a hundred bytes on the two of an empty one.
fn plain_text(bytes: &[u8]) -> Result<String, MeshProblem> {
    let text = String::from_utf8_lossy(bytes);
    let mut plain = String::with_capacity(text.len());
    let (mut corners, mut faces, mut groups) = (0, 0, 0);
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let mut joined = line.trim().to_owned();
        let mut line_ends = 1;
        while joined.ends_with('\\') {
            joined.pop();
            joined.push(' ');
            let Some(more) = lines.next() else {
                break;
            };
            joined += more.trim_end();
            line_ends += 1;
        }
        match joined.split_whitespace().next() {
            Some("f") => {
                faces += 1;
                corners += joined.split_whitespace().count() - 1;
            }
            Some("o" | "g") => {
                groups += 1;
                joined = joined.split_whitespace().collect::<Vec<_>>().join(" ");
            }
            Some("v") => {}
            _ => joined.clear(),
        }
        if faces > TRIANGLES_MAX || corners > 3 * TRIANGLES_MAX {
            return Err(too_many_triangles());
        }
        if groups > SUBMESHES_MAX {
            return Err(MeshProblem::TooMany {
                what: "objects and groups",
                maximum: SUBMESHES_MAX,
            });
        }
        plain += &joined;
        plain.extend(std::iter::repeat_n('\n', line_ends));
    }
    Ok(plain)
}

fn triangles(mesh: &Mesh, vertices: &[[f64; 3]], cutter: &mut PolygonCutter) -> Vec<[u32; 3]> {
    if mesh.face_arities.is_empty() {
        return mesh.indices.as_chunks().0.to_vec();
    }
    let mut triangles = Vec::new();
    let mut corners = mesh.indices.as_slice();
    for count in &mesh.face_arities {
        let (face, rest) = corners.split_at(*count as usize);
        cutter.cut(face, vertices, &mut triangles);
        corners = rest;
    }
    triangles
}

/// The problem that the crate found once it had read so many lines; it looks at the indices of
/// faces when their object or group ends.
fn malformed(error: LoadError, lines: usize) -> MeshProblem {
    let place = match error {
        LoadError::FaceVertexOutOfBounds => format!("faces that end in line {lines}"),
        _ => format!("line {lines}"),
    };
    MeshProblem::malformed(place, error.to_string())
}
