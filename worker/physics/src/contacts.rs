//! Contacts: which collisions of a model touched which others in the last step, where, and how
//! hard.
//!
//! Nothing is kept for them while nobody asks: a reading walks the pairs that rapier holds for the
//! colliders meant. Pairs come in the order of models, links and collisions, so that readings are
//! the same on every host.

use rapier3d_f64::dynamics::RigidBodyHandle;
use rapier3d_f64::geometry::{Collider, ColliderHandle, ContactManifold, ContactPair};
use sdf::{Collision, World};

use super::access::ModelRef;
use super::cell::Cell;
use super::model;

/// A collision of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CollisionRef {
    /// The index of the model in the world.
    pub model: usize,
    /// The index of the link in the model.
    pub link: usize,
    /// The index of the collision in the link.
    pub collision: usize,
}

/// Two collisions that touch.
#[derive(Clone, Debug, PartialEq)]
pub struct Contact {
    /// The one that was asked about.
    pub own: CollisionRef,
    /// The one that it touches.
    pub other: CollisionRef,
    /// Points of contact; none if one of them is met without contact.
    pub points: Vec<ContactPoint>,
}

/// A point where two collisions touch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactPoint {
    /// World frame \[m\].
    pub position: [f64; 3],
    /// A unit vector from the other collision to the own one, world frame.
    pub normal: [f64; 3],
    /// Depth of penetration \[m\]; negative for one that is about to touch.
    pub depth: f64,
    /// Force on the own collision, world frame \[N\]: pressure and friction, on average over the
    /// step.
    pub force: [f64; 3],
}

impl CollisionRef {
    /// Returns its name as Gazebo scopes it: `model::link::collision`.
    pub fn name(&self, world: &World) -> String {
        let model = &world.models[self.model];
        let link = &model.links[self.link];
        let collision = &link.collisions[self.collision];
        format!("{}::{}::{}", model.name, link.name, collision.name)
    }
}

impl Cell {
    /// Returns what the collisions of a model touched in the last step, in the order of the own
    /// collisions, then of the others; with a link's index, only those of that link, and with a
    /// collision's index too, only that one.
    ///
    /// # Panics
    /// Panics if the cell does not have the model.
    pub fn contacts(&self, model: ModelRef, only: Option<(usize, Option<usize>)>) -> Vec<Contact> {
        let mut contacts = Vec::new();
        let is_meant = |own: &CollisionRef| match only {
            None => true,
            Some((link, None)) => own.link == link,
            Some((link, Some(collision))) => own.link == link && own.collision == collision,
        };
        for body in self.bodies_of(model) {
            for handle in self.physics.bodies[body].colliders() {
                if let Some(own) = self.collision_of(*handle).filter(is_meant) {
                    self.gather(*handle, own, &mut contacts);
                }
            }
        }
        contacts.sort_by_key(|contact| (contact.own, contact.other));
        contacts
    }

    /// Adds what a collider touches.
    fn gather(&self, handle: ColliderHandle, own: CollisionRef, contacts: &mut Vec<Contact>) {
        let narrow_phase = &self.physics.narrow_phase;
        for pair in narrow_phase.contact_pairs_with(handle) {
            let is_first = pair.collider1 == handle;
            let other = if is_first {
                pair.collider2
            } else {
                pair.collider1
            };
            let points = self.points(pair, is_first);
            if !points.is_empty()
                && let Some(other) = self.collision_of(other)
            {
                contacts.push(Contact { own, other, points });
            }
        }
        for (first, second, touches) in narrow_phase.intersection_pairs_with(handle) {
            let other = if first == handle { second } else { first };
            if touches && let Some(other) = self.collision_of(other) {
                let points = Vec::new();
                contacts.push(Contact { own, other, points });
            }
        }
    }

