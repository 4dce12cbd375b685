//! What the driver reads of a primary for reports.

use protocol::report::{EventCounts, RefusedCounts, RunState};
use protocol::{
    CellId, Digest, Iteration, PeerName, PerformerId, PerformerState, Sequence, SessionTime,
    SimTime,
};

use crate::partition::Partition;
use crate::primary::{ClockMode, Phase, Primary, Settings};
use crate::roster::Roster;
use crate::topology::Topology;

impl Primary {
    /// Returns the settings of the run.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Returns the topology of the worlds.
    pub fn plan(&self) -> &Topology {
        &self.world.topology
    }

    /// Returns the secondaries.
    pub fn roster(&self) -> &Roster {
        &self.peers.roster
    }

    /// Returns which levels, ghosts and cells follow from where the performers are.
    pub fn partition(&self) -> &Partition {
        &self.world.partition
    }

    /// Returns the secondary that hosts a cell.
    pub fn host(&self, cell: CellId) -> Option<&PeerName> {
        self.placement.host_map.host(cell)
    }

    /// Returns the cells that a secondary hosts, ascending.
    pub fn hosted(&self, name: &PeerName) -> &[CellId] {
        self.placement.host_map.hosted(name)
    }

    /// Returns the cell that owns a performer and the performer's state.
    pub fn performer(&self, id: PerformerId) -> (CellId, &PerformerState) {
        (
            self.placement.host_map.cell(id),
            &self.world.latest.states[id.0 as usize],
        )
    }

    /// Returns the states of all performers after an iteration whose [`StepReport`] is handled, by
    /// the performers' numbers. The next step may be under way: some may be gone with it, come only
    /// with it, or be back at the start.
    ///
    /// [`StepReport`]: crate::primary::StepReport
    pub fn states_after(&self, iteration: Iteration) -> &[PerformerState] {
        self.world.latest.states_after(iteration)
    }

    /// Returns how often a performer has changed cell.
    pub fn hand_offs(&self, id: PerformerId) -> u64 {
        self.placement.host_map.hand_offs(id)
    }

    /// Returns how many performers were handed to a cell.
    pub fn hand_offs_to(&self, cell: CellId) -> u64 {
        self.placement.host_map.hand_offs_to(cell)
    }

    /// Returns how many performers other secondaries have handed to this one.
    pub fn hand_offs_in(&self, name: &PeerName) -> u64 {
        self.placement.host_map.hand_offs_in(name)
    }

    /// Returns the performers that a cell owns, ascending.
    pub fn owned(&self, cell: CellId) -> &[PerformerId] {
        self.placement.host_map.owned(cell)
    }

    /// Returns the digest of the performers in a cell after the last completed iteration; `None` of
    /// a cell that nobody hosts.
    pub fn cell_digest(&self, cell: CellId) -> Option<Digest> {
        let digest = self.world.latest.cell_digest(cell);
        digest.filter(|_| self.placement.host_map.host(cell).is_some())
    }

    /// Returns performers in order of their names.
    pub fn performers_by_name(&self) -> &[PerformerId] {
        &self.world.by_name
    }

    /// Returns the last completed iteration.
    pub fn iteration(&self) -> Iteration {
        self.clock.iteration
    }

    /// Returns the number of the last step.
    pub fn sequence(&self) -> Sequence {
        self.clock.sequence
    }

    /// Returns simulated time after the last completed iteration.
    pub fn sim_time(&self) -> SimTime {
        self.clock.sim_time
    }

    /// Returns the digest after the last completed iteration.
    pub fn digest(&self) -> Digest {
        self.world.digest
    }

    /// Returns what the run is doing.
    pub fn run_state(&self) -> RunState {
        match self.phase {
            Phase::Gathering => RunState::Waiting,
            Phase::Stopping | Phase::Finished => RunState::Stopping,
            Phase::Running if self.recovery.losses.is_under_way() => RunState::Recovering,
            Phase::Running => match self.clock.mode {
                ClockMode::Paused => RunState::Paused,
                ClockMode::Pausing | ClockMode::Running | ClockMode::Until(_) => RunState::Running,
            },
        }
    }

    /// Tells whether time is to stand still, whatever is done meanwhile.
    pub fn is_to_stand_still(&self) -> bool {
        self.clock.mode == ClockMode::Paused
    }

    /// Tells whether a secondary does again what was done.
    pub fn is_catching_up(&self, name: &PeerName) -> bool {
        self.recovery.jobs.has(name)
    }

    /// Returns the secondaries that the step under way still waits for.
    pub fn blocking(&self) -> impl Iterator<Item = &PeerName> {
        let round = self.barrier.round.as_ref();
        round.into_iter().flat_map(|round| round.missing())
    }

    /// Returns since when a step waits for its acks, if one does.
    pub fn waiting_since(&self) -> Option<SessionTime> {
        let round = self.barrier.round.as_ref();
        round.map(|round| round.published_at)
    }

    /// Returns how many messages were refused.
    pub fn refused(&self) -> RefusedCounts {
        self.peers.refused
    }

    /// Returns the events counted so far.
    pub fn events(&self) -> EventCounts {
        self.events
    }
}
