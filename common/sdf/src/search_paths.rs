//! [`SearchPaths`]: files of this machine, found as Gazebo finds models. Never goes to a network.

mod model_folder;
#[cfg(test)]
mod tests;

use std::fs;
use std::io::Read;
use std::path::{Component, Path, PathBuf};

use crate::encoding::decode_text;
use crate::resolve::{ResolveError, ResolvedData, ResolvedFile, Resolver};
use crate::tree;

/// The most bytes of a mesh or image.
const DATA_BYTES_MAX: u64 = 1 << 30;
/// The schemes of URIs that are looked for on this machine.
const SCHEMES: [&str; 3] = ["model://", "package://", "file://"];

/// Looks for a URI beside the including file, then in a list of folders.
///
/// `model://NAME/rest`, `package://NAME/rest`, `file://...`, absolute, relative and bare names are
/// understood. A folder stands for the file that its `model.config` (or `manifest.xml`) names.
#[derive(Clone, Debug, Default)]
pub struct SearchPaths {
    folders: Vec<PathBuf>,
}

impl SearchPaths {
    /// Makes a resolver that searches these folders in order.
    pub fn new(folders: impl IntoIterator<Item = PathBuf>) -> Self {
        Self {
            folders: folders.into_iter().collect(),
        }
    }

    /// Makes a resolver that searches the folders listed in `PHALANX_RESOURCE_PATH`, then those in
    /// `GZ_SIM_RESOURCE_PATH`.
    pub fn from_environment() -> Self {
        let lists = ["PHALANX_RESOURCE_PATH", "GZ_SIM_RESOURCE_PATH"];
        let lists: Vec<_> = lists.into_iter().filter_map(std::env::var_os).collect();
        let folders = lists.iter().flat_map(std::env::split_paths);
        Self::new(folders.filter(|folder| !folder.as_os_str().is_empty()))
    }

    /// Returns the first file or folder that a URI means.
    fn find(&self, uri: &str, from_file: &str) -> Result<PathBuf, ResolveError> {
        let scheme = SCHEMES.into_iter().find(|scheme| uri.starts_with(scheme));
        if scheme.is_none() && uri.contains("://") {
            let message =
                "only files of this machine can be read; download it, and name its folder \
                           in PHALANX_RESOURCE_PATH"
                    .to_owned();
            return Err(ResolveError::NotFound(message));
        }
        let path = Path::new(uri.strip_prefix(scheme.unwrap_or("")).unwrap_or(uri));
        let is_model = matches!(scheme, Some("model://" | "package://"));
        let leaves = |component| component == Component::ParentDir;
        if is_model && path.components().any(leaves) {
            let message = "a model's URI cannot leave its folder by \"..\"".to_owned();
            return Err(ResolveError::NotFound(message));
        }
        let found = self
            .candidates(path, is_model, from_file)
            .find(|candidate| candidate.exists());
        found.ok_or_else(|| {
            let searched = self.folders.len();
            ResolveError::NotFound(format!(
                "there is no such file beside {from_file:?} nor in {searched} model folders"
            ))
        })
    }

    fn candidates<'s>(
        &'s self,
        path: &'s Path,
        is_model: bool,
        from_file: &str,
    ) -> impl Iterator<Item = PathBuf> + 's {
        let beside = Path::new(from_file).parent().unwrap_or(Path::new(""));
        let relative = path.strip_prefix("/").unwrap_or(path);
        let first = beside.join(if is_model { relative } else { path });
        let folders = self.folders.iter().map(move |folder| folder.join(relative));
        std::iter::once(first).chain(folders)
    }
}

impl Resolver for SearchPaths {
    fn read(&self, uri: &str, from_file: &str) -> Result<ResolvedFile, ResolveError> {
        let found = self.find(uri, from_file)?;
        let file = if found.is_dir() {
            model_folder::best_file(&found)?
        } else {
            found
        };
        Ok(ResolvedFile {
            text: read_text(&file)?,
            file: file.to_string_lossy().into_owned(),
        })
    }

    fn read_data(&self, uri: &str, from_file: &str) -> Result<ResolvedData, ResolveError> {
        let file = self.find(uri, from_file)?;
        Ok(ResolvedData {
            bytes: read_bytes(&file, DATA_BYTES_MAX)?,
            file: file.to_string_lossy().into_owned(),
        })
    }
}

fn read_text(file: &Path) -> Result<String, ResolveError> {
    let bytes = read_bytes(file, tree::TEXT_BYTES_MAX as u64)?;
    decode_text(bytes).map_err(|error| ResolveError::Unreadable {
        file: file.to_string_lossy().into_owned(),
        source: std::io::Error::other(error),
    })
}

/// Reads a regular file of at most `bytes_max`; others, as pipes, may have no end.
fn read_bytes(file: &Path, bytes_max: u64) -> Result<Vec<u8>, ResolveError> {
    let unreadable = |source| ResolveError::Unreadable {
        file: file.to_string_lossy().into_owned(),
        source,
    };
    if !file.is_file() {
        let message = format!("{} is no file", file.display());
        return Err(ResolveError::NotFound(message));
    }
    let mut bytes = Vec::new();
    let opened = fs::File::open(file).map_err(unreadable)?;
    opened
        .take(bytes_max + 1)
        .read_to_end(&mut bytes)
        .map_err(unreadable)?;
    if bytes.len() as u64 > bytes_max {
        return Err(unreadable(std::io::ErrorKind::FileTooLarge.into()));
    }
    Ok(bytes)
}
