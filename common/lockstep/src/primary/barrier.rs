//! The barrier around each step: it is published, answered by all, and complete.

pub(crate) mod acks;
pub(crate) mod divergence;
pub(crate) mod rounds;
pub(crate) mod speculation;

use acks::StateReader;
use speculation::Speculation;

/// State of the barrier beside the step under way.
#[derive(Debug, Default)]
pub(crate) struct Barrier {
    pub(crate) speculation: Speculation,
    pub(crate) reader: StateReader,
}
