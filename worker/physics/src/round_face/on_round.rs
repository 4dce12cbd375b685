//! [`Lens`]: what two round faces share that lie on each other.
//!
//! parry takes the squares within both faces, and turns each of them to where its axis leans: of
//! two drums that stand on each other they turn from step to step, so that the impulses of the step
//! before are those of other points. Here the contacts are on the rim of what both share: where the
//! directions of the corners of the smaller one meet it, at its two tips, and where it is the
//! widest between them, about which the upper one tips.

use super::{
    CORNERS_MAX, ContactManifold, Former, OVERLAP_MAX, PLACES, Pose, Pressed, ROUNDING, Real,
    RoundFace, Shape, SmallVec, Touching, Vector, direction, places, replace,
};

/// The area that two round faces share, in the frame of the larger one.
struct Lens {
    /// The larger face, and the smaller one.
    ground: RoundFace,
    face: RoundFace,
    ground_to_shape: Pose,
    normal: Vector,
    /// The centre of the smaller face.
    center: Vector,
}

/// Finds the contacts of two shapes whose round faces lie flat on each other. Returns false where
/// none do, with nothing changed.
pub(in super::super) fn find<M: Default, C: Pressed>(
    first: &dyn Shape,
    second: &dyn Shape,
    pose: &Pose,
    prediction: Real,
    manifolds: &mut Vec<ContactManifold<M, C>>,
) -> bool {
    let (Some(of_first), Some(of_second)) = (radius(first), radius(second)) else {
        return false;
    };
    let is_flipped = of_first < of_second;
    let lens = if is_flipped {
        Lens::find(second, first, &pose.inverse(), prediction)
    } else {
        Lens::find(first, second, pose, prediction)
    };
    let Some(lens) = lens else {
        return false;
    };
    let former = Former {
        points: manifolds
            .first()
            .map_or(&[][..], |manifold| &manifold.points),
        is_flipped,
    };
    let corners = lens.corners(former);
    let touching = corners.into_iter().filter_map(|(number, own)| {
        let point = lens.ground_to_shape * own;
        let height = lens.height(point);
        (height <= prediction).then(|| Touching {
            number: lens.face.vertex(number),
            points: [point - lens.normal * height, own],
            height,
        })
    });
    let own = lens.ground_to_shape.rotation.inverse() * lens.normal;
    replace(touching, [lens.normal, -own], is_flipped, manifolds);
    true
}

/// Returns the radius of the round faces of a shape \[m\].
fn radius(shape: &dyn Shape) -> Option<Real> {
    let of_cylinder = shape.as_cylinder().map(|cylinder| cylinder.radius);
    of_cylinder.or_else(|| shape.as_cone().map(|cone| cone.radius))
}

impl Lens {
    /// Finds the faces of two shapes that lie on each other, unless the way out beside is shorter.
    fn find(
        ground: &dyn Shape,
        shape: &dyn Shape,
        ground_to_shape: &Pose,
        prediction: Real,
    ) -> Option<Self> {
        let lens = |normal: Vector| {
            // A face is flat on what its normal points away from.
            let ground = RoundFace::flat(ground, -normal, prediction)?;
            let own = ground_to_shape.rotation.inverse() * normal;
            let face = RoundFace::flat(shape, own, prediction)?;
            Some(Self {
                ground,
                face,
                ground_to_shape: *ground_to_shape,
                normal,
                center: *ground_to_shape * face.center(),
            })
        };
        let height = |lens: &Self| lens.height(lens.center);
        let lenses = [lens(Vector::Y), lens(-Vector::Y)].into_iter().flatten();
        let lens = lenses.reduce(|one, other| {
            let is_higher = height(&other) > height(&one);
            if is_higher { other } else { one }
        })?;
        let height = height(&lens);
        let beside = lens.offset() - lens.ground.radius - lens.face.radius;
        let is_near = height >= -OVERLAP_MAX && height <= 2.0 * prediction;
        (is_near && beside < height.min(0.0)).then_some(lens)
    }

    /// Returns the height of a point above the larger face \[m\].
    fn height(&self, point: Vector) -> Real {
        self.normal.dot(point - self.ground.center())
    }

    /// Returns how far the centres of both are apart along the larger face \[m\].
    fn offset(&self) -> Real {
        self.center.x.hypot(self.center.z)
    }

