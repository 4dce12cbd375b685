//! Bounds of shapes and models; never less than they reach.

mod reach;
mod sight;

pub use reach::Reach;
pub use sight::Sight;

use crate::pose::Pose;
use crate::world::{Geometry, Model};

impl Geometry {
    /// Returns the radius \[m\] of the smallest ball about the shape's origin that holds it;
    /// infinite for planes.
    pub fn bounding_radius(&self) -> f64 {
        match self {
            Self::Box { size } => norm(*size) / 2.0,
            Self::Sphere { radius } => *radius,
            Self::Cylinder { radius, length } | Self::Cone { radius, length } => {
                radius.hypot(length / 2.0)
            }
            Self::Capsule { radius, length } => radius + length / 2.0,
            Self::Ellipsoid { radii } => radii.iter().copied().fold(0.0, f64::max),
            Self::Plane { .. } => f64::INFINITY,
            Self::Empty | Self::Polyline { .. } | Self::Mesh(_) | Self::Heightmap(_) => {
                self.corners().map_or(0.0, |[low, high]| {
                    norm(std::array::from_fn(|i| low[i].abs().max(high[i].abs())))
                })
            }
        }
    }

    /// Returns the least and greatest corner \[m\] of an axis-aligned box around the shape placed
    /// at `pose`, in the frame of `pose`; infinite for planes, `None` for what touches nothing.
    pub fn bounds(&self, pose: &Pose) -> Option<[[f64; 3]; 2]> {
        let columns = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]].map(|a| pose.rotate(a));
        let along = |i: usize, lengths: [f64; 3]| -> [f64; 3] {
            std::array::from_fn(|j| columns[j][i] * lengths[j])
        };
        let half: [f64; 3] = match *self {
            Self::Empty | Self::Polyline { .. } | Self::Mesh(_) | Self::Heightmap(_) => {
                return Some(around_corners(pose, self.corners()?));
            }
            Self::Box { size } => {
                std::array::from_fn(|i| along(i, size).into_iter().map(f64::abs).sum::<f64>() / 2.0)
            }
            Self::Sphere { radius } => [radius; 3],
            Self::Ellipsoid { radii } => std::array::from_fn(|i| norm(along(i, radii))),
            Self::Capsule { radius, length } => {
                std::array::from_fn(|i| columns[2][i].abs() * length / 2.0 + radius)
            }
            Self::Cylinder { radius, length } | Self::Cone { radius, length } => {
                std::array::from_fn(|i| {
                    let axis = columns[2][i];
                    axis.abs() * length / 2.0 + radius * (1.0 - axis * axis).max(0.0).sqrt()
                })
            }
            Self::Plane { .. } => [f64::INFINITY; 3],
        };
        let [low, high] =
            [-1.0, 1.0].map(|sign| std::array::from_fn(|i| pose.position[i] + sign * half[i]));
        Some([low, high])
    }

    /// Returns the least and greatest corner \[m\] of a box around a shape that is not centred,
    /// shape frame; `None` for nothing and for files that were not found.
    fn corners(&self) -> Option<[[f64; 3]; 2]> {
        match self {
            Self::Polyline { outlines, height } => {
                let mut corners = [[f64::INFINITY; 3], [f64::NEG_INFINITY; 3]];
                for &[x, y] in outlines.iter().flatten() {
                    corners[0] = [corners[0][0].min(x), corners[0][1].min(y), 0.0];
                    corners[1] = [corners[1][0].max(x), corners[1][1].max(y), *height];
                }
                outlines
                    .iter()
                    .any(|outline| !outline.is_empty())
                    .then_some(corners)
            }
            Self::Mesh(mesh) => mesh.bounds,
            Self::Heightmap(map) => {
                map.grid?;
                let ([x, y, z], [px, py, pz]) = (map.size, map.position);
                let low = [px - x / 2.0, py - y / 2.0, pz];
                Some([low, [px + x / 2.0, py + y / 2.0, pz + z]])
            }
            Self::Empty
            | Self::Box { .. }
            | Self::Sphere { .. }
            | Self::Cylinder { .. }
            | Self::Capsule { .. }
            | Self::Ellipsoid { .. }
            | Self::Cone { .. }
            | Self::Plane { .. } => None,
        }
    }
}

impl Model {
    /// Returns the least and greatest corner \[m\] of an axis-aligned box, world frame, around all
    /// collisions as the file places them; `None` without collisions, infinite with planes.
    pub fn collision_bounds(&self) -> Option<([f64; 3], [f64; 3])> {
        let bounds = self
            .placed_collisions()
            .filter_map(|(pose, geometry)| geometry.bounds(&pose));
        let whole = bounds.reduce(|[low, high], [other_low, other_high]| {
            [
                std::array::from_fn(|i| low[i].min(other_low[i])),
                std::array::from_fn(|i| high[i].max(other_high[i])),
            ]
        });
        whole.map(|[low, high]| (low, high))
    }

