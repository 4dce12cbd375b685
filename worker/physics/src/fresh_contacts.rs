//! Fresh contacts for shapes that roll: a layer before parry's own query dispatcher.
//!
//! parry keeps the contact points of two shapes while they turn by up to 1 degree and slide by up
//! to 1 mm. Points that ride along on a wheel lag behind the place where it touches, and push it: a
//! robot on two free wheels gains 0.05 m/s in every second on a level floor. Here the contacts of
//! round shapes, except balls, which have no such points, are marked as stale before parry computes
//! them; everything else is parry's.
//!
//! To compute them each time is slow where two shapes overlap, as all that rests on a floor does a
//! little: parry then searches for the way out (EPA), which takes several times as long as the
//! distance of shapes that do not (GJK). A hull or a round shape above a face of a box has the
//! contacts of a plane, which need neither. Other shapes are parted by a millimetre along the
//! normal of the step before, their contacts are found there, and the gap is taken off again.

use rapier3d_f64::math::{Pose, Real, Vector};
use rapier3d_f64::parry::query::details::{NormalConstraints, contact_manifold_pfm_pfm_shapes};
use rapier3d_f64::parry::query::{
    ClosestPoints, Contact, ContactManifold, ContactManifoldsWorkspace, NonlinearRigidMotion,
    PersistentQueryDispatcher, QueryDispatcher, ShapeCastHit, ShapeCastOptions, ShapeDistance,
    ShapeIntersection, TrackedContact, Unsupported,
};
use rapier3d_f64::parry::shape::{Cuboid, PackedFeatureId, Shape, ShapeType};
use smallvec::SmallVec;

use super::plane_contacts;
use super::round_face::{Pressed, on_box, on_round};

/// Contacts that overlap by more are left to parry: out of them, another way may be the nearest
/// \[m\].
const OVERLAP_MAX: Real = 0.005;
/// Gap between shapes that touch, beyond what they overlap \[m\].
const GAP: Real = 0.001;

/// Distance below which contact points count as one \[m\].
const DOUBLE: Real = 1e-5;

/// Largest number of contact points of two shapes, but for few.
const POINTS: usize = 8;

/// Marks contacts of rolling shapes as stale and leaves all queries to the next in the chain.
pub(super) struct FreshContacts;

fn rolls(shape: &dyn Shape) -> bool {
    matches!(
        shape.shape_type(),
        ShapeType::Cylinder
            | ShapeType::Cone
            | ShapeType::Capsule
            | ShapeType::ConvexPolyhedron
            | ShapeType::Compound
    )
}

/// Tells whether parry finds the contacts of two shapes by their distance alone, and not by what is
/// special about them.
fn are_general(first: &dyn Shape, second: &dyn Shape) -> bool {
    let have_faces =
        first.as_polygonal_feature_map().is_some() && second.as_polygonal_feature_map().is_some();
    have_faces && !(first.as_capsule().is_some() && second.as_capsule().is_some())
}

/// Returns how far to part two shapes along the normal that they had, if they touched \[m\].
fn gap<M, C>(manifold: &ContactManifold<M, C>) -> Real {
    let distances = manifold.points.iter().map(|point| point.dist);
    match distances.reduce(Real::min) {
        Some(least) if (-OVERLAP_MAX..GAP).contains(&least) => GAP + 2.0 * (-least).max(0.0),
        _ => 0.0,
    }
}

impl<M, C> PersistentQueryDispatcher<M, C> for FreshContacts
where
    M: Default + Clone,
    C: Pressed,
{
    fn contact_manifolds(
        &self,
        pose: &Pose,
        first: &dyn Shape,
        second: &dyn Shape,
        prediction: Real,
        manifolds: &mut Vec<ContactManifold<M, C>>,
        _: &mut Option<ContactManifoldsWorkspace>,
    ) -> Result<(), Unsupported> {
        let is_found = match (first.as_halfspace(), second.as_halfspace()) {
            (Some(plane), _) => {
                plane_contacts::find(plane, second, pose, prediction, false, manifolds)
            }
            (_, Some(plane)) => {
                let pose = pose.inverse();
                plane_contacts::find(plane, first, &pose, prediction, true, manifolds)
            }
            (None, None) => match (first.as_cuboid(), second.as_cuboid()) {
                (Some(cuboid), None) => on_face(cuboid, second, pose, prediction, false, manifolds),
                (None, Some(cuboid)) => {
                    let pose = pose.inverse();
                    on_face(cuboid, first, &pose, prediction, true, manifolds)
                }
                _ => on_round::find(first, second, pose, prediction, manifolds),
            },
        };
        if is_found {
            return Ok(());
        }
        if !rolls(first) && !rolls(second) {
            return Err(Unsupported);
        }
        if are_general(first, second) {
            if manifolds.is_empty() {
                manifolds.push(ContactManifold::new());
            }
            find(pose, first, second, prediction, &mut manifolds[0]);
            return Ok(());
        }
        for manifold in manifolds {
            manifold.mark_shapes_deformed();
        }
        Err(Unsupported)
    }

    fn contact_manifold_convex_convex(
        &self,
        _: &Pose,
        first: &dyn Shape,
        second: &dyn Shape,
        _: Option<&dyn NormalConstraints>,
        _: Option<&dyn NormalConstraints>,
        _: Real,
        manifold: &mut ContactManifold<M, C>,
    ) -> Result<(), Unsupported> {
        if rolls(first) || rolls(second) {
            manifold.mark_shapes_deformed();
        }
        Err(Unsupported)
    }
}

