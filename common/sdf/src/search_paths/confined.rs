//! [`ConfinedPaths`]: files of this machine for texts of others, below given folders and nowhere
//! else.

use std::fs::{self, File};
use std::io;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{Mode, OFlags};

use super::model_folder;
use super::{
    DATA_BYTES_MAX, FuelCaches, RESOURCE_PATH, SCHEMES, SearchPaths, as_text, package_and_rest,
    read_regular,
};
use crate::fuel_address::FuelAddress;
use crate::resolve::{ResolveError, ResolvedData, ResolvedFile, Resolver};
use crate::tree;

/// Looks for the files that the text of a client, a system or a secondary names.
///
/// `model://`, `package://` and relative names below the folders are understood, beside a file
/// that is there itself, then in the folders; addresses of Fuel, if it has caches. A link counts as
/// the place that it leads to. Of what is elsewhere nothing is told, not even whether it exists.
#[derive(Clone, Debug, Default)]
pub struct ConfinedPaths {
    folders: Vec<PathBuf>,
    package_folders: Vec<PathBuf>,
    fuel: FuelCaches,
}

/// A file or folder below one of the folders.
struct Found {
    /// The folder that it must not leave, without links.
    root: PathBuf,
    /// Its place, without links.
    path: PathBuf,
    /// Its place as it was looked for.
    named: PathBuf,
}

impl SearchPaths {
    /// Returns a resolver for the texts of others: it finds nothing outside these folders and
    /// `own`, such as those of the worlds of a run.
    pub fn confined(self, own: impl IntoIterator<Item = PathBuf>) -> ConfinedPaths {
        let absolute = |folder: PathBuf| std::path::absolute(folder).ok();
        // The folder of all files would confine nothing.
        let is_some_of_all = |folder: &PathBuf| folder.parent().is_some();
        let folders = self.folders.into_iter().chain(own);
        ConfinedPaths {
            folders: folders
                .filter_map(absolute)
                .filter(is_some_of_all)
                .collect(),
            package_folders: self
                .package_folders
                .into_iter()
                .filter_map(absolute)
                .filter(is_some_of_all)
                .collect(),
            fuel: self.fuel,
        }
    }
}

impl ConfinedPaths {
    fn find(&self, uri: &str, from_file: &str) -> Result<Found, ResolveError> {
        if let Some(address) = FuelAddress::parse(uri) {
            return self.find_fuel(&address);
        }
        let scheme = SCHEMES.into_iter().find(|scheme| uri.starts_with(scheme));
        let is_model = matches!(scheme, Some("model://" | "package://"));
        if !is_model && (scheme.is_some() || uri.contains("://")) {
            return Err(refused());
        }
        let path = Path::new(uri.strip_prefix(scheme.unwrap_or("")).unwrap_or(uri));
        let within = path.strip_prefix("/").ok().filter(|_| is_model);
        let path = relative(within.unwrap_or(path))?;
        let mut candidates = Vec::new();
        let beside = self.root_of(from_file);
        if let Some((root, folder)) = &beside {
            candidates.push((root.clone(), folder.join(&path)));
        }
        for root in canonical(&self.folders) {
            candidates.push((root.clone(), root.join(&path)));
        }
        if scheme == Some("package://")
            && let Some((package, rest)) = package_and_rest(&path)
        {
            let is_it = |folder: &Path| folder.file_name() == Some(package.as_ref());
            if let Some((root, folder)) = &beside {
                let around = folder.ancestors().take_while(|one| one.starts_with(root));
                let around = around.filter(|folder| is_it(folder));
                candidates.extend(around.map(|folder| (root.clone(), folder.join(rest))));
            }
            for root in canonical(&self.package_folders) {
                let own = is_it(&root).then(|| (root.clone(), root.join(rest)));
                candidates.extend(own);
                candidates.push((root.clone(), root.join(package).join(rest)));
            }
        }
        let cached = || {
            let mut cached = self.fuel.candidates(&path, from_file).into_iter();
            cached.find_map(|(root, path)| below((root.canonicalize().ok()?, path)))
        };
        let found = candidates.into_iter().find_map(below);
        let found = found.or_else(|| is_model.then(cached).flatten());
        found.ok_or_else(|| not_found(scheme, &path))
    }

    fn find_fuel(&self, address: &FuelAddress) -> Result<Found, ResolveError> {
        if self.fuel.roots().next().is_none() {
            let message = "what comes into a running world names no models of Fuel, unless the run \
                           was started with --spawn-from-fuel";
            return Err(ResolveError::Refused(message.to_owned()));
        }
        let found = self.fuel.path(address).ok();
        let found = found.and_then(|(root, path)| below((root.canonicalize().ok()?, path)));
        found.ok_or_else(|| ResolveError::NotFound(FuelCaches::missing(address)))
    }

    /// Returns the folder of a file without links, if that is below one of the folders, and which.
    fn root_of(&self, file: &str) -> Option<(PathBuf, PathBuf)> {
        let file = Path::new(file);
        if !file.is_absolute() {
            return None;
        }
        let folder = file.parent()?.canonicalize().ok()?;
        let all = self.folders.iter().chain(&self.package_folders);
        let all = all.map(PathBuf::as_path).chain(self.fuel.roots());
        let mut roots = canonical(all).filter(|root| folder.starts_with(root));
        roots.next().map(|root| (root, folder))
    }

