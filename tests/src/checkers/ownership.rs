//! Owners and hosts, by the steps alone: every performer in exactly one cell, every open cell at
//! exactly one host, and the real cells and the primary of the same opinion.
//!
//! It shares no code with the rules: it does to a model of its own what each step says.

use std::collections::{BTreeMap, BTreeSet};

use cell_host::{CellHost, HostedCell};
use lockstep::{Primary, Topology};
use protocol::primary_to_secondary::{AffinityChange, CellSource, Step};
use protocol::{Action, CellId, LevelId, ModelId, PeerName, PerformerId, Sequence};

/// A cell as the steps have made it.
#[derive(Clone, Debug)]
struct ExpectedCell {
    host: PeerName,
    performers: BTreeSet<PerformerId>,
    ghosts: BTreeSet<PerformerId>,
    levels: BTreeSet<LevelId>,
    is_suspended: bool,
    /// True if the host is lost.
    is_orphan: bool,
}

/// Cells of all performers and hosts of all cells after the steps so far.
#[derive(Clone, Debug, Default)]
pub struct Ownership {
    plan: Option<Topology>,
    last: Sequence,
    cells: BTreeMap<CellId, ExpectedCell>,
    cell_of: Vec<CellId>,
    /// Numbers of performers that left before the last step, and with it: whoever comes gets the
    /// lowest of the former.
    free: BTreeSet<u32>,
    leaving: Vec<u32>,
    /// Number of performers of the worlds, whose numbers nobody else gets.
    at_start: u32,
    /// The performers that are there, by model.
    present: BTreeMap<ModelId, PerformerId>,
    /// Number of performers that changed cell so far.
    pub hand_offs: u64,
    /// Number of cells that changed host so far.
    pub migrations: u64,
    /// Number of cells that came to another host since theirs was lost.
    pub restored: u64,
    /// Number of times that a cell was suspended so far.
    pub suspensions: u64,
}

impl Ownership {
    /// Takes a step as it is published.
    ///
    /// # Panics
    /// Panics if the step does not fit the cells and performers that there are.
    pub fn on_step(&mut self, plan: &Topology, step: &Step) {
        if self.plan.is_none() {
            self.plan = Some(plan.clone());
            self.begin();
        }
        assert_eq!(
            step.sequence,
            self.last.next(),
            "steps are numbered one by one"
        );
        self.last = step.sequence;
        self.free.extend(self.leaving.drain(..));
        while let Some(last) = self.free.last().copied()
            && last + 1 == self.cell_of.len() as u32
        {
            self.free.remove(&last);
            self.cell_of.pop();
        }
        if step.reset {
            self.begin();
        }
        let is_start = step.reset || step.sequence == Sequence(1);
        check_order("cells", step.affinities.iter().map(|change| change.cell));
        for change in &step.affinities {
            if let Some(host) = &change.secondary {
                self.give(change, host, is_start);
            }
        }
        self.hand_over(step);
        self.change_surroundings(step);
        self.remove(step);
        for change in step.affinities.iter().filter(|one| one.secondary.is_none()) {
            let place = self.cells.remove(&change.cell);
            let place = place.unwrap_or_else(|| panic!("{change:?} is hosted before"));
            let is_empty = place.performers.is_empty() && place.ghosts.is_empty();
            assert!(is_empty, "{change:?} gives up {place:?}");
        }
        self.spawn(step);
        let orphan = self.cells.iter().find(|(_, place)| place.is_orphan);
        assert!(orphan.is_none(), "cell {orphan:?} has no host any more");
        // Who was just removed leaves a cell behind that the next step closes.
        let is_settled = !step.paused && step.actions.is_empty();
        for (cell, place) in self.cells.iter().filter(|_| is_settled) {
            let is_needed = !place.performers.is_empty() || !place.ghosts.is_empty();
            let is_permanent = self.plan().cell(*cell).is_permanent;
            assert!(
                is_needed || is_permanent,
                "cell {cell} is open and empty: {place:?}"
            );
        }
    }

    /// A secondary has left or is lost; what it hosted must have another host with the next step.
    pub fn on_left(&mut self, name: &PeerName) {
        for place in self.cells.values_mut().filter(|one| one.host == *name) {
            place.is_orphan = true;
        }
    }

    /// The run is taken up again after the last step that this has seen: no cell has a host.
    pub fn on_resumed(&mut self) {
        for place in self.cells.values_mut() {
            place.is_orphan = true;
        }
    }

    /// Everything is as the worlds have it.
    fn begin(&mut self) {
        let plan = self.plan.as_ref().expect("it was just taken");
        self.cell_of = plan.performers.iter().map(|one| one.home).collect();
        let models = plan.performers.iter().zip(0..);
        let models = models.map(|(one, id)| {
            let (world, model) = (one.world as u32, one.model as u32);
            (ModelId { world, model }, PerformerId(id))
        });
        self.present = models.collect();
        self.at_start = self.cell_of.len() as u32;
        self.free.clear();
        self.leaving.clear();
        self.cells.clear();
    }

