//! [`Contact`]: one point where two bodies touch or are about to.

use glam::DVec3;

/// Friction at a contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Friction {
    /// The coefficients along the direction and across it.
    pub coefficients: [f64; 2],
    /// The first direction, world frame. With one, each direction has a limit of its own; without,
    /// the first coefficient limits friction in all directions alike.
    pub direction: Option<DVec3>,
    /// The speed of slip along both directions per force \[m/s/N\].
    pub slip: [f64; 2],
    /// The most moment about the normal, as a part of the pressure \[m\].
    pub torsion: f64,
}

impl Friction {
    /// Makes friction that is the same in all directions.
    pub const fn isotropic(coefficient: f64) -> Self {
        Self {
            coefficients: [coefficient; 2],
            direction: None,
            slip: [0.0; 2],
            torsion: 0.0,
        }
    }
}

/// One point where two bodies touch or are about to, world frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contact {
    /// The numbers of the bodies in the scene; `None` for what never moves.
    pub bodies: [Option<usize>; 2],
    /// The number that points between the same two surfaces share; they stand one after the other.
    pub manifold: u32,
    /// The direction in which the first body is pushed.
    pub normal: DVec3,
    /// The point on the surface of each \[m\]; those of a gap are apart along the normal.
    pub points: [DVec3; 2],
    /// Friction.
    pub friction: Friction,
    /// The part of the approach speed with which they part.
    pub restitution: f64,
    /// True if they may bounce: they did not press on each other in the step before.
    pub is_new: bool,
    /// The velocity of the surface of the first against that of the second, beside the motion of
    /// the bodies \[m/s\].
    pub surface_velocity: DVec3,
    /// The impulse along the normal of the last substep, which the next step begins with \[N s\].
    pub pressure: f64,
    /// The same of friction on the first body \[N s\].
    pub drag: DVec3,
    /// The same of the moment about the normal \[N m s\].
    pub twist: f64,
    /// The impulse on the first body over the whole step: along the normal \[N s\].
    pub total_pressure: f64,
    /// The same of friction.
    pub total_drag: DVec3,
}
