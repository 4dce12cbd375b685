//! The cells that this process hosts: does what a step says to them and answers with their states.
//!
//! A step is checked against the plan, then cells come and go, then every cell makes its own
//! changes and steps, on as many threads as there are. Nothing here depends on which thread did
//! what: answers are put together in the order of cells.

mod action_check;
mod apply_actions;
mod catching_up;
mod cell_bytes;
mod cell_work;
mod export_state;
mod exports;
mod hosted_cell;
mod link_record;
mod listeners;
pub mod progress;
mod reported_states;
mod rollback;
mod scene;
mod scene_bytes;
mod stages;
mod step_error;
mod system_set;
#[cfg(test)]
mod tests;
mod threads;
mod traced;
mod verification;
mod world_systems;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Instant;

use protocol::primary_to_secondary::{CellSnapshot, CellSource, Step, Welcome};
use protocol::secondary_to_primary::StepAck;
use protocol::{
    CellId, CellRuns, DataBatch, ModelId, PeerName, PerformerId, StateBlob, TopicMessage,
    TraceWindow,
};
use sdf::{ModelParcel, World};

pub use action_check::ActionError;
pub use catching_up::{CatchUpError, CatchUpResult};
pub use cell_bytes::RestoreCellError;
pub use export_state::KEPT_BYTES_MAX;
pub use exports::{ExportRule, ExportedStep, Moved, RobotDescription, SaidBefore, TopicUse};
pub use hosted_cell::HostedCell;
pub use rollback::SaidAhead;
pub use scene_bytes::RestoreSceneError;
pub use step_error::StepError;
pub use threads::StartThreadsError;
pub use traced::{TracedCell, TracedStep};
pub use verification::{Difference, Divergence, Field};

use cell_bytes::HostedCopy;
use cell_work::CellWork;
use exports::Exports;
use hosted_cell::CellAnswer;
use rollback::OpenWindow;
use scene::Scene;
use threads::{Threads, is_worth_sharing};
use traced::Timing;

use systems::{MakeRenderer, Outbox};

/// Time that the cells beside the longest must take together until several threads are worth it:
/// waking them and waiting for them takes 15 us \[ns\].
const THREADS_WORTH_NS: u64 = 30_000;

/// The most that the snapshots in one answer may take \[bytes\]: half of what a message may.
const SNAPSHOT_BYTES_MAX: usize = protocol::envelope::MESSAGE_BYTES_MAX / 2;

/// The cells of one process.
pub struct CellHost {
    name: PeerName,
    scene: Scene,
    threads: Threads,
    /// True if one cell had all threads in the last step.
    shares_a_cell: bool,
    cells: BTreeMap<CellId, Slot>,
    data: Option<DataBatch>,
    /// Messages of the last step that leave the run, if any do.
    exported: Option<ExportedStep>,
    /// Steps that were done ahead, with what it takes to roll them back.
    window: Option<OpenWindow>,
    /// Number of steps in a part of a window, where the clock is not what counts.
    part_steps: Option<usize>,
    /// Frames per second of simulated time in which a recording is told where links are.
    link_record_hz: Option<f64>,
    /// The iterations of which it notes where the time went.
    trace: Option<TraceWindow>,
    traced: Option<TracedStep>,
}

/// A cell with what is known of it.
struct Slot {
    cell: HostedCell,
    /// Time that its last step took.
    cost_ns: u64,
    /// A copy of it as it is, if one was made since it was last changed.
    copy: Option<Arc<HostedCopy>>,
}

impl Slot {
    /// Returns the slot of a cell that comes.
    fn new(cell: HostedCell) -> Self {
        Self {
            cell,
            // What is not known yet comes first.
            cost_ns: u64::MAX,
            copy: None,
        }
    }

    /// Returns a copy of the cell as it is.
    fn copy(&mut self) -> Arc<HostedCopy> {
        let copy = self.copy.get_or_insert_with(|| Arc::new(self.cell.copy()));
        Arc::clone(copy)
    }
}

