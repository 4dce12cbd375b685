//! [`HostedCell`]: a cell with what its host knows of it.
//!
//! **Invariant:** changes are made in one order (releases, adoptions, levels, ghosts, step), the
//! same whether what leaves and what enters share a process or not.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use physics::{Cell, ModelRef, PerformerStates};
use protocol::action::ActionFailure;
use protocol::primary_to_secondary::{CellSnapshot, GhostChange, LevelChange, Step, Wanted};
use protocol::secondary_to_primary::{CellAck, Transfer};
use protocol::trace::CELL_PARTS;
use protocol::{CellId, LevelId, LinkPoses, PerformerId, SimTime};
use systems::Outbox;

use super::cell_work::CellWork;
use super::reported_states::ReportedStates;
use super::scene::Scene;
use super::step_error::StepError;
use super::system_set::{Part, StepContext, SystemSet};

/// The number of steps in which nothing happens to a cell and all in it sleeps until it is at rest:
/// in the first, rapier takes note of who fell asleep in the one before.
const IDLE_STEPS: u8 = 2;

/// A cell with what its host knows of it.
pub struct HostedCell {
    pub(super) id: CellId,
    /// Index of its world.
    pub(super) world: usize,
    pub(super) physics: Cell,
    pub(super) levels: BTreeSet<LevelId>,
    /// Number of levels that keep each static model in the cell.
    pub(super) references: BTreeMap<usize, u32>,
    pub(super) performers: BTreeSet<PerformerId>,
    pub(super) ghosts: BTreeSet<PerformerId>,
    pub(super) is_suspended: bool,
    pub(super) systems: SystemSet,
    /// The states of its performers after its last step.
    pub(super) performer_states: PerformerStates,
    pub(super) told: ReportedStates,
    pub(super) rest: Rest,
}

/// Knowledge of whether a cell rests, and whether it was read since it did not.
pub(super) struct Rest {
    /// True if states and digest are those of what it holds.
    is_read: bool,
    /// True if the cell was changed since time last did no more than advance: rapier may notice
    /// changes of bodies only in the next step.
    was_told: bool,
    /// Steps in a row in which nothing happened to it and all in it slept, up to [`IDLE_STEPS`];
    /// part of its snapshots, as rapier does not count the steps that are not done.
    pub(super) idle_steps: u8,
}

/// Answer of a cell to a step, besides the states.
pub(super) struct CellAnswer {
    pub(super) ack: CellAck,
    pub(super) poses: Vec<LinkPoses>,
    pub(super) transfers: Vec<Transfer>,
    pub(super) snapshot: Option<CellSnapshot>,
    pub(super) failures: Vec<ActionFailure>,
    pub(super) said: Outbox,
    pub(super) looked_at_ghosts: bool,
    /// Time that each of [`CELL_PARTS`] took.
    pub(super) parts: [Duration; CELL_PARTS.len()],
}

impl HostedCell {
    /// Returns its number.
    pub fn id(&self) -> CellId {
        self.id
    }

    /// Returns the performers that it owns, ascending.
    pub fn performers(&self) -> impl Iterator<Item = PerformerId> {
        self.performers.iter().copied()
    }

    /// Returns the performers of which it has a ghost, ascending.
    pub fn ghosts(&self) -> impl Iterator<Item = PerformerId> {
        self.ghosts.iter().copied()
    }

    /// Returns the levels that are loaded in it, ascending.
    pub fn levels(&self) -> impl Iterator<Item = LevelId> {
        self.levels.iter().copied()
    }

    /// Tells whether it stands still for now.
    pub fn is_suspended(&self) -> bool {
        self.is_suspended
    }

    /// Returns its physics.
    pub fn physics(&self) -> &Cell {
        &self.physics
    }

    /// Makes a cell of the models that are in all cells of its world.
    pub(super) fn empty(id: CellId, scene: &Scene) -> Self {
        let world = scene.plan.cell(id).world;
        let mut physics = Cell::new(Arc::clone(&scene.worlds[world]));
        for model in &scene.plan.global_models[world] {
            insert_static(&mut physics, scene, world, *model);
        }
        let mut cell = Self::around(id, world, physics);
        if scene.plan.cell(id).is_default() {
            for model in &scene.plan.global_models[world] {
                cell.systems.join(scene, world, ModelRef::fixed(*model));
            }
        }
        cell
    }

