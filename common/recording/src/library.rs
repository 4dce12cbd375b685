//! [`LibraryFile`]: a file that a spawned model refers to, so that it can be spawned anew where
//! that file is not.

use std::io::{Read, Seek};

use serde::{Deserialize, Serialize};

use crate::reader::{ReadError, Recording};

/// Prefix of the names of attachments that are such files.
const PREFIX: &str = "library ";

/// A file as it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LibraryFile {
    /// Reference by which it was looked for.
    pub key: LibraryKey,
    /// The file's own name.
    pub file: String,
    /// Its content.
    pub bytes: Vec<u8>,
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

impl LibraryFile {
    pub(crate) fn attachment_name(&self) -> String {
        let name = Name {
            key: self.key.clone(),
            file: self.file.clone(),
        };
        let name = serde_json::to_string(&name).expect("names are JSON");
        format!("{PREFIX}{name}")
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
            files.push(LibraryFile { key, file, bytes });
        }
        Ok(files)
    }
}
