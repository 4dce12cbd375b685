//! Moving surfaces: tracks and belts, which carry what touches them along.
//!
//! The surface of a link goes round it about an axis: friction holds what touches it against the
//! speed of the surface there and not against that of the link. Said anew before each step.

use rapier3d_f64::dynamics::RigidBodyHandle;
use rapier3d_f64::geometry::{ColliderHandle, SolverFlags};
use rapier3d_f64::math::Vector;
use rapier3d_f64::pipeline::{
    ActiveHooks, ContactModificationContext, ModifiableContacts, PairFilterContext, PhysicsHooks,
};

use super::access::ModelRef;
use super::cell::Cell;
use super::collision_filter::CollisionFilter;

/// How the surface of a link moves in a step, world frame.
pub(super) struct MovingSurface {
    body: RigidBodyHandle,
    /// The axis that it goes round, at right angles to where it goes.
    axis: Vector,
    /// \[m/s\]
    speed: f64,
    /// The point that the link turns about on the ground, if it does not go straight \[m\].
    center: Option<Vector>,
}

/// What rapier asks in a step where surfaces move.
pub(super) struct SurfaceHooks<'a>(pub(super) &'a [MovingSurface]);

impl Cell {
    /// Has the surface of a link go round an axis (unit vector, world frame) in the next step, so
    /// that it drives the link ahead at a speed \[m/s\]: on a level floor that is along `axis x
    /// up`. With a center \[m\], world frame, friction sideways lets it turn about that point.
    /// A model that never moves is one belt with all of its links.
    pub fn move_surface(
        &mut self,
        of: ModelRef,
        link: usize,
        axis: [f64; 3],
        speed: f64,
        center: Option<[f64; 3]>,
    ) {
        let belt = || match of.performer {
            None => self.contents.statics.get(&of.index).copied(),
            Some(_) => None,
        };
        let Some(body) = self.body_handle(of, link).or_else(belt) else {
            return;
        };
        let numbers = axis.iter().chain(center.iter().flatten());
        if speed == 0.0 || !speed.is_finite() || !numbers.into_iter().all(|one| one.is_finite()) {
            return;
        }
        let colliders = self.physics.bodies[body].colliders().to_vec();
        self.wake_riders(&colliders);
        for handle in colliders {
            let hooks = self.physics.colliders[handle].active_hooks();
            if !hooks.contains(ActiveHooks::MODIFY_SOLVER_CONTACTS)
                && let Some(collider) = self.physics.colliders.get_mut(handle)
            {
                collider.set_active_hooks(hooks | ActiveHooks::MODIFY_SOLVER_CONTACTS);
            }
        }
        if self.physics.bodies[body].is_sleeping() {
            self.physics.wake_up(body, true);
        }
        self.surfaces.push(MovingSurface {
            body,
            axis: Vector::from_array(axis),
            speed,
            center: center.map(Vector::from_array),
        });
    }
}

impl Cell {
    /// Wakes what sleeps on a surface that moves.
    fn wake_riders(&mut self, colliders: &[ColliderHandle]) {
        let physics = &self.physics;
        let touching = colliders.iter().flat_map(|handle| {
            let pairs = physics.narrow_phase.contact_pairs_with(*handle);
            let pairs = pairs.filter(|pair| pair.has_any_active_contact());
            pairs.flat_map(|pair| [pair.collider1, pair.collider2])
        });
        let bodies = touching.filter_map(|handle| physics.colliders.get(handle)?.parent());
        let asleep: Vec<RigidBodyHandle> = bodies
            .filter(|body| physics.bodies[*body].is_sleeping())
            .collect();
        for body in asleep {
            self.physics.wake_up(body, true);
        }
    }
}

impl MovingSurface {
    /// Returns how the surface moves where it is touched, against its body; the normal points into
    /// the body.
    fn velocity(&self, normal: Vector, point: Vector) -> Vector {
        let along = normal.cross(self.axis);
        let velocity = along * self.speed;
        let Some(center) = self.center else {
            return velocity;
        };
        let direction = normal.cross(center - point).normalize_or(Vector::ZERO);
        direction * direction.dot(velocity)
    }
}

impl PhysicsHooks for SurfaceHooks<'_> {
    fn filter_contact_pair(&self, context: &PairFilterContext) -> Option<SolverFlags> {
        CollisionFilter.filter_contact_pair(context)
    }

    fn modify_solver_contacts(&self, context: &mut ContactModificationContext) {
        let bodies = [context.rigid_body1, context.rigid_body2];
        let ModifiableContacts::Rigid(manifold) = &mut context.contacts else {
            return;
        };
        // The normal points from the first to the second.
        let normal = *manifold.normal;
        for surface in self.0 {
            for (side, into) in [(0, -1.0), (1, 1.0)] {
                if bodies[side] != Some(surface.body) {
                    continue;
                }
                for contact in manifold.solver_contacts.iter_mut() {
                    let velocity = surface.velocity(normal * into, contact.anchor1);
                    // rapier has the velocity of the second against the first be this one.
                    contact.tangent_velocity -= velocity * into;
                }
            }
        }
    }
}
