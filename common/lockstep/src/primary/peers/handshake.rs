//! [`Handshakes`]: secondaries that come and go during a run, in order.
//!
//! One who joins is told what was so far while the run goes on, and takes part once it is as far as
//! the others; then it stands by until the balance, a hand or a loss gives it cells. One who is
//! drained gives all its cells away and is told to leave.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use protocol::exit::Outcome;
use protocol::primary_to_observers::{Announce, Severity};
use protocol::{FailureCode, PeerName, RequestId, RoutingId, Sequence, SessionTime, StopReason};

use crate::primary::context::{CodedError, Context, Failure};
use crate::primary::peers::Peers;
use crate::primary::peers::startup::Entry;

/// Number of refused peers that are told of in so much time.
const REFUSALS_MAX: u32 = 32;
const REFUSALS_INTERVAL: Duration = Duration::from_secs(10);

/// Time for which nobody is let in after one who joined only beat; doubled each time.
const CLOSED_FIRST: Duration = Duration::from_secs(20);
const CLOSED_MAX: Duration = Duration::from_secs(640);

/// The most secondaries that are remembered as let go.
const LET_GO_MAX: usize = 64;

/// Those on the way in or out.
#[derive(Clone, Debug, Default)]
pub(crate) struct Handshakes {
    /// Those who join, with the step that they have come to.
    joining: BTreeMap<PeerName, Option<Sequence>>,
    /// Those who are to give all away, with the clients that asked for it.
    draining: BTreeMap<PeerName, Vec<(RoutingId, RequestId)>>,
    /// Addresses of the last who were drained and let go: what they had sent may still come.
    let_go: BTreeMap<PeerName, RoutingId>,
    /// Time until which nobody is let in, and the last duration of that.
    closed: (SessionTime, Duration),
    /// Number of refused peers told of, and since when.
    refusals_told: (u32, SessionTime),
}

/// Reason why a secondary is not drained after all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DrainFailure {
    /// It is lost.
    Lost,
    /// It stays, since its cells do not fit into a message.
    TooLarge,
}

/// A secondary that cannot be given cells, or give them away.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum HostError {
    #[error("no secondary is named {name}: there are {there}")]
    Unknown { name: PeerName, there: String },
    #[error("{name} is draining: its cells move to other secondaries")]
    Draining { name: PeerName },
    #[error("{name} is the last secondary: nobody could take its cells")]
    Last { name: PeerName },
}

impl CodedError for HostError {
    fn code(&self) -> FailureCode {
        match self {
            Self::Unknown { .. } => FailureCode::NotFound,
            Self::Draining { .. } | Self::Last { .. } => FailureCode::WrongState,
        }
    }
}

impl Handshakes {
    /// Tells whether one more refusal is told: of those that come again and again not all are.
    pub(super) fn tells_of_refusal(&mut self, now: SessionTime) -> bool {
        let (told, since) = &mut self.refusals_told;
        if now >= *since + REFUSALS_INTERVAL {
            (*told, *since) = (0, now);
        }
        *told += 1;
        *told <= REFUSALS_MAX
    }
}

impl Peers {
    /// Tells whether somebody may join: not for a while after one who only beat, unless somebody is
    /// needed.
    pub(super) fn hears_joins(&self, entry: Entry, now: SessionTime) -> bool {
        match entry {
            Entry::Gathering | Entry::Over => true,
            Entry::Running { is_needed, .. } => is_needed || now >= self.handshakes.closed.0,
        }
    }

    /// Lets nobody in for a while.
    pub(crate) fn close(&mut self, now: SessionTime) {
        let (until, last) = &mut self.handshakes.closed;
        *last = (*last * 2).clamp(CLOSED_FIRST, CLOSED_MAX);
        *until = now + *last;
    }

    pub(crate) fn is_draining(&self, name: &PeerName) -> bool {
        self.handshakes.draining.contains_key(name)
    }

    /// Returns those who are to give all away.
    pub(crate) fn draining(&self) -> Vec<PeerName> {
        self.handshakes.draining.keys().cloned().collect()
    }

