//! [`Axis`]: everything that acts along one way of moving: limits, the greatest speed, springs,
//! friction, a servo, or a ratio that is held.

use glam::DVec3;
use smallvec::SmallVec;

use crate::body::Body;
use crate::spatial::Frame;

/// The factors of the velocity of a body in the rate of an axis, which are what a force of size one
/// along the axis exerts on the centre of mass.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Term {
    /// The number of the body in the scene.
    pub body: usize,
    /// The factor of the velocity of its centre of mass.
    pub linear: DVec3,
    /// The factor of its angular velocity.
    pub angular: DVec3,
}

/// The factors of the velocities of all bodies in the rate of an axis; most have two.
pub type Terms = SmallVec<[Term; 2]>;

/// One way in which two frames, one on each of two bodies, do not move against each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lock {
    /// The numbers of the bodies in the scene; `None` for what never moves.
    pub bodies: [Option<usize>; 2],
    /// The frames in those of the bodies, or of the world.
    pub frames: [Frame; 2],
    /// Sliding along an axis of the first frame (0 to 2), or turning about it (3 to 5).
    pub number: usize,
}

/// A spring with a damper.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AxisSpring {
    /// \[N/m or N m/rad\]
    pub stiffness: f64,
    /// \[N s/m or N m s/rad\]
    pub damping: f64,
    /// The position of rest \[m or rad\].
    pub reference: f64,
}

/// Bounds of the position and speed of an axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AxisBounds {
    /// The least position \[m or rad\].
    pub lower: f64,
    /// The greatest position \[m or rad\].
    pub upper: f64,
    /// The greatest speed either way \[m/s or rad/s\].
    pub speed: f64,
}

impl AxisBounds {
    /// No bounds.
    pub const NONE: Self = Self {
        lower: f64::NEG_INFINITY,
        upper: f64::INFINITY,
        speed: f64::INFINITY,
    };

    /// Tells whether nothing is bounded.
    pub fn is_none(&self) -> bool {
        *self == Self::NONE
    }
}

/// One way of moving, and everything that acts along it.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// The Jacobian: factors of the velocities of bodies in its rate.
    pub terms: Terms,
    /// The tree, the link and the sense in which the joint of that link is this axis.
    pub joint: Option<(usize, usize, f64)>,
    /// The position \[m or rad\].
    pub position: f64,
    /// Bounds of position and speed.
    pub bounds: AxisBounds,
    /// The spring that takes the place of hard bounds of the position.
    pub stop: Option<AxisSpring>,
    /// A spring, a damper, or both.
    pub spring: AxisSpring,
    /// The most that dry friction holds \[N or N m\].
    pub friction: f64,
    /// The velocity to go at, with the most force for it.
    pub servo: Option<[f64; 2]>,
    /// True if the position is held at zero, by any force.
    pub is_held: bool,
    /// The frames whose error the position is, where it is that: terms and position follow them.
    pub lock: Option<Lock>,
    /// The impulses of the last substep, one for each of [`Role`], which the next step begins with.
    pub impulses: [f64; 5],
    /// The impulses over the whole step.
    pub totals: [f64; 5],
}

/// The purpose of a row along an axis, and its place among the impulses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Bounds,
    Friction,
    Servo,
    Hold,
    Spring,
}

impl Lock {
    /// Returns how velocities change the error, and the error \[m or rad\].
    pub fn look(&self, bodies: &[Body]) -> (Terms, f64) {
        let frames = [0, 1].map(|side: usize| match self.bodies[side] {
            Some(body) => bodies[body].frame.then(&self.frames[side]),
            None => self.frames[side],
        });
        let axis = frames[0].rotation * DVec3::AXES[self.number % 3];
        let is_turn = self.number >= 3;
        let error = if is_turn {
            let turn = frames[0].rotation.conjugate() * frames[1].rotation;
            // The vector part of a quaternion is half of a small angle.
            2.0 * turn.w.signum() * turn.xyz()[self.number % 3]
        } else {
            (frames[1].position - frames[0].position).dot(axis)
        };
        let term = |(body, sign): (&Option<usize>, f64)| {
            body.map(|body| {
                let arm = frames[1].position - bodies[body].center();
                let (linear, angular) = if is_turn {
                    (DVec3::ZERO, axis * sign)
                } else {
                    (axis * sign, arm.cross(axis) * sign)
                };
                Term {
                    body,
                    linear,
                    angular,
                }
            })
        };
        let both = self.bodies.iter().zip([-1.0, 1.0]);
        (both.filter_map(term).collect(), error)
    }
}

impl Axis {
    /// Makes one that holds two frames together in one way.
    pub fn locked(lock: Lock, bodies: &[Body]) -> Self {
        let (terms, position) = lock.look(bodies);
        Self {
            is_held: true,
            lock: Some(lock),
            ..Self::new(terms, position)
        }
    }

    /// The place of the servo among the impulses.
    pub const SERVO: usize = Role::Servo as usize;

    /// The place of what holds the position among the impulses.
    pub const HOLD: usize = Role::Hold as usize;

    /// Makes one along which nothing acts.
    pub fn new(terms: impl Into<Terms>, position: f64) -> Self {
        Self {
            terms: terms.into(),
            joint: None,
            position,
            bounds: AxisBounds::NONE,
            stop: None,
            spring: AxisSpring::default(),
            friction: 0.0,
            servo: None,
            is_held: false,
            lock: None,
            impulses: [0.0; 5],
            totals: [0.0; 5],
        }
    }

    /// Tells whether something acts that does so at any position and speed.
    pub(crate) fn always_acts(&self) -> bool {
        self.friction > 0.0 || self.servo.is_some() || self.is_held
    }

    /// Tells whether a position or a speed is out of bounds.
    pub(crate) fn is_beyond(&self, position: f64, rate: f64) -> bool {
        let bounds = &self.bounds;
        position < bounds.lower || position > bounds.upper || rate.abs() > bounds.speed
    }
}
