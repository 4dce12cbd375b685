//! Looks for what runs left behind: processes that know a folder, and files in others.

use std::fs;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::processes::{is_running, let_pass};

/// Longest time processes may take to be gone once their run is over.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Returns the processes whose environment names a folder.
pub(super) fn processes(folder: &Path) -> Vec<u32> {
    let folder = folder.to_string_lossy().into_owned();
    let own = std::process::id();
    let entries = fs::read_dir("/proc").into_iter().flatten();
    let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    pids.filter(|pid| *pid != own && is_running(*pid))
        .filter(|pid| {
            let known = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            String::from_utf8_lossy(&known).contains(&folder)
        })
        .collect()
}

/// Returns those of them that are not on their way to ask a run something.
pub(super) fn processes_of_run(folder: &Path) -> Vec<u32> {
    let asks = |pid: &u32| {
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        line.split(|byte| *byte == 0).any(|word| word == b"ctl")
    };
    let mut all = processes(folder);
    all.retain(|pid| !asks(pid));
    all
}

/// Waits until no process knows the folder; returns those that do for too long.
pub(super) fn processes_in_the_end(folder: &Path) -> Vec<u32> {
    let end = Instant::now() + TIMEOUT;
    loop {
        let left = processes(folder);
        if left.is_empty() || Instant::now() >= end {
            return left;
        }
        let_pass(Duration::from_millis(20));
    }
}

/// Returns the names of all sockets in a folder.
pub(super) fn sockets(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let entries = entries.filter_map(Result::ok);
    entries
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_socket()))
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect()
}

/// Returns the names of all files in a folder.
pub(super) fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    names.collect()
}
