//! [`Actuator`]: what systems ask of an axis of a joint, as a velocity servo or a force.
//!
//! The servo is the motor of a rapier joint of its own, solved together with everything else; the
//! force acts on both bodies, opposite and equal. Either is asked for anew before each step.
//!
//! Where masses are off the axis, each pass of rapier's solver undoes a part of what a motor did,
//! and a lever sinks however it is held. There the servo is a force instead, found with the exact
//! mobility of the linked bodies from how the speeds answered to the force before.

use rapier3d_f64::dynamics::{ImpulseJointHandle, RigidBodyHandle};
use rapier3d_f64::math::Vector;
use rapier3d_f64::pipeline::PhysicsWorld;
use serde::{Deserialize, Serialize};

use super::super::cell::SUBSTEPS;
use super::coordinate::{BodyRow, Coordinate};
use super::memory::{ForceAndTorque, are_finite};
use super::mobility::Mobility;
use super::push::Pushes;
use super::row::Row;

/// The part of the speed asked for from which on a joint counts as moving.
const MOVING: f64 = 0.5;

/// The part of the mobility of free bodies that is left to the axis, below which its masses are off
/// it.
const OFF_AXIS: f64 = 0.9;

/// The part of the change of force that is used in a step.
const RELAXATION: f64 = 0.6;

/// How much a force without a limit may change a speed in a step \[m/s or rad/s\]: one against a
/// wall does not grow for ever.
const CHANGE_MAX: f64 = 4.0;

/// The most actuators whose forces are found together.
const BLOCK_MAX: usize = 64;

