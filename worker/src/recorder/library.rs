//! Files that spawned models refer to: recorded once they are used, and found again in a recording.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lockstep::{Library, VisualUse};
use recording::{LibraryFile, LibraryKey, RecordedFiles};
use sdf::{ResolveError, ResolvedData, ResolvedFile, Resolver, UsedFile};

use super::RecorderFeed;

/// Finds files as another resolver does, and has them recorded.
pub struct RecordingLibrary<L> {
    files: L,
    feed: RecorderFeed,
    /// Files that were recorded already, shared with the other libraries of the run.
    known: Arc<Mutex<BTreeSet<LibraryKey>>>,
    /// Files of the text that is being read, which are not known to be used.
    read: Mutex<BTreeMap<LibraryKey, (String, Vec<u8>)>>,
}

/// Finds files in a recording; clones are the same one.
#[derive(Clone, Debug)]
pub struct RecordedLibrary(RecordedFiles);

impl<L> RecordingLibrary<L> {
    /// Makes a library of the files that another resolver finds.
    pub fn new(files: L, feed: RecorderFeed) -> Self {
        Self {
            files,
            feed,
            known: Arc::default(),
            read: Mutex::default(),
        }
    }

    /// Lays a file aside until it is known whether it is used.
    fn lay_aside(&self, key: LibraryKey, file: &str, bytes: &[u8]) {
        if !locked(&self.known).contains(&key) {
            locked(&self.read).insert(key, (file.to_owned(), bytes.to_vec()));
        }
    }
}

impl<L: Library + Clone + 'static> Library for RecordingLibrary<L> {
    fn another(&self) -> Arc<dyn Library> {
        Arc::new(Self {
            files: self.files.clone(),
            feed: self.feed.clone(),
            known: Arc::clone(&self.known),
            read: Mutex::default(),
        })
    }

    /// Has those files recorded, and forgets all others: what a text that is refused names, or what
    /// is no model, mesh or image, may be anything.
    fn keep(&self, files: &BTreeSet<UsedFile>) {
        let mut read = std::mem::take(&mut *locked(&self.read));
        for used in files {
            let key = LibraryKey::new(&used.uri, &used.from_file, used.is_data);
            let Some((file, bytes)) = read.remove(&key) else {
                continue;
            };
            if locked(&self.known).insert(key.clone()) {
                self.feed.library(LibraryFile { key, file, bytes });
            }
        }
        self.files.keep(files);
    }

    /// Has the files of visuals read, so that they are recorded, too.
    fn visual_use(&self) -> VisualUse {
        VisualUse::Recording
    }
}

impl Library for RecordedLibrary {
    fn another(&self) -> Arc<dyn Library> {
        Arc::new(self.clone())
    }
}

impl RecordedLibrary {
    /// Makes a library of the files of a recording.
    pub fn new(files: Vec<LibraryFile>) -> Self {
        Self(RecordedFiles::new(files))
    }
}

impl<L: Library> Resolver for RecordingLibrary<L> {
    fn read(&self, uri: &str, from_file: &str) -> Result<ResolvedFile, ResolveError> {
        let found = self.files.read(uri, from_file)?;
        let key = LibraryKey::new(uri, from_file, false);
        self.lay_aside(key, &found.file, found.text.as_bytes());
        Ok(found)
    }

    fn read_data(&self, uri: &str, from_file: &str) -> Result<ResolvedData, ResolveError> {
        let found = self.files.read_data(uri, from_file)?;
        self.lay_aside(
            LibraryKey::new(uri, from_file, true),
            &found.file,
            &found.bytes,
        );
        Ok(found)
    }

    fn read_side(&self, name: &str, mesh_file: &str) -> Result<ResolvedData, ResolveError> {
        let found = self.files.read_side(name, mesh_file)?;
        self.lay_aside(
            LibraryKey::new(name, mesh_file, true),
            &found.file,
            &found.bytes,
        );
        Ok(found)
    }
}

impl Resolver for RecordedLibrary {
    fn read(&self, uri: &str, from_file: &str) -> Result<ResolvedFile, ResolveError> {
        self.0.read(uri, from_file)
    }

    fn read_data(&self, uri: &str, from_file: &str) -> Result<ResolvedData, ResolveError> {
        self.0.read_data(uri, from_file)
    }
}

fn locked<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
