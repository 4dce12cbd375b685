//! [`WorldState`]: the worlds as the primary knows them: topology, names, last states, and the
//! partition of performers into cells.

mod attachments;
mod digest_of_all;
pub(crate) mod latest;
pub(crate) mod resolve;

use std::collections::BTreeSet;
use std::sync::Arc;

use protocol::participant::ModelState;
use protocol::primary_to_observers::Severity;
use protocol::primary_to_secondary::{CellSnapshot, HandOff, LevelChange, Wanted};
use protocol::report::EventCounts;
use protocol::report::divergence::NamedState;
use protocol::secondary_to_primary::StepAck;
use protocol::{
    CellId, Digest, Iteration, LinkId, LinkPoses, ModelId, PerformerId, PerformerState, Publisher,
};
use sdf::NoFiles;

use crate::library::Library;
use crate::partition::saved::SavedPartition;
use crate::partition::{Changes, HandOffPlan, PartChange, Partition, Rules};
use crate::primary::context::Context;
use crate::primary::purpose::Purpose;
use crate::registry::{EntityRegistry, SavedRegistry};
use crate::saved_state_error::SavedStateError;
use crate::topology::Topology;
use crate::topology::saved::SavedTopology;
use latest::{LatestStates, SavedStates};

/// State of the worlds.
#[derive(Debug)]
pub(crate) struct WorldState {
    topology: Topology,
    registry: EntityRegistry,
    start: Start,
    library: Files,
    /// Links that commands hold together, parent first.
    attachments: BTreeSet<(LinkId, LinkId)>,
    /// All performers in order of their names.
    by_name: Vec<PerformerId>,
    latest: LatestStates,
    partition: Partition,
    /// True if no step has followed the one that built the cells of the start.
    is_fresh: bool,
    events: EventCounts,
}

/// The worlds as the run began with them, whatever commands have changed since.
#[derive(Debug)]
struct Start {
    topology: Topology,
    registry: EntityRegistry,
}

/// Library with the files that spawned models refer to.
struct Files(Arc<dyn Library>);

impl std::fmt::Debug for Files {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Files")
    }
}

/// Saved state of the worlds.
#[derive(Debug)]
pub(crate) struct SavedWorld {
    pub(crate) is_fresh: bool,
    pub(crate) digest: Digest,
    pub(crate) events: EventCounts,
    pub(crate) topology: SavedTopology,
    pub(crate) registry: SavedRegistry,
    pub(crate) attachments: BTreeSet<(LinkId, LinkId)>,
    pub(crate) latest: SavedStates,
    pub(crate) partition: SavedPartition,
}

impl WorldState {
    /// Makes the state of worlds that begin.
    pub(crate) fn new(topology: Topology, registry: EntityRegistry, rules: Rules) -> Self {
        let by_name = topology.performers_by_name();
        let mut latest = LatestStates::new(&topology);
        latest.set_order(&by_name);
        Self {
            library: Files(Arc::new(NoFiles)),
            attachments: BTreeSet::new(),
            by_name,
            latest,
            partition: Partition::new(&topology, rules),
            is_fresh: true,
            events: EventCounts::default(),
            start: Start {
                topology: topology.clone(),
                registry: registry.clone(),
            },
            topology,
            registry,
        }
    }

    /// Goes back to the start: spawned models are gone, removed ones are back. The states after
    /// the iteration before are kept until a step is answered.
    pub(crate) fn reset(&mut self, after: Iteration, rules: Rules) {
        self.topology.clone_from(&self.start.topology);
        self.registry.clone_from(&self.start.registry);
        self.attachments.clear();
        self.by_name = self.topology.performers_by_name();
        self.latest.begin_reset(&self.topology, after);
        self.latest.set_order(&self.by_name);
        self.partition = Partition::new(&self.topology, rules);
        self.is_fresh = true;
    }

    pub(crate) fn save(&self) -> SavedWorld {
        SavedWorld {
            is_fresh: self.is_fresh,
            digest: self.digest(),
            events: self.events,
            topology: self.topology.save(&self.start.topology),
            registry: self.registry.save(&self.start.registry),
            attachments: self.attachments.clone(),
            latest: self.latest.save(&self.topology),
            partition: self.partition.save(&self.topology),
        }
    }

    /// Goes on from saved state.
    ///
    /// # Errors
    /// Fails when it does not fit the worlds, and says why.
    pub(crate) fn restore(
        &mut self,
        saved: SavedWorld,
        rules: Rules,
    ) -> Result<(), SavedStateError> {
        self.topology.restore(saved.topology)?;
        self.registry.restore(saved.registry)?;
        self.by_name = self.topology.performers_by_name();
        self.latest = LatestStates::restore(&self.topology, saved.latest, saved.digest)?;
        self.latest.set_order(&self.by_name);
        self.partition = Partition::restore(&self.topology, rules, saved.partition)?;
        self.attachments = saved.attachments;
        self.is_fresh = saved.is_fresh;
        self.events = saved.events;
        Ok(())
    }

    /// Sets the library with the files that spawned models refer to.
    pub(crate) fn set_library(&mut self, library: Box<dyn Library>) {
        self.library = Files(library.into());
    }

