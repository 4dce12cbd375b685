//! [`Placement`]: hosts of cells, their balance, and cells that migrate.

pub(crate) mod host_map;
pub(crate) mod migration;

use std::collections::BTreeMap;
use std::time::Duration;

use protocol::primary_to_observers::Severity;
use protocol::primary_to_secondary::{AffinityChange, CellSource};
use protocol::secondary_to_primary::StepAck;
use protocol::{CellId, FailureCode, Iteration, PeerName, PerformerId};

use crate::balance::{Balance, BalanceSettings};
use crate::partition::{Changes, HandOffPlan};
use crate::peer_numbers::PeerNumbers;
use crate::placement::first_placement;
use crate::primary::context::{Context, Failure};
use crate::primary::io::PeerTiming;
use crate::primary::peers::Peers;
use crate::primary::peers::seats::Seats;
use crate::primary::world::WorldState;
use crate::topology::Topology;
use host_map::HostMap;
use migration::Migration;

/// Number of levels of a peer that are named.
const LEVELS_NAMED: usize = 3;
/// Number of hand-offs of one iteration that are told one by one.
const TOLD_MAX: usize = 8;

/// Placement of cells.
#[derive(Debug)]
pub(crate) struct Placement {
    host_map: HostMap,
    balance: Balance,
    migrations: Vec<Migration>,
    /// Duration of the last step without migrations.
    last_advance: Duration,
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

    pub(crate) fn host_map(&self) -> &HostMap {
        &self.host_map
    }

    /// Goes on with saved counts, and no cell hosted.
    pub(crate) fn restore(&mut self, host_map: HostMap) {
        self.host_map = host_map;
    }

    /// Gives each cell of the start a host.
    pub(crate) fn place_first(
        &mut self,
        topology: &Topology,
        secondaries: &[PeerName],
        known: &PeerNumbers,
    ) -> Vec<AffinityChange> {
        let affinities = first_placement(topology, secondaries);
        for change in &affinities {
            if let Some(host) = &change.secondary {
                self.place(change.cell, host, known);
            }
        }
        affinities
    }

    /// Goes back to the start: every cell is built again by one of these secondaries.
    pub(crate) fn reset(
        &mut self,
        topology: &Topology,
        secondaries: &[PeerName],
        known: &PeerNumbers,
    ) -> Vec<AffinityChange> {
        self.host_map = HostMap::new(topology);
        self.place_first(topology, secondaries, known)
    }

    /// Gives a cell to a host that has it up to date.
    ///
    /// # Panics
    /// Panics when nobody of this name was ever a secondary of the run.
    pub(crate) fn place(&mut self, cell: CellId, host: &PeerName, known: &PeerNumbers) {
        let number = known.find(host);
        let number = number.expect("only secondaries of the run are given cells");
        self.host_map.place(cell, Some((host, number)));
    }

    /// Has no more performers than the topology, whose last numbers nobody has any more.
    pub(crate) fn give_back(&mut self, topology: &Topology) {
        self.host_map.give_back(topology);
    }

    /// Takes in performers that come with the next step.
    pub(crate) fn insert(&mut self, topology: &Topology, spawned: &[PerformerId]) {
        for performer in spawned {
            self.host_map.insert(topology, *performer);
        }
    }

    /// Opens cells, and gives those up that close or were never open: these keep their host until
    /// hand-offs are done.
    pub(crate) fn open_and_close(
        &mut self,
        changes: &Changes,
        world: &WorldState,
        peers: &Peers,
        cx: &mut Context<'_>,
    ) -> Vec<AffinityChange> {
        let mut closed = changes.cells_closed.clone();
        if world.is_fresh() {
            // A cell of the start that is left at once was never open.
            let built = self.host_map.affinity().keys().copied();
            closed.extend(built.filter(|cell| !world.partition().is_open(*cell)));
            closed.sort_unstable();
            closed.dedup();
        }
        let reason = "the cell was given up before it could move: nothing is in it";
        let failure = Failure::new(FailureCode::WrongState, reason);
        self.drop_migrations_of(&closed, &failure, cx);
        let given_up = |cell| AffinityChange {
            cell,
            secondary: None,
            source: CellSource::Empty,
        };
        let mut affinities: Vec<AffinityChange> = closed.into_iter().map(given_up).collect();
        let opened = changes.cells_opened.iter().copied();
        let opening: Vec<CellId> = opened
            .filter(|cell| self.host_map.host(*cell).is_none())
            .collect();
        if opening.is_empty() {
            return affinities;
        }
        let hosts = peers.hosts_for_lost_cells();
        for cell in opening {
            let host = self.host_for(cell, world, &hosts, peers.numbers());
            self.place(cell, &host, peers.numbers());
            affinities.push(AffinityChange {
                cell,
                secondary: Some(host),
                source: CellSource::Empty,
            });
        }
        affinities
    }

