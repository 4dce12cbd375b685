//! [`Actuator`]: what systems ask of an axis of a joint, as a velocity servo or a force.
//!
//! The servo is solved together with everything else; the force is one of a controller. Either is
//! asked for anew before each step.

use rapier3d_f64::dynamics::{ImpulseJointHandle, RigidBodySet};
use rapier3d_f64::pipeline::PhysicsWorld;
use serde::{Deserialize, Serialize};

use super::coordinate::{Coordinate, Twists};
use super::memory::ActuatorState;

/// The part of the speed asked for from which on a joint counts as moving.
const MOVING: f64 = 0.5;

/// What systems may ask of one axis of a joint.
#[derive(Clone, Serialize, Deserialize)]
pub(in super::super) struct Actuator {
    /// The joint's index in its model, and which of its axes it is.
    pub(in super::super) place: (u32, u32),
    pub(in super::super) coordinate: Coordinate,
    /// The rapier joint that lets it move, and which of its axes it is.
    pub(super) joint: (ImpulseJointHandle, usize),
    /// The most force or torque \[N or N m\] and speed \[m/s or rad/s\].
    limits: [f64; 2],
    order: Order,
    /// What acted in the step before.
    done: Done,
    /// Impulses to warm-start from, by the roles of [`dynamics::Axis`].
    impulses: [f64; 5],
}

/// What is asked for the next step.
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
struct Order {
    /// \[m/s or rad/s\]
    velocity: Option<f64>,
    /// \[N or N m\]
    force: f64,
}

/// What acted in a step, within the limits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Done {
    pub(super) velocity: Option<f64>,
    /// \[N or N m\]
    pub(super) force: f64,
    /// The force of the servo \[N or N m\].
    pub(super) servo_force: f64,
}

impl Actuator {
    /// Makes one that asks nothing yet; limits are the most force or torque \[N or N m\] and speed
    /// \[m/s or rad/s\], infinite for none.
    pub(in super::super) fn new(
        place: (u32, u32),
        coordinate: Coordinate,
        joint: (ImpulseJointHandle, usize),
        limits: [f64; 2],
    ) -> Self {
        Self {
            place,
            coordinate,
            joint,
            limits,
            order: Order::default(),
            done: Done::default(),
            impulses: [0.0; 5],
        }
    }

    /// Asks for a velocity in the next step \[m/s or rad/s\].
    pub(in super::super) fn drive(&mut self, velocity: f64) {
        let speed = self.limits[1];
        self.order.velocity = Some(velocity.clamp(-speed, speed));
    }

    /// Asks for a force or torque in the next step, beside others \[N or N m\].
    pub(in super::super) fn push(&mut self, force: f64) {
        let most = self.limits[0].min(f64::MAX);
        self.order.force = (self.order.force + force).clamp(-most, most);
    }

    /// Returns what acted in the last step \[N or N m\].
    pub(in super::super) fn force(&self) -> f64 {
        self.done.force + self.done.servo_force
    }

    /// Wakes the bodies where what is asked for moves them.
    pub(super) fn wake(&self, physics: &mut PhysicsWorld) {
        let is_at_rest = self.coordinate.is_at_rest(&physics.bodies);
        if self.wakes(is_at_rest, physics) {
            for body in self.coordinate.bodies {
                physics.wake_up(body, true);
            }
        }
    }

    /// Measures the axis, and returns what acts along it, but for its terms; `None` when nothing
    /// is asked for.
    pub(super) fn ask(&mut self, bodies: &RigidBodySet) -> Option<dynamics::Axis> {
        self.coordinate.measure(bodies);
        let order = std::mem::take(&mut self.order);
        self.done = Done {
            velocity: order.velocity,
            force: order.force,
            servo_force: 0.0,
        };
        let Some(velocity) = order.velocity else {
            self.impulses = [0.0; 5];
            return None;
        };
        let most = (self.limits[0] - order.force.abs()).max(0.0);
        Some(dynamics::Axis {
            servo: Some([velocity, most]),
            impulses: self.impulses,
            ..dynamics::Axis::new(Vec::new(), self.coordinate.position)
        })
    }

    /// Tells whether a velocity was asked for in the step.
    pub(super) fn is_driven(&self) -> bool {
        self.done.velocity.is_some()
    }

    /// Returns the force of the step, which was asked for.
    pub(super) fn pushed(&self) -> f64 {
        self.done.force
    }

    /// Returns how the velocities of bodies change the position.
    pub(super) fn twists(&self, bodies: &RigidBodySet) -> Twists {
        self.coordinate.twists(bodies, 1.0)
    }

    /// Takes over what acted in a step of a length \[s\].
    pub(super) fn answer(&mut self, axis: &dynamics::Axis, step_size_s: f64) {
        self.impulses = axis.impulses;
        self.done.servo_force = axis.totals[dynamics::Axis::SERVO] / step_size_s;
    }

    /// Forgets an order of a step in which its bodies slept: what holds still did so already.
    pub(super) fn sleep_over(&mut self) {
        let order = std::mem::take(&mut self.order);
        self.done.velocity = order.velocity;
        self.done.force = order.force;
    }

    /// Returns what it remembers from step to step.
    pub(super) fn memory(&self) -> ActuatorState {
        ActuatorState {
            position: self.coordinate.position,
            done: self.done,
            impulses: self.impulses,
        }
    }

    /// Goes on from what an actuator like it remembered; `None` when that holds what is no number.
    pub(super) fn recall(&mut self, memory: &ActuatorState) -> Option<()> {
        self.coordinate.position = memory.position;
        self.done = memory.done;
        self.impulses = memory.impulses;
        let done = memory.done;
        let velocity = done.velocity.unwrap_or_default();
        let numbers = [memory.position, velocity, done.force, done.servo_force];
        let mut numbers = numbers.iter().chain(&memory.impulses);
        numbers.all(|number| number.is_finite()).then_some(())
    }

    /// Tells whether the bodies must be kept from sleep: for another order than before, but for one
    /// that holds still what does so already, and while they follow a slow one.
    fn wakes(&self, is_at_rest: bool, physics: &PhysicsWorld) -> bool {
        let order = &self.order;
        let speed = order.velocity.unwrap_or_default();
        if is_at_rest {
            let lets_go = order.velocity.is_none() && self.done.velocity.is_some();
            return order.force != self.done.force || speed != 0.0 || lets_go;
        }
        let rate = self.coordinate.rate(&physics.bodies);
        speed != 0.0 && rate * speed > MOVING * speed * speed && self.drowses(physics)
    }

    /// Tells whether one of the bodies is on its way to sleep.
    fn drowses(&self, physics: &PhysicsWorld) -> bool {
        self.coordinate.bodies.iter().any(|body| {
            let activation = physics.bodies[*body].activation();
            activation.time_since_can_sleep > 0.5 * activation.time_until_sleep
        })
    }
}
