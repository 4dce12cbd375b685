//! [`Slot`]: what limits, damps and drives one axis of a joint, in rapier's motors and limits.

use rapier3d_f64::dynamics::{
    ImpulseJointHandle, JointAxesMask, JointAxis, JointLimits, JointMotor, MotorModel,
    RigidBodyHandle,
};
use rapier3d_f64::math::Pose;
use rapier3d_f64::pipeline::PhysicsWorld;
use sdf::Axis;

use super::super::mechanism::Mechanism;
use super::super::mechanism::coordinate::Coordinate;
use super::super::mechanism::damper::Damper;
use super::super::mechanism::drive::{Drive, Spring, are_within_a_turn};
use super::super::mechanism::friction::Friction;

/// Limits that files write for "none", and the stiffness from which on a limit is rigid, SDF's
/// default \[N/m or N m/rad\].
pub(in super::super) const NO_LIMIT: f64 = 1e15;
const RIGID_LIMIT: f64 = 1e8;

/// Where the roles of one axis of a joint are put.
pub(super) struct Slot {
    pub(super) bodies: [RigidBodyHandle; 2],
    pub(super) frames: [Pose; 2],
    pub(super) axis: JointAxis,
    /// The rapier joint with the locked axes, when its frames fit this axis.
    pub(super) main: Option<ImpulseJointHandle>,
}

impl Slot {
    /// Puts everything that an axis asks for into rapier joints, and what is not constant into the
    /// mechanism.
    pub(super) fn fill(
        &self,
        physics: &mut PhysicsWorld,
        mechanism: &mut Mechanism,
        axis: &Axis,
        coordinate: Coordinate,
        is_endless: bool,
    ) {
        let mut drive = Drive {
            number: mechanism.drives.len() as u32,
            coordinate,
            limit: None,
            stop: None,
            spring: None,
            friction: None,
            damper: None,
            brake: None,
        };
        if let Some(limits) = limits(axis).filter(|_| !is_endless) {
            self.limit(physics, mechanism, &mut drive, axis, limits);
        }
        self.damp(physics, mechanism, &mut drive, axis);
        if axis.friction > 0.0 && axis.friction.is_finite() {
            drive.friction = Some(Friction::new(axis.friction));
        }
        if axis.velocity >= 0.0 && axis.velocity < NO_LIMIT {
            drive.brake = Some((self.aside(physics, mechanism), axis.velocity));
        }
        if !drive.is_idle() {
            mechanism.drives.push(drive);
        }
    }

    fn limit(
        &self,
        physics: &mut PhysicsWorld,
        mechanism: &mut Mechanism,
        drive: &mut Drive,
        axis: &Axis,
        limits: [f64; 2],
    ) {
        if axis.limit_stiffness > 0.0 && axis.limit_stiffness < RIGID_LIMIT {
            let spring = Spring {
                stiffness: axis.limit_stiffness,
                damping: axis.limit_dissipation.max(0.0),
                reference: 0.0,
            };
            drive.stop = Some((self.aside(physics, mechanism), limits, spring));
            return;
        }
        match self.main {
            Some(main) if self.axis == JointAxis::LinX || are_within_a_turn(limits) => {
                self.change(physics, main, |joint, number| {
                    joint.limit_axes.insert(self.axis.into());
                    joint.limits[number] = JointLimits::from(limits);
                });
            }
            Some(main) => drive.limit = Some((main, limits)),
            None => drive.limit = Some((self.aside(physics, mechanism), limits)),
        }
    }

    fn damp(
        &self,
        physics: &mut PhysicsWorld,
        mechanism: &mut Mechanism,
        drive: &mut Drive,
        axis: &Axis,
    ) {
        let spring = Spring {
            stiffness: if axis.spring_reference.is_finite() {
                positive(axis.spring_stiffness)
            } else {
                0.0
            },
            damping: positive(axis.damping),
            reference: axis.spring_reference,
        };
        match self.main {
            _ if spring.stiffness == 0.0 && spring.damping == 0.0 => {}
            Some(main) => {
                if spring.stiffness > 0.0 {
                    let alone = Spring {
                        damping: 0.0,
                        ..spring
                    };
                    drive.spring = Some((self.aside(physics, mechanism), alone));
                }
                if spring.damping == 0.0 {
                    return;
                }
                let motor = JointMotor {
                    damping: spring.damping,
                    model: MotorModel::ForceBased,
                    ..JointMotor::default()
                };
                self.change(physics, main, |joint, number| {
                    joint.motor_axes.insert(self.axis.into());
                    joint.motors[number] = motor;
                });
                drive.damper = Some(Damper::new(main, spring.damping));
            }
            None => drive.spring = Some((self.aside(physics, mechanism), spring)),
        }
    }

    /// Inserts a joint beside the main one, for one more motor or limit.
    fn aside(&self, physics: &mut PhysicsWorld, mechanism: &mut Mechanism) -> ImpulseJointHandle {
        super::insert_joint(
            physics,
            mechanism,
            self.bodies,
            self.frames,
            JointAxesMask::empty(),
        )
    }

    fn change(
        &self,
        physics: &mut PhysicsWorld,
        handle: ImpulseJointHandle,
        change: impl FnOnce(&mut rapier3d_f64::dynamics::GenericJoint, usize),
    ) {
        let joint = physics.impulse_joints.get_mut(handle, false);
        let joint = joint.expect("a joint is there right after it was inserted");
        change(&mut joint.data, self.axis as usize);
    }
}

/// Returns the limits of an axis as rapier takes them; `None` when it has none, or the upper is
/// below the lower.
fn limits(axis: &Axis) -> Option<[f64; 2]> {
    let is_bounded = axis.lower > -NO_LIMIT || axis.upper < NO_LIMIT;
    (is_bounded && axis.lower <= axis.upper)
        .then(|| [axis.lower.max(f64::MIN), axis.upper.min(f64::MAX)])
}

fn positive(number: f64) -> f64 {
    if number.is_finite() {
        number.max(0.0)
    } else {
        0.0
    }
}