    /// Makes a cell as it is at the start.
    pub(super) fn at_start(id: CellId, scene: &Scene) -> Self {
        let mut cell = Self::empty(id, scene);
        for performer in scene.residents(id) {
            let model = scene.plan.performer(*performer).model;
            cell.physics.insert_performer(*performer, model);
            cell.performers.insert(*performer);
            let model = ModelRef::moving(*performer, model);
            cell.systems.join(scene, cell.world, model);
        }
        cell
    }

    /// Makes a cell without levels around physics.
    pub(super) fn around(id: CellId, world: usize, physics: Cell) -> Self {
        Self {
            id,
            world,
            levels: BTreeSet::new(),
            references: BTreeMap::new(),
            performers: physics.performers().collect(),
            ghosts: physics.ghosts().collect(),
            is_suspended: false,
            systems: SystemSet::default(),
            performer_states: PerformerStates::default(),
            told: ReportedStates::default(),
            rest: Rest {
                is_read: false,
                was_told: true,
                idle_steps: 0,
            },
            physics,
        }
    }

    /// Makes the changes of a step, does it, and answers.
    pub(super) fn run(
        &mut self,
        work: &CellWork<'_>,
        step: &Step,
        scene: &Scene,
    ) -> Result<CellAnswer, StepError> {
        let begin = Instant::now();
        self.change(work, step, scene)?;
        let is_told = !work.is_empty() || !step.actions.is_empty();
        let advances = self.advances_in(step);
        // Ghosts are no part of the physics.
        if !is_told && self.is_at_rest(advances, scene) {
            self.read(advances, is_told, scene);
            return Ok(self.answer(step));
        }
        let failures = self.act(step, scene);
        let mut said = Outbox::default();
        let changed = begin.elapsed();
        let before = self.run_systems(step, scene, advances, &mut said);
        let begin = Instant::now();
        if advances {
            let begin = SimTime(step.elapsed.0.saturating_sub(step.step_size_ns));
            self.physics.move_actors(begin, step.elapsed);
            self.physics.apply_orders();
            self.physics.step(scene.step_size_s);
            self.physics.end_orders(step.elapsed);
        }
        self.note_idle(advances, is_told);
        let stepped = begin.elapsed();
        let [after, sensors] = if advances {
            self.end_step(step, scene, &mut said)
        } else {
            [Duration::ZERO; 2]
        };
        if advances || is_told {
            self.rest.is_read = false;
        }
        self.read(advances, is_told, scene);
        let mut answer = self.answer(step);
        answer.ack.physics_ns = (changed + stepped).as_nanos() as u64;
        answer.ack.systems_ns = (before + after).as_nanos() as u64;
        answer.ack.sensors_ns = sensors.as_nanos() as u64;
        answer.failures = failures;
        answer.said = said;
        answer.parts = [changed, before, stepped, after, sensors];
        Ok(answer)
    }

    /// Tells whether it has ghosts that something in it is likely to look at in a step.
    pub(super) fn looks_at_ghosts(&self, step: &Step, scene: &Scene) -> bool {
        let audience = scene.listeners.audience();
        !self.ghosts.is_empty()
            && self.advances_in(step)
            && self.systems.look_at_others(&scene.time_of(step), audience)
    }

    /// Does a step that asks nothing of it and does nothing to it: nothing changes. Tells whether
    /// it is such a step.
    pub(super) fn sleeps_through(&mut self, step: &Step, scene: &Scene) -> bool {
        let sleeps = self.rest.is_read
            && step.actions.is_empty()
            && (self.ghosts.is_empty() || step.ghost_poses.is_empty())
            && !scene.verify
            && self.is_at_rest(self.advances_in(step), scene)
            && !self.is_wanted(&step.wanted);
        if sleeps {
            self.told.rest();
        }
        sleeps
    }

    /// Tells whether a step asks for anything that is here.
    fn is_wanted(&self, wanted: &Wanted) -> bool {
        let mut performers = self.own(&wanted.poses).chain(self.own(&wanted.states));
        performers.next().is_some() || wanted.snapshots.binary_search(&self.id).is_ok()
    }

