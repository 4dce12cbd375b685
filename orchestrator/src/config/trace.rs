//! `[trace]` of a run file: of which iterations it is written down where their time went.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// Number of iterations that are traced, unless said otherwise.
const DEFAULT_ITERATIONS: u64 = 10_000;

/// Settings of tracing a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceConfig {
    /// File for the trace; `None` traces nothing.
    pub file: Option<PathBuf>,
    /// The first iteration; 0 is that in which cells are made.
    pub from: u64,
    /// Number of iterations, at least 1.
    pub iterations: u64,
}

impl Default for TraceConfig {
    fn default() -> Self {
        Self {
            file: None,
            from: 1,
            iterations: DEFAULT_ITERATIONS,
        }
    }
}
