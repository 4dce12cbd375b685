//! [`RunDirectory`]: the private folder of an ipc run, held by one primary at a time.
//!
//! libzmq takes an existing socket file away from its owner without a word; the lock on a file
//! beside it is what tells a second primary that there is a first. It ends with its process. A
//! folder that others could change is refused: they could put a socket of their own in its place.

use std::fs::{self, File, TryLockError};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::ownership::{self, OwnershipError};

/// The sockets of a run, which are files of its directory.
pub(super) const SOCKET_FILES: [&str; 6] =
    ["control", "step", "status", "data", "clients", "beats"];

/// The file that is locked.
const LOCK: &str = "lock";

/// Number of times that a directory is taken which its last holder is about to remove.
const ATTEMPTS_MAX: u32 = 100;

/// Age from which on a directory that nobody holds is no process's that is about to take it.
const ABANDONED_AGE: Duration = Duration::from_mins(1);

/// Holds the directory of a run until it is dropped.
#[derive(Debug)]
pub(super) struct RunDirectory {
    path: PathBuf,
    /// True if it goes with its holder.
    is_transient: AtomicBool,
    _lock: File,
}

/// Result of one attempt to take a directory.
enum Attempt {
    Taken(RunDirectory),
    /// Another process holds it.
    IsHeld,
    /// Its last holder removed it meanwhile.
    Removed,
}

impl RunDirectory {
    /// Makes the directory if it is missing, for this user alone, and takes it; `None` if another
    /// primary has it.
    pub(super) fn take(directory: &Path) -> Result<Option<Self>, OwnershipError> {
        let mut result = Ok(None);
        for _ in 0..ATTEMPTS_MAX {
            result = match Self::try_take(directory) {
                Ok(Attempt::Taken(taken)) => return Ok(Some(taken)),
                Ok(Attempt::IsHeld) => return Ok(None),
                Ok(Attempt::Removed) => Ok(None),
                Err(error) if may_pass(&error) => Err(error),
                Err(error) => return Err(error),
            };
        }
        result
    }

    fn try_take(directory: &Path) -> Result<Attempt, OwnershipError> {
        let directory = ownership::own_folder(directory)?;
        let path = directory.join(LOCK);
        let lock = ownership::open_lock(&path).map_err(at(&path))?;
        match lock.try_lock() {
            // Else it is that of the last holder: others would lock a new one.
            Ok(()) if !is_there(&lock, &path).map_err(at(&path))? => Ok(Attempt::Removed),
            Ok(()) => Ok(Attempt::Taken(Self {
                path: directory,
                is_transient: AtomicBool::new(false),
                _lock: lock,
            })),
            Err(TryLockError::WouldBlock) => Ok(Attempt::IsHeld),
            Err(TryLockError::Error(error)) => Err(at(&path)(error)),
        }
    }

    /// Has the directory removed when it is given free.
    pub(super) fn remove_at_end(&self) {
        self.is_transient.store(true, Ordering::Release);
    }
}

impl Drop for RunDirectory {
    fn drop(&mut self) {
        if !self.is_transient.load(Ordering::Acquire) {
            return;
        }
        // The lock is still held, so that all of this is nobody else's. What others put there
        // stays, and the directory with it; so does what the system does not let go of.
        for name in SOCKET_FILES.iter().chain([&LOCK]) {
            let _ = fs::remove_file(self.path.join(name));
        }
        let _ = fs::remove_dir(&self.path);
    }
}

/// Removes the directories of a folder that begin with `prefix` and whose holders were killed.
///
/// # Errors
/// Fails if the folder cannot be read; not if one of the directories cannot be removed.
pub fn remove_abandoned(folder: &Path, prefix: &str) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let is_named = entry.file_name().to_string_lossy().starts_with(prefix);
        // One without a lock is about to be taken or removed.
        let lock = fs::symlink_metadata(entry.path().join(LOCK)).and_then(|data| data.modified());
        let age = lock.map(|at| at.elapsed().unwrap_or_default());
        if is_named && age.is_ok_and(|age| age >= ABANDONED_AGE) {
            // One whose holder lives, or that is not this user's own, stays.
            if let Ok(Some(directory)) = RunDirectory::take(&entry.path()) {
                directory.remove_at_end();
            }
        }
    }
    Ok(())
}