    /// Returns another library with these files, for texts that are read beside the run.
    pub(crate) fn library(&self) -> Arc<dyn Library> {
        self.library.0.another()
    }

    pub(crate) fn topology(&self) -> &Topology {
        &self.topology
    }

    pub(crate) fn partition(&self) -> &Partition {
        &self.partition
    }

    /// Returns a guess of how many iterations pass until the partition changes, at most `most`.
    pub(crate) fn iterations_until_change(&self, most: u32) -> u32 {
        let states = self.latest.states();
        self.partition
            .iterations_until_change(&self.topology, states, most)
    }

    /// Returns the groups of performers as they are now.
    pub(crate) fn groups(&self) -> Vec<Vec<PerformerId>> {
        self.partition.groups(&self.topology, self.latest.states())
    }

    /// Returns all performers in order of their names.
    pub(crate) fn performers_by_name(&self) -> &[PerformerId] {
        &self.by_name
    }

    /// Tells whether no step has followed the one that built the cells of the start.
    pub(crate) fn is_fresh(&self) -> bool {
        self.is_fresh
    }

    /// Returns the digest of all performers after the last iteration.
    pub(crate) fn digest(&self) -> Digest {
        self.latest.digest()
    }

    /// Returns the digest of a cell's performers after the last step that it answered.
    pub(crate) fn cell_digest(&self, cell: CellId) -> Option<Digest> {
        self.latest.cell_digest(cell)
    }

    /// Returns the last state of a performer.
    pub(crate) fn state(&self, performer: PerformerId) -> &PerformerState {
        self.latest.state(performer)
    }

    /// Returns the states after an iteration that was just completed, by the performers' numbers.
    pub(crate) fn states_after(&self, iteration: Iteration) -> &[PerformerState] {
        self.latest.states_after(iteration)
    }

    /// Returns the digest of the last state of a performer.
    pub(crate) fn state_digest(&self, performer: PerformerId) -> Digest {
        self.latest.state_digest(performer)
    }

    /// Returns the number of changes so far.
    pub(crate) fn events(&self) -> EventCounts {
        self.events
    }

    pub(crate) fn count_migration(&mut self) {
        self.events.migrations += 1;
    }

    pub(crate) fn count_recovery(&mut self) {
        self.events.recoveries += 1;
    }

    pub(crate) fn count_levels(&mut self, changes: &[LevelChange]) {
        let loaded = changes.iter().filter(|change| change.loaded).count() as u64;
        self.events.levels_loaded += loaded;
        self.events.levels_unloaded += changes.len() as u64 - loaded;
    }

    /// Returns a cell's name, for people.
    pub(crate) fn cell_name(&self, cell: CellId) -> &str {
        &self.topology.cell(cell).name
    }

    /// Returns a performer's state with its name.
    pub(crate) fn named(&self, state: &PerformerState) -> NamedState {
        let performer = self.topology.performers.get(state.performer.0 as usize);
        let name = match performer {
            Some(performer) => performer.name.clone(),
            None => format!("performer {}", state.performer),
        };
        NamedState::new(name, state)
    }

    /// Returns the state of a performer by its name, if there is one.
    pub(crate) fn model_state(&self, name: &str) -> Option<ModelState> {
        let named = |id: &PerformerId| self.topology.performer(*id).name.as_str();
        let place = self
            .by_name
            .binary_search_by(|id| named(id).cmp(name))
            .ok()?;
        let state = self.state(self.by_name[place]);
        Some(ModelState {
            name: name.to_owned(),
            position: state.position,
            orientation_xyzw: state.orientation_xyzw,
            linear_velocity: state.linear_velocity,
            angular_velocity: state.angular_velocity,
        })
    }

    /// Returns the last states of all performers, with their names.
    pub(crate) fn named_states(&self) -> Vec<NamedState> {
        let present = self.topology.present();
        present.map(|id| self.named(self.state(id))).collect()
    }

    /// Returns the name of the model or world that a system is attached to, if there is one.
    pub(crate) fn name_of(&self, publisher: Publisher) -> Option<String> {
        match publisher {
            Publisher::Client => None,
            Publisher::World { world, .. } => self.topology.worlds.get(world as usize).cloned(),
            Publisher::Model { model, .. } => self.model_name(model),
        }
    }

    fn model_name(&self, model: ModelId) -> Option<String> {
        self.registry.find(model)
    }

    /// Lets the numbers of models that left be given again, since nothing of the steps before is
    /// under way; tells whether performers had any of them.
    pub(crate) fn give_back_numbers(&mut self) -> bool {
        self.registry.give_back();
        let has_leaving = self.topology.has_leaving();
        if has_leaving {
            self.topology.give_back();
            self.partition.give_back(&self.topology);
            self.latest.give_back(&self.topology);
        }
        has_leaving
    }

    /// Returns the number of worlds of which something sees ghosts.
    pub(crate) fn watched_worlds(&self) -> usize {
        let watched = self.topology.watched.iter();
        watched.filter(|is_watched| **is_watched).count()
    }