/// Finds the contacts of a box and a shape that lies or rolls on one of its faces; the box is the
/// second of the two when `is_flipped`. Returns false where none does, with nothing changed.
fn on_face<M: Default, C: Pressed>(
    cuboid: &Cuboid,
    shape: &dyn Shape,
    pose: &Pose,
    prediction: Real,
    is_flipped: bool,
    manifolds: &mut Vec<ContactManifold<M, C>>,
) -> bool {
    on_box::find(cuboid, shape, pose, prediction, is_flipped, manifolds)
        || plane_contacts::find_on_box(cuboid, shape, pose, prediction, is_flipped, manifolds)
}

/// Finds the contacts of two shapes, parted if they touched.
fn find<M: Default, C: Default + Copy>(
    pose: &Pose,
    first: &dyn Shape,
    second: &dyn Shape,
    prediction: Real,
    manifold: &mut ContactManifold<M, C>,
) {
    let gap = gap(manifold);
    manifold.mark_shapes_deformed();
    let mut parted = *pose;
    parted.translation += manifold.local_n1 * gap;
    // parry would copy them to the heap.
    let old: SmallVec<[TrackedContact<C>; POINTS]> = manifold.points.drain(..).collect();
    let reach = prediction + gap;
    contact_manifold_pfm_pfm_shapes(&parted, first, second, None, None, reach, manifold);
    drop_double(manifold);
    manifold.match_contacts(&old);
    if gap > 0.0 {
        manifold.update_separations(pose);
    }
}

/// Drops the nearest point of two shapes, which parry adds to those of their faces, where it is one
/// of those or between two of them: friction acts in the mean of all.
fn drop_double<M, C: Copy>(manifold: &mut ContactManifold<M, C>) {
    let Some((last, others)) = manifold.points.split_last() else {
        return;
    };
    let is_lowest = others.iter().all(|other| last.dist < other.dist - DOUBLE);
    if last.fid1 != PackedFeatureId::UNKNOWN || is_lowest {
        return;
    }
    let is_between = |from: Vector, to: Vector| {
        let (way, along) = (to - from, last.local_p1 - from);
        let part = along.dot(way) / way.length_squared().max(DOUBLE * DOUBLE);
        along.distance_squared(way * part.clamp(0.0, 1.0)) < DOUBLE * DOUBLE
    };
    let has_it = others.iter().enumerate().any(|(index, from)| {
        let mut ends = others[index..].iter();
        ends.any(|to| is_between(from.local_p1, to.local_p1))
    });
    if has_it {
        manifold.points.pop();
    }
}

impl QueryDispatcher for FreshContacts {
    fn intersection_test(
        &self,
        _: &Pose,
        _: &dyn Shape,
        _: &dyn Shape,
    ) -> Result<ShapeIntersection, Unsupported> {
        Err(Unsupported)
    }

    fn distance(
        &self,
        _: &Pose,
        _: &dyn Shape,
        _: &dyn Shape,
    ) -> Result<ShapeDistance, Unsupported> {
        Err(Unsupported)
    }

    fn contact(
        &self,
        _: &Pose,
        _: &dyn Shape,
        _: &dyn Shape,
        _: Real,
    ) -> Result<Option<Contact>, Unsupported> {
        Err(Unsupported)
    }

    fn closest_points(
        &self,
        _: &Pose,
        _: &dyn Shape,
        _: &dyn Shape,
        _: Real,
    ) -> Result<ClosestPoints, Unsupported> {
        Err(Unsupported)
    }

