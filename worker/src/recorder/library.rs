//! Files that spawned models refer to: recorded once they are used, and found again in a recording.
//! Files that visuals of worlds name are recorded likewise ([`super::WorldFiles`]).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lockstep::{Library, VisualUse};
use recording::{
    LIBRARY_BYTES_MAX, LIBRARY_FILE_BYTES_MAX, LibraryFile, LibraryKey, RecordedFiles,
};
use sdf::{ResolveError, ResolvedData, ResolvedFile, Resolver, UsedFile};

use super::RecorderFeed;
use crate::seldom::shortened;

/// Finds files as another resolver does, and has them recorded.
pub struct RecordingLibrary<L> {
    files: L,
    feed: RecorderFeed,
    /// Files that were recorded or left out already, shared with the other libraries of the run.
    known: Arc<Mutex<KnownFiles>>,
    /// Files of the text that is being read, which are not known to be used.
    read: Mutex<BTreeMap<LibraryKey, (String, Vec<u8>)>>,
}

/// Files that were recorded or left out already.
struct KnownFiles {
    keys: BTreeSet<LibraryKey>,
    /// Size of those that were recorded \[bytes\].
    bytes: usize,
    /// The most that they may have together \[bytes\].
    most: usize,
    /// True if they are those of the visuals of worlds.
    are_of_worlds: bool,
}

/// Verdict on a file.
#[derive(Debug, PartialEq, Eq)]
enum Admission {
    /// It is to be recorded.
    New,
    /// It was looked at before.
    Known,
    /// It is left out, for a reason.
    LeftOut(String),
}

impl KnownFiles {
    fn new(most: usize, are_of_worlds: bool) -> Self {
        Self {
            keys: BTreeSet::new(),
            bytes: 0,
            most,
            are_of_worlds,
        }
    }

    /// Takes note of a file, and tells whether it is to be recorded.
    fn admit(&mut self, file: &LibraryFile) -> Admission {
        if !self.keys.insert(file.key.clone()) {
            return Admission::Known;
        }
        let (size, uri) = (file.bytes.len(), shortened(&file.key.uri));
        let (whose, left_out) = if self.are_of_worlds {
            let left_out = "it is left out, and drawn only where it is found";
            ("the visuals of the worlds", left_out)
        } else {
            let left_out =
                "it is left out, and models that need it cannot be spawned or drawn again";
            ("spawned models", left_out)
        };
        if size > LIBRARY_FILE_BYTES_MAX {
            let most = LIBRARY_FILE_BYTES_MAX >> 20;
            let text = format!("the file {uri} has more than {most} MiB: {left_out}");
            return Admission::LeftOut(text);
        }
        if self.bytes + size > self.most {
            let most = self.most >> 20;
            return Admission::LeftOut(format!(
                "with the file {uri} those of {whose} have more than {most} MiB: {left_out}"
            ));
        }
        self.bytes += size;
        Admission::New
    }
}

/// Finds files in a recording; clones are the same one.
#[derive(Clone, Debug)]
pub struct RecordedLibrary(RecordedFiles);

impl<L> RecordingLibrary<L> {
    /// Makes a library of the files that another resolver finds.
    pub fn new(files: L, feed: RecorderFeed) -> Self {
        Self::with(files, feed, KnownFiles::new(LIBRARY_BYTES_MAX, false))
    }

    /// Makes a library for the visuals of worlds, of files with at most so many bytes together.
    pub(super) fn of_worlds(files: L, feed: RecorderFeed, most: usize) -> Self {
        Self::with(files, feed, KnownFiles::new(most, true))
    }

    fn with(files: L, feed: RecorderFeed, known: KnownFiles) -> Self {
        Self {
            files,
            feed,
            known: Arc::new(Mutex::new(known)),
            read: Mutex::default(),
        }
    }

    /// Lays a file aside until it is known whether it is used.
    fn lay_aside(&self, key: LibraryKey, file: &str, bytes: &[u8]) {
        if !locked(&self.known).keys.contains(&key) {
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
        let is_of_world = locked(&self.known).are_of_worlds;
        for used in files {
            let key = LibraryKey::new(&used.uri, &used.from_file, used.is_data);
            let Some((file, bytes)) = read.remove(&key) else {
                continue;
            };
            let file = LibraryFile {
                key,
                file,
                bytes,
                is_of_world,
            };
            match locked(&self.known).admit(&file) {
                Admission::New => self.feed.library(file),
                Admission::Known => {}
                Admission::LeftOut(reason) => self.feed.lacks(&reason),
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

#[cfg(test)]
mod tests {
    use super::*;

    fn file(uri: &str, bytes: usize) -> LibraryFile {
        LibraryFile {
            key: LibraryKey::new(uri, "w.sdf", true),
            file: uri.to_owned(),
            bytes: vec![0; bytes],
            is_of_world: false,
        }
    }

    #[test]
    fn files_are_recorded_once_and_as_far_as_there_is_room() {
        let mut known = KnownFiles::new(LIBRARY_BYTES_MAX, false);
        assert_eq!(known.admit(&file("a", 10)), Admission::New);
        assert_eq!(known.admit(&file("a", 10)), Admission::Known);
        let left_out = |known: &mut KnownFiles, uri: &str, bytes: usize| match known
            .admit(&file(uri, bytes))
        {
            Admission::LeftOut(reason) => reason,
            other => panic!("{uri}: {other:?}"),
        };
        let large = LIBRARY_FILE_BYTES_MAX + 1;
        let told = left_out(&mut known, "large", large);
        assert!(told.contains("large has more than 128 MiB"), "{told}");
        assert_eq!(known.admit(&file("large", large)), Admission::Known);
        known.bytes = LIBRARY_BYTES_MAX - 10;
        let told = left_out(&mut known, "b", 11);
        assert!(
            told.contains("b those of spawned models have more than 1024 MiB"),
            "{told}"
        );
        assert_eq!(
            known.admit(&file("c", 10)),
            Admission::New,
            "a smaller one fits"
        );
        assert_eq!(known.bytes, LIBRARY_BYTES_MAX);
    }
}
