//! Contacts as the solver takes them, and their impulses as rapier keeps them.

use dynamics::{Contact, Friction};
use glam::DVec3;
use rapier3d_f64::dynamics::{RigidBody, RigidBodyHandle};
use rapier3d_f64::geometry::{
    Collider, ColliderHandle, ContactManifold, NEW_CONTACT_BIT, SolverContact,
};
use rapier3d_f64::island_solver::Scene as RapierScene;
use rapier3d_f64::math::{Pose, Vector};
use sdf::{Collision, Link, Surface, World};

use super::super::slip::{self, LinkSlip};
use super::super::{contacts, model, pose};
use super::Solving;

impl Solving<'_> {
    pub(super) fn gather_contacts(&mut self, rapier: &RapierScene<'_>) {
        self.buffers.manifolds.clear();
        let mut contacts = std::mem::take(&mut self.buffers.scene.contacts);
        contacts.clear();
        let mut ids = std::mem::take(&mut self.buffers.manifolds);
        rapier.for_each_manifold(|id, colliders, manifold| {
            let known = (&*self.cell.world, self.cell.slips.as_slice());
            let friction = friction(rapier, known, colliders, manifold);
            let bodies = [manifold.data.rigid_body1, manifold.data.rigid_body2];
            let numbers = bodies.map(|body| body.and_then(|body| self.number(body)));
            let poses = bodies.map(|body| {
                let body = rapier.bodies().get(body?)?;
                let pose = || Pose::from_parts(body.center_of_mass(), body.position().rotation);
                (!body.is_fixed()).then(pose)
            });
            let number = ids.len() as u32;
            contacts.extend(contacts_of(manifold, number, numbers, poses, friction));
            ids.push(id);
        });
        self.buffers.manifolds = ids;
        self.buffers.scene.contacts = contacts;
    }

    pub(super) fn give_back_contacts(&mut self, rapier: &mut RapierScene<'_>) {
        let contacts = &self.buffers.scene.contacts;
        for group in contacts.chunk_by(|one, next| one.manifold == next.manifold) {
            let id = self.buffers.manifolds[group[0].manifold as usize];
            rapier.update_manifold(id, |manifold| note(manifold, group));
        }
    }
}

/// Returns the contacts of a manifold. rapier keeps points in the axes of bodies about their
/// centres of mass, but for those of bodies that never move, which have no pose here.
fn contacts_of(
    manifold: &ContactManifold,
    number: u32,
    bodies: [Option<usize>; 2],
    poses: [Option<Pose>; 2],
    friction: Friction,
) -> impl Iterator<Item = Contact> {
    let data = &manifold.data;
    data.solver_contacts.iter().map(move |contact| {
        let [first, second] = poses;
        let in_world = |pose: Option<Pose>, point: Vector| match pose {
            Some(pose) => pose * point,
            None => point,
        };
        let point = &manifold.points[point_of(contact)].data;
        Contact {
            bodies,
            manifold: number,
            // rapier's normals point from the first to the second.
            normal: -data.normal,
            points: [
                in_world(first, contact.anchor1),
                in_world(second, contact.anchor2),
            ],
            friction,
            restitution: data.restitution,
            is_new: point.impulse == 0.0,
            surface_velocity: contact.tangent_velocity,
            pressure: point.warmstart_impulse,
            drag: point.warmstart_tangent_world,
            twist: point.warmstart_twist_impulse,
            total_pressure: 0.0,
            total_drag: DVec3::ZERO,
        }
    })
}

/// Returns friction between two colliders. Where one of them names a first direction, each one
/// has a limit of its own, the lesser of both surfaces, and slips as both do together, as in
/// Gazebo's default engine (DART, `dart/constraint/ContactSurface.cpp`); without a direction the
/// first coefficients hold for all. Slip is shared by the points of a manifold, so that the surface
/// as a whole slips as it says. Against turning about the normal the lesser coefficient of both
/// holds on the greater patch, as in Gazebo Classic.
fn friction(
    rapier: &RapierScene<'_>,
    (world, slips): (&World, &[LinkSlip]),
    colliders: [ColliderHandle; 2],
    manifold: &ContactManifold,
) -> Friction {
    let plain = Friction::isotropic(manifold.data.friction);
    let [Some(first), Some(second)] = colliders.map(|handle| rapier.colliders().get(handle)) else {
        return plain;
    };
    let rubs_specially = |collider: &Collider| contacts::rubs_specially(collider.user_data);
    let said = [first, second].map(|one| slip::said_of(slips, one.parent()));
    if !rubs_specially(first) && !rubs_specially(second) && said == [None; 2] {
        return plain;
    }
    let [Some(first), Some(second)] =
        [first, second].map(|one| CollisionOwner::of(one, rapier, world))
    else {
        return plain;
    };
    let surfaces = [first, second].map(|place| &place.collision.surface);
    let of_both = |value: fn(&Surface) -> f64| surfaces.map(value);
    let least = |value| of_both(value).into_iter().fold(f64::INFINITY, f64::min);
    let radius = of_both(|surface| surface.patch_radius)
        .into_iter()
        .fold(0.0, f64::max);
    let torsion = TORSION_OF_PATCH * radius * least(|surface| surface.torsional_friction);
    let slips = [0, 1].map(|side| slip::of_surface(said[side], surfaces[side]));
    let slip = [0, 1].map(|axis| slips[0][axis] + slips[1][axis]);
    let direction = |place: &CollisionOwner<'_>| place.direction(rapier, world);
    let named = direction(&first).or_else(|| direction(&second));
    if named.is_none() && slip == [0.0; 2] {
        return Friction { torsion, ..plain };
    }
    let points = manifold.data.solver_contacts.len().max(1) as f64;
    Friction {
        coefficients: [
            least(|surface| surface.friction),
            least(|surface| surface.friction2),
        ],
        direction: Some(named.unwrap_or(Vector::X)),
        slip: slip.map(|slip| slip.max(0.0) * points),
        torsion,
    }
}

