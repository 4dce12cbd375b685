//! SDF geometries as rapier shapes.
//!
//! Ellipsoids become polyhedra and meshes what their world asks for; everything else is exact.
//! parry's cylinders, cones and height fields stand along y and SDF's along z, so shapes come with
//! a pose of their own. [`Shapes`] has each mesh of a cell, which all cells of a process share.

mod decomposition;
mod ellipsoid;
mod height_field;
mod hull;
mod hull_store;
mod shared;
mod triangles;
mod voxels;

use std::collections::BTreeMap;
use std::f64::consts::FRAC_1_SQRT_2;

use bytemuck::cast_slice;
use rapier3d_f64::geometry::SharedShape;
use rapier3d_f64::math::{Pose, Rotation, Vector};
use sdf::{Geometry, HeightmapShape, MeshApproximation, MeshShape, World};

pub use self::hull_store::keep_hulls_in;
use self::shared::shared;
use self::triangles::Triangles;

/// The mesh shapes that a cell has built so far; a copy of one is as cheap as a pointer.
#[derive(Default)]
pub(super) struct Shapes {
    meshes: BTreeMap<MeshKey, Option<SharedShape>>,
}

/// What tells mesh shapes apart: the mesh, its scale as bits, what stands in for it with its two
/// parameters, and whether it moves.
type MeshKey = (usize, [u64; 3], [u32; 3], bool);

impl Shapes {
    /// Returns a geometry's shape and the pose of that shape in the geometry's frame; `None` when
    /// it touches nothing, for reasons that [`flaw`] gives but for hulls and triangles that are
    /// degenerate. `moves` is whether it is on a link that can move.
    pub(super) fn shape(
        &mut self,
        world: &World,
        geometry: &Geometry,
        moves: bool,
    ) -> Option<(SharedShape, Pose)> {
        if flaw(geometry, world, moves).is_some() {
            return None;
        }
        let shape = match geometry {
            Geometry::Empty => return None,
            Geometry::Box { size: [x, y, z] } => SharedShape::cuboid(x / 2.0, y / 2.0, z / 2.0),
            Geometry::Sphere { radius } => SharedShape::ball(*radius),
            Geometry::Cylinder { radius, length } => {
                return Some((SharedShape::cylinder(length / 2.0, *radius), y_to_z()));
            }
            Geometry::Capsule { radius, length } => SharedShape::capsule_z(length / 2.0, *radius),
            Geometry::Ellipsoid { radii: [x, y, z] } if x == y && y == z => SharedShape::ball(*x),
            Geometry::Ellipsoid { radii } => ellipsoid::ellipsoid(*radii)?,
            Geometry::Cone { radius, length } => {
                return Some((SharedShape::cone(length / 2.0, *radius), y_to_z()));
            }
            Geometry::Plane { normal, .. } => {
                SharedShape::halfspace(Vector::from_array(*normal).normalize())
            }
            Geometry::Polyline { outlines, height } => {
                let mesh = mesh::TriangleMesh::extrude(outlines, *height).ok()?;
                Triangles::new(&mesh, [1.0; 3])?.trimesh(moves)?
            }
            Geometry::Mesh(mesh) => self.mesh(world, mesh, moves)?,
            Geometry::Heightmap(map) => return height_field::shape(world, map),
        };
        Some((shape, Pose::IDENTITY))
    }

    fn mesh(&mut self, world: &World, shape: &MeshShape, moves: bool) -> Option<SharedShape> {
        let index = shape.mesh?;
        let approximation = match shape.approximation {
            MeshApproximation::Automatic if moves => [3, 0, 0],
            MeshApproximation::Automatic | MeshApproximation::Triangles => [0; 3],
            MeshApproximation::ConvexHull => [1, 0, 0],
            MeshApproximation::ConvexDecomposition(fineness) => {
                [2, fineness.max_convex_hulls, fineness.voxel_resolution]
            }
        };
        let key = (index, shape.scale.map(f64::to_bits), approximation, moves);
        let mesh = world.meshes.get(index)?;
        let build = || {
            let triangles = Triangles::new(mesh, shape.scale)?;
            let solid = match shape.approximation {
                MeshApproximation::Automatic if moves => {
                    decomposition::shape(&hull_store::approximated(&triangles, &shape.uri))
                }
                MeshApproximation::Automatic | MeshApproximation::Triangles => None,
                MeshApproximation::ConvexHull => triangles.hull(),
                MeshApproximation::ConvexDecomposition(fineness) => {
                    decomposition::shape(&hull_store::decomposed(&triangles, fineness))
                }
            };
            solid.or_else(|| triangles.trimesh(moves))
        };
        let (_, scale, approximation, moves) = key;
        let made_of: [&[u8]; 5] = [
            cast_slice(&mesh.vertices),
            cast_slice(&mesh.triangles),
            cast_slice(&scale),
            cast_slice(&approximation),
            &[moves.into()],
        ];
        let known = self.meshes.entry(key);
        known.or_insert_with(|| shared(&made_of, build)).clone()
    }
}

