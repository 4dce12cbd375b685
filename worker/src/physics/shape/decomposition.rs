//! Meshes as several convex hulls, by parry's V-HACD.

use std::panic::{AssertUnwindSafe, catch_unwind};

use rapier3d_f64::geometry::SharedShape;
use rapier3d_f64::math::Pose;
use rapier3d_f64::parry::transformation::vhacd::{VHACD, VHACDParameters};
use sdf::ConvexDecomposition;

use super::triangles::Triangles;

/// The most voxels that a mesh is cut into, whatever the world asks for: a second of work.
const VOXELS_MAX: u32 = 1_000_000;

/// The most hulls, whatever the world asks for.
const HULLS_MAX: u32 = 1024;

/// How much of the volume of the whole hull a part's hull may have too much, parry's default.
const CONCAVITY: f64 = 0.01;

/// Returns the hulls of the parts of a mesh; `None` when it spans no volume.
pub(super) fn decompose(
    triangles: &Triangles,
    fineness: ConvexDecomposition,
) -> Option<SharedShape> {
    if triangles.is_flat() {
        return None;
    }
    let parameters = VHACDParameters {
        resolution: resolution(triangles, fineness.voxel_resolution),
        concavity: CONCAVITY,
        max_convex_hulls: fineness.max_convex_hulls.clamp(1, HULLS_MAX),
        ..VHACDParameters::default()
    };
    let (vertices, indices) = (&triangles.vertices, &triangles.indices);
    // parry panics where a part has too few points for a hull.
    let hulls = catch_unwind(AssertUnwindSafe(|| {
        VHACD::decompose(&parameters, vertices, indices, true)
            .compute_exact_convex_hulls(vertices, indices)
    }))
    .ok()?;
    let parts: Vec<_> = hulls
        .into_iter()
        .filter_map(|(points, _)| SharedShape::convex_hull(&points))
        .map(|hull| (Pose::IDENTITY, hull))
        .collect();
    (!parts.is_empty()).then(|| SharedShape::compound(parts))
}

/// Returns how many voxels fit along the longest edge when the box around the mesh holds as many
/// as asked for.
fn resolution(triangles: &Triangles, voxels: u32) -> u32 {
    let voxels = f64::from(voxels.clamp(1, VOXELS_MAX));
    let extents = triangles.extents();
    let longest = extents.max_element();
    let per_volume = extents / longest;
    let count = libm::cbrt(voxels / (per_volume.x * per_volume.y * per_volume.z));
    count.clamp(8.0, 256.0) as u32
}
