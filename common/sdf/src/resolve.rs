//! [`Resolver`]: the only way to other files.

/// A file that an `<include>` names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolvedFile {
    /// Its content.
    pub text: String,
    /// Its own name, for places and for what it includes in turn.
    pub file: String,
}

/// A mesh, image or other file of data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolvedData {
    /// Its content.
    pub bytes: Vec<u8>,
    /// Its own name, for what it refers to in turn.
    pub file: String,
    /// The same for all names of the file.
    pub identity: String,
}

/// A file that something that was read rests on.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct UsedFile {
    /// The name by which it was found.
    pub uri: String,
    /// The file in which that stands.
    pub from_file: String,
    /// Tells whether it is one of data.
    pub is_data: bool,
}

/// Reason why a file could not be had.
#[derive(Debug, thiserror::Error)]
pub enum ResolveError {
    /// Nothing of that name was found.
    #[error("{0}")]
    NotFound(String),
    /// No file that may be had by such a name, whether or not it is there.
    #[error("{0}")]
    Refused(String),
    /// It is there and cannot be read.
    #[error("{file}: {source}")]
    Unreadable {
        /// The file.
        file: String,
        /// The system's error.
        source: std::io::Error,
    },
}

/// Finds and reads the files that `<include>`s name.
pub trait Resolver {
    /// Returns the file that a URI means in some file.
    ///
    /// # Errors
    /// Fails if there is no such file or it cannot be read.
    fn read(&self, uri: &str, from_file: &str) -> Result<ResolvedFile, ResolveError>;

    /// Returns the file of data (a mesh, an image) that a URI means in some file.
    ///
    /// # Errors
    /// Fails if there is no such file or it cannot be read.
    fn read_data(&self, uri: &str, from_file: &str) -> Result<ResolvedData, ResolveError> {
        let _ = (uri, from_file);
        let message = "files of data cannot be read here".to_owned();
        Err(ResolveError::NotFound(message))
    }

    /// Returns the file that a mesh file refers to by a name, such as a buffer.
    ///
    /// # Errors
    /// Fails if there is no such file or it cannot be read.
    fn read_side(&self, name: &str, mesh_file: &str) -> Result<ResolvedData, ResolveError> {
        self.read_data(name, mesh_file)
    }
}

/// Finds nothing: for text that must stand alone.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoFiles;

impl Resolver for NoFiles {
    fn read(&self, _uri: &str, _from_file: &str) -> Result<ResolvedFile, ResolveError> {
        Err(ResolveError::NotFound(
            "files cannot be included here".to_owned(),
        ))
    }
}
