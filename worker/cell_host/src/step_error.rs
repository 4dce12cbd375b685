//! Reason why a step was not done: it is not valid, or was done twice with different results.

use super::action_check::ActionError;
use physics::AdoptError;
use protocol::{CellId, LevelId, PerformerId, Sequence};

use super::cell_bytes::RestoreCellError;
use super::verification::Divergence;

/// A step that was not done.
#[derive(Debug, thiserror::Error)]
pub enum StepError {
    /// Time must advance exactly when the step is not a paused one.
    #[error("a step of {step_size_ns} ns does not fit whether time is paused ({paused})")]
    Time {
        /// Time by which to advance \[ns\].
        step_size_ns: u64,
        /// True if time is paused.
        paused: bool,
    },
    /// Lists are in ascending order and name everything once.
    #[error("the step names {0} twice or out of order")]
    Order(&'static str),
    /// The plan has no such cell.
    #[error("there is no cell {0}")]
    NoCell(CellId),
    /// The plan has no such performer.
    #[error("there is no performer {0}")]
    NoPerformer(PerformerId),
    /// A performer cannot be, and a level cannot be loaded, in a cell of another world.
    #[error("{what} cannot be in cell {cell}, which is of another world")]
    OtherWorld {
        /// The performer or the level.
        what: String,
        /// The cell.
        cell: CellId,
    },
    /// A cell comes to where it is.
    #[error("cell {0} cannot come here, where it is already")]
    CellHere(CellId),
    /// A cell comes without the snapshot that it is made from.
    #[error("cell {0} comes from a snapshot that is not here")]
    NoSnapshot(CellId),
    /// A cell comes from a snapshot that is not one of it.
    #[error("cell {cell} cannot be restored")]
    Restore {
        /// The cell.
        cell: CellId,
        /// Fault of the snapshot.
        #[source]
        source: RestoreCellError,
    },
    /// It takes the place of steps that were done ahead, which cannot be taken back.
    #[error("nothing is kept to go back to step {0}")]
    NothingKept(Sequence),
    /// A performer leaves a cell that it is not in.
    #[error("performer {performer} cannot leave cell {cell}, where it is not")]
    NotInCell {
        /// The performer.
        performer: PerformerId,
        /// The cell.
        cell: CellId,
    },
    /// A performer enters a cell that it is in.
    #[error("performer {performer} cannot enter cell {cell}, where it is already")]
    InCell {
        /// The performer.
        performer: PerformerId,
        /// The cell.
        cell: CellId,
    },
    /// Performers enter a cell with states that are none of theirs.
    #[error("performers cannot enter cell {cell}")]
    Adopt {
        /// The cell.
        cell: CellId,
        /// Fault of the state.
        #[source]
        source: AdoptError,
    },
    /// A performer enters a cell with a state that is none, or with systems of another build.
    #[error("the state of performer {performer}, which enters cell {cell}, is damaged")]
    HandOff {
        /// The performer.
        performer: PerformerId,
        /// The cell.
        cell: CellId,
    },
    /// There is no such level, or it is loaded, or gone, already.
    #[error("level {level} cannot come into cell {cell} or leave it")]
    Level {
        /// The cell.
        cell: CellId,
        /// The level.
        level: LevelId,
    },
    /// A ghost comes to where it or its performer is, or leaves where it is not.
    #[error("a ghost of performer {performer} cannot come into cell {cell} or leave it")]
    Ghost {
        /// The cell.
        cell: CellId,
        /// The performer.
        performer: PerformerId,
    },
    /// The poses of a ghost are not those of its links.
    #[error("the ghost of performer {performer} in cell {cell} cannot be where the step says")]
    GhostPoses {
        /// The cell.
        cell: CellId,
        /// The performer.
        performer: PerformerId,
    },
    /// A cell stops that has stopped, or goes on that goes on.
    #[error("cell {0} cannot be suspended or resumed: it is already")]
    Suspension(CellId),
    /// A command names what does not exist, or holds what is no number.
    #[error("action {number} cannot be meant: {reason}")]
    Action {
        /// The action's number.
        number: u64,
        /// Reason for the refusal.
        reason: ActionError,
    },
    /// The step was done twice with different results.
    #[error(transparent)]
    Diverged(Box<Divergence>),
}
