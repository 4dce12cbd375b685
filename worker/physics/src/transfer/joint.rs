//! [`JointState`]: everything of a rapier joint that changes from step to step.

use protocol::LinkPose;
use rapier3d_f64::dynamics::{GenericJoint, ImpulseJoint, JointAxesMask, JointLimits, JointMotor};
use serde::{Deserialize, Serialize};

use super::super::{ghost, pose};

/// Everything of a rapier joint that changes from step to step.
#[derive(Serialize, Deserialize)]
pub(in super::super) struct JointState {
    /// On parent and child: those of two axes in series are renewed before each step.
    frames: [LinkPose; 2],
    /// Bits of the axes that are limited and driven.
    limited: u8,
    driven: u8,
    /// Those that are not rapier's defaults, by axis, with their impulses.
    limits: Vec<(u8, JointLimits<f64>)>,
    motors: Vec<(u8, JointMotor)>,
    /// What the next step begins with.
    impulses: [f64; 6],
}

impl JointState {
    /// Returns the state of a joint.
    pub(in super::super) fn of(joint: &ImpulseJoint) -> Self {
        let data = &joint.data;
        let frames = [data.local_frame1, data.local_frame2];
        Self {
            frames: frames.map(|frame| ghost::packed(&pose::from_rapier(&frame))),
            limited: data.limit_axes.bits(),
            driven: data.motor_axes.bits(),
            limits: others_than(JointLimits::default(), &data.limits),
            motors: others_than(JointMotor::default(), &data.motors),
            impulses: joint.impulses,
        }
    }

    /// Gives the state to a joint; `None` when it is none.
    pub(in super::super) fn apply(&self, joint: &mut ImpulseJoint) -> Option<()> {
        let data = &mut joint.data;
        if !self.frames.iter().all(ghost::is_pose) {
            return None;
        }
        [data.local_frame1, data.local_frame2] = self.frames.each_ref().map(ghost::unpacked);
        data.limit_axes = JointAxesMask::from_bits(self.limited)?;
        data.motor_axes = JointAxesMask::from_bits(self.driven)?;
        let plain = GenericJoint::default();
        data.limits = plain.limits;
        data.motors = plain.motors;
        for (axis, limits) in &self.limits {
            let numbers = [limits.min, limits.max, limits.impulse];
            *data.limits.get_mut(usize::from(*axis))? = *limits;
            are_numbers(&numbers)?;
        }
        for (axis, motor) in &self.motors {
            let target = [motor.target_pos, motor.target_vel, motor.max_force];
            let numbers = [motor.stiffness, motor.damping, motor.impulse];
            *data.motors.get_mut(usize::from(*axis))? = *motor;
            are_numbers(&target).and_then(|()| are_numbers(&numbers))?;
        }
        joint.impulses = self.impulses;
        are_numbers(&self.impulses)
    }
}

/// Returns the items that are not a default, with their axes.
fn others_than<T: Copy + PartialEq>(default: T, items: &[T; 6]) -> Vec<(u8, T)> {
    let others = items.iter().zip(0..).filter(|(item, _)| **item != default);
    others.map(|(item, axis)| (axis, *item)).collect()
}

fn are_numbers(numbers: &[f64]) -> Option<()> {
    numbers.iter().all(|number| !number.is_nan()).then_some(())
}
