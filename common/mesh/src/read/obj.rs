//! Wavefront OBJ, read by `tobj`: positions and faces. Each object or group is a submesh; lines and
//! curves are passed over, and so are normals, texture coordinates and materials unless looks are
//! asked for.

use std::borrow::Cow;

use tobj::{LoadError, LoadOptions, Material, Mesh};

use super::gathering::{Gathering, SUBMESHES_MAX, too_many_triangles};
use super::looks::{Corners, Looks};
use super::polygon::PolygonCutter;
use super::{MeshProblem, SideFile};
use crate::transform::Transform;
use crate::triangle_mesh::TRIANGLES_MAX;
use crate::visual_mesh::{Alpha, VisualMaterial};

/// The name that the crate gives to faces outside all objects and groups.
const UNNAMED: &str = "unnamed_object";

/// The most positions and corners of faces.
const CORNERS_MAX: usize = 3 * TRIANGLES_MAX;

/// The largest library of materials \[bytes\].
const LIBRARY_BYTES_MAX: usize = 4 << 20;

/// Reads a file.
pub(super) fn read(
    bytes: &[u8],
    side_file: &SideFile<'_>,
    gathering: &mut Gathering,
) -> Result<(), MeshProblem> {
    let has_looks = gathering.wants_looks();
    let text = PlainText::new(bytes, has_looks)?;
    let options = LoadOptions {
        ignore_points: true,
        ignore_lines: true,
        ..LoadOptions::default()
    };
    let mut rest = text.text.as_bytes();
    let library = |name: &std::path::Path| {
        let bytes = name.to_str().filter(|_| has_looks).and_then(side_file);
        let bytes = bytes.filter(|bytes| bytes.len() <= LIBRARY_BYTES_MAX);
        let bytes = bytes.ok_or(LoadError::OpenFileFailed)?;
        tobj::load_mtl_buf(&mut String::from_utf8_lossy(&bytes).as_bytes())
    };
    let models = tobj::load_obj_buf(&mut rest, &options, library);
    let (models, materials) = models.map_err(|error| text.malformed(error, rest.len()))?;
    let numbers: Vec<Option<usize>> = match materials {
        Ok(materials) if has_looks => {
            let materials = materials.into_iter();
            materials
                .map(|material| add_material(&material, side_file, gathering))
                .collect()
        }
        Err(error) if has_looks => {
            gathering.tell(format!("its materials cannot be read: {error}"));
            Vec::new()
        }
        _ => Vec::new(),
    };
    let mut cutter = PolygonCutter::new();
    for model in models {
        let name = Some(model.name.as_str()).filter(|name| *name != UNNAMED);
        let name = name.unwrap_or_default();
        let mesh = &model.mesh;
        let (vertices, _) = mesh.positions.as_chunks();
        if !has_looks {
            let triangles = triangles(mesh, vertices, &mut cutter);
            gathering.add(name, "faces", vertices, &triangles)?;
            continue;
        }
        let places = places(mesh, vertices, &mut cutter);
        let of = |list: &[u32]| -> Vec<[u32; 3]> {
            let index = |place: u32| list.get(place as usize).copied().unwrap_or(u32::MAX);
            places.iter().map(|triangle| triangle.map(index)).collect()
        };
        let (normals, _) = mesh.normals.as_chunks::<3>();
        let (texcoords, _) = mesh.texcoords.as_chunks::<2>();
        let texcoords: Vec<[f64; 2]> = texcoords.iter().map(|[u, v]| [*u, 1.0 - v]).collect();
        let of_normals = of(&mesh.normal_indices);
        let of_texcoords = of(&mesh.texcoord_indices);
        let corners = mesh.indices.len();
        let has_normals = |mesh: &Mesh| !text.lacks_normals && mesh.normal_indices.len() == corners;
        let looks = Looks {
            normals: has_normals(mesh).then_some(Corners {
                values: normals,
                triangles: &of_normals,
            }),
            texcoords: (mesh.texcoord_indices.len() == corners).then_some(Corners {
                values: &texcoords,
                triangles: &of_texcoords,
            }),
            material: mesh.material_id.and_then(|id| *numbers.get(id)?),
            grips: None,
        };
        let (place, triangles) = ((name, "faces"), of(&mesh.indices));
        gathering.add_looking(place, vertices, &triangles, &Transform::IDENTITY, &looks)?;
    }
    Ok(())
}