    /// Finds out what changes in cells after the last states; with `has_actions` commands change
    /// models in the same step.
    pub(crate) fn repartition(&mut self, after: Iteration, has_actions: bool) -> Changes {
        if has_actions {
            self.partition.disturb();
        }
        self.note_states();
        let states = self.latest.states();
        let changes = self.partition.update(&self.topology, after, states);
        if has_actions {
            // What they do must be seen before anything moves on.
            self.partition.disturb();
        }
        changes
    }

    /// Has observers told of levels that are split, and of parts that are joined.
    pub(crate) fn tell_parts(&self, parts: &[PartChange], cx: &mut Context<'_>) {
        for part in parts {
            let name = self.cell_name(part.cell);
            let text = if part.is_new {
                format!("{name} is a new part of what was crowded")
            } else {
                format!("{name} is joined to the part beside it")
            };
            cx.event(Severity::Info, "level", text);
        }
    }

    /// Takes the last states into account later, in a step that changes nothing in cells.
    pub(crate) fn note_states(&mut self) {
        self.partition.note_moved(self.latest.moved_mut());
    }

    /// Returns what must be asked for before changes can be published; with `shows_ghosts` also
    /// the poses of all ghosts that something in open cells sees.
    pub(crate) fn missing(
        &self,
        changes: &Changes,
        open: impl Iterator<Item = CellId>,
        shows_ghosts: bool,
    ) -> Option<Wanted> {
        // Where something begins to look, all ghosts that were there are seen.
        let seen = match self.partition.moved_ghosts() {
            Some(moved) => moved.to_vec(),
            None if shows_ghosts => self.seen_ghosts(open),
            None => Vec::new(),
        };
        self.latest.missing(&self.topology, changes, seen)
    }

    /// Returns the performers of which something may see a ghost, ascending.
    fn seen_ghosts(&self, open: impl Iterator<Item = CellId>) -> Vec<PerformerId> {
        let seen = open.filter(|cell| self.topology.watched[self.topology.cell(*cell).world]);
        let mut ghosts: Vec<PerformerId> =
            seen.flat_map(|cell| self.partition.ghosts(cell)).collect();
        ghosts.sort_unstable();
        ghosts.dedup();
        ghosts
    }

    /// Returns the poses of ghosts that something in open cells may see, once for each motion where
    /// cells see by range.
    pub(crate) fn take_ghost_poses(
        &mut self,
        open: impl Iterator<Item = CellId>,
    ) -> Vec<LinkPoses> {
        let seen = match self.partition.moved_ghosts() {
            Some(moved) => moved.to_vec(),
            None => self.seen_ghosts(open),
        };
        self.partition.note_ghosts_placed();
        let seen = seen.into_iter();
        seen.filter_map(|performer| self.latest.poses_of(performer).cloned())
            .collect()
    }

    /// Has the next step that is published place ghosts that this one does not.
    pub(crate) fn note_ghosts_unplaced(&mut self, ghosts: Vec<PerformerId>) {
        self.partition.note_ghosts_unplaced(ghosts);
    }

    /// Returns the poses and whole states that a step asks for beforehand.
    pub(crate) fn wanted(&self, snapshots: Vec<CellId>) -> Wanted {
        Wanted {
            poses: self.partition.wanted_poses().to_vec(),
            states: self.partition.wanted_states().to_vec(),
            snapshots,
        }
    }

    /// Hands a performer over to another cell, with its whole state.
    pub(crate) fn hand_off(&mut self, hand_off: HandOffPlan) -> HandOff {
        self.events.hand_offs += 1;
        self.latest.hand_off(hand_off)
    }

    /// Ends the changes of a step: performers came with it, and others go.
    pub(crate) fn end_changes(&mut self, spawned: &[PerformerId], removed: &[PerformerId]) {
        for performer in removed {
            self.latest.forget(*performer);
        }
        if !spawned.is_empty() || !removed.is_empty() {
            self.by_name = self.topology.performers_by_name();
            self.latest.set_order(&self.by_name);
        }
        self.is_fresh = false;
    }

    /// Forgets what holds no longer once a step is done.
    pub(crate) fn begin_step(&mut self, purpose: Purpose) {
        self.latest.begin_step(purpose);
    }

    /// Takes over what an answer holds, and its states, which were checked.
    pub(crate) fn take(
        &mut self,
        states: &[PerformerState],
        ack: &mut StepAck,
        cx: &mut Context<'_>,
    ) {
        for state in states {
            if self.latest.update(*state) {
                let name = &self.topology.performer(state.performer).name;
                let text = format!("the state of {name} is not finite after {}", ack.iteration);
                cx.event(Severity::Warning, "step", text);
            }
        }
        self.latest.take(ack);
    }

    /// Takes the snapshot of a cell out of the last answers.
    pub(crate) fn take_snapshot(&mut self, cell: CellId) -> Option<CellSnapshot> {
        self.latest.take_snapshot(cell)
    }

    /// Makes the digest of all performers, in order of their names.
    pub(crate) fn digest_all(&mut self) {
        self.latest.digest_all();
    }
}
