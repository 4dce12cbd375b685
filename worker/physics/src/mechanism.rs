//! [`Mechanism`]: the joints of a model, and what acts along their axes.
//!
//! rapier knows of a joint which bodies it holds together, so that they do not touch, sleep and
//! wake together; how they move is found by [`super::solver`], which asks the mechanism what acts
//! along each axis. Everything that a step needs to know of the one before is in here, and so in
//! snapshots. Start at [`super::joint`], which fills it.

pub(super) mod actuator;
pub(super) mod control;
pub(super) mod coordinate;
pub(super) mod coupling;
pub(super) mod memory;
pub(super) mod two_axes;

use rapier3d_f64::dynamics::{GenericJoint, ImpulseJointHandle, RigidBodyHandle, RigidBodySet};
use rapier3d_f64::pipeline::PhysicsWorld;
use serde::{Deserialize, Serialize};

use self::actuator::Actuator;
use self::control::AxisControl;
use self::coordinate::{Coordinate, Twists};
use self::coupling::Coupling;
use self::two_axes::Cross;

/// The joints of a model, or one of the world, and what acts along their axes.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(super) struct Mechanism {
    /// All joints that rapier has of it, in the order of insertion.
    pub(super) joints: Vec<ImpulseJointHandle>,
    pub(super) crosses: Vec<Cross>,
    pub(super) controls: Vec<AxisControl>,
    pub(super) couplings: Vec<Coupling>,
    /// Where systems take hold, in the order of joints and axes.
    pub(super) actuators: Vec<Actuator>,
}

/// The rapier joint that lets an axis move, and which of its axes it is, if it is one axis of one.
pub(super) type AxisPlace = Option<(ImpulseJointHandle, usize)>;

/// A force along an axis that a system exerts in a step.
pub(super) struct Push {
    /// The Jacobian: factors of the velocities of bodies in the rate of the axis.
    pub(super) twists: Twists,
    /// \[N or N m\]
    pub(super) force: f64,
}

impl Mechanism {
    /// Tells whether there is nothing in it.
    pub(super) fn is_empty(&self) -> bool {
        self.joints.is_empty()
            && self.crosses.is_empty()
            && self.controls.is_empty()
            && self.couplings.is_empty()
    }

    /// Returns the bodies that it measures.
    pub(super) fn bodies(&self) -> impl Iterator<Item = RigidBodyHandle> {
        let crosses = self.crosses.iter().flat_map(|cross| cross.bodies);
        let controls = self.controls.iter();
        let of_controls = controls.flat_map(|control| control.coordinate.bodies);
        let actuators = self.actuators.iter();
        let of_actuators = actuators.flat_map(|actuator| actuator.coordinate.bodies);
        let measured = crosses.chain(of_controls).chain(of_actuators);
        measured.chain(self.couplings.iter().flat_map(Coupling::bodies))
    }

    /// Returns the positions that it keeps count of.
    pub(super) fn coordinates_mut(&mut self) -> impl Iterator<Item = &mut Coordinate> {
        let controls = self
            .controls
            .iter_mut()
            .map(|control| &mut control.coordinate);
        let actuators = self.actuators.iter_mut();
        let of_actuators = actuators.map(|actuator| &mut actuator.coordinate);
        let couplings = self.couplings.iter_mut();
        let coupled =
            couplings.flat_map(|coupling| coupling.terms.iter_mut().map(|(term, _)| term));
        controls.chain(of_actuators).chain(coupled)
    }

    /// Gives rapier a joint; it wakes nobody unless one of the bodies is awake.
    pub(super) fn insert_joint(
        &mut self,
        physics: &mut PhysicsWorld,
        [first, second]: [RigidBodyHandle; 2],
        joint: &GenericJoint,
    ) -> ImpulseJointHandle {
        let handle = physics.impulse_joints.insert(first, second, *joint, false);
        self.joints.push(handle);
        handle
    }

    /// Wakes the bodies that what is asked for moves.
    pub(super) fn wake(&self, physics: &mut PhysicsWorld) {
        for actuator in &self.actuators {
            actuator.wake(physics);
        }
    }

    /// Says everything that acts in a step along axes of bodies that are awake: what it is but for
    /// its terms, factors of the velocities of bodies in its rate, and where the axis is.
    pub(super) fn ask(
        &mut self,
        bodies: &RigidBodySet,
        asked: &mut impl FnMut(dynamics::Axis, &Twists, AxisPlace),
        pushes: &mut Vec<Push>,
    ) {
        for control in &mut self.controls {
            if !control.coordinate.is_at_rest(bodies) {
                let axis = control.ask(bodies);
                let twists = control.coordinate.twists(bodies, 1.0);
                asked(axis, &twists, Some(control.place));
            }
        }
        for coupling in &mut self.couplings {
            if !coupling.is_at_rest(bodies) {
                asked(coupling.ask(bodies), &coupling.twists(bodies), None);
            }
        }
        for actuator in &mut self.actuators {
            if actuator.coordinate.is_at_rest(bodies) {
                actuator.sleep_over();
                continue;
            }
            if let Some(axis) = actuator.ask(bodies) {
                asked(axis, &actuator.twists(bodies), Some(actuator.joint));
            }
            if actuator.pushed() != 0.0 {
                pushes.push(Push {
                    twists: actuator.twists(bodies),
                    force: actuator.pushed(),
                });
            }
        }
    }

    /// Takes over what acted, in the order in which it was asked for.
    pub(super) fn answer<'a>(
        &mut self,
        bodies: &RigidBodySet,
        axes: &mut impl Iterator<Item = &'a dynamics::Axis>,
        step_size_s: f64,
    ) {
        let mut next = || {
            axes.next()
                .expect("each axis that was asked for is answered")
        };
        for control in &mut self.controls {
            if !control.coordinate.is_at_rest(bodies) {
                control.answer(next());
            }
        }
        for coupling in &mut self.couplings {
            if !coupling.is_at_rest(bodies) {
                coupling.answer(next());
            }
        }
        for actuator in &mut self.actuators {
            if !actuator.coordinate.is_at_rest(bodies) && actuator.is_driven() {
                actuator.answer(next(), step_size_s);
            }
        }
    }
}
