//! The barrier around each step: it is published, answered by all, and complete.

pub(crate) mod acks;
pub(crate) mod divergence;
pub(crate) mod rounds;
pub(crate) mod speculation;
pub(crate) mod step_timeout;

use acks::StateReader;
use rounds::Round;
use speculation::Speculation;

/// State of the barrier.
#[derive(Debug, Default)]
pub(crate) struct Barrier {
    /// The step that waits for its acks.
    pub(crate) round: Option<Box<Round>>,
    pub(crate) speculation: Speculation,
    pub(crate) reader: StateReader,
}
