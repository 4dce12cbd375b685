//! Meshes as several convex hulls, after V-HACD (Mamou and Ghorbel 2009): the part with the most
//! empty space in its hull is cut by the plane that leaves the least, until little is left.
//!
//! What is inside is found on voxels; the hulls are those of the triangles. Like [`Hull`], it gives
//! the same bits on every host.

use rapier3d_f64::geometry::SharedShape;
use rapier3d_f64::math::{Pose, Vector};
use sdf::ConvexDecomposition;

use super::hull::Hull;
use super::triangles::Triangles;
use super::voxels::{VoxelBox, Voxels};

/// The most voxels that a mesh is cut into, whatever the world asks for: a second of work.
const VOXELS_MAX: u32 = 1_000_000;

/// The most hulls, whatever the world asks for.
const HULLS_MAX: u32 = 1024;

/// How much empty space a hull may have, as a part of the volume of the whole hull.
const CONCAVITY_MAX: f64 = 0.01;

/// How much halves of one size are preferred, as a part of the empty space: V-HACD's alpha, six
/// times as great. No first cut of a ring leaves less empty space, and with less the rounding of
/// voxels decides, which shaves off slivers.
const BALANCE: f64 = 0.3;

/// The most planes along an axis that are tried for a cut.
const PLANES_MAX: i32 = 12;

/// The most corners of the hulls that cuts are judged by.
const SKETCH_CORNERS: usize = 32;

/// The most corners of the hull of a part.
const CORNERS_MAX: usize = 64;

/// The most corners of the hull of a whole mesh.
const WHOLE_CORNERS_MAX: usize = 128;

/// Number of times that the volume of a mesh its hull may have without being cut.
const EMPTINESS_MAX: f64 = 1.5;

/// How much of the volume of its hull the hulls of its parts may have to be worth it.
const GAIN_MIN: f64 = 0.85;

/// The most parts of a mesh that nothing was asked for.
const PARTS_MAX: usize = 16;

/// The voxels along the longest edge of such a mesh.
const RESOLUTION: i32 = 32;

/// How far corners of the mesh may stand out of a hull, as a part of its size.
const TOLERANCE: f64 = 1e-4;

/// Returns the hulls of the parts of a mesh, cut as finely as asked for; none when it spans no
/// volume.
pub(super) fn decompose(triangles: &Triangles, fineness: ConvexDecomposition) -> Vec<Hull> {
    if triangles.is_flat() {
        return Vec::new();
    }
    let voxels = Voxels::new(triangles, resolution(triangles, fineness.voxel_resolution));
    let hulls_max = fineness.max_convex_hulls.clamp(1, HULLS_MAX);
    hulls(triangles, &voxels, hulls_max as usize)
}

/// Returns the hull of a mesh, or a few of its parts where much of that one is empty; none when it
/// spans no volume.
pub(super) fn approximate(triangles: &Triangles) -> Vec<Hull> {
    let tolerance = TOLERANCE * triangles.size();
    let Some(hull) = Hull::of(&triangles.points(), WHOLE_CORNERS_MAX, tolerance) else {
        return Vec::new();
    };
    let voxels = Voxels::new(triangles, RESOLUTION);
    let volume = voxels.volume(&voxels.all()) * voxels.voxel_volume();
    if hull.volume() <= EMPTINESS_MAX * volume {
        return vec![hull];
    }
    let hulls = hulls(triangles, &voxels, PARTS_MAX);
    let left: f64 = hulls.iter().map(Hull::volume).sum();
    if hulls.is_empty() || left > GAIN_MIN * hull.volume() {
        return vec![hull];
    }
    hulls
}

fn hulls(triangles: &Triangles, voxels: &Voxels, hulls_max: usize) -> Vec<Hull> {
    let tolerance = TOLERANCE * triangles.size();
    let points = triangles.points();
    cut(voxels, hulls_max)
        .iter()
        .filter_map(|part| {
            let points = triangles.clipped(&points, voxels.bounds(&part.region));
            Hull::of(&points, CORNERS_MAX, tolerance)
        })
        .collect()
}

/// Returns hulls as one shape.
pub(super) fn shape(hulls: &[Hull]) -> Option<SharedShape> {
    let parts: Option<Vec<SharedShape>> = hulls.iter().map(Hull::shape).collect();
    let parts = parts?;
    if let [part] = &parts[..] {
        return Some(part.clone());
    }
    let parts: Vec<_> = parts
        .into_iter()
        .map(|part| (Pose::IDENTITY, part))
        .collect();
    (!parts.is_empty()).then(|| SharedShape::compound(parts))
}

struct Part {
    /// The room that is its alone.
    region: VoxelBox,
    /// The room that it fills.
    around: VoxelBox,
    /// What its hull holds and it does not \[voxels\].
    empty: f64,
    volume: f64,
}

