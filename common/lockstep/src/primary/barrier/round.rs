//! [`Round`]: one step from its publication to its last ack.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use protocol::primary_to_secondary::{CellSnapshot, Step};
use protocol::secondary_to_primary::{StepAck, SystemRequest};
use protocol::{PeerName, SessionTime, TopicMessage};

use crate::peer_numbers::PeerNumber;
use crate::primary::barrier::Escalation;
use crate::primary::barrier::step_timeout::StepTimeout;
use crate::primary::commands::batch::AppliedCommand;
use crate::primary::io::{CellTiming, PeerTiming};
use crate::primary::peers::seats::Seats;
use crate::primary::purpose::Purpose;
use crate::primary::settings::PeerSettings;

/// Time after which an unacknowledged step is sent again, to the silent secondary alone; doubled
/// each time.
const FIRST_RESEND: Duration = Duration::from_millis(200);

/// Time by which time-outs are put off while others restore what is lost.
const POSTPONED_BY: Duration = Duration::from_secs(1);

/// A step that is published.
#[derive(Debug)]
pub(crate) struct NewRound {
    pub(crate) step: Arc<Step>,
    pub(crate) purpose: Purpose,
    /// True if it was answered before it was made.
    pub(crate) is_ahead: bool,
    /// The snapshots that the step needs, with their receivers.
    pub(crate) snapshots: Vec<(PeerName, CellSnapshot)>,
    /// The commands that the step brings.
    pub(crate) applied: Vec<AppliedCommand>,
    pub(crate) cell_count: usize,
}

/// A step that waits for its acks.
#[derive(Debug)]
pub(crate) struct Round {
    step: Arc<Step>,
    purpose: Purpose,
    is_ahead: bool,
    snapshots: Vec<(PeerName, CellSnapshot)>,
    applied: Vec<AppliedCommand>,
    acks: Acks,
    gathered: Gathered,
    published_at: SessionTime,
    resend_after: Duration,
    timeout: StepTimeout,
}

/// Acks of a step.
#[derive(Debug)]
struct Acks {
    /// Those who were asked when the step was published.
    seats: Arc<Seats>,
    /// Each one's ack, by their seats.
    of: Vec<Ack>,
    /// Number of those that are missing.
    missing: usize,
    /// Number of messages besides their own that some have published, in the place of others.
    published_for_lost: BTreeMap<PeerName, u32>,
}

/// Ack of one secondary.
#[derive(Clone, Debug)]
enum Ack {
    /// It need not come.
    Forgiven,
    /// It is waited for.
    Missing,
    /// It is here.
    Here(PeerTiming),
}

/// Contents of the acks so far.
#[derive(Debug, Default)]
pub(crate) struct Gathered {
    /// Time that each cell took.
    pub(crate) cells: Vec<CellTiming>,
    /// Reasons why actions of the step could not be done, by their numbers.
    pub(crate) failures: BTreeMap<u64, String>,
    /// Commands that systems ask for.
    pub(crate) requests: Vec<SystemRequest>,
    /// Messages of systems.
    pub(crate) messages: Vec<TopicMessage>,
    /// Messages on topics that participants listen to.
    pub(crate) for_participants: Vec<TopicMessage>,
}

/// Factor by which the step that builds the world may take longer than others: meshes are read and
/// their trees are built in it.
const BUILD_FACTOR: u32 = 10;

/// Secondaries that have not answered a step.
#[derive(Debug)]
pub(crate) struct Overdue {
    pub(crate) missing: Vec<PeerName>,
    /// True if the step is to be sent again.
    pub(crate) resends: bool,
}

/// Returns the time after which those are lost who do not answer a step.
fn given_up_after(purpose: Purpose, step_timeout: Duration) -> Duration {
    match purpose {
        Purpose::Build => step_timeout * BUILD_FACTOR,
        Purpose::Fetch | Purpose::Advance | Purpose::Pause | Purpose::Rearrange => step_timeout,
    }
}

impl Round {
    pub(super) fn new(
        new: NewRound,
        awaited: Arc<Seats>,
        settings: &PeerSettings,
        now: SessionTime,
    ) -> Self {
        Self {
            step: new.step,
            purpose: new.purpose,
            is_ahead: new.is_ahead,
            snapshots: new.snapshots,
            applied: new.applied,
            acks: Acks {
                of: vec![Ack::Missing; awaited.names().len()],
                missing: awaited.names().len(),
                seats: awaited,
                published_for_lost: BTreeMap::new(),
            },
            gathered: Gathered {
                cells: Vec::with_capacity(new.cell_count),
                ..Gathered::default()
            },
            published_at: now,
            resend_after: FIRST_RESEND,
            timeout: StepTimeout::new(
                settings.step_timeout_stages,
                given_up_after(new.purpose, settings.step_timeout),
            ),
        }
    }

