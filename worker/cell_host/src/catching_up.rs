//! Doing again what was done to cells elsewhere, from their snapshots and the steps since.
//!
//! It is done on a host of its own: a scene as it was then, and no other cells. What other hosts'
//! cells did is in the steps.

use lockstep::CatchUpWork;
use protocol::primary_to_secondary::{AffinityChange, CellSnapshot, CellSource, Step, Wanted};
use protocol::secondary_to_primary::{CellDigests, StepAck};
use protocol::{CellId, DataBatch, Digest, PeerName, TopicMessage};

use super::hosted_cell::HostedCell;
use super::{CellHost, ExportedStep, RestoreCellError, RestoreSceneError, Slot, StepError};
use crate::exports::SaidBefore;
use crate::progress::SharedProgress;
use crate::world_systems::WorldSystems;

/// Reason why steps could not be replayed.
#[derive(Debug, thiserror::Error)]
pub enum CatchUpError {
    /// The scene is no snapshot of one.
    #[error("the scene cannot be restored")]
    Scene(#[source] RestoreSceneError),
    /// The plan has no such cell.
    #[error("there is no cell {0}")]
    NoCell(CellId),
    /// A cell is no snapshot of one.
    #[error("cell {cell} cannot be restored")]
    Cell {
        /// The cell.
        cell: CellId,
        /// Fault of the snapshot.
        #[source]
        source: RestoreCellError,
    },
    /// A step does not fit what came before it.
    #[error("a step cannot be done again")]
    Step(#[source] StepError),
    /// The steps left a cell out, or closed it.
    #[error("cell {0} is not there at the end")]
    Missing(CellId),
}

/// Result of replaying steps.
#[derive(Debug)]
pub struct CatchUpResult {
    /// The digests of the cells after each step.
    pub digests: Vec<CellDigests>,
    /// The answer to the last step.
    pub ack: StepAck,
    /// The cells as they are at the end, for the step that follows.
    pub snapshots: Vec<CellSnapshot>,
    /// Topic data that is published again for observers, in order of steps.
    pub data: Vec<DataBatch>,
    /// Messages that leave the run and that a lost secondary has not published, in order of steps.
    pub exported: Vec<ExportedStep>,
    /// Messages that left the run and are kept of the models of the cells for readers who come
    /// later: before the steps if what was said in these is exported, else after them.
    pub kept: Vec<TopicMessage>,
}

impl CellHost {
    /// Does again what a job says, on a host without cells whose scene is as at the start of the
    /// job or, if the job brings one, as at the start of the run. No cell stays here. Each step
    /// that is replayed is noted in `progress`.
    ///
    /// # Errors
    /// Fails if scene, cells and steps do not fit each other. Then the host is good for nothing but
    /// to be dropped.
    pub fn catch_up(
        &mut self,
        work: CatchUpWork,
        progress: &SharedProgress,
    ) -> Result<CatchUpResult, CatchUpError> {
        if let Some(scene) = &work.scene {
            self.scene
                .restore(&scene.bytes)
                .map_err(CatchUpError::Scene)?;
        }
        for snapshot in &work.snapshots {
            let id = snapshot.cell;
            if id.0 >= self.cell_count() {
                return Err(CatchUpError::NoCell(id));
            }
            let cell = HostedCell::restore(id, &snapshot.bytes, &self.scene)
                .map_err(|source| CatchUpError::Cell { cell: id, source })?;
            self.cells.insert(id, Slot::new(cell));
        }
        let mut kept = self.kept_of_models();
        let mut digests = Vec::with_capacity(work.steps.len());
        let mut ack = StepAck::default();
        let (mut data, mut exported) = (Vec::new(), Vec::new());
        for step in &work.steps {
            let step = own_part(step.clone(), &work, &self.name);
            if step.sequence == work.until {
                // What was done again is to be seen by itself.
                self.cells
                    .values_mut()
                    .for_each(|slot| slot.cell.tell_all());
            }
            ack = self.run(&step, &[]).map_err(CatchUpError::Step)?;
            progress.replay(step.sequence);
            if let (Some(mut batch), Some(again)) = (self.take_data(), &work.again)
                && batch.sequence > again.after
            {
                batch.instead_of = Some(again.of.clone());
                data.push(batch);
            }
            if let (Some(mut step), Some(again)) = (self.take_exported(), &work.again) {
                step.again = Some(SaidBefore {
                    by: again.of.clone(),
                    answered: again.published,
                    hosted_after: again.hosted_after,
                });
                exported.push(step);
            }
            digests.push(CellDigests {
                sequence: ack.sequence,
                cells: self.digests().collect(),
            });
        }
        if work.again.is_none() {
            kept = self.kept_of_models();
        }
        let mut snapshots = Vec::with_capacity(work.cells.len());
        for cell in work.cells {
            let slot = self.cells.get_mut(&cell);
            let slot = slot.ok_or(CatchUpError::Missing(cell))?;
            snapshots.push(CellSnapshot {
                sequence: work.until.next(),
                cell,
                bytes: slot.cell.snapshot(),
            });
        }
        self.cells.clear();
        Ok(CatchUpResult {
            digests,
            ack,
            snapshots,
            data,
            exported,
            kept,
        })
    }

    /// Returns the messages of the models here that readers who come later are to get.
    fn kept_of_models(&self) -> Vec<TopicMessage> {
        let cells = self.cells.values();
        let kept = cells.flat_map(|slot| slot.cell.systems.kept());
        kept.cloned().collect()
    }

    /// Returns the messages of systems of worlds that readers who come later are to get: every host
    /// has them.
    pub fn kept_of_worlds(&self) -> impl Iterator<Item = &TopicMessage> {
        self.scene.world_systems.iter().flat_map(WorldSystems::kept)
    }

    /// Returns the digest of every cell, as it is after the last step.
    pub(super) fn digests(&self) -> impl Iterator<Item = (CellId, Digest)> {
        let cells = self.cells.iter();
        cells.map(|(id, slot)| (*id, slot.cell.told.digest()))
    }

    /// Returns a snapshot of every cell, as it is after the last step.
    pub fn checkpoint(&mut self) -> impl Iterator<Item = (CellId, Vec<u8>)> {
        let cells = self.cells.iter_mut();
        cells.map(|(id, slot)| (*id, slot.cell.snapshot()))
    }

    /// Returns what all hosts have in common, as it is after the last step.
    pub fn scene_checkpoint(&self) -> Vec<u8> {
        self.scene.snapshot()
    }
}

/// Returns what of a step concerns some cells: they stay here, wherever they were hosted.
fn own_part(mut step: Step, work: &CatchUpWork, own_name: &PeerName) -> Step {
    let cells = &work.cells;
    let is_last = step.sequence == work.until;
    step.affinities
        .retain(|change| cells.binary_search(&change.cell).is_ok() && !is_move(change));
    for change in &mut step.affinities {
        if let Some(host) = &mut change.secondary {
            host.clone_from(own_name);
        }
    }
    step.checkpoint = false;
    let again = work.again.as_ref().filter(|again| again.of_worlds);
    let speaks = is_last && work.speaks
        || again.is_some_and(|again| step.world_publisher.as_ref() == Some(&again.of));
    step.world_publisher = speaks.then(|| own_name.clone());
    if !is_last {
        step.wanted = Wanted::default();
    }
    step
}

fn is_move(change: &AffinityChange) -> bool {
    change.secondary.is_some() && change.source == CellSource::Snapshot
}
