//! [`RunDirectory`]: the private folder of an ipc run, held by one primary at a time.
//!
//! libzmq takes an existing socket file away from its owner without a word; the lock on a file
//! beside it is what tells a second primary that there is a first. It ends with its process. A
//! folder that others could change is refused: they could put a socket of their own in its place.

use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use crate::ownership::{self, OwnershipError};

/// Holds the directory of a run until it is dropped.
#[derive(Debug)]
pub(super) struct RunDirectory {
    _lock: File,
}

impl RunDirectory {
    /// Makes the directory if it is missing, for this user alone, and takes it; `None` if another
    /// primary has it.
    pub(super) fn take(directory: &Path) -> Result<Option<Self>, OwnershipError> {
        let directory = ownership::own_folder(directory)?;
        let path = directory.join("lock");
        let lock = ownership::open_lock(&path).map_err(at(&path))?;
        match lock.try_lock() {
            Ok(()) => Ok(Some(Self { _lock: lock })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(at(&path)(error)),
        }
    }
}

fn at(path: &Path) -> impl FnOnce(io::Error) -> OwnershipError {
    let path: PathBuf = path.to_owned();
    move |source| OwnershipError::Io { path, source }
}
