//! Wavefront OBJ: positions and faces. Each object or group is a submesh; materials, normals,
//! textures, lines and curves are passed over.

use super::MeshProblem;
use super::gathering::{Gathering, too_many_triangles};
use super::polygon::PolygonCutter;
use crate::triangle_mesh::TRIANGLES_MAX;

/// Reads a file.
pub(super) fn read(bytes: &[u8], gathering: &mut Gathering) -> Result<(), MeshProblem> {
    let text = String::from_utf8_lossy(bytes);
    let mut reader = Reader {
        vertices: Vec::new(),
        shape: Shape::default(),
        cutter: PolygonCutter::new(),
        gathering,
    };
    let mut lines = text.lines().zip(1..);
    while let Some((line, number)) = lines.next() {
        let mut words: Vec<&str> = line.split_whitespace().collect();
        while words.last().is_some_and(|word| word.ends_with('\\')) {
            let word = words.pop().expect("the last word was just seen");
            words.extend(word.strip_suffix('\\').filter(|word| !word.is_empty()));
            let Some((more, _)) = lines.next() else {
                break;
            };
            words.extend(more.split_whitespace());
        }
        reader.take(&words, number)?;
    }
    reader.close_shape()
}

struct Reader<'g> {
    vertices: Vec<[f64; 3]>,
    shape: Shape,
    cutter: PolygonCutter,
    gathering: &'g mut Gathering,
}

/// The faces since the last object or group began.
#[derive(Default)]
struct Shape {
    name: String,
    line: usize,
    corners: Vec<u32>,
    /// The number of corners of each face.
    counts: Vec<usize>,
}

impl Reader<'_> {
    fn take(&mut self, words: &[&str], line: usize) -> Result<(), MeshProblem> {
        let malformed =
            |message: &str| MeshProblem::malformed(format!("line {line}"), message.to_owned());
        let Some((keyword, values)) = words.split_first() else {
            return Ok(());
        };
        match *keyword {
            "v" => {
                let vertex = position(values);
                let message = "\"v\" is not followed by three numbers";
                self.vertices
                    .push(vertex.ok_or_else(|| malformed(message))?);
            }
            "f" => {
                let before = self.shape.corners.len();
                for corner in values {
                    let index = index(corner, self.vertices.len());
                    let message = "a corner of a face is not the number of a vertex";
                    self.shape
                        .corners
                        .push(index.ok_or_else(|| malformed(message))?);
                }
                self.shape.counts.push(self.shape.corners.len() - before);
                if self.shape.corners.len() > 3 * TRIANGLES_MAX {
                    return Err(too_many_triangles());
                }
            }
            "o" | "g" => {
                self.close_shape()?;
                self.shape.name = values.join(" ");
                self.shape.line = line;
            }
            _ => {}
        }
        Ok(())
    }

    fn close_shape(&mut self) -> Result<(), MeshProblem> {
        let shape = std::mem::take(&mut self.shape);
        let mut triangles = Vec::new();
        let mut corners = shape.corners.as_slice();
        for count in shape.counts {
            let (face, rest) = corners.split_at(count);
            self.cutter.cut(face, &self.vertices, &mut triangles);
            corners = rest;
        }
        let place = format!("faces after line {}", shape.line);
        self.gathering
            .add(&shape.name, &place, &self.vertices, &triangles)
    }
}

fn position(values: &[&str]) -> Option<[f64; 3]> {
    let mut position = [0.0; 3];
    for (i, number) in position.iter_mut().enumerate() {
        *number = values.get(i)?.parse().ok()?;
    }
    Some(position)
}

/// Reads `vertex/texture/normal`; numbers begin with 1, negative ones count back from the last.
fn index(corner: &str, count: usize) -> Option<u32> {
    let vertex = corner.split('/').next()?;
    let number: i64 = vertex.parse().ok()?;
    let index = if number < 0 {
        i64::try_from(count).ok()?.checked_add(number)?
    } else {
        number - 1
    };
    u32::try_from(index).ok()
}
