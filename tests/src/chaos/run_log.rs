//! [`RunLog`]: the log of a process of a run as it grows.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::processes::let_pass;

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
        self.line(parts, limit).map(|(at, _)| at)
    }

    /// Waits for the same, and returns the line, too.
    pub(super) fn line(&self, parts: &[&str], limit: Duration) -> Option<(Instant, String)> {
        let end = Instant::now() + limit;
        loop {
            let bytes = fs::read(&self.path).unwrap_or_default();
            let text = String::from_utf8_lossy(bytes.get(self.from..).unwrap_or_default());
            let is_it = |line: &str| parts.iter().all(|part| line.contains(part));
            // A line that is being written is no line yet.
            let whole = &text[..text.rfind('\n').unwrap_or_default()];
            if let Some(line) = whole.lines().find(|line| is_it(line)) {
                return Some((Instant::now(), line.to_owned()));
            }
            if Instant::now() >= end {
                return None;
            }
            let_pass(PERIOD);
        }
    }
}
