//! Placement: which secondary hosts which cell, and cells that migrate.

pub(crate) mod host_map;
pub(crate) mod migration;

use std::time::Duration;

use protocol::CellId;
use protocol::primary_to_secondary::{AffinityChange, CellSource};

use crate::balance::{Balance, BalanceSettings};
use crate::topology::Topology;
use host_map::HostMap;
use migration::Migration;

/// Placement of cells.
#[derive(Debug)]
pub(crate) struct Placement {
    pub(crate) host_map: HostMap,
    pub(crate) balance: Balance,
    pub(crate) migrations: Vec<Migration>,
    /// What the last step without migrations took.
    pub(crate) last_advance: Duration,
}

impl Placement {
    /// Makes the placement of a run in which no cell is hosted yet.
    pub(crate) fn new(topology: &Topology) -> Self {
        Self {
            host_map: HostMap::new(topology),
            balance: Balance::new(BalanceSettings::default()),
            migrations: Vec::new(),
            last_advance: Duration::ZERO,
        }
    }
}

/// Returns the change that gives a cell up.
pub(crate) fn given_up(cell: CellId) -> AffinityChange {
    AffinityChange {
        cell,
        secondary: None,
        source: CellSource::Empty,
    }
}
