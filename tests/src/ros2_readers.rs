//! Waits until publishers of ROS 2 have met their readers.
//!
//! A reader that knows a publisher may not be known to it yet, and then lacks its first messages.

use std::fs;
use std::path::PathBuf;

use crate::processes::wait_for;

/// The level of logs that tell of readers.
pub const LOG_LEVEL: &str = "info,worker::ros=debug";

/// The log of a secondary, from the start of a process on.
pub struct ReaderLog {
    path: PathBuf,
    /// Number of bytes of processes before.
    begin: usize,
}

impl ReaderLog {
    /// Makes that of the first process that writes to a file.
    pub fn new(path: PathBuf) -> Self {
        Self { path, begin: 0 }
    }

    /// Leaves what is in the file now to processes that have ended.
    pub fn begin_anew(&mut self) {
        self.begin = self.read().len();
    }

    fn read(&self) -> Vec<u8> {
        // Nothing is in it before the process begins.
        fs::read(&self.path).unwrap_or_default()
    }

    /// Tells whether the publisher of a topic has so many readers, by the last line about it.
    fn tells(&self, (topic, readers): (&str, usize)) -> bool {
        let bytes = self.read();
        let text = String::from_utf8_lossy(bytes.get(self.begin..).unwrap_or_default());
        let about = format!(" {topic} has ");
        let mut lines = text.lines().filter_map(|line| line.split_once(&about));
        let last = lines.next_back();
        let count = last.and_then(|(_, rest)| rest.split(' ').next()?.parse::<usize>().ok());
        count == Some(readers)
    }
}

/// Waits until the publishers of these topics have so many readers, by the logs of their processes.
///
/// # Panics
/// Panics if they do not in time.
pub fn wait_for_readers(logs: &[ReaderLog], topics: &[(&str, usize)]) {
    for log in logs {
        wait_for(&format!("readers in {}", log.path.display()), || {
            topics.iter().all(|topic| log.tells(*topic))
        });
    }
}
