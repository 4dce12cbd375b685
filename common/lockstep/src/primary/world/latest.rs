//! [`LatestStates`]: states of all performers after the last acks, and what steps asked for
//! besides.

use std::collections::BTreeMap;

use protocol::primary_to_secondary::{CellSnapshot, GhostChange, HandOff, Wanted};
use protocol::secondary_to_primary::StepAck;
use protocol::{CellId, Digest, Iteration, LinkPoses, PerformerId, PerformerState, StateBlob};
use serde::{Deserialize, Serialize};
use serde_bytes::ByteBuf;

use crate::partition::{Changes, HandOffPlan, Moved};
use crate::primary::purpose::Purpose;
use crate::primary::world::digest_of_all::DigestOfAll;
use crate::saved_state_error::SavedStateError;
use crate::topology::Topology;

/// States and digests from acks. Whole states, poses and snapshots hold until the next step but a
/// fetch.
#[derive(Debug)]
pub(crate) struct LatestStates {
    states: Vec<PerformerState>,
    /// The digests of these states, side by side: all of them are read for each check.
    digests: Vec<Digest>,
    /// The states after an iteration after which the run began anew, until it goes on.
    before_reset: Option<(Iteration, Vec<PerformerState>)>,
    transfers: BTreeMap<PerformerId, Vec<u8>>,
    poses: BTreeMap<PerformerId, LinkPoses>,
    snapshots: BTreeMap<CellId, CellSnapshot>,
    cell_digests: Vec<Option<Digest>>,
    digest_of_all: DigestOfAll,
    /// Performers whose states have come since they were looked at last.
    moved: Moved,
    /// For each performer, whether its state was reported as not finite.
    reported: Vec<bool>,
}

/// Saved states.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct SavedStates {
    /// Of those that are there, in order of their numbers.
    states: StateBlob,
    transfers: Vec<(PerformerId, ByteBuf)>,
    poses: Vec<LinkPoses>,
    cell_digests: Vec<Option<Digest>>,
    reported: Vec<PerformerId>,
}

impl LatestStates {
    pub(crate) fn new(topology: &Topology) -> Self {
        let states = topology.performers.iter().enumerate();
        Self {
            states: states
                .map(|(id, one)| PerformerState::at_rest(PerformerId(id as u32), one.start))
                .collect(),
            before_reset: None,
            transfers: BTreeMap::new(),
            poses: BTreeMap::new(),
            snapshots: BTreeMap::new(),
            cell_digests: vec![None; topology.cells.len()],
            digests: vec![Digest::default(); topology.performers.len()],
            digest_of_all: DigestOfAll::default(),
            moved: Moved::all(),
            reported: vec![false; topology.performers.len()],
        }
    }

    /// Goes back to the start after an iteration.
    pub(crate) fn begin_reset(&mut self, topology: &Topology, after: Iteration) {
        let states = std::mem::take(&mut self.states);
        let digest = self.digest();
        *self = Self::new(topology);
        self.digest_of_all = DigestOfAll::after(digest);
        self.before_reset = Some((after, states));
    }

    /// Returns the states after an iteration that was just completed, by the performers' numbers,
    /// also when the run has begun anew since.
    pub(crate) fn states_after(&self, iteration: Iteration) -> &[PerformerState] {
        match &self.before_reset {
            Some((after, states)) if *after == iteration => states,
            Some(_) | None => &self.states,
        }
    }

    /// Returns whose states have come since they were looked at, to be taken.
    pub(crate) fn moved_mut(&mut self) -> &mut Moved {
        &mut self.moved
    }

    /// Returns the whole states and poses that hold until time advances, the digests of cells, and
    /// which performers were reported as not finite.
    pub(crate) fn save(&self, topology: &Topology) -> SavedStates {
        let transfers = self.transfers.iter();
        let reported = topology.present().filter(|id| self.reported[id.0 as usize]);
        let states = topology.present().map(|id| self.states[id.0 as usize]);
        let states: Vec<PerformerState> = states.collect();
        SavedStates {
            states: StateBlob::pack(&states),
            transfers: transfers
                .map(|(performer, state)| (*performer, ByteBuf::from(state.clone())))
                .collect(),
            poses: self.poses.values().cloned().collect(),
            cell_digests: self.cell_digests.clone(),
            reported: reported.collect(),
        }
    }

