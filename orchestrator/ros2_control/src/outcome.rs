//! [`Failure`] and [`Refusal`]: reasons why something is not done, and their codes.

use protocol::FailureCode;
use ros2::types::simulation_interfaces::CallResult;

use crate::control::Unanswered;

/// Reason why the run did not do something.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Failure {
    /// The primary refused.
    #[error("{reason}")]
    Refused {
        /// Kind of the reason.
        code: FailureCode,
        /// Reason, for people.
        reason: String,
    },
    /// The primary did not answer.
    #[error(transparent)]
    Unanswered(#[from] Unanswered),
}

/// A request that is not done, with the code of its result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) code: u8,
    pub(crate) reason: String,
}

impl Failure {
    /// Returns the failure of an answer to another question.
    pub(crate) fn other_answer() -> Self {
        Self::Unanswered(Unanswered("the primary answered something else".to_owned()))
    }

    /// Returns the kind of the primary's reason.
    pub(crate) fn code(&self) -> FailureCode {
        match self {
            Self::Refused { code, .. } => *code,
            Self::Unanswered(_) => FailureCode::Other,
        }
    }
}

impl Refusal {
    /// Refuses with a code.
    pub(crate) fn new(code: u8, reason: impl Into<String>) -> Self {
        let reason = reason.into();
        Self { code, reason }
    }

    /// Refuses what a run of Phalanx cannot do.
    pub(crate) fn unsupported(reason: impl Into<String>) -> Self {
        Self::new(CallResult::RESULT_FEATURE_UNSUPPORTED, reason)
    }

    /// Refuses since nothing has a name.
    pub(crate) fn not_found(reason: impl Into<String>) -> Self {
        Self::new(CallResult::RESULT_NOT_FOUND, reason)
    }

    /// Refuses for a reason that has no code of its own.
    pub(crate) fn failed(reason: impl Into<String>) -> Self {
        Self::new(CallResult::RESULT_OPERATION_FAILED, reason)
    }

    /// Returns the result that says so.
    pub(crate) fn result(self) -> CallResult {
        CallResult {
            result: self.code,
            error_message: self.reason,
        }
    }
}

impl From<Failure> for Refusal {
    fn from(failure: Failure) -> Self {
        let code = match failure.code() {
            FailureCode::NotFound => CallResult::RESULT_NOT_FOUND,
            FailureCode::NotReady
            | FailureCode::Ending
            | FailureCode::WrongState
            | FailureCode::Already => CallResult::RESULT_INCORRECT_STATE,
            FailureCode::OtherRun
            | FailureCode::Forbidden
            | FailureCode::NameTaken
            | FailureCode::NameInvalid
            | FailureCode::Invalid
            | FailureCode::TooMuch
            | FailureCode::Superseded
            | FailureCode::Storage
            | FailureCode::Lost
            | FailureCode::Other => CallResult::RESULT_OPERATION_FAILED,
        };
        Self::new(code, failure.to_string())
    }
}

/// Returns the result of something that is done.
pub(crate) fn ok() -> CallResult {
    CallResult {
        result: CallResult::RESULT_OK,
        error_message: String::new(),
    }
}

/// Returns the result of something that is done, or why it is not.
pub(crate) fn result_of(outcome: Result<(), Refusal>) -> CallResult {
    outcome.map_or_else(Refusal::result, |()| ok())
}
