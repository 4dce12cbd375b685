//! [`Body`]: a rigid body at the begin of a step, and at its end.

use glam::{DMat3, DQuat, DVec3};

use crate::spatial::{Frame, rotation_by};

/// A rigid body that moves, world frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Body {
    /// The pose of its own frame.
    pub frame: Frame,
    /// The centre of mass in its own frame \[m\].
    pub local_center: DVec3,
    /// Velocity of the centre of mass \[m/s\].
    pub linear: DVec3,
    /// \[rad/s\]
    pub angular: DVec3,
    /// \[kg\]; 0 for one that moves as it is told.
    pub mass: f64,
    /// Moments of inertia about the centre of mass in its own axes \[kg m²\].
    pub inertia: DMat3,
    /// The inverse of the inertia; zero for one that turns as it is told.
    pub inverse_inertia: DMat3,
    /// Force at the centre of mass that depends on nothing, such as weight \[N\].
    pub force: DVec3,
    /// The same of torque \[N m\].
    pub torque: DVec3,
    /// Force at the centre of mass that somebody found from where things are \[N\].
    pub control_force: DVec3,
    /// The same of torque \[N m\].
    pub control_torque: DVec3,
    /// True if its inertia is the same about all axes, so that turning changes nothing.
    pub is_isotropic: bool,
}

impl Body {
    /// Returns its centre of mass \[m\].
    pub fn center(&self) -> DVec3 {
        self.frame.position + self.frame.rotation * self.local_center
    }

    /// Tells whether forces move it.
    pub(crate) fn is_dynamic(&self) -> bool {
        self.mass > 0.0
    }

    /// Tells whether somebody's force acts on it.
    pub(crate) fn is_controlled(&self) -> bool {
        self.control_force != DVec3::ZERO || self.control_torque != DVec3::ZERO
    }

    /// Lets somebody's force act all along the step.
    pub(crate) fn spread(&mut self) {
        self.force += self.control_force;
        self.torque += self.control_torque;
    }

    /// Lets all forces of a step of a length \[s\] act at its begin, none after it.
    pub(crate) fn kick(&mut self, time_s: f64) {
        self.spread();
        self.accelerate(time_s);
        self.force = DVec3::ZERO;
        self.torque = DVec3::ZERO;
    }

    pub(crate) fn inverse_mass(&self) -> f64 {
        if self.is_dynamic() {
            1.0 / self.mass
        } else {
            0.0
        }
    }

    /// Returns the inertia about its centre of mass in world axes.
    pub(crate) fn world_inertia(&self) -> DMat3 {
        turned(self.inertia, self.frame.rotation)
    }

    pub(crate) fn world_inverse_inertia(&self) -> DMat3 {
        if self.is_isotropic {
            return self.inverse_inertia;
        }
        turned(self.inverse_inertia, self.frame.rotation)
    }

    /// Puts its centre of mass at a place.
    pub(crate) fn place(&mut self, center: DVec3, rotation: DQuat) {
        self.frame.rotation = rotation.normalize();
        self.frame.position = center - self.frame.rotation * self.local_center;
    }

    /// Speeds it up by its load over a time \[s\].
    pub(crate) fn accelerate(&mut self, time_s: f64) {
        if self.is_dynamic() {
            self.linear += self.force * (time_s / self.mass);
            self.angular += self.world_inverse_inertia() * self.torque * time_s;
        }
    }

    /// Moves it at its velocities over a time \[s\]; its angular momentum stays as it is, and its
    /// angular velocity follows the inertia as it turns, with the velocity of the midpoint.
    pub(crate) fn advance(&mut self, time_s: f64) {
        let center = self.center() + self.linear * time_s;
        if self.is_isotropic || !self.is_dynamic() {
            let rotation = rotation_by(self.angular * time_s) * self.frame.rotation;
            self.place(center, rotation);
            return;
        }
        let spin = self.world_inertia() * self.angular;
        let halfway = rotation_by(self.angular * (0.5 * time_s)) * self.frame.rotation;
        let midway = turned(self.inverse_inertia, halfway) * spin;
        self.place(center, rotation_by(midway * time_s) * self.frame.rotation);
        self.angular = turned(self.inverse_inertia, self.frame.rotation) * spin;
    }

    /// Moves it over a time \[s\] under its load alone: the parabola of its centre, which is exact,
    /// and turning by the fourth order where its inertia asks for it.
    pub(crate) fn fly(&mut self, time_s: f64) {
        if !self.is_dynamic() {
            return self.advance(time_s);
        }
        let acceleration = self.force / self.mass;
        let center = self.center() + (self.linear + acceleration * (0.5 * time_s)) * time_s;
        self.linear += acceleration * time_s;
        if self.is_isotropic && self.torque == DVec3::ZERO {
            let rotation = rotation_by(self.angular * time_s) * self.frame.rotation;
            return self.place(center, rotation);
        }
        let spin = self.world_inertia() * self.angular;
        let start = self.frame.rotation;
        let rate = |vector: DVec3, elapsed: f64| {
            let rotation = rotation_by(vector) * start;
            let angular = turned(self.inverse_inertia, rotation) * (spin + self.torque * elapsed);
            crate::spatial::rate_of_vector(vector, angular)
        };
        let first = rate(DVec3::ZERO, 0.0);
        let second = rate(first * (0.5 * time_s), 0.5 * time_s);
        let third = rate(second * (0.5 * time_s), 0.5 * time_s);
        let fourth = rate(third * time_s, time_s);
        let way = (first + 2.0 * (second + third) + fourth) * (time_s / 6.0);
        self.place(center, rotation_by(way) * start);
        self.angular =
            turned(self.inverse_inertia, self.frame.rotation) * (spin + self.torque * time_s);
    }
}

/// Returns a matrix of the axes of something in outer axes.
pub(crate) fn turned(matrix: DMat3, rotation: DQuat) -> DMat3 {
    let axes = DMat3::from_quat(rotation);
    axes * matrix * axes.transpose()
}