    fn points(&self, pair: &ContactPair, is_first: bool) -> Vec<ContactPoint> {
        let Some(first) = self.physics.colliders.get(pair.collider1) else {
            return Vec::new();
        };
        let step_size_s = self.physics.integration_parameters.dt;
        let manifolds = pair.solver_manifolds().iter();
        let points = manifolds.flat_map(|manifold| read(manifold, first, step_size_s));
        let mut points: Vec<ContactPoint> = points.collect();
        if !is_first {
            for point in &mut points {
                point.normal = point.normal.map(|part| -part);
                point.force = point.force.map(|part| -part);
            }
        }
        points
    }

    /// Returns which collision a collider is.
    pub(super) fn collision_of(&self, handle: ColliderHandle) -> Option<CollisionRef> {
        let collider = self.physics.colliders.get(handle)?;
        let body = collider.parent()?;
        let (model, _) = model::from_label(self.physics.bodies.get(body)?.user_data);
        let (link, collision) = from_label(collider.user_data);
        let described = self.world.models.get(model)?.links.get(link)?;
        (collision < described.collisions.len()).then_some(CollisionRef {
            model,
            link,
            collision,
        })
    }

    fn bodies_of(&self, model: ModelRef) -> Vec<RigidBodyHandle> {
        match model.performer {
            Some(performer) => self.contents.performers[&performer].links.clone(),
            None => vec![self.contents.statics[&model.index]],
        }
    }
}

/// Returns the part of a collider's `user_data` that says which collision it is, by its number in
/// its link, and whether its surface has more than plain friction; the rest is that of
/// [`super::collision_filter::Family`].
pub(super) fn label(link: usize, number: usize, collision: &Collision) -> u128 {
    let rubs_specially = u128::from(collision.surface.rubs_specially()) << SPECIAL_SHIFT;
    let number = (number as u128 & COLLISION_MAX) << COLLISION_SHIFT;
    (link as u128 & LINK_MAX) << LINK_SHIFT | number | rubs_specially
}

const LINK_SHIFT: u32 = 65;
const LINK_MAX: u128 = (1 << 31) - 1;
const COLLISION_SHIFT: u32 = 96;
const COLLISION_MAX: u128 = (1 << 31) - 1;
const SPECIAL_SHIFT: u32 = 127;

/// Tells whether the surface of a collider has more than plain friction, from its `user_data`.
pub(super) fn rubs_specially(user_data: u128) -> bool {
    user_data >> SPECIAL_SHIFT != 0
}

/// Returns the index of the link that a collider is of, from its `user_data`.
pub(super) fn link_of(user_data: u128) -> usize {
    from_label(user_data).0
}

/// Returns the indices of link and collision that [`label`] was made of.
pub(super) fn from_label(user_data: u128) -> (usize, usize) {
    let link = user_data >> LINK_SHIFT & LINK_MAX;
    let collision = user_data >> COLLISION_SHIFT & COLLISION_MAX;
    (link as usize, collision as usize)
}

/// Reads where two colliders touch, seen from the first.
///
/// [`super::solver`] notes friction along the two directions that follow from the normal.
fn read(manifold: &ContactManifold, first: &Collider, step_size_s: f64) -> Vec<ContactPoint> {
    let frame = match manifold.subshape_pos1() {
        Some(at) => *first.position() * *at,
        None => *first.position(),
    };
    // rapier's normals point from the first to the second.
    let normal = -manifold.data.normal;
    let [first_across, second_across] = dynamics::across(normal);
    let touching = manifold
        .points
        .iter()
        .filter(|point| point.dist <= 0.0 || point.data.impulse > 0.0);
    touching
        .map(|point| {
            let friction = point.data.tangent_impulse;
            let friction = first_across * friction.x + second_across * friction.y;
            let impulse = normal * point.data.impulse + friction;
            ContactPoint {
                position: (frame * point.local_p1).to_array(),
                normal: normal.to_array(),
                depth: -point.dist,
                force: (impulse / step_size_s).to_array(),
            }
        })
        .collect()
}