    /// Returns the SDF file that the folder of a model lists.
    fn best_file(found: &Found) -> Result<Found, ResolveError> {
        let place = |name: &str| below((found.root.clone(), found.path.join(name)));
        let lists = model_folder::LISTS.into_iter();
        let mut lists = lists.filter_map(|name| place(name).filter(|list| list.path.is_file()));
        let list = lists
            .next()
            .ok_or_else(|| model_folder::no_list(&found.named))?;
        let text = as_text(list.read(tree::TEXT_BYTES_MAX as u64)?, &list.named)?;
        let name = model_folder::listed(&text, &list.named)?;
        place(&name).ok_or_else(|| {
            let list = list.named.display();
            ResolveError::NotFound(format!("{list}: there is no file {name:?} in that folder"))
        })
    }
}

impl Found {
    /// Reads it, if it is a regular file of at most so many bytes.
    fn read(&self, bytes_max: u64) -> Result<Vec<u8>, ResolveError> {
        let is_file = fs::symlink_metadata(&self.path).is_ok_and(|file| file.is_file());
        if !is_file {
            let message = format!("{} is no file", self.named.display());
            return Err(ResolveError::NotFound(message));
        }
        open_below(&self.root, &self.path)
            .and_then(|file| read_regular(file, bytes_max))
            .map_err(|source| ResolveError::Unreadable {
                file: self.named.to_string_lossy().into_owned(),
                source,
            })
    }

    fn data(&self) -> Result<ResolvedData, ResolveError> {
        Ok(ResolvedData {
            bytes: self.read(DATA_BYTES_MAX)?,
            file: self.named.to_string_lossy().into_owned(),
            identity: self.path.to_string_lossy().into_owned(),
        })
    }
}

impl Resolver for ConfinedPaths {
    fn read(&self, uri: &str, from_file: &str) -> Result<ResolvedFile, ResolveError> {
        let mut found = self.find(uri, from_file)?;
        if found.path.is_dir() {
            found = Self::best_file(&found)?;
        }
        Ok(ResolvedFile {
            text: as_text(found.read(tree::TEXT_BYTES_MAX as u64)?, &found.named)?,
            file: found.named.to_string_lossy().into_owned(),
        })
    }

    fn read_data(&self, uri: &str, from_file: &str) -> Result<ResolvedData, ResolveError> {
        self.find(uri, from_file)?.data()
    }

    fn read_side(&self, name: &str, mesh_file: &str) -> Result<ResolvedData, ResolveError> {
        let path = relative(Path::new(name))?;
        let beside = self.root_of(mesh_file);
        let found = beside.and_then(|(_, folder)| below((folder.clone(), folder.join(&path))));
        found.ok_or_else(|| not_found(None, &path))?.data()
    }
}

/// Returns a path without its `.`, if it stays below wherever it begins and names nothing hidden.
fn relative(path: &Path) -> Result<PathBuf, ResolveError> {
    let mut relative = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::Normal(name) if !name.as_encoded_bytes().starts_with(b".") => {
                relative.push(name);
            }
            Component::Normal(_)
            | Component::ParentDir
            | Component::RootDir
            | Component::Prefix(_) => return Err(refused()),
        }
    }
    Ok(relative)
}

fn canonical<P: AsRef<Path>>(
    folders: impl IntoIterator<Item = P>,
) -> impl Iterator<Item = PathBuf> {
    let folders = folders.into_iter();
    folders.filter_map(|folder| folder.as_ref().canonicalize().ok())
}

/// Returns what is at a path, if it is below a folder once links are followed.
fn below((root, named): (PathBuf, PathBuf)) -> Option<Found> {
    let path = named.canonicalize().ok()?;
    path.starts_with(&root)
        .then_some(Found { root, path, named })
}

/// Opens a file below a folder part by part and follows no link, so that nobody can put one in the
/// way after the path was looked at.
fn open_below(root: &Path, path: &Path) -> io::Result<File> {
    let outside = |_| io::Error::from(io::ErrorKind::NotFound);
    let rest = path.strip_prefix(root).map_err(outside)?;
    let folder = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let file = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let mut opened = rustix::fs::open(root, folder, Mode::empty())?;
    let mut parts = rest.components().peekable();
    while let Some(part) = parts.next() {
        let flags = if parts.peek().is_some() { folder } else { file };
        let flags = flags | OFlags::NOFOLLOW;
        opened = rustix::fs::openat(&opened, part.as_os_str(), flags, Mode::empty())?;
    }
    Ok(File::from(opened))
}

fn refused() -> ResolveError {
    ResolveError::Refused(format!(
        "what comes into a running world is read below the model folders of the run and the \
         folders of its worlds alone, by model://, package:// or a relative name without \"..\" \
         and without hidden parts: put it into the text, or its folder into {RESOURCE_PATH} of \
         the run"
    ))
}

/// Says what to set for a file that is nowhere.
fn not_found(scheme: Option<&str>, path: &Path) -> ResolveError {
    let mut folder = "its folder".to_owned();
    if let (Some(_), Some((name, _))) = (scheme, package_and_rest(path)) {
        folder = format!("the folder that holds {name:?}");
    }
    ResolveError::NotFound(format!(
        "it is below none of the model folders of the run and the folders of its worlds; set \
         {RESOURCE_PATH} of the run to {folder}"
    ))
}
