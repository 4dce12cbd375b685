//! [`FuelCaches`]: folders with models and worlds that were fetched from servers of Fuel.
//!
//! They lie as in Gazebo's cache, `HOST/OWNER/models/NAME/VERSION`, with host, owner and name in
//! small letters. Nothing here goes to a network.

use std::fs;
use std::path::{Path, PathBuf};

use crate::fuel_address::{FuelAddress, FuelKind, FuelResource, plain_name};
use crate::resolve::ResolveError;

/// The variable that names the folder in which Phalanx keeps what it fetched.
const CACHE: &str = "PHALANX_FUEL_CACHE";
/// The variable that names the folder for all that can be made or fetched anew.
const CACHES: &str = "PHALANX_CACHE_DIR";
/// The variable that names Gazebo's folder for what it fetched.
const GAZEBO_CACHE: &str = "GZ_FUEL_CACHE_PATH";
/// The hosts of Gazebo's server, the present one and the former.
const HOSTS: [&str; 2] = ["fuel.gazebosim.org", "fuel.ignitionrobotics.org"];
/// The file beside the versions of a resource with the number of the newest, as it was when that
/// was asked for.
const TIP_FILE: &str = "tip";
/// The most entries of a folder that are looked at.
const ENTRIES_MAX: usize = 10_000;
/// Ends of the names of world files.
const WORLD_FILES: [&str; 2] = ["sdf", "world"];

/// The caches of this machine, in the order in which they are searched.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FuelCaches {
    roots: Vec<PathBuf>,
}

/// A resource that is found in a cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CachedFuel {
    /// The cache.
    pub root: PathBuf,
    /// The folder of the version.
    pub folder: PathBuf,
    /// The version.
    pub version: u32,
}

impl FuelCaches {
    /// Makes them of folders, which need not be there.
    pub fn new(roots: impl IntoIterator<Item = PathBuf>) -> Self {
        Self {
            roots: roots.into_iter().collect(),
        }
    }

    /// Returns the caches of this user: [`Self::own_folder`], then Gazebo's, which is the folder of
    /// `GZ_FUEL_CACHE_PATH`, else `~/.gz/fuel` and, from older versions, `~/.ignition/fuel`.
    pub fn from_environment() -> Self {
        let home = directories::BaseDirs::new();
        let at_home = |name: &str| home.as_ref().map(|home| home.home_dir().join(name));
        let gazebo = match named(GAZEBO_CACHE) {
            Some(folder) => vec![folder],
            None => [".gz/fuel", ".ignition/fuel"]
                .into_iter()
                .filter_map(at_home)
                .collect(),
        };
        Self::new(Self::own_folder().into_iter().chain(gazebo))
    }

    /// Returns the folder in which Phalanx keeps what it fetched: the one of `PHALANX_FUEL_CACHE`,
    /// else `fuel` in that of `PHALANX_CACHE_DIR` or in the user's folder of caches; `None` for
    /// users without a home.
    pub fn own_folder() -> Option<PathBuf> {
        let of_user = || {
            let folders = directories::ProjectDirs::from("", "", "phalanx")?;
            Some(folders.cache_dir().to_owned())
        };
        let all = || named(CACHES).or_else(of_user);
        let folder = named(CACHE).or_else(|| Some(all()?.join("fuel")));
        std::path::absolute(folder?).ok()
    }

    /// Returns the folders.
    pub fn roots(&self) -> impl Iterator<Item = &Path> {
        self.roots.iter().map(PathBuf::as_path)
    }

    /// Returns the version that an address means. Without a number that is the one which was the
    /// newest when it was asked for, else the newest that is there.
    pub fn find(&self, address: &FuelAddress) -> Option<CachedFuel> {
        let places = self.places(&address.resource);
        let found = |(root, place): &(PathBuf, PathBuf), version: u32| {
            let folder = place.join(version.to_string());
            folder.is_dir().then(|| CachedFuel {
                root: root.clone(),
                folder,
                version,
            })
        };
        if let Some(version) = address.version {
            return places.iter().find_map(|place| found(place, version));
        }
        let anywhere = |version| places.iter().find_map(|place| found(place, version));
        let mut tips = places.iter().filter_map(|place| tip(&place.1));
        tips.find_map(anywhere).or_else(|| {
            let newest = |place| versions_in(place).into_iter().max();
            let all = places.iter().rev();
            let all = all.filter_map(|place| found(place, newest(&place.1)?));
            all.max_by_key(|found| found.version)
        })
    }

    /// Returns the file or the folder that an address means; of a world, that is its file.
    pub(super) fn path(&self, address: &FuelAddress) -> Result<(PathBuf, PathBuf), ResolveError> {
        let missing = || ResolveError::NotFound(Self::missing(address));
        let found = self.find(address).ok_or_else(missing)?;
        let path = match (&address.file, address.resource.kind) {
            (Some(file), _) => found.folder.join(file),
            (None, FuelKind::Model) => found.folder,
            (None, FuelKind::World) => world_file_in(&found.folder).ok_or_else(|| {
                let folder = found.folder.display();
                ResolveError::NotFound(format!("{folder} has no .sdf or .world file"))
            })?,
        };
        if !path.exists() {
            let (path, address) = (path.display(), address.whole());
            return Err(ResolveError::NotFound(format!(
                "{address} has no such file: there is no {path}"
            )));
        }
        Ok((found.root, path))
    }