/// The moment against turning about the normal of a round patch under the pressure of a sphere, as
/// a part of radius, coefficient and force (Gazebo, *Torsional friction*, after Hertz).
const TORSION_OF_PATCH: f64 = 3.0 * std::f64::consts::PI / 16.0;

/// The collision that a collider was made of, and the body that carries it.
#[derive(Clone, Copy)]
struct CollisionOwner<'a> {
    handle: RigidBodyHandle,
    body: &'a RigidBody,
    link: &'a Link,
    collision: &'a Collision,
}

impl<'a> CollisionOwner<'a> {
    fn of(collider: &Collider, rapier: &'a RapierScene<'_>, world: &'a World) -> Option<Self> {
        let handle = collider.parent()?;
        let body = rapier.bodies().get(handle)?;
        let (model, _) = model::from_label(body.user_data);
        let (link, number) = contacts::from_label(collider.user_data);
        let link = world.models.get(model)?.links.get(link)?;
        let collision = link.collisions.get(number)?;
        Some(Self {
            handle,
            body,
            link,
            collision,
        })
    }

    /// Returns the first direction of friction that the surface names, world frame.
    fn direction(&self, rapier: &RapierScene<'_>, world: &World) -> Option<Vector> {
        let surface = &self.collision.surface;
        let direction = Vector::from_array(surface.friction_direction);
        if direction == Vector::ZERO {
            return None;
        }
        let frame = surface.friction_frame.as_deref();
        if let Some(body) = frame.and_then(|frame| self.neighbour(frame, rapier, world)) {
            return Some(body.position().rotation * direction);
        }
        // A model that never moves is one body at the origin of the world.
        let turn = if self.body.is_fixed() {
            pose::to_rapier(&self.link.pose.then(&self.collision.pose)).rotation
        } else {
            self.body.position().rotation * pose::to_rapier(&self.collision.pose).rotation
        };
        Some(turn * direction)
    }

    /// Returns the body of a link of the same model, by its name: this one, or one that joints hold
    /// it to.
    fn neighbour<'b>(
        &self,
        name: &str,
        rapier: &'b RapierScene<'_>,
        world: &World,
    ) -> Option<&'b RigidBody> {
        let (own, _) = model::from_label(self.body.user_data);
        let links = &world.models.get(own)?.links;
        let mut found = vec![self.handle];
        let mut next = 0;
        while let Some(handle) = found.get(next).copied() {
            next += 1;
            let body = rapier.bodies().get(handle)?;
            let (model, link) = model::from_label(body.user_data);
            if model != own {
                continue;
            }
            if links.get(link).is_some_and(|link| link.name == name) {
                return Some(body);
            }
            for (first, second, ..) in rapier.joints().attached_joints(handle) {
                for end in [first, second] {
                    if !found.contains(&end) {
                        found.push(end);
                    }
                }
            }
        }
        None
    }
}

/// Returns the number of the point that a contact was made of, whose highest bit says that it is
/// new.
fn point_of(contact: &SolverContact) -> usize {
    (contact.contact_id[0] & !NEW_CONTACT_BIT) as usize
}

/// Notes impulses in the manifold that the contacts were made of.
fn note(manifold: &mut ContactManifold, contacts: &[Contact]) {
    let [first, second] = dynamics::across(-manifold.data.normal);
    for (number, contact) in contacts.iter().enumerate() {
        let point = point_of(&manifold.data.solver_contacts[number]);
        let point = &mut manifold.points[point].data;
        point.warmstart_impulse = contact.pressure;
        point.warmstart_tangent_world = contact.drag;
        point.warmstart_twist_impulse = contact.twist;
        point.impulse = contact.total_pressure;
        point.tangent_impulse.x = contact.total_drag.dot(first);
        point.tangent_impulse.y = contact.total_drag.dot(second);
    }
}
