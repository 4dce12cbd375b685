//! [`SearchPaths`]: files of this machine, found as Gazebo finds models. Never goes to a network.

mod catalogue;
mod confined;
mod fuel_caches;
mod model_folder;
#[cfg(test)]
mod tests;

use std::fmt::Write;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

pub use catalogue::{FoundModel, models_in};
pub use confined::ConfinedPaths;
pub use fuel_caches::{CachedFuel, FuelCaches, world_file_in};

use crate::encoding::decode_text;
use crate::fuel_address::FuelAddress;
use crate::resolve::{ResolveError, ResolvedData, ResolvedFile, Resolver};
use crate::tree;

/// The most bytes of a mesh or image.
const DATA_BYTES_MAX: u64 = 1 << 30;
/// The schemes of URIs that are looked for on this machine.
const SCHEMES: [&str; 3] = ["model://", "package://", "file://"];
/// The variable that lists folders of models and packages.
const RESOURCE_PATH: &str = "PHALANX_RESOURCE_PATH";

/// Looks for a URI beside the including file, then in a list of folders.
///
/// `model://NAME/rest`, `package://NAME/rest`, `file://...`, absolute, relative and bare names are
/// understood. A folder stands for the file that its `model.config` (or `manifest.xml`) names.
/// Packages are looked for in folders of ROS, too, and around the file that names them. Addresses
/// of Fuel mean what the caches of this machine have of it.
#[derive(Clone, Debug, Default)]
pub struct SearchPaths {
    folders: Vec<PathBuf>,
    /// Folders that hold packages of ROS, or are one.
    package_folders: Vec<PathBuf>,
    /// Models and worlds that were fetched.
    fuel: FuelCaches,
}

impl SearchPaths {
    /// Makes a resolver that searches these folders in order.
    pub fn new(folders: impl IntoIterator<Item = PathBuf>) -> Self {
        Self {
            folders: folders.into_iter().collect(),
            package_folders: Vec::new(),
            fuel: FuelCaches::default(),
        }
    }

    /// Returns it with other caches of Fuel, or none.
    #[must_use]
    pub fn with_fuel(self, fuel: FuelCaches) -> Self {
        Self { fuel, ..self }
    }

    /// Returns it with folders in which packages are looked for last; one may be a package itself.
    #[must_use]
    pub fn with_packages(mut self, folders: impl IntoIterator<Item = PathBuf>) -> Self {
        self.package_folders.extend(folders);
        self
    }

    /// Makes a resolver that searches the folders listed in `PHALANX_RESOURCE_PATH`, then those in
    /// `GZ_SIM_RESOURCE_PATH`; packages also in `ROS_PACKAGE_PATH`, then below the prefixes in
    /// `AMENT_PREFIX_PATH`; addresses of Fuel in [`FuelCaches::from_environment`].
    pub fn from_environment() -> Self {
        let list = |name: &str| {
            let list = std::env::var_os(name).unwrap_or_default();
            let folders = std::env::split_paths(&list);
            let folders = folders.filter(|folder| !folder.as_os_str().is_empty());
            folders.collect::<Vec<_>>()
        };
        let prefixes = list("AMENT_PREFIX_PATH").into_iter();
        let folders = [RESOURCE_PATH, "GZ_SIM_RESOURCE_PATH"].map(list).concat();
        Self::new(folders)
            .with_packages(list("ROS_PACKAGE_PATH"))
            .with_packages(prefixes.map(|prefix| prefix.join("share")))
            .with_fuel(FuelCaches::from_environment())
    }

    /// Returns the file or folder that a URI in a file means, if there is one.
    pub fn locate(&self, uri: &str, from_file: &str) -> Option<PathBuf> {
        self.find(uri, from_file).ok()
    }

    /// Returns the first file or folder that a URI means.
    fn find(&self, uri: &str, from_file: &str) -> Result<PathBuf, ResolveError> {
        if let Some(address) = FuelAddress::parse(uri) {
            return self.fuel.path(&address).map(|(_, path)| path);
        }
        let scheme = SCHEMES.into_iter().find(|scheme| uri.starts_with(scheme));
        if scheme.is_none() && uri.contains("://") {
            let message = format!(
                "only files of this machine can be read; download it, and name its folder \
                           in {RESOURCE_PATH}"
            );
            return Err(ResolveError::NotFound(message));
        }
        let path = Path::new(uri.strip_prefix(scheme.unwrap_or("")).unwrap_or(uri));
        let is_model = matches!(scheme, Some("model://" | "package://"));
        let leaves = |component| component == Component::ParentDir;
        if is_model && path.components().any(leaves) {
            let message = "a model's URI cannot leave its folder by \"..\"".to_owned();
            return Err(ResolveError::NotFound(message));
        }
        let mut candidates = self.candidates(path, is_model, from_file);
        if scheme == Some("package://") {
            candidates.extend(self.in_packages(path, from_file));
        }
        let exists = |candidate: &PathBuf| candidate.exists();
        let cached = || {
            let cached = self.fuel.candidates(path, from_file).into_iter();
            cached.map(|(_, path)| path).find(exists)
        };
        let found = candidates.into_iter().find(exists);
        let found = found.or_else(|| is_model.then(cached).flatten());
        found.ok_or_else(|| self.not_found(path, scheme, from_file))
    }

