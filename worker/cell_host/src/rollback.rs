//! Windows: steps that are done ahead of the one that was asked for, and rolled back when another
//! comes in their place.

use std::sync::Arc;
use std::time::{Duration, Instant};

use lockstep::{REPLAY_MAX, WINDOW_MAX};
use protocol::link_poses::POSE_BYTES;
use protocol::primary_to_secondary::Step;
use protocol::secondary_to_primary::{StepAck, StepsAhead};
use protocol::{CellId, DataBatch, Sequence};

use super::cell_bytes::HostedCopy;
use super::hosted_cell::HostedCell;
use super::{CellHost, ExportedStep, Slot, StepError};

/// About how many bytes the answers to steps that are done ahead may hold.
const BYTES_MAX: usize = 1 << 20;
/// Size of a cell in an answer besides its states \[bytes\].
const CELL_BYTES: usize = 64;

/// Messages of steps that are done ahead, in their order.
#[derive(Debug, Default)]
pub struct SaidAhead {
    /// Messages for observers.
    pub data: Vec<DataBatch>,
    /// Messages that leave the run.
    pub exported: Vec<ExportedStep>,
}

/// Number of parts after which another rollback point is kept, where the clock of this machine is
/// not what counts.
const PARTS_BETWEEN: usize = 2;

/// Steps that are done ahead of one, and the host as it was after some of them.
pub(super) struct OpenWindow {
    /// The step, with its window.
    step: Step,
    /// Number of steps of the window that are done, and the time that they took.
    done: u32,
    worked: Duration,
    /// In the order of their steps; the first is of the step itself.
    points: Vec<RollbackPoint>,
}

/// A host as it was after a step that quiet ones followed.
struct RollbackPoint {
    /// Number of steps of the window that were done, and the time that they had taken.
    done: u32,
    worked: Duration,
    /// For each world, its saved systems.
    world_systems: Vec<Vec<Vec<u8>>>,
    /// The cells with what their last step took.
    cells: Vec<(CellId, Arc<HostedCopy>, u64)>,
}

impl CellHost {
    /// Has windows end by their steps alone, and parts after so many, where the clock of this
    /// machine is not what counts.
    pub fn set_part_steps(&mut self, steps: usize) {
        self.part_steps = Some(steps);
    }

    /// Does the first part of the window that a step opens which was just done. The answers go into
    /// the one to that step.
    ///
    /// # Errors
    /// Fails if a step cannot be done, as in [`CellHost::run`].
    pub fn run_ahead(
        &mut self,
        step: &Step,
        ack: &mut StepAck,
        said: &mut SaidAhead,
    ) -> Result<(), StepError> {
        self.window = None;
        if step.ahead == 0 || !is_quiet(ack) || self.looks_at_ghosts(&step.quiet_after(1)) {
            return Ok(());
        }
        let begin = Instant::now();
        self.window = Some(OpenWindow {
            step: Step {
                ahead: step.ahead,
                part: step.part,
                window_time: step.window_time,
                ..step.quiet_after(0)
            },
            done: 0,
            worked: Duration::ZERO,
            points: vec![self.keep(0, Duration::ZERO)],
        });
        ack.busy_ns += begin.elapsed().as_nanos() as u64;
        let part = self.go_on_ahead(said)?;
        ack.ahead = part.acks;
        ack.goes_on = part.goes_on;
        Ok(())
    }

