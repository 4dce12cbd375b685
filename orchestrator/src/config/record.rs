//! `[record]` of a run file: what is recorded of a run.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// Frames per second of simulated time, unless said otherwise.
const DEFAULT_RATE_HZ: f64 = 30.0;

/// Settings of recording a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordConfig {
    /// File to record in; `None` records nothing.
    pub file: Option<PathBuf>,
    /// Frames per second of simulated time; 0 is one per iteration.
    pub rate_hz: f64,
    /// True if the states of every iteration are recorded, too.
    pub has_states: bool,
}

impl Default for RecordConfig {
    fn default() -> Self {
        Self {
            file: None,
            rate_hz: DEFAULT_RATE_HZ,
            has_states: false,
        }
    }
}
