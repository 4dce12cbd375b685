//! Waits until publishers of ROS 2 have met their readers.
//!
//! A reader that knows a publisher may not be known to it yet, and then lacks its first messages.

use std::fs;
use std::path::PathBuf;

use crate::processes::wait_for;

/// The level of logs that tell of readers.
pub const LOG_LEVEL: &str = "info,worker::ros=debug";

/// Waits until the publishers of these topics have met so many readers, and that so often, by the
/// logs of their processes.
///
/// # Panics
/// Panics if they do not in time.
pub fn wait_for_readers(logs: &[PathBuf], topics: &[(&str, usize)], times: usize) {
    for log in logs {
        wait_for(&format!("readers in {}", log.display()), || {
            // Nothing is in it before the process begins.
            let bytes = fs::read(log).unwrap_or_default();
            let text = String::from_utf8_lossy(&bytes);
            let has_met = |(topic, readers): &(&str, usize)| {
                let plural = if *readers == 1 { "" } else { "s" };
                let met = format!(" {topic} has {readers} reader{plural}\n");
                text.matches(&met).count() >= times
            };
            topics.iter().all(has_met)
        });
    }
}
