//! What systems and sensors see and do of a cell's models: poses, velocities, forces.
//!
//! Forces hold for one step: what acts for longer is said anew before each step.

use protocol::PerformerId;
use rapier3d_f64::dynamics::{RigidBody, RigidBodyHandle};
use rapier3d_f64::math::Vector;
use sdf::{Pose, World};

use super::cell::Cell;
use super::pose;

/// A model in a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModelRef {
    /// Its index among the world's models.
    pub index: usize,
    /// Its number as a performer; `None` for one that never moves.
    pub performer: Option<PerformerId>,
}

impl ModelRef {
    /// Names a performer.
    pub const fn moving(performer: PerformerId, index: usize) -> Self {
        Self {
            index,
            performer: Some(performer),
        }
    }

    /// Names a model that never moves.
    pub const fn fixed(index: usize) -> Self {
        Self {
            index,
            performer: None,
        }
    }
}

/// What acts on a body in the next step alone; world frame, at the centre of mass.
pub(super) struct Load {
    body: RigidBodyHandle,
    force: Vector,
    torque: Vector,
}

impl Cell {
    /// Returns the world that it is a part of.
    pub fn world(&self) -> &World {
        &self.world
    }

    /// Returns the index of a performer's model in the world.
    ///
    /// # Panics
    /// When the cell does not own it.
    pub fn model_of(&self, performer: PerformerId) -> usize {
        self.contents.performers[&performer].model
    }

    /// Returns the pose of a link, world frame.
    ///
    /// # Panics
    /// When the cell does not own the model, or it has no such link.
    pub fn link_pose(&self, model: ModelRef, link: usize) -> Pose {
        match self.body(model, link) {
            Some(body) => pose::from_rapier(body.position()),
            None => self.world.models[model.index].links[link].pose,
        }
    }

    /// Returns the pose of a model's origin, world frame.
    ///
    /// # Panics
    /// When the cell does not own the model.
    pub fn model_pose(&self, model: ModelRef) -> Pose {
        let description = &self.world.models[model.index];
        let Some(link) = description.links.get(description.canonical_link) else {
            return description.pose;
        };
        let of_origin = link.pose.inverse().then(&description.pose);
        self.link_pose(model, description.canonical_link)
            .then(&of_origin)
    }

    /// Returns the velocity of a link's origin \[m/s\] and its angular velocity \[rad/s\], world
    /// frame.
    ///
    /// # Panics
    /// When the cell does not own the model, or it has no such link.
    pub fn link_velocity(&self, model: ModelRef, link: usize) -> [[f64; 3]; 2] {
        let Some(body) = self.body(model, link) else {
            return [[0.0; 3]; 2];
        };
        let origin = body.position().translation;
        [body.velocity_at_point(origin), body.angvel()].map(|part| part.to_array())
    }

    /// Gives a link the velocity that its origin has \[m/s\] and an angular velocity \[rad/s\],
    /// world frame. Nothing happens to a model that never moves, or when they are not finite.
    pub fn set_link_velocity(&mut self, model: ModelRef, link: usize, velocity: [[f64; 3]; 2]) {
        let Some(handle) = self.body_handle(model, link) else {
            return;
        };
        let body = &mut self.physics.bodies[handle];
        let [linear, angular] = velocity.map(Vector::from_array);
        if !linear.is_finite() || !angular.is_finite() {
            return;
        }
        let arm = body.center_of_mass() - body.position().translation;
        let wakes = linear != Vector::ZERO || angular != Vector::ZERO;
        body.set_angvel(angular, wakes);
        body.set_linvel(linear + angular.cross(arm), wakes);
    }

    /// Has a force \[N\] at the centre of mass and a torque \[N m\] act on a link in the next step,
    /// world frame, beside all others. Nothing happens to a model that never moves.
    pub fn add_load(&mut self, model: ModelRef, link: usize, force: [f64; 3], torque: [f64; 3]) {
        let [force, torque] = [force, torque].map(Vector::from_array);
        if let Some(body) = self.body_handle(model, link)
            && (force != Vector::ZERO || torque != Vector::ZERO)
            && force.is_finite()
            && torque.is_finite()
        {
            self.loads.push(Load {
                body,
                force,
                torque,
            });
        }
    }

    /// Has a force \[N\] act on a link at a point \[m\] in the next step, world frame, beside all
    /// others. Nothing happens to a model that never moves.
    pub fn add_force_at(&mut self, model: ModelRef, link: usize, force: [f64; 3], at: [f64; 3]) {
        let Some(body) = self.body(model, link) else {
            return;
        };
        let arm = Vector::from_array(at) - body.center_of_mass();
        let torque = arm.cross(Vector::from_array(force));
        self.add_load(model, link, force, torque.to_array());
    }