    /// Tells whether a step that does nothing to it changes nothing in it and need not be done.
    fn is_at_rest(&self, advances: bool, scene: &Scene) -> bool {
        let systems = &scene.world_systems[self.world];
        let is_idle = || self.rest.idle_steps == IDLE_STEPS && systems.is_empty();
        self.systems.is_empty() && (!advances || is_idle())
    }

    /// Reads the states, unless they are known.
    fn read(&mut self, advances: bool, is_told: bool, scene: &Scene) {
        if self.rest.is_read {
            return self.told.rest();
        }
        let is_anew = self.rest.was_told || is_told;
        self.rest.was_told = is_told || (self.rest.was_told && !advances);
        self.physics
            .read(scene.step_size_s, is_anew, &mut self.performer_states);
        self.told.update(&self.performer_states);
        self.rest.is_read = true;
    }

    /// Counts the steps in which nothing happens.
    fn note_idle(&mut self, advances: bool, is_told: bool) {
        if is_told || (advances && !self.physics.is_idle()) {
            self.rest.idle_steps = 0;
        } else if advances {
            self.rest.idle_steps = IDLE_STEPS.min(self.rest.idle_steps + 1);
        }
    }

    /// Lets systems and sensors act after the physics of a step; returns the time they took.
    fn end_step(&mut self, step: &Step, scene: &Scene, said: &mut Outbox) -> [Duration; 2] {
        if self.systems.is_empty() {
            return [Duration::ZERO; 2];
        }
        let mut shift = StepContext {
            time: scene.time_of(step),
            cell: &mut self.physics,
            audience: scene.listeners.audience(),
            stage: scene.stages.of(self.world),
            outbox: said,
        };
        let begin = Instant::now();
        self.systems.after_step(&mut shift, Part::System);
        let after = begin.elapsed();
        if !self.systems.has_sensors() {
            return [after, Duration::ZERO];
        }
        let begin = Instant::now();
        self.systems.after_step(&mut shift, Part::Sensor);
        [after, begin.elapsed()]
    }

    /// Lets systems hear what a step says and, when time advances, act; returns the time it took.
    fn run_systems(
        &mut self,
        step: &Step,
        scene: &Scene,
        advances: bool,
        said: &mut Outbox,
    ) -> Duration {
        let begin = Instant::now();
        let time = scene.time_of(step);
        let mut shift = StepContext {
            time,
            cell: &mut self.physics,
            audience: scene.listeners.audience(),
            stage: scene.stages.of(self.world),
            outbox: said,
        };
        self.systems.deliver(&step.messages, &mut shift);
        if advances {
            scene.world_systems[self.world].act(time, shift.cell);
            self.systems.before_step(&mut shift);
        }
        begin.elapsed()
    }

    /// Tells whether time passes in it in a step.
    pub(super) fn advances_in(&self, step: &Step) -> bool {
        !step.paused
            && !self.is_suspended
            && (!self.performers.is_empty() || !self.systems.is_empty())
    }

    /// Answers to a step with what it holds, as if it had taken no time.
    fn answer(&mut self, step: &Step) -> CellAnswer {
        let ack = CellAck {
            cell: self.id,
            digest: self.told.digest(),
            physics_ns: 0,
            systems_ns: 0,
            sensors_ns: 0,
            state_count: self.told.changed_count() as u32,
        };
        let wanted = &step.wanted;
        let poses = self.own(&wanted.poses);
        let transfers = self.own(&wanted.states).map(|performer| Transfer {
            performer,
            state: self.hand_off_state(performer),
        });
        CellAnswer {
            ack,
            poses: poses
                .map(|performer| self.physics.link_poses(performer))
                .collect(),
            transfers: transfers.collect(),
            snapshot: wanted
                .snapshots
                .binary_search(&self.id)
                .is_ok()
                .then(|| CellSnapshot {
                    sequence: step.sequence,
                    cell: self.id,
                    bytes: self.snapshot(),
                }),
            failures: Vec::new(),
            said: Outbox::default(),
            looked_at_ghosts: self.physics.take_looked_at_ghosts(),
            parts: [Duration::ZERO; CELL_PARTS.len()],
        }
    }

    /// Has the next answer hold all states, also those that do not change.
    pub(super) fn tell_all(&mut self) {
        self.told.forget();
        self.rest.is_read = false;
    }