    /// Returns the host of a cell that opens: one that stands by, else that of those who are ghosts
    /// in it and so likely to enter it, which changes no load when they do.
    fn host_for(
        &mut self,
        cell: CellId,
        world: &WorldState,
        hosts: &[PeerName],
        known: &PeerNumbers,
    ) -> PeerName {
        let stands_by = |name: &PeerName| self.hosted_by(name, known).is_empty();
        let mut owners: BTreeMap<&PeerName, usize> = BTreeMap::new();
        for ghost in world.partition().ghosts(cell) {
            if let Some(host) = self.host_map.host(self.host_map.cell(ghost))
                && hosts.contains(host)
            {
                *owners.entry(host).or_default() += 1;
            }
        }
        let most = owners.into_iter().rev().max_by_key(|(_, count)| *count);
        let count = world.partition().owned(cell).len();
        match most {
            Some((owner, _)) if count == 0 && !hosts.iter().any(stands_by) => owner.clone(),
            _ => {
                let expected = (count + world.partition().ghosts(cell).count()) as u32;
                let affinity = self.host_map.affinity();
                self.balance.host_for(cell, expected, affinity, hosts)
            }
        }
    }

    /// Returns hosts for cells, by their numbers of performers; others are where `affinity` says.
    pub(crate) fn hosts_for(
        &mut self,
        cells: &[CellId],
        affinity: &BTreeMap<CellId, PeerName>,
        hosts: &[PeerName],
    ) -> Vec<PeerName> {
        let counted = self.counted(cells);
        self.balance.hosts_for(&counted, affinity, hosts)
    }

    /// Returns cells with their numbers of performers.
    fn counted(&self, cells: &[CellId]) -> Vec<(CellId, u32)> {
        let count = |cell: &CellId| (*cell, self.host_map.owned(*cell).len() as u32);
        cells.iter().map(count).collect()
    }

    /// Lets a performer pass from one cell to another.
    pub(crate) fn hand_over(&mut self, hand_off: HandOffPlan) {
        self.host_map.hand_over(hand_off);
    }

    /// Ends the changes of a step: cells that were given up have no host any more, and performers
    /// that leave no cell.
    pub(crate) fn end_changes(&mut self, affinities: &[AffinityChange], removed: &[PerformerId]) {
        for change in affinities {
            if change.secondary.is_none() {
                self.host_map.place(change.cell, None);
                self.balance.forget(change.cell);
            }
        }
        for performer in removed {
            self.host_map.remove(*performer);
        }
    }

    /// Takes note of the time that cells took in an iteration.
    pub(crate) fn note_costs(&mut self, ack: &StepAck) {
        for one in &ack.cells {
            let cost = Duration::from_nanos(one.physics_ns.saturating_add(one.systems_ns));
            let sensors = Duration::from_nanos(one.sensors_ns);
            self.balance.note(one.cell, cost, sensors);
        }
        for cell in ack.at_rest.iter() {
            self.balance.note(cell, Duration::ZERO, Duration::ZERO);
        }
    }

    /// Takes note of the ways to secondaries in an iteration.
    pub(crate) fn note_ways(
        &mut self,
        iteration: Iteration,
        timings: &[PeerTiming],
        peers: &Peers,
    ) {
        if !self.balance.samples_ways(iteration) {
            return;
        }
        for timing in timings {
            // Who answered in the place of a lost secondary has no time of its own.
            let member = peers.roster().get(&timing.name);
            if let Some(member) = member.filter(|_| !timing.answered_after.is_zero()) {
                let way = timing.answered_after.saturating_sub(timing.busy);
                let host = &member.info.host;
                self.balance.note_way(&timing.name, host, iteration, way);
            }
        }
    }

    /// Returns the secondary that speaks for systems of worlds and the scene: one whose cells are
    /// part of the run, if there is any.
    pub(crate) fn world_publisher<'a>(&self, seats: &'a Seats) -> Option<&'a PeerName> {
        let mut numbers = seats.numbers().iter();
        let seat = numbers.position(|number| !self.host_map.hosted(*number).is_empty());
        seats.names().get(seat.unwrap_or(0))
    }

    /// Returns the cells that the secondary of a name hosts, ascending.
    pub(crate) fn hosted_by(&self, name: &PeerName, known: &PeerNumbers) -> &[CellId] {
        let number = known.find(name);
        number.map_or(&[], |number| self.host_map.hosted(number))
    }

    /// Returns the names of the levels of some cells, for people.
    pub(crate) fn levels_of(cells: &[CellId], world: &WorldState) -> Option<String> {
        let names = cells.iter().take(LEVELS_NAMED);
        let names: Vec<&str> = names.map(|cell| world.cell_name(*cell)).collect();
        match cells.len().saturating_sub(names.len()) {
            _ if names.is_empty() => None,
            0 => Some(names.join(" and ")),
            more => Some(format!("{} and {more} more", names.join(", "))),
        }
    }

    /// Has observers told of hand-offs.
    pub(crate) fn tell_hand_offs(
        &self,
        hand_offs: &[HandOffPlan],
        world: &WorldState,
        cx: &mut Context<'_>,
    ) {
        for hand_off in hand_offs.iter().take(TOLD_MAX) {
            let name = &world.topology().performer(hand_off.performer).name;
            let [from, to] = [hand_off.from, hand_off.to].map(|cell| {
                let host = self.host_map.host(cell);
                let host = host.map_or("nobody", PeerName::as_str);
                format!("{} ({host})", world.cell_name(cell))
            });
            let text = format!("{name} passes from {from} to {to}");
            cx.event(Severity::Info, "hand-off", text);
        }
        if let Some(others) = hand_offs.len().checked_sub(TOLD_MAX).filter(|n| *n > 0) {
            let text = format!("{others} more pass in the same iteration");
            cx.event(Severity::Info, "hand-off", text);
        }
    }
}
