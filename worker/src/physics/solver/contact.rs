//! Contacts as the solver takes them, and their impulses as rapier keeps them.

use dynamics::{Contact, Friction};
use glam::DVec3;
use rapier3d_f64::dynamics::RigidBody;
use rapier3d_f64::geometry::{ColliderHandle, ContactManifold, NEW_CONTACT_BIT, SolverContact};
use rapier3d_f64::island_solver::Scene as RapierScene;
use rapier3d_f64::math::{Pose, Vector};
use sdf::{Collision, Link, Surface, World};

use super::super::{contacts, model, pose};
use super::Shared;

impl Shared {
    pub(super) fn gather_contacts(&mut self, rapier: &RapierScene<'_>) {
        self.manifolds.clear();
        let mut contacts = std::mem::take(&mut self.scene.contacts);
        contacts.clear();
        let mut ids = std::mem::take(&mut self.manifolds);
        rapier.for_each_manifold(|id, colliders, manifold| {
            let friction = friction(rapier, &self.world, colliders, manifold);
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
        self.manifolds = ids;
        self.scene.contacts = contacts;
    }

    pub(super) fn give_back_contacts(&mut self, rapier: &mut RapierScene<'_>) {
        let contacts = &self.scene.contacts;
        for group in contacts.chunk_by(|one, next| one.manifold == next.manifold) {
            let id = self.manifolds[group[0].manifold as usize];
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
/// as a whole slips as it says.
fn friction(
    rapier: &RapierScene<'_>,
    world: &World,
    colliders: [ColliderHandle; 2],
    manifold: &ContactManifold,
) -> Friction {
    let plain = Friction::isotropic(manifold.data.friction);
    let surface = |collider: ColliderHandle| {
        let collider = rapier.colliders().get(collider)?;
        let body = rapier.bodies().get(collider.parent()?)?;
        let (model, _) = model::from_label(body.user_data);
        let (link, number) = contacts::from_label(collider.user_data);
        let described = world.models.get(model)?.links.get(link)?;
        let collision = described.collisions.get(number)?;
        Some((&collision.surface, (body, described, collision)))
    };
    let [Some((first, first_place)), Some((second, second_place))] = colliders.map(surface) else {
        return plain;
    };
    let slip = [0, 1].map(|axis| first.slip[axis] + second.slip[axis]);
    let is_directed = |surface: &Surface| surface.friction_direction != [0.0; 3];
    if slip == [0.0; 2] && !is_directed(first) && !is_directed(second) {
        return plain;
    }
    let direction = |(body, described, collision): (&RigidBody, &Link, &Collision)| {
        let direction = Vector::from_array(collision.surface.friction_direction);
        // A model that never moves is one body at the origin of the world.
        let turn = if body.is_fixed() {
            pose::to_rapier(&described.pose.then(&collision.pose)).rotation
        } else {
            body.position().rotation * pose::to_rapier(&collision.pose).rotation
        };
        (direction != Vector::ZERO).then(|| turn * direction)
    };
    let named = direction(first_place).or_else(|| direction(second_place));
    let points = manifold.data.solver_contacts.len().max(1) as f64;
    Friction {
        coefficients: [
            first.friction.min(second.friction),
            first.friction2.min(second.friction2),
        ],
        direction: Some(named.unwrap_or(Vector::X)),
        slip: slip.map(|slip| slip.max(0.0) * points),
        torsion: 0.0,
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
