//! [`Memory`]: what a mechanism remembers from step to step, without the handles of its cell.
//!
//! A hand-off builds the mechanism anew from the world and lets it recall this. Everything else in
//! a mechanism follows from the world, so that bytes from elsewhere can give it no other shape.

use serde::{Deserialize, Serialize};

use super::Mechanism;
use super::actuator::{Actuator, Done};
use super::control::AxisControl;
use super::coupling::Coupling;

/// What a mechanism remembers from step to step.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(in super::super) struct Memory {
    controls: Vec<ControlState>,
    couplings: Vec<CouplingState>,
    actuators: Vec<ActuatorState>,
}

/// The saved state of a control.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ControlState {
    /// The position of its coordinate, turns counted \[m or rad\].
    pub(super) position: f64,
    /// \[N s or N m s\]
    pub(super) impulses: [f64; 5],
}

/// The saved state of a coupling.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct CouplingState {
    /// The positions of all terms.
    pub(super) positions: Vec<f64>,
    /// \[N s or N m s\]
    pub(super) impulses: [f64; 5],
}

/// The saved state of an actuator.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ActuatorState {
    pub(super) position: f64,
    pub(super) done: Done,
    /// \[N s or N m s\]
    pub(super) impulses: [f64; 5],
}

impl Mechanism {
    /// Returns what it remembers.
    pub(in super::super) fn memory(&self) -> Memory {
        Memory {
            controls: self.controls.iter().map(AxisControl::memory).collect(),
            couplings: self.couplings.iter().map(Coupling::memory).collect(),
            actuators: self.actuators.iter().map(Actuator::memory).collect(),
        }
    }

    /// Goes on, right after it was built, from what another one like it remembered; `None` when
    /// that was not like it, or remembered what is no number.
    pub(in super::super) fn recall(&mut self, memory: &Memory) -> Option<()> {
        let lengths = [
            (self.controls.len(), memory.controls.len()),
            (self.couplings.len(), memory.couplings.len()),
            (self.actuators.len(), memory.actuators.len()),
        ];
        if lengths.iter().any(|(own, remembered)| own != remembered) {
            return None;
        }
        for (control, memory) in self.controls.iter_mut().zip(&memory.controls) {
            control.recall(memory)?;
        }
        for (coupling, memory) in self.couplings.iter_mut().zip(&memory.couplings) {
            coupling.recall(memory)?;
        }
        for (actuator, memory) in self.actuators.iter_mut().zip(&memory.actuators) {
            actuator.recall(memory)?;
        }
        Some(())
    }
}