    /// Returns how many pairs of its collisions have boxes that overlap as the file places them,
    /// counted up to `most`: every step looks at each of them.
    pub fn overlapping_collisions(&self, most: usize) -> usize {
        let placed = self.placed_collisions();
        let mut boxes: Vec<_> = placed
            .filter_map(|(pose, shape)| shape.bounds(&pose))
            .collect();
        boxes.sort_by(|[one, _], [other, _]| one[0].total_cmp(&other[0]));
        let overlap = |one: &[[f64; 3]; 2], other: &[[f64; 3]; 2]| {
            (0..3).all(|axis| one[0][axis] <= other[1][axis] && other[0][axis] <= one[1][axis])
        };
        let mut count = 0;
        for (index, one) in boxes.iter().enumerate() {
            let later = &boxes[index + 1..];
            let near = later.iter().take_while(|other| other[0][0] <= one[1][0]);
            count += near.filter(|other| overlap(one, other)).count();
            if count >= most {
                return most;
            }
        }
        count
    }

    fn placed_collisions(&self) -> impl Iterator<Item = (Pose, &Geometry)> {
        self.links.iter().flat_map(|link| {
            link.collisions
                .iter()
                .map(|shape| (link.pose.then(&shape.pose), &shape.geometry))
        })
    }
}

/// Returns the box around a box that is turned and moved by `pose`.
fn around_corners(pose: &Pose, [low, high]: [[f64; 3]; 2]) -> [[f64; 3]; 2] {
    let mut bounds = [[f64::INFINITY; 3], [f64::NEG_INFINITY; 3]];
    for corner in 0..8 {
        let pick = |i: usize| {
            if corner >> i & 1 == 0 {
                low[i]
            } else {
                high[i]
            }
        };
        let turned = pose.rotate(std::array::from_fn(pick));
        for i in 0..3 {
            let coordinate = pose.position[i] + turned[i];
            bounds[0][i] = bounds[0][i].min(coordinate);
            bounds[1][i] = bounds[1][i].max(coordinate);
        }
    }
    bounds
}

fn norm([x, y, z]: [f64; 3]) -> f64 {
    x.hypot(y).hypot(z)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(geometry: &Geometry, rpy: [f64; 3], half: [f64; 3], radius: f64) {
        let middle = [1.0, -2.0, 3.0];
        let pose = Pose::from_xyz_rpy(middle, rpy);
        let [low, high] = geometry.bounds(&pose).unwrap();
        for i in 0..3 {
            let found = [low[i] - middle[i], high[i] - middle[i]];
            let is_close = (found[0] + half[i]).abs() < 1e-12 && (found[1] - half[i]).abs() < 1e-12;
            assert!(is_close, "{geometry:?} gave {found:?}");
        }
        assert!(
            (geometry.bounding_radius() - radius).abs() < 1e-12,
            "{geometry:?}"
        );
    }

    #[test]
    fn turned_shapes_are_bounded_exactly() {
        let quarter = std::f64::consts::FRAC_PI_2;
        let eighth = std::f64::consts::FRAC_PI_4;
        let root = 2.0_f64.sqrt();
        let radius = 14.0_f64.sqrt();
        let size = [2.0, 4.0, 6.0];
        check(&Geometry::Box { size }, [0.0; 3], [1.0, 2.0, 3.0], radius);
        check(
            &Geometry::Box { size },
            [0.0, 0.0, quarter],
            [2.0, 1.0, 3.0],
            radius,
        );
        let cube = Geometry::Box { size: [2.0; 3] };
        check(&cube, [0.0, 0.0, eighth], [root, root, 1.0], 3.0_f64.sqrt());
        let radii = [1.0, 2.0, 3.0];
        check(
            &Geometry::Ellipsoid { radii },
            [quarter, 0.0, 0.0],
            [1.0, 3.0, 2.0],
            3.0,
        );
        let (radius, length) = (3.0, 8.0);
        check(
            &Geometry::Cylinder { radius, length },
            [0.0; 3],
            [3.0, 3.0, 4.0],
            5.0,
        );
        check(
            &Geometry::Cone { radius, length },
            [quarter, 0.0, 0.0],
            [3.0, 4.0, 3.0],
            5.0,
        );
        check(
            &Geometry::Capsule { radius, length },
            [0.0; 3],
            [3.0, 3.0, 7.0],
            7.0,
        );
    }

    #[test]
    fn shapes_that_are_not_centred_are_bounded_where_they_are() {
        let outlines = vec![vec![[1.0, 0.0], [2.0, 0.0], [2.0, 3.0]]];
        let polyline = Geometry::Polyline {
            outlines,
            height: 4.0,
        };
        let quarter = std::f64::consts::FRAC_PI_2;
        let [low, high] = polyline
            .bounds(&Pose::from_xyz_rpy([0.0, 0.0, 1.0], [0.0, 0.0, quarter]))
            .unwrap();
        for (found, expect) in low.iter().chain(&high).zip([-3.0, 1.0, 1.0, 0.0, 2.0, 5.0]) {
            assert!((found - expect).abs() < 1e-12, "{low:?} {high:?}");
        }
        assert_eq!(polyline.bounding_radius(), norm([2.0, 3.0, 4.0]));
        assert_eq!(Geometry::Empty.bounds(&Pose::IDENTITY), None);
        assert_eq!(Geometry::Empty.bounding_radius(), 0.0);
    }
}
