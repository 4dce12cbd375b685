//! Wavefront OBJ, read by `tobj`: positions and faces. Each object or group is a submesh;
//! materials, normals, textures, lines and curves are passed over.

use std::borrow::Cow;

use tobj::{LoadError, LoadOptions, Mesh};

use super::MeshProblem;
use super::gathering::{Gathering, SUBMESHES_MAX, too_many_triangles};
use super::polygon::PolygonCutter;
use crate::triangle_mesh::TRIANGLES_MAX;

/// The name that the crate gives to faces outside all objects and groups.
const UNNAMED: &str = "unnamed_object";

/// The most positions and corners of faces.
const CORNERS_MAX: usize = 3 * TRIANGLES_MAX;

/// Reads a file.
pub(super) fn read(bytes: &[u8], gathering: &mut Gathering) -> Result<(), MeshProblem> {
    let text = PlainText::new(bytes)?;
    let options = LoadOptions {
        ignore_points: true,
        ignore_lines: true,
        ..LoadOptions::default()
    };
    let mut rest = text.text.as_bytes();
    let no_materials = |_: &_| Err(LoadError::OpenFileFailed);
    let models = tobj::load_obj_buf(&mut rest, &options, no_materials);
    let (models, _) = models.map_err(|error| text.malformed(error, rest.len()))?;
    let mut cutter = PolygonCutter::new();
    for model in models {
        let name = Some(model.name.as_str()).filter(|name| *name != UNNAMED);
        let (vertices, _) = model.mesh.positions.as_chunks();
        let triangles = triangles(&model.mesh, vertices, &mut cutter);
        gathering.add(name.unwrap_or_default(), "faces", vertices, &triangles)?;
    }
    Ok(())
}

/// Text as the crate wants it: it does not join lines that end in a backslash and takes the keyword
/// of an indented line into a name.
#[derive(Default)]
struct PlainText {
    /// The lines that shapes need.
    text: String,
    /// The number of each of them in the file.
    numbers: Vec<u32>,
}

impl PlainText {
    /// Passes on only as many lines as may be held: the crate spends a hundred bytes on the two of
    /// a face without corners.
    fn new(bytes: &[u8]) -> Result<Self, MeshProblem> {
        let text = String::from_utf8_lossy(bytes);
        let mut own = Self::default();
        let (mut positions, mut corners, mut faces, mut groups) = (0, 0, 0, 0);
        let mut lines = text.lines().zip(1..);
        while let Some((line, number)) = lines.next() {
            let mut line = Cow::Borrowed(line.trim());
            while line.ends_with('\\') {
                let joined = line.to_mut();
                joined.pop();
                joined.push(' ');
                *joined += lines.next().map_or("", |(line, _)| line.trim_end());
            }
            let mut words = line.split_whitespace();
            match words.next() {
                Some("v") => positions += 1,
                Some("f") => {
                    faces += 1;
                    corners += words.count();
                }
                Some("o" | "g") => {
                    groups += 1;
                    let words: Vec<&str> = line.split_whitespace().collect();
                    line = Cow::Owned(words.join(" "));
                }
                _ => continue,
            }
            if faces > TRIANGLES_MAX || corners > CORNERS_MAX {
                return Err(too_many_triangles());
            }
            if positions > CORNERS_MAX {
                return Err(MeshProblem::TooMany {
                    what: "positions",
                    maximum: CORNERS_MAX,
                });
            }
            if groups > SUBMESHES_MAX {
                return Err(MeshProblem::TooMany {
                    what: "objects and groups",
                    maximum: SUBMESHES_MAX,
                });
            }
            own.text += &line;
            own.text.push('\n');
            own.numbers.push(number);
        }
        Ok(own)
    }

    /// The problem that the crate found when so many bytes were left to read; it looks at the
    /// indices of faces when their object or group ends.
    fn malformed(&self, error: LoadError, left: usize) -> MeshProblem {
        let read = &self.text.as_bytes()[..self.text.len() - left];
        let count = read.split(|byte| *byte == b'\n').count() - 1;
        let line = count.checked_sub(1).map_or(0, |last| self.numbers[last]);
        let place = match error {
            LoadError::FaceVertexOutOfBounds => format!("faces that end in line {line}"),
            _ => format!("line {line}"),
        };
        MeshProblem::malformed(place, error.to_string())
    }
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
