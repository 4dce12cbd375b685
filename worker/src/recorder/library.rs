//! Files that spawned models refer to: recorded when they are read, and found again in a recording.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use recording::{LibraryFile, LibraryKey};
use sdf::{ResolveError, ResolvedData, ResolvedFile, Resolver};

use super::RecorderFeed;

/// Finds files as another resolver does, and has them recorded.
pub struct RecordingLibrary<L> {
    files: L,
    feed: RecorderFeed,
    /// What was recorded already.
    known: Mutex<BTreeSet<LibraryKey>>,
}

/// Finds files in a recording.
#[derive(Debug)]
pub struct RecordedLibrary(BTreeMap<LibraryKey, (String, Vec<u8>)>);

impl<L> RecordingLibrary<L> {
    /// Makes a library of the files that another resolver finds.
    pub fn new(files: L, feed: RecorderFeed) -> Self {
        Self {
            files,
            feed,
            known: Mutex::default(),
        }
    }

    fn record(&self, key: LibraryKey, file: &str, bytes: &[u8]) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.insert(key.clone()) {
            self.feed.library(LibraryFile {
                key,
                file: file.to_owned(),
                bytes: bytes.to_vec(),
            });
        }
    }
}

impl RecordedLibrary {
    /// Makes a library of the files of a recording.
    pub fn new(files: Vec<LibraryFile>) -> Self {
        let entry = |file: LibraryFile| (file.key, (file.file, file.bytes));
        Self(files.into_iter().map(entry).collect())
    }

    fn find(
        &self,
        uri: &str,
        from_file: &str,
        is_data: bool,
    ) -> Result<(&str, &[u8]), ResolveError> {
        let found = self.0.get(&key(uri, from_file, is_data));
        let (file, bytes) = found.ok_or_else(|| {
            ResolveError::NotFound("there is no such file in the recording".to_owned())
        })?;
        Ok((file, bytes))
    }
}

impl<L: Resolver> Resolver for RecordingLibrary<L> {
    fn read(&self, uri: &str, from_file: &str) -> Result<ResolvedFile, ResolveError> {
        let found = self.files.read(uri, from_file)?;
        self.record(
            key(uri, from_file, false),
            &found.file,
            found.text.as_bytes(),
        );
        Ok(found)
    }

    fn read_data(&self, uri: &str, from_file: &str) -> Result<ResolvedData, ResolveError> {
        let found = self.files.read_data(uri, from_file)?;
        self.record(key(uri, from_file, true), &found.file, &found.bytes);
        Ok(found)
    }
}

impl Resolver for RecordedLibrary {
    fn read(&self, uri: &str, from_file: &str) -> Result<ResolvedFile, ResolveError> {
        let (file, bytes) = self.find(uri, from_file, false)?;
        Ok(ResolvedFile {
            text: String::from_utf8_lossy(bytes).into_owned(),
            file: file.to_owned(),
        })
    }

    fn read_data(&self, uri: &str, from_file: &str) -> Result<ResolvedData, ResolveError> {
        let (file, bytes) = self.find(uri, from_file, true)?;
        Ok(ResolvedData {
            bytes: bytes.to_vec(),
            file: file.to_owned(),
        })
    }
}

fn key(uri: &str, from_file: &str, is_data: bool) -> LibraryKey {
    LibraryKey {
        uri: uri.to_owned(),
        from_file: from_file.to_owned(),
        is_data,
    }
}
