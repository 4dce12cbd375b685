//! [`Looks`]: what a file says of its corners besides positions, and [`visual_part`], which makes
//! of it the vertices that are drawn.

use std::collections::BTreeMap;

use super::MeshProblem;
use crate::mass_properties::cross;
use crate::skeleton::Grip;
use crate::transform::Transform;
use crate::visual_mesh::VisualPart;

/// Looks of a submesh.
#[derive(Default)]
pub(super) struct Looks<'a> {
    /// Normals of corners; triangles without are flat.
    pub(super) normals: Option<Corners<'a, 3>>,
    /// Texture coordinates of corners; v is 0 in the first row of an image.
    pub(super) texcoords: Option<Corners<'a, 2>>,
    /// The number of its material.
    pub(super) material: Option<usize>,
    /// The bones that its positions go with, one for each.
    pub(super) grips: Option<&'a [Grip]>,
}

/// Values of the corners of triangles: indices into a list, one triple for each triangle.
pub(super) struct Corners<'a, const N: usize> {
    pub(super) values: &'a [[f64; N]],
    pub(super) triangles: &'a [[u32; 3]],
}

impl<const N: usize> Corners<'_, N> {
    /// Tells whether there is a value for each corner of so many triangles.
    fn fits(&self, triangles: usize) -> bool {
        let is_there = |index: &u32| (*index as usize) < self.values.len();
        self.triangles.len() == triangles && self.triangles.iter().flatten().all(is_there)
    }
}

/// A vertex: its position, its normal (twice the index of one that is given, or twice the number of
/// a flat triangle and one), its texture coordinates.
type Key = (u32, u64, u32);

/// Makes the vertices and triangles that are drawn; lists that do not fit are left out.
pub(super) fn visual_part(
    place: &str,
    (vertices, triangles): (&[[f64; 3]], &[[u32; 3]]),
    transform: &Transform,
    looks: &Looks<'_>,
) -> Result<VisualPart, MeshProblem> {
    let normals = looks.normals.as_ref();
    let normals = normals.filter(|corners| corners.fits(triangles.len()));
    let texcoords = looks.texcoords.as_ref();
    let texcoords = texcoords.filter(|corners| corners.fits(triangles.len()));
    let grips = looks.grips.filter(|grips| grips.len() >= vertices.len());
    let mut part = VisualPart {
        material: looks.material,
        ..VisualPart::default()
    };
    let order = if transform.is_mirror() {
        [0, 2, 1]
    } else {
        [0, 1, 2]
    };
    let mut known: BTreeMap<Key, u32> = BTreeMap::new();
    for (number, triangle) in triangles.iter().enumerate() {
        let corners = positions(place, vertices, *triangle, transform)?;
        let Some(flat) = face_normal(order.map(|i| corners[i])) else {
            continue;
        };
        let mut indices = [0; 3];
        for (index, corner) in indices.iter_mut().zip(order) {
            let given = normals.map(|normals| normals.triangles[number][corner]);
            let given = given.zip(normals).and_then(|(index, normals)| {
                let normal = transform.apply_to_normal(normals.values[index as usize]);
                (normal != [0.0; 3]).then_some((2 * u64::from(index), normal))
            });
            let (normal_key, normal) = given.unwrap_or((2 * number as u64 + 1, flat));
            let texcoord = texcoords.map_or(0, |list| list.triangles[number][corner]);
            let key = (triangle[corner], normal_key, texcoord);
            *index = *known.entry(key).or_insert_with(|| {
                part.positions.push(corners[corner].map(|x| x as f32));
                part.normals.push(normal.map(|x| x as f32));
                if let Some(grips) = grips {
                    part.grips.push(grips[triangle[corner] as usize]);
                }
                if let Some(list) = texcoords {
                    let [u, v] = list.values[texcoord as usize].map(|x| x as f32);
                    let finite = |x: f32| if x.is_finite() { x } else { 0.0 };
                    part.texcoords.push([finite(u), finite(v)]);
                }
                part.positions.len() as u32 - 1
            });
        }
        part.triangles.push(indices);
    }
    Ok(part)
}