/// Settings of a host.
#[derive(Clone, Copy, Debug)]
pub struct HostSettings {
    /// Simulated time per iteration \[ns\].
    pub step_size_ns: u64,
    /// Number of threads that step cells, 1 to [`lockstep::limits::THREADS_MAX`].
    pub threads: u32,
    /// True if every step of every cell is done twice and compared.
    pub verify: bool,
    /// The seed of random numbers.
    pub seed: u64,
    /// True if every topic is published, also those that nobody listens to.
    pub publish_all: bool,
    /// Frames per second of simulated time in which a recording is told where links are, 0 is one
    /// per iteration; `None` without such a recording.
    pub link_record_hz: Option<f64>,
    /// The iterations of which it notes where the time went, if any.
    pub trace: Option<TraceWindow>,
}

impl From<&Welcome> for HostSettings {
    fn from(welcome: &Welcome) -> Self {
        Self {
            step_size_ns: welcome.step_size_ns,
            threads: welcome.threads,
            verify: welcome.verify,
            seed: welcome.seed,
            publish_all: welcome.publish_all,
            link_record_hz: welcome.link_record_hz,
            trace: welcome.trace,
        }
    }
}

/// A cell that comes here.
struct NewCell<'a> {
    id: CellId,
    origin: Origin<'a>,
    made: Option<Result<HostedCell, StepError>>,
}

/// Source from which a cell is made.
enum Origin<'a> {
    Start,
    Empty,
    Snapshot(&'a [u8]),
}

/// Answers of the cells to a step.
struct Answers {
    /// The cells that sleep through it, ascending.
    at_rest: CellRuns,
    /// Those of the other cells, in order of their ids.
    of_others: Vec<CellAnswer>,
}

/// A cell's share of a step.
struct CellTask<'a> {
    slot: &'a mut Slot,
    work: CellWork<'a>,
    answer: Option<Result<CellAnswer, StepError>>,
    timing: Option<Timing>,
}

impl CellHost {
    /// Makes the host named `name`, without cells yet.
    ///
    /// # Errors
    /// Fails if its threads cannot be started.
    pub fn new(
        name: PeerName,
        worlds: Vec<World>,
        settings: HostSettings,
    ) -> Result<Self, StartThreadsError> {
        Ok(Self {
            name,
            scene: Scene::new(worlds, settings),
            threads: Threads::start(settings.threads)?,
            shares_a_cell: false,
            cells: BTreeMap::new(),
            data: None,
            exported: None,
            window: None,
            part_steps: None,
            link_record_hz: settings.link_record_hz,
            trace: settings.trace,
            traced: None,
        })
    }

    /// Returns how many cells the worlds have, wherever they are hosted.
    pub fn cell_count(&self) -> u32 {
        self.scene.plan.cells.len() as u32
    }

    /// Returns the cells that are here, in order of their ids.
    pub fn cells(&self) -> impl Iterator<Item = &HostedCell> {
        self.cells.values().map(|slot| &slot.cell)
    }

    /// Tells whether observers listen to a topic by its name.
    pub fn is_observed(&self, topic: &str) -> bool {
        self.scene.listeners.audience().observed.contains(topic)
    }

    /// Returns the name of a performer as reports have it.
    pub fn performer_name(&self, performer: PerformerId) -> &str {
        &self.scene.plan.performer(performer).name
    }