    /// Returns which of some performers in ascending order it owns, in the same order.
    fn own<'a>(&'a self, performers: &'a [PerformerId]) -> impl Iterator<Item = PerformerId> + 'a {
        let range = match (self.performers.first(), self.performers.last()) {
            (Some(first), Some(last)) => {
                let begin = performers.partition_point(|performer| performer < first);
                let end = performers.partition_point(|performer| performer <= last);
                &performers[begin..end]
            }
            _ => &[],
        };
        let owned = range.iter().copied();
        owned.filter(|performer| self.performers.contains(performer))
    }

    fn change(&mut self, work: &CellWork<'_>, step: &Step, scene: &Scene) -> Result<(), StepError> {
        let cell = self.id;
        for performer in work.releases.iter().copied() {
            if !self.performers.remove(&performer) {
                return Err(StepError::NotInCell { performer, cell });
            }
            self.physics.remove_performer(performer);
            self.systems.leave(scene.plan.performer(performer).model);
        }
        self.adopt(work, scene)?;
        for change in &work.levels {
            self.change_level(*change, scene)?;
        }
        for change in &work.ghosts {
            self.change_ghost(*change, scene)?;
        }
        let mut arrived = work.arrivals.iter().map(|arrival| arrival.performer);
        if let Some(performer) = arrived.find(|performer| self.ghosts.contains(performer)) {
            return Err(StepError::Ghost { cell, performer });
        }
        self.place_ghosts(&step.ghost_poses)?;
        if let Some(suspended) = work.suspension {
            if suspended == self.is_suspended {
                return Err(StepError::Suspension(cell));
            }
            self.is_suspended = suspended;
        }
        // Here and not in the next step: it must not matter whether a snapshot is taken in between.
        self.physics.settle();
        Ok(())
    }

    fn change_level(&mut self, change: LevelChange, scene: &Scene) -> Result<(), StepError> {
        let LevelChange {
            cell,
            level,
            loaded,
        } = change;
        let is_new = if loaded {
            self.levels.insert(level)
        } else {
            self.levels.remove(&level)
        };
        if !is_new {
            return Err(StepError::Level { cell, level });
        }
        let is_own = scene.plan.level(level).cell == cell;
        for model in &scene.plan.level(level).static_models {
            if loaded {
                self.keep(*model, scene);
                if is_own {
                    self.systems
                        .join(scene, self.world, ModelRef::fixed(*model));
                }
            } else {
                self.release(*model);
                if is_own {
                    self.systems.leave(*model);
                }
            }
        }
        Ok(())
    }

    fn keep(&mut self, model: usize, scene: &Scene) {
        let references = self.references.entry(model).or_insert(0);
        *references += 1;
        if *references == 1 {
            insert_static(&mut self.physics, scene, self.world, model);
        }
    }

    fn release(&mut self, model: usize) {
        let references = self
            .references
            .get_mut(&model)
            .expect("a level that is unloaded was loaded before");
        *references -= 1;
        if *references == 0 {
            self.references.remove(&model);
            self.physics.remove_static(model);
        }
    }

    fn change_ghost(&mut self, change: GhostChange, scene: &Scene) -> Result<(), StepError> {
        let GhostChange {
            cell,
            performer,
            present,
        } = change;
        let is_new = if present {
            !self.performers.contains(&performer) && self.ghosts.insert(performer)
        } else {
            self.ghosts.remove(&performer)
        };
        if !is_new {
            return Err(StepError::Ghost { cell, performer });
        }
        if present {
            let model = scene.plan.performer(performer).model;
            self.physics.insert_ghost(performer, model);
        } else {
            self.physics.remove_ghost(performer);
        }
        Ok(())
    }

    fn place_ghosts(&mut self, all_poses: &[LinkPoses]) -> Result<(), StepError> {
        for performer in self.ghosts.iter().copied() {
            let found = all_poses.binary_search_by_key(&performer, |poses| poses.performer);
            if let Ok(index) = found
                && !self.physics.place_ghost(&all_poses[index])
            {
                let cell = self.id;
                return Err(StepError::GhostPoses { cell, performer });
            }
        }
        Ok(())
    }
}

/// Adds a model that never moves, as commands left it.
fn insert_static(physics: &mut Cell, scene: &Scene, world: usize, model: usize) {
    physics.insert_static(model);
    for link in scene.untouchable_links(world, model) {
        physics.switch_static(model, link as usize, false);
    }
}
