//! How far shapes and models reach; never less than they do.

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

    /// Returns half the edge lengths \[m\] of an axis-aligned box about the shape's origin that
    /// holds the shape turned by `pose`; infinite for planes.
    pub fn half_extents(&self, pose: &Pose) -> [f64; 3] {
        let reach = |[low, high]: [[f64; 3]; 2]| {
            let mut half = [0.0_f64; 3];
            for corner in 0..8 {
                let pick = |i: usize| {
                    if corner >> i & 1 == 0 {
                        low[i]
                    } else {
                        high[i]
                    }
                };
                let turned = pose.rotate(std::array::from_fn(pick));
                half = std::array::from_fn(|i| half[i].max(turned[i].abs()));
            }
            half
        };
        let columns = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]].map(|a| pose.rotate(a));
        let along = |i: usize, lengths: [f64; 3]| -> [f64; 3] {
            std::array::from_fn(|j| columns[j][i] * lengths[j])
        };
        match *self {
            Self::Empty | Self::Polyline { .. } | Self::Mesh(_) | Self::Heightmap(_) => {
                self.corners().map_or([0.0; 3], reach)
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
        }
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
        let mut bounds: Option<([f64; 3], [f64; 3])> = None;
        for (pose, geometry) in self.placed_collisions() {
            let half = geometry.half_extents(&pose);
            let (mut low, mut high) =
                bounds.unwrap_or(([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]));
            for i in 0..3 {
                low[i] = low[i].min(pose.position[i] - half[i]);
                high[i] = high[i].max(pose.position[i] + half[i]);
            }
            bounds = Some((low, high));
        }
        bounds
    }

    /// Returns a distance \[m\] from the model's origin beyond which none of its collisions is, as
    /// the file places them; 0 without collisions, infinite with planes.
    pub fn reach(&self) -> f64 {
        let origin = self.pose.position;
        self.placed_collisions()
            .map(|(pose, geometry)| {
                let offset = std::array::from_fn(|i| pose.position[i] - origin[i]);
                norm(offset) + geometry.bounding_radius()
            })
            .fold(0.0, f64::max)
    }

    fn placed_collisions(&self) -> impl Iterator<Item = (Pose, &Geometry)> {
        self.links.iter().flat_map(|link| {
            link.collisions
                .iter()
                .map(|shape| (link.pose.then(&shape.pose), &shape.geometry))
        })
    }
}

fn norm([x, y, z]: [f64; 3]) -> f64 {
    x.hypot(y).hypot(z)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(geometry: &Geometry, rpy: [f64; 3], half: [f64; 3], radius: f64) {
        let found = geometry.half_extents(&Pose::from_xyz_rpy([0.0; 3], rpy));
        for (a, b) in found.iter().zip(half) {
            assert!((a - b).abs() < 1e-12, "{geometry:?} gave {found:?}");
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
}