    /// Returns the centre of mass of a link, world frame \[m\].
    ///
    /// # Panics
    /// When the cell does not own the model, or it has no such link.
    pub fn center_of_mass(&self, model: ModelRef, link: usize) -> [f64; 3] {
        match self.body(model, link) {
            Some(body) => body.center_of_mass().to_array(),
            None => self.world.models[model.index].links[link].pose.position,
        }
    }

    /// Returns force \[N\] and torque \[N m\] of each load on a body that waits for the next step.
    pub(super) fn loads_on(&self, body: RigidBodyHandle) -> impl Iterator<Item = [Vector; 2]> + '_ {
        let loads = self.loads.iter().filter(move |load| load.body == body);
        loads.map(|load| [load.force, load.torque])
    }

    /// Returns the mass of a link \[kg\], 0 for one that never moves.
    ///
    /// # Panics
    /// When the cell does not own the model, or it has no such link.
    pub fn link_mass(&self, model: ModelRef, link: usize) -> f64 {
        self.body(model, link).map_or(0.0, RigidBody::mass)
    }

    /// Returns the inertia of a link about its centre of mass, by rows, in the axes of the link
    /// \[kg m²\]; zero for one that never moves.
    ///
    /// # Panics
    /// When the cell does not own the model, or it has no such link.
    pub fn link_inertia(&self, model: ModelRef, link: usize) -> [[f64; 3]; 3] {
        self.body(model, link).map_or([[0.0; 3]; 3], |body| {
            let properties = &body.mass_properties().local_mprops;
            let matrix = properties.reconstruct_inertia_matrix();
            [matrix.row(0), matrix.row(1), matrix.row(2)].map(|row| row.to_array())
        })
    }

    /// Returns the kinetic energy of a link, of its travel and of its turning \[J\].
    ///
    /// # Panics
    /// When the cell does not own the model, or it has no such link.
    pub fn kinetic_energy(&self, model: ModelRef, link: usize) -> f64 {
        let Some(body) = self.body(model, link) else {
            return 0.0;
        };
        let properties = &body.mass_properties().local_mprops;
        let into_link = body.position().rotation.inverse();
        let turning = into_link * body.angvel();
        let spin = properties.reconstruct_inertia_matrix() * turning;
        0.5 * (body.mass() * body.linvel().length_squared() + turning.dot(spin))
    }

    /// Returns the wind that blows in this step, world frame \[m/s\].
    pub fn wind(&self) -> [f64; 3] {
        self.wind
    }

    /// Sets the wind that blows in this step, world frame \[m/s\]. It is no part of a snapshot:
    /// whoever sets it does so in every step, before it is asked for.
    pub fn set_wind(&mut self, wind: [f64; 3]) {
        self.wind = wind;
    }

    /// Gives the loads of the next step to rapier, and returns what acted without them.
    pub(super) fn apply_loads(&mut self) -> Vec<(RigidBodyHandle, [Vector; 2])> {
        let mut before: Vec<(RigidBodyHandle, [Vector; 2])> = Vec::new();
        for load in std::mem::take(&mut self.loads) {
            let Some(body) = self.physics.bodies.get_mut(load.body) else {
                continue;
            };
            if before.iter().all(|(handle, _)| *handle != load.body) {
                before.push((load.body, [body.user_force(), body.user_torque()]));
            }
            body.add_force(load.force, true);
            body.add_torque(load.torque, true);
        }
        before
    }

    /// Takes the loads of a step away again.
    pub(super) fn take_loads(&mut self, before: Vec<(RigidBodyHandle, [Vector; 2])>) {
        for (handle, [force, torque]) in before {
            if let Some(body) = self.physics.bodies.get_mut(handle) {
                body.reset_forces(false);
                body.reset_torques(false);
                body.add_force(force, false);
                body.add_torque(torque, false);
            }
        }
    }

    pub(super) fn body(&self, model: ModelRef, link: usize) -> Option<&RigidBody> {
        let handle = self.body_handle(model, link)?;
        self.physics.bodies.get(handle)
    }

    pub(super) fn body_handle(&self, model: ModelRef, link: usize) -> Option<RigidBodyHandle> {
        let owned = self.contents.performers.get(&model.performer?)?;
        owned.links.get(link).copied()
    }
}
