//! Commands of clients, systems and the schedule: queued, resolved and brought by a step.

pub(crate) mod batch;
pub(crate) mod queue;
pub(crate) mod requests;
pub(crate) mod resolve;
pub(crate) mod services;
