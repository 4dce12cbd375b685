//! Steps that are done ahead of the one that was asked for, and taken back when another comes in
//! their place.

use std::sync::Arc;
use std::time::{Duration, Instant};

use protocol::link_poses::POSE_BYTES;
use protocol::primary_to_secondary::Step;
use protocol::secondary_to_primary::StepAck;
use protocol::{CellId, DataBatch, Sequence};

use super::cell_bytes::HostedCopy;
use super::hosted_cell::HostedCell;
use super::{CellHost, ExportedStep, Slot, StepError};

/// About how many bytes the answers to steps that are done ahead may hold.
const BYTES_MAX: usize = 1 << 20;
/// Size of a cell in an answer besides its states \[bytes\].
const CELL_BYTES: usize = 64;

/// A host as it was after a step that quiet ones followed.
pub(super) struct RollbackPoint {
    step: Step,
    /// For each world, its saved systems.
    world_systems: Vec<Vec<Vec<u8>>>,
    /// The cells with what their last step took.
    cells: Vec<(CellId, Arc<HostedCopy>, u64)>,
}

impl CellHost {
    /// Sets how long steps may be done ahead with one message, where the clock of this machine is
    /// not what counts.
    pub fn set_ahead_limit(&mut self, limit: Duration) {
        self.ahead_limit = limit;
    }

    /// Does the quiet steps that are granted after one that was just done, until something may
    /// change or it takes too long. Their answers go into the one to that step.
    ///
    /// # Errors
    /// Fails if a step cannot be done, as in [`CellHost::run`].
    pub fn run_ahead(
        &mut self,
        step: &Step,
        ack: &mut StepAck,
        data: &mut Vec<DataBatch>,
        exported: &mut Vec<ExportedStep>,
    ) -> Result<(), StepError> {
        self.kept = None;
        if step.ahead == 0 || !is_quiet(ack) {
            return Ok(());
        }
        let begin = Instant::now();
        self.keep(step);
        ack.busy_ns += begin.elapsed().as_nanos() as u64;
        let mut bytes = 0;
        for count in 1..=step.ahead {
            let next = self.run(&step.quiet_after(count), &[])?;
            data.extend(self.take_data());
            exported.extend(self.take_exported());
            bytes += bytes_of(&next);
            let may_go_on = is_quiet(&next);
            ack.ahead.push(next);
            if !may_go_on || bytes > BYTES_MAX || begin.elapsed() > self.ahead_limit {
                break;
            }
        }
        Ok(())
    }

    /// Takes back what was done ahead of a step.
    ///
    /// # Errors
    /// Fails if no step was done ahead of that one, or what was kept cannot be restored.
    pub fn go_back(&mut self, to: Sequence) -> Result<(), StepError> {
        let kept = self.kept.take().filter(|kept| kept.step.sequence <= to);
        let kept = kept.ok_or(StepError::NothingKept(to))?;
        for (systems, saved) in self.scene.world_systems.iter_mut().zip(&kept.world_systems) {
            systems.restore(saved).ok_or(StepError::NothingKept(to))?;
        }
        self.restore_all(kept.cells)?;
        for count in 1..=to.0 - kept.step.sequence.0 {
            self.run(&kept.step.quiet_after(count as u32), &[])?;
        }
        self.take_data();
        self.take_exported();
        Ok(())
    }

    /// Has exactly these cells here, as they were kept.
    fn restore_all(&mut self, kept: Vec<(CellId, Arc<HostedCopy>, u64)>) -> Result<(), StepError> {
        self.cells.clear();
        for (id, copy, cost_ns) in kept {
            let cell = HostedCell::from_copy(id, &copy, &self.scene);
            let cell = cell.map_err(|source| StepError::Restore { cell: id, source })?;
            let copy = Some(copy);
            let slot = Slot {
                cell,
                cost_ns,
                copy,
            };
            self.cells.insert(id, slot);
        }
        Ok(())
    }

    /// Keeps all that is needed to go back to a step that was just done.
    fn keep(&mut self, step: &Step) {
        let slots = self.cells.iter_mut();
        let mut cells: Vec<_> = slots.map(|(id, slot)| (*id, slot, None)).collect();
        self.threads.for_each(cells.iter_mut(), |(_, slot, copy)| {
            *copy = Some(slot.copy());
        });
        let cells = cells.into_iter().map(|(id, slot, copy)| {
            let copy = copy.expect("every cell is copied");
            (id, copy, slot.cost_ns)
        });
        self.kept = Some(RollbackPoint {
            step: step.quiet_after(0),
            world_systems: self.scene.save_systems(),
            cells: cells.collect(),
        });
    }
}

/// Returns about how many bytes an answer takes.
fn bytes_of(ack: &StepAck) -> usize {
    let transfers = ack.transfers.iter().map(|one| one.state.len());
    let poses = ack.poses.iter().map(|one| one.poses().len() * POSE_BYTES);
    ack.states.byte_count() + ack.cells.len() * CELL_BYTES + transfers.chain(poses).sum::<usize>()
}

/// Tells whether nothing in an answer makes the next step another than the quiet one.
fn is_quiet(ack: &StepAck) -> bool {
    ack.messages.is_empty() && ack.requests.is_empty() && ack.failures.is_empty()
}
