//! [`ParticipantReport`]: a program that takes part in lockstep.

use serde::{Deserialize, Serialize};

use crate::id::PeerName;
use crate::participant::AbsencePolicy;

/// One program that takes part in lockstep, or is waited for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ParticipantReport {
    /// Its name.
    pub name: PeerName,
    /// Its state.
    pub state: ParticipantState,
    /// Number of iterations from one of its barriers to the next; `None` before it joins.
    pub every: Option<u64>,
    /// Iteration of its next barrier, or of the one that it holds.
    pub next: Option<u64>,
    /// Policy for an answer that does not come.
    pub policy: Option<AbsencePolicy>,
    /// Time for which its answer is waited for \[s\].
    pub timeout_s: Option<f64>,
    /// Time for which the run waits for it now \[us\].
    pub holds_us: Option<f64>,
    /// Median of the times that its last 1,000 answers took \[us\].
    pub wait_p50_us: f64,
    /// The longest time that an answer took \[us\].
    pub wait_max_us: f64,
    /// Number of its answers.
    pub answers: u64,
    /// Number of barriers after which the run went on without its answer.
    pub missed: u64,
}

/// State of a participant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ParticipantState {
    /// The run waits for it to join, or to join again.
    Awaited,
    /// Its next barrier is still to come, or its answer is there.
    Ready,
    /// The run waits for its answer.
    Holding,
    /// The run goes on without the answer that it owes.
    Late,
}

impl ParticipantState {
    /// Returns its name in tables and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Awaited => "awaited",
            Self::Ready => "ready",
            Self::Holding => "holding",
            Self::Late => "late",
        }
    }
}
