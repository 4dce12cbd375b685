//! [`FailureCode`]: kinds of failures, for programs that must not read texts for people.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Kind of a failure of a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureCode {
    /// The run has not begun: its secondaries are not there yet.
    NotReady,
    /// The run ends, or has ended.
    Ending,
    /// The request was meant for another run.
    OtherRun,
    /// The key of the client may not do this.
    Forbidden,
    /// Nothing has the name that is given.
    NotFound,
    /// The name that is given is taken.
    NameTaken,
    /// The name that is given is none that something new can have.
    NameInvalid,
    /// A value is none that the request takes.
    Invalid,
    /// The run is in no state for this: it is paused or not.
    WrongState,
    /// The state that is asked for holds already, and stays.
    Already,
    /// Too much is under way, or too large.
    TooMuch,
    /// A later request took its place.
    Superseded,
    /// Nothing can be written down: the disk is full, or does not answer.
    Storage,
    /// A secondary was lost, or could not do it.
    Lost,
    /// Any other reason.
    #[default]
    Other,
}

impl FailureCode {
    /// Returns its name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::NotReady => "not_ready",
            Self::Ending => "ending",
            Self::OtherRun => "other_run",
            Self::Forbidden => "forbidden",
            Self::NotFound => "not_found",
            Self::NameTaken => "name_taken",
            Self::NameInvalid => "name_invalid",
            Self::Invalid => "invalid",
            Self::WrongState => "wrong_state",
            Self::Already => "already",
            Self::TooMuch => "too_much",
            Self::Superseded => "superseded",
            Self::Storage => "storage",
            Self::Lost => "lost",
            Self::Other => "other",
        }
    }
}

impl fmt::Display for FailureCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
