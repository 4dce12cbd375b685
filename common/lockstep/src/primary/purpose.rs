//! [`Purpose`]: the reason for a step.

/// Purpose of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Everyone builds the cells of the start.
    Build,
    /// Time advances.
    Advance,
    /// Time is paused, and everyone says so.
    Pause,
    /// Time is paused while something is moved.
    Rearrange,
    /// Time is paused while whole states are fetched for a step of another purpose.
    Fetch,
}
