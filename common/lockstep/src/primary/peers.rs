//! Peers: who joins, is alive, is given up, and leaves.

pub(crate) mod handshake;
pub(crate) mod liveness;
pub(crate) mod refusals;
pub(crate) mod shutdown;
pub(crate) mod stalls;
pub(crate) mod startup;