    /// Returns the corners of what both share, with their numbers on the smaller face and their
    /// places in the frame of its shape.
    fn corners<C: Pressed>(
        &self,
        former: Former<'_, C>,
    ) -> SmallVec<[(usize, Vector); CORNERS_MAX]> {
        let offset = self.offset();
        let [large, small] = [self.ground.radius, self.face.radius];
        if offset + small <= large * (1.0 + ROUNDING) {
            return self.face.corners(former).collect();
        }
        // In the frame of the smaller shape, across its axis.
        let center = self
            .ground_to_shape
            .inverse_transform_point(self.ground.center());
        let away = [center.x / offset, center.z / offset];
        // Both ends of what they share on the line between their centres.
        let widest = [(offset - large).max(-small), small];
        let middle = 0.5 * (widest[0] + widest[1]);
        let [x, z] = away.map(|part| part * middle);
        let own = |x: Real, z: Real| Vector::new(x, self.face.at, z);
        let mut corners = SmallVec::new();
        let nowhere = [0.0; 2];
        for point in places(nowhere) {
            let [cos, sin] = direction(point);
            let of_small = exit([x, z], [cos, sin], small);
            let of_large = exit([x - center.x, z - center.z], [cos, sin], large);
            let way = of_small.min(of_large);
            corners.push((point, own(x + way * cos, z + way * sin)));
        }
        let along = 0.5 * (offset + (small * small - large * large) / offset);
        let across = (small * small - along * along).max(0.0).sqrt();
        let ends = [(along, across), (along, -across)];
        let ends = ends.into_iter().chain(widest.map(|along| (along, 0.0)));
        for (number, (along, side)) in ends.enumerate() {
            let [x, z] = away;
            let end = own(along * x - side * z, along * z + side * x);
            corners.push((PLACES + number, end));
        }
        corners
    }
}

/// Returns how far it is from a point within a circle about the origin to its rim.
fn exit(from: [Real; 2], way: [Real; 2], radius: Real) -> Real {
    let along = from[0] * way[0] + from[1] * way[1];
    let beside = from[0] * way[1] - from[1] * way[0];
    (radius * radius - beside * beside).max(0.0).sqrt() - along
}

#[cfg(test)]
mod tests {
    use rapier3d_f64::geometry::ContactData;
    use rapier3d_f64::parry::shape::{Cone, Cylinder};

    use super::*;

    type Manifold = ContactManifold<(), ContactData>;

    const REACH: Real = 0.002;

    /// Puts a shape of a half height on a cylinder, turned and beside its middle by some metres.
    fn found(lower: &dyn Shape, upper: &dyn Shape, beside: Real, height: Real) -> Vec<Manifold> {
        let turn = Vector::Y * 0.3;
        let pose = Pose::new(Vector::new(0.6 * beside, height, 0.8 * beside), turn);
        let mut manifolds = Vec::new();
        let one = find(lower, upper, &pose, REACH, &mut manifolds);
        let mut flipped = Vec::new();
        assert_eq!(
            one,
            find(upper, lower, &pose.inverse(), REACH, &mut flipped),
            "{beside} {height}"
        );
        if one {
            let points = |manifold: &Manifold| manifold.points.len();
            assert_eq!(points(&manifolds[0]), points(&flipped[0]));
            assert!((manifolds[0].local_n1 - flipped[0].local_n2).length() < 1e-12);
        }
        manifolds
    }

    /// All points lie on the rims of both or within the other, the two tips on both.
    #[test]
    fn contacts_lie_on_the_rim_of_what_both_share() {
        let (lower, upper) = (Cylinder::new(0.2, 0.3), Cylinder::new(0.1, 0.2));
        for beside in [0.0, 0.05, 0.1, 0.100_001, 0.15, 0.3, 0.49] {
            let manifolds = found(&lower, &upper, beside, 0.3 - 1e-5);
            let points = &manifolds[0].points;
            let count = if beside <= 0.1 { 8 } else { 12 };
            assert_eq!(points.len(), count, "{beside}");
            for point in points {
                assert!((point.dist + 1e-5).abs() < 1e-12);
                let of_lower = point.local_p1.x.hypot(point.local_p1.z);
                let of_upper = point.local_p2.x.hypot(point.local_p2.z);
                assert!(of_lower < 0.3 + 1e-9 && of_upper < 0.2 + 1e-9, "{beside}");
                let is_on_rim = (of_lower - 0.3).abs() < 1e-9 || (of_upper - 0.2).abs() < 1e-9;
                assert!(is_on_rim, "{beside} {point:?}");
            }
        }
    }

    /// Two drums of the same size that are apart by a rounding have points all around.
    #[test]
    fn drums_that_are_hardly_apart_have_points_all_around() {
        let drum = Cylinder::new(0.2, 0.3);
        for beside in [0.0, 1e-12, 1e-7, 1e-4] {
            let manifolds = found(&drum, &drum, beside, 0.4);
            for point in 0..PLACES {
                let [x, z] = direction(point);
                let points = manifolds[0].points.iter();
                let farthest = points.map(|point| x * point.local_p1.x + z * point.local_p1.z);
                let farthest = farthest.fold(0.0, Real::max);
                assert!(farthest > 0.27, "{farthest} towards {point}, {beside}");
            }
        }
    }

    #[test]
    fn a_drum_beside_another_and_the_tip_of_a_cone_are_left_to_others() {
        let (drum, cone) = (Cylinder::new(0.2, 0.3), Cone::new(0.2, 0.3));
        assert!(found(&drum, &drum, 0.601, 0.0).is_empty());
        assert!(found(&drum, &drum, 0.59, 0.1).is_empty());
        assert!(found(&drum, &drum, 0.0, 0.41).is_empty());
        assert_eq!(found(&drum, &cone, 0.0, 0.4).len(), 1);
        assert!(found(&drum, &cone, 0.0, -0.4).is_empty());
    }
}