    /// Restores what was saved.
    ///
    /// # Errors
    /// Fails when it does not fit the topology, and says why.
    pub(crate) fn restore(
        topology: &Topology,
        saved: SavedStates,
        digest: Digest,
    ) -> Result<Self, SavedStateError> {
        let Ok(states) = saved.states.states() else {
            return Err(SavedStateError::CutState);
        };
        let present: Vec<PerformerState> = states.collect();
        if !present
            .iter()
            .map(|one| one.performer)
            .eq(topology.present())
        {
            return Err(SavedStateError::StateCount);
        }
        let Self { mut states, .. } = Self::new(topology);
        for state in present {
            states[state.performer.0 as usize] = state;
        }
        if saved.cell_digests.len() != topology.cells.len() {
            return Err(SavedStateError::DigestCount);
        }
        let mut reported = vec![false; states.len()];
        for performer in saved.reported {
            if let Some(is_reported) = reported.get_mut(performer.0 as usize) {
                *is_reported = true;
            }
        }
        let transfers = saved.transfers.into_iter();
        let poses = saved.poses.into_iter();
        Ok(Self {
            digests: states.iter().map(|state| state.digest).collect(),
            states,
            transfers: transfers
                .map(|(performer, state)| (performer, state.into_vec()))
                .collect(),
            poses: poses.map(|one| (one.performer, one)).collect(),
            before_reset: None,
            snapshots: BTreeMap::new(),
            cell_digests: saved.cell_digests,
            digest_of_all: DigestOfAll::after(digest),
            moved: Moved::all(),
            reported,
        })
    }

    /// Notes a performer that comes with the next step: its links are about its origin.
    pub(crate) fn insert(&mut self, performer: PerformerId, model: &sdf::Model) {
        let mut state = PerformerState::at_rest(performer, model.pose.position);
        state.orientation_xyzw = model.pose.orientation_xyzw;
        let index = performer.0 as usize;
        if index == self.states.len() {
            self.states.push(state);
            self.digests.push(state.digest);
            self.reported.push(false);
        }
        self.states[index] = state;
        self.digests[index] = state.digest;
        self.moved.note_all();
        self.reported[index] = false;
    }

    /// Has no more performers than the topology, whose last numbers nobody has any more.
    pub(crate) fn give_back(&mut self, topology: &Topology) {
        self.states.truncate(topology.performers.len());
        self.digests.truncate(topology.performers.len());
        self.reported.truncate(topology.performers.len());
    }

    /// Forgets a performer that goes with the next step, but for its last state: that of the
    /// iteration before.
    pub(crate) fn forget(&mut self, performer: PerformerId) {
        self.transfers.remove(&performer);
        self.poses.remove(&performer);
        self.moved.note_all();
    }

    /// Takes who is there, in order of names: somebody has come or gone.
    pub(crate) fn set_order(&mut self, by_name: &[PerformerId]) {
        self.digest_of_all.set_order(by_name, &self.digests);
    }

    /// Forgets what holds no longer once a step is done: whole states, poses and snapshots are of
    /// cells before its changes. A paused step changes cells too, by commands and by messages that
    /// systems receive; only a fetch and a pause change nothing.
    pub(crate) fn begin_step(&mut self, purpose: Purpose) {
        match purpose {
            Purpose::Fetch | Purpose::Pause => {}
            Purpose::Build | Purpose::Advance | Purpose::Rearrange => {
                self.snapshots.clear();
                self.transfers.clear();
                self.poses.clear();
            }
        }
    }

    /// Takes over what an ack brought besides the states.
    pub(crate) fn take(&mut self, ack: &mut StepAck) {
        self.before_reset = None;
        for cell in &ack.cells {
            self.cell_digests[cell.cell.0 as usize] = Some(cell.digest);
        }
        for transfer in ack.transfers.drain(..) {
            self.transfers.insert(transfer.performer, transfer.state);
        }
        for poses in ack.poses.drain(..) {
            self.poses.insert(poses.performer, poses);
        }
        for snapshot in ack.snapshots.drain(..) {
            self.snapshots.insert(snapshot.cell, snapshot);
        }
    }

