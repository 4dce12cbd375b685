//! `[trace]`: the iterations of which it is written down where their time went.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::kind::Kind;
use crate::setting::Setting;

/// Trace of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Trace {
    /// The file; `None` traces nothing.
    pub file: Option<PathBuf>,
    /// The first iteration; 0 is that in which cells are made.
    pub from: u64,
    /// Number of iterations, at least 1.
    pub iterations: u64,
}

#[rustfmt::skip]
pub(crate) const SETTINGS: &[Setting] = &[
    Setting::of_run("trace", "file", Kind::Path)
        .flag("trace", "FILE",
            "Write where the time of iterations went, in all processes on one clock, for \
             ui.perfetto.dev"),
    Setting::personal("trace", "from", Kind::Whole(0, i64::MAX as u64))
        .flag("trace-from", "ITERATION",
            "The first iteration that is traced; 0 is that in which cells are made"),
    Setting::personal("trace", "iterations", Kind::Whole(1, i64::MAX as u64))
        .flag("trace-iterations", "N", "How many iterations are traced"),
];

impl Default for Trace {
    fn default() -> Self {
        Self {
            file: None,
            from: 1,
            iterations: 10_000,
        }
    }
}
