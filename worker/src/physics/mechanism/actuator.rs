//! [`Actuator`]: what systems ask of an axis of a joint, as a velocity servo or a force.
//!
//! The servo is the motor of a rapier joint of its own, solved together with everything else; the
//! force acts on both bodies, opposite and equal. Either is asked for anew before each step.

use rapier3d_f64::dynamics::{ImpulseJointHandle, RigidBodyHandle};
use rapier3d_f64::pipeline::PhysicsWorld;
use serde::{Deserialize, Serialize};

use super::super::cell::SUBSTEPS;
use super::coordinate::Coordinate;
use super::memory::{ForceAndTorque, are_finite};
use super::push::Pushes;
use super::row::Row;

/// The part of the speed asked for from which on a joint counts as moving.
const MOVING: f64 = 0.5;

/// What systems may ask of one axis of a joint.
#[derive(Serialize, Deserialize)]
pub(in super::super) struct Actuator {
    /// The joint's index in its model, and which of its axes it is.
    pub(in super::super) place: (u32, u32),
    pub(in super::super) coordinate: Coordinate,
    /// The rapier joint whose motor is the servo.
    motor: ImpulseJointHandle,
    /// The most force or torque \[N or N m\] and speed \[m/s or rad/s\].
    limits: [f64; 2],
    order: Order,
    /// What acted in the step before.
    done: Done,
    pushes: Pushes,
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
struct Done {
    velocity: Option<f64>,
    force: f64,
    /// The length of a substep, which motors' impulses are of \[s\].
    substep_s: f64,
}

/// What an actuator remembers from step to step.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ActuatorMemory {
    position: f64,
    done: Done,
    pushes: Vec<ForceAndTorque>,
}

impl Actuator {
    /// Makes one that asks nothing yet, with a joint that has no other use; limits are the most
    /// force or torque \[N or N m\] and speed \[m/s or rad/s\], infinite for none.
    pub(in super::super) fn new(
        place: (u32, u32),
        coordinate: Coordinate,
        motor: ImpulseJointHandle,
        limits: [f64; 2],
    ) -> Self {
        Self {
            place,
            coordinate,
            motor,
            limits,
            order: Order::default(),
            done: Done::default(),
            pushes: Pushes::default(),
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
    pub(in super::super) fn force(&self, physics: &PhysicsWorld) -> f64 {
        let joint = physics.impulse_joints.get(self.motor);
        match (self.done.velocity, joint) {
            (Some(_), Some(joint)) => {
                let length = self.row_length(physics);
                let impulse = joint.data.motors[self.coordinate.row_axis() as usize].impulse;
                self.done.force + impulse / self.done.substep_s / length
            }
            _ => self.done.force,
        }
    }

    /// Makes ready what was asked for, for a step of a length \[s\].
    pub(super) fn prepare(&mut self, physics: &mut PhysicsWorld, step_size_s: f64) {
        let order = std::mem::take(&mut self.order);
        let is_at_rest = self.coordinate.is_at_rest(&physics.bodies);
        let changes = order.velocity != self.done.velocity || order.force != self.done.force;
        if is_at_rest && !changes {
            return;
        }
        if !is_at_rest {
            self.coordinate.measure(&physics.bodies);
        }
        if self.wakes(order, is_at_rest, physics) {
            for body in self.coordinate.bodies {
                physics.wake_up(body, true);
            }
        }
        if !changes && order.velocity.is_none() && order.force == 0.0 {
            return;
        }
        let (bodies, joints) = (&mut physics.bodies, &mut physics.impulse_joints);
        let mut row = Row::of(&self.coordinate, bodies, joints);
        match order.velocity {
            Some(velocity) => row.set_servo(self.motor, velocity, self.limits[0]),
            None => row.stop(self.motor),
        }
        let push = (order.force != 0.0).then(|| (self.coordinate.row(bodies, 1.0), order.force));
        self.pushes.replace(bodies, push);
        self.done = Done {
            velocity: order.velocity,
            force: order.force,
            substep_s: step_size_s / SUBSTEPS as f64,
        };
    }

    /// Returns what it remembers from step to step.
    pub(super) fn memory(&self) -> ActuatorMemory {
        ActuatorMemory {
            position: self.coordinate.position,
            done: self.done,
            pushes: self.pushes.memory(),
        }
    }

    /// Goes on from what an actuator like it remembered; `None` when that was not like it.
    pub(super) fn recall(&mut self, memory: &ActuatorMemory) -> Option<()> {
        let bodies: [RigidBodyHandle; 2] = self.coordinate.bodies;
        self.pushes = Pushes::recall(&memory.pushes, bodies.into_iter())?;
        self.coordinate.position = memory.position;
        self.done = memory.done;
        let velocity = memory.done.velocity.unwrap_or_default();
        let numbers = [memory.position, velocity, memory.done.force];
        let is_finite = numbers.iter().all(|number| number.is_finite());
        let has_time = memory.done.velocity.is_none() || memory.done.substep_s > 0.0;
        (is_finite && has_time && are_finite(&memory.pushes)).then_some(())
    }

    /// Tells whether the bodies must be kept from sleep: for another order than before, but for one
    /// that holds still what does so already, and while they follow a slow one.
    fn wakes(&self, order: Order, is_at_rest: bool, physics: &PhysicsWorld) -> bool {
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

    fn row_length(&self, physics: &PhysicsWorld) -> f64 {
        let direction = self.coordinate.row_direction(&physics.bodies);
        direction.map_or(1.0, |direction| direction.length())
    }
}
