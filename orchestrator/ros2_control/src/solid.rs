//! [`Solid`]: a collision of an entity somewhere, what it reaches and what it overlaps.
//!
//! A solid is known by its support points, the farthest in a direction. Boxes follow from these,
//! and so does whether two solids overlap, by the algorithm of Gilbert, Johnson and Keerthi.

use parry3d_f64::math::{Pose, Rotation, Vector};
use parry3d_f64::query::details::intersection_test_support_map_support_map;
use parry3d_f64::shape::SupportMap;
use protocol::LinkPose;
use scene::{Collision, Geometry};

use crate::frames::out_of;

/// A convex body in a frame.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Solid {
    shape: Shape,
    pose: LinkPose,
}

/// All below a plane, in a frame.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct HalfSpace {
    /// Unit normal, which points out of it.
    normal: Vector,
    /// Place of the plane along its normal \[m\].
    offset: f64,
}

/// A convex body around the origin of its frame \[m\].
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Shape {
    /// Corners of a hull; one of them is a point.
    Points(Vec<[f64; 3]>),
    /// A ball by its radius.
    Ball(f64),
    /// An ellipsoid by its half axes.
    Ellipsoid([f64; 3]),
    /// A cylinder along z by radius and half length.
    Cylinder(f64, f64),
    /// A cylinder along z, with half a ball at each end, by radius and half length of the cylinder.
    Capsule(f64, f64),
    /// A cone with its tip at +z by radius of its base and half length.
    Cone(f64, f64),
}

impl Solid {
    /// Makes a body at a pose.
    pub(crate) fn new(shape: Shape, pose: LinkPose) -> Self {
        Self { shape, pose }
    }

    /// Returns the body of a collision whose link has a pose, in the frame of that pose; a mesh is
    /// its box, and there is none of what touches nothing and of planes, which have no end.
    pub(crate) fn of_collision(collision: &Collision, link: &LinkPose) -> Option<Self> {
        let shape = match &collision.geometry {
            Geometry::Empty | Geometry::Plane { .. } => return None,
            Geometry::Sphere { radius } => Shape::Ball(*radius),
            Geometry::Ellipsoid { radii } => Shape::Ellipsoid(*radii),
            Geometry::Cylinder { radius, length } => Shape::Cylinder(*radius, length / 2.0),
            Geometry::Capsule { radius, length } => Shape::Capsule(*radius, length / 2.0),
            Geometry::Cone { radius, length } => Shape::Cone(*radius, length / 2.0),
            Geometry::Box { .. } | Geometry::Mesh { .. } | Geometry::Heightmap { .. } => {
                Shape::Points(corners(collision.extent?))
            }
        };
        Some(Self::new(shape, out_of(link, &collision.pose)))
    }

    /// Returns it as a frame sees it whose pose has this inverse.
    pub(crate) fn seen_from(&self, inverse: &LinkPose) -> Self {
        Self::new(self.shape.clone(), out_of(inverse, &self.pose))
    }

    /// Returns the least and the greatest corner of the box around it, in its frame \[m\].
    pub(crate) fn corners(&self) -> [[f64; 3]; 2] {
        let pose = isometry(&self.pose);
        let farthest = |axis: usize, sign: f64| {
            let mut direction = [0.0; 3];
            direction[axis] = sign;
            let local = pose.rotation.inverse() * Vector::from_array(direction);
            (pose * self.shape.local_support_point(local)).to_array()[axis]
        };
        [-1.0, 1.0].map(|sign| std::array::from_fn(|axis| farthest(axis, sign)))
    }

    /// Tells whether two bodies of one frame have a point in common.
    pub(crate) fn overlaps(&self, other: &Self) -> bool {
        let way = isometry(&self.pose).inv_mul(&isometry(&other.pose));
        intersection_test_support_map_support_map(&way, &self.shape, &other.shape)
    }
}

impl HalfSpace {
    /// Returns what is below a collision that is a plane, whose link has a pose, in the frame of
    /// that pose.
    pub(crate) fn of_collision(collision: &Collision, link: &LinkPose) -> Option<Self> {
        let Geometry::Plane { normal, .. } = collision.geometry else {
            return None;
        };
        let pose = isometry(&out_of(link, &collision.pose));
        let normal = pose.rotation * Vector::from_array(normal);
        Some(Self {
            normal,
            offset: normal.dot(pose.translation),
        })
    }

    /// Tells whether a body of the same frame has a point in it.
    pub(crate) fn overlaps(&self, body: &Solid) -> bool {
        let pose = isometry(&body.pose);
        let down = pose.rotation.inverse() * -self.normal;
        let lowest = pose * body.shape.local_support_point(down);
        self.normal.dot(lowest) <= self.offset
    }
}

