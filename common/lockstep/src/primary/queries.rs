//! Queries: state of a primary that its driver reports. Nothing here changes any, but for the notes
//! that topic data was delivered and that the driver had nothing to do.

use std::sync::Arc;
use std::time::Duration;

use protocol::report::{EventCounts, RefusedCounts, RunState};
use protocol::{
    CellId, Digest, Iteration, PeerName, PerformerId, PerformerState, Sequence, SessionTime,
    SimTime,
};

use crate::partition::Partition;
use crate::primary::barrier::round::Round;
use crate::primary::{Phase, Primary, RunTarget, Settings};
use crate::roster::Roster;
use crate::topology::Topology;

impl Primary {
    /// Returns the settings of the run.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Returns the topology of the worlds.
    pub fn topology(&self) -> &Topology {
        self.world.topology()
    }

    /// Returns the worlds as the run began with them, in the encoding of `sdf::encode_worlds`.
    pub fn encoded_worlds(&self) -> Arc<[u8]> {
        self.peers.encoded_worlds()
    }

    /// Returns the secondaries.
    pub fn roster(&self) -> &Roster {
        self.peers.roster()
    }

    /// Returns the levels, ghosts and cells that follow from the places of performers.
    pub fn partition(&self) -> &Partition {
        self.world.partition()
    }

    /// Returns the secondary that hosts a cell.
    pub fn host(&self, cell: CellId) -> Option<&PeerName> {
        self.placement.host_map().host(cell)
    }

    /// Returns the cells that a secondary hosts, ascending.
    pub fn hosted(&self, name: &PeerName) -> &[CellId] {
        self.placement.hosted_by(name, self.peers.numbers())
    }

    /// Returns the cell that owns a performer and the performer's state.
    pub fn performer(&self, id: PerformerId) -> (CellId, &PerformerState) {
        (self.placement.host_map().cell(id), self.world.state(id))
    }

    /// Returns the states of all performers after an iteration whose [`StepReport`] is handled, by
    /// the performers' numbers. The next step may be under way: some may be gone with it, come only
    /// with it, or be back at the start.
    ///
    /// [`StepReport`]: crate::primary::StepReport
    pub fn states_after(&self, iteration: Iteration) -> &[PerformerState] {
        self.world.states_after(iteration)
    }

    /// Returns the groups of two performers and more, in worlds that have levels; for those who
    /// ask, since it looks at every performer.
    pub fn groups(&self) -> Vec<Vec<PerformerId>> {
        self.world.groups()
    }

    /// Tells whether observers listen to groups.
    pub fn are_groups_observed(&self) -> bool {
        self.commands.observed().has_groups()
    }

    /// Returns how often a performer has changed cell.
    pub fn hand_offs(&self, id: PerformerId) -> u64 {
        self.placement.host_map().hand_offs(id)
    }

    /// Returns how many performers were handed to a cell.
    pub fn hand_offs_to(&self, cell: CellId) -> u64 {
        self.placement.host_map().hand_offs_to(cell)
    }

    /// Returns how many performers other secondaries have handed to this one.
    pub fn hand_offs_in(&self, name: &PeerName) -> u64 {
        self.placement.host_map().hand_offs_in(name)
    }

    /// Returns the performers that a cell owns, ascending.
    pub fn owned(&self, cell: CellId) -> &[PerformerId] {
        self.placement.host_map().owned(cell)
    }

    /// Returns the digest of the performers in a cell after the last completed iteration; `None` of
    /// a cell that nobody hosts.
    pub fn cell_digest(&self, cell: CellId) -> Option<Digest> {
        let digest = self.world.cell_digest(cell);
        digest.filter(|_| self.placement.host_map().host(cell).is_some())
    }

    /// Returns performers in order of their names.
    pub fn performers_by_name(&self) -> &[PerformerId] {
        self.world.performers_by_name()
    }

    /// Returns the last completed iteration.
    pub fn iteration(&self) -> Iteration {
        self.clock.iteration()
    }

