//! [`StateReader`]: reads the states in acks, and checks them against digests.

use protocol::secondary_to_primary::StepAck;
use protocol::{CellId, DigestBuilder, Iteration, PerformerState};

use crate::primary::placement::host_map::HostMap;
use crate::primary::world::WorldState;

/// Buffers for the states of an answer, whose memory is used again.
#[derive(Debug, Default)]
pub(super) struct StateReader {
    pub(super) states: Vec<PerformerState>,
    digest: DigestBuilder,
}

/// An ack that breaks the protocol.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AckError {
    #[error("it acknowledged iteration {0} that nobody asked for")]
    Iteration(Iteration),
    #[error(transparent)]
    States(#[from] protocol::state::StateBlobError),
    #[error("its ack is not about the cells that it hosts")]
    Cells,
    #[error("cell {0} cannot be at rest before its first answer")]
    AtRest(CellId),
    #[error("its ack holds fewer states than it says")]
    TooFewStates,
    #[error("its ack holds too many states")]
    TooManyStates,
    #[error("the digest of cell {0} does not fit its states")]
    Digest(CellId),
    #[error("cell {0} holds other performers than it owns")]
    Performers(CellId),
    #[error("its ack does not hold the poses that were asked for")]
    Poses,
    #[error("its ack does not hold the whole states that were asked for")]
    WholeStates,
    #[error("its ack does not hold the snapshots that were asked for")]
    Snapshots,
    #[error("it did more steps than it was granted")]
    TooManySteps,
    #[error("what it did ahead does not follow the step")]
    StepsAhead,
    #[error("no step waits for its answer")]
    NotAsked,
    #[error("its answer is about another step")]
    OtherStep,
    #[error("its job is about other cells")]
    OtherCells,
}

impl StateReader {
    /// Reads the states in an ack, once they are of the cells that it must be about, and give the
    /// digests of those with the states that are known.
    pub(super) fn read(
        &mut self,
        cells: &[CellId],
        ack: &StepAck,
        world: &WorldState,
        host_map: &HostMap,
    ) -> Result<(), AckError> {
        let Self { states, digest } = self;
        states.clear();
        states.extend(ack.states.states()?);
        if !cells.iter().copied().eq(ack.hosted()) {
            return Err(AckError::Cells);
        }
        let is_unknown = |cell: &CellId| world.cell_digest(*cell).is_none();
        if let Some(cell) = ack.at_rest.iter().find(is_unknown) {
            return Err(AckError::AtRest(cell));
        }
        let mut rest = states.as_slice();
        for cell in &ack.cells {
            let Some((own, others)) = rest.split_at_checked(cell.state_count as usize) else {
                return Err(AckError::TooFewStates);
            };
            rest = others;
            digest.clear();
            let mut changed = own.iter().peekable();
            for performer in host_map.owned(cell.cell) {
                let new = changed.next_if(|state| state.performer == *performer);
                digest.digest(new.map_or_else(|| world.state_digest(*performer), |new| new.digest));
            }
            if changed.next().is_some() {
                return Err(AckError::Performers(cell.cell));
            }
            if digest.finish() != cell.digest {
                return Err(AckError::Digest(cell.cell));
            }
        }
        if rest.is_empty() {
            Ok(())
        } else {
            Err(AckError::TooManyStates)
        }
    }
}

/// Returns the states of all performers of a cell: those that an ack holds, and the last known of
/// those that it leaves out since they did not change.
pub(super) fn with_known<'a>(
    cell: CellId,
    changed: &'a [PerformerState],
    world: &'a WorldState,
    host_map: &'a HostMap,
) -> Result<impl Iterator<Item = &'a PerformerState>, AckError> {
    let owned = host_map.owned(cell);
    let mut left = changed.iter().peekable();
    for performer in owned {
        left.next_if(|state| state.performer == *performer);
    }
    if left.next().is_some() {
        return Err(AckError::Performers(cell));
    }
    let mut left = changed.iter().peekable();
    Ok(owned.iter().map(move |performer| {
        let new = left.next_if(|state| state.performer == *performer);
        new.unwrap_or_else(|| world.state(*performer))
    }))
}
