//! [`Surface`]: triangles of plain shapes and of meshes, as they are drawn.

use std::f64::consts::{PI, TAU};

use mesh::VisualPart;

/// Number of sides of what is round, and of its rings from pole to pole.
const SIDES: usize = 32;
const RINGS: usize = 16;

/// Triangles with normals and texture coordinates, frame of the shape.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Surface {
    /// Places of vertices \[m\].
    pub positions: Vec<[f32; 3]>,
    /// Unit vectors out of the surface, one for each vertex.
    pub normals: Vec<[f32; 3]>,
    /// Places on a texture, one for each vertex: to the right and down, 1 is its edge.
    pub texcoords: Vec<[f32; 2]>,
    /// Vertices of each triangle, counter-clockwise as seen from its front.
    pub triangles: Vec<[u32; 3]>,
}

impl Surface {
    /// Takes over a part of a mesh.
    pub(crate) fn of_part(part: &VisualPart) -> Self {
        let missing = part.positions.len() - part.texcoords.len();
        let mut texcoords = part.texcoords.clone();
        texcoords.extend(std::iter::repeat_n([0.0; 2], missing));
        Self {
            positions: part.positions.clone(),
            normals: part.normals.clone(),
            texcoords,
            triangles: part.triangles.clone(),
        }
    }

    /// A box with these edge lengths \[m\].
    pub(crate) fn of_box(size: [f64; 3]) -> Self {
        let mut own = Self::default();
        let half = size.map(|edge| edge / 2.0);
        for axis in 0..3 {
            let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
            for side in [-1.0, 1.0] {
                let mut normal = [0.0; 3];
                normal[axis] = side;
                let corner = |a: f64, b: f64| {
                    let mut corner = [0.0; 3];
                    corner[axis] = side * half[axis];
                    corner[u] = a * side * half[u];
                    corner[v] = b * half[v];
                    corner
                };
                own.quad(
                    [
                        corner(-1.0, -1.0),
                        corner(1.0, -1.0),
                        corner(1.0, 1.0),
                        corner(-1.0, 1.0),
                    ],
                    normal,
                );
            }
        }
        own
    }

    /// A rectangle around the origin.
    pub(crate) fn of_plane(normal: [f64; 3], size: [f64; 2]) -> Self {
        use crate::vector::{add, cross, scale, unit_or};
        let normal = unit_or(normal, [0.0, 0.0, 1.0]);
        // A level plane has its first edge along x.
        let across = cross([0.0, 1.0, 0.0], normal);
        let first = unit_or(across, [1.0, 0.0, 0.0]);
        let second = cross(normal, first);
        let corner = |a: f64, b: f64| {
            add(
                scale(first, a * size[0] / 2.0),
                scale(second, b * size[1] / 2.0),
            )
        };
        let mut own = Self::default();
        own.quad(
            [
                corner(-1.0, -1.0),
                corner(1.0, -1.0),
                corner(1.0, 1.0),
                corner(-1.0, 1.0),
            ],
            normal,
        );
        own
    }

    /// An ellipsoid with these half axes \[m\].
    pub(crate) fn of_ellipsoid(radii: [f64; 3]) -> Self {
        let profile: Vec<[f64; 4]> = (0..=RINGS)
            .map(|ring| {
                let (sine, cosine) = turn(PI * ring as f64 / RINGS as f64);
                [sine, cosine, sine, cosine]
            })
            .collect();
        let mut own = Self::default();
        own.revolve(&profile);
        for (position, normal) in own.positions.iter_mut().zip(&mut own.normals) {
            let on_ball = position.map(f64::from);
            *position = std::array::from_fn(|i| (on_ball[i] * radii[i]) as f32);
            let stretched = std::array::from_fn(|i| on_ball[i] / radii[i]);
            *normal = crate::vector::unit_or(stretched, [0.0, 0.0, 1.0]).map(|x| x as f32);
        }
        own
    }

    /// A cylinder along z.
    pub(crate) fn of_cylinder(radius: f64, length: f64) -> Self {
        let half = length / 2.0;
        let mut own = Self::default();
        own.revolve(&[[0.0, half, 0.0, 1.0], [radius, half, 0.0, 1.0]]);
        own.revolve(&[[radius, half, 1.0, 0.0], [radius, -half, 1.0, 0.0]]);
        own.revolve(&[[radius, -half, 0.0, -1.0], [0.0, -half, 0.0, -1.0]]);
        own
    }

    /// A cone along z with its tip at +z.
    pub(crate) fn of_cone(radius: f64, length: f64) -> Self {
        let half = length / 2.0;
        let slant = (radius * radius + length * length).sqrt();
        let normal = [length / slant, radius / slant];
        let mut own = Self::default();
        own.revolve(&[
            [0.0, half, normal[0], normal[1]],
            [radius, -half, normal[0], normal[1]],
        ]);
        own.revolve(&[[radius, -half, 0.0, -1.0], [0.0, -half, 0.0, -1.0]]);
        own
    }