/// Tells whether an error may come of that the last holder removes the directory meanwhile.
fn may_pass(error: &OwnershipError) -> bool {
    let OwnershipError::Io { source, .. } = error else {
        return false;
    };
    // A folder that is removed between being made and being looked at "exists".
    matches!(
        source.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::AlreadyExists
    )
}

/// Tells whether a path still leads to an open file.
fn is_there(file: &File, path: &Path) -> io::Result<bool> {
    let own = file.metadata()?;
    match fs::symlink_metadata(path) {
        Ok(there) => Ok((there.dev(), there.ino()) == (own.dev(), own.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

fn at(path: &Path) -> impl FnOnce(io::Error) -> OwnershipError {
    let path: PathBuf = path.to_owned();
    move |source| OwnershipError::Io { path, source }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU32;
    use std::time::SystemTime;

    fn taken(path: &Path) -> RunDirectory {
        RunDirectory::take(path).unwrap().expect("nobody has it")
    }

    #[test]
    fn a_directory_that_goes_with_its_holder_is_removed_by_the_holder_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("relay-r1");
        let holder = taken(&path);
        holder.remove_at_end();
        fs::write(path.join("control"), "").unwrap();
        assert!(RunDirectory::take(&path).unwrap().is_none());
        assert!(path.join("lock").exists() && path.join("control").exists());
        drop(holder);
        assert!(!path.exists());
        drop(taken(&path));
        assert!(path.exists(), "it stays unless it is to go");
    }

    #[test]
    fn what_is_not_its_holders_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("relay-r1");
        let holder = taken(&path);
        holder.remove_at_end();
        fs::write(path.join("notes"), "").unwrap();
        drop(holder);
        assert!(path.join("notes").exists() && !path.join("lock").exists());
    }

    #[test]
    fn a_lock_that_was_removed_is_not_that_of_the_directory() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let first = ownership::open_lock(&path).unwrap();
        assert!(is_there(&first, &path).unwrap());
        fs::remove_file(&path).unwrap();
        assert!(!is_there(&first, &path).unwrap());
        let second = ownership::open_lock(&path).unwrap();
        assert!(!is_there(&first, &path).unwrap());
        assert!(is_there(&second, &path).unwrap());
    }

    #[test]
    fn a_directory_that_is_given_free_and_taken_again_and_again_has_one_holder() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("relay-r1");
        let holders = AtomicU32::new(0);
        let takes = || {
            let mut taken = 0;
            while taken < 200 {
                if let Some(directory) = RunDirectory::take(&path).unwrap() {
                    assert_eq!(holders.fetch_add(1, Ordering::AcqRel), 0);
                    directory.remove_at_end();
                    holders.fetch_sub(1, Ordering::AcqRel);
                    taken += 1;
                }
            }
        };
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(takes);
            }
        });
        assert!(!path.exists());
    }

    #[test]
    fn directories_of_holders_that_were_killed_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let place = |name: &str| folder.path().join(name);
        let old = SystemTime::now() - 2 * ABANDONED_AGE;
        let ages = |name: &str| {
            let lock = File::options()
                .write(true)
                .open(place(name).join("lock"))
                .unwrap();
            lock.set_modified(old).unwrap();
        };
        let held = taken(&place("relay-held"));
        for name in ["relay-killed", "relay-new", "other"] {
            drop(taken(&place(name)));
        }
        for name in ["relay-held", "relay-killed", "other"] {
            ages(name);
        }
        remove_abandoned(folder.path(), "relay-").unwrap();
        assert!(!place("relay-killed").exists());
        for name in ["relay-held", "relay-new", "other"] {
            assert!(place(name).exists(), "{name}");
        }
        drop(held);
    }
}
