//! [`HostMap`]: hosts of cells and owners of performers, as the secondaries know them.
//!
//! It follows what was published, step by step; what is to change next is [`Partition`]'s.
//!
//! [`Partition`]: crate::partition::Partition

use std::collections::BTreeMap;

use protocol::{CellId, PeerName, PerformerId};
use serde::{Deserialize, Serialize};

use crate::partition::{HandOffPlan, Partition};
use crate::peer_numbers::{ByPeer, PeerNumber};
use crate::saved_state_error::SavedStateError;
use crate::topology::Topology;

/// Hosts of cells, and owners of performers.
#[derive(Debug)]
pub(crate) struct HostMap {
    cell_of: Vec<CellId>,
    /// For each cell, the performers that it owns, ascending.
    owned: Vec<Vec<PerformerId>>,
    affinity: BTreeMap<CellId, PeerName>,
    /// For each cell that is hosted, the number of its host.
    hosts: BTreeMap<CellId, PeerNumber>,
    /// For each secondary, the cells that it hosts, ascending.
    hosted: ByPeer<Vec<CellId>>,
    /// For each performer, how often it has changed cell.
    hand_offs: Vec<u64>,
    /// For each cell, how many performers were handed to it.
    hand_offs_to: Vec<u64>,
    /// For each secondary, how many performers were handed to it from others.
    hand_offs_in: BTreeMap<PeerName, u64>,
}

/// Saved state of it: numbers of hand-offs.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct SavedHostMap {
    /// Of those that are there, in order of their numbers.
    of_performers: Vec<u64>,
    to_cells: Vec<u64>,
    in_secondaries: BTreeMap<PeerName, u64>,
}

impl HostMap {
    /// Starts with every performer in its first home and no cell hosted.
    pub(crate) fn new(topology: &Topology) -> Self {
        let mut owned = vec![Vec::new(); topology.cells.len()];
        for (id, performer) in topology.performers.iter().enumerate() {
            owned[performer.home.0 as usize].push(PerformerId(id as u32));
        }
        Self {
            cell_of: topology.performers.iter().map(|one| one.home).collect(),
            owned,
            affinity: BTreeMap::new(),
            hosts: BTreeMap::new(),
            hosted: ByPeer::default(),
            hand_offs: vec![0; topology.performers.len()],
            hand_offs_to: vec![0; topology.cells.len()],
            hand_offs_in: BTreeMap::new(),
        }
    }

    /// Starts with every performer where it was, and no cell hosted.
    ///
    /// # Errors
    /// Fails when the saved state does not fit the topology, and says why.
    pub(crate) fn restore(
        topology: &Topology,
        partition: &Partition,
        saved: SavedHostMap,
    ) -> Result<Self, SavedStateError> {
        if saved.of_performers.len() != topology.present().count()
            || saved.to_cells.len() != topology.cells.len()
        {
            return Err(SavedStateError::HandOffCount);
        }
        let performers = (0..topology.performers.len() as u32).map(PerformerId);
        let mut owned = vec![Vec::new(); topology.cells.len()];
        let mut hand_offs = vec![0; topology.performers.len()];
        for (id, count) in topology.present().zip(saved.of_performers) {
            owned[partition.cell(id).0 as usize].push(id);
            hand_offs[id.0 as usize] = count;
        }
        Ok(Self {
            cell_of: performers.map(|id| partition.cell(id)).collect(),
            owned,
            affinity: BTreeMap::new(),
            hosts: BTreeMap::new(),
            hosted: ByPeer::default(),
            hand_offs,
            hand_offs_to: saved.to_cells,
            hand_offs_in: saved.in_secondaries,
        })
    }

    /// Returns what must be kept to count on.
    pub(crate) fn save(&self, topology: &Topology) -> SavedHostMap {
        let present = topology.present();
        SavedHostMap {
            of_performers: present.map(|id| self.hand_offs(id)).collect(),
            to_cells: self.hand_offs_to.clone(),
            in_secondaries: self.hand_offs_in.clone(),
        }
    }