    /// Returns the number of the last step.
    pub fn sequence(&self) -> Sequence {
        self.clock.sequence()
    }

    /// Returns simulated time after the last completed iteration.
    pub fn sim_time(&self) -> SimTime {
        self.clock.sim_time()
    }

    /// Returns the simulated time since the start, or since the last reset of models.
    pub fn elapsed(&self) -> SimTime {
        self.clock.elapsed()
    }

    /// Returns the digest after the last completed iteration.
    pub fn digest(&self) -> Digest {
        self.world.digest()
    }

    /// Returns what the run is doing.
    pub fn run_state(&self) -> RunState {
        match self.phase {
            Phase::Gathering => RunState::Waiting,
            Phase::Stopping | Phase::Finished => RunState::Stopping,
            Phase::Running if self.is_recovering() => RunState::Recovering,
            Phase::Running if self.clock.is_paused() => RunState::Paused,
            Phase::Running => RunState::Running,
        }
    }

    /// Tells whether time is to stand still, whatever is done meanwhile.
    pub fn is_to_stand_still(&self) -> bool {
        self.clock.is_paused()
    }

    /// Tells whether a secondary does again what was done.
    pub fn is_catching_up(&self, name: &PeerName) -> bool {
        self.recovery.jobs().has(name)
    }

    /// Returns the secondaries that the step under way still waits for.
    pub fn blocking(&self) -> impl Iterator<Item = &PeerName> {
        self.barrier.missing()
    }

    /// Returns the time since which a step waits for its acks, if one does.
    pub fn waiting_since(&self) -> Option<SessionTime> {
        self.barrier.round().map(Round::published_at)
    }

    /// Returns the number of refused messages.
    pub fn refused(&self) -> RefusedCounts {
        self.peers.refused()
    }

    /// Returns the events counted so far.
    pub fn events(&self) -> EventCounts {
        self.world.events()
    }

    /// Tells whether a secondary takes part in the steps; one that joins does so later.
    pub fn takes_part(&self, name: &PeerName) -> bool {
        self.peers.takes_part(name)
    }

    /// Tells whether a secondary gives away its cells to leave.
    pub fn is_draining(&self, name: &PeerName) -> bool {
        self.peers.is_draining(name)
    }

    /// Returns the secondaries that are lost and not replaced yet, with the cells that they had.
    pub fn lost(&self) -> impl Iterator<Item = (&PeerName, &[CellId])> {
        self.recovery.losses().lost()
    }

    /// Tells whether lost cells are being restored.
    pub fn is_recovering(&self) -> bool {
        self.recovery.losses().is_under_way()
    }

    /// Takes note of the last step of which observers have all that was said in it, and of all
    /// steps before: it is not said once more when somebody is lost.
    pub fn note_delivered(&mut self, sequence: Sequence) {
        self.recovery.note_delivered(sequence);
    }

    /// Tells whether no step is under way since the answers to the next are being computed.
    pub fn awaits_steps_ahead(&self) -> bool {
        let seats = self.peers.seats();
        self.barrier.is_free() && self.barrier.steps_ahead_awaited_until(seats).is_some()
    }

    /// Tells whether the last step rests: the next is tried with the next input, whatever that is.
    pub fn goes_on_at_once(&self) -> bool {
        self.phase == Phase::Running && self.barrier.speculation().rests()
    }

    /// Takes note of a time in which the driver waited for something to come, and did nothing
    /// else: what is left is the primary's own work.
    pub fn note_idle(&mut self, idle: Duration) {
        self.barrier.speculation_mut().note_idle(idle);
    }

    /// Returns the wanted state of the run.
    pub fn run_target(&self) -> RunTarget {
        let factor = self.settings.pace.real_time_factor;
        self.resume.target(self.clock.mode(), factor)
    }

    /// Tells whether iterations are being replayed.
    pub fn is_replaying(&self) -> bool {
        self.resume.is_replaying()
    }
}
