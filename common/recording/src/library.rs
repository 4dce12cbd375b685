//! [`LibraryFile`]: a file that a spawned model refers to, so that it can be spawned anew where
//! that file is not, or that a visual of a world names, so that it is drawn there.
//! [`RecordedFiles`] finds those of spawned models, [`LibraryIndex`] reads each when it is needed.

use std::collections::BTreeMap;
use std::io::{self, Read, Seek};
use std::sync::Arc;

use sdf::{ResolveError, ResolvedData, ResolvedFile, Resolver};
use serde::{Deserialize, Serialize};

use crate::reader::{ReadError, Recording};

/// The largest such file that is recorded \[bytes\].
pub const LIBRARY_FILE_BYTES_MAX: usize = 128 << 20;

/// The most bytes that all such files of a recording have \[bytes\].
pub const LIBRARY_BYTES_MAX: usize = 1 << 30;

/// Prefix of the names of attachments that are files of spawned models.
const PREFIX: &str = "library ";
/// Prefix of the names of attachments that are files of the visuals of worlds: to do a run again,
/// they are not needed.
const WORLD_PREFIX: &str = "visuals ";

/// A file as it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LibraryFile {
    /// Reference by which it was looked for.
    pub key: LibraryKey,
    /// The file's own name.
    pub file: String,
    /// Its content.
    pub bytes: Vec<u8>,
    /// True if the visuals of a world name it, and not a spawned model.
    pub is_of_world: bool,
}

/// Reference by which a file was looked for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct LibraryKey {
    /// The URI.
    pub uri: String,
    /// File in which it stands.
    pub from_file: String,
    /// True if data was meant and not a description.
    pub is_data: bool,
}

/// Content of an attachment's name.
#[derive(Serialize, Deserialize)]
struct Name {
    #[serde(flatten)]
    key: LibraryKey,
    file: String,
}

/// Finds files in a recording; clones are the same one.
#[derive(Clone, Debug, Default)]
pub struct RecordedFiles(Arc<BTreeMap<LibraryKey, (String, Vec<u8>)>>);

impl RecordedFiles {
    /// Takes the files of a recording.
    pub fn new(files: Vec<LibraryFile>) -> Self {
        let entry = |file: LibraryFile| (file.key, (file.file, file.bytes));
        Self(Arc::new(files.into_iter().map(entry).collect()))
    }

    fn find(
        &self,
        uri: &str,
        from_file: &str,
        is_data: bool,
    ) -> Result<(&str, &[u8]), ResolveError> {
        let key = LibraryKey::new(uri, from_file, is_data);
        let (file, bytes) = self.0.get(&key).ok_or_else(not_recorded)?;
        Ok((file, bytes))
    }
}

impl Resolver for RecordedFiles {
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
            identity: file.to_owned(),
        })
    }
}

/// Names of the files of spawned models and of visuals that a recording has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LibraryIndex(BTreeMap<LibraryKey, Entry>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    /// The file's own name.
    file: String,
    attachment: String,
}

impl LibraryIndex {
    /// Reads a mesh, an image or other data that a URI means in some file from its recording.
    ///
    /// # Errors
    /// Fails if the recording has no such file, or it cannot be read.
    pub fn read_data<R: Read + Seek>(
        &self,
        recording: &mut Recording<R>,
        uri: &str,
        from_file: &str,
    ) -> Result<ResolvedData, ResolveError> {
        let Some(entry) = self.0.get(&LibraryKey::new(uri, from_file, true)) else {
            return Err(not_recorded());
        };
        let bytes = recording.attachment(&entry.attachment);
        let bytes = bytes.map_err(|error| ResolveError::Unreadable {
            file: format!("{uri} in the recording"),
            source: io::Error::other(error),
        })?;
        Ok(ResolvedData {
            bytes,
            file: entry.file.clone(),
            identity: entry.file.clone(),
        })
    }
}

fn not_recorded() -> ResolveError {
    ResolveError::NotFound("there is no such file in the recording".to_owned())
}

impl LibraryKey {
    /// Makes the key of a URI in a file.
    pub fn new(uri: &str, from_file: &str, is_data: bool) -> Self {
        Self {
            uri: uri.to_owned(),
            from_file: from_file.to_owned(),
            is_data,
        }
    }
}

impl LibraryFile {
    pub(crate) fn attachment_name(&self) -> String {
        let name = Name {
            key: self.key.clone(),
            file: self.file.clone(),
        };
        let name = serde_json::to_string(&name).expect("names are JSON");
        let prefix = if self.is_of_world {
            WORLD_PREFIX
        } else {
            PREFIX
        };
        format!("{prefix}{name}")
    }
}

impl<R: Read + Seek> Recording<R> {
    /// Returns the files that spawned models refer to.
    ///
    /// # Errors
    /// Fails if one cannot be read.
    pub fn library(&mut self) -> Result<Vec<LibraryFile>, ReadError> {
        let mut files = Vec::new();
        for name in self.attachment_names(PREFIX) {
            let wrong = |error: serde_json::Error| ReadError::Content(error.to_string());
            let Name { key, file } = serde_json::from_str(&name[PREFIX.len()..]).map_err(wrong)?;
            let bytes = self.attachment(&name)?;
            files.push(LibraryFile {
                key,
                file,
                bytes,
                is_of_world: false,
            });
        }
        Ok(files)
    }

    /// Returns the names of the files that spawned models refer to, and that visuals of worlds
    /// name; names that cannot be read are passed over.
    pub fn library_index(&self) -> LibraryIndex {
        let named = |prefix: &'static str| {
            let names = self.attachment_names(prefix).into_iter();
            names.filter_map(|attachment| {
                let name = serde_json::from_str(&attachment[prefix.len()..]);
                let Name { key, file } = name.ok()?;
                Some((key, Entry { file, attachment }))
            })
        };
        LibraryIndex(named(WORLD_PREFIX).chain(named(PREFIX)).collect())
    }
}
