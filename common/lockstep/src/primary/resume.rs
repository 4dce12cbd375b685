//! Resuming: what a primary saves, restores and replays.

pub(crate) mod replay;
pub(crate) mod saved_state;
pub(crate) mod storage;