    /// A cylinder along z with half a ball at each end.
    pub(crate) fn of_capsule(radius: f64, length: f64) -> Self {
        let profile: Vec<[f64; 4]> = (0..=RINGS + 1)
            .map(|ring| {
                // The ring at the equator stands twice, once at each end of the cylinder.
                let (number, end) = if ring <= RINGS / 2 {
                    (ring, length / 2.0)
                } else {
                    (ring - 1, -length / 2.0)
                };
                let (sine, cosine) = turn(PI * number as f64 / RINGS as f64);
                [radius * sine, end + radius * cosine, sine, cosine]
            })
            .collect();
        let mut own = Self::default();
        own.revolve(&profile);
        own
    }

    fn quad(&mut self, corners: [[f64; 3]; 4], normal: [f64; 3]) {
        let first = self.positions.len() as u32;
        self.positions
            .extend(corners.map(|corner| corner.map(|x| x as f32)));
        self.normals.extend([normal.map(|x| x as f32); 4]);
        self.texcoords
            .extend([[0.0, 1.0], [1.0, 1.0], [1.0, 0.0], [0.0, 0.0]]);
        self.triangles
            .extend([[first, first + 1, first + 2], [first, first + 2, first + 3]]);
    }

    /// Adds what a profile makes as it turns about z: radius, height, and the normal along both,
    /// from the top down.
    fn revolve(&mut self, profile: &[[f64; 4]]) {
        let first = self.positions.len() as u32;
        let rows = profile.len() - 1;
        for (row, [radius, height, outward, upward]) in profile.iter().enumerate() {
            for side in 0..=SIDES {
                let (sine, cosine) = turn(TAU * side as f64 / SIDES as f64);
                let position = [radius * cosine, radius * sine, *height];
                let normal = [outward * cosine, outward * sine, *upward];
                self.positions.push(position.map(|x| x as f32));
                self.normals.push(normal.map(|x| x as f32));
                let texcoord = [side as f64 / SIDES as f64, row as f64 / rows as f64];
                self.texcoords.push(texcoord.map(|x| x as f32));
            }
        }
        let stride = SIDES as u32 + 1;
        for row in 0..rows as u32 {
            for side in 0..SIDES as u32 {
                let here = first + row * stride + side;
                let below = here + stride;
                self.triangles
                    .extend([[here, below, below + 1], [here, below + 1, here + 1]]);
            }
        }
    }
}

/// Returns the sine and the cosine of an angle, the same on any machine.
fn turn(angle: f64) -> (f64, f64) {
    (libm::sin(angle), libm::cos(angle))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vector::{cross, dot, subtract};

    /// Returns the volume within a surface, positive if its triangles face outwards.
    fn volume(surface: &Surface) -> f64 {
        let corner = |index: u32| surface.positions[index as usize].map(f64::from);
        let parts = surface.triangles.iter().map(|triangle| {
            let [a, b, c] = triangle.map(corner);
            dot(a, cross(b, c)) / 6.0
        });
        parts.sum()
    }

    fn check(surface: &Surface, expect: f64) {
        let found = volume(surface);
        assert!(
            (found - expect).abs() < 0.02 * expect,
            "{found} but {expect}"
        );
        for triangle in &surface.triangles {
            let corner = |i: usize| surface.positions[triangle[i] as usize].map(f64::from);
            let side = |i: usize| subtract(corner(i), corner(0));
            let flat = cross(side(1), side(2));
            for index in triangle {
                let normal = surface.normals[*index as usize].map(f64::from);
                assert!(dot(flat, normal) >= -1e-9, "a normal points inwards");
                assert!((dot(normal, normal) - 1.0).abs() < 1e-5);
            }
        }
    }

    #[test]
    fn shapes_are_closed_and_have_their_volume() {
        check(&Surface::of_box([1.0, 2.0, 3.0]), 6.0);
        check(&Surface::of_ellipsoid([1.0, 2.0, 0.5]), 4.0 / 3.0 * PI);
        check(&Surface::of_cylinder(0.5, 2.0), PI / 2.0);
        check(&Surface::of_cone(1.0, 3.0), PI);
        check(&Surface::of_capsule(1.0, 2.0), PI * (2.0 + 4.0 / 3.0));
    }

    #[test]
    fn a_plane_faces_its_normal() {
        let level = Surface::of_plane([0.0, 0.0, 2.0], [4.0, 2.0]);
        assert_eq!(level.positions[2], [2.0, 1.0, 0.0]);
        let upright = Surface::of_plane([1.0, 0.0, 0.0], [4.0, 2.0]);
        assert!(upright.positions.iter().all(|corner| corner[0] == 0.0));
    }
}