impl Part {
    fn new(voxels: &Voxels, region: VoxelBox) -> Option<Self> {
        let around = voxels.shrunk(&region)?;
        let volume = voxels.volume(&around);
        let corners: Vec<Vector> = voxels.outermost(&around, &region);
        let hull = Hull::of(&corners, SKETCH_CORNERS, 0.25);
        let empty = hull.map_or(0.0, |hull| hull.volume() - volume).max(0.0);
        Some(Self {
            region,
            around,
            empty,
            volume,
        })
    }

    /// Returns the halves of its best cut.
    fn halves(&self, voxels: &Voxels, whole: f64) -> Option<[Self; 2]> {
        let mut best = None;
        let mut least = f64::INFINITY;
        for axis in 0..3 {
            let [from, to] = [self.around.from[axis], self.around.to[axis]];
            let stride = (to - from) / PLANES_MAX + 1;
            for at in (from + stride..to).step_by(stride as usize) {
                let halves = self.region.cut(axis, at);
                let [left, right] = halves.map(|region| Self::new(voxels, region));
                let (Some(left), Some(right)) = (left, right) else {
                    continue;
                };
                let imbalance = (left.volume - right.volume).abs() / whole;
                let cost = left.empty + right.empty + BALANCE * self.empty * imbalance;
                if cost < least {
                    least = cost;
                    best = Some([left, right]);
                }
            }
        }
        best
    }
}

/// Returns the parts in which a solid is nearly convex.
fn cut(voxels: &Voxels, parts_max: usize) -> Vec<Part> {
    let Some(whole) = Part::new(voxels, voxels.all()) else {
        return Vec::new();
    };
    let volume = whole.volume + whole.empty;
    let mut parts = vec![whole];
    let mut done = Vec::new();
    while !parts.is_empty() && parts.len() + done.len() < parts_max {
        let mut widest = 0;
        for (index, part) in parts.iter().enumerate() {
            if part.empty > parts[widest].empty {
                widest = index;
            }
        }
        let part = parts.remove(widest);
        let is_convex = part.empty <= CONCAVITY_MAX * volume;
        match part.halves(voxels, volume).filter(|_| !is_convex) {
            Some(halves) => parts.extend(halves),
            None => done.push(part),
        }
    }
    done.append(&mut parts);
    done
}

/// Returns how many voxels fit along the longest edge when the box around the mesh holds as many
/// as asked for.
fn resolution(triangles: &Triangles, voxels: u32) -> i32 {
    let voxels = f64::from(voxels.clamp(1, VOXELS_MAX));
    let extents = triangles.extents();
    let longest = extents.max_element();
    let per_volume = extents / longest;
    let count = libm::cbrt(voxels / (per_volume.x * per_volume.y * per_volume.z));
    count.clamp(8.0, 128.0) as i32
}

#[cfg(test)]
mod tests {
    use mesh::TriangleMesh;

    use super::*;

    fn rim(radius: f64) -> Vec<[f64; 2]> {
        let angle = |corner: u32| f64::from(corner) * std::f64::consts::TAU / 64.0;
        let corners = (0..64).map(angle);
        corners
            .map(|angle| [radius * angle.cos(), radius * angle.sin()])
            .collect()
    }

    fn approximated(outlines: &[Vec<[f64; 2]>]) -> (Vec<Hull>, f64) {
        let mesh = TriangleMesh::extrude(outlines, 0.3).unwrap();
        let volume = mesh.mass_properties(1.0).unwrap().mass;
        (
            approximate(&Triangles::new(&mesh, [1.0; 3]).unwrap()),
            volume,
        )
    }

    #[test]
    fn a_disc_is_one_hull_and_a_ring_keeps_its_hole() {
        let (disc, volume) = approximated(&[rim(1.0)]);
        assert_eq!(disc.len(), 1);
        assert!((disc[0].volume() / volume - 1.0).abs() < 1e-6);
        let (ring, volume) = approximated(&[rim(1.0), rim(0.75)]);
        assert!((4..=PARTS_MAX).contains(&ring.len()), "{}", ring.len());
        let filled: f64 = ring.iter().map(Hull::volume).sum();
        let empty = disc[0].volume() - volume;
        assert!(filled > 0.99 * volume && filled < volume + empty / 2.0);
        for hull in &ring {
            assert!(hull.corners.len() <= CORNERS_MAX);
            let center = Vector::new(0.0, 0.0, 0.15);
            let is_beyond = hull.triangles.iter().any(|triangle| {
                let [a, b, c] = triangle.map(|corner| hull.corners[corner as usize]);
                (b - a).cross(c - a).dot(center - a) > 0.0
            });
            assert!(is_beyond, "{hull:?}");
        }
    }
}
