//! [`RunRecord`]: what the owner of a run writes about it for `ps`, `attach` and `ctl`.

use std::fs;
use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use protocol::Outcome;
use serde::{Deserialize, Serialize};

use crate::launch::WorkerRecord;
use crate::private_file::replace_private;

/// A run, as `run.json` tells it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunRecord {
    /// Its name.
    pub name: String,
    /// The process id of its owner.
    pub pid: u32,
    /// Endpoint of its primary.
    pub endpoint: String,
    /// The world file.
    pub world: String,
    /// The command line that starts it again.
    #[serde(default)]
    pub command: String,
    /// Time when it was started \[s since 1970\].
    pub started_unix_s: u64,
    /// Its processes.
    pub workers: Vec<WorkerRecord>,
    /// Its end; absent while it lives, and if its owner could not say.
    pub ended: Option<RunEnd>,
}

/// The end of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunEnd {
    /// Outcome.
    pub outcome: Outcome,
    /// Cause, for people.
    pub cause: String,
    /// The exit code of its owner.
    pub exit_code: u8,
    /// The last error that one of its processes printed, with the process's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_error: Option<String>,
    /// Time of the end \[s since 1970\].
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
        replace_private(path, &(text + "\n"))
    }
}

/// Returns the wall clock as it stands before a line of a log: UTC, to the microsecond.
pub(crate) fn log_time() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    time_text(since.unwrap_or_default())
}

/// Returns a time since 1970 in UTC.
fn time_text(since: Duration) -> String {
    let seconds = since.as_secs();
    let (year, month, day) = transport::authorized::utc::date(seconds / 86_400);
    let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    let micros = since.subsec_micros();
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{micros:06}Z")
}

/// Returns the wall clock \[s since 1970\].
pub(crate) fn now_unix_s() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_as_the_workers_write_theirs() {
        let check = |seconds, expected: &str| {
            assert_eq!(time_text(Duration::new(seconds, 5_000)), expected);
        };
        check(0, "1970-01-01T00:00:00.000005Z");
        check(951_782_399, "2000-02-28T23:59:59.000005Z");
        check(951_782_400, "2000-02-29T00:00:00.000005Z");
        check(1_735_689_599, "2024-12-31T23:59:59.000005Z");
        check(4_107_542_400, "2100-03-01T00:00:00.000005Z");
    }
}
