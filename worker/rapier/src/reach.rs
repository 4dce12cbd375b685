//! Reach of a collider in a step, found without looking at the other shape in detail.

use crate::dynamics::RigidBody;
use crate::geometry::Collider;
use crate::math::{Pose, Real, Vector};
use crate::parry::bounding_volume::{Aabb, BoundingVolume};
use crate::parry::shape::Shape;

/// The way of a collider that is swept, as bounds on it.
pub(crate) struct Way {
    /// Boxes at its begin and at its end.
    boxes: [Aabb; 2],
    /// The farthest that an arc is from its chord \[m\].
    bulge: Real,
}

impl Way {
    /// Bounds the way of a collider whose body goes to a pose.
    pub(crate) fn new(body: &RigidBody, end: &Pose, boxes: [Aabb; 2]) -> Self {
        let start = &body.pos.position;
        let center = *start * body.mprops.local_mprops.local_com;
        let [first, _] = &boxes;
        let farthest = (first.mins - center).abs().max((first.maxs - center).abs());
        // The cosine of half the angle, from one pose to the other.
        let cosine = start.rotation.dot(end.rotation).abs().min(1.0);
        Self {
            boxes,
            bulge: farthest.length() * (1.0 - cosine),
        }
    }

    /// Tells whether it may come to a collider that never moves; false only for planes.
    ///
    /// A point goes round the centre of mass on an arc, which is as far from its chord as the
    /// centre of the arc allows, and the chord lies between the two boxes.
    pub(crate) fn may_reach(&self, other: &Collider) -> bool {
        let Some(plane) = other.shape.as_halfspace() else {
            return true;
        };
        let normal = other.pos.0.rotation * plane.normal;
        let lowest = |around: &Aabb| {
            let height = normal.dot(around.center() - other.pos.0.translation);
            height - normal.abs().dot(around.half_extents())
        };
        let [first, last] = &self.boxes;
        lowest(first).min(lowest(last)) <= self.bulge
    }
}

/// Returns the box around a shape at a pose; that around a cylinder in closed form, and that around
/// a hull with a matrix, which is several times as fast as turning each corner by a quaternion.
pub(crate) fn aabb(shape: &dyn Shape, pose: &Pose) -> Aabb {
    let axes = || [Vector::X, Vector::Y, Vector::Z].map(|axis| pose.rotation * axis);
    if let Some(cylinder) = shape.as_cylinder() {
        let [x, y, z] = axes();
        let mut half = Vector::ZERO;
        for axis in 0..3 {
            let across = (x[axis] * x[axis] + z[axis] * z[axis]).sqrt();
            half[axis] = cylinder.half_height * y[axis].abs() + cylinder.radius * across;
        }
        return Aabb::from_half_extents(pose.translation, half);
    }
    let Some(hull) = shape.as_convex_polyhedron() else {
        return shape.compute_aabb(pose);
    };
    let [x, y, z] = axes();
    let turned = |point: &Vector| x * point.x + y * point.y + z * point.z;
    let first = turned(&hull.points()[0]);
    let (mut least, mut most) = (first, first);
    for point in &hull.points()[1..] {
        let at = turned(point);
        // Unlike `min` and `max`, these are one instruction each.
        for axis in 0..3 {
            least[axis] = if at[axis] < least[axis] {
                at[axis]
            } else {
                least[axis]
            };
            most[axis] = if at[axis] > most[axis] {
                at[axis]
            } else {
                most[axis]
            };
        }
    }
    Aabb::new(least + pose.translation, most + pose.translation)
}
