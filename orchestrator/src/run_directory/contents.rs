//! Tells folders that runs made from all others: only such are emptied or removed.

use std::fs;
use std::io;
use std::path::Path;

use super::record::RunRecord;
use super::{
    JOURNAL_FOLDER, LAST_EVENTS_FILE, LAUNCH_FILE, LOCK_FILE, LOGS_FOLDER, RECORD_FILE,
    SOCKETS_LOCK, SPEC_FILE, SUMMARY_FILE,
};

/// Names that a run gives to what it makes before its record is written, besides its sockets.
const NAMES: [&str; 11] = [
    LOCK_FILE,
    SOCKETS_LOCK,
    RECORD_FILE,
    "run.json.new",
    SUMMARY_FILE,
    LAST_EVENTS_FILE,
    LOGS_FOLDER,
    JOURNAL_FOLDER,
    LAUNCH_FILE,
    SPEC_FILE,
    "keys",
];

/// Other names that it gives.
const MORE_NAMES: [&str; 10] = [
    "audit.log",
    "audit.log.1",
    "world.sdf",
    "launch.json.new",
    "spec.json.new",
    "control",
    "step",
    "status",
    "data",
    "owner",
];

/// Tells whether a run may begin in a folder that is there: it is empty, or a run's.
///
/// # Errors
/// Fails if it cannot be looked into.
pub(super) fn may_be_emptied(path: &Path) -> io::Result<bool> {
    let data = fs::symlink_metadata(path)?;
    if !data.is_dir() {
        return Ok(false);
    }
    Ok(fs::read_dir(path)?.next().is_none() || is_of_run(path))
}

/// Tells whether a run made a folder: it has a run's lock, and a run's record or, where the run did
/// not come so far, nothing but what a run makes.
pub(super) fn is_of_run(path: &Path) -> bool {
    let is_folder = fs::symlink_metadata(path).is_ok_and(|data| data.is_dir());
    let lock = fs::symlink_metadata(path.join(LOCK_FILE));
    if !is_folder || !lock.is_ok_and(|data| data.is_file()) {
        return false;
    }
    RunRecord::read(&path.join(RECORD_FILE)).is_some() || has_only_known(path)
}

fn has_only_known(path: &Path) -> bool {
    let Ok(entries) = fs::read_dir(path) else {
        return false;
    };
    let mut names = entries.map(|entry| entry.map(|entry| entry.file_name()));
    names.all(|name| {
        let mut known = NAMES.iter().chain(&MORE_NAMES);
        name.is_ok_and(|name| known.any(|known| name == *known))
    })
}
