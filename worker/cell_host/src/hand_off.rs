//! The whole state of a performer as a hand-off carries it: its physics, and what its systems
//! remember.
//!
//! Layout: postcard of both. It comes from the wire, so that nothing in it is believed.

use physics::{Arrival, ModelRef};
use protocol::PerformerId;
use serde::{Deserialize, Serialize};

use super::cell_work::CellWork;
use super::hosted_cell::HostedCell;
use super::scene::Scene;
use super::step_error::StepError;

/// Everything of a performer that changes from step to step.
#[derive(Serialize, Deserialize)]
struct WholeState<'a> {
    /// As [`physics::Cell::transfer`] gives it.
    #[serde(with = "serde_bytes")]
    physics: &'a [u8],
    /// Saved state of each of its systems.
    systems: Vec<Vec<u8>>,
}

impl HostedCell {
    /// Returns everything that a hand-off of a performer carries.
    pub(super) fn hand_off_state(&self, performer: PerformerId) -> Vec<u8> {
        let physics = self.physics.transfer(performer);
        let model = self.physics.model_of(performer);
        let state = WholeState {
            physics: &physics,
            systems: self.crew.memories(model),
        };
        postcard::to_stdvec(&state).expect("bytes and lists are what postcard can express")
    }

    /// Lets performers enter with their systems.
    pub(super) fn adopt(&mut self, work: &CellWork<'_>, scene: &Scene) -> Result<(), StepError> {
        if work.arrivals.is_empty() {
            return Ok(());
        }
        let cell = self.id;
        let mut arrivals = Vec::with_capacity(work.arrivals.len());
        let mut memories = Vec::with_capacity(work.arrivals.len());
        for arrival in &work.arrivals {
            let performer = arrival.performer;
            if !self.performers.insert(performer) {
                return Err(StepError::InCell { performer, cell });
            }
            let state: WholeState<'_> = postcard::from_bytes(arrival.state)
                .map_err(|_| StepError::HandOff { performer, cell })?;
            arrivals.push(Arrival {
                state: state.physics,
                ..*arrival
            });
            memories.push((performer, arrival.model, state.systems));
        }
        let adopted = self.physics.adopt(&arrivals);
        adopted.map_err(|source| StepError::Adopt { cell, source })?;
        for (performer, model, memories) in memories {
            let joins = ModelRef::moving(performer, model);
            self.crew.join(scene, self.world, joins);
            let recalled = self.crew.recall(model, &memories);
            recalled.ok_or(StepError::HandOff { performer, cell })?;
        }
        Ok(())
    }
}