    /// Takes in a performer that starts in its home.
    pub(crate) fn insert(&mut self, topology: &Topology, performer: PerformerId) {
        let home = topology.performer(performer).home;
        let index = performer.0 as usize;
        if index == self.cell_of.len() {
            self.cell_of.push(home);
            self.hand_offs.push(0);
        }
        self.cell_of[index] = home;
        self.hand_offs[index] = 0;
        let owned = &mut self.owned[home.0 as usize];
        owned.insert(owned.partition_point(|other| *other < performer), performer);
    }

    /// Has no more performers than the topology, whose last numbers nobody has any more.
    pub(crate) fn give_back(&mut self, topology: &Topology) {
        self.cell_of.truncate(topology.performers.len());
        self.hand_offs.truncate(topology.performers.len());
    }

    /// Takes a performer out of its cell, as it leaves its world.
    pub(crate) fn remove(&mut self, performer: PerformerId) {
        let cell = self.cell_of[performer.0 as usize];
        self.owned[cell.0 as usize].retain(|other| *other != performer);
    }

    /// Gives a cell to a host, or with `None` to nobody.
    pub(crate) fn place(&mut self, cell: CellId, host: Option<(&PeerName, PeerNumber)>) {
        if let Some(former) = self.hosts.remove(&cell) {
            let cells = self.hosted.entry(former);
            cells.retain(|other| *other != cell);
            self.affinity.remove(&cell);
        }
        let Some((name, host)) = host else {
            return;
        };
        let cells = self.hosted.entry(host);
        cells.insert(cells.partition_point(|other| *other < cell), cell);
        self.hosts.insert(cell, host);
        self.affinity.insert(cell, name.clone());
    }

    /// Lets a performer pass from one cell to another.
    pub(crate) fn hand_over(&mut self, hand_off: HandOffPlan) {
        let HandOffPlan {
            performer,
            from,
            to,
        } = hand_off;
        assert_eq!(
            self.cell_of[performer.0 as usize], from,
            "performer {performer} is handed over by the cell that owns it"
        );
        self.owned[from.0 as usize].retain(|other| *other != performer);
        let owned = &mut self.owned[to.0 as usize];
        owned.insert(owned.partition_point(|other| *other < performer), performer);
        self.cell_of[performer.0 as usize] = to;
        self.hand_offs[performer.0 as usize] += 1;
        self.hand_offs_to[to.0 as usize] += 1;
        let hosts = [from, to].map(|cell| self.affinity.get(&cell));
        if let [from, Some(to)] = hosts
            && from != Some(to)
        {
            *self.hand_offs_in.entry(to.clone()).or_default() += 1;
        }
    }

    pub(crate) fn cell(&self, performer: PerformerId) -> CellId {
        self.cell_of[performer.0 as usize]
    }

    pub(crate) fn owned(&self, cell: CellId) -> &[PerformerId] {
        &self.owned[cell.0 as usize]
    }

    pub(crate) fn host(&self, cell: CellId) -> Option<&PeerName> {
        self.affinity.get(&cell)
    }

    /// Returns the cells that a secondary hosts, ascending.
    pub(crate) fn hosted(&self, host: PeerNumber) -> &[CellId] {
        self.hosted.get(host).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn affinity(&self) -> &BTreeMap<CellId, PeerName> {
        &self.affinity
    }

    pub(crate) fn hand_offs(&self, performer: PerformerId) -> u64 {
        self.hand_offs[performer.0 as usize]
    }

    pub(crate) fn hand_offs_to(&self, cell: CellId) -> u64 {
        self.hand_offs_to[cell.0 as usize]
    }

    pub(crate) fn hand_offs_in(&self, name: &PeerName) -> u64 {
        self.hand_offs_in.get(name).copied().unwrap_or(0)
    }
}