impl SupportMap for Shape {
    fn local_support_point(&self, direction: Vector) -> Vector {
        let [x, y, z] = direction.to_array();
        // The axis itself lies in the way of no side: any point of the rim is as far.
        let rim = |radius: f64| match x.hypot(y) {
            0.0 => [radius, 0.0],
            length => [radius * x / length, radius * y / length],
        };
        match self {
            Self::Points(points) => {
                let along = |point: &Vector| point.dot(direction);
                let points = points.iter().map(|point| Vector::from_array(*point));
                let farthest = points.max_by(|one, other| along(one).total_cmp(&along(other)));
                farthest.unwrap_or(Vector::ZERO)
            }
            Self::Ball(radius) => direction.normalize_or_zero() * *radius,
            Self::Ellipsoid(radii) => {
                let radii = Vector::from_array(*radii);
                (radii * direction).normalize_or_zero() * radii
            }
            Self::Cylinder(radius, half) => {
                let [x, y] = rim(*radius);
                Vector::new(x, y, half.copysign(z))
            }
            Self::Capsule(radius, half) => {
                let end = Vector::new(0.0, 0.0, half.copysign(z));
                end + direction.normalize_or_zero() * *radius
            }
            Self::Cone(radius, half) => {
                let [x, y] = rim(*radius);
                let base = Vector::new(x, y, -half);
                let tip = Vector::new(0.0, 0.0, *half);
                if tip.dot(direction) > base.dot(direction) {
                    tip
                } else {
                    base
                }
            }
        }
    }
}

/// Returns the eight corners of a box by two of them.
pub(crate) fn corners(extent: [[f64; 3]; 2]) -> Vec<[f64; 3]> {
    let corner = |bits: usize| std::array::from_fn(|axis| extent[bits >> axis & 1][axis]);
    (0..8).map(corner).collect()
}

fn isometry([x, y, z, qx, qy, qz, qw]: &LinkPose) -> Pose {
    Pose::from_parts(
        Vector::new(*x, *y, *z),
        Rotation::from_xyzw(*qx, *qy, *qz, *qw),
    )
}

#[cfg(test)]
mod tests {
    use std::f64::consts::FRAC_1_SQRT_2;

    use super::*;

    fn at(x: f64) -> LinkPose {
        [x, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]
    }

    /// A quarter turn about y, which lays z along x.
    fn lying(x: f64) -> LinkPose {
        [x, 0.0, 0.0, 0.0, FRAC_1_SQRT_2, 0.0, FRAC_1_SQRT_2]
    }

    fn check(shape: &Shape, pose: LinkPose, half: [f64; 3]) {
        let [low, high] = Solid::new(shape.clone(), pose).corners();
        for axis in 0..3 {
            let found = [low[axis] - pose[axis], high[axis] - pose[axis]];
            let is_near =
                (found[0] + half[axis]).abs() < 1e-12 && (found[1] - half[axis]).abs() < 1e-12;
            assert!(is_near, "{shape:?}: {low:?} {high:?}");
        }
    }

    #[test]
    fn boxes_around_turned_bodies_are_tight() {
        check(&Shape::Ball(2.0), at(1.0), [2.0; 3]);
        check(&Shape::Cylinder(1.0, 3.0), lying(1.0), [3.0, 1.0, 1.0]);
        check(&Shape::Capsule(1.0, 3.0), lying(0.0), [4.0, 1.0, 1.0]);
        check(&Shape::Cone(1.0, 3.0), lying(0.0), [3.0, 1.0, 1.0]);
        check(
            &Shape::Ellipsoid([1.0, 2.0, 3.0]),
            lying(0.0),
            [3.0, 2.0, 1.0],
        );
        let corners = corners([[-1.0, -2.0, -3.0], [1.0, 2.0, 3.0]]);
        check(&Shape::Points(corners), lying(5.0), [3.0, 2.0, 1.0]);
    }

    #[test]
    fn a_plane_is_all_below_it() {
        let ground = |link: LinkPose| {
            let collision = Collision {
                name: "c".to_owned(),
                pose: at(0.0),
                geometry: Geometry::Plane {
                    normal: [0.0, 0.0, 1.0],
                    size: [1.0; 2],
                },
                extent: None,
            };
            HalfSpace::of_collision(&collision, &link).unwrap()
        };
        let ball = |x, z| {
            let mut pose = at(x);
            pose[2] = z;
            Solid::new(Shape::Ball(1.0), pose)
        };
        let flat = ground(at(50.0));
        assert!(flat.overlaps(&ball(-90.0, 0.9)) && !flat.overlaps(&ball(50.0, 1.1)));
        assert!(flat.overlaps(&ball(0.0, -9.0)));
        // Its normal is along x.
        let wall = ground(lying(2.0));
        assert!(wall.overlaps(&ball(2.9, 70.0)) && !wall.overlaps(&ball(3.1, 0.0)));
    }

    #[test]
    fn bodies_overlap_where_they_are_and_not_where_their_boxes_are() {
        let ball = |x| Solid::new(Shape::Ball(1.0), at(x));
        assert!(ball(0.0).overlaps(&ball(1.9)) && !ball(0.0).overlaps(&ball(2.1)));
        // A flat hull beside the ball, within its box.
        let mut corner = Vec::new();
        for z in [-1.0, 1.0] {
            corner.extend([[0.9, 0.9, z], [0.9, 1.1, z], [1.1, 0.9, z]]);
        }
        let corner = Solid::new(Shape::Points(corner), at(0.0));
        assert!(!ball(0.0).overlaps(&corner) && ball(0.5).overlaps(&corner));
        let triangle = vec![[-9.0, -9.0, 0.5], [9.0, -9.0, 0.5], [0.0, 9.0, 0.5]];
        assert!(ball(0.0).overlaps(&Solid::new(Shape::Points(triangle), at(0.0))));
        let point = |x| Solid::new(Shape::Points(vec![[0.0; 3]]), at(x));
        assert!(ball(0.0).overlaps(&point(0.5)) && !ball(0.0).overlaps(&point(1.5)));
    }
}
