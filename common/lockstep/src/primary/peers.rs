//! Peers: who joins, is alive, is given up, and leaves.

pub(crate) mod handshake;
pub(crate) mod liveness;
pub(crate) mod refusals;
pub(crate) mod shutdown;
pub(crate) mod stalls;
pub(crate) mod startup;

use protocol::report::RefusedCounts;
use protocol::{PeerName, SessionTime};

use crate::roster::Roster;
use handshake::Handshakes;
use shutdown::Shutdown;
use stalls::StallDetector;
use startup::Startup;

/// Peers of a run.
#[derive(Debug, Default)]
pub(crate) struct Peers {
    pub(crate) roster: Roster,
    /// The secondaries that take part, by name; known once all are ready.
    pub(crate) secondaries: Vec<PeerName>,
    pub(crate) handshakes: Handshakes,
    pub(crate) startup: Startup,
    pub(crate) stalls: StallDetector,
    pub(crate) shutdown: Option<Shutdown>,
    /// The earliest deadline of any secondary. Heartbeats and answers only move deadlines later, so
    /// that nobody has to look at all secondaries for each of them.
    pub(crate) next_deadline: Option<SessionTime>,
    pub(crate) refused: RefusedCounts,
    /// Time when observers were told last that something was forbidden.
    pub(crate) forbidden_told: Option<SessionTime>,
}