    /// Returns those who may be given cells, by name.
    pub(crate) fn hosts(&self) -> Cow<'_, [PeerName]> {
        let all = self.secondaries();
        if self.handshakes.draining.is_empty() {
            return Cow::Borrowed(all);
        }
        let stays = |name: &&PeerName| !self.is_draining(name);
        all.iter().filter(stays).cloned().collect()
    }

    /// Returns those who may restore lost cells: those who take part, else those who join.
    pub(crate) fn hosts_for_lost_cells(&self) -> Vec<PeerName> {
        let hosts = self.hosts();
        if !hosts.is_empty() {
            return hosts.into_owned();
        }
        if !self.secondaries().is_empty() {
            return self.secondaries().to_vec();
        }
        self.handshakes.joining.keys().cloned().collect()
    }

    /// Checks that a secondary may be given cells.
    ///
    /// # Errors
    /// Fails when there is none of this name, or it is drained.
    pub(crate) fn check_host(&self, name: &PeerName) -> Result<(), HostError> {
        self.check_known(name)?;
        if self.is_draining(name) {
            return Err(HostError::Draining { name: name.clone() });
        }
        Ok(())
    }

    fn check_known(&self, name: &PeerName) -> Result<(), HostError> {
        if self.takes_part(name) {
            return Ok(());
        }
        Err(HostError::Unknown {
            name: name.clone(),
            there: self.secondary_names(),
        })
    }

    /// Returns the step that one who joins has come to.
    pub(crate) fn position_of(&self, name: &PeerName) -> Option<Sequence> {
        self.handshakes.joining.get(name).copied().flatten()
    }

    /// Notes one who joins.
    pub(crate) fn expect(&mut self, name: &PeerName) {
        self.handshakes.joining.insert(name.clone(), None);
    }

    /// Notes that one who joins has come closer.
    pub(crate) fn note_position(&mut self, name: &PeerName, at: Sequence) {
        self.handshakes.joining.insert(name.clone(), Some(at));
    }

    /// Forgets one who was on the way in.
    pub(crate) fn forget_joiner(&mut self, name: &PeerName) {
        self.handshakes.joining.remove(name);
    }

    /// Has one take part who joined and is as far as the others.
    pub(crate) fn take_part(&mut self, name: &PeerName, next: Sequence, cx: &mut Context<'_>) {
        self.forget_joiner(name);
        if let Some(number) = self.numbers().find(name) {
            Arc::make_mut(&mut self.seats).admit(name, number);
        }
        let text = format!("{name} takes part from step {next} on");
        cx.event(Severity::Info, "run", text);
    }

    /// Checks that a secondary can be drained.
    ///
    /// # Errors
    /// Fails when there is none of this name, or no other.
    pub(crate) fn check_drainable(&self, name: &PeerName) -> Result<(), HostError> {
        self.check_known(name)?;
        if self.hosts().iter().all(|other| other == name) {
            return Err(HostError::Last { name: name.clone() });
        }
        Ok(())
    }

    /// Notes that a client has a secondary drained.
    pub(crate) fn drain(&mut self, name: &PeerName, client: (RoutingId, RequestId)) {
        let asked = self.handshakes.draining.entry(name.clone());
        asked.or_default().push(client);
    }

    /// Gives up to drain a secondary, for this reason.
    pub(crate) fn fail_drain(
        &mut self,
        name: &PeerName,
        failure: DrainFailure,
        cx: &mut Context<'_>,
    ) {
        let asked = self.handshakes.draining.remove(name).unwrap_or_default();
        for (from, request) in asked {
            let (code, reason) = match failure {
                DrainFailure::Lost => (
                    FailureCode::Lost,
                    format!("{name} could not give away its cells"),
                ),
                DrainFailure::TooLarge => (
                    FailureCode::TooMuch,
                    format!("{name} stays: its cells are too large for a message"),
                ),
            };
            cx.fail(from, request, Failure::new(code, reason));
        }
    }

    /// Answers all who asked to drain, since the run ends.
    pub(crate) fn fail_drains(&mut self, failure: &Failure, cx: &mut Context<'_>) {
        let asked = std::mem::take(&mut self.handshakes.draining).into_values();
        for (from, request) in asked.flatten() {
            cx.fail(from, request, failure);
        }
    }

    /// Counts a message of nobody who takes part. One of this run that was sent by who was drained
    /// and let go is too late, and in order.
    pub(crate) fn count_unknown(&mut self, name: &PeerName, from: &RoutingId, is_of_run: bool) {
        let routing = self.handshakes.let_go.get(name);
        let is_of = |routing: &RoutingId| routing == from || from.is_heartbeat_of(routing);
        let is_late = is_of_run && routing.is_some_and(is_of) && self.roster.get(name).is_none();
        if !is_late {
            self.count_foreign();
        }
    }

    /// Lets one go who was drained and has no cell any more.
    pub(crate) fn dismiss(&mut self, name: &PeerName, cx: &mut Context<'_>) {
        let asked = self.handshakes.draining.remove(name).unwrap_or_default();
        self.withdraw(name);
        if let Some(routing) = self.routing(name).cloned() {
            self.handshakes.let_go.insert(name.clone(), routing);
        }
        if self.handshakes.let_go.len() > LET_GO_MAX {
            self.handshakes.let_go.pop_first();
        }
        let cause = format!("{name} was drained: others have its cells");
        let reason = StopReason::new(Outcome::Completed, cause.clone());
        self.remove(name, reason.clone(), cx);
        cx.announce(Announce::Left {
            name: name.clone(),
            reason,
        });
        cx.event(Severity::Info, "peer", cause);
        for (from, request) in asked {
            cx.done(from, request);
        }
    }
}
