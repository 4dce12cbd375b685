//! The folder of a journal: names of its files, and the lock of the process that holds it.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::OFlags;

const MANIFEST: &str = "manifest";
const LOCK: &str = "lock";
const CHECKPOINT: &str = "checkpoint-";
const SEGMENT: &str = "log-";
/// Suffix of files that are not whole yet.
const UNFINISHED: &str = ".new";
/// Time between looks at whether a journal is held.
const LOOK_AGAIN: Duration = Duration::from_millis(10);
/// Time between two attempts to take a journal.
const LOCK_ATTEMPTS: usize = 10;

/// A journal cannot be taken.
#[derive(Debug, thiserror::Error)]
pub enum TakeFolderError {
    /// A process writes it.
    #[error("the run of {} is living: it cannot be taken up again while it goes on", .0.display())]
    Living(PathBuf),
    /// There is none.
    #[error("there is no journal in {}", .0.display())]
    Missing(PathBuf),
    /// The system refused something.
    #[error("cannot use {}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The system's error.
        #[source]
        source: io::Error,
    },
}

/// The folder of a journal, held by the process that writes it.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    /// Held, and with the number of the last segment that was begun.
    lock: File,
}

/// Content of a folder.
#[derive(Debug, Default)]
pub(crate) struct Listing {
    /// Checkpoints by their commits, ascending.
    pub(crate) checkpoints: Vec<(u64, PathBuf)>,
    /// Segments by their numbers, ascending.
    pub(crate) segments: Vec<(u64, PathBuf)>,
    /// Files that were being written when the end came.
    pub(crate) unfinished: Vec<PathBuf>,
}

/// Tells whether there is a journal in a folder.
pub fn is_journal(path: &Path) -> bool {
    path.join(MANIFEST).is_file()
}

/// Tells whether there is a journal in a folder, where that can be known.
///
/// # Errors
/// Fails if the folder cannot be looked into.
pub fn find_journal(path: &Path) -> io::Result<bool> {
    path.join(MANIFEST).try_exists()
}

/// Waits until nobody holds a journal, at most so long; tells whether nobody does. One that is not
/// there is held by nobody.
pub fn wait_until_free(path: &Path, timeout: Duration) -> bool {
    let end = Instant::now() + timeout;
    loop {
        let lock = File::open(path.join(LOCK));
        let is_held =
            lock.is_ok_and(|lock| matches!(lock.try_lock_shared(), Err(TryLockError::WouldBlock)));
        if !is_held {
            return true;
        }
        if Instant::now() >= end {
            return false;
        }
        thread::sleep(LOOK_AGAIN);
    }
}

/// Removes a journal.
///
/// # Errors
/// Fails if the system cannot.
pub fn remove(path: &Path) -> io::Result<()> {
    // Without its manifest, nobody takes the rest for a journal.
    match fs::remove_file(path.join(MANIFEST)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    let listing = list(path)?;
    let files = listing.checkpoints.into_iter().chain(listing.segments);
    let files = files.map(|(_, file)| file).chain(listing.unfinished);
    for file in files.chain([path.join(LOCK)]) {
        match fs::remove_file(&file) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
    }
    // What else is there is not of a journal, and stays.
    match fs::remove_dir(path) {
        Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => Ok(()),
        done => done,
    }
}

impl Folder {
    /// Makes and takes the folder of a new journal; one that is there must be empty of journals.
    ///
    /// # Errors
    /// Fails if it cannot be made or is held, or there is a journal in it.
    pub fn create(path: &Path) -> Result<Self, TakeFolderError> {
        let made = DirBuilder::new().recursive(true).mode(0o700).create(path);
        made.map_err(at(path))?;
        if !is_journal(path) && !is_left_over(path).map_err(at(path))? {
            let other =
                "it is not empty, and what is in it is of no journal: choose another folder";
            let source = io::Error::new(io::ErrorKind::AlreadyExists, other);
            return Err(at(path)(source));
        }
        let folder = Self::lock(path)?;
        if is_journal(path) {
            let exists = "there is a journal in it: resume it, remove it, or choose another folder";
            let source = io::Error::new(io::ErrorKind::AlreadyExists, exists);
            return Err(at(path)(source));
        }
        let listing = list(path).map_err(at(path))?;
        let files = listing.checkpoints.into_iter().chain(listing.segments);
        for file in files.map(|(_, file)| file).chain(listing.unfinished) {
            fs::remove_file(&file).map_err(at(&file))?;
        }
        folder.note_begun(0).map_err(at(&path.join(LOCK)))?;
        Ok(folder)
    }

    /// Takes the folder of a journal that is there.
    ///
    /// # Errors
    /// Fails if there is none, or it is held.
    pub fn take(path: &Path) -> Result<Self, TakeFolderError> {
        if !is_journal(path) {
            return Err(TakeFolderError::Missing(path.to_owned()));
        }
        Self::lock(path)
    }

    /// Returns where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Notes the number of the last segment that was begun, so that it is missed when it is gone.
    pub(crate) fn note_begun(&self, number: u64) -> io::Result<()> {
        self.lock
            .write_all_at(format!("{number:020}\n").as_bytes(), 0)
    }

    /// Removes the journal.
    ///
    /// # Errors
    /// Fails if the system cannot.
    pub fn remove(self) -> io::Result<()> {
        remove(&self.path)
    }

    fn lock(path: &Path) -> Result<Self, TakeFolderError> {
        let name = path.join(LOCK);
        let mut options = OpenOptions::new();
        let options = options.create(true).truncate(false).write(true).mode(0o600);
        let options = options.custom_flags(OFlags::NOFOLLOW.bits().cast_signed());
        let lock = options.open(&name).map_err(at(&name))?;
        // Others look for an instant whether a journal is held: one refusal says nothing.
        for _ in 0..LOCK_ATTEMPTS {
            match lock.try_lock() {
                Ok(()) => {
                    return Ok(Self {
                        path: path.to_owned(),
                        lock,
                    });
                }
                Err(TryLockError::WouldBlock) => thread::sleep(LOOK_AGAIN),
                Err(TryLockError::Error(source)) => return Err(at(&name)(source)),
            }
        }
        Err(TakeFolderError::Living(path.to_owned()))
    }
}

pub(crate) fn manifest(path: &Path) -> PathBuf {
    path.join(MANIFEST)
}

pub(crate) fn checkpoint(path: &Path, commits: u64) -> PathBuf {
    path.join(format!("{CHECKPOINT}{commits:020}"))
}

pub(crate) fn segment(path: &Path, number: u64) -> PathBuf {
    path.join(format!("{SEGMENT}{number:010}"))
}

/// Returns the number of the last segment that was begun, as far as that is known: later ones may
/// have been.
pub(crate) fn begun(path: &Path) -> Option<u64> {
    let text = fs::read_to_string(path.join(LOCK)).ok()?;
    text.trim_end().parse().ok()
}

/// Tells whether all that is in a folder is what a journal leaves that was not begun or not removed
/// to its end: its lock, and files that are named exactly as a journal names them.
fn is_left_over(path: &Path) -> io::Result<bool> {
    let mut has_files = false;
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_str().unwrap_or_default();
        if name == LOCK {
            continue;
        }
        if !entry.file_type()?.is_file() || !is_own_name(name) {
            return Ok(false);
        }
        has_files = true;
    }
    let lock = path.join(LOCK);
    match fs::symlink_metadata(&lock) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(!has_files),
        data => {
            if !data?.is_file() {
                return Ok(false);
            }
        }
    }
    let noted = fs::read(&lock)?;
    let is_begun = noted.len() == 21 && begun(path).is_some();
    Ok(is_begun || (noted.is_empty() && !has_files))
}

