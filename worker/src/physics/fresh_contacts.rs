//! Fresh contacts for shapes that roll: a layer before parry's own query dispatcher.
//!
//! parry keeps the contact points of two shapes while they turn by up to 1 degree and slide by up
//! to 1 mm. Points that ride along on a wheel lag behind the place where it touches, and push it: a
//! robot on two free wheels gains 0.05 m/s in every second on a level floor. Here the contacts of
//! round shapes, except balls, which have no such points, are marked as stale before parry computes
//! them; everything else is parry's.

use rapier3d_f64::math::{Pose, Real, Vector};
use rapier3d_f64::parry::query::details::NormalConstraints;
use rapier3d_f64::parry::query::{
    ClosestPoints, Contact, ContactManifold, ContactManifoldsWorkspace, NonlinearRigidMotion,
    PersistentQueryDispatcher, QueryDispatcher, ShapeCastHit, ShapeCastOptions, ShapeDistance,
    ShapeIntersection, Unsupported,
};
use rapier3d_f64::parry::shape::Shape;

/// Marks contacts of rolling shapes as stale and leaves all queries to the next in the chain.
pub(super) struct FreshContacts;

fn rolls(shape: &dyn Shape) -> bool {
    shape.as_cylinder().is_some()
        || shape.as_cone().is_some()
        || shape.as_capsule().is_some()
        || shape.as_convex_polyhedron().is_some()
}

impl<M, C> PersistentQueryDispatcher<M, C> for FreshContacts
where
    M: Default + Clone,
    C: Default + Copy,
{
    fn contact_manifolds(
        &self,
        _: &Pose,
        first: &dyn Shape,
        second: &dyn Shape,
        _: Real,
        manifolds: &mut Vec<ContactManifold<M, C>>,
        _: &mut Option<ContactManifoldsWorkspace>,
    ) -> Result<(), Unsupported> {
        if rolls(first) || rolls(second) {
            for manifold in manifolds {
                manifold.mark_shapes_deformed();
            }
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