    pub(crate) fn step(&self) -> &Step {
        &self.step
    }

    /// Returns those who were asked when it was published.
    pub(super) fn seats(&self) -> &Seats {
        &self.acks.seats
    }

    pub(crate) fn shared_step(&self) -> Arc<Step> {
        Arc::clone(&self.step)
    }

    pub(crate) fn purpose(&self) -> Purpose {
        self.purpose
    }

    /// Tells whether it was answered before it was made.
    pub(crate) fn is_ahead(&self) -> bool {
        self.is_ahead
    }

    /// Returns the snapshots that the step needs, with their receivers.
    pub(crate) fn snapshots(&self) -> &[(PeerName, CellSnapshot)] {
        &self.snapshots
    }

    pub(crate) fn published_at(&self) -> SessionTime {
        self.published_at
    }

    /// Returns for how long it has waited.
    pub(crate) fn waited(&self, now: SessionTime) -> Duration {
        now.since(self.published_at)
    }

    /// Takes the commands that the step brought.
    pub(crate) fn take_applied(&mut self) -> Vec<AppliedCommand> {
        std::mem::take(&mut self.applied)
    }

    pub(super) fn into_applied(self) -> Vec<AppliedCommand> {
        self.applied
    }

    pub(super) fn gathered(&mut self) -> &mut Gathered {
        &mut self.gathered
    }

    /// Takes the time that each cell took.
    pub(crate) fn take_cells(&mut self) -> Vec<CellTiming> {
        std::mem::take(&mut self.gathered.cells)
    }

    /// Takes all that the acks brought.
    pub(crate) fn take_gathered(&mut self) -> Gathered {
        std::mem::take(&mut self.gathered)
    }

    /// Returns the step itself, once all is taken out.
    pub(crate) fn into_step(self) -> Arc<Step> {
        self.step
    }

    /// Returns the time when something is to be done about those who have not answered.
    pub(crate) fn deadline(&self) -> SessionTime {
        self.published_at + self.resend_after.min(self.timeout.next())
    }

    pub(super) fn overdue(
        &mut self,
        is_waited_for: impl Fn(&PeerName) -> bool,
        now: SessionTime,
    ) -> Option<Overdue> {
        let waited = self.waited(now);
        let missing = self.missing().filter(|name| is_waited_for(name));
        let missing: Vec<PeerName> = missing.cloned().collect();
        if missing.is_empty() {
            let later = waited + POSTPONED_BY;
            self.resend_after = self.resend_after.max(later);
            self.timeout.postpone(later);
            return None;
        }
        let resends = waited >= self.resend_after;
        if resends {
            self.resend_after *= 2;
        }
        Some(Overdue { missing, resends })
    }

    /// Tells whether those who have not answered are lost by now; those who are kept all the same
    /// have their whole time again.
    pub(crate) fn take_loss(&mut self, step_timeout: Duration, now: SessionTime) -> bool {
        let waited = self.waited(now);
        self.timeout.take_loss(waited, step_timeout)
    }

    /// Takes the stages of waiting that are due.
    pub(crate) fn escalate(&mut self, now: SessionTime) -> Escalation {
        let waited = self.waited(now);
        Escalation {
            warning: self.timeout.take_warning(waited),
            examines: self.timeout.take_diagnosis(waited),
        }
    }

    /// Gives those who have not answered their whole time again.
    pub(crate) fn restart_timeout(&mut self, step_timeout: Duration, now: SessionTime) {
        let waited = self.waited(now);
        self.timeout.restart(waited, step_timeout);
    }

    /// Gives somebody who was kept from the step by a job its whole time for it.
    pub(super) fn wait_again_for(
        &mut self,
        name: &PeerName,
        step_timeout: Duration,
        now: SessionTime,
    ) {
        if self.is_missing(name) {
            let waited = self.waited(now);
            self.timeout.postpone_loss(waited + step_timeout);
        }
    }

    /// Returns the time since which those who do nothing else have had nothing but the step to do:
    /// its publication, or the end of the job that kept them from it.
    pub(crate) fn free_since(&self) -> SessionTime {
        self.published_at + self.timeout.kept()
    }

    /// Returns the time after which those are lost who do not answer.
    pub(crate) fn given_up_after(&self, step_timeout: Duration) -> Duration {
        given_up_after(self.purpose, step_timeout)
    }

    /// Waits longer in every stage.
    pub(super) fn extend(&mut self, by: Duration) {
        self.timeout.extend(by);
    }

