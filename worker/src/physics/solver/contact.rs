//! Contacts as the solver takes them, and their impulses as rapier keeps them.

use dynamics::{Contact, Friction};
use glam::DVec3;
use rapier3d_f64::geometry::{ContactManifold, NEW_CONTACT_BIT, SolverContact};
use rapier3d_f64::island_solver::Scene as RapierScene;
use rapier3d_f64::math::{Pose, Vector};

use super::Shared;

impl Shared {
    pub(super) fn gather_contacts(&mut self, rapier: &RapierScene<'_>) {
        self.manifolds.clear();
        let mut contacts = std::mem::take(&mut self.scene.contacts);
        contacts.clear();
        let mut ids = std::mem::take(&mut self.manifolds);
        rapier.for_each_manifold(|id, manifold| {
            let bodies = [manifold.data.rigid_body1, manifold.data.rigid_body2];
            let numbers = bodies.map(|body| body.and_then(|body| self.number(body)));
            let poses = bodies.map(|body| {
                let body = rapier.bodies().get(body?)?;
                let pose = || Pose::from_parts(body.center_of_mass(), body.position().rotation);
                (!body.is_fixed()).then(pose)
            });
            let number = ids.len() as u32;
            contacts.extend(contacts_of(manifold, number, numbers, poses));
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

/// Returns the contacts of a manifold. rapier keeps points in the axes of bodies about their centres
/// of mass, but for those of bodies that never move, which have no pose here.
fn contacts_of<'a>(
    manifold: &'a ContactManifold,
    number: u32,
    bodies: [Option<usize>; 2],
    poses: [Option<Pose>; 2],
) -> impl Iterator<Item = Contact> + 'a {
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
            friction: Friction::isotropic(data.friction),
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
