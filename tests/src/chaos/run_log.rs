//! [`RunLog`]: the log of a process of a run as it grows.

use std::fs;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

/// Time between two looks at a log.
const PERIOD: Duration = Duration::from_millis(2);

/// A log, of which what was there before is not looked at.
#[derive(Debug)]
pub(super) struct RunLog {
    path: PathBuf,
    from: usize,
}

impl RunLog {
    /// Looks at what comes from now on.
    pub(super) fn from_now(path: PathBuf) -> Self {
        let from = fs::metadata(&path).map_or(0, |metadata| metadata.len() as usize);
        Self { path, from }
    }

    /// Waits until a line holds all of these, and returns when it was seen; `None` if none comes
    /// in time.
    pub(super) fn wait_for(&self, parts: &[&str], limit: Duration) -> Option<Instant> {
        let end = Instant::now() + limit;
        loop {
            let bytes = fs::read(&self.path).unwrap_or_default();
            let text = String::from_utf8_lossy(bytes.get(self.from..).unwrap_or_default());
            let is_it = |line: &str| parts.iter().all(|part| line.contains(part));
            if text.lines().any(is_it) {
                return Some(Instant::now());
            }
            if Instant::now() >= end {
                return None;
            }
            thread::sleep(PERIOD);
        }
    }
}