    /// Does one step in every cell and returns the answer to it. `snapshots` are of the cells that
    /// the step has come here from another host.
    ///
    /// # Errors
    /// Fails if the step is not valid: something that it names does not exist, or is not as it
    /// says; and if it was done twice with different results. Then the host is good for nothing but
    /// to be dropped.
    pub fn run(&mut self, step: &Step, snapshots: &[CellSnapshot]) -> Result<StepAck, StepError> {
        let begin = Instant::now();
        let is_exporting = self.scene.listeners.exports().is_some();
        let keepers = (is_exporting && may_move(step)).then(|| self.keepers());
        if step.reset {
            self.cells.clear();
            self.scene.begin_anew();
        }
        cell_work::check(step, &self.scene)?;
        let parcels = action_check::check(step, &self.scene)?;
        self.change_affinities(step, snapshots)?;
        self.prepare(step, parcels);
        let mut said = self.scene.begin_step(step);
        if step.world_publisher.as_ref() != Some(&self.name) {
            said = Outbox::default();
        }
        let Answers { at_rest, of_others } = self.run_cells(step, begin)?;
        self.scene.conclude(step);
        if self.scene.has_leaving() {
            self.change_worlds(Scene::give_back);
            for Slot { cell, .. } in self.cells.values_mut() {
                cell.physics.forget_meshes();
            }
        }
        let mut ack = StepAck {
            sequence: step.sequence,
            iteration: step.iteration,
            cells: Vec::with_capacity(of_others.len()),
            ..StepAck::default()
        };
        let cells = &self.cells;
        let changed = |answer: &CellAnswer| cells[&answer.ack.cell].cell.told.changed();
        let changed_bytes = of_others.iter().map(|one| changed(one).byte_count());
        let mut states = StateBlob::with_capacity(changed_bytes.sum());
        for answer in of_others {
            states.extend(changed(&answer));
            ack.cells.push(answer.ack);
            ack.poses.extend(answer.poses);
            ack.transfers.extend(answer.transfers);
            ack.snapshots.extend(answer.snapshot);
            ack.failures.extend(answer.failures);
            ack.looked_at_ghosts |= answer.looked_at_ghosts;
            said.messages.extend(answer.said.messages);
            said.requests.extend(answer.said.requests);
            said.exported.extend(answer.said.exported);
            said.beyond_rate.extend(answer.said.beyond_rate);
        }
        if let Some(rate_hz) = self.link_record_hz {
            let links = link_record::messages(self.cells(), &self.scene, step, rate_hz);
            said.messages.extend(links);
        }
        ack.at_rest = at_rest;
        ack.failures.sort_by_key(|failure| failure.number);
        self.export_said(&mut said, step);
        if let Some(keepers) = keepers {
            self.note_moved(&keepers);
        }
        self.tell(said, step.batch_number, &mut ack);
        leave_out_too_large(&mut ack.snapshots);
        ack.states = states;
        if let Some(traced) = &mut self.traced {
            traced.done = Instant::now();
        }
        ack.busy_ns = begin.elapsed().as_nanos() as u64;
        Ok(ack)
    }

    /// Returns what the last step has for the data socket, once.
    pub fn take_data(&mut self) -> Option<DataBatch> {
        self.data.take()
    }

    /// Has sensors draw by renderers of a maker instead of the processor's, before the first step.
    pub fn draw_by(&mut self, make_renderer: MakeRenderer) {
        self.scene.stages.draw_by(make_renderer);
    }

    /// Has topics leave the run by a rule, from the next step on.
    pub fn export(&mut self, rule: ExportRule) {
        self.scene.export(rule);
    }

    /// Returns what the last step has for others, once, in a run in which topics leave.
    pub fn take_exported(&mut self) -> Option<ExportedStep> {
        self.exported.take()
    }

    /// Returns a number that is another whenever the topics that may leave are others.
    pub fn topics_version(&self) -> u64 {
        self.scene.listeners.exports().map_or(0, Exports::version)
    }

    /// Returns the topics of all models and worlds, wherever they are, in a run in which topics
    /// leave.
    pub fn topic_uses(&self) -> Vec<TopicUse> {
        let exports = self.scene.listeners.exports();
        exports.map_or_else(Vec::new, |exports| exports.uses().collect())
    }

    /// Returns the descriptions of all robots that were read from URDF, wherever they are.
    pub fn robot_descriptions(&self) -> Vec<RobotDescription> {
        self.scene.robot_descriptions()
    }

    /// Returns where the time of the last step went, once, if it is traced.
    pub fn take_traced(&mut self) -> Option<TracedStep> {
        self.traced.take()
    }

    /// Keeps what was said on topics that leave the run.
    fn export_said(&mut self, said: &mut Outbox, step: &Step) {
        if self.scene.listeners.exports().is_none() {
            return;
        }
        let in_order = |mut messages: Vec<TopicMessage>| {
            messages.sort_by_key(|message| message.publisher);
            messages
        };
        let messages = in_order(std::mem::take(&mut said.exported));
        let beyond_rate = in_order(std::mem::take(&mut said.beyond_rate));
        self.exported = Some(ExportedStep {
            sequence: step.sequence,
            iteration: step.iteration,
            sim_time: step.sim_time,
            speaks: step.world_publisher.as_ref() == Some(&self.name),
            messages,
            beyond_rate,
            again: None,
            repeats: step.repeats,
            moved: Moved::default(),
        });
    }