    fn cast_shapes(
        &self,
        _: &Pose,
        _: Vector,
        _: &dyn Shape,
        _: &dyn Shape,
        _: ShapeCastOptions,
    ) -> Result<Option<ShapeCastHit>, Unsupported> {
        Err(Unsupported)
    }

    fn cast_shapes_nonlinear(
        &self,
        _: &NonlinearRigidMotion,
        _: &dyn Shape,
        _: &NonlinearRigidMotion,
        _: &dyn Shape,
        _: Real,
        _: Real,
        _: bool,
    ) -> Result<Option<ShapeCastHit>, Unsupported> {
        Err(Unsupported)
    }
}

#[cfg(test)]
mod tests {
    use rapier3d_f64::geometry::ContactData;
    use rapier3d_f64::parry::query::DefaultQueryDispatcher;
    use rapier3d_f64::parry::shape::{Cone, Cuboid, Cylinder};

    use super::*;

    type Manifold = ContactManifold<(), ContactData>;

    const REACH: Real = 0.002;

    fn find(
        dispatcher: &impl PersistentQueryDispatcher<(), ContactData>,
        pose: &Pose,
        found: &mut Vec<Manifold>,
    ) {
        let (floor, wheel) = shapes();
        let done = dispatcher.contact_manifolds(pose, &floor, &wheel, REACH, found, &mut None);
        done.expect("both shapes are known");
    }

    fn shapes() -> (Cuboid, Cylinder) {
        let floor = Cuboid::new(Vector::new(5.0, 0.5, 5.0));
        (floor, Cylinder::new(0.02, 0.1))
    }

    /// Puts a wheel over the floor, leaning a little, with its lowest point at a height \[m\].
    fn pose(height: Real, lean: Real) -> Pose {
        let axis = Vector::new(std::f64::consts::FRAC_PI_2 + lean, 0.0, 0.0);
        let low = 0.1 * lean.cos() + 0.02 * lean.sin().abs();
        Pose::new(Vector::new(0.3, 0.5 + low + height, -0.2), axis)
    }

    fn least(found: &[Manifold]) -> (Real, Vector) {
        let manifold = &found[0];
        let distances = manifold.points.iter().map(|point| point.dist);
        (distances.fold(Real::MAX, Real::min), manifold.local_n1)
    }

    #[test]
    fn shapes_that_are_parted_for_it_touch_as_deep_and_in_the_same_direction() {
        let both = FreshContacts.chain(DefaultQueryDispatcher);
        for lean in [0.0, 0.001, 0.1, 0.4] {
            for overlap in [0.0, 1e-5, 1e-4, 1e-3, 4e-3] {
                // The wheel was there already, a little higher.
                let mut found = Vec::new();
                find(&both, &pose(-overlap + 1e-5, lean), &mut found);
                find(&both, &pose(-overlap, lean), &mut found);
                let (depth, normal) = least(&found);
                assert!(
                    (depth + overlap).abs() < 1e-6,
                    "{depth} for {overlap}, {lean}"
                );
                assert!(
                    (normal - Vector::Y).length() < 1e-4,
                    "{normal} for {overlap}, {lean}"
                );
            }
        }
    }

    /// A wheel on a box touches it at the two ends of a line, each once.
    #[test]
    fn a_wheel_on_a_box_has_two_contact_points() {
        let both = FreshContacts.chain(DefaultQueryDispatcher);
        for height in [1e-3, 1e-5, -1e-5, -1e-3] {
            let mut found = Vec::new();
            for _ in 0..3 {
                find(&both, &pose(height, 0.0), &mut found);
                let points = found[0].points.iter();
                let mut ends: Vec<Real> = points.map(|point| point.local_p2.y).collect();
                ends.sort_by(Real::total_cmp);
                assert_eq!(ends.len(), 2, "{ends:?} at {height}");
                assert!((ends[0] + 0.02).abs() < 1e-6 && (ends[1] - 0.02).abs() < 1e-6);
            }
        }
    }

    #[test]
    fn what_overlaps_deeply_and_what_has_no_faces_is_left_to_parry() {
        let mut manifold = Manifold::new();
        assert_eq!(gap(&manifold), 0.0);
        let both = FreshContacts.chain(DefaultQueryDispatcher);
        let mut found = Vec::new();
        find(&both, &pose(-0.03, 0.0), &mut found);
        manifold.points.clone_from(&found[0].points);
        assert_eq!(gap(&manifold), 0.0);
        assert!(are_general(&Cone::new(0.1, 0.1), &shapes().0));
        let ball = rapier3d_f64::parry::shape::Ball::new(0.1);
        assert!(!are_general(&ball, &shapes().0));
    }
}
