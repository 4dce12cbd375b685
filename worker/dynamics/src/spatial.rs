//! Spatial vectors in world axes about one common point, after Featherstone (*Rigid Body Dynamics
//! Algorithms*, 2008, chapter 2), so that no step between links needs a transform.

use glam::{DMat3, DQuat, DVec3};

/// A pose: rotation, then translation \[m\].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Frame {
    /// Origin \[m\].
    pub position: DVec3,
    /// Orientation.
    pub rotation: DQuat,
}

impl Default for Frame {
    fn default() -> Self {
        Self::IDENTITY
    }
}

impl Frame {
    /// The frame of the world.
    pub const IDENTITY: Self = Self {
        position: DVec3::ZERO,
        rotation: DQuat::IDENTITY,
    };

    /// Makes a frame.
    pub const fn new(position: DVec3, rotation: DQuat) -> Self {
        Self { position, rotation }
    }

    /// Returns a frame that is given in this one.
    #[must_use]
    pub fn then(&self, inner: &Self) -> Self {
        Self {
            position: self.position + self.rotation * inner.position,
            rotation: self.rotation * inner.rotation,
        }
    }

    /// Returns this frame as seen from another one.
    #[must_use]
    pub fn seen_from(&self, other: &Self) -> Self {
        let back = other.rotation.conjugate();
        Self {
            position: back * (self.position - other.position),
            rotation: back * self.rotation,
        }
    }

    /// Returns the frame of the outside as seen from this one.
    #[must_use]
    pub fn inverse(&self) -> Self {
        Self::IDENTITY.seen_from(self)
    }
}

/// A velocity or an axis of motion: angular, and linear at the common point.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Motion {
    pub(crate) angular: DVec3,
    pub(crate) linear: DVec3,
}

/// A force or a momentum: the moment about the common point, and the force.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Wrench {
    pub(crate) moment: DVec3,
    pub(crate) force: DVec3,
}

impl Motion {
    pub(crate) fn new(angular: DVec3, linear: DVec3) -> Self {
        Self { angular, linear }
    }

    pub(crate) fn scaled(self, factor: f64) -> Self {
        Self::new(self.angular * factor, self.linear * factor)
    }

    pub(crate) fn plus(self, other: Self) -> Self {
        Self::new(self.angular + other.angular, self.linear + other.linear)
    }

    /// Returns the rate at which a motion that is fixed in what moves so changes.
    pub(crate) fn cross(self, other: Self) -> Self {
        Self::new(
            self.angular.cross(other.angular),
            self.angular.cross(other.linear) + self.linear.cross(other.angular),
        )
    }

    /// Returns the rate at which a momentum that is fixed in what moves so changes.
    pub(crate) fn cross_wrench(self, other: Wrench) -> Wrench {
        Wrench::new(
            self.angular.cross(other.moment) + self.linear.cross(other.force),
            self.angular.cross(other.force),
        )
    }

    /// Returns the power of a force.
    pub(crate) fn dot(self, force: Wrench) -> f64 {
        self.angular.dot(force.moment) + self.linear.dot(force.force)
    }

    /// Returns the velocity at a point, relative to the common one.
    pub(crate) fn at(self, arm: DVec3) -> DVec3 {
        self.linear + self.angular.cross(arm)
    }
}

impl Wrench {
    pub(crate) fn new(moment: DVec3, force: DVec3) -> Self {
        Self { moment, force }
    }

    pub(crate) fn plus(self, other: Self) -> Self {
        Self::new(self.moment + other.moment, self.force + other.force)
    }

    pub(crate) fn minus(self, other: Self) -> Self {
        Self::new(self.moment - other.moment, self.force - other.force)
    }
}

/// Forces and moments about the common point, one in each lane.
#[derive(Clone, Debug)]
pub(crate) struct Wrenches<const SIZE: usize> {
    moments: [[f64; SIZE]; 3],
    forces: [[f64; SIZE]; 3],
}

impl<const SIZE: usize> Wrenches<SIZE> {
    /// Makes them of moments and forces at an arm from the common point.
    pub(crate) fn new(moments: &[[f64; SIZE]; 3], forces: &[[f64; SIZE]; 3], arm: DVec3) -> Self {
        let [x, y, z] = forces;
        let mut about = *moments;
        for lane in 0..SIZE {
            about[0][lane] += arm.y * z[lane] - y[lane] * arm.z;
            about[1][lane] += arm.z * x[lane] - z[lane] * arm.x;
            about[2][lane] += arm.x * y[lane] - x[lane] * arm.y;
        }
        Self {
            moments: about,
            forces: *forces,
        }
    }

    /// Adds the power of each in a motion.
    #[inline]
    pub(crate) fn add_along(&self, motion: Motion, out: &mut [f64; SIZE]) {
        let (turn, slide) = (motion.angular, motion.linear);
        let ([a, b, c], [x, y, z]) = (&self.moments, &self.forces);
        for lane in 0..SIZE {
            let turning = turn.x * a[lane] + turn.y * b[lane] + turn.z * c[lane];
            let sliding = slide.x * x[lane] + slide.y * y[lane] + slide.z * z[lane];
            out[lane] += turning + sliding;
        }
    }
}

/// Inertia about the common point: mass, mass times centre, and the second moment.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Inertia {
    pub(crate) mass: f64,
    first: DVec3,
    second: DMat3,
}

impl Inertia {
    pub(crate) const ZERO: Self = Self {
        mass: 0.0,
        first: DVec3::ZERO,
        second: DMat3::ZERO,
    };

    /// Makes the inertia of a mass with its centre at an arm from the common point and moments
    /// about that centre.
    pub(crate) fn new(mass: f64, arm: DVec3, moments: DMat3) -> Self {
        let [x, y, z] = arm.to_array();
        let steiner = DMat3::from_cols(
            DVec3::new(y * y + z * z, -x * y, -x * z),
            DVec3::new(-x * y, x * x + z * z, -y * z),
            DVec3::new(-x * z, -y * z, x * x + y * y),
        );
        Self {
            mass,
            first: arm * mass,
            second: moments + steiner * mass,
        }
    }

    pub(crate) fn plus(self, other: Self) -> Self {
        Self {
            mass: self.mass + other.mass,
            first: self.first + other.first,
            second: self.second + other.second,
        }
    }

    /// Returns the momentum of what moves so.
    pub(crate) fn momentum(&self, motion: Motion) -> Wrench {
        Wrench::new(
            self.second * motion.angular + self.first.cross(motion.linear),
            motion.linear * self.mass + motion.angular.cross(self.first),
        )
    }
}

/// Returns a rotation by a vector whose length is the angle \[rad\], with libm's functions.
pub(crate) fn rotation_by(vector: DVec3) -> DQuat {
    let angle = vector.length();
    if angle == 0.0 {
        return DQuat::IDENTITY;
    }
    let (sine, cosine) = libm::sincos(0.5 * angle);
    let axis = vector * (sine / angle);
    DQuat::from_xyzw(axis.x, axis.y, axis.z, cosine)
}

/// Returns the rate of the rotation vector of something that is turned by a vector already and
/// turns at a rate in outer axes: the inverse of the differential of the exponential, to the order
/// that a fourth-order method needs (Munthe-Kaas, 1998).
pub(crate) fn rate_of_vector(vector: DVec3, rate: DVec3) -> DVec3 {
    let across = vector.cross(rate);
    rate - 0.5 * across + vector.cross(across) / 12.0
}
