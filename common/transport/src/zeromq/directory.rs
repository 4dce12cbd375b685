//! [`RunDirectory`]: the private folder of an ipc run, held by one primary at a time.
//!
//! libzmq takes an existing socket file away from its owner without a word; the lock on a file
//! beside it is what tells a second primary that there is a first. It ends with its process.

use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

/// Holds the directory of a run until it is dropped.
#[derive(Debug)]
pub(super) struct RunDirectory {
    _lock: File,
}

impl RunDirectory {
    /// Makes the directory if it is missing, for this user alone, and takes it; `None` if another
    /// primary has it.
    pub(super) fn take(directory: &Path) -> io::Result<Option<Self>> {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(directory)?;
        let lock = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .mode(0o600)
            .open(directory.join("lock"))?;
        match lock.try_lock() {
            Ok(()) => Ok(Some(Self { _lock: lock })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}