    /// Says how to get what is in no cache.
    pub(super) fn missing(address: &FuelAddress) -> String {
        let address = address.whole();
        format!(
            "it is in no cache of Fuel on this machine; `phalanx fuel fetch {address}` puts it \
             there"
        )
    }

    /// Returns where `model://NAME/rest` may lie: for a text in a cached model, in that model,
    /// since models name themselves by names that the server does not know; then in a model of
    /// that name of the same owner, then in those of any.
    pub(super) fn candidates(&self, path: &Path, from_file: &str) -> Vec<(PathBuf, PathBuf)> {
        let mut parts = path.components();
        let first = parts.next().map(|part| part.as_os_str().to_string_lossy());
        let Some(name) = first.and_then(|part| plain_name(&part)) else {
            return Vec::new();
        };
        let rest = parts.as_path();
        let mut candidates = Vec::new();
        let around = self.around(from_file);
        if let Some((root, folder)) = &around
            && !rest.as_os_str().is_empty()
        {
            candidates.push((root.clone(), folder.join(rest)));
        }
        // HOST/OWNER/models/NAME/VERSION: the owner is the third folder around the version.
        let own = around.iter().filter_map(|(root, folder)| {
            let owner = folder.ancestors().nth(3)?;
            Some((root.clone(), owner.to_owned()))
        });
        let all = self.roots.iter().flat_map(|root| {
            let hosts = folders_in(root).into_iter();
            let owners = hosts.flat_map(|host| folders_in(&host));
            owners.map(|owner| (root.clone(), owner))
        });
        for (root, owner) in own.chain(all) {
            let place = owner
                .join(FuelKind::Model.folder())
                .join(name.to_lowercase());
            let version = tip(&place).or_else(|| versions_in(&place).into_iter().max());
            if let Some(version) = version {
                let folder = place.join(version.to_string());
                candidates.push((root, folder.join(rest)));
            }
        }
        candidates
    }

    /// Returns the cache and the folder of the version that a file is in, if it is in one.
    fn around(&self, file: &str) -> Option<(PathBuf, PathBuf)> {
        let file = std::path::absolute(file).ok()?;
        let canonical = |root: &PathBuf| root.canonicalize().ok();
        let mut roots = self.roots.iter().flat_map(|root| {
            let plain = std::path::absolute(root).ok();
            plain.into_iter().chain(canonical(root))
        });
        roots.find_map(|root| {
            let rest = file.strip_prefix(&root).ok()?;
            let parts: Vec<_> = rest.iter().take(5).collect();
            let is_within = parts.len() == 5 && rest.iter().count() > 5;
            is_within.then(|| (root.clone(), root.join(parts.iter().collect::<PathBuf>())))
        })
    }

    /// Returns the folders in which versions of a resource may be, with their caches.
    fn places(&self, resource: &FuelResource) -> Vec<(PathBuf, PathBuf)> {
        let folder = resource.folder();
        let mut folders = vec![folder.clone()];
        if let Ok(rest) = folder.strip_prefix(HOSTS[0]) {
            folders.push(Path::new(HOSTS[1]).join(rest));
        }
        let of_root = |root: &PathBuf| {
            let places = folders
                .iter()
                .map(|folder| (root.clone(), root.join(folder)));
            places.collect::<Vec<_>>()
        };
        self.roots.iter().flat_map(of_root).collect()
    }
}

/// Returns the world file of a folder: the first by name.
pub fn world_file_in(folder: &Path) -> Option<PathBuf> {
    let entries = fs::read_dir(folder).ok()?.take(ENTRIES_MAX);
    let files = entries.filter_map(Result::ok).map(|entry| entry.path());
    let is_world = |file: &PathBuf| {
        let end = file.extension().and_then(|end| end.to_str());
        file.is_file() && end.is_some_and(|end| WORLD_FILES.contains(&end))
    };
    files.filter(is_world).min()
}

/// Returns the number in the file of the newest version.
fn tip(place: &Path) -> Option<u32> {
    let text = fs::read_to_string(place.join(TIP_FILE)).ok()?;
    text.trim().parse().ok()
}

/// Returns the versions of a resource that a folder has.
fn versions_in(place: &Path) -> Vec<u32> {
    let names = folders_in(place).into_iter();
    let number = |folder: PathBuf| folder.file_name()?.to_str()?.parse().ok();
    names.filter_map(number).collect()
}

fn folders_in(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let entries = entries.take(ENTRIES_MAX).filter_map(Result::ok);
    let folders = entries
        .map(|entry| entry.path())
        .filter(|path| path.is_dir());
    let mut folders: Vec<PathBuf> = folders.collect();
    folders.sort();
    folders
}

/// Returns the folder that a variable names.
fn named(variable: &str) -> Option<PathBuf> {
    let value = std::env::var_os(variable).filter(|value| !value.is_empty());
    value.map(PathBuf::from)
}