    /// Does the next part of a window: steps until one has something to say that may change the
    /// next, or the next looks at ghosts, which may have moved, or the part is full. One without
    /// cells does all at once: nobody waits for it.
    ///
    /// # Errors
    /// Fails if a step cannot be done, as in [`CellHost::run`].
    ///
    /// # Panics
    /// Panics when no window is open, or all its steps are done.
    pub fn go_on_ahead(&mut self, said: &mut SaidAhead) -> Result<StepsAhead, StepError> {
        let mut window = self.window.take().expect("a window is open");
        let begin = Instant::now();
        let part_time = window.step.part.filter(|_| !self.cells.is_empty());
        let window_time = window
            .step
            .window_time
            .map_or(WINDOW_MAX, |time| time.min(WINDOW_MAX));
        let mut part = StepsAhead {
            batch_number: window.step.batch_number,
            ..StepsAhead::default()
        };
        let mut bytes = 0;
        loop {
            if self.is_point_due(&window, begin.elapsed()) {
                let worked = window.worked + begin.elapsed();
                window.points.push(self.keep(window.done, worked));
            }
            window.done += 1;
            let ack = self.run(&window.step.quiet_after(window.done), &[])?;
            said.data.extend(self.take_data());
            said.exported.extend(self.take_exported());
            bytes += bytes_of(&ack);
            let may_go_on = is_quiet(&ack) && window.done < window.step.ahead;
            part.acks.push(ack);
            let took = begin.elapsed();
            let goes_by_clock = self.part_steps.is_none() && !self.cells.is_empty();
            let is_late = goes_by_clock && window.worked + took > window_time;
            let next = || window.step.quiet_after(window.done + 1);
            if !may_go_on || is_late || self.looks_at_ghosts(&next()) {
                break;
            }
            let is_full = self.part_steps.map_or_else(
                || part_time.is_some_and(|time| took > time),
                |steps| part.acks.len() >= steps,
            );
            if part_time.is_some() && (is_full || bytes > BYTES_MAX) {
                part.goes_on = true;
                break;
            }
        }
        window.worked += begin.elapsed();
        self.window = Some(window);
        Ok(part)
    }

    /// Tells whether a rollback point is to be kept before the next step of a window, of whose part
    /// the steps so far took this time: replaying those since the last point would take long.
    fn is_point_due(&self, window: &OpenWindow, took: Duration) -> bool {
        let last = window.points.last();
        last.is_some_and(|last| match self.part_steps {
            Some(steps) => (window.done - last.done) as usize >= PARTS_BETWEEN * steps,
            None => window.worked + took >= last.worked + REPLAY_MAX,
        })
    }

    /// Returns the number of rollback points of the window.
    #[cfg(test)]
    pub(super) fn point_count(&self) -> usize {
        let window = self.window.as_ref();
        window.map_or(0, |window| window.points.len())
    }

    /// Tells whether anything here is likely to look at ghosts in a step.
    fn looks_at_ghosts(&self, step: &Step) -> bool {
        let mut cells = self.cells.values();
        cells.any(|slot| slot.cell.looks_at_ghosts(step, &self.scene))
    }

    /// Rolls back what was done ahead of a step.
    ///
    /// # Errors
    /// Fails if no step was done ahead of that one, or what was kept cannot be restored.
    pub fn go_back(&mut self, to: Sequence) -> Result<(), StepError> {
        let window = self.window.take().filter(|one| one.step.sequence <= to);
        let window = window.ok_or(StepError::NothingKept(to))?;
        let holds = (to.0 - window.step.sequence.0) as u32;
        let last = window.points.into_iter().rfind(|one| one.done <= holds);
        let point = last.ok_or(StepError::NothingKept(to))?;
        for (systems, saved) in self
            .scene
            .world_systems
            .iter_mut()
            .zip(&point.world_systems)
        {
            systems.restore(saved).ok_or(StepError::NothingKept(to))?;
        }
        self.restore_all(point.cells)?;
        for count in point.done + 1..=holds {
            self.run(&window.step.quiet_after(count), &[])?;
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

    /// Returns all that is needed to go back to the step that was just done, the last of so many in
    /// a window, which took this time.
    fn keep(&mut self, done: u32, worked: Duration) -> RollbackPoint {
        let slots = self.cells.iter_mut();
        let mut cells: Vec<_> = slots.map(|(id, slot)| (*id, slot, None)).collect();
        self.threads.for_each(cells.iter_mut(), |(_, slot, copy)| {
            *copy = Some(slot.copy());
        });
        let cells = cells.into_iter().map(|(id, slot, copy)| {
            let copy = copy.expect("every cell is copied");
            (id, copy, slot.cost_ns)
        });
        RollbackPoint {
            done,
            worked,
            world_systems: self.scene.save_systems(),
            cells: cells.collect(),
        }
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
