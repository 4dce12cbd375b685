//! [`Peers`]: secondaries that join, take part, are lost, drained, or told to stop.

pub(crate) mod handshake;
pub(crate) mod liveness;
mod refusals;
pub(crate) mod seats;
mod shutdown;
pub(crate) mod stalls;
pub(crate) mod startup;

use std::sync::Arc;
use std::time::Duration;

use protocol::primary_to_observers::Severity;
use protocol::primary_to_secondary::{CellSnapshot, PrimaryToSecondary};
use protocol::report::RefusedCounts;
use protocol::{PeerName, RoutingId, SessionTime, StopReason};

use crate::peer_numbers::PeerNumbers;
use crate::primary::context::Context;
use crate::primary::io::PrimaryOutput;
use crate::roster::{Progress, Roster};
use handshake::Handshakes;
use seats::Seats;
use shutdown::Shutdown;
use stalls::StallDetector;
use startup::{Startup, WelcomeTerms};

/// Time for which the leave message of a peer whose connection closed may still be on its way.
const LEAVE_GRACE: Duration = Duration::from_millis(50);

/// Peers of a run.
#[derive(Clone, Debug)]
pub(crate) struct Peers {
    roster: Roster,
    /// The secondaries that take part; known once all are ready.
    seats: Arc<Seats>,
    welcome: WelcomeTerms,
    handshakes: Handshakes,
    startup: Startup,
    stalls: StallDetector,
    shutdown: Option<Shutdown>,
    /// The earliest deadline of any secondary. Heartbeats and answers only move deadlines later, so
    /// that nobody has to look at all secondaries for each of them.
    next_deadline: Option<SessionTime>,
    refused: RefusedCounts,
    /// Time when observers were told last that something was forbidden.
    forbidden_told: Option<SessionTime>,
}

impl Peers {
    /// Makes the peers of a run that nobody has joined.
    pub(crate) fn new(welcome: WelcomeTerms) -> Self {
        Self {
            roster: Roster::default(),
            seats: Arc::default(),
            welcome,
            handshakes: Handshakes::default(),
            startup: Startup::default(),
            stalls: StallDetector::default(),
            shutdown: None,
            next_deadline: None,
            refused: RefusedCounts::default(),
            forbidden_told: None,
        }
    }

    /// Returns the worlds as they travel to secondaries.
    pub(crate) fn encoded_worlds(&self) -> Arc<[u8]> {
        self.welcome.worlds()
    }

    pub(crate) fn roster(&self) -> &Roster {
        &self.roster
    }

    /// Returns the secondaries that take part, by name.
    pub(crate) fn secondaries(&self) -> &[PeerName] {
        self.seats.names()
    }

    /// Returns the secondaries that take part, with their numbers.
    pub(crate) fn seats(&self) -> &Arc<Seats> {
        &self.seats
    }

    /// Returns the numbers of all secondaries that there are or were.
    pub(crate) fn numbers(&self) -> &PeerNumbers {
        self.roster.numbers()
    }

    pub(crate) fn takes_part(&self, name: &PeerName) -> bool {
        self.seats.find(name).is_some()
    }

    /// Returns the names of the secondaries, for people.
    pub(crate) fn secondary_names(&self) -> String {
        let names: Vec<&str> = self.secondaries().iter().map(PeerName::as_str).collect();
        names.join(", ")
    }

    /// Has those take part who hear every step, and says so.
    pub(crate) fn begin_run(&mut self, cx: &mut Context<'_>) {
        let members = self.roster.members();
        let ready = members.filter(|(_, member)| member.progress == Progress::Synced);
        let numbers = ready.filter_map(|(name, _)| self.numbers().find(name));
        self.seats = Arc::new(Seats::new(numbers.collect(), self.numbers()));
        self.startup = Startup::default();
        let text = format!("all secondaries are ready: {}", self.secondary_names());
        cx.event(Severity::Info, "run", text);
    }

    /// Has all who take part join again, in a run that was resumed; returns them.
    pub(crate) fn join_again(&mut self) -> Vec<PeerName> {
        let all = std::mem::take(&mut self.seats);
        for name in all.names() {
            self.expect(name);
        }
        all.names().to_vec()
    }

    /// Takes one out who is lost or leaves.
    pub(crate) fn withdraw(&mut self, name: &PeerName) {
        Arc::make_mut(&mut self.seats).withdraw(name);
    }

    /// Forgets one who is lost, and tells it to stop: it may only be slow, or have connected again,
    /// and must not go on alone. Returns whether it was known.
    pub(crate) fn remove(
        &mut self,
        name: &PeerName,
        reason: StopReason,
        cx: &mut Context<'_>,
    ) -> bool {
        let Some(member) = self.roster.remove(name) else {
            return false;
        };
        cx.push(PrimaryOutput::Send {
            to: member.routing,
            message: PrimaryToSecondary::Dismiss(reason),
        });
        true
    }

    /// Returns the address of a secondary.
    pub(crate) fn routing(&self, name: &PeerName) -> Option<&RoutingId> {
        self.roster.get(name).map(|member| &member.routing)
    }

    pub(crate) fn send_snapshot(
        &self,
        name: &PeerName,
        snapshot: &CellSnapshot,
        cx: &mut Context<'_>,
    ) {
        if let Some(to) = self.routing(name) {
            cx.push(PrimaryOutput::Send {
                to: to.clone(),
                message: PrimaryToSecondary::CellSnapshot(snapshot.clone()),
            });
        }
    }

    /// Names a peer with its process, for people.
    pub(crate) fn described(&self, name: &PeerName) -> String {
        match self.roster.get(name) {
            Some(member) => {
                format!("{name} (pid {} on {})", member.info.pid, member.info.host)
            }
            None => name.to_string(),
        }
    }
}
