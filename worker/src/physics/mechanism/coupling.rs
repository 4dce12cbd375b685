//! [`Coupling`]: a fixed ratio between the positions of joints.
//!
//! rapier has no constraint between more than two bodies, nor one between turning and sliding. So
//! each step the force that ends the error of the ratio's rate, and a part of the error of the
//! ratio itself, is found with the exact mobility of the linked bodies and acts on them during the
//! step. It behaves as a spring of stiffness `1 / (4 mobility step^2)`: against a load that would
//! move the free coordinates at a rate `a`, the ratio is off by `5 a step^2`, 50 micrometres under
//! gravity at steps of 1 ms.

use rapier3d_f64::dynamics::{RigidBodyHandle, RigidBodySet};
use rapier3d_f64::math::Vector;
use rapier3d_f64::dynamics::ImpulseJointSet;
use serde::{Deserialize, Serialize};

use super::coordinate::{Coordinate, Twist};
use super::mobility::Mobility;

/// The part of the error of a ratio that one step makes good.
const POSITION_GAIN: f64 = 0.25;

/// The part of the force with which everything would be made good that is used: below 1, since
/// links may be held by other couplings too.
const RELAXATION: f64 = 0.8;

/// The greatest rate at which an error is made good \[m/s or rad/s\]: a ratio that does not hold at
/// the start is restored without a bang.
const CORRECTION_RATE_MAX: f64 = 5.0;

/// A fixed ratio: the sum of positions, each times its factor, is `rest`.
#[derive(Clone, Serialize, Deserialize)]
pub(in super::super) struct Coupling {
    /// Positions and their factors.
    pub(in super::super) terms: Vec<(Coordinate, f64)>,
    /// The sum.
    pub(in super::super) rest: f64,
}

impl Coupling {
    /// Returns the bodies that it acts on.
    pub(super) fn bodies(&self) -> impl Iterator<Item = RigidBodyHandle> {
        self.terms.iter().flat_map(|(term, _)| term.bodies)
    }

    fn measure(&mut self, bodies: &RigidBodySet) {
        for (coordinate, _) in &mut self.terms {
            coordinate.measure(bodies);
        }
    }

    fn is_at_rest(&self, bodies: &RigidBodySet) -> bool {
        self.terms.iter().all(|(term, _)| term.is_at_rest(bodies))
    }

    /// Returns the rate that the sum should change by within the step.
    fn change(&self, bodies: &RigidBodySet, step_size_s: f64) -> f64 {
        let (mut error, mut rate) = (-self.rest, 0.0);
        for (coordinate, factor) in &self.terms {
            error += factor * coordinate.position;
            rate += factor * coordinate.rate(bodies);
        }
        let correction = POSITION_GAIN * error / step_size_s;
        -rate - correction.clamp(-CORRECTION_RATE_MAX, CORRECTION_RATE_MAX)
    }

    fn row(&self, bodies: &RigidBodySet) -> Vec<(RigidBodyHandle, Twist)> {
        let mut row = Vec::with_capacity(2 * self.terms.len());
        for (coordinate, factor) in &self.terms {
            for (handle, twist) in coordinate.bodies.into_iter().zip(coordinate.jacobian(bodies)) {
                let scaled = Twist {
                    linear: twist.linear * *factor,
                    angular: twist.angular * *factor,
                };
                row.push((handle, scaled));
            }
        }
        row
    }
}

/// Sets the forces that keep the couplings of one model during a step of a length \[s\].
pub(super) fn prepare(
    couplings: &mut [Coupling],
    bodies: &mut RigidBodySet,
    joints: &ImpulseJointSet,
    step_size_s: f64,
) {
    if couplings.iter().all(|coupling| coupling.is_at_rest(bodies)) {
        return;
    }
    let mut rows = Vec::with_capacity(couplings.len());
    let mut changes = Vec::with_capacity(couplings.len());
    for coupling in couplings {
        coupling.measure(bodies);
        rows.push(coupling.row(bodies));
        changes.push(coupling.change(bodies, step_size_s));
    }
    let impulses = Mobility::new(bodies, joints, &rows).impulses(&changes);
    for (row, impulse) in rows.iter().zip(impulses) {
        let force = RELAXATION * impulse / step_size_s;
        for (handle, twist) in row {
            push(bodies, *handle, twist, force);
        }
    }
}

/// Ends the forces of the step before.
pub(super) fn release(couplings: &[Coupling], bodies: &mut RigidBodySet) {
    for handle in couplings.iter().flat_map(Coupling::bodies) {
        if let Some(body) = bodies.get(handle)
            && (body.user_force() != Vector::ZERO || body.user_torque() != Vector::ZERO)
            && !body.is_sleeping()
        {
            let body = &mut bodies[handle];
            body.reset_forces(false);
            body.reset_torques(false);
        }
    }
}

fn push(bodies: &mut RigidBodySet, handle: RigidBodyHandle, twist: &Twist, force: f64) {
    let body = &bodies[handle];
    if body.is_dynamic() && !body.is_sleeping() {
        let body = &mut bodies[handle];
        body.add_force(twist.linear * force, false);
        body.add_torque(twist.angular * force, false);
    }
}
