//! Ends of runs: the outcome, the reason, and the exit code for scripts.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Outcome of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// All iterations asked for were done, or a `stop` command ended it.
    Completed,
    /// The world could not be loaded on a peer, or the peers' settings disagree.
    ConfigurationError,
    /// A peer left, died or fell silent.
    PeerLost,
    /// Two computations of the same state gave different bits.
    DigestMismatch,
    /// Peers did not come, or did not answer, in time.
    TimedOut,
    /// A signal ended it.
    Interrupted,
    /// The process could not go on: a disk full, a socket broken.
    Failed,
}

/// The process exit codes of both programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum ExitCode {
    /// The run completed, or the command took effect.
    Success = 0,
    /// A command could not take effect, or an unforeseen failure.
    Failure = 1,
    /// The command line was wrong.
    Usage = 2,
    /// The world or the configuration was wrong.
    Configuration = 3,
    /// A peer was lost.
    PeerLost = 4,
    /// Digests disagreed.
    DigestMismatch = 5,
    /// Peers did not come or answer in time.
    TimedOut = 6,
    /// Interrupted by a signal.
    Interrupted = 130,
}

impl Outcome {
    /// Returns the exit code for this outcome.
    pub fn exit_code(self) -> ExitCode {
        match self {
            Self::Completed => ExitCode::Success,
            Self::ConfigurationError => ExitCode::Configuration,
            Self::PeerLost => ExitCode::PeerLost,
            Self::DigestMismatch => ExitCode::DigestMismatch,
            Self::TimedOut => ExitCode::TimedOut,
            Self::Interrupted => ExitCode::Interrupted,
            Self::Failed => ExitCode::Failure,
        }
    }
}

impl From<ExitCode> for std::process::ExitCode {
    fn from(code: ExitCode) -> Self {
        Self::from(code as u8)
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Completed => "completed",
            Self::ConfigurationError => "configuration error",
            Self::PeerLost => "peer lost",
            Self::DigestMismatch => "digest mismatch",
            Self::TimedOut => "timed out",
            Self::Interrupted => "interrupted",
            Self::Failed => "failed",
        })
    }
}

/// Reason why a run ends, as every process says it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StopReason {
    /// Outcome of the run.
    pub outcome: Outcome,
    /// The cause in words, for people.
    pub cause: String,
}

impl StopReason {
    /// Makes a reason.
    pub fn new(outcome: Outcome, cause: impl Into<String>) -> Self {
        Self {
            outcome,
            cause: cause.into(),
        }
    }
}

impl fmt::Display for StopReason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.outcome, self.cause)
    }
}