    /// Performers come into the world.
    fn spawn(&mut self, step: &Step) {
        for stamped in &step.actions {
            let Action::Spawn(spawn) = &stamped.action else {
                continue;
            };
            let (Some(id), Some(cell)) = (spawn.performer, spawn.cell) else {
                continue;
            };
            let beyond = self.cell_of.len() as u32;
            let next = self.free.pop_first().unwrap_or(beyond);
            assert_eq!(
                id,
                PerformerId(next),
                "whoever comes gets the lowest number"
            );
            let place = self.cells.get_mut(&cell);
            let place = place.unwrap_or_else(|| panic!("{id} comes into cell {cell}"));
            place.performers.insert(id);
            if next == beyond {
                self.cell_of.push(cell);
            }
            self.cell_of[next as usize] = cell;
            self.present.insert(spawn.model, id);
        }
    }

    /// Performers leave the world for good, and maybe a cell that is given up in the same step.
    fn remove(&mut self, step: &Step) {
        for stamped in &step.actions {
            let Action::Remove { model } = &stamped.action else {
                continue;
            };
            let Some(id) = self.present.remove(model) else {
                continue;
            };
            let cell = self.cell_of[id.0 as usize];
            let place = self.cells.get_mut(&cell);
            let place = place.unwrap_or_else(|| panic!("{id} is in cell {cell}"));
            assert!(place.performers.remove(&id), "{id} is in {place:?}");
            if id.0 >= self.at_start {
                self.leaving.push(id.0);
            }
        }
    }

    fn plan(&self) -> &Topology {
        self.plan.as_ref().expect("it is taken with the first step")
    }

    fn give(&mut self, change: &AffinityChange, host: &PeerName, is_begin: bool) {
        let cell = change.cell;
        let former = self.cells.get_mut(&cell);
        match (change.source, former) {
            (CellSource::Snapshot, Some(place)) if place.is_orphan => {
                place.host = host.clone();
                place.is_orphan = false;
                self.restored += 1;
            }
            (CellSource::Snapshot, Some(place)) => {
                assert_ne!(place.host, *host, "cell {cell} moves to where it is");
                place.host = host.clone();
                self.migrations += 1;
            }
            (CellSource::Start | CellSource::Empty, None) => {
                let is_start = change.source == CellSource::Start;
                assert_eq!(is_start, is_begin, "{change:?}");
                let homes = self.plan().performers.iter().enumerate();
                let performers = homes
                    .filter(|(_, one)| is_start && one.home == cell)
                    .map(|(id, _)| PerformerId(id as u32))
                    .collect();
                let place = ExpectedCell {
                    host: host.clone(),
                    performers,
                    ghosts: BTreeSet::new(),
                    levels: BTreeSet::new(),
                    is_suspended: false,
                    is_orphan: false,
                };
                self.cells.insert(cell, place);
            }
            (_, former) => panic!("{change:?} does not fit {former:?}"),
        }
    }

    fn hand_over(&mut self, step: &Step) {
        check_order("hand-offs", step.hand_offs.iter().map(|one| one.performer));
        for one in &step.hand_offs {
            let id = one.performer;
            assert_eq!(
                self.cell_of[id.0 as usize], one.from,
                "{id} leaves its own cell"
            );
            assert_ne!(one.from, one.to, "{id} changes cell");
            let plan = self.plan();
            let [from, to] = [one.from, one.to].map(|cell| plan.cell(cell).world);
            assert_eq!(from, to, "{id} stays in its world");
            assert!(!one.state.is_empty(), "{id} comes with its state");
            let from = self
                .cells
                .get_mut(&one.from)
                .expect("it leaves a hosted cell");
            assert!(from.performers.remove(&id), "{id} is in {from:?}");
            let to = self
                .cells
                .get_mut(&one.to)
                .expect("it enters a hosted cell");
            assert!(to.performers.insert(id), "{id} is not yet in {to:?}");
            self.cell_of[id.0 as usize] = one.to;
            self.hand_offs += 1;
        }
    }

