//! [`AxisControl`]: what acts along one axis of a joint by itself: bounds, springs, friction.

use rapier3d_f64::dynamics::{ImpulseJointHandle, RigidBodySet};
use serde::{Deserialize, Serialize};

use super::coordinate::Coordinate;
use super::memory::ControlState;

/// Bounds, springs and friction along one axis of a joint.
#[derive(Clone, Serialize, Deserialize)]
pub(in super::super) struct AxisControl {
    pub(in super::super) coordinate: Coordinate,
    /// The rapier joint that lets it move, and which of its axes it is.
    pub(in super::super) place: (ImpulseJointHandle, usize),
    /// Least and greatest position \[m or rad\].
    pub(in super::super) limits: Option<[f64; 2]>,
    /// The spring that the limits are, where they are not hard.
    pub(in super::super) stop: Option<Spring>,
    pub(in super::super) spring: Option<Spring>,
    /// The most that dry friction holds \[N or N m\].
    pub(in super::super) friction: f64,
    /// The greatest speed \[m/s or rad/s\].
    pub(in super::super) speed: Option<f64>,
    /// Impulses to warm-start from, by the roles of [`dynamics::Axis`].
    impulses: [f64; 5],
}

/// A spring with a damper beside it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(in super::super) struct Spring {
    /// Stiffness \[N/m or N m/rad\].
    pub(in super::super) stiffness: f64,
    /// Damping \[N s/m or N m s/rad\].
    pub(in super::super) damping: f64,
    /// The position of rest \[m or rad\].
    pub(in super::super) reference: f64,
}

impl AxisControl {
    /// Makes one that lets its axis move freely.
    pub(in super::super) fn new(
        coordinate: Coordinate,
        place: (ImpulseJointHandle, usize),
    ) -> Self {
        Self {
            coordinate,
            place,
            limits: None,
            stop: None,
            spring: None,
            friction: 0.0,
            speed: None,
            impulses: [0.0; 5],
        }
    }

    /// Tells whether nothing acts.
    pub(in super::super) fn is_idle(&self) -> bool {
        self.limits.is_none()
            && self.spring.is_none()
            && self.speed.is_none()
            && self.friction == 0.0
    }

    /// Measures the axis, and returns what acts along it, but for its terms.
    pub(super) fn ask(&mut self, bodies: &RigidBodySet) -> dynamics::Axis {
        self.coordinate.measure(bodies);
        let [lower, upper] = self.limits.unwrap_or([f64::NEG_INFINITY, f64::INFINITY]);
        dynamics::Axis {
            bounds: dynamics::AxisBounds {
                lower,
                upper,
                speed: self.speed.unwrap_or(f64::INFINITY),
            },
            stop: self.stop.map(Spring::of_axis),
            spring: self.spring.map(Spring::of_axis).unwrap_or_default(),
            friction: self.friction,
            impulses: self.impulses,
            ..dynamics::Axis::new(Vec::new(), self.coordinate.position)
        }
    }

    /// Takes over what acted in a step.
    pub(super) fn answer(&mut self, axis: &dynamics::Axis) {
        self.impulses = axis.impulses;
    }

    /// Returns what it remembers from step to step.
    pub(super) fn memory(&self) -> ControlState {
        ControlState {
            position: self.coordinate.position,
            impulses: self.impulses,
        }
    }

    /// Goes on from what a control like it remembered; `None` when that holds what is no number.
    pub(super) fn recall(&mut self, memory: &ControlState) -> Option<()> {
        self.coordinate.position = memory.position;
        self.impulses = memory.impulses;
        let numbers = memory.impulses.iter().chain([&memory.position]);
        numbers
            .into_iter()
            .all(|number| number.is_finite())
            .then_some(())
    }
}

impl Spring {
    fn of_axis(self) -> dynamics::AxisSpring {
        dynamics::AxisSpring {
            stiffness: self.stiffness,
            damping: self.damping,
            reference: self.reference,
        }
    }
}