/// Reason why a geometry touches nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flaw {
    /// rapier has half-spaces only on bodies that never move.
    PlaneThatMoves,
    /// A measure is no positive number.
    WithoutSize,
    /// The file of its triangles or heights was not read.
    WithoutFile,
}

/// Returns why a geometry touches nothing, without building it.
pub(super) fn flaw(geometry: &Geometry, world: &World, moves: bool) -> Option<Flaw> {
    let is_positive = |measures: &[f64]| measures.iter().all(|m| m.is_finite() && *m > 0.0);
    let has_size = match geometry {
        Geometry::Empty => true,
        Geometry::Box { size: measures } | Geometry::Ellipsoid { radii: measures } => {
            is_positive(measures)
        }
        Geometry::Sphere { radius } => is_positive(&[*radius]),
        Geometry::Cylinder { radius, length }
        | Geometry::Capsule { radius, length }
        | Geometry::Cone { radius, length } => is_positive(&[*radius, *length]),
        Geometry::Plane { .. } if moves => return Some(Flaw::PlaneThatMoves),
        Geometry::Plane { normal, .. } => Vector::from_array(*normal).try_normalize().is_some(),
        Geometry::Polyline { outlines, height } => {
            is_positive(&[*height]) && outlines.iter().any(|outline| outline.len() > 2)
        }
        Geometry::Mesh(MeshShape { mesh, scale, .. }) => {
            let Some(mesh) = mesh.and_then(|index| world.meshes.get(index)) else {
                return Some(Flaw::WithoutFile);
            };
            !mesh.triangles.is_empty() && scale.iter().all(|s| s.is_finite() && *s != 0.0)
        }
        Geometry::Heightmap(HeightmapShape { grid, size, .. }) => {
            let Some(grid) = grid.and_then(|index| world.height_grids.get(index)) else {
                return Some(Flaw::WithoutFile);
            };
            grid.columns > 1 && grid.rows > 1 && is_positive(&size[..2]) && size[2].is_finite()
        }
    };
    (!has_size).then_some(Flaw::WithoutSize)
}

/// The quarter turn about x that takes y to z.
fn y_to_z() -> Pose {
    Pose::from_rotation(Rotation::from_xyzw(FRAC_1_SQRT_2, 0.0, 0.0, FRAC_1_SQRT_2))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(geometry: &Geometry, expected: Option<Flaw>) {
        let world = World::default();
        assert_eq!(flaw(geometry, &world, false), expected, "{geometry:?}");
        let shape = Shapes::default().shape(&world, geometry, false);
        assert_eq!(shape.is_none(), expected.is_some(), "{geometry:?}");
    }

    #[test]
    fn measures_that_are_no_positive_numbers_make_no_shape() {
        for radius in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            check(&Geometry::Sphere { radius }, Some(Flaw::WithoutSize));
        }
        check(&Geometry::Sphere { radius: 1.0 }, None);
        let plane = |normal| Geometry::Plane {
            normal,
            size: [1.0; 2],
        };
        check(&plane([0.0; 3]), Some(Flaw::WithoutSize));
        check(&plane([0.0, 3.0, 4.0]), None);
    }

    #[test]
    fn a_mesh_and_a_heightmap_without_a_file_make_no_shape() {
        let mesh = MeshShape {
            uri: "model://none/mesh.stl".to_owned(),
            submesh: String::new(),
            center_submesh: false,
            scale: [1.0; 3],
            approximation: MeshApproximation::Triangles,
            mesh: None,
            bounds: None,
        };
        check(&Geometry::Mesh(mesh), Some(Flaw::WithoutFile));
        let map = HeightmapShape {
            uri: "none.png".to_owned(),
            size: [1.0; 3],
            position: [0.0; 3],
            grid: None,
        };
        check(&Geometry::Heightmap(map), Some(Flaw::WithoutFile));
    }
}
