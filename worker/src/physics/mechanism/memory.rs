//! [`Memory`]: what a mechanism remembers from step to step, without the handles of its cell.
//!
//! A hand-off builds the mechanism anew from the world and lets it recall this. Everything else in
//! a mechanism follows from the world, so that bytes from elsewhere can give it no other shape.

use serde::{Deserialize, Serialize};

use super::Mechanism;
use super::actuator::{Actuator, ActuatorMemory};

/// A force and a torque \[N, N m\], world frame.
pub(super) type ForceAndTorque = [[f64; 3]; 2];

/// What a mechanism remembers from step to step.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(in super::super) struct Memory {
    /// The drives that are not idle, in the order of their numbers.
    drives: Vec<DriveMemory>,
    couplings: CouplingsMemory,
    actuators: Vec<ActuatorMemory>,
}

/// What a drive remembers.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct DriveMemory {
    pub(super) number: u32,
    /// The position of its coordinate, turns counted \[m or rad\].
    pub(super) position: f64,
    pub(super) friction: Option<ForceMemory>,
    /// That of its damper, while it has one, and whether the damper is a force.
    pub(super) damper: Option<(bool, ForceMemory)>,
}

/// What a force along an axis remembers.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ForceMemory {
    /// \[N or N m\]
    pub(super) force: f64,
    /// \[m/s or rad/s\]
    pub(super) rate: f64,
    pub(super) pushes: Vec<ForceAndTorque>,
}

/// What couplings remember.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct CouplingsMemory {
    /// The positions of all terms of all couplings.
    pub(super) positions: Vec<f64>,
    pub(super) pushes: Vec<ForceAndTorque>,
}

impl Mechanism {
    /// Returns what it remembers.
    pub(in super::super) fn memory(&self) -> Memory {
        Memory {
            drives: self.drives.iter().map(super::Drive::memory).collect(),
            couplings: self.couplings.memory(),
            actuators: self.actuators.iter().map(Actuator::memory).collect(),
        }
    }

    /// Goes on, right after it was built, from what another one like it remembered; `None` when
    /// that was not like it, or remembered what is no number.
    pub(in super::super) fn recall(&mut self, memory: &Memory) -> Option<()> {
        let mut remembered = memory.drives.iter().peekable();
        let mut drives = Vec::with_capacity(memory.drives.len());
        for mut drive in std::mem::take(&mut self.drives) {
            if let Some(memory) = remembered.next_if(|memory| memory.number == drive.number) {
                drive.recall(memory)?;
                drives.push(drive);
            }
        }
        self.drives = drives;
        self.couplings.recall(&memory.couplings)?;
        if self.actuators.len() != memory.actuators.len() {
            return None;
        }
        for (actuator, memory) in self.actuators.iter_mut().zip(&memory.actuators) {
            actuator.recall(memory)?;
        }
        remembered.next().is_none().then_some(())
    }
}

impl ForceMemory {
    /// Tells whether everything in it is a number.
    pub(super) fn is_finite(&self) -> bool {
        self.force.is_finite() && self.rate.is_finite() && are_finite(&self.pushes)
    }
}

/// Tells whether all forces and torques are numbers.
pub(super) fn are_finite(pushes: &[ForceAndTorque]) -> bool {
    let mut numbers = pushes.as_flattened().as_flattened().iter();
    numbers.all(|number| number.is_finite())
}