    /// Returns the seat of somebody who is asked, and whether it has answered.
    pub(super) fn has_answered(&self, number: PeerNumber) -> Option<(usize, bool)> {
        let seat = self.acks.seats.seat(number)?;
        match self.acks.of[seat] {
            Ack::Forgiven => None,
            Ack::Missing => Some((seat, false)),
            Ack::Here(_) => Some((seat, true)),
        }
    }

    pub(crate) fn is_missing(&self, name: &PeerName) -> bool {
        let seat = self.acks.seats.find(name);
        seat.is_some_and(|seat| matches!(self.acks.of[seat], Ack::Missing))
    }

    /// Takes one off the list who is lost and has been answered for, or need not answer.
    pub(crate) fn forgive(&mut self, name: &PeerName) {
        if let Some(seat) = self.acks.seats.find(name) {
            self.set(seat, Ack::Forgiven);
        }
    }

    fn set(&mut self, seat: usize, ack: Ack) {
        let before = std::mem::replace(&mut self.acks.of[seat], ack);
        self.acks.missing -= usize::from(matches!(before, Ack::Missing));
    }

    /// Notes how many messages were published in the place of somebody who is lost.
    pub(super) fn note_published(&mut self, lost: &PeerName, published: u32) {
        let count = self.acks.published_for_lost.entry(lost.clone());
        *count.or_default() += published;
    }

    /// Notes the answer of a seat, and tells whether nobody is missing any more.
    pub(super) fn note_answer(&mut self, seat: usize, timing: PeerTiming) -> bool {
        self.set(seat, Ack::Here(timing));
        self.acks.missing == 0
    }

    /// Gathers all that an answer brings besides states.
    pub(super) fn gather(&mut self, ack: &mut StepAck) {
        let gathered = self.gathered();
        let cells = ack.cells.iter().map(|cell| CellTiming {
            cell: cell.cell,
            physics_ns: cell.physics_ns,
            systems_ns: cell.systems_ns,
            sensors_ns: cell.sensors_ns,
        });
        gathered.cells.extend(cells);
        gathered.requests.append(&mut ack.requests);
        gathered.messages.append(&mut ack.messages);
        gathered.for_participants.append(&mut ack.for_participants);
        for failure in ack.failures.drain(..) {
            gathered.failures.insert(failure.number, failure.reason);
        }
    }

    /// Returns the times that the secondaries took who have answered, with their numbers.
    pub(super) fn timings_mut(&mut self) -> impl Iterator<Item = (PeerNumber, &mut PeerTiming)> {
        let numbers = self.acks.seats.numbers().iter().copied();
        let acks = numbers.zip(&mut self.acks.of);
        acks.filter_map(|(number, ack)| match ack {
            Ack::Here(timing) => Some((number, timing)),
            Ack::Forgiven | Ack::Missing => None,
        })
    }

    /// Returns the time that each secondary took, by name, with all that it published.
    pub(super) fn take_timings(&mut self) -> Vec<PeerTiming> {
        let acks = std::mem::take(&mut self.acks.of).into_iter();
        let timings = acks.filter_map(|ack| match ack {
            Ack::Here(timing) => Some(timing),
            Ack::Forgiven | Ack::Missing => None,
        });
        let mut timings: Vec<PeerTiming> = timings.collect();
        for (name, published) in std::mem::take(&mut self.acks.published_for_lost) {
            match timings.iter_mut().find(|timing| timing.name == name) {
                Some(timing) => timing.published += published,
                None => timings.push(PeerTiming {
                    name,
                    physics: Duration::ZERO,
                    systems: Duration::ZERO,
                    sensors: Duration::ZERO,
                    busy: Duration::ZERO,
                    published,
                    answered_after: Duration::ZERO,
                }),
            }
        }
        timings
    }

    /// Returns the secondaries whose ack is not there yet.
    pub(crate) fn missing(&self) -> impl Iterator<Item = &PeerName> {
        let acks = self.acks.seats.names().iter().zip(&self.acks.of);
        let missing = acks.filter(|(_, ack)| matches!(ack, Ack::Missing));
        missing.map(|(name, _)| name)
    }

    /// Returns the numbers of the same.
    pub(super) fn missing_numbers(&self) -> impl Iterator<Item = PeerNumber> {
        let acks = self.acks.seats.numbers().iter().zip(&self.acks.of);
        let missing = acks.filter(|(_, ack)| matches!(ack, Ack::Missing));
        missing.map(|(number, _)| *number)
    }

    /// Tells whether nobody is missing.
    pub(super) fn is_answered(&self) -> bool {
        self.acks.missing == 0
    }
}
