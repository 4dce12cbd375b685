//! Heightmaps as height fields.

use bytemuck::cast_slice;
use rapier3d_f64::geometry::{HeightFieldFlags, SharedShape};
use rapier3d_f64::math::{Pose, Vector};
use rapier3d_f64::parry::utils::Array2;
use sdf::{HeightmapShape, World};

use super::shared::shared;

/// Returns a heightmap's shape and the pose of that shape in the geometry's frame; `None` when its
/// image was not read or has fewer than two samples along an edge.
///
/// The samples are spread over the size from edge to edge, black lies at the base and white a
/// height above it (SDFormat, `heightmap_shape.sdf`).
pub(super) fn shape(world: &World, map: &HeightmapShape) -> Option<(SharedShape, Pose)> {
    let grid = world.height_grids.get(map.grid?)?;
    let is_whole = grid.rows > 1
        && grid.columns > 1
        && grid.rows.checked_mul(grid.columns) == Some(grid.heights.len())
        && grid.heights.iter().all(|height| height.is_finite());
    if !is_whole {
        return None;
    }
    // parry's rows go along its z, which is -y here: from the greatest y on, as in the grid. Its
    // numbers lie column by column.
    let [x, y, z] = map.size;
    let build = || {
        let heights = (0..grid.columns)
            .flat_map(|column| (0..grid.rows).map(move |row| row * grid.columns + column))
            .map(|sample| f64::from(grid.heights[sample]))
            .collect();
        Some(SharedShape::heightfield_with_flags(
            Array2::new(grid.rows, grid.columns, heights),
            Vector::new(x, z, y),
            HeightFieldFlags::FIX_INTERNAL_EDGES,
        ))
    };
    let size = map.size.map(f64::to_bits);
    let edges = [grid.rows, grid.columns];
    let made_of: [&[u8]; 3] = [
        cast_slice(&grid.heights),
        cast_slice(&edges),
        cast_slice(&size),
    ];
    let shape = shared(&made_of, build)?;
    let position = Vector::from_array(map.position);
    let pose = Pose::from_parts(position, super::y_to_z().rotation);
    Some((shape, pose))
}