    fn change_surroundings(&mut self, step: &Step) {
        let closed: BTreeSet<CellId> = step
            .affinities
            .iter()
            .filter(|change| change.secondary.is_none())
            .map(|change| change.cell)
            .collect();
        let levels = step.level_changes.iter();
        check_order("levels", levels.clone().map(|one| (one.cell, one.level)));
        for change in levels.filter(|change| !closed.contains(&change.cell)) {
            let place = self.cells.get_mut(&change.cell);
            let place = place.unwrap_or_else(|| panic!("{change:?} is of a hosted cell"));
            let is_new = if change.loaded {
                place.levels.insert(change.level)
            } else {
                place.levels.remove(&change.level)
            };
            assert!(is_new, "{change:?} changes {place:?}");
        }
        let ghosts = step.ghost_changes.iter();
        check_order(
            "ghosts",
            ghosts.clone().map(|one| (one.cell, one.performer)),
        );
        for change in ghosts {
            let place = self.cells.get_mut(&change.cell);
            let place = place.unwrap_or_else(|| panic!("{change:?} is of a hosted cell"));
            let is_new = if change.present {
                place.ghosts.insert(change.performer)
            } else {
                place.ghosts.remove(&change.performer)
            };
            assert!(is_new, "{change:?} changes {place:?}");
        }
        check_order("suspensions", step.suspensions.iter().map(|one| one.cell));
        for change in step
            .suspensions
            .iter()
            .filter(|one| !closed.contains(&one.cell))
        {
            let place = self.cells.get_mut(&change.cell);
            let place = place.unwrap_or_else(|| panic!("{change:?} is of a hosted cell"));
            assert_ne!(
                place.is_suspended, change.suspended,
                "{change:?} changes {place:?}"
            );
            place.is_suspended = change.suspended;
            self.suspensions += u64::from(change.suspended);
        }
        for (cell, place) in &self.cells {
            let both = place.ghosts.intersection(&place.performers).next();
            assert_eq!(both, None, "cell {cell} has a ghost of its own performer");
        }
    }

    /// Compares with what the primary says of the step that it has just published.
    ///
    /// # Panics
    /// Panics if it says something else.
    pub fn check_primary(&self, primary: &Primary) {
        let mut owned = 0;
        for cell in (0..self.plan().cells.len() as u32).map(CellId) {
            let place = self.cells.get(&cell);
            let host = place.map(|place| &place.host);
            assert_eq!(primary.host(cell), host, "the host of cell {cell}");
            let is_member = |host| primary.roster().get(host).is_some();
            assert!(
                host.is_none_or(is_member),
                "cell {cell} has a host that takes part: {host:?}"
            );
            let performers = place.into_iter().flat_map(|place| &place.performers);
            assert!(
                performers.clone().eq(primary.owned(cell)),
                "cell {cell} owns {:?}, and the primary says {:?}",
                performers.collect::<Vec<_>>(),
                primary.owned(cell)
            );
            owned += primary.owned(cell).len();
        }
        assert_eq!(owned, self.present.len(), "every performer is in one cell");
    }

    /// Compares with the real cells of a secondary that has done the last step.
    ///
    /// # Panics
    /// Panics if a cell is missing or too many, or holds something else.
    pub fn check_host(&self, name: &PeerName, host: &CellHost) {
        let is_there = |place: &ExpectedCell| place.host == *name && !place.is_orphan;
        let expected = self.cells.iter().filter(|(_, place)| is_there(place));
        let mut found = host.cells();
        for (cell, place) in expected {
            let real = found
                .next()
                .unwrap_or_else(|| panic!("{name} does not have cell {cell}"));
            assert_eq!(real.id(), *cell, "the cells of {name}");
            assert!(
                real.performers().eq(place.performers.iter().copied()),
                "cell {cell} of {name} holds other performers than {place:?}"
            );
            assert!(
                real.ghosts().eq(place.ghosts.iter().copied()),
                "cell {cell} of {name} holds other ghosts than {place:?}"
            );
            assert!(
                real.levels().eq(place.levels.iter().copied()),
                "cell {cell} of {name} holds other levels than {place:?}"
            );
            assert_eq!(
                real.is_suspended(),
                place.is_suspended,
                "cell {cell} of {name}"
            );
        }
        let more = found.next().map(HostedCell::id);
        assert_eq!(more, None, "{name} has a cell that it does not host");
    }

    /// Returns the cells that have a host, ascending, with it.
    pub fn hosted(&self) -> impl Iterator<Item = (CellId, &PeerName)> {
        self.cells.iter().map(|(cell, place)| (*cell, &place.host))
    }

    /// Returns the cell that each performer is in, by id.
    pub fn cells_of_performers(&self) -> &[CellId] {
        &self.cell_of
    }

    /// Returns the performers of which a cell holds a ghost, ascending.
    pub fn ghosts(&self, cell: CellId) -> Vec<PerformerId> {
        let place = self.cells.get(&cell);
        place.map_or_else(Vec::new, |place| place.ghosts.iter().copied().collect())
    }

    /// Tells whether a cell is suspended.
    pub fn is_suspended(&self, cell: CellId) -> bool {
        self.cells
            .get(&cell)
            .is_some_and(|place| place.is_suspended)
    }
}

fn check_order<T: Ord + std::fmt::Debug>(what: &str, items: impl Iterator<Item = T>) {
    let items: Vec<T> = items.collect();
    assert!(
        items.is_sorted_by(|one, next| one < next),
        "{what} of a step are in order, each once: {items:?}"
    );
}
