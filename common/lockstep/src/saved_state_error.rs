//! [`SavedStateError`]: the reasons why saved state does not fit a run.

/// A reason why saved state does not fit the worlds, or itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SavedStateError {
    /// The step size is zero, or the pace is no number.
    #[error("time cannot pass in it")]
    NoTime,
    /// It was saved at another step than the checkpoint says.
    #[error("it is of another step")]
    OtherStep,
    /// It was saved in other worlds.
    #[error("it is about other worlds")]
    OtherWorlds,
    /// The registry or the partition counts other worlds.
    #[error("it is about more or fewer worlds than there are")]
    WorldCount,
    /// The registry has models of other worlds.
    #[error("it has models of more or fewer worlds than there are")]
    ModelWorlds,
    /// The canonical link of a model is none of its links.
    #[error("a model has a link that there is not")]
    ModelLink,
    /// The number of a model is taken.
    #[error("a model has a number that it cannot have")]
    ModelNumber,
    /// The packed states end within one.
    #[error("a state is cut")]
    CutState,
    /// The states are not those of the performers.
    #[error("it has states of more or fewer performers than there are")]
    StateCount,
    /// The digests are not those of the cells.
    #[error("it has digests of more or fewer cells than there are")]
    DigestCount,
    /// The numbers of hand-offs are not those of the performers and cells.
    #[error("it counts hand-offs of more or fewer performers than there are")]
    HandOffCount,
    /// The partition has other performers.
    #[error("it has places of more or fewer performers than there are")]
    PerformerCount,
    /// The topology names what there is not.
    #[error("it names performers or cells that there are not")]
    NoSuchNumber,
    /// The parts of levels are not those of the topology, or are none.
    #[error("its levels have parts that they cannot have")]
    Parts,
    /// The partition names a cell that there is not.
    #[error("it names cells that there are not")]
    NoSuchCell,
    /// The partition names a performer that there is not.
    #[error("it names performers that there are not")]
    NoSuchPerformer,
    /// A ghost is of no performer, or in no cell.
    #[error("it has ghosts of nobody or in no cell")]
    Ghost,
    /// A performer is in a cell of another world.
    #[error("a performer is in no cell of its world")]
    CellOfOtherWorld,
    /// A performer touches a level that there is not.
    #[error("a performer touches levels that there are not")]
    NoSuchLevel,
    /// The box that a performer may move in is no box.
    #[error("a performer reaches nowhere")]
    NoReach,
    /// A performer was removed, and is there.
    #[error("a performer is gone and there")]
    GoneAndThere,
}
