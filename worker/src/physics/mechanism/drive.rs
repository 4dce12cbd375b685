//! [`Drive`]: what acts along one axis of a joint and must be set anew before each step.
//!
//! Each role (limit, spring with damping, friction, brake at the greatest speed) is the one motor
//! or limit of a rapier joint between the two bodies, solved together with everything else.

use std::f64::consts::PI;

use rapier3d_f64::dynamics::{
    ImpulseJointHandle, ImpulseJointSet, JointAxesMask, JointAxis, JointLimits, JointMotor,
    MotorModel, RigidBodySet,
};
use rapier3d_f64::math::{Pose, Vector};
use serde::{Deserialize, Serialize};

use super::coordinate::{Coordinate, TwoAxes, Which, frame_along, reciprocal};
use super::super::cell::SUBSTEPS;

/// How far from a limit rapier begins to watch it \[rad\].
const LIMIT_REACH: f64 = 1.5;

/// The width of the range that rapier is given around a limit \[rad\]; more than a turn is none.
const LIMIT_RANGE: f64 = 5.0;

/// Damping that leaves nothing of a speed \[1/s\].
pub(super) const RIGID: f64 = 1e9;

/// The least damping of a spring, as a part of stiffness times substep: what rapier divides by.
const DAMPING_RATIO_MIN: f64 = 1e-3;

/// What acts along one axis of a joint.
#[derive(Clone, Serialize, Deserialize)]
pub(in super::super) struct Drive {
    pub(in super::super) coordinate: Coordinate,
    /// The two axes, when the joint has two: then all frames are renewed before each step.
    pub(in super::super) axes: Option<(TwoAxes, Which)>,
    /// Which axis of the rapier joints below is meant.
    pub(in super::super) is_slide: bool,
    pub(in super::super) limit: Option<(ImpulseJointHandle, [f64; 2])>,
    pub(in super::super) stop: Option<(ImpulseJointHandle, [f64; 2], Spring)>,
    pub(in super::super) spring: Option<(ImpulseJointHandle, Spring)>,
    pub(in super::super) friction: Option<ImpulseJointHandle>,
    pub(in super::super) brake: Option<(ImpulseJointHandle, f64)>,
}

/// A spring with a damper beside it.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(in super::super) struct Spring {
    /// Stiffness \[N/m or N m/rad\].
    pub(in super::super) stiffness: f64,
    /// Damping \[N s/m or N m s/rad\].
    pub(in super::super) damping: f64,
    /// Where it is at rest \[m or rad\].
    pub(in super::super) reference: f64,
}

impl Drive {
    /// Makes everything ready for a step of a length \[s\].
    pub(super) fn prepare(
        &mut self,
        bodies: &RigidBodySet,
        joints: &mut ImpulseJointSet,
        step_size_s: f64,
    ) {
        if self.coordinate.is_at_rest(bodies) {
            return;
        }
        self.coordinate.measure(bodies);
        let mut row = Row {
            joints,
            axis: if self.is_slide {
                JointAxis::LinX
            } else {
                JointAxis::AngX
            },
            frames: None,
            // Rows of two axes that are not at right angles count in other units: y = q / length.
            length: 1.0,
            origin: self.coordinate.wrapped_position(),
        };
        if let Some((axes, which)) = self.axes {
            let direction = reciprocal(axes, which, self.coordinate.frames_in_world(bodies));
            row.length = direction.length();
            row.frames = Some(self.frames_along(bodies, direction));
            row.origin = 0.0;
        }
        let position = self.coordinate.position;
        if let Some((handle, limits)) = self.limit {
            row.set_limit(handle, limits.map(|limit| limit - position));
        }
        let substep = step_size_s / SUBSTEPS as f64;
        let mobility = self.coordinate.mobility(bodies);
        if let Some((handle, spring)) = self.spring {
            row.set_spring(handle, spring, position, mobility, substep);
        }
        if let Some((handle, limits, spring)) = self.stop {
            let rate = self.coordinate.rate(bodies);
            match spring.at_limit(limits, position, rate) {
                Some(spring) => row.set_spring(handle, spring, position, mobility, substep),
                None => row.release(handle),
            }
        }
        if let Some(handle) = self.friction {
            row.reframe(handle);
        }
        if let Some((handle, speed)) = self.brake {
            row.set_brake(handle, speed, self.coordinate.rate(bodies));
        }
    }

    /// Returns frames on parent and child that coincide now and have their x axis along a
    /// direction.
    fn frames_along(&self, bodies: &RigidBodySet, direction: Vector) -> [Pose; 2] {
        let rotation = frame_along(direction);
        let origin = self.coordinate.frames_in_world(bodies)[1].translation;
        let frame = Pose::from_parts(origin, rotation);
        [0, 1].map(|side| bodies[self.coordinate.bodies[side]].position().inv_mul(&frame))
    }
}

impl Spring {
    /// Returns the spring that pushes back where a limit is passed; `None` within the limits and
    /// where the damper would hold what leaves.
    fn at_limit(self, [lower, upper]: [f64; 2], position: f64, rate: f64) -> Option<Self> {
        let limit = if position < lower {
            lower
        } else if position > upper {
            upper
        } else {
            return None;
        };
        let depth = limit - position;
        let force = self.stiffness * depth - self.damping * rate;
        (force * depth > 0.0).then_some(Self {
            reference: limit,
            ..self
        })
    }