/// Tells whether a journal gives a file this name, besides that of its manifest.
fn is_own_name(name: &str) -> bool {
    let name = name.strip_suffix(UNFINISHED).unwrap_or(name);
    let is_number = |prefix: &str, digits: usize| {
        let number = name.strip_prefix(prefix);
        number.is_some_and(|it| it.len() == digits && it.bytes().all(|it| it.is_ascii_digit()))
    };
    name == MANIFEST || is_number(CHECKPOINT, 20) || is_number(SEGMENT, 10)
}

/// Returns the checkpoints and segments in a folder.
pub(crate) fn list(path: &Path) -> io::Result<Listing> {
    let mut listing = Listing::default();
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        let name = entry.file_name();
        let Some(name) = name.to_str() else {
            continue;
        };
        let is_own = [MANIFEST, CHECKPOINT, SEGMENT];
        let is_own = is_own.iter().any(|prefix| name.starts_with(prefix));
        if is_own && name.ends_with(UNFINISHED) {
            listing.unfinished.push(entry.path());
            continue;
        }
        let number = |prefix: &str| name.strip_prefix(prefix)?.parse::<u64>().ok();
        if let Some(commits) = number(CHECKPOINT) {
            listing.checkpoints.push((commits, entry.path()));
        } else if let Some(number) = number(SEGMENT) {
            listing.segments.push((number, entry.path()));
        }
    }
    listing.checkpoints.sort();
    listing.segments.sort();
    Ok(listing)
}

fn at(path: &Path) -> impl Fn(io::Error) -> TakeFolderError {
    let path = path.to_owned();
    move |source| TakeFolderError::Io {
        path: path.clone(),
        source,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn create_in(files: &[(&str, &str)]) -> (tempfile::TempDir, Result<Folder, TakeFolderError>) {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            fs::write(folder.path().join(name), text).unwrap();
        }
        let created = Folder::create(folder.path());
        (folder, created)
    }

    #[test]
    fn a_folder_of_other_things_is_refused_and_keeps_them() {
        let lock = format!("{:020}\n", 3);
        let log = "log-0000000007";
        let check = |files: &[(&str, &str)]| {
            let (folder, created) = create_in(files);
            let error = created.unwrap_err();
            let TakeFolderError::Io { source, .. } = &error else {
                panic!("{error}");
            };
            assert!(
                source.to_string().contains("choose another folder"),
                "{source}"
            );
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), files.len());
        };
        check(&[("notes", "x")]);
        check(&[("log-7", "x"), (LOCK, &lock)]);
        check(&[(log, "x")]);
        check(&[(log, "x"), (LOCK, "")]);
        check(&[(log, "x"), (LOCK, "of another program")]);
        check(&[(log, "x"), (LOCK, &lock), ("notes", "x")]);
    }

    #[test]
    fn half_made_and_half_removed_journals_are_cleared() {
        let lock = format!("{:020}\n", 3);
        let check = |files: &[(&str, &str)]| {
            let (folder, created) = create_in(files);
            created.unwrap();
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        };
        check(&[]);
        check(&[(LOCK, "")]);
        check(&[
            (LOCK, &lock),
            ("log-0000000007", "x"),
            ("manifest.new", "x"),
        ]);
        check(&[(LOCK, &lock), ("checkpoint-00000000000000000007.new", "x")]);
    }

    #[test]
    fn a_lock_is_not_taken_through_a_link() {
        let [folder, other] = [(); 2].map(|()| tempfile::tempdir().unwrap());
        let target = other.path().join("precious");
        std::os::unix::fs::symlink(&target, folder.path().join(LOCK)).unwrap();
        assert!(Folder::create(folder.path()).is_err());
        assert!(!target.exists());
    }
}
