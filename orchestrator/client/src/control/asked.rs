//! [`Asked`]: a command, perhaps with a file that is still to be read.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use protocol::Command;
use protocol::client_to_primary::NamedPose;

use super::words;

/// The most of a file that is read \[bytes\].
const FILE_BYTES_MAX: u64 = 64 << 20;

/// A command as parsed, perhaps with a file that is still to be read.
#[derive(Clone, Debug, PartialEq)]
pub struct Asked {
    command: Command,
    /// File with the model or the poses; `-` is standard input.
    file: Option<PathBuf>,
}

/// A file that a command names and that is of no use.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// It cannot be read.
    #[error("cannot read {}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Error of the operating system.
        #[source]
        source: io::Error,
    },
    /// It is larger than any such file.
    #[error("{} has more than {FILE_BYTES_MAX} bytes", .0.display())]
    TooLarge(PathBuf),
    /// It has no poses.
    #[error(
        "{} has no poses such as {{\"box\": [1, 2, 3], \"ball\": [0, 0, 1, 0, 0, 1.57]}}",
        path.display()
    )]
    Poses {
        /// The file.
        path: PathBuf,
        /// Error of the parser.
        #[source]
        source: serde_json::Error,
    },
    /// Numbers that are no pose.
    #[error("{}: the pose of {model} is not three or six finite numbers", path.display())]
    Pose {
        /// The file.
        path: PathBuf,
        /// The model.
        model: String,
    },
    /// A device or pipe, where nobody can wait for it.
    #[error("{} is no file", .0.display())]
    NoFile(PathBuf),
    /// Standard input, where there is none.
    #[error("- is standard input, and there is none here: name a file")]
    NoInput,
}

impl From<Command> for Asked {
    fn from(command: Command) -> Self {
        Self {
            command,
            file: None,
        }
    }
}

impl Asked {
    /// Makes a command that needs a file.
    pub(super) fn with_file(command: Command, file: &str) -> Self {
        Self {
            command,
            file: Some(file.into()),
        }
    }

    /// Returns the file that is still to be read, if any.
    pub fn file(&self) -> Option<&Path> {
        self.file.as_deref()
    }

    /// Returns the command.
    ///
    /// # Errors
    /// Returns itself unchanged if a file is still to be read.
    pub fn command(self) -> Result<Command, Self> {
        match self.file {
            None => Ok(self.command),
            Some(_) => Err(self),
        }
    }

    /// Returns the command, with the contents of the file that it names.
    ///
    /// # Errors
    /// Fails if the file cannot be read, or lacks something that the command needs.
    pub fn load(self, has_input: bool) -> Result<Command, LoadError> {
        let Some(path) = self.file else {
            return Ok(self.command);
        };
        if path == Path::new("-") && !has_input {
            return Err(LoadError::NoInput);
        }
        if !has_input && path.exists() && !path.is_file() {
            return Err(LoadError::NoFile(path));
        }
        let text = read(&path)?;
        match self.command {
            Command::Spawn(mut request) => {
                request.sdf = text;
                request.file = full_name(&path);
                Ok(Command::Spawn(request))
            }
            _ => Ok(Command::SetPoses {
                poses: poses(&path, &text)?,
            }),
        }
    }
}

/// Reads a text file that a client was named; `-` is standard input.
///
/// # Errors
/// Fails if it cannot be read, or is too large.
pub fn read(path: &Path) -> Result<String, LoadError> {
    let unreadable = |source| LoadError::Unreadable {
        path: path.to_owned(),
        source,
    };
    let mut text = String::new();
    let source: Box<dyn Read> = if path == Path::new("-") {
        Box::new(io::stdin())
    } else {
        Box::new(File::open(path).map_err(unreadable)?)
    };
    let mut source = source.take(FILE_BYTES_MAX + 1);
    source.read_to_string(&mut text).map_err(unreadable)?;
    if text.len() as u64 > FILE_BYTES_MAX {
        return Err(LoadError::TooLarge(path.to_owned()));
    }
    Ok(text)
}

/// Returns the name of a file from wherever it is read; standard input has none.
fn full_name(path: &Path) -> Option<String> {
    if path == Path::new("-") {
        return None;
    }
    let full = std::path::absolute(path).ok()?;
    Some(full.to_string_lossy().into_owned())
}

fn poses(path: &Path, text: &str) -> Result<Vec<NamedPose>, LoadError> {
    let given: BTreeMap<String, Vec<f64>> =
        serde_json::from_str(text).map_err(|source| LoadError::Poses {
            path: path.to_owned(),
            source,
        })?;
    let pose = |(model, numbers): (String, Vec<f64>)| match words::pose(&numbers) {
        Some(pose) => Ok(NamedPose { model, pose }),
        None => Err(LoadError::Pose {
            path: path.to_owned(),
            model,
        }),
    };
    given.into_iter().map(pose).collect()
}