    /// Takes over a state; returns whether it is the first that is not finite.
    pub(crate) fn update(&mut self, state: PerformerState) -> bool {
        let index = state.performer.0 as usize;
        self.states[index] = state;
        self.digests[index] = state.digest;
        self.moved.note(state.performer, self.states.len());
        self.digest_of_all.update(state.performer, state.digest);
        let is_first = !state.is_finite() && !self.reported[index];
        self.reported[index] |= is_first;
        is_first
    }

    /// Returns what must be asked for before changes can be published, with the poses of `seen`;
    /// `None` when all is here.
    pub(crate) fn missing(
        &self,
        topology: &Topology,
        changes: &Changes,
        seen: impl IntoIterator<Item = PerformerId>,
    ) -> Option<Wanted> {
        let passing = changes.hand_offs.iter().map(|hand_off| hand_off.performer);
        let is_seen = |change: &&GhostChange| {
            change.present && topology.watched[topology.cell(change.cell).world]
        };
        let ghosts = changes.ghosts.iter().filter(is_seen);
        let mut poses: Vec<PerformerId> = ghosts
            .map(|change| change.performer)
            .chain(seen)
            .filter(|performer| !self.poses.contains_key(performer))
            .collect();
        poses.sort_unstable();
        poses.dedup();
        let wanted = Wanted {
            states: passing
                .filter(|performer| !self.transfers.contains_key(performer))
                .collect(),
            poses,
            snapshots: Vec::new(),
        };
        (wanted != Wanted::default()).then_some(wanted)
    }

    /// Returns the hand-off of a plan.
    ///
    /// # Panics
    /// Panics when the performer's whole state is not here.
    pub(crate) fn hand_off(&mut self, hand_off: HandOffPlan) -> HandOff {
        let state = self
            .transfers
            .remove(&hand_off.performer)
            .expect("whole states of those who pass are asked for first");
        HandOff {
            performer: hand_off.performer,
            from: hand_off.from,
            to: hand_off.to,
            state,
        }
    }

    pub(crate) fn states(&self) -> &[PerformerState] {
        &self.states
    }

    pub(crate) fn state(&self, performer: PerformerId) -> &PerformerState {
        &self.states[performer.0 as usize]
    }

    pub(crate) fn digest(&self) -> Digest {
        self.digest_of_all.last()
    }

    /// Returns the digest of the last state of a performer.
    pub(crate) fn state_digest(&self, performer: PerformerId) -> Digest {
        self.digests[performer.0 as usize]
    }

    /// Makes the digest of all performers in order of their names.
    pub(crate) fn digest_all(&mut self) {
        self.digest_of_all.make();
    }

    /// Returns where the links of a performer are, if that is known and somewhere: no ghost can be
    /// placed where physics has lost its performer.
    pub(crate) fn poses_of(&self, performer: PerformerId) -> Option<&LinkPoses> {
        let poses = self.poses.get(&performer)?;
        let is_somewhere = poses.poses().flatten().all(f64::is_finite);
        is_somewhere.then_some(poses)
    }

    pub(crate) fn cell_digest(&self, cell: CellId) -> Option<Digest> {
        self.cell_digests[cell.0 as usize]
    }

    pub(crate) fn take_snapshot(&mut self, cell: CellId) -> Option<CellSnapshot> {
        self.snapshots.remove(&cell)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ghost_stays_where_it_was_once_its_performer_is_nowhere() {
        let mut latest = LatestStates::new(&Topology::new(&[]));
        let somewhere = [1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 1.0];
        let nowhere = [f64::NAN, 2.0, 3.0, 0.0, 0.0, 0.0, 1.0];
        let [one, other] = [0, 1].map(PerformerId);
        latest.poses = [
            (one, LinkPoses::pack(one, [somewhere])),
            (other, LinkPoses::pack(other, [somewhere, nowhere])),
        ]
        .into();
        assert!(latest.poses_of(one).is_some());
        assert_eq!(latest.poses_of(other), None);
        assert_eq!(latest.poses_of(PerformerId(2)), None);
    }
}
