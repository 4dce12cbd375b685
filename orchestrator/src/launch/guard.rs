//! [`Guard`]: ends a program with this one, however this one ends.
//!
//! A program knows of no lifeline. So a shell leads its process group, that is there before the
//! program is and waits for the end of a pipe whose other end is here; then it kills its group.

use std::io;
use std::process::Stdio;

use tokio::process::{Child, Command};

/// Script of the shell: it ignores signals that ask the program to end, and kills itself with its
/// group when the program has ended.
const SCRIPT: &str = "trap '' HUP INT TERM; while read -r _; do :; done; kill -KILL 0";

/// Leads the process group of a program; the group is killed when this program ends.
#[derive(Debug)]
pub(super) struct Guard {
    group: u32,
    /// With the end of the pipe that it waits at, which tokio closes when this is dropped.
    _shell: Child,
}

impl Guard {
    /// Begins to guard a process group that is still empty.
    ///
    /// # Errors
    /// Fails if no shell can be started.
    pub(super) fn start() -> io::Result<Self> {
        let shell = Command::new("/bin/sh")
            .args(["-c", SCRIPT])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .kill_on_drop(true)
            .spawn()?;
        let group = shell.id().ok_or(io::ErrorKind::NotFound)?;
        Ok(Self {
            group,
            _shell: shell,
        })
    }

    /// Returns the process group that the program is to be in.
    pub(super) fn group(&self) -> u32 {
        self.group
    }
}
