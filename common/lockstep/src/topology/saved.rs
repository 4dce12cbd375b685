//! [`SavedTopology`]: what has changed in a topology since the start.

use crate::saved_state_error::SavedStateError;
use protocol::PerformerId;
use serde::{Deserialize, Serialize};

use super::{PerformerSpec, Topology, Watcher};

/// Changes in a topology.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct SavedTopology {
    /// Performers that came and are there, in order of their numbers.
    came: Vec<(PerformerId, PerformerSpec)>,
    /// Performers of the start that are gone.
    gone: Vec<PerformerId>,
    /// Performers of the start that are held together with others than at the start.
    joined: Vec<(PerformerId, Vec<PerformerId>)>,
    global_models: Vec<Vec<usize>>,
    watched: Vec<bool>,
    /// For each level, its static models that are there.
    static_models: Vec<Vec<usize>>,
    /// For each cell, whether it needs a host even when nobody is in it.
    permanent: Vec<bool>,
    /// For each cell, whether all who keep levels active are ghosts in it.
    sees_all: Vec<bool>,
    /// For each cell, the models that never move and look at others in it.
    watchers: Vec<Vec<Watcher>>,
    /// For each cell, its models that work by what touches them.
    contact: Vec<Vec<usize>>,
}

impl Topology {
    pub(crate) fn save(&self, start: &Self) -> SavedTopology {
        let at_start = start.performers.len();
        let of_start = || (0..at_start as u32).map(PerformerId);
        let joined = of_start().filter_map(|id| {
            let joined_to = &self.performer(id).joined_to;
            let is_other = *joined_to != start.performer(id).joined_to;
            is_other.then(|| (id, joined_to.clone()))
        });
        let came = self.present().filter(|id| id.0 as usize >= at_start);
        SavedTopology {
            came: came.map(|id| (id, self.performer(id).clone())).collect(),
            gone: of_start()
                .filter(|id| self.performer(*id).is_removed)
                .collect(),
            joined: joined.collect(),
            global_models: self.global_models.clone(),
            watched: self.watched.clone(),
            static_models: self
                .levels
                .iter()
                .map(|level| level.static_models.clone())
                .collect(),
            permanent: self.cells.iter().map(|cell| cell.is_permanent).collect(),
            sees_all: self.cells.iter().map(|cell| cell.sees_all).collect(),
            watchers: self
                .cells
                .iter()
                .map(|cell| cell.watchers.clone())
                .collect(),
            contact: self.cells.iter().map(|cell| cell.contact.clone()).collect(),
        }
    }

    /// Makes the same changes to the topology of the start.
    ///
    /// # Errors
    /// Fails when they do not fit it, with what does not.
    pub(crate) fn restore(&mut self, saved: SavedTopology) -> Result<(), SavedStateError> {
        saved.check(self)?;
        for (id, performer) in saved.came {
            self.seat(id, performer);
        }
        for id in saved.gone {
            self.performers[id.0 as usize].is_removed = true;
        }
        for (id, joined_to) in saved.joined {
            self.performers[id.0 as usize].joined_to = joined_to;
        }
        self.global_models = saved.global_models;
        self.watched = saved.watched;
        for (level, models) in self.levels.iter_mut().zip(saved.static_models) {
            level.static_models = models;
        }
        for (cell, is_permanent) in self.cells.iter_mut().zip(saved.permanent) {
            cell.is_permanent = is_permanent;
        }
        for (cell, sees_all) in self.cells.iter_mut().zip(saved.sees_all) {
            cell.sees_all = sees_all;
        }
        for (cell, watchers) in self.cells.iter_mut().zip(saved.watchers) {
            cell.watchers = watchers;
        }
        for (cell, contact) in self.cells.iter_mut().zip(saved.contact) {
            cell.contact = contact;
        }
        Ok(())
    }
}

impl SavedTopology {
    fn check(&self, start: &Topology) -> Result<(), SavedStateError> {
        let at_start = start.performers.len();
        let was_there = |id: &PerformerId| (id.0 as usize) < at_start;
        let has_come = |id: &PerformerId| self.came.binary_search_by_key(id, |one| one.0).is_ok();
        let are_there = |ids: &[PerformerId]| ids.iter().all(|id| was_there(id) || has_come(id));
        let is_sound = |(id, one): &(PerformerId, PerformerSpec)| {
            let home = start.cells.get(one.home.0 as usize);
            let is_home = home.is_some_and(|home| home.world == one.world);
            let distances = [one.sight.range.unwrap_or(0.0), one.sight.size];
            let are_distances = distances.iter().all(|distance| *distance >= 0.0);
            let is_new = !one.is_removed && start.is_free(*id);
            is_home && are_there(&one.joined_to) && is_new && are_distances
        };
        if self.global_models.len() != start.global_models.len()
            || self.watched.len() != start.watched.len()
            || self.static_models.len() != start.levels.len()
            || self.permanent.len() != start.cells.len()
            || self.sees_all.len() != start.cells.len()
            || self.watchers.len() != start.cells.len()
            || self.contact.len() != start.cells.len()
        {
            return Err(SavedStateError::OtherWorlds);
        }
        let joined = self.joined.iter();
        let are_sound = self.gone.iter().all(was_there)
            && joined
                .into_iter()
                .all(|(id, others)| was_there(id) && are_there(others))
            && self.came.is_sorted_by(|one, next| one.0 < next.0)
            && self.came.iter().all(is_sound)
            && !self
                .watchers
                .iter()
                .flatten()
                .any(|one| one.bounds.has_nan());
        if are_sound {
            Ok(())
        } else {
            Err(SavedStateError::NoSuchNumber)
        }
    }
}