/// What systems may ask of one axis of a joint.
#[derive(Clone, Serialize, Deserialize)]
pub(in super::super) struct Actuator {
    /// The joint's index in its model, and which of its axes it is.
    pub(in super::super) place: (u32, u32),
    pub(in super::super) coordinate: Coordinate,
    /// The rapier joint whose motor is the servo.
    motor: ImpulseJointHandle,
    /// The most force or torque \[N or N m\] and speed \[m/s or rad/s\].
    limits: [f64; 2],
    order: Order,
    servo: Servo,
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

/// What the servo does in the next step.
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
struct Servo {
    /// Whether it is a force and no motor.
    is_force: bool,
    /// \[N or N m\]
    force: f64,
    /// The rate of the axis \[m/s or rad/s\].
    rate: f64,
}

/// What acted in a step, within the limits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Done {
    velocity: Option<f64>,
    force: f64,
    /// Whether the servo was a force, and which \[N or N m\].
    is_force: bool,
    servo_force: f64,
    /// The rate of the axis before the step \[m/s or rad/s\].
    rate: f64,
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
            servo: Servo::default(),
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
        self.done.force + self.done.servo_force + self.motor_force(physics)
    }

    /// Makes ready what was asked for, for a step of a length \[s\].
    fn prepare(&mut self, physics: &mut PhysicsWorld, step_size_s: f64) {
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
            Some(velocity) if !self.servo.is_force => {
                row.set_servo(self.motor, velocity, self.limits[0] - order.force.abs());
            }
            _ => row.stop(self.motor),
        }
        let most = self.limits[0];
        let force = (order.force + self.servo.force).clamp(-most, most);
        let push = (force != 0.0).then(|| (self.coordinate.row(bodies, 1.0), force));
        self.pushes.replace(bodies, push);
        self.done = Done {
            velocity: order.velocity,
            force: order.force,
            is_force: self.servo.is_force,
            servo_force: force - order.force,
            rate: self.servo.rate,
            substep_s: step_size_s / SUBSTEPS as f64,
        };
        self.servo = Servo::default();
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
        let done = memory.done;
        let numbers = [
            memory.position,
            velocity,
            done.force,
            done.servo_force,
            done.rate,
        ];
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

    /// Returns what the motor did in the last step \[N or N m\].
    fn motor_force(&self, physics: &PhysicsWorld) -> f64 {
        let joint = physics.impulse_joints.get(self.motor);
        match (self.done.velocity, joint) {
            (Some(_), Some(joint)) => {
                let axis = self.coordinate.row_axis() as usize;
                // rapier counts impulses as those on the parent.
                -joint.data.motors[axis].impulse / self.done.substep_s / self.row_length(physics)
            }
            _ => 0.0,
        }
    }

    /// Begins a step of the servo; returns how the rate is to change where it is a force.
    fn begin(&mut self, physics: &PhysicsWorld) -> Option<f64> {
        self.servo = Servo::default();
        let wanted = self.order.velocity?;
        let (bodies, joints) = (&physics.bodies, &physics.impulse_joints);
        self.servo = Servo::of(&self.done);
        if self.coordinate.is_at_rest(bodies) && self.done.velocity == Some(wanted) {
            return None;
        }
        let goes_on = self.done.velocity.is_some();
        if !goes_on {
            let free = self.coordinate.mobility(bodies);
            let row = self.coordinate.row(bodies, 1.0);
            let per_rate = Mobility::of_pair(bodies, joints, &row).impulses(&[1.0])[0];
            self.servo = Servo {
                is_force: free * per_rate * OFF_AXIS > 1.0,
                ..Servo::default()
            };
        }
        let before = self.servo.rate;
        self.servo.rate = self.coordinate.rate(bodies);
        if !self.servo.is_force {
            return None;
        }
        // It changed by `rate - before` under the force before, and would do so again.
        let drift = if goes_on {
            self.servo.rate - before
        } else {
            0.0
        };
        Some(wanted - self.servo.rate - drift)
    }

    /// Adds to the force of the servo, within limits; it is for a step of a length \[s\].
    fn strengthen(&mut self, impulse: f64, physics: &PhysicsWorld, step_size_s: f64) {
        let force = self.servo.force + RELAXATION * impulse / step_size_s;
        let row = self.coordinate.row(&physics.bodies, 1.0);
        let pair = Mobility::of_pair(&physics.bodies, &physics.impulse_joints, &row);
        let per_rate = pair.impulses(&[1.0])[0];
        let most = (CHANGE_MAX * per_rate / step_size_s).max(self.servo.force.abs());
        let most = most.min(self.limits[0]);
        if force.is_finite() {
            self.servo.force = force.clamp(-most, most);
        }
    }

    fn row_length(&self, physics: &PhysicsWorld) -> f64 {
        let direction = self.coordinate.row_direction(&physics.bodies);
        direction.map_or(1.0, Vector::length)
    }
}

/// Makes actuators ready for a step of a length \[s\].
pub(super) fn prepare(actuators: &mut [Actuator], physics: &mut PhysicsWorld, step_size_s: f64) {
    for block in actuators.chunks_mut(BLOCK_MAX) {
        find_forces(block, physics, step_size_s);
    }
    for actuator in actuators {
        actuator.prepare(physics, step_size_s);
    }
}

/// Finds the forces of servos that are no motors, all together.
fn find_forces(actuators: &mut [Actuator], physics: &PhysicsWorld, step_size_s: f64) {
    let (bodies, joints) = (&physics.bodies, &physics.impulse_joints);
    let mut servos: Vec<&mut Actuator> = Vec::new();
    let mut changes: Vec<f64> = Vec::new();
    for actuator in actuators {
        if let Some(change) = actuator.begin(physics) {
            servos.push(actuator);
            changes.push(change);
        }
    }
    if servos.is_empty() {
        return;
    }
    let row = |actuator: &&mut Actuator| actuator.coordinate.row(bodies, 1.0);
    let rows: Vec<BodyRow> = servos.iter().map(row).collect();
    let impulses = Mobility::new(bodies, joints, &rows).impulses(&changes);
    for (actuator, impulse) in servos.into_iter().zip(impulses) {
        actuator.strengthen(impulse, physics, step_size_s);
    }
}

impl Servo {
    fn of(done: &Done) -> Self {
        Self {
            is_force: done.is_force,
            force: done.servo_force,
            rate: done.rate,
        }
    }
}
