//! The folder of a journal: what its files are called, and who holds it.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

const MANIFEST: &str = "manifest";
const LOCK: &str = "lock";
const CHECKPOINT: &str = "checkpoint-";
const SEGMENT: &str = "log-";

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
        /// What the system said.
        #[source]
        source: io::Error,
    },
}

/// The folder of a journal, held by the process that writes it.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    _lock: File,
}

/// What is in a folder.
#[derive(Debug, Default)]
pub(crate) struct Listing {
    /// Checkpoints by their commits, ascending.
    pub(crate) checkpoints: Vec<(u64, PathBuf)>,
    /// Segments by their numbers, ascending.
    pub(crate) segments: Vec<(u64, PathBuf)>,
}

/// Tells whether there is a journal in a folder.
pub fn is_journal(path: &Path) -> bool {
    path.join(MANIFEST).is_file()
}

/// Removes a journal.
///
/// # Errors
/// When the system cannot.
pub fn remove(path: &Path) -> io::Result<()> {
    // Without its manifest, nobody takes the rest for a journal.
    match fs::remove_file(path.join(MANIFEST)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    let listing = list(path)?;
    let files = listing.checkpoints.into_iter().chain(listing.segments);
    for file in files.map(|(_, file)| file).chain([path.join(LOCK)]) {
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
    /// When it cannot be made or is held, or there is a journal in it.
    pub fn create(path: &Path) -> Result<Self, TakeFolderError> {
        let made = DirBuilder::new().recursive(true).mode(0o700).create(path);
        made.map_err(at(path))?;
        let folder = Self::lock(path)?;
        if is_journal(path) {
            let exists = "there is a journal in it: resume it, remove it, or choose another folder";
            let source = io::Error::new(io::ErrorKind::AlreadyExists, exists);
            return Err(at(path)(source));
        }
        let listing = list(path).map_err(at(path))?;
        for (_, file) in listing.checkpoints.into_iter().chain(listing.segments) {
            fs::remove_file(&file).map_err(at(&file))?;
        }
        Ok(folder)
    }

    /// Takes the folder of a journal that is there.
    ///
    /// # Errors
    /// When there is none, or it is held.
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

    /// Removes the journal.
    ///
    /// # Errors
    /// When the system cannot.
    pub fn remove(self) -> io::Result<()> {
        remove(&self.path)
    }

    fn lock(path: &Path) -> Result<Self, TakeFolderError> {
        let name = path.join(LOCK);
        let mut options = OpenOptions::new();
        let options = options.create(true).truncate(false).write(true).mode(0o600);
        let lock = options.open(&name).map_err(at(&name))?;
        match lock.try_lock() {
            Ok(()) => Ok(Self {
                path: path.to_owned(),
                _lock: lock,
            }),
            Err(TryLockError::WouldBlock) => Err(TakeFolderError::Living(path.to_owned())),
            Err(TryLockError::Error(source)) => Err(at(&name)(source)),
        }
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

/// Returns the checkpoints and segments in a folder.
pub(crate) fn list(path: &Path) -> io::Result<Listing> {
    let mut listing = Listing::default();
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        let name = entry.file_name();
        let Some(name) = name.to_str() else {
            continue;
        };
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