    fn candidates(&self, path: &Path, is_model: bool, from_file: &str) -> Vec<PathBuf> {
        let beside = Path::new(from_file).parent().unwrap_or(Path::new(""));
        let relative = path.strip_prefix("/").unwrap_or(path);
        let first = beside.join(if is_model { relative } else { path });
        let folders = self.folders.iter().map(|folder| folder.join(relative));
        std::iter::once(first).chain(folders).collect()
    }

    /// Returns where a path may be whose first part is a package: in the package around the file
    /// that names it, in folders that are the package, and in folders that hold it.
    fn in_packages(&self, path: &Path, from_file: &str) -> Vec<PathBuf> {
        let Some((package, rest)) = package_and_rest(path) else {
            return Vec::new();
        };
        let is_it = |folder: &&Path| folder.file_name() == Some(package.as_ref());
        let from = std::path::absolute(from_file).unwrap_or_default();
        let around = from.ancestors().skip(1).filter(is_it);
        let folders = self.package_folders.iter().map(PathBuf::as_path);
        let are_it = folders.clone().filter(is_it);
        let mut candidates: Vec<PathBuf> = around
            .chain(are_it)
            .map(|folder| folder.join(rest))
            .collect();
        candidates.extend(folders.map(|folder| folder.join(package).join(rest)));
        candidates
    }

    /// Says what to set for a file that is nowhere.
    fn not_found(&self, path: &Path, scheme: Option<&str>, from_file: &str) -> ResolveError {
        let folders = match self.folders.len() {
            1 => "1 model folder".to_owned(),
            known => format!("{known} model folders"),
        };
        let mut message = format!("it is neither beside {from_file:?} nor in {folders}");
        let name = package_and_rest(path).map(|(name, _)| name);
        let (Some(name), Some("package://" | "model://")) = (name, scheme) else {
            return ResolveError::NotFound(message);
        };
        let _ = write!(
            message,
            "; set {RESOURCE_PATH} to the folder that holds {name:?}"
        );
        if scheme == Some("package://") {
            message += ", or source its workspace (ROS_PACKAGE_PATH and AMENT_PREFIX_PATH count)";
        }
        ResolveError::NotFound(message)
    }
}

/// Returns the first part of a path, and the rest.
fn package_and_rest(path: &Path) -> Option<(&str, &Path)> {
    let path = path.strip_prefix("/").unwrap_or(path);
    let first = path.components().next()?;
    let package = first.as_os_str().to_str()?;
    Some((package, path.strip_prefix(first).ok()?))
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
        let identity = file.canonicalize();
        Ok(ResolvedData {
            bytes: read_bytes(&file, DATA_BYTES_MAX)?,
            file: file.to_string_lossy().into_owned(),
            identity: identity.as_ref().unwrap_or(&file).to_string_lossy().into(),
        })
    }
}

/// Reads a file that a user names, whatever it is, up to a bound: a device may have no end.
///
/// # Errors
/// Fails if it cannot be read, or has more bytes.
pub fn read_bounded(path: &Path, bytes_max: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let file = File::open(path)?;
    file.take(bytes_max + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > bytes_max {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    Ok(bytes)
}

fn read_text(file: &Path) -> Result<String, ResolveError> {
    as_text(read_bytes(file, tree::TEXT_BYTES_MAX as u64)?, file)
}

fn as_text(bytes: Vec<u8>, file: &Path) -> Result<String, ResolveError> {
    decode_text(bytes).map_err(|error| ResolveError::Unreadable {
        file: file.to_string_lossy().into_owned(),
        source: io::Error::other(error),
    })
}

/// Reads a regular file of at most `bytes_max`; others, as pipes, may have no end.
fn read_bytes(file: &Path, bytes_max: u64) -> Result<Vec<u8>, ResolveError> {
    if !file.is_file() {
        let message = format!("{} is no file", file.display());
        return Err(ResolveError::NotFound(message));
    }
    let opened = File::open(file);
    let read = opened.and_then(|opened| read_regular(opened, bytes_max));
    read.map_err(|source| ResolveError::Unreadable {
        file: file.to_string_lossy().into_owned(),
        source,
    })
}

/// Reads as many bytes as a regular file says that it has: those that the kernel makes up, as in
/// /proc, say none, and some have no end.
fn read_regular(file: File, bytes_max: u64) -> io::Result<Vec<u8>> {
    let told = file.metadata()?;
    if !told.is_file() {
        return Err(io::Error::other("it is no regular file"));
    }
    if told.len() > bytes_max {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    let mut bytes = Vec::new();
    file.take(told.len()).read_to_end(&mut bytes)?;
    Ok(bytes)
}
