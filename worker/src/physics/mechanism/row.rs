//! [`Row`]: one motor and one limit of a rapier joint, as [`super::drive::Drive`] and
//! [`super::actuator::Actuator`] write them.

use rapier3d_f64::dynamics::{
    GenericJoint, ImpulseJointHandle, ImpulseJointSet, JointAxesMask, JointAxis, JointLimits,
    JointMotor, MotorModel, RigidBodySet,
};
use rapier3d_f64::math::Pose;

use super::coordinate::Coordinate;
use super::drive::Spring;

/// How far from a limit rapier begins to watch it \[rad\].
const LIMIT_REACH: f64 = 1.5;

/// The width of the range that rapier is given around a limit \[rad\]; more than a turn is none.
const LIMIT_RANGE: f64 = 5.0;

/// Damping that leaves nothing of a speed \[1/s\].
const RIGID: f64 = 1e9;

/// How the joints of one drive are written.
pub(super) struct Row<'a> {
    pub(super) joints: &'a mut ImpulseJointSet,
    pub(super) axis: JointAxis,
    /// Frames on parent and child to set; `None` where they are constant.
    pub(super) frames: Option<[Pose; 2]>,
    /// How many of the row's units make one of the coordinate's, inverted.
    pub(super) length: f64,
    /// What rapier measures at the coordinate's position.
    pub(super) origin: f64,
}

impl<'a> Row<'a> {
    /// Returns how the joints along a coordinate are written, at the position last measured.
    pub(super) fn of(
        coordinate: &Coordinate,
        bodies: &RigidBodySet,
        joints: &'a mut ImpulseJointSet,
    ) -> Self {
        let mut row = Self {
            joints,
            axis: coordinate.row_axis(),
            frames: None,
            // Rows of two axes that are not at right angles count in other units: y = q / length.
            length: 1.0,
            origin: coordinate.wrapped_position(),
        };
        if let Some(direction) = coordinate.row_direction(bodies) {
            row.length = direction.length();
            row.frames = Some(coordinate.frames_along(bodies, direction));
            row.origin = 0.0;
        }
        row
    }
}

impl Row<'_> {
    fn is_slide(&self) -> bool {
        self.axis == JointAxis::LinX
    }

    /// Lets rapier watch the limits that are near; `distances` are from here to them.
    pub(super) fn set_limit(&mut self, handle: ImpulseJointHandle, distances: [f64; 2]) {
        let [lower, upper] = distances.map(|distance| distance / self.length);
        let limits = if self.is_slide() {
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

    pub(super) fn set_spring(
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
    pub(super) fn set_brake(&mut self, handle: ImpulseJointHandle, speed: f64, rate: f64) {
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

    /// Holds a speed with no more than a force.
    pub(super) fn set_servo(&mut self, handle: ImpulseJointHandle, speed: f64, force_max: f64) {
        let force_max = (force_max * self.length).min(f64::MAX);
        self.set_motor(handle, rigid_motor(speed / self.length, force_max));
    }

    /// Ends a motor for good: nothing of what it did is left for the next one.
    pub(super) fn stop(&mut self, handle: ImpulseJointHandle) {
        let axis = self.axis;
        self.change(handle, |joint| {
            joint.motor_axes.remove(axis.into());
            joint.motors[axis as usize] = JointMotor::default();
        });
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

    pub(super) fn release(&mut self, handle: ImpulseJointHandle) {
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
    fn change(&mut self, handle: ImpulseJointHandle, change: impl FnOnce(&mut GenericJoint)) {
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
fn rigid_motor(target_vel: f64, max_force: f64) -> JointMotor {
    JointMotor {
        target_vel,
        max_force,
        damping: RIGID,
        model: MotorModel::AccelerationBased,
        ..JointMotor::default()
    }
}
