//! The barrier around each step: it is published, answered by all, and complete.

pub(crate) mod acks;
pub(crate) mod divergence;
pub(crate) mod rounds;
pub(crate) mod speculation;