    /// Returns the damping with which the spring never gains energy, the least that is possible:
    /// with a force taken at the begin of each substep, which is what rapier's position and ours
    /// amount to, that is nothing below `stiffness * mobility * substep^2 = 1`, and above it grows
    /// to half of `stiffness * substep`.
    fn stable_damping(self, mobility: f64, substep: f64) -> f64 {
        let stiffness = self.stiffness * substep;
        let square_phase = stiffness * substep * mobility;
        let share = if square_phase > 1.0 {
            0.5 - 0.5 / square_phase
        } else {
            0.0
        };
        self.damping.max(stiffness * share.max(DAMPING_RATIO_MIN))
    }
}

/// How the joints of one drive are written.
struct Row<'a> {
    joints: &'a mut ImpulseJointSet,
    axis: JointAxis,
    frames: Option<[Pose; 2]>,
    /// How many of the row's units make one of the coordinate's, inverted.
    length: f64,
    /// What rapier measures at the coordinate's position.
    origin: f64,
}

impl Row<'_> {
    /// Lets rapier watch the limits that are near; `distances` are from here to them.
    fn set_limit(&mut self, handle: ImpulseJointHandle, distances: [f64; 2]) {
        let [lower, upper] = distances.map(|distance| distance / self.length);
        let is_turn = self.axis == JointAxis::AngX;
        let limits = if !is_turn {
            Some([lower, upper])
        } else if lower > -LIMIT_REACH {
            Some([lower, upper.min(lower + LIMIT_RANGE)])
        } else if upper < LIMIT_REACH {
            Some([lower.max(upper - LIMIT_RANGE), upper])
        } else {
            None
        };
        let limits = limits.map(|limits| limits.map(|limit| limit + self.origin));
        self.reframe(handle);
        let axis = self.axis;
        self.change(handle, |joint| {
            let mask = JointAxesMask::from(axis);
            joint.limit_axes.set(mask, limits.is_some());
            if let Some([min, max]) = limits {
                let impulse = joint.limits[axis as usize].impulse;
                joint.limits[axis as usize] = JointLimits { min, max, impulse };
            }
        });
    }

    fn set_spring(
        &mut self,
        handle: ImpulseJointHandle,
        spring: Spring,
        position: f64,
        mobility: f64,
        substep: f64,
    ) {
        let square_length = self.length * self.length;
        let damping = spring.stable_damping(mobility, substep);
        let pull = spring.stiffness * (spring.reference - position);
        let motor = JointMotor {
            target_pos: self.origin,
            target_vel: pull / damping / self.length,
            stiffness: spring.stiffness * square_length,
            // rapier adds the rest of what makes its damping ours.
            damping: (damping - substep * spring.stiffness) * square_length,
            model: MotorModel::ForceBased,
            ..JointMotor::default()
        };
        self.set_motor(handle, motor);
    }

    /// Holds the speed at its greatest while something pushes it beyond.
    fn set_brake(&mut self, handle: ImpulseJointHandle, speed: f64, rate: f64) {
        let Some(joint) = self.joints.get(handle) else {
            return;
        };
        let motor = joint.data.motors[self.axis as usize];
        let was_on = joint.data.motor_axes.contains(self.axis.into());
        let still_needed = was_on && motor.impulse * rate > 0.0 && motor.target_vel * rate > 0.0;
        if rate.abs() > speed || still_needed {
            let target_vel = speed.copysign(rate) / self.length;
            self.set_motor(handle, rigid_motor(target_vel, f64::MAX));
        } else {
            self.release(handle);
        }
    }

    fn set_motor(&mut self, handle: ImpulseJointHandle, motor: JointMotor) {
        self.reframe(handle);
        let axis = self.axis;
        self.change(handle, |joint| {
            let impulse = joint.motors[axis as usize].impulse;
            joint.motors[axis as usize] = JointMotor { impulse, ..motor };
            joint.motor_axes.insert(axis.into());
        });
    }

    fn release(&mut self, handle: ImpulseJointHandle) {
        let axis = self.axis;
        self.change(handle, |joint| joint.motor_axes.remove(axis.into()));
    }

    fn reframe(&mut self, handle: ImpulseJointHandle) {
        if let Some([parent, child]) = self.frames {
            self.change(handle, |joint| {
                joint.local_frame1 = parent;
                joint.local_frame2 = child;
            });
        }
    }

    /// Writes a joint only when that changes it: rapier reuses what it knows of joints otherwise.
    fn change(
        &mut self,
        handle: ImpulseJointHandle,
        change: impl FnOnce(&mut rapier3d_f64::dynamics::GenericJoint),
    ) {
        let Some(joint) = self.joints.get(handle) else {
            return;
        };
        let mut data = joint.data;
        change(&mut data);
        if data != joint.data
            && let Some(joint) = self.joints.get_mut(handle, false)
        {
            joint.data = data;
        }
    }
}

/// Returns a motor that holds a speed with any force up to the one given.
pub(in super::super) fn rigid_motor(target_vel: f64, max_force: f64) -> JointMotor {
    JointMotor {
        target_vel,
        max_force,
        damping: RIGID,
        model: MotorModel::AccelerationBased,
        ..JointMotor::default()
    }
}

/// Tells whether rapier keeps limits of a turning joint by itself: it sees angles between -pi and
/// pi and cannot count turns.
pub(in super::super) fn are_within_a_turn([lower, upper]: [f64; 2]) -> bool {
    -PI < lower && lower <= upper && upper < PI
}