    /// Returns the models here of which messages are kept for readers who come later.
    fn keepers(&self) -> BTreeSet<ModelId> {
        let cells = self.cells.values();
        cells.flat_map(|slot| slot.cell.systems.keepers()).collect()
    }

    /// Notes which models came or left in a step, of those of which such messages are kept.
    fn note_moved(&mut self, before: &BTreeSet<ModelId>) {
        let now = self.keepers();
        let Some(exported) = &mut self.exported else {
            return;
        };
        let came = now.difference(before).flat_map(|model| {
            let cells = self.cells.values();
            cells.flat_map(|slot| slot.cell.systems.kept_of(*model))
        });
        // What a model has said in this step leaves with it.
        let came = came.filter(|message| !exported.messages.contains(message));
        exported.moved = Moved {
            came: came.cloned().collect(),
            gone: before.difference(&now).copied().collect(),
        };
    }

    /// Divides what was said among the answer and the data socket, in order of publishers.
    fn tell(&mut self, mut said: Outbox, batch_number: u64, ack: &mut StepAck) {
        said.messages.sort_by_key(|message| message.publisher);
        said.requests.sort_by_key(|request| request.publisher);
        let audience = self.scene.listeners.audience();
        let heard = said.messages.iter();
        let heard = heard.filter(|message| audience.heard.contains(&message.topic));
        ack.messages = heard.cloned().collect();
        let participants = said.messages.iter();
        let participants = participants.filter(|one| audience.participants.contains(&one.topic));
        ack.for_participants = participants.cloned().collect();
        ack.requests = said.requests;
        let mut messages = said.messages;
        messages
            .retain(|message| audience.publish_all || audience.observed.contains(&message.topic));
        ack.published = messages.len() as u32;
        self.data = (!messages.is_empty()).then_some(DataBatch {
            sequence: ack.sequence,
            batch_number,
            iteration: ack.iteration,
            instead_of: None,
            messages,
        });
    }

    fn change_affinities(
        &mut self,
        step: &Step,
        snapshots: &[CellSnapshot],
    ) -> Result<(), StepError> {
        let mut coming = Vec::new();
        for change in &step.affinities {
            let id = change.cell;
            if change.secondary.as_ref() != Some(&self.name) {
                self.cells.remove(&id);
                continue;
            }
            if self.cells.contains_key(&id) {
                return Err(StepError::CellHere(id));
            }
            let snapshot = || snapshots.iter().find(|snapshot| snapshot.cell == id);
            let origin = match change.source {
                CellSource::Start => Origin::Start,
                CellSource::Empty => Origin::Empty,
                CellSource::Snapshot => {
                    Origin::Snapshot(&snapshot().ok_or(StepError::NoSnapshot(id))?.bytes)
                }
            };
            coming.push(NewCell {
                id,
                origin,
                made: None,
            });
        }
        let scene = &self.scene;
        self.threads.for_each(coming.iter_mut(), |coming| {
            coming.made = Some(coming.make(scene));
        });
        for NewCell { id, made, .. } in coming {
            let cell = made.expect("every cell that comes is made")?;
            self.cells.insert(id, Slot::new(cell));
        }
        Ok(())
    }

    /// Lets the scene take note of the actions of a step.
    fn prepare(&mut self, step: &Step, parcels: Vec<ModelParcel>) {
        if parcels.is_empty() {
            self.scene.prepare(step, parcels);
        } else {
            self.change_worlds(|scene| scene.prepare(step, parcels));
        }
    }

    /// Lets worlds change where they are, without a copy of what they hold.
    fn change_worlds(&mut self, change: impl FnOnce(&mut Scene)) {
        for slot in self.cells.values_mut() {
            slot.cell.physics.take_world();
        }
        change(&mut self.scene);
        for Slot { cell, .. } in self.cells.values_mut() {
            let world = Arc::clone(&self.scene.worlds[cell.world]);
            cell.physics.give_world(world);
        }
    }