/// Makes flat triangles of a mesh whose indices are in range; those that are nowhere are left out.
pub(crate) fn flat_part(vertices: &[[f64; 3]], triangles: &[[u32; 3]]) -> VisualPart {
    let bare = Looks::default();
    let part = visual_part("mesh", (vertices, triangles), &Transform::IDENTITY, &bare);
    part.unwrap_or_default()
}

fn positions(
    place: &str,
    vertices: &[[f64; 3]],
    triangle: [u32; 3],
    transform: &Transform,
) -> Result<[[f64; 3]; 3], MeshProblem> {
    let mut corners = [[0.0; 3]; 3];
    for (corner, index) in corners.iter_mut().zip(triangle) {
        let Some(vertex) = vertices.get(index as usize) else {
            let message = format!("index {index} is beyond the {} positions", vertices.len());
            return Err(MeshProblem::malformed(place, message));
        };
        // As it is drawn: what has an area has one in single precision.
        *corner = transform.apply(*vertex).map(|x| f64::from(x as f32));
        if !corner.iter().all(|x| x.is_finite()) {
            let message = format!("position {index} is not finite");
            return Err(MeshProblem::malformed(place, message));
        }
    }
    Ok(corners)
}

/// Returns the unit normal of a triangle; none of one without area.
fn face_normal([a, b, c]: [[f64; 3]; 3]) -> Option<[f64; 3]> {
    let side = |to: [f64; 3]| std::array::from_fn(|i| to[i] - a[i]);
    let normal = cross(side(b), side(c));
    let length = normal.iter().map(|x| x * x).sum::<f64>().sqrt();
    (length > 0.0 && length.is_finite()).then(|| normal.map(|x| x / length))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SQUARE: [[f64; 3]; 4] = [[0.0; 3], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0]];
    const HALVES: [[u32; 3]; 2] = [[0, 1, 2], [0, 2, 3]];

    fn part(looks: &Looks<'_>, transform: &Transform) -> VisualPart {
        visual_part("here", (&SQUARE, &HALVES), transform, looks).unwrap()
    }

    #[test]
    fn triangles_without_normals_are_flat_and_share_no_corner() {
        let part = part(&Looks::default(), &Transform::IDENTITY);
        assert_eq!((part.positions.len(), part.texcoords.len()), (6, 0));
        assert_eq!(part.normals, [[0.0, 0.0, 1.0]; 6]);
    }

    #[test]
    fn corners_that_agree_in_everything_are_one_vertex() {
        let looks = Looks {
            normals: Some(Corners {
                values: &[[0.0, 0.0, 2.0]],
                triangles: &[[0; 3]; 2],
            }),
            texcoords: Some(Corners {
                values: &[[0.0, 0.0], [1.0, 1.0]],
                triangles: &[[0, 0, 0], [1, 0, 0]],
            }),
            material: Some(3),
            grips: None,
        };
        let mirror = Transform::scale([1.0, 1.0, -1.0]);
        let part = part(&looks, &mirror);
        assert_eq!((part.positions.len(), part.material), (5, Some(3)));
        assert_eq!(part.normals, [[0.0, 0.0, -1.0]; 5]);
        assert_eq!(part.triangles[0], [0, 1, 2]);
        assert_eq!(part.positions[1], [1.0, 1.0, 0.0], "the order is turned");
    }

    #[test]
    fn lists_that_do_not_fit_are_left_out_and_wrong_indices_refused() {
        let looks = Looks {
            texcoords: Some(Corners {
                values: &[[0.0, 0.0]],
                triangles: &[[0, 0, 1]; 2],
            }),
            ..Looks::default()
        };
        assert_eq!(part(&looks, &Transform::IDENTITY).texcoords, [[0.0; 2]; 0]);
        let beyond = visual_part(
            "here",
            (&SQUARE, &[[0, 1, 4]]),
            &Transform::IDENTITY,
            &Looks::default(),
        );
        assert!(beyond.is_err());
    }
}
