//! Access of systems and sensors to a cell's models: poses, velocities, forces.
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

/// Load on a body in the next step alone; world frame, at the centre of mass.
#[derive(Clone, Copy)]
pub(super) struct Load {
    pub(super) body: RigidBodyHandle,
    pub(super) force: Vector,
    pub(super) torque: Vector,
    /// True if it depends on nothing, as a weight does.
    is_steady: bool,
}

impl Cell {
    /// Returns the world that it is a part of.
    pub fn world(&self) -> &World {
        &self.world
    }

    /// Returns the index of a performer's model in the world.
    ///
    /// # Panics
    /// Panics if the cell does not own it.
    pub fn model_of(&self, performer: PerformerId) -> usize {
        self.contents.performers[&performer].model
    }

    /// Returns the pose of a link, world frame.
    ///
    /// # Panics
    /// Panics if the cell does not own the model, or it has no such link.
    pub fn link_pose(&self, model: ModelRef, link: usize) -> Pose {
        match self.body(model, link) {
            Some(body) => pose::from_rapier(body.position()),
            None => self.world.models[model.index].links[link].pose,
        }
    }

    /// Tells whether a link of a performer is neither asleep nor fixed.
    ///
    /// # Panics
    /// Panics if the cell does not own it.
    pub fn is_awake(&self, performer: PerformerId) -> bool {
        let mut links = self.contents.performers[&performer].links.iter();
        links.any(|link| {
            let body = &self.physics.bodies[*link];
            !body.is_fixed() && !body.is_sleeping()
        })
    }

    /// Returns the pose of a model's origin, world frame.
    ///
    /// # Panics
    /// Panics if the cell does not own the model.
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
    /// Panics if the cell does not own the model, or it has no such link.
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
                is_steady: false,
            });
        }
    }

    /// Has a force \[N\] at the centre of mass and a torque \[N m\] act on a link all along the
    /// next step, as one that depends on nothing, world frame.
    pub(super) fn add_steady_load(
        &mut self,
        model: ModelRef,
        link: usize,
        force: [f64; 3],
        torque: [f64; 3],
    ) {
        let before = self.loads.len();
        self.add_load(model, link, force, torque);
        for load in &mut self.loads[before..] {
            load.is_steady = true;
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
    /// Panics if the cell does not own the model, or it has no such link.
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
    /// Panics if the cell does not own the model, or it has no such link.
    pub fn link_mass(&self, model: ModelRef, link: usize) -> f64 {
        self.body(model, link).map_or(0.0, RigidBody::mass)
    }

    /// Returns the inertia of a link about its centre of mass, by rows, in the axes of the link
    /// \[kg m²\]; zero for one that never moves.
    ///
    /// # Panics
    /// Panics if the cell does not own the model, or it has no such link.
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
    /// Panics if the cell does not own the model, or it has no such link.
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

    /// Gives the steady loads of a step to rapier and wakes what the others act on; returns both,
    /// the steady ones first.
    pub(super) fn apply_loads(&mut self) -> [Vec<Load>; 2] {
        let loads = std::mem::take(&mut self.loads);
        for load in &loads {
            self.physics.wake_up(load.body, true);
            if let Some(body) = self
                .physics
                .bodies
                .get_mut(load.body)
                .filter(|_| load.is_steady)
            {
                body.add_force(load.force, true);
                body.add_torque(load.torque, true);
            }
        }
        let (steady, others) = loads.into_iter().partition(|load| load.is_steady);
        [steady, others]
    }

    /// Takes steady loads away again after their step.
    pub(super) fn take_loads(&mut self, loads: &[Load]) {
        for load in loads {
            if let Some(body) = self.physics.bodies.get_mut(load.body) {
                body.add_force(-load.force, false);
                body.add_torque(-load.torque, false);
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