    /// Does the step in every cell that does not sleep through it, and returns the answers.
    fn run_cells(&mut self, step: &Step, begun: Instant) -> Result<Answers, StepError> {
        let (scene, cells) = (&self.scene, &mut self.cells);
        let mut works = cell_work::divide(step, scene, |cell| cells.contains_key(&cell));
        let (mut at_rest, mut shares) = (CellRuns::default(), Vec::new());
        for (id, slot) in cells {
            let work = works.remove(id);
            if work.is_none() && slot.cell.sleeps_through(step, scene) {
                at_rest.push(*id);
            } else {
                shares.push(CellTask {
                    slot,
                    work: work.unwrap_or_default(),
                    answer: None,
                    timing: None,
                });
            }
        }
        let mut longest_first: Vec<&mut CellTask<'_>> = shares.iter_mut().collect();
        longest_first.sort_by_key(|share| Reverse(share.slot.cost_ns));
        let longest = longest_first.first().map_or(0, |share| share.slot.cost_ns);
        let others = longest_first.iter().skip(1).map(|share| share.slot.cost_ns);
        let threads = &self.threads;
        let has_others = others.fold(0, u64::saturating_add) >= THREADS_WORTH_NS;
        self.shares_a_cell =
            !has_others && is_worth_sharing(longest, self.shares_a_cell, threads.count());
        let work = |share: &mut CellTask<'_>| share.run(step, scene);
        if self.shares_a_cell {
            threads.on_pool(|| longest_first.into_iter().for_each(work));
        } else if !has_others {
            longest_first.into_iter().for_each(work);
        } else {
            self.threads.for_each(longest_first.into_iter(), work);
        }
        let is_traced = self.trace.is_some_and(|window| window.has(step.iteration));
        self.traced = is_traced.then(|| TracedStep::new(step, begun));
        let mut of_others = Vec::with_capacity(shares.len());
        for CellTask { answer, timing, .. } in shares {
            let answer = answer.expect("every cell's share of a step is done")?;
            if let (Some(traced), Some(timing)) = (&mut self.traced, timing) {
                traced.cells.push(TracedCell::new(&answer, timing));
            }
            of_others.push(answer);
        }
        Ok(Answers { at_rest, of_others })
    }
}

/// Tells whether models may come here or leave in a step.
fn may_move(step: &Step) -> bool {
    step.reset
        || !(step.affinities.is_empty()
            && step.hand_offs.is_empty()
            && step.level_changes.is_empty()
            && step.actions.is_empty())
}

/// Empties the snapshots that are too large for one answer; the primary learns that way that their
/// cells cannot move.
fn leave_out_too_large(snapshots: &mut [CellSnapshot]) {
    let mut left = SNAPSHOT_BYTES_MAX;
    for snapshot in snapshots {
        match left.checked_sub(snapshot.bytes.len()) {
            Some(rest) => left = rest,
            None => snapshot.bytes = Vec::new(),
        }
    }
}

impl NewCell<'_> {
    fn make(&self, scene: &Scene) -> Result<HostedCell, StepError> {
        let cell = self.id;
        match self.origin {
            Origin::Start => Ok(HostedCell::at_start(cell, scene)),
            Origin::Empty => Ok(HostedCell::empty(cell, scene)),
            Origin::Snapshot(bytes) => HostedCell::restore(cell, bytes, scene)
                .map_err(|source| StepError::Restore { cell, source }),
        }
    }
}

impl CellTask<'_> {
    fn run(&mut self, step: &Step, scene: &Scene) {
        let begin = Instant::now();
        self.slot.copy = None;
        let (cell, work) = (&mut self.slot.cell, &self.work);
        let is_told = !work.is_empty() || !step.actions.is_empty();
        let stands_still = !cell.advances_in(step) && !is_told;
        self.answer = Some(if scene.verify && !stands_still {
            verification::run_twice(cell, work, step, scene, |_| {})
        } else {
            cell.run(work, step, scene)
        });
        let took = begin.elapsed();
        self.slot.cost_ns = took.as_nanos() as u64;
        self.timing = (!stands_still).then(|| Timing::new(begin, took));
    }
}
