//! [`Axis`]: everything that acts along one way of moving: limits, the greatest speed, springs,
//! friction, a servo, or a ratio that is held.

use glam::DVec3;

/// How the velocity of a body counts in the rate of an axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Term {
    /// The number of the body in the scene.
    pub body: usize,
    /// The factor of the velocity of its centre of mass.
    pub linear: DVec3,
    /// The factor of its angular velocity.
    pub angular: DVec3,
}

/// A spring with a damper.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AxisSpring {
    /// \[N/m or N m/rad\]
    pub stiffness: f64,
    /// \[N s/m or N m s/rad\]
    pub damping: f64,
    /// Where it is at rest \[m or rad\].
    pub reference: f64,
}

/// Where an axis may be, and how fast it may go.
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
    /// How the velocities of bodies make its rate.
    pub terms: Vec<Term>,
    /// The tree, the link and the sense in which the joint of that link is this axis.
    pub joint: Option<(usize, usize, f64)>,
    /// Where it is \[m or rad\].
    pub position: f64,
    /// Where it may be.
    pub bounds: AxisBounds,
    /// The spring that takes the place of hard bounds of the position.
    pub stop: Option<AxisSpring>,
    /// A spring, a damper, or both.
    pub spring: AxisSpring,
    /// The most that dry friction holds \[N or N m\].
    pub friction: f64,
    /// The velocity to go at, with the most force for it.
    pub servo: Option<[f64; 2]>,
    /// Whether the position is held at zero, by any force.
    pub is_held: bool,
    /// The impulses of the last substep, one for each of [`Role`], which the next step begins with.
    pub impulses: [f64; 5],
    /// The impulses over the whole step.
    pub totals: [f64; 5],
}

/// What a row along an axis is for, and its place among the impulses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Bounds,
    Friction,
    Servo,
    Hold,
    Spring,
}

impl Axis {
    /// The place of the servo among the impulses.
    pub const SERVO: usize = Role::Servo as usize;

    /// The place of what holds the position among the impulses.
    pub const HOLD: usize = Role::Hold as usize;

    /// Makes one along which nothing acts.
    pub fn new(terms: Vec<Term>, position: f64) -> Self {
        Self {
            terms,
            joint: None,
            position,
            bounds: AxisBounds::NONE,
            stop: None,
            spring: AxisSpring::default(),
            friction: 0.0,
            servo: None,
            is_held: false,
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
