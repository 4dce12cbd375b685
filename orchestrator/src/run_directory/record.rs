//! [`RunRecord`]: what the owner of a run writes about it for `ps`, `attach` and `ctl`.

use std::fs;
use std::io;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use protocol::{Outcome, Role};
use serde::{Deserialize, Serialize};

/// A run, as `run.json` tells it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunRecord {
    /// Its name.
    pub name: String,
    /// The process id of its owner.
    pub pid: u32,
    /// Where its primary's sockets are.
    pub endpoint: String,
    /// The world file.
    pub world: String,
    /// When it was started \[s since 1970\].
    pub started_unix_s: u64,
    /// Its processes.
    pub workers: Vec<WorkerRecord>,
    /// How it ended; absent while it lives, and when its owner could not say.
    pub ended: Option<RunEnd>,
}

/// A process of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerRecord {
    /// Its name.
    pub name: String,
    /// Its role.
    pub role: Role,
    /// Its process id.
    pub pid: u32,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunEnd {
    /// How.
    pub outcome: Outcome,
    /// Why, for people.
    pub cause: String,
    /// The exit code of its owner.
    pub exit_code: u8,
    /// When \[s since 1970\].
    pub at_unix_s: u64,
}

impl RunRecord {
    /// Returns the record in a file, if there is one that can be understood.
    pub(super) fn read(path: &Path) -> Option<Self> {
        serde_json::from_str(&fs::read_to_string(path).ok()?).ok()
    }

    /// Writes the record beside the file and puts it in its place, so that no reader sees half.
    pub(super) fn write(&self, path: &Path) -> io::Result<()> {
        let text = serde_json::to_string_pretty(self)?;
        let new = path.with_extension("json.new");
        fs::write(&new, text + "\n")?;
        fs::rename(&new, path)
    }
}

/// Returns the wall clock \[s since 1970\].
pub(crate) fn now_unix_s() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs())
}
