//! [`Population`]: which performers each world and each level has, whatever cell they are in.

use crate::partition::Request;
use crate::topology::{PerformerSpec, Topology};
use protocol::{CellId, LevelId, PerformerId};

/// The performers of worlds, and those that live with levels.
#[derive(Debug)]
pub(super) struct Population {
    /// The default cell of each world.
    pub(super) default_cells: Vec<CellId>,
    /// The performers of each world that has levels or may be split, ascending; in others nothing
    /// ever changes.
    pub(super) by_world: Vec<Vec<usize>>,
    /// The place of each world among those, if it has levels.
    pub(super) place_of: Vec<Option<usize>>,
    pub(super) has_level_bound: bool,
    /// For each level, the performers that live with it.
    pub(super) bound: Vec<Vec<PerformerId>>,
    /// For each world, whether its default cell has ghosts of all who keep levels active.
    pub(super) overseen: Vec<bool>,
}

impl Population {
    /// Counts the performers of a topology.
    ///
    /// # Panics
    /// Never: every world of a topology has a default cell.
    pub(super) fn new(topology: &Topology) -> Self {
        let worlds = topology.global_models.len();
        let performers = &topology.performers;
        let default_cell = |world: usize| {
            let mut cells = topology.cells.iter();
            let number = cells.position(|cell| cell.world == world && cell.level.is_none());
            CellId(number.expect("every world has a default cell") as u32)
        };
        let of_world = |world: usize| -> Vec<usize> {
            let numbers = 0..performers.len();
            numbers
                .filter(|one| performers[*one].world == world && !performers[*one].is_removed)
                .collect()
        };
        let has_levels = |world: &usize| {
            let mut cells = topology.cells.iter();
            cells.any(|cell| cell.world == *world && (cell.level.is_some() || cell.split.is_some()))
        };
        let with_levels: Vec<usize> = (0..worlds).filter(has_levels).collect();
        let mut bound = vec![Vec::new(); topology.levels.len()];
        for (id, performer) in performers.iter().enumerate() {
            for level in &performer.bound_to {
                bound[level.0 as usize].push(PerformerId(id as u32));
            }
        }
        let place_of = |world: usize| with_levels.iter().position(|other| *other == world);
        Self {
            default_cells: (0..worlds).map(default_cell).collect(),
            by_world: with_levels.iter().copied().map(of_world).collect(),
            place_of: (0..worlds).map(place_of).collect(),
            has_level_bound: performers.iter().any(PerformerSpec::is_level_bound),
            bound,
            overseen: vec![false; worlds],
        }
    }
}

/// Work for the next update, and questions to secondaries for the next step.
#[derive(Debug, Default)]
pub(super) struct Agenda {
    pub(super) requests: Vec<Request>,
    /// Performers that enter their cells with the step to come.
    pub(super) entering: Vec<usize>,
    /// Performers that a command has put elsewhere while their cell stood still.
    pub(super) put_elsewhere: Vec<usize>,
    /// Performers that stay in their cell with the next update.
    pub(super) held: Vec<usize>,
    /// Performers whose links' poses are wanted, for ghosts.
    pub(super) poses: Vec<PerformerId>,
    /// Performers whose whole states are wanted, for hand-offs.
    pub(super) states: Vec<PerformerId>,
}

/// Lists that keep their memory from one update to the next.
#[derive(Debug, Default)]
pub(super) struct Buffers {
    /// Levels that a performer touches.
    pub(super) levels: Vec<LevelId>,
    /// Members of a group.
    pub(super) members: Vec<usize>,
    /// Performers that are in groups with others.
    pub(super) grouped: Vec<usize>,
    /// Performers that have some mark.
    pub(super) marked: Vec<usize>,
    /// Performers that have moved.
    pub(super) moved: Vec<PerformerId>,
}