/// Adds a material of a library, with its images.
fn add_material(
    material: &Material,
    side_file: &SideFile<'_>,
    gathering: &mut Gathering,
) -> Option<usize> {
    let mut image = |line: &Option<String>| {
        let name = line.as_deref().map(file_of_map)?;
        gathering.add_image_file(&[name], side_file)
    };
    let (color_image, normal_image) = (
        image(&material.diffuse_texture),
        image(&material.unknown_param.get("norm").cloned()),
    );
    // A library may give no colour to what has a texture.
    let plain = if color_image.is_some() { 1.0 } else { 0.8 };
    let [red, green, blue] = material
        .diffuse
        .filter(|color| color_image.is_none() || *color != [0.0; 3])
        .unwrap_or([plain; 3]);
    // Exporters mix up what is opaque and what is not.
    let opacity = material.dissolve.filter(|own| *own > 0.0).unwrap_or(1.0);
    let part = |x: f64| x.clamp(0.0, 1.0) as f32;
    let shininess = material.shininess.unwrap_or(10.0).max(0.0);
    gathering.add_material(VisualMaterial {
        name: material.name.clone(),
        color: [red, green, blue, opacity].map(part),
        emissive: material.emissive.unwrap_or([0.0; 3]).map(part),
        roughness: part((2.0 / (shininess + 2.0)).sqrt()),
        color_image,
        normal_image,
        alpha: if opacity < 1.0 {
            Alpha::Blend
        } else {
            Alpha::Opaque
        },
        ..VisualMaterial::default()
    })
}

/// Returns the file that a line of a map names, after options such as `-s 1 1 1`.
fn file_of_map(line: &str) -> &str {
    let line = line.trim();
    if line.starts_with('-') {
        line.rsplit(char::is_whitespace).next().unwrap_or(line)
    } else {
        line
    }
}

/// Returns the triangles of all faces as places among their corners.
fn places(mesh: &Mesh, vertices: &[[f64; 3]], cutter: &mut PolygonCutter) -> Vec<[u32; 3]> {
    let corners = mesh.indices.len() as u32;
    if mesh.face_arities.is_empty() {
        return (0..corners / 3)
            .map(|i| [3 * i, 3 * i + 1, 3 * i + 2])
            .collect();
    }
    let (mut places, mut start) = (Vec::new(), 0);
    for count in &mesh.face_arities {
        let end = start + *count as usize;
        let first = places.len();
        cutter.cut_places(&mesh.indices[start..end], vertices, &mut places);
        for place in places[first..].iter_mut().flatten() {
            *place += start as u32;
        }
        start = end;
    }
    places
}

/// Text as the crate wants it: it does not join lines that end in a backslash and takes the keyword
/// of an indented line into a name.
#[derive(Default)]
struct PlainText {
    /// The lines that shapes need.
    text: String,
    /// The number of each of them in the file.
    numbers: Vec<u32>,
    /// True if some corner has no normal: the crate gives it any other.
    lacks_normals: bool,
}

impl PlainText {
    /// Passes on only as many lines as may be held: the crate spends a hundred bytes on the two of
    /// a face without corners.
    fn new(bytes: &[u8], has_looks: bool) -> Result<Self, MeshProblem> {
        let text = String::from_utf8_lossy(bytes);
        let mut own = Self::default();
        let (mut positions, mut corners, mut faces, mut groups) = (0, 0, 0, 0);
        let (mut has_library, mut last_material) = (false, String::new());
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
                Some("vt" | "vn") if has_looks => positions += 1,
                // One that is used already begins no submesh.
                Some("usemtl") if has_looks && last_material != line => {
                    last_material = line.to_string();
                    groups += 1;
                }
                // The crate keeps every line of every library.
                Some("mtllib") if has_looks && !has_library => has_library = true,
                Some("f") => {
                    faces += 1;
                    let (count, lacking) = words.fold((0, 0), |(count, lacking), word| {
                        let has_normal = word.split('/').nth(2).is_some_and(|n| !n.is_empty());
                        (count + 1, lacking + usize::from(!has_normal))
                    });
                    corners += count;
                    own.lacks_normals |= lacking > 0;
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
