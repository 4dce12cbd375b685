//! The world as the primary knows it: last states, and what changes with the next step.

pub(crate) mod latest;
pub(crate) mod reset;
pub(crate) mod step_builder;
