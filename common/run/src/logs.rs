//! `[logs]`: what processes write to their logs.

use serde::{Deserialize, Serialize};

use crate::kind::Kind;
use crate::setting::{Audience, Setting};

/// Logs of the processes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Logs {
    /// A level, or levels by target such as `info,worker::heartbeat=debug`.
    pub level: String,
}

pub(crate) const SETTINGS: &[Setting] = &[Setting::personal("logs", "level", Kind::LogFilter)
    .flag(
        "log-level",
        "LEVEL",
        "What processes write to their logs: a level, also by part",
    )
    .variable_named("PHALANX_LOG")
    .only(Audience::Launcher)];

impl Default for Logs {
    fn default() -> Self {
        Self {
            level: "info".to_owned(),
        }
    }
}
